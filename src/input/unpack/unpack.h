/* From the bytes of a file to sources. Private to the folder. */
#ifndef FA_UNPACK_H
#define FA_UNPACK_H

#include "input/unpack/source.h"

/* A file that is being read. */
struct opening {
    struct source_list *list;
    struct diags *diags;
    const char *only;   /* the path of the one source that is asked for; NULL: all are */
    size_t limit, left; /* bytes that may be held, and that are left of these */
};

/* False, with a diagnostic. */
__attribute__((format(printf, 4, 5))) bool refuse(struct opening *o, const char *path, const char *hint,
                                                  const char *format, ...);
/* Takes n bytes off what is left; false, with a diagnostic, where that is less. */
bool charge_bytes(struct opening *o, const char *path, size_t n);

/* Appends what the bytes are, or what is in them. Takes the buffer over. `depth` archives are around it. */
bool unpack(struct opening *o, const char *path, struct buf *bytes, unsigned depth);

/* unwrap.c: text that is written in another way becomes UTF-8, line for line: UTF-16, docker's JSON lines, the modules
 * in a serialized executable of tt-xla. */
void unwrap(struct buf *b);

#endif
