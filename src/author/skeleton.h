/* Makes the first draft of a pattern from ops of a real module. */
#ifndef FA_SKELETON_H
#define FA_SKELETON_H

#include "fusion_audit.h"
#include "graph/graph.h"
#include "library/pattern.h"

/* Writes the draft made from `file` and "%14,%17,@func" to `out`. The draft is read back and has to match its own
 * example: else nothing is written. False with diagnostics. */
bool skeleton_make(struct pattern_set *set, const char *file, const char *ops, enum fa_levels levels, struct diags *d,
                   struct buf *out);

/* ---- private to skeleton.c and skeleton_formula.c ---- */

struct skeleton {
    const struct graph *graph;
    uint32_t func;
    struct arena *arena;
    bool *chosen;         /* per op: asked for and part of the formula */
    bool *shown;          /* per op: part of the example */
    struct str *names;    /* per value: its name in the formula, or empty */
    struct str *stand_in; /* per value: an op that makes a constant which the module makes elsewhere, or empty */
    uint32_t nvariables;
    bool axes; /* say along which axis an operator works */
};

/* Casts, layout changes and movement, which formulas look through. */
bool skeleton_is_mover(const struct graph *g, uint32_t op);
/* The op behind movement that a value comes from, if it is one of the chosen; else NONE. */
uint32_t skeleton_source(const struct skeleton *s, uint32_t value);
/* Lines of the formula; `root` is the last. Marks what the example has to show. */
void skeleton_formula(struct skeleton *s, uint32_t root, struct buf *out);

#endif
