/* Files that are compiled in, and texts that are made of them. */
#ifndef FA_EMBEDDED_H
#define FA_EMBEDDED_H

#include "base/base.h"

struct embedded {
    const char *name;
    const char *bytes;
    size_t size;
};

extern const struct embedded embedded_files[]; /* made by embed.c; the last one has no name */

/* The bytes of a file; there has to be one of this name. */
struct str embedded_text(const char *name);

/* What a key, "{name}", stands for in a template. */
struct blank {
    struct str key;
    struct str_list values;
};

/* A line with a blank of several values, or none, stands once for each of them, and one with a single value has it
 * each time; braces around anything else stay. */
void fill_lines(struct buf *b, struct str text, const struct blank *blanks, size_t n);

#endif
