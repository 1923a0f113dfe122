/* Undoes gzip and zstd compression and UTF-16, in memory. Private to the room. */
#ifndef FA_UNPACK_H
#define FA_UNPACK_H

#include "base/base.h"

enum packing { PACK_NONE, PACK_GZIP, PACK_ZSTD, PACK_XZ, PACK_BZIP2 };

struct unpacked {
    char *data; /* anonymous mapping of `size` bytes; NULL when empty */
    size_t size;
    const char *error; /* why it failed, static; NULL: it did not */
};

/* By the first bytes; names of files are not looked at. */
enum packing packing_of(struct str bytes);

/* The most that a stream may unpack to: the memory of the machine, but no more than 64 GiB. */
size_t unpack_limit(void);

/* All members of a gzip stream or all frames of a zstd stream. False with out->error and no data when
 * the stream is damaged or cut off, or unpacks to more than `limit` bytes. */
bool unpack(enum packing kind, struct str bytes, size_t limit, struct unpacked *out);

/* Does it start with the byte order mark of UTF-16? A shell of Windows writes logs like that. */
bool is_utf16(struct str bytes);
/* In UTF-8, without the mark; the caller frees it. */
char *utf8_of_utf16(struct str bytes, size_t *size);

#endif
