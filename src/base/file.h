/* Files that a run writes: whole, or not at all. */
#ifndef FA_FILE_H
#define FA_FILE_H

#include <stdio.h>

#include "base/base.h"

struct printing {
    bool (*print)(void *what, FILE *out); /* false: errno tells why, 0 for libyaml */
    void *what;
};

/* Writes what is printed to a file that takes the place of `path`, with its mode; "-" is standard output. A link, a
 * file with several names or of another owner, and what is no regular file is written directly, and may be cut off
 * where that fails; else a file is then as it was. False with the reason in `error`, which has n bytes, and in errno. A
 * directory that is not there is made. */
bool file_write(const struct printing *p, const char *path, char *error, size_t n);
/* The same of a text that is a whole file. */
bool file_write_text(struct str text, const char *path, char *error, size_t n);

#endif
