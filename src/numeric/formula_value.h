/* Evaluates formulas and the reference lowering of fused ops on tensors, always in doubles: what a fused op keeps
 * inside is not rounded. Who wants the figure of a device rounds the result (tensor_round); in INSIDE arithmetic
 * products are those of the matrix unit. */
#ifndef FA_FORMULA_VALUE_H
#define FA_FORMULA_VALUE_H

#include "library/lowering.h"
#include "numeric/interpret.h"

/* The value of a formula. `slots` has a tensor for each name (formula_slot) that is bound; NULL: absent. The axes of
 * the formula are the dimensions of the tensors: operands broadcast from the right, a reduction keeps its axis with one
 * element, an op along an axis without `dim` works along the last one. Of alternatives the first one counts that is
 * there: whose names are all bound, and whose slices and movement are said (slice(x) or permute(x) alone may be any). A
 * named value may be bound too and is then not evaluated. An op that a lowering of `set` defines is evaluated by that;
 * `set` may be NULL.
 *
 * results[0] is the root, then come the values of further lines (`also`), else the further results of the root's op.
 * False with a reason in the bench. */
bool formula_value(struct bench *b, const struct pattern_set *set, const struct formula *f,
                   const struct tensor *const *slots, const struct tensor *results[MAX_RESULTS]);

/* Expressions in attributes that were read already, in an arena that lives as long as the formulas. One for all
 * evaluations that are alike: reading them takes longer than small tensors do. */
enum { MAX_MEMO = 256 };
struct number_memo {
    struct arena *arena;
    uint32_t n;
    struct number_read {
        const struct formula *formula; /* NULL: free */
        struct str text;
        const struct number *number; /* NULL: it is none */
    } at[MAX_MEMO];
};
/* Over the names of a formula. NULL where the text is none. `m` may be NULL: then it is read into `a`. */
const struct number *number_of_text(struct number_memo *m, const struct formula *f, struct str text, struct arena *a);

/* Ops of a graph whose attributes count where the formula's op of their kind says nothing: epsilon of a norm, the
 * window of a convolution. Of products, reductions and softmax there are none: their axes are the formula's. */
struct formula_like {
    const struct graph *graph;
    const uint32_t *ops;
    uint32_t nops;
    /* Numbers in attributes over names that the formula does not have; false where the text is none. May be NULL. */
    bool (*number)(const void *self, struct str text, double *out);
    /* An attribute of an op of the formula; false where that is to be read as ever, no text where it is absent. May be
     * NULL. */
    bool (*attribute)(const void *self, const struct node *n, const char *key, struct str *out);
    const void *self;
    struct number_memo *numbers; /* or NULL */
};

/* Which of the alternatives count that a formula writes itself, those of idioms and lowerings not included. Zeroed: the
 * first of each; an evaluation adds what it had to choose among. An alternative that leaves out a name which another
 * one that is there has is none. */
enum { MAX_CHOICES = 32 };
struct formula_choice {
    uint32_t n;
    uint8_t taken[MAX_CHOICES], of[MAX_CHOICES];
};
/* After an evaluation: the next choice; false when there is none left. */
bool formula_choice_next(struct formula_choice *c);

/* Zeroed: as formula_value does it. */
struct formula_how {
    const struct formula_like *like;
    struct formula_choice *choice; /* or NULL: the first alternative that is there */
    const struct tensor **named;   /* room for the values by slot, as far as they were evaluated; or NULL */
};
bool formula_value_of(struct bench *b, const struct pattern_set *set, const struct formula *f,
                      const struct tensor *const *slots, const struct formula_how *how,
                      const struct tensor *results[MAX_RESULTS]);

/* What interpret() does, by the lowering of the op: the reference of a fused op of a graph. False with a reason, also
 * where there is no lowering. */
bool interpret_lowered(struct bench *b, const struct pattern_set *set, const struct call *c,
                       const struct tensor *results[MAX_RESULTS]);

#endif
