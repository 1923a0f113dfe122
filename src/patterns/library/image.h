/* The bundled patterns, read when the program was built: a file beside their directory that holds all that a set of
 * them points to as it is in memory, at an address of its choice (compile_patterns.c, a build step, writes it). A run
 * maps it there, so that it reads only the pages that it looks at; elsewhere it moves the pointers first. Where the
 * files of the directory are not those that were read, or the program is another one, it reads the files. */
#ifndef FA_PATTERN_IMAGE_H
#define FA_PATTERN_IMAGE_H

#include "patterns/library/pattern.h"

/* The file begins with it. Behind the bytes stand the offsets of pointers, each a uint32_t. */
struct image_header {
    uint64_t hash;      /* of the pattern files: patterns_hash */
    uint64_t build;     /* of the file but for this: its program has the same as `image_build` */
    uint64_t size;      /* of the bytes, these included */
    uint32_t npointers; /* that point into it */
    uint32_t nfiles;    /* that point to the name of a file without its directory; behind those */
    struct pattern_set set;
};
extern const uint64_t image_build;

/* An address that systems rarely give out by themselves; 0 where addresses are shorter. */
#define IMAGE_ADDRESS ((UINTPTR_MAX >> 18) & ~(uintptr_t)0xffffff)

/* Fills an empty set. False: there is none beside this directory, or not of its files, which have this hash. */
bool image_load(struct pattern_set *set, const char *directory, uint64_t hash);
void image_free(struct pattern_set *set);

#endif
