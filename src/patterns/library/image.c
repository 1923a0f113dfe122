#include "patterns/library/image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

/* Where the system has huge pages: the page faults of small ones take longer than all else of a start. */
static char *huge_pages(size_t size) {
    size_t whole = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    char *p = made(aligned_alloc(HUGE_PAGE, whole));
    (void)madvise(p, whole, MADV_HUGEPAGE);
    return p;
}

static void set_pointer(char *at, const void *to) {
    memcpy(at, &to, sizeof to);
}

static size_t offset_at(const char *at) {
    uintptr_t offset;
    memcpy(&offset, at, sizeof offset);
    return offset;
}

/* Those of one file follow one another, mostly. */
static void name_files(const struct pattern_image *image, char *begin, struct arena *a, const char *directory) {
    size_t last = SIZE_MAX;
    const char *path = NULL;
    for (uint32_t i = 0; i < image->nfiles; i++) {
        char *at = begin + image->files[i];
        size_t name = offset_at(at);
        if (name != last)
            path = arena_printf(a, "%s/%s", directory, begin + name).p;
        last = name;
        set_pointer(at, path);
    }
}

bool image_load(struct pattern_set *set, const char *directory, uint64_t hash) {
    const struct pattern_image *image = &pattern_image;
    if (!image->size || set->nread || hash != image->hash)
        return false;
    char *begin = memcpy(huge_pages(image->size), image->bytes, image->size);
    for (uint32_t i = 0; i < image->npointers; i++) {
        char *at = begin + image->pointers[i];
        set_pointer(at, begin + offset_at(at));
    }
    name_files(image, begin, &set->arena, directory);
    struct pattern_set asked = *set;
    memcpy(set, begin, sizeof *set);
    set->arena = asked.arena;
    set->image = begin;
    set->max_steps = asked.max_steps;
    set->no_examples = asked.no_examples;
    regexes_compile(&set->conditions.regexes, &set->arena);
    return true;
}
