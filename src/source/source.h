/* Bytes of an input file: mapped when it is a regular file, read when it is a pipe or "-".
 * The buffer is immutable and lives until source_close. */
#ifndef FA_SOURCE_H
#define FA_SOURCE_H

#include "base/base.h"

struct source {
    const char *path;  /* as given by the user; "-" for standard input */
    const char *data;  /* the (decompressed) bytes; not NUL-terminated */
    size_t size;
    bool mapped;
    size_t line_cache_offset; /* source_place starts counting lines here if it can */
    uint64_t line_cache_line;
};

/* Opens and reads `path`. False with one diagnostic when it cannot: missing, unreadable, a directory, empty. */
bool source_open(struct source *s, const char *path, struct diags *d);
void source_close(struct source *s);

/* Line and column (1-based) of a byte offset. Amortised linear for offsets that grow. */
struct place source_place(struct source *s, size_t offset);

#endif
