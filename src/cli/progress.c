/* A thread that wakes once a second. It takes no signal. */
#include "cli/progress.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"

static time_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static void *show(void *context) {
    struct progress *p = context;
    pthread_mutex_lock(&p->lock);
    while (!p->ended) {
        struct timespec next;
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_sec++;
        pthread_cond_timedwait(&p->change, &p->lock, &next);
        long seconds = (long)(now() - p->begin);
        if (!*p->text || seconds < 1 || p->ended)
            continue;
        fputs("\r\033[K", stderr);
        say_clean(p->text);
        fprintf(stderr, ", %ld s", seconds);
        fflush(stderr);
        p->shown = true;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static bool is_terminal(void) {
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

void progress_begin(struct progress *p, bool quiet) {
    pthread_condattr_t monotonic;
    *p = (struct progress){.begin = now()};
    if (quiet || !is_terminal())
        return;
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    p->wanted = pthread_create(&p->thread, NULL, show, p) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* With the lock. */
static void take_away(struct progress *p) {
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}

void progress_say(struct progress *p, const char *format, ...) {
    va_list list;
    if (!p->wanted)
        return;
    pthread_mutex_lock(&p->lock);
    va_start(list, format);
    vsnprintf(p->text, sizeof p->text, format, list);
    va_end(list);
    pthread_mutex_unlock(&p->lock);
}

static bool say_step(void *context, const char *doing, size_t done, size_t all) {
    struct progress *p = context;
    if (all > 1)
        progress_say(p, "%s%s, %zu of %zu", p->before, doing, done + 1, all);
    else
        progress_say(p, "%s%s", p->before, doing);
    return true;
}

struct fa_progress progress_of_call(struct progress *p, const char *before) {
    if (!p->wanted)
        return (struct fa_progress){NULL, NULL};
    snprintf(p->before, sizeof p->before, "%s", before);
    progress_say(p, "%sreading", before);
    return (struct fa_progress){say_step, p};
}

void progress_hide(struct progress *p) {
    if (!p->wanted)
        return;
    pthread_mutex_lock(&p->lock);
    *p->text = '\0';
    take_away(p);
    pthread_mutex_unlock(&p->lock);
}

void progress_end(struct progress *p) {
    if (!p->wanted)
        return;
    progress_hide(p);
    pthread_mutex_lock(&p->lock);
    p->ended = true;
    pthread_cond_signal(&p->change);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->change);
    pthread_mutex_destroy(&p->lock);
    p->wanted = false;
}
