/* Which matches of a graph are reported: found, overlaps resolved, and not refuted by their proofs. */
#ifndef FA_SELECT_H
#define FA_SELECT_H

#include "device/price/cost.h"
#include "fusion_audit.h"
#include "proof/prove/proofs.h"
#include "search/match/search_graph.h"

/* A match that its proof refuted: the fused form computes something else. */
struct refuted {
    struct match match;
    struct str why, text; /* the counterexample; the remark that says so */
};

struct selection {
    struct match_list matches;
    struct proved *verdicts;    /* of each match; NULL: nothing was proved */
    struct match_list gave_way; /* overlap with these, and are reported nowhere */
    struct refuted *refuted;
    uint32_t nrefuted, refuted_cap;
};

/* `proofs` may be NULL: nothing is proved; `pricer`, too: of overlapping matches the larger one counts. What the
 * selection points to lives in `a`; free it with selection_free. */
void select_matches(const struct search_setup *setup, const struct fa_patterns *o, struct proofs *proofs,
                    const struct graph *g, struct pricer *pricer, struct arena *a, struct selection *out);
void selection_free(struct selection *s);

#endif
