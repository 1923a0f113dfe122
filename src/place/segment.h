/* Segments: ops as they are written in the input. */
#ifndef FA_SEGMENT_H
#define FA_SEGMENT_H

#include "mlir/mlir.h"

/* Ops of one level of an instance, in textual order. nops == 0: the level is missing. */
struct segment {
    const struct mlir *ir;
    const uint32_t *ops;
    uint32_t nops;
};

/* Appends the text of each op and a newline. Blanks at the end of an op are left out, and so is the indentation of its
 * first line; its later lines lose as much of that indentation as all of them have. */
void segment_text(const struct segment *s, struct buf *out);
/* Appends the lines of the file that its ops begin on: "12-14, 20". */
void segment_lines(const struct segment *s, struct buf *out);
/* Hash of its ops, their attributes, types and how they feed one another: names and locations do not count. */
uint64_t segment_hash(const struct segment *s);

#endif
