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

/* Finds the matches that may be origins of those of two lists. What they point to lives in `a`; the caller frees the
 * items of their list. */
void origins_search(struct origins *o, const struct search_setup *setup, const struct match_list *matches,
                    const struct match_list *gave_way, struct arena *a);

/* The TTIR ops of a TTNN match; none where no pair is known. *counterpart: the TTIR match that these are, or NULL. */
struct segment origin_segment(const struct origins *o, const struct match *m, struct arena *a,
                              const struct match **counterpart);

#endif
