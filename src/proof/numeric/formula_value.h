/* Evaluates formulas, and fused ops by their reference lowering, on tensors.
 *
 * Inside of a fused op nothing is rounded: arithmetic is exact, or ARITHMETIC_INSIDE where the caller asks for products
 * of the matrix unit. For the result of a device the caller rounds what comes out (tensor_round). */
#ifndef FA_FORMULA_VALUE_H
#define FA_FORMULA_VALUE_H

#include "patterns/library/lowering.h"
#include "proof/numeric/interpret.h"

/* The value of a formula. `slots` has a tensor for each name that is bound, by formula_slot(); NULL: the name is
 * absent. A named line may be bound too and is then not evaluated.
 *
 * The axes of the formula are the dimensions of the tensors. Operands broadcast from the right, a reduction keeps its
 * axis with an extent of 1, and an op along an axis works along the last one unless it has `dim`. Of alternatives the
 * first counts that is present: all names that it needs are bound, and slices and movement have attributes that say
 * what they do (a bare slice(x) or permute(x) matches any, and has no value). An op that a lowering of `set` defines is
 * evaluated by that; `set` may be NULL.
 *
 * results[0] is the root; then come the lines of secondary roots (`also`, `maybe`), or else the further results of the
 * root's op. False with a reason in the context. */
bool formula_value(struct eval_context *b, const struct pattern_set *set, const struct formula *f,
                   const struct tensor *const *slots, const struct tensor *results[MAX_RESULTS]);

/* The match that a formula stands for. Where an op of the formula does not write an attribute, the op of the same kind
 * in the match has it: epsilon of a norm, stride of a convolution. Not so for products, reductions and softmax, whose
 * axes are those of the formula. */
struct formula_context {
    const struct graph *graph;
    const uint32_t *ops;
    uint32_t nops;
    /* Value of an expression over the names of the outer formula, that only the match can answer: begin(s), or over
     * names that the formula does not have. False where it is not known. May be NULL. */
    bool (*number)(const void *self, const struct number *n, double *out);
    /* Overrides an attribute of an op of the formula. False: it is read as usual. True with NULL: it is absent. May be
     * NULL. */
    bool (*attribute)(const void *self, const struct node *n, const char *key, const struct attr **out);
    /* The match has such an op: of alternatives that are present the first one of these comes first. May be NULL. */
    bool (*likely)(const void *self, const struct node *n);
    const void *self;
};

/* The alternatives that one evaluation takes, of those that the formula itself writes; idioms and lowerings take the
 * first. Zeroed it is the first of each; an evaluation adds what it had to choose among. An alternative that leaves out
 * a bound name which another one has is not counted. */
enum { MAX_CHOICES = 32 };
struct formula_choice {
    uint32_t n;
    uint8_t taken[MAX_CHOICES], of[MAX_CHOICES]; /* number taken[i] of of[i] alternatives */
    const struct node *node[MAX_CHOICES];        /* of which node, in the order in which they were asked for */
};
/* After an evaluation: the next combination, counting up from the last choice; false when all were tried. */
bool formula_choice_next(struct formula_choice *c);

/* Zeroed, it evaluates as formula_value does. */
struct formula_options {
    const struct formula_context *context;
    struct formula_choice *choice; /* or NULL: the first alternative that is present */
    const struct tensor **named;   /* out: values by slot, NULL where a name was not evaluated; or NULL */
};
bool formula_value_of(struct eval_context *b, const struct pattern_set *set, const struct formula *f,
                      const struct tensor *const *slots, const struct formula_options *how,
                      const struct tensor *results[MAX_RESULTS]);

#endif
