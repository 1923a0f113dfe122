/* Builds the constraint system: a sorted list of variables and an array of constraints over their indices. Nothing
 * fails here; what does not fit sets `full`, which the search for a solution looks at. */
#include "reduce/constraints.h"

#include <string.h>

void constraints_add_extent(struct constraints *c, int64_t x) {
    struct extents *e = c->e;
    uint32_t at = 0;
    while (at < e->n && e->from[at] < x)
        at++;
    if (x < 2 || (at < e->n && e->from[at] == x))
        return;
    if (e->n == MAX_EXTENTS) {
        c->full = true;
        return;
    }
    memmove(e->from + at + 1, e->from + at, (e->n - at) * sizeof *e->from);
    e->from[at] = x;
    e->n++;
}

static uint32_t index_of(const struct constraints *c, int64_t x) {
    for (uint32_t i = 0; i < c->e->n; i++)
        if (c->e->from[i] == x)
            return i;
    return NONE;
}

void constraints_fix(struct constraints *c, int64_t x) {
    uint32_t i = index_of(c, x);
    if (i != NONE)
        c->fixed[i] = true;
}

void constraints_fix_shape(struct constraints *c, uint32_t value) {
    uint32_t rank;
    const int64_t *dims = value == NONE ? NULL : graph_shape(c->subgraph->graph, value, &rank);
    for (uint32_t d = 0; dims && d < rank; d++)
        constraints_fix(c, dims[d]);
}

struct constraint *constraints_add(struct constraints *c, enum constraint_kind kind) {
    int64_t neutral = kind == PRODUCT ? 1 : 0;
    c->full |= c->n == MAX_CONSTRAINTS;
    struct constraint *one = &c->items[c->full ? 0 : c->n++];
    *one = (struct constraint){.kind = kind, .side = {{.k = neutral}, {.k = neutral}}};
    return one;
}

void constraint_add_constant(struct constraints *c, struct constraint *to, int side, int64_t x) {
    int64_t *k = &to->side[side].k;
    c->full |= to->kind == PRODUCT ? __builtin_mul_overflow(*k, x, k) : __builtin_add_overflow(*k, x, k);
}

void constraint_add_term(struct constraints *c, struct constraint *to, int side, int64_t x) {
    struct constraint_side *terms = &to->side[side];
    uint32_t i = index_of(c, x);
    if (i == NONE)
        constraint_add_constant(c, to, side, x);
    else if (terms->n < MAX_TERMS_OF_SIDE)
        terms->variable[terms->n++] = (uint8_t)i;
    else
        c->full = true;
}

int64_t int_attribute(const struct graph *g, uint32_t op, const char *key) {
    struct str text;
    int64_t d = -1;
    return mlir_attr(g->m, op, key, &text) && mlir_int(text, &d) ? d : -1;
}
