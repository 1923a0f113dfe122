/* The ops that an instance shows: those of a match, and the TTIR ops that they descend from. */
#ifndef FA_ORIGIN_H
#define FA_ORIGIN_H

#include "graph/pair.h"
#include "match/match.h"
#include "place/segment.h"

/* Where the TTNN matches of a compile come from. */
struct origins {
    struct pairing pairing;
    struct match_list matches; /* of the TTIR graph, overlapping ones too; the caller's to free with origins_free */
    uint8_t *marks;            /* room for pair_segment: a byte for each TTIR op */
};

void origins_free(struct origins *o);

/* The ops of a match and what was looked through, in textual order. */
struct segment match_segment(const struct match *m, struct arena *a);
/* The TTIR side of a TTNN match, without ops where there is none; `counterpart`: the match there, if it is one, else
 * NULL. */
struct segment origin_segment(const struct origins *o, const struct match *m, struct arena *a,
                              const struct match **counterpart);

#endif
