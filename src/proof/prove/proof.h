/* The two sides of a proof. Shared by the files of the prover.
 *
 * The reference is the matched ops as a program over inputs, the fused form the formula that the pattern says computes
 * the same. Both are set up once; what changes is the reading of the form at hand. */
#ifndef FA_PROOF_H
#define FA_PROOF_H

#include "proof/numeric/formula_value.h"
#include "proof/trials/equal.h"

/* ---- the reference ---- */

enum { MAX_REFERENCE_OPS = 512 };

struct reference {
    const struct pattern_set *set; /* of the lowerings */
    const struct match *match;
    struct arena *arena;
    struct match_detail bound;       /* values of the pattern's names */
    uint32_t ops[MAX_REFERENCE_OPS]; /* ops that are evaluated: matched, movement between them, constants */
    uint32_t nops;
    bool as_printed;        /* constants are the numbers of the text; else those that they were rounded from, */
    bool meant;             /* of which there is one */
    bool full;              /* too many ops or inputs */
    struct problem problem; /* both sides */
};

/* The formula of the pattern that matched. */
static inline const struct formula *reference_formula(const struct reference *r) {
    const struct pattern *p = r->match->pattern;
    return p->is_variant ? &p->variant_of->formula : &p->formula;
}

static inline const struct graph *reference_graph(const struct reference *r) {
    return r->match->graph;
}

/* A name of the pattern has a value, with its index map and axes. */
static inline bool reference_binds(const struct reference *r, uint32_t slot) {
    const struct binding *b = slot == NONE ? NULL : &r->bound.slots[slot];
    return b && b->value != NONE && b->map && b->axes;
}

static inline bool reference_evaluates(const struct reference *r, uint32_t op) {
    for (uint32_t i = 0; i < r->nops; i++)
        if (r->ops[i] == op)
            return true;
    return false;
}

/* ---- the fused form ---- */

enum { MAX_FRAMES = 8 };

/* The axes in which the form is evaluated: those of the pattern's formula, or of an op of the graph, since a fused op
 * such as a convolution works in the axes of its operand. */
struct axis_frame {
    uint32_t slot;    /* the op, as a name of the pattern; NONE: the formula's axes, */
    bool batches;     /* with batch axes where the root has them, also out of the rows of a product */
    struct imap map;  /* from the root to its result, */
    struct axes axes; /* whose dimensions are digits of the root's index */
};

struct fused_form {
    const struct formula *formula;
    const struct axes *root_axes; /* of the root of the pattern's formula */
    uint32_t work_axis;           /* of these, the one along which the match reduces or slices; NONE: the last one */
    bool names_axes;              /* it writes `dim`, which is an axis of the formula */
    uint32_t nbatches;            /* of these, the first ones, that products have as batches */
    bool as_printed[MAX_SLOTS];   /* by name: an operand that keeps the dimension order of its type */
    struct axis_frame frames[MAX_FRAMES]; /* all that fit, the likeliest first */
    uint32_t nframes;

    /* Values of the reference that are compared or are operands of the form; the first one is the root. */
    uint32_t values[2 * MAX_SLOTS], nvalues;
    uint32_t name_at[MAX_SLOTS]; /* by name: its index in `values`, or NONE */
    struct {
        uint32_t value;     /* its index in `values` */
        uint32_t root;      /* 0: the root of the form; k: its k-th secondary root */
    } outputs[MAX_OUTPUTS]; /* that are compared */
    uint32_t noutputs;
};

/* The name of the pattern that a name of the form is; NONE: the form's own. */
static inline uint32_t form_slot(const struct fused_form *f, const struct reference *r, uint32_t slot) {
    struct str name = f->formula->slots[slot].name;
    return name.n ? formula_slot(reference_formula(r), name) : NONE;
}

/* ---- one evaluation of the form ---- */

/* On one device, in one reading. */
struct form_run {
    const struct reference *ref;
    const struct fused_form *form;
    struct eval_context *eval;
    const struct given *given;    /* NULL: the form is only written */
    const struct tensor **values; /* of fused_form.values */
    const struct tensor **names;  /* of the form, in the frame, after form_bind */
    const struct axis_frame *frame;
    struct formula_choice choice; /* which alternatives of the form */
};

#endif
