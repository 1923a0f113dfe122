/* What a proof says of a match, and how reports print it. */
#ifndef FA_VERDICT_H
#define FA_VERDICT_H

#include "proof/numeric/formula_value.h"
#include "proof/trials/device_error.h"
#include "proof/trials/equal.h"

/* How the match and its fused form were found to be the same function. */
struct proved_reading {
    bool as_printed;              /* constants are the numbers of the text */
    uint32_t frame;               /* of those of the form */
    struct formula_choice choice; /* which alternatives of the form */
};

struct proved {
    enum verdict_kind kind; /* VERDICT_NONE: not evaluated */
    struct str text;        /* the difference, or why nothing was evaluated */
    bool misfit;            /* VERDICT_NONE: the fused form cannot be evaluated on what the pattern matched */

    /* VERDICT_SAME: */
    bool evaluated;    /* else it is the same ops */
    double bound;      /* the relative L2 that the pattern allows, where the results agree within that only; or 0 */
    bool same_outside; /* the results agree on inputs that the pattern excludes from its claim, too */
    struct device_error device;
    const struct proved_reading *reading; /* lives as the proofs; NULL: it was not kept */
};

/* The fused form computes something else: the match is not reported. */
static inline bool verdict_refutes(const struct proved *v) {
    return v->kind == VERDICT_DIFFERENT;
}
/* One line for people: "validated: same function (f64), emulated PCC ...", "not validated: REASON". In `a`.
 */
struct str verdict_line(const struct proved *v, struct arena *a);
/* The same without figures: "validated: same function". In `a`. */
struct str verdict_in_short(const struct proved *v, struct arena *a);
/* The same for programs. In `a`. */
struct figures verdict_figures(const struct proved *v, struct arena *a);
/* The system description of the module names Blackhole; else figures are for Wormhole. */
bool is_for_blackhole(const struct mlir *m);

#endif
