/* What the conditions of a pattern compute, by the file that knows their subject, and what these files share. Private
 * to the folder but for window_pads. */
#ifndef FA_CONDITIONS_H
#define FA_CONDITIONS_H

#include "ir/graph/movement.h"
#include "patterns/lang/condition.h"
#include "patterns/lang/regex.h"
#include "search/match/evaluate.h"

enum {
    FRESH_SPACE = 1 << 24, /* first space of the axes below slices and concatenations, which the root does not have */
    MAX_FRESH = 64
};

/* A condition with what its arguments are bound to. */
struct condition_call {
    struct evaluation *e;
    const struct graph *graph;
    const struct number *number; /* as written: whole numbers and the regular expression among the arguments */
    struct binding arg[4];
    uint32_t nargs;
};

/* A condition on a part that is absent holds: there is nothing to object to. One that only the user can settle holds
 * and states a precondition. */
typedef bool condition_holds(const struct condition_call *c);

/* condition_NAME for each row of conditions.def. */
#define C(name, least, most, arguments, group, says) condition_holds condition_##name;
#include "patterns/lang/conditions.def"
#undef C

/* condition_axes.c: how many positions along the axis `m` tells apart; 1: it does not depend on it; 0: not known, where
 * bounds of their factors do not divide one another. */
int64_t axis_shared_size(const struct imap *m, const struct imap *axis);
/* The number of combinations of the factors. */
int64_t axis_size(const struct term *t, uint32_t n);

/* condition_windows.c: for each spatial dimension of a convolution or pool, its extent and stride in the row-major
 * index of the operand, and the elements that a matched pad adds before and after. False where not known. */
struct window_pads {
    int n;
    int64_t stride[MAX_WINDOW], size[MAX_WINDOW], before[MAX_WINDOW], after[MAX_WINDOW];
};
bool window_pads(const struct graph *g, uint32_t op, const struct binding *pad, struct window_pads *out);

/* measure.c: NaN when the value is absent or has no such number. */
double measure(const struct evaluation *e, const struct number *n);

/* Two maps to a value lead to equal elements, or are both of the whole tensor: they lead from the same positions along
 * the axes that the formula has there to the same elements, as those of the two operands of x @ transposed(x). */
bool match_same_elements(const struct graph *g, uint32_t value, const struct imap *a, const struct axes *a_axes,
                         const struct imap *b, const struct axes *b_axes);

#endif
