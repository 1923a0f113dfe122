#include "cli/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/say.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool is_terminal(void) {
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

void progress_begin(struct progress *p, bool quiet) {
    *p = (struct progress){.begin = now(), .wanted = !quiet && is_terminal()};
    p->shown_at = p->begin;
}

void progress_say(struct progress *p, const char *format, ...) {
    char text[80]; /* short enough for one line */
    double t = p->wanted ? now() : 0;
    va_list list;
    if (!p->wanted || t < p->shown_at + 1)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fputs("\r\033[K", stderr);
    say_clean(text);
    fprintf(stderr, ", %.0f s", t - p->begin);
    fflush(stderr);
    p->shown_at = t;
    p->shown = true;
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
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
