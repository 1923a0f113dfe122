/* Whether a rewritten module computes what the module did: the engine of verify, before against after. */
#ifndef FA_PROVE_REWRITE_H
#define FA_PROVE_REWRITE_H

#include "compile/apply/replace.h"
#include "ir/graph/level.h"

/* A module that is text in memory. */
struct module_text {
    struct source source;
    struct log_block block;
    struct level level;
    struct diags diags;
};

/* False with a reason in `diags`, whose texts are in `a` as `text` is. To be freed in any case. */
bool module_text_read(struct module_text *t, struct str text, struct arena *a);
void module_text_free(struct module_text *t);

struct module_check {
    const struct pattern_set *lowerings;
    const struct graph *before;
    struct str after; /* the rewritten text */
};

/* Takes back each replacement that is not proved, with the reason in it; true when there are none, and all else is
 * proved. Where it is false without a replacement to blame, *why says so. Texts in `a`. */
bool check_module(const struct module_check *c, struct replacement *all, uint32_t n, struct arena *a, struct str *why);

#endif
