/* Segments: bytes of the input. */
#ifndef FA_SEGMENT_H
#define FA_SEGMENT_H

#include "mlir/mlir.h"

/* Ops of one side of an instance, in textual order. nops == 0: the side is missing. */
struct segment {
    const struct mlir *ir;
    const uint32_t *ops;
    uint32_t nops;
};

/* Appends the bytes of the ops: one op after another, each ended by a newline, without blanks at its end and
 * without the indentation of its first line (of later lines as much of that as all of them have). */
void segment_text(const struct segment *s, struct buf *out);

#endif
