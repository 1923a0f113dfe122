/* Threads take the next number from a shared counter. A thread that cannot be started is done without. */
#include "base/work.h"
#include "base/locale.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

struct work_pool {
    atomic_uint next;
    uint32_t n;
    work_piece *piece;
    void *context;
};

struct worker {
    struct work_pool *pool;
    pthread_t thread;
    uint32_t worker;
    bool running;
};

static void *work(void *arg) {
    IN_C_LOCALE;
    struct worker *w = arg;
    for (uint32_t i; (i = atomic_fetch_add(&w->pool->next, 1)) < w->pool->n;)
        w->pool->piece(w->pool->context, i, w->worker);
    return NULL;
}

void work_run(uint32_t n, uint32_t threads, work_piece *piece, void *context) {
    struct work_pool pool = {.n = n, .piece = piece, .context = context};
    struct worker workers[MAX_THREADS];
    atomic_init(&pool.next, 0);
    threads = threads < n ? threads : n;
    threads = threads < MAX_THREADS ? threads : MAX_THREADS;
    for (uint32_t s = 1; s < threads; s++) {
        workers[s] = (struct worker){.pool = &pool, .worker = s};
        workers[s].running = pthread_create(&workers[s].thread, NULL, work, &workers[s]) == 0;
    }
    workers[0] = (struct worker){.pool = &pool};
    work(&workers[0]);
    for (uint32_t s = 1; s < threads; s++)
        if (workers[s].running)
            pthread_join(workers[s].thread, NULL);
}

struct work_order {
    pthread_mutex_t mutex;
    pthread_cond_t turned;
    uint32_t turn;
};

struct work_order *work_order_new(void) {
    struct work_order *o = xcalloc(1, sizeof *o);
    pthread_mutex_init(&o->mutex, NULL);
    pthread_cond_init(&o->turned, NULL);
    return o;
}

void work_wait(struct work_order *o, uint32_t i) {
    pthread_mutex_lock(&o->mutex);
    while (o->turn != i)
        pthread_cond_wait(&o->turned, &o->mutex);
    pthread_mutex_unlock(&o->mutex);
}

void work_done(struct work_order *o, uint32_t i) {
    pthread_mutex_lock(&o->mutex);
    o->turn = i + 1;
    pthread_cond_broadcast(&o->turned);
    pthread_mutex_unlock(&o->mutex);
}

void work_order_free(struct work_order *o) {
    pthread_cond_destroy(&o->turned);
    pthread_mutex_destroy(&o->mutex);
    free(o);
}

uint32_t work_threads(unsigned asked) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (asked)
        return asked < MAX_THREADS ? asked : MAX_THREADS;
    return processors < 1 ? 1 : processors < MAX_THREADS ? (uint32_t)processors : MAX_THREADS;
}
