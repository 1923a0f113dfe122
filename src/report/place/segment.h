/* Segments: ops as they are written in the input. */
#ifndef FA_SEGMENT_H
#define FA_SEGMENT_H

#include "search/match/match.h"

/* Ops of one level of an instance, in textual order. nops == 0: the level is missing. */
struct segment {
    const struct mlir *ir;
    const uint32_t *ops;
    uint32_t nops;
};

/* The ops of a match in textual order, alone and with those that it looked through, in the arena. */
struct segment matched_ops(const struct match *m, struct arena *a);
struct segment match_segment(const struct match *m, struct arena *a);
/* It is one of the latter. */
bool in_match(const struct match *m, uint32_t op);

/* Appends the text of each op and a newline. Blanks at the end of an op are left out, and so is the indentation of its
 * first line; its later lines lose as much of that indentation as all of them have. */
void segment_text(const struct segment *s, struct buf *out);
/* Appends the lines of the file that its ops begin on: "12-14, 20". */
void segment_lines(const struct segment *s, struct buf *out);
/* Hash of its ops, their attributes, types and how they feed one another: names and locations do not count. */
uint64_t segment_hash(const struct segment *s);

#endif
