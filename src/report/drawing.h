/* A place as a drawing shows it: its ops, what was looked through between them, and what comes in from outside. */
#ifndef FA_DRAWING_H
#define FA_DRAWING_H

#include "search/match/match.h"

enum { MOST_DRAWN = 200 /* ops; a place of more is not drawn */ };
enum drawn { DRAWN_MATCHED, DRAWN_THROUGH, DRAWN_OUTSIDE };

/* An op, or a value from outside of the place. */
struct drawn_op {
    enum drawn part;
    struct str op;            /* of a value from outside the op that makes it; empty: an argument */
    struct str value, type;   /* of the first result: "%5", "1x32xbf16"; empty: it has none */
    struct str_list operands; /* values, "%5"; none of what is outside */
    uint64_t line;            /* of the level that is shown; 0: nowhere */
};

struct drawing {
    const struct drawn_op *ops; /* what is outside first, then in textual order */
    uint32_t nops;
    struct str_list names, values; /* what the fused op takes: names of the pattern, and the values that they are */
};

/* In `a`. */
struct drawing draw_match(const struct match *m, const struct match_detail *detail, struct arena *a);

#endif
