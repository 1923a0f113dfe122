/* Threads take the next number from a shared counter. A thread that cannot be started is done without. */
#include "base/work.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_JOBS = 64 };

struct worker {
    struct work_pool *pool;
    pthread_t thread;
    uint32_t slot;
    bool running;
};

struct work_pool {
    atomic_uint next;
    uint32_t n, jobs;
    work_piece *piece;
    void *context;
    struct worker workers[MAX_JOBS];
};

static void *work(void *arg) {
    struct worker *w = arg;
    for (uint32_t i; (i = atomic_fetch_add(&w->pool->next, 1)) < w->pool->n;)
        w->pool->piece(w->pool->context, i, w->slot);
    return NULL;
}

static void begin(struct work_pool *p, uint32_t jobs) {
    p->jobs = jobs < MAX_JOBS ? jobs : MAX_JOBS;
    for (uint32_t s = 1; s < p->jobs; s++) {
        p->workers[s] = (struct worker){.pool = p, .slot = s};
        p->workers[s].running = pthread_create(&p->workers[s].thread, NULL, work, &p->workers[s]) == 0;
    }
}

static void finish(struct work_pool *p) {
    p->workers[0] = (struct worker){.pool = p};
    work(&p->workers[0]);
    for (uint32_t s = 1; s < p->jobs; s++)
        if (p->workers[s].running)
            pthread_join(p->workers[s].thread, NULL);
}

void work_run(uint32_t n, uint32_t jobs, work_piece *piece, void *context) {
    struct work_pool pool;
    pool.n = n;
    pool.piece = piece;
    pool.context = context;
    atomic_init(&pool.next, 0);
    begin(&pool, jobs < n ? jobs : n);
    finish(&pool);
}

struct work_pool *work_begin(uint32_t n, uint32_t jobs, work_piece *piece, void *context) {
    struct work_pool *p = xcalloc(1, sizeof *p);
    p->n = n;
    p->piece = piece;
    p->context = context;
    atomic_init(&p->next, 0);
    begin(p, jobs < n + 1 ? jobs : n + 1);
    return p;
}

void work_finish(struct work_pool *p) {
    finish(p);
    free(p);
}

struct work_order {
    pthread_mutex_t mutex;
    pthread_cond_t turned;
    uint32_t turn;
};

struct work_order *work_order_new(void) {
    struct work_order *o = xrealloc(NULL, sizeof *o);
    pthread_mutex_init(&o->mutex, NULL);
    pthread_cond_init(&o->turned, NULL);
    o->turn = 0;
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

struct work_board {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    work_piece *piece;
    void *context;
    uint32_t next, n, busy;
    bool closed;
};

struct work_board *work_board_new(void) {
    struct work_board *b = xcalloc(1, sizeof *b);
    pthread_mutex_init(&b->mutex, NULL);
    pthread_cond_init(&b->changed, NULL);
    return b;
}

void work_offer(struct work_board *b, uint32_t n, work_piece *piece, void *context) {
    pthread_mutex_lock(&b->mutex);
    b->piece = piece;
    b->context = context;
    b->next = 0;
    b->n = n;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
}

void work_withdraw(struct work_board *b) {
    pthread_mutex_lock(&b->mutex);
    b->n = b->next;
    while (b->busy)
        pthread_cond_wait(&b->changed, &b->mutex);
    pthread_mutex_unlock(&b->mutex);
}

void work_help(struct work_board *b) {
    pthread_mutex_lock(&b->mutex);
    while (!b->closed) {
        if (b->next == b->n) {
            pthread_cond_wait(&b->changed, &b->mutex);
            continue;
        }
        uint32_t i = b->next++;
        b->busy++;
        pthread_mutex_unlock(&b->mutex);
        b->piece(b->context, i, 0);
        pthread_mutex_lock(&b->mutex);
        b->busy--;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->mutex);
}

void work_close(struct work_board *b) {
    pthread_mutex_lock(&b->mutex);
    b->closed = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
}

void work_board_free(struct work_board *b) {
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->mutex);
    free(b);
}

uint32_t work_pieces(uint32_t jobs, uint32_t most) {
    enum { A_JOB = 4 };
    return jobs == 1 ? 1 : jobs < most / A_JOB ? jobs * A_JOB : most;
}

uint32_t work_threads(unsigned asked) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (asked)
        return asked < MAX_JOBS ? asked : MAX_JOBS;
    return processors < 1 ? 1 : processors < MAX_JOBS ? (uint32_t)processors : MAX_JOBS;
}
