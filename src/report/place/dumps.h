/* What the dumps of a log show of a pass and some ops: whether they were there before it, and are behind it. */
#ifndef FA_DUMPS_H
#define FA_DUMPS_H

#include "input/log/inputs.h"
#include "search/match/match.h"

struct dumps;

/* Of one compile; dumps are read when they are asked for. To be freed by dumps_free; NULL is fine. */
struct dumps *dumps_new(const struct inputs *in, const struct compile *c);
void dumps_free(struct dumps *d);

enum around_pass { AROUND_UNKNOWN, AROUND_LEFT /* there before it, and behind it */, AROUND_BEHIND /* came later */ };
struct around {
    enum around_pass kind;
    uint64_t before, behind; /* lines: of AROUND_LEFT its root in the dumps before and behind; of AROUND_BEHIND the dump
                                before in `before` */
};

/* Of the last run of the pass that dumps call `pass` ("TTIRFusing"). Ops are known by names, types and locations. */
struct around dumps_around(struct dumps *d, struct str pass, const struct match *m);

#endif
