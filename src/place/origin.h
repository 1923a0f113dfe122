/* The ops that an instance shows: those of a match, and the TTIR ops that TTNN ops were lowered from. */
#ifndef FA_ORIGIN_H
#define FA_ORIGIN_H

#include "graph/pair.h"
#include "match/search_graph.h"
#include "place/segment.h"

/* The TTIR side of one compile. */
struct origins {
    struct pairing pairing;
    struct match_list matches; /* in the TTIR graph, sorted by root, overlapping ones included */
    uint8_t *marks;            /* scratch of pair_segment: a zero byte for each TTIR op */
};

/* Pairs the two graphs and searches TTIR too: where the origin of a match is a match itself it is shown as a whole.
 * What the matches point to lives in `a`. */
void origins_build(struct origins *o, const struct search_setup *setup, const struct graph *ttir,
                   const struct graph *ttnn, struct arena *a);
/* Frees the members; a zeroed one is fine. */
void origins_free(struct origins *o);

/* The ops of a match and those it looked through, in textual order, in the arena. */
struct segment match_segment(const struct match *m, struct arena *a);
/* The TTIR ops of a TTNN match; none where no pair is known. *counterpart: the TTIR match that these are, or NULL. */
struct segment origin_segment(const struct origins *o, const struct match *m, struct arena *a,
                              const struct match **counterpart);

#endif
