/* The notes of an instance: what the fusion is, where it lives, what it takes, what is known of it. */
#ifndef FA_NOTES_H
#define FA_NOTES_H

#include "match/match.h"
#include "place/flow.h"
#include "place/segment.h"

struct note_context {
    const struct pattern_set *set;
    uint32_t copies;            /* how often the graph was compiled */
    uint32_t graph, ngraphs;    /* of a log with several */
    const struct flow *flow;    /* of this graph; NULL: no place in the model is said */
    struct matcher *query;      /* for matches of this graph; NULL: one for each */
    const struct match *origin; /* the same in TTIR, which the compiler's TTIR passes saw; or NULL */
    struct matcher *origin_query;
    const struct conflicts *conflicts; /* or NULL */
    bool before;                       /* the ops shown are those from before the compiler's passes */
    struct str verdict;                /* of the proof: "validated: ..."; or empty */
    const char *missing_level;         /* "TTIR", "TTNN" when the instance lacks it although it was given; or NULL */
};

struct str notes_of(const struct note_context *c, const struct match *m, const struct segment *shown, struct arena *a);
/* Location aliases of the ops in textual order, each once, comma-separated; the location's text where there is no
 * alias. */
struct str ir_loc_of(const struct match *m, struct arena *a);

#endif
