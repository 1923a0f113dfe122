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

#endif
