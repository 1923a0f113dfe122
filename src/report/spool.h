/* Bytes put aside until the report is written: in memory while they are few, then in an unnamed
 * temporary file, so that a long log costs memory only for the graph at hand. */
#ifndef FA_SPOOL_H
#define FA_SPOOL_H

#include <stdio.h>

#include "base/base.h"

struct spool {
    struct buf memory; /* the last bytes; all of them while there is no file */
    FILE *file;
    uint64_t on_file; /* bytes that are in the file */
    bool failed;      /* the temporary file could not be made or written */
};

/* Appends; gives where the bytes are. */
uint64_t spool_add(struct spool *s, struct str bytes);
/* Reads n bytes into `out`, replacing what it holds. False when they cannot be read. */
bool spool_read(struct spool *s, uint64_t at, size_t n, struct buf *out);
void spool_free(struct spool *s);

#endif
