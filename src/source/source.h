/* Bytes of an input file: mapped when it is a regular file, read when it is a pipe or "-". What starts
 * like gzip or zstd is unpacked, whatever its name, up to the size of the memory (64 GiB at most).
 * The buffer is immutable and lives until source_close. */
#ifndef FA_SOURCE_H
#define FA_SOURCE_H

#include "base/base.h"

struct source {
    const char *path; /* as given by the user; "-" for standard input */
    const char *data; /* the (decompressed) bytes; not NUL-terminated */
    size_t size;
    bool mapped;
    bool unpacked;            /* data is an anonymous mapping and not the file */
    size_t line_cache_offset; /* source_place starts counting lines here if it can */
    uint64_t line_cache_line;
};

/* Opens and reads `path`. False with one diagnostic when it cannot: missing, unreadable, a directory, empty,
 * compressed data that is damaged, cut off or too big (then nothing of it is used). */
bool source_open(struct source *s, const char *path, struct diags *d);
void source_close(struct source *s);

/* Gives the memory of the bytes [p, p + n) of a mapped file back; reading them maps them again. */
void source_release(const struct source *s, const char *p, size_t n);
/* Called while offsets into the text at p grow from `from` to `to`. Releases [p, p + to) whenever a 4 MB boundary was
 * crossed, so that a pass over a long module keeps few of its pages in memory. */
void source_release_behind(const struct source *s, const char *p, size_t from, size_t to);

/* Line and column (1-based) of a byte offset. Amortised linear for offsets that grow. */
struct source_location source_place(struct source *s, size_t offset);

#endif
