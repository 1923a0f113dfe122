/* A part of a graph as a module of its own, with other extents: one function whose arguments are what the part takes
 * from outside, its ops, and constants.
 *
 * A constant is written as the number that is meant, in f64, and cast to its element type: 1/768 in bf16 is printed as
 * 1/768, and as 1/12 where 768 becomes 12. What is meant is told by the extents and by the numbers of the pattern: a
 * number is meant where the constant is that number rounded to the constant's own type. */
#ifndef FA_PROVE_WRITE_H
#define FA_PROVE_WRITE_H

#include "reduce/payload.h"
#include "reduce/shrink.h"

struct written_part {
    struct str text;
    uint32_t *line; /* per op of the part: its number among the ops of the function */
};

struct writing {
    const struct pattern *pattern;
    bool ties;               /* a constant may be meant as a function of an extent */
    const struct held *held; /* constants that are written as what they hold, as many elements of each dimension as
                              * there are then; NULL: they are arguments */
};

bool part_write(const struct part *p, const struct extents *e, const struct writing *how, struct arena *a,
                struct written_part *out, struct str *why);

#endif
