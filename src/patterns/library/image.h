/* The bundled patterns, read when the program was built: all that a set of them points to as one piece of memory, in
 * which pointers are offsets (compile_patterns.c, a build step, makes it). A run copies it and makes pointers of them,
 * where the files of its directory are those that were read; else it reads the files. */
#ifndef FA_PATTERN_IMAGE_H
#define FA_PATTERN_IMAGE_H

#include "patterns/library/pattern.h"

struct pattern_image {
    uint64_t hash;     /* of the files: patterns_hash */
    const char *bytes; /* begin with the struct pattern_set */
    size_t size;
    const uint32_t *pointers; /* offsets of those that point into it */
    uint32_t npointers;
    const uint32_t *files; /* offsets of those that point to the name of a file without its directory */
    uint32_t nfiles;
};
extern const struct pattern_image pattern_image;

/* Fills an empty set. False where the files of the directory, of this hash, are others. */
bool image_load(struct pattern_set *set, const char *directory, uint64_t hash);

#endif
