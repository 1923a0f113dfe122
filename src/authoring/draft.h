/* The first draft of a pattern, made from ops of a real module (`patterns new`). */
#ifndef FA_DRAFT_H
#define FA_DRAFT_H

#include "fusion_audit.h"
#include "ir/graph/graph.h"
#include "patterns/library/pattern.h"

/* Writes a draft of the ops with the results "%14,%17" of one file, in the function "@func" if the list names one, to
 * `out`. A draft is read back and has to match its own example. False with diagnostics, and nothing is written. */
bool draft_make(struct pattern_set *set, const struct fa_inputs *file, const char *ops, struct diags *d,
                struct buf *out);

/* ---- private to draft.c, draft_formula.c and draft_example.c ---- */

struct draft {
    const struct graph *graph;
    uint32_t func;
    struct arena *arena;
    bool *chosen;                  /* by op: asked for, and an op of the formula */
    bool *shown;                   /* by op: part of the example */
    struct str *names;             /* by value: its name in the formula, then in the example; or empty */
    bool *typed;                   /* by value: stands in the example, with its type if it is an argument there */
    uint32_t nvariables, nletters; /* how many of them are called by a letter */
    bool axes;                     /* write dim=-1 where an op works along the last axis */
    bool cut;                      /* a slice is written as x[..., :n] */
    bool function;                 /* write one function of one value instead of a line for each op */
};

/* Casts, changes of layout and movement of one operand, which matching looks through. */
bool draft_is_mover(const struct graph *g, uint32_t op);
/* The chosen op that a value comes from, looking through movers; NONE where that op is not chosen. */
uint32_t draft_source(const struct draft *s, uint32_t value);
/* Writes the lines of the formula, the root last, and marks in `shown` what the example needs. False where they are to
 * be one function of one value, and are not. */
bool draft_formula(struct draft *s, uint32_t root, struct buf *out);
/* The same of ops that move data only, of which the root is the last one: one line. False where they repeat elements.
 */
bool draft_rearranged(struct draft *s, uint32_t root, struct buf *out);
/* Writes the key `tests` with the shown ops as a hit, in short. */
void draft_example(struct draft *s, struct buf *out);
/* The value is written as a number: it is one constant, and no chosen op makes it. */
bool draft_is_number(const struct draft *s, uint32_t value, double *number);
bool draft_has_name(const struct draft *s, struct str name);

#endif
