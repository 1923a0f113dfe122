#include "base/watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct watch {
    struct fa_progress told;
    pthread_mutex_t lock;
    atomic_bool ended;
};

struct watch *watch_new(struct fa_progress told) {
    struct watch *w = told.step ? xcalloc(1, sizeof *w) : NULL;
    if (w) {
        w->told = told;
        pthread_mutex_init(&w->lock, NULL);
    }
    return w;
}

void watch_free(struct watch *w) {
    if (w)
        pthread_mutex_destroy(&w->lock);
    free(w);
}

bool watch_has_ended(const struct watch *w) {
    return w && atomic_load(&w->ended);
}

bool watch_wants(struct watch *w, const char *doing, uint32_t done, uint32_t all) {
    if (!w)
        return true;
    pthread_mutex_lock(&w->lock);
    if (!watch_has_ended(w) && !w->told.step(w->told.context, doing, done, all))
        atomic_store(&w->ended, true);
    pthread_mutex_unlock(&w->lock);
    return !watch_has_ended(w);
}

bool watch_say_ended(const struct watch *w, struct diags *d) {
    if (watch_has_ended(w))
        diag_add(d, SEV_ERROR, (struct source_location){"", 0, 0}, NULL, "ended before all was done");
    return watch_has_ended(w);
}
