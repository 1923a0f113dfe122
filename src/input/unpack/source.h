/* The bytes of an input, in memory: a file that another process writes to or cuts off is no trouble once it is read.
 * What is compressed (gzip, bzip2, xz, zstd) is unpacked, whatever its name; of an archive (tar, zip) each file is an
 * input, and a packed one in it likewise. The buffer is immutable and lives until source_close. */
#ifndef FA_SOURCE_H
#define FA_SOURCE_H

#include "base/base.h"
#include "fusion_audit.h"

struct source {
    const char *path; /* a copy of what the user gave, "-" for standard input; "run.tar:a.mlir" in an archive */
    const char *data; /* not NUL-terminated */
    size_t size;
    const struct line_begin *lines; /* of each SOURCE_STEP bytes; NULL: they are counted when asked */
};

enum { SOURCE_STEP = 4096 };

/* The line in which a step begins. */
struct line_begin {
    uint64_t before; /* lines before it */
    size_t at;       /* its offset */
};

struct source_list {
    struct source *items;
    uint32_t n, cap;
};

/* Reads input i and appends it, or what is in it, to the list: at least one source. "run.tar:a.mlir" is one file of an
 * archive. At most `max_input` MB are held, the file and what it unpacks to together; 0: half of the memory, of the
 * machine or the control group. False with one diagnostic when it cannot: missing, unreadable, a directory, empty,
 * changed while it was read, damaged, cut off or too big (then nothing of it is used). Paths and line counts are in the
 * arena of `d`. */
bool source_read(struct source_list *list, const struct fa_inputs *inputs, size_t i, struct diags *d);
/* The one source that the first input is: an archive of several is refused. */
bool source_read_one(struct source *s, const struct fa_inputs *inputs, struct diags *d);
/* The same of a file, within the limit that is the default. */
bool source_open(struct source *s, const char *path, struct diags *d);
void source_close(struct source *s);

/* Line and column (1-based) of a byte offset. */
struct source_location source_place(const struct source *s, size_t offset);

#endif
