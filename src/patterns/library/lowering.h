/* Reference lowerings of fused ops: what each computes, as a formula over simpler ops ("op name(...): ..." among the
 * definitions of pattern files). */
#ifndef FA_LOWERING_H
#define FA_LOWERING_H

#include "patterns/library/pattern.h"

/* One fused op. Its parameters are its operands in order, then attributes by name. Each is a variable of the formula,
 * absent where a call has no such operand or attribute. Results after the first are its secondary roots (`also`). */
struct lowering {
    struct idiom op;
    enum op_kind kind;                 /* NO_OPERATOR: no op of either dialect; in formulas it is an idiom */
    struct str source;                 /* the definition or kernel that it follows */
    uint32_t slots[MOST_IDIOM_PARAMS]; /* of its parameters, in the formula */
    struct formula *formula;
    bool primitive; /* the formula uses the op itself in a simpler form: a convolution without bias */
};

/* The last definition counts; NULL when there is none. */
const struct lowering *lowering_of_name(const struct pattern_set *set, struct str name);
const struct lowering *lowering_of_kind(const struct pattern_set *set, enum op_kind k);

#endif
