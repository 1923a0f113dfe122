/* Whether a rewritten module computes what the module did: the engine of verify, before against after. */
#ifndef FA_APPLY_CHECK_H
#define FA_APPLY_CHECK_H

#include "apply/replace.h"

struct module_check {
    const struct pattern_set *lowerings;
    const struct mlir *before;
    struct str after;                 /* the rewritten text */
    const struct taken_number *taken; /* arguments of `before` that hold a number */
    uint32_t ntaken;
    struct watch *watch; /* or NULL */
};

/* Clears the mark of each replacement that is not proved, with the reason in it; true when there are none, and all else
 * is proved. Where it is false without a replacement to blame, *why says so. Texts in `a`. */
bool check_module(const struct module_check *c, struct replacement *all, bool *marked, uint32_t n, struct arena *a,
                  struct str *why);

#endif
