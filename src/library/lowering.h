/* What fused ops compute: formulas over simpler ops, data of the key `lowering`. */
#ifndef FA_LOWERING_H
#define FA_LOWERING_H

#include "library/pattern.h"

enum { MAX_PARAMS = 12 };

/* One fused op. Its parameters are its operands in order, then attributes by name; each is a variable of the formula,
 * absent where the op has no such operand or attribute. Further results are its further lines (`also`). */
struct lowering {
    struct str name;
    enum op_kind kind; /* K_UNKNOWN: no op of either dialect; in formulas it is an idiom */
    struct str head;   /* "rms_norm(x, weight, bias, epsilon)" */
    struct str text;   /* as written */
    struct str source; /* what it follows */
    struct str params[MAX_PARAMS];
    uint32_t slots[MAX_PARAMS]; /* of the formula */
    uint32_t nparams;
    struct formula *formula;
    bool primitive; /* uses the op itself, which is a simpler form there: a convolution without bias */
};

/* The last definition of a name; NULL when there is none. */
const struct lowering *lowering_of_name(const struct pattern_set *set, struct str name);
const struct lowering *lowering_of_kind(const struct pattern_set *set, enum op_kind k);

/* A formula that may also name the fused ops that are no op of a dialect, as the key `fused` of a pattern does. One
 * that is a single value needs no name. False with a diagnostic. */
bool fused_parse(struct formula *f, struct arena *a, const struct pattern_set *set, struct str text,
                 struct text_origin origin, struct diags *d);

#endif
