/* The two sides of a proof, and one evaluation of both. Shared by the files of the prover.
 *
 * The reference is the matched ops as a program over inputs, the fused form the formula that the pattern says computes
 * the same. Both are set up once and do not change after that. A device_run has the tensors of one trial on one device.
 */
#ifndef FA_PROOF_H
#define FA_PROOF_H

#include "match/match.h"
#include "numeric/numeric.h"
#include "numeric/interpret_graph.h"

/* ---- the reference ---- */

enum { MAX_INPUTS = 64, MAX_REFERENCE_OPS = 512, MAX_THRESHOLDS = 16 };

/* What a truth value decides: nothing, a choice between two values, or which scores a mask hides from a softmax. */
enum predicate_use { PREDICATE_NONE, PREDICATE_SELECTS, PREDICATE_HIDES_TRUE, PREDICATE_HIDES_FALSE };

/* An input and what is known of it, which decides the random numbers that it gets. */
struct proof_input {
    uint32_t value;
    const struct assumed_constant *constant; /* the number that the pattern says it holds; or NULL */
    const struct formula *holds; /* the pattern says that its elements are this function of something; or NULL */
    bool positive;               /* the pattern says so */
    bool replicated;             /* the pattern says that it is equal on all devices */
    uint32_t indices;            /* an integer that selects elements, rows or the like: how many of them; else 0 */
    bool divides;                /* the match divides by it */
    bool scales;                 /* one number that the match multiplies or divides by */
    enum predicate_use predicate;
    int mask_sign; /* 1: an additive mask, which hides with -inf; -1: one that is subtracted, with inf; 0: neither */
};

/* Numbers at which the reference becomes another function. */
struct thresholds {
    double at[MAX_THRESHOLDS];
    uint32_t n;
    double epsilon; /* the smallest of the small numbers that it adds, 0: none */
    bool integers;  /* it takes integers that are no indices, so their values matter */
};

struct reference {
    const struct pattern_set *set; /* of the lowerings */
    const struct match *match;
    struct arena *arena;
    struct match_detail bound;       /* values of the pattern's names */
    uint32_t ops[MAX_REFERENCE_OPS]; /* ops that are evaluated: matched, movement between them, constants */
    uint32_t nops;
    struct proof_input inputs[MAX_INPUTS];
    uint32_t ninputs;
    bool full;  /* too many ops or inputs */
    bool sorts; /* some matched op sorts: equal elements are tried on their own */
    bool masks; /* some input is an additive mask */
    struct thresholds thresholds;
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

enum { MAX_FRAMES = 8, MAX_OUTPUTS = 16 };

/* The axes in which the form is evaluated: those of the pattern's formula, or of an op of the graph, since a fused op
 * such as a convolution works in the axes of its operand. */
struct axis_frame {
    uint32_t slot; /* the op, as a name of the pattern; NONE: the formula's axes */
    uint32_t norm; /* a batch normalisation between the root and that op, by name; NONE: none */
};

struct fused_form {
    const struct formula *formula;
    const struct axes *root_axes; /* of the root of the pattern's formula */
    uint32_t work_axis;           /* of these, the one along which the match reduces or slices; NONE: the last one */
    bool as_printed[MAX_SLOTS];   /* by name: an operand that keeps the dimension order of its type */
    struct formula_context like;  /* attributes that are those of matched ops */
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
    struct str name = f->formula->slot_name[slot];
    return name.n ? formula_slot(reference_formula(r), name) : NONE;
}

/* ---- one evaluation ---- */

struct device_run {
    const struct reference *ref;
    const struct fused_form *form;
    struct eval_context eval; /* of one trial; its arena has the tensors */
    uint64_t seed;            /* differs from device to device */
    uint32_t sample;          /* the how many-th numbers of this seed and trial */
    struct given given[MAX_INPUTS];
    const struct tensor *values[2 * MAX_SLOTS]; /* of fused_form.values, after form_evaluate_match */
    const struct tensor *names[MAX_SLOTS];      /* of the form, in the frame, after form_bind */
    struct axis_frame frame;
    struct formula_choice choice; /* which alternatives of the form */
    struct mesh *mesh;            /* devices.h; NULL: there is one device */
};

/* The ops of the reference, from these inputs. */
static inline struct program run_program(const struct device_run *run) {
    return (struct program){.graph = reference_graph(run->ref),
                            .given = run->given,
                            .ngiven = run->ref->ninputs,
                            .ops = run->ref->ops,
                            .nops = run->ref->nops};
}

/* What a root of the form computes and the value of the match that it stands for, of one shape if the form is right. */
struct output {
    const struct tensor *want, *got;
};

#endif
