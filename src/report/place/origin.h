/* The ops that an instance shows: those of a match, and the TTIR ops that TTNN ops were lowered from. */
#ifndef FA_ORIGIN_H
#define FA_ORIGIN_H

#include "ir/pair/pair.h"
#include "report/place/segment.h"
#include "search/match/search_graph.h"

/* The TTIR side of one compile. The search: where the origin of a match is a match itself it is shown as a whole. */
struct origins {
    struct pairing pairing;
    struct match_list matches; /* in the TTIR graph, sorted by root, overlapping ones included */
};

/* The TTIR ops of a TTNN match; none where no pair is known. *counterpart: the TTIR match that these are, or NULL. */
struct segment origin_segment(const struct origins *o, const struct match *m, struct arena *a,
                              const struct match **counterpart);

#endif
