/* Every allocation of the library ends in xrealloc or xcalloc, and where another library could not allocate,
 * its caller calls out_of_memory: that ends the process here with status 3, so callers never see a NULL. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

void out_of_memory(void) {
    fputs("fusion-audit: error: out of memory\n", stderr);
    exit(3);
}

void check_memory(int error) {
    if (error == ENOMEM)
        out_of_memory();
}

void *made(void *p) {
    if (!p)
        out_of_memory();
    return p;
}

void *xrealloc(void *p, size_t n) {
    return made(realloc(p, n ? n : 1));
}

void *xcalloc(size_t n, size_t size) {
    return made(calloc(n ? n : 1, size));
}

struct arena_chunk {
    struct arena_chunk *next;
    size_t size;
};

enum { ALIGN = 16, CHUNK_MIN = 1 << 12, CHUNK_MAX = 1 << 20, CHUNK_HEAD = 16 };

static struct arena_chunk *new_chunk(struct arena *a, void *memory, size_t size) {
    struct arena_chunk *c = memory;
    c->size = size;
    a->total += size;
    return c;
}

static size_t next_size(const struct arena *a) {
    return a->total < CHUNK_MIN ? CHUNK_MIN : a->total < CHUNK_MAX ? a->total : CHUNK_MAX;
}

static void begin_chunk(struct arena *a) {
    size_t size = next_size(a);
    struct arena_chunk *c = new_chunk(a, xrealloc(NULL, size), size);
    c->next = a->chunks;
    a->chunks = c;
    a->at = (char *)c + CHUNK_HEAD;
    a->end = (char *)c + size;
}

/* Beside the chunk that is in use. From calloc, since the pages of a big one are zero already. */
static void *chunk_alone(struct arena *a, size_t size) {
    struct arena_chunk *c = new_chunk(a, xcalloc(1, size + CHUNK_HEAD), size + CHUNK_HEAD);
    struct arena_chunk **before = a->chunks ? &a->chunks->next : &a->chunks;
    c->next = *before;
    *before = c;
    return (char *)c + CHUNK_HEAD;
}

void *arena_alloc(struct arena *a, size_t size) {
    if (size > SIZE_MAX - ALIGN - CHUNK_HEAD)
        out_of_memory();
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (size == 0)
        size = ALIGN;
    if (!a->at || (size_t)(a->end - a->at) < size) {
        if (size > next_size(a) / 2)
            return chunk_alone(a, size);
        begin_chunk(a);
    }
    void *p = memset(a->at, 0, size);
    a->at += size;
    return p;
}

void arena_reset(struct arena *a) {
    struct arena_chunk *last = a->chunks;
    char *begin = last ? (char *)last + CHUNK_HEAD : NULL;
    if (!last || a->at < begin || a->at > (char *)last + last->size) { /* after a merge another one is in use */
        arena_free(a);
        return;
    }
    struct arena older = {.chunks = last->next};
    arena_free(&older);
    *a = (struct arena){.chunks = last, .at = begin, .end = (char *)last + last->size, .total = last->size};
    last->next = NULL;
}

void arena_merge(struct arena *into, struct arena *from) {
    struct arena_chunk **end = &from->chunks;
    while (*end)
        end = &(*end)->next;
    *end = into->chunks;
    into->chunks = from->chunks;
    into->total += from->total;
    if (!into->at) {
        into->at = from->at;
        into->end = from->end;
    }
    *from = (struct arena){0};
}

void arena_free(struct arena *a) {
    for (struct arena_chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    *a = (struct arena){0};
}
