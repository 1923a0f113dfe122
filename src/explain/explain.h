/* What `explain` tells, gathered from the graphs and then printed as text or JSON. Owns all its text: the
 * modules are gone by then. */
#ifndef FA_EXPLAIN_H
#define FA_EXPLAIN_H

#include <stdio.h>

#include "fusion_audit.h"
#include "graph/level.h"
#include "library/pattern.h"

enum outcome {
    OUTCOME_MATCHED, /* an audit reports it */
    OUTCOME_SETTLED, /* gives way to another match */
    OUTCOME_NEAR
};

struct explained_op {
    struct str name, result;
    uint64_t line;
};

struct explained {
    enum outcome outcome;
    double rank;    /* more is closer */
    uint64_t order; /* in the input */
    uint32_t graph;
    const char *file;
    struct explained_op root;
    struct str pattern, fused_op;
    struct explained_op *ops;     /* that match */
    uint32_t nops, total, others; /* others: conditions that do not hold either */
    const char *kind, *hint;      /* of what is different; see struct near_miss */
    struct str part, reason;
    struct explained_op differs; /* line 0: at no op */
    struct str proof;            /* of a match: what the report says of it, or the counterexample; or empty */
    struct str winner;           /* OUTCOME_SETTLED: its pattern; or empty */
    uint64_t *more;              /* lines of further places where the same is different */
    uint32_t nmore;
};

struct fa_explanation {
    struct arena arena;
    struct diags diags;
    struct pattern_set patterns;
    struct inputs inputs;
    struct proofs *proofs;
    const char *at; /* or NULL */
    bool picky;     /* one pattern at one place: what is far off is told too */
    struct explained *items;
    uint32_t n, cap;
    enum fa_status status;
};

void explain_print_text(const struct fa_explanation *e, FILE *out);
void explain_print_json(const struct fa_explanation *e, FILE *out);

#endif
