/* A miter in certain shapes, and its evaluation on numbers. */
#ifndef FA_TRIAL_H
#define FA_TRIAL_H

#include "prove/numbers.h"
#include "prove/reference.h"
#include "reduce/parsed_module.h"
#include "reduce/print_module.h"
#include "reduce/subgraph.h"

/* A miter as a module: parsed, its ops, and its two results. */
struct circuit {
    struct parsed_module module;
    struct subgraph subgraph;
    uint32_t result[2]; /* values: of BEFORE, of AFTER */
    struct reference reference;
    uint32_t argument[MAX_INPUTS]; /* by input: which argument of the miter it is */
    struct match match;
    enum equals equals[2]; /* orders of equal elements in which both sides have to agree */
    uint32_t nequals;
};

/* One evaluation of a circuit on random numbers. */
struct trial_of_circuit {
    enum trial trial;
    uint64_t seed;
    enum equals equals;
};

/* How a circuit is evaluated. */
struct evaluation_mode {
    enum equals equals;
    enum arithmetic arithmetic;
    bool blackhole, exact_products; /* as in struct eval_context */
};

/* Where the results of one evaluation differ most, relative to the element or to a thousandth of the largest; what the
 * rounding of constants explains is taken off. */
struct comparison {
    bool evaluated;
    struct str why; /* it was not */
    bool differs;
    int64_t at, elements;
    double before, after;
    double bound; /* the largest difference that the rounding of constants explains */
    struct shape shape;
};

/* False with a reason where the text is no circuit. */
bool circuit_read(struct circuit *c, struct str text, const struct pattern_set *lowerings, struct arena *a,
                  struct str *why);
void circuit_free(struct circuit *c);
/* The same circuit in other extents. `scale`: a constant that is a function of an extent is that of the new one. */
bool circuit_resize(const struct circuit *c, const struct extents *e, const struct payloads *payloads, bool scale,
                    struct arena *a, struct circuit *out, struct str *why);
/* Numbers of a kind for the arguments; false: the trial has none of its own. */
bool circuit_fill(const struct circuit *c, enum trial trial, uint64_t seed, struct eval_context *b,
                  struct given given[MAX_INPUTS]);
/* Both results, those of the first and the last device side by side. The first of `n` tensors are the arguments. False
 * with a reason. */
bool circuit_evaluate(const struct circuit *c, const struct given *given, uint32_t n, struct evaluation_mode how,
                      struct arena *a, const struct tensor *out[2], struct str *why);
struct comparison circuit_compare(const struct circuit *c, const struct given *given, enum equals equals,
                                  struct arena *a);

#endif
