/* Numbers and conditions of a pattern, evaluated over what a match has bound. */
#ifndef FA_EVALUATE_H
#define FA_EVALUATE_H

#include "ir/graph/movement.h"
#include "search/automaton/ask.h"
#include "search/match/match.h"

enum { MAX_PRECONDITIONS = 48, MAX_ASSUMED_CONSTANTS = 64, MAX_SLICED = 32 };

struct looked_through {
    uint32_t op;
    bool inner; /* between two matched ops: its result may have no other user */
};

/* An argument of the model that a match assumes to be a parameter, or to hold one number in every element. NaN: any. */
struct precondition {
    uint32_t argument;
    double number;
    bool parameter;
};

/* What a match assumes or knows of the numbers that its values hold; each value once. */
struct assumptions {
    struct precondition preconditions[MAX_PRECONDITIONS];
    struct assumed_constant constants[MAX_ASSUMED_CONSTANTS];
    uint32_t sliced[MAX_SLICED]; /* values of which the fused op needs a slice */
    uint32_t npreconditions, nconstants, nsliced;
};
/* There may be more: what a finding would say of them is not whole. */
static inline bool assumptions_are_full(const struct assumptions *a) {
    return a->npreconditions == MAX_PRECONDITIONS || a->nconstants == MAX_ASSUMED_CONSTANTS || a->nsliced == MAX_SLICED;
}
void assume_precondition(struct assumptions *a, struct precondition p);
void assume_slice(struct assumptions *a, uint32_t value);
void assume_constant(struct assumptions *a, uint32_t value, double number, bool stated);

/* Whether a condition on nothing but the locations and texts of ops holds of these. */
struct op_answer {
    const struct number *condition;
    const uint32_t *ops;
    uint32_t nops;
    bool holds;
};

/* What the result of a search depends on beside the function's fingerprint, for the match cache. */
struct search_record {
    struct op_answer *answers;
    uint32_t nanswers, cap;
    bool spelled;   /* the text of the op of a name, */
    bool elsewhere; /* or names of values, or another function: what it found is not kept */
};

struct evaluation {
    const struct graph *graph; /* what is evaluated over */
    const struct formula *formula;
    const struct binding *bindings; /* by slot */
    const struct axes *axes;        /* of the root */
    const uint32_t *ops;            /* of a whole match; none while it is searched for */
    uint32_t nops;
    const double *numbers; /* by slot: what a value that is no constant holds, or NaN; NULL: not known of any */
    struct arena *arena;

    struct assumptions *assumed;  /* collects; NULL: nobody asks */
    struct search_record *record; /* collects; NULL: nobody asks */
    const char *prefix;           /* of names of values in templates; or NULL */
    bool *python; /* false once an operand is not known as Python passes it; NULL: texts are for people */
};
/* What a name stands for; or what it was before casts and movement, or is after them: what an op makes is both, but for
 * the result of one that is read as what it is moved to. The map stays. */
enum value_view { VIEW_BOUND, VIEW_SOURCE, VIEW_PRINTED };
static inline struct binding bound_to(const struct evaluation *e, uint32_t slot, enum value_view view) {
    struct binding b = e->bindings[slot];
    if (view == VIEW_SOURCE && b.value != NONE && (b.op == NONE || e->graph->m->values[b.value].def != b.op))
        b.value = movement_source(e->graph, b.value);
    else if (view == VIEW_PRINTED && b.value != NONE && b.op == NONE)
        b.value = movement_result(e->graph, b.value);
    return b;
}
static inline enum value_view value_view_of(const struct number *n, uint32_t argument) {
    return n->sources >> argument & 1 ? VIEW_SOURCE : n->printed >> argument & 1 ? VIEW_PRINTED : VIEW_BOUND;
}
/* A number; of a condition 1 or 0. NaN when it is not known: every comparison with it is false. */
double evaluate(struct evaluation *e, const struct number *n);
static inline bool evaluates_to_true(struct evaluation *e, const struct number *n) {
    return evaluate(e, n) != 0;
}

/* The condition depends on more than its function's fingerprint and the locations of the ops. */
static inline bool record_elsewhere(const struct evaluation *e, bool holds) {
    if (e->record)
        e->record->elsewhere = true;
    return holds;
}
/* It depends on the locations or the texts of the ops of the match, and on nothing else. */
bool record_ops(struct evaluation *e, const struct number *condition, bool holds);

/* "%arg3 (encoder.layer.0.norm.weight)" for people; in `a`. */
struct str value_label(const struct graph *g, uint32_t value, struct arena *a);
/* "ttnn.transpose(arg1, -2, -1)": the operand as the formula has it. False where no reshape and permute make it so. */
bool operand_in_python(const struct evaluation *e, const struct binding *b, struct buf *out);
/* "32x64xbf16"; "none" for NONE. */
void value_add_type(const struct graph *g, uint32_t value, struct buf *out);
/* Template text with {name}, {extent(x, -1)} filled in; in e->arena. False where the match lacks a name of these. */
bool fill_in(struct evaluation *e, struct str text, struct str *filled);

#endif
