/* The graph whose matches become findings (describe.c), and what options of the compiler make at parts of its places
 * (parts.c). */
#ifndef FA_PARTS_H
#define FA_PARTS_H

#include "report/describe.h"
#include "report/place/layers.h"
#include "report/place/notes.h"
#include "report/report.h"
#include "search/match/cache.h"

enum { DRAWN_SLOTS = 1024, KIND_SLOTS = 1024 };

/* Places in functions that are alike, of which the first one is priced for all, and where they are only counted
 * described, as long as locations do not tell them apart. */
struct kind {
    struct known_place place;
    struct price price;
    uint32_t finding;    /* in the report; NONE: fusing saves nothing */
    struct promise part; /* without an option: none makes it, or it takes another one */
};

/* A match that a finding of the report stands for. */
struct place {
    const struct match *match;
    uint32_t finding, number;
    double saved_us;
    int rank;      /* who takes ops first: lower ones */
    bool needless; /* what takes its ops saves as much */
};

struct describer {
    const struct findings *f;
    const struct fa_audit_options *options;
    struct note_context notes;
    struct matcher *query; /* of what matches bind */
    struct pricer pricer;
    const struct device *device;        /* a copy that stays */
    struct ranks *ranks, *origin_ranks; /* of the graph, and of its TTIR */
    struct dumps *dumps;                /* NULL: none */
    struct layers layers;
    uint32_t first_layer;        /* of this graph in the report */
    uint64_t drawn[DRAWN_SLOTS]; /* keys of places that have a drawing, by their last bits */
    struct kind *kinds;          /* KIND_SLOTS, by the last bits of their keys */
    struct place *places;        /* of findings that save something */
    uint32_t nplaces, places_cap;
    uint32_t *taken;      /* per op: the finding that takes it, whose saving is in the sum, plus 1; or 0 */
    uint32_t *best;       /* the same, or what of TTNN's own ops saves more there */
    bool counted_only;    /* no texts are made */
    bool all;             /* also what saves nothing: the report decides */
    bool fused;           /* the graph has ops that fusing made */
    double *of_ops;       /* us */
    uint32_t *finding_of; /* per match: in the report; or NONE */
    bool missed;          /* a pass that runs unless it is switched off missed something */
    struct arena arena;   /* freed after each match */
    struct arena kept;    /* of kinds */
};

/* That the fused op was not made is a sign of its pass not having run. */
bool tells_of_fusing(const struct pattern_set *set, const struct match *m);
/* Of what differs in names and locations only; 0: that is not known. */
uint64_t kind_key(const struct describer *by, const struct match *m);
/* NULL: none is known. */
struct kind *known_kind(struct describer *by, const struct match *m, uint64_t key);
void keep_kind(struct describer *by, uint64_t key, const struct match_detail *d, struct kind kind);
/* A pass that runs unless it is switched off left a part of a place. */
bool part_is_missed(const struct describer *by, const struct report *r);
/* A softmax is made by an option even where the attention around it takes more. Such matches gave way to those that are
 * reported; what they save is part of what the option promises. */
void count_parts(struct describer *by, enum fusing fusing, uint32_t first, struct report *r);

#endif
