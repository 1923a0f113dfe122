/* What `explain` prints: gathered graph by graph, then printed as text or JSON. It owns all its text, since each module
 * is freed before the next one is read. */
#ifndef FA_EXPLAIN_H
#define FA_EXPLAIN_H

#include <stdio.h>

#include "device/chips/chip.h"
#include "elementwise/rules.h"
#include "fusion_audit.h"
#include "ir/graph/level.h"
#include "patterns/library/pattern.h"

enum outcome {
    OUTCOME_MATCHED,  /* an audit reports it */
    OUTCOME_REFUTED,  /* its proof refutes it */
    OUTCOME_GAVE_WAY, /* overlaps with one that is reported */
    OUTCOME_SLOWER,   /* left out: the fused op is estimated to be slower */
    OUTCOME_NEAR
};

extern const char *const outcome_words[];

struct explained_op {
    struct str name, result;
    uint64_t line;
};

struct explained {
    enum outcome outcome;
    double rank;    /* near_miss_rank */
    uint64_t order; /* in the input */
    uint32_t graph;
    const char *file;
    struct explained_op root;
    struct str source; /* of the ops that match, in Python; or empty */
    struct str pattern, fused_op;
    struct explained_op *ops;     /* that match */
    uint32_t nops, total, others; /* as in struct near_miss */
    const char *kind, *hint;      /* of what is different; see struct near_miss */
    struct str part, reason;
    const struct unchecked *compiler; /* what accepts more than the pattern, of all ops that match; or NULL */
    struct explained_op differs;      /* line 0: at no op */
    struct str proof;                 /* of a match: what the report says of it, or the counterexample; or empty */
    struct str price;                 /* of what is slower */
    struct str winner;                /* of a match that is not reported: the pattern of the one that is; or empty */
    uint64_t *more;                   /* lines of other roots with the same difference, at most 8 */
    uint32_t nmore;
    bool asked; /* it ends, or differs, at what --at means */
    bool about; /* with --at: a match, or a near miss of more than arithmetic */
    bool hidden; /* all of it matches, and is left out on purpose */
    bool theoretical;
};

struct fa_explanation {
    struct arena arena;
    struct diags diags;
    struct pattern_set own;             /* read for this call */
    const struct pattern_set *patterns; /* these or those of a library */
    struct inputs inputs;
    struct proofs *proofs, *shown; /* shown: with the figures of the device */
    struct match_cache *cache;
    struct region_rules rules;
    struct chips chips;
    enum region_kind regions; /* --include; REGION_KINDS: none */
    const char *at;           /* a copy; or NULL */
    struct str became;        /* of what --at means in TTIR: what that is in TTNN; or empty */
    bool reported;            /* something is, also where --at does not mean it */
    bool all;                 /* one pattern at one place is asked for: far misses are printed, too */
    struct explained *items;
    uint32_t n, cap;
    enum fa_status status;
};

void explain_print(const struct fa_explanation *e, bool json, FILE *out);

#endif
