/* One evaluation of a formula, as the files of this folder share it, within eval_attempt. Private to the folder.
 *
 * formula_value.c evaluates nodes, with the help of, from the bottom up: formula_number.c (numbers), formula_presence.c
 * (what is absent), formula_attribute.c (attributes of ops), formula_choice.c (alternatives), lowered.c (fused ops). */
#ifndef FA_FORMULA_RUN_H
#define FA_FORMULA_RUN_H

#include "proof/numeric/call.h"
#include "proof/numeric/formula_value.h"

enum { MAX_DEPTH = 24 /* of lowerings inside of each other */, MAX_LOWERED_OPERANDS = 8 };

struct formula_run {
    struct eval_context *eval;
    const struct pattern_set *set; /* whose lowerings count; or NULL */
    const struct formula *formula;
    const struct tensor *values[MAX_SLOTS][MAX_RESULTS]; /* results of each name, as far as they are known */
    bool present[MAX_SLOTS];                             /* it was found to be, so that it need not be found again */
    bool bound[MAX_SLOTS];                               /* given by the caller, not evaluated */
    bool busy[MAX_SLOTS];                                /* being evaluated: it may not ask for itself */
    const struct formula_context *context;               /* or NULL */
    struct formula_choice *choice;                       /* NULL: the first alternative that is present */
    uint32_t ndecided;                                   /* of the choices: nodes that were asked for */
    const struct lowering *inside;                       /* the lowering that the formula is, or NULL */
    const struct call *outer;                            /* the op that is lowered */
    uint32_t depth;                                      /* lowerings around this one */
    uint32_t unknown;                                    /* out: a name whose number was asked for, and is not known */
    /* Value of a node. A pointer, since numbers ask for values and values for numbers. */
    const struct tensor *(*evaluate)(struct formula_run *r, const struct node *n);
};

/* ---- formula_number.c ---- */

/* Value of a name, evaluated if need be. */
const struct tensor *slot_value(struct formula_run *r, uint32_t slot);
double number_value(struct formula_run *r, const struct number *n);

/* ---- formula_presence.c ---- */

bool formula_present(struct formula_run *r, const struct node *n);
/* All names that it needs are present. */
bool number_present(struct formula_run *r, const struct number *n);
bool op_present(struct formula_run *r, const struct node *n);
/* For messages: a name for want of which a part is absent, or "an operand". */
const char *formula_absent(struct formula_run *r, const struct node *n);
/* Every name in the numbers of an attribute is present; words are no names. */
bool attribute_present(struct formula_run *r, const struct attr_spec *a);
/* Movement that the formula leaves open has no value: false. */
bool is_determined(const struct formula_run *r, const struct node *n);
/* What the formula writes for a key, or NULL. */
const struct attr_spec *find_attribute(const struct node *n, const char *key);
/* A number that only the match knows (struct formula_context). */
bool number_of_match(const struct formula_run *r, const struct attr_number *n, double *out);

/* ---- formula_attribute.c ---- */

struct formula_op {
    struct formula_run *run;
    const struct node *node;
    uint64_t *asked; /* bits: attributes of the node that its evaluator asked for */
};

/* attrs.computed of an op of a formula; `self` is a struct formula_op. */
const struct attr *formula_attribute(const void *self, const char *key);
/* The op of the graph that an op of the formula stands for, or NONE. Of several it is the first. */
uint32_t graph_op_of(const struct formula_run *r, enum op_kind k);

/* ---- formula_choice.c ---- */

/* The alternative of an N_EITHER that counts; NULL when none is present. */
const struct node *formula_alternative(struct formula_run *r, const struct node *n);

/* ---- lowered.c ---- */

/* A fused op that is about to be evaluated by its lowering: `run` is the formula, with operands and attributes bound to
 * its names. */
struct lowered_op {
    struct call call;
    const struct tensor *operands[MAX_LOWERED_OPERANDS];
    uint32_t axis;      /* of the op; the lowering works along the last one */
    bool flattened;     /* it normalises several dimensions, which are one to the lowering */
    struct shape shape; /* of its first operand */
    struct formula_run *run;
};

/* `node`: the op in a formula, or NULL for one of a graph. */
void lowered_begin(struct lowered_op *o, struct formula_run *r, const struct lowering *w, const struct call *c,
                   const struct node *node);
/* From the results of the formula to those of the op. */
void lowered_end(const struct lowered_op *o, const struct tensor *results[MAX_RESULTS]);

/* ---- formula_value.c ---- */

/* An op by its lowering; `n` as above. */
void evaluate_lowered(struct formula_run *r, const struct lowering *w, const struct call *c, const struct node *n,
                      const struct tensor *results[MAX_RESULTS]);

#endif
