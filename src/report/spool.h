/* Bytes kept until the report is printed: up to 1 MB in memory, the rest in a file without a name, so that a long log
 * takes memory only for the graph that is audited. */
#ifndef FA_SPOOL_H
#define FA_SPOOL_H

#include <stdio.h>

#include "base/base.h"

struct spool {
    const char *directory; /* of the file; NULL: the system's directory of temporary files */
    struct buf memory;     /* the bytes after those in the file */
    FILE *file;
    uint64_t on_file; /* number of bytes in the file */
    int error;        /* errno: the file could not be made, written or read; what is added then is dropped */
};

/* Appends and returns the offset of the bytes. An error shows when they are read. */
uint64_t spool_add(struct spool *s, struct str bytes);
/* Reads n bytes that were added together into `out`, replacing what it holds. False when they cannot be read. */
bool spool_read(struct spool *s, uint64_t at, size_t n, struct buf *out);
/* Where the file is, or would be. */
const char *spool_directory(const struct spool *s);
void spool_free(struct spool *s);

#endif
