/* The text is cut into chunks. The scan takes them as it comes to them, from the first one on; other threads from the
 * last one up. Where the two meet the scan goes on with what the others have told. */
#include "log/runs.h"

#include "log/shape.h"
#include "source/source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 20, LEAST_RUN = 1 << 12, KEPT_TEXT = 1 << 26, MOST_TOLD = 1 << 24 };

enum chunk_state { FREE, TAKEN, TOLD, OWN };

struct chunk {
    enum chunk_state state;
    struct run *runs;
    uint32_t n, cap;
};

struct ahead {
    const struct source *s;
    struct work_board *board;
    struct chunk *chunks;
    uint32_t nchunks, at, run; /* where the scan is */
    atomic_size_t bytes;       /* of what has been told and not been read yet */
    size_t own_end;            /* nothing is told before */
    pthread_mutex_t lock;      /* of the states */
    pthread_cond_t told;
};

uint32_t loc_number_of(struct str t) {
    enum { DIGITS = 8 };
    uint32_t n = 0;
    size_t i = 4;
    if (!str_starts(t, STR("#loc")))
        return NONE;
    for (; i < t.n && i < 4 + DIGITS && t.p[i] >= '0' && t.p[i] <= '9'; i++)
        n = n * 10 + (uint32_t)(t.p[i] - '0');
    if (t.n - i < 3 || memcmp(t.p + i, " = ", 3) != 0)
        return NONE;
    return n + (i > 4);
}

bool run_op(struct str t, struct dialects *d) {
    if (t.n < 8 || t.p[0] != ' ')
        return false;
    char last = t.p[t.n - 1];
    if (last == '{' || last == ' ' || last == ':' || last == '/' || last == '-')
        return false;
    struct str in = skip_blanks(t);
    if (in.n == 0 || (in.p[0] != '%' && in.p[0] != '"') || (last == 'e' && str_ends(t, STR(" module"))))
        return false;
    dialects_op(d, in);
    return true;
}

bool run_loc(struct str t, uint32_t *number) {
    *number = t.n < 8 || t.p[t.n - 1] != ')' ? NONE : loc_number_of(t);
    return *number != NONE && !(memchr(t.p, '{', t.n) && str_find(t, STR("{ //")));
}

/* Short ones are not worth a look ahead. */
static void keep_run(struct chunk *c, struct run *r) {
    if (r->lines > 0 && r->end - r->begin >= LEAST_RUN) {
        c->runs = grow(c->runs, &c->cap, c->n + 1, sizeof *c->runs);
        c->runs[c->n++] = *r;
    }
    r->lines = 0;
}

static bool goes_on(const struct run *r, bool loc, uint32_t number) {
    return r->lines > 0 && r->locs == loc && (!loc || number == r->first_loc + r->lines);
}

/* The lines that begin in the chunk. */
static void tell_chunk(const struct source *s, uint32_t i, struct chunk *c) {
    size_t at = (size_t)i * CHUNK, end = s->size - at < CHUNK ? s->size : at + CHUNK;
    struct run r = {.lines = 0};
    struct str t;
    if (at > 0) { /* after a newline that may be the byte before */
        const char *newline = memchr(s->data + at - 1, '\n', end - at + 1);
        at = newline ? (size_t)(newline - s->data) + 1 : end;
    }
    for (; at < end; at += t.n + 1) {
        struct dialects d = {.ttir = false};
        uint32_t number = 0;
        bool bare = line_is_bare(s, at, &t), op = bare && run_op(t, &d);
        bool loc = bare && !op && run_loc(t, &number);
        if ((!op && !loc) || !goes_on(&r, loc, number))
            keep_run(c, &r);
        if (!op && !loc)
            continue;
        if (r.lines == 0)
            r = (struct run){.begin = at, .locs = loc, .first_loc = number};
        r.ttir |= d.ttir;
        r.ttnn |= d.ttnn;
        r.device_ttir |= d.device_ttir;
        r.last = at;
        r.end = at + t.n + 1;
        r.lines++;
    }
    keep_run(c, &r);
}

/* True for the one who comes first. */
static bool take(struct ahead *a, struct chunk *c, enum chunk_state as) {
    pthread_mutex_lock(&a->lock);
    bool first = c->state == FREE;
    if (first)
        c->state = as;
    pthread_mutex_unlock(&a->lock);
    return first;
}

static void tell(void *context, uint32_t i, uint32_t slot) {
    struct ahead *a = context;
    uint32_t number = a->nchunks - 1 - i;
    struct chunk *c = &a->chunks[number];
    (void)slot;
    if (atomic_load(&a->bytes) > MOST_TOLD || !take(a, c, TAKEN))
        return;
    tell_chunk(a->s, number, c);
    c->runs = c->n ? xrealloc(c->runs, c->n * sizeof *c->runs) : c->runs;
    atomic_fetch_add(&a->bytes, c->n * sizeof *c->runs);
    if (a->s->size > KEPT_TEXT) /* however long the text, little of it is in memory */
        source_release(a->s, a->s->data + (size_t)number * CHUNK,
                       number + 1 < a->nchunks ? CHUNK : a->s->size - (size_t)number * CHUNK);
    pthread_mutex_lock(&a->lock);
    c->state = TOLD;
    pthread_cond_signal(&a->told);
    pthread_mutex_unlock(&a->lock);
}

struct ahead *ahead_begin(const struct source *s, const struct lines *lines, struct work_board *board) {
    size_t n = (s->size + CHUNK - 1) / CHUNK;
    if (!board || s->size < LOG_HELPED || n > UINT32_MAX || !lines_are_bare(lines))
        return NULL;
    struct ahead *a = xcalloc(1, sizeof *a);
    a->s = s;
    a->board = board;
    a->nchunks = (uint32_t)n;
    a->chunks = xcalloc(n, sizeof *a->chunks);
    a->at = NONE;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->told, NULL);
    work_offer(board, a->nchunks, tell, a);
    return a;
}

static void leave(struct ahead *a) {
    struct chunk *c = &a->chunks[a->at];
    atomic_fetch_sub(&a->bytes, c->n * sizeof *c->runs);
    free(c->runs);
    c->runs = NULL;
    c->n = 0;
}

/* The scan comes to a chunk: what nobody has it reads itself. */
static void enter(struct ahead *a, uint32_t chunk) {
    struct chunk *c = &a->chunks[chunk];
    if (a->at != NONE)
        leave(a);
    a->at = chunk;
    a->run = 0;
    if (take(a, c, OWN)) {
        a->own_end = (size_t)(chunk + 1) * CHUNK;
        return;
    }
    pthread_mutex_lock(&a->lock);
    while (c->state == TAKEN)
        pthread_cond_wait(&a->told, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

const struct run *ahead_run(struct ahead *a, size_t at) {
    if (at < a->own_end || at >= a->s->size)
        return NULL;
    if (at / CHUNK != a->at)
        enter(a, (uint32_t)(at / CHUNK));
    const struct chunk *c = &a->chunks[a->at];
    while (a->run < c->n && c->runs[a->run].begin < at)
        a->run++;
    return a->run < c->n && c->runs[a->run].begin == at ? &c->runs[a->run] : NULL;
}

void ahead_end(struct ahead *a) {
    if (!a)
        return;
    work_withdraw(a->board);
    for (uint32_t i = 0; i < a->nchunks; i++)
        free(a->chunks[i].runs);
    free(a->chunks);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->told);
    free(a);
}
