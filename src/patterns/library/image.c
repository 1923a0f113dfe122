#include "patterns/library/image.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void *pointer_of(uintptr_t address) {
    void *p;
    memcpy(&p, &address, sizeof p);
    return p;
}

/* Mapped to be written to: what is written stays in memory. NULL: there is none that can be. */
static char *map_file(const char *path, size_t *size) {
    int f = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    void *at = MAP_FAILED;
    if (f >= 0 && fstat(f, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size >= sizeof(struct image_header)) {
        *size = (size_t)st.st_size;
        at = mmap(pointer_of(IMAGE_ADDRESS), *size, PROT_READ | PROT_WRITE, MAP_PRIVATE, f, 0);
    }
    if (f >= 0)
        close(f);
    return at == MAP_FAILED ? NULL : at;
}

static uintptr_t pointer_at(const char *at) {
    uintptr_t pointer;
    memcpy(&pointer, at, sizeof pointer);
    return pointer;
}

static void move_pointers(char *begin, const uint32_t *pointers, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        uintptr_t to = pointer_at(begin + pointers[i]) - IMAGE_ADDRESS + (uintptr_t)begin;
        memcpy(begin + pointers[i], &to, sizeof to);
    }
}

static void name_files(char *begin, const uint32_t *files, uint32_t n, struct arena *a, const char *directory) {
    for (uint32_t i = 0; i < n; i++) {
        const char *name = pointer_of(pointer_at(begin + files[i]));
        const char *path = arena_printf(a, "%s/%s", directory, name).p;
        memcpy(begin + files[i], &path, sizeof path);
    }
}

/* It goes with this program, has been written to its end, and is of the files that there are. */
static bool fits(const struct image_header *header, size_t size, uint64_t hash) {
    size_t pointers = (size_t)header->npointers + header->nfiles;
    return header->build == image_build && size == header->size + pointers * sizeof(uint32_t) && header->hash == hash;
}

bool image_load(struct pattern_set *set, const char *directory, uint64_t hash) {
    size_t size = 0;
    char *begin = set->nread ? NULL : map_file(arena_printf(&set->arena, "%s.image", directory).p, &size);
    const struct image_header *header = (const void *)begin;
    if (!header)
        return false;
    if (!fits(header, size, hash)) {
        munmap(begin, size);
        return false;
    }
    const uint32_t *pointers = (const void *)(begin + header->size);
    if ((uintptr_t)begin != IMAGE_ADDRESS)
        move_pointers(begin, pointers, header->npointers + header->nfiles);
    name_files(begin, pointers + header->npointers, header->nfiles, &set->arena, directory);
    struct pattern_set asked = *set;
    *set = header->set;
    set->arena = asked.arena;
    set->image = begin;
    set->image_size = size;
    set->max_steps = asked.max_steps;
    set->no_examples = asked.no_examples;
    regexes_compile(&set->conditions.regexes, &set->arena);
    return true;
}

void image_free(struct pattern_set *set) {
    if (set->image)
        munmap(set->image, set->image_size);
}
