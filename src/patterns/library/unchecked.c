#include "patterns/library/unchecked.h"

static bool are_among(const struct unchecked *u, const struct graph *g, const uint32_t *ops, uint32_t n) {
    uint32_t left[OPERATORS] = {0};
    for (uint32_t i = 0; i < n; i++)
        left[g->kind[ops[i]]]++;
    for (uint32_t i = 0; i < u->nof; i++)
        if (left[u->of[i]]-- == 0)
            return false;
    return true;
}

const struct unchecked *unchecked_of(const struct pattern_set *set, const struct str *maker, enum op_kind makes,
                                     const struct graph *g, const uint32_t *ops, uint32_t n) {
    for (uint32_t i = 0; i < set->nunchecked; i++) {
        const struct unchecked *u = &set->unchecked[i];
        if (u->makes == makes && (!maker || str_eq(u->pattern, *maker)) && are_among(u, g, ops, n))
            return u;
    }
    return NULL;
}

struct str unchecked_text(const struct pattern_set *set, const struct unchecked *u, struct arena *a) {
    const struct compiler_pass *pass = u ? find_pass(set, u->pass) : NULL;
    struct str version = u ? version_of_pass(set, u->pass) : STR("");
    return pass ? arena_printf(a, "%.*s accepts %.*s, as of %.*s", (int)u->pattern.n, u->pattern.p, (int)u->accepts.n,
                               u->accepts.p, (int)version.n, version.p)
                : STR("");
}
