/* Builds the constraint system: a sorted list of variables and an array of constraints over their indices. Nothing
 * fails here; what does not fit sets `crowded` or `full`, which the search for a solution looks at. */
#include "proof/reduce/constraints.h"

#include <string.h>

void constraints_add_extent(struct constraints *c, int64_t x) {
    struct extents *e = c->e;
    uint32_t at = 0;
    while (at < e->n && e->from[at] < x)
        at++;
    if (!c->collecting || x < 2 || (at < e->n && e->from[at] == x))
        return;
    if (e->n == MAX_EXTENTS) {
        c->crowded = true;
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
    uint32_t i = c->collecting ? NONE : index_of(c, x);
    if (i != NONE)
        c->fixed[i] = true;
}

void constraints_cut(struct constraints *c, int64_t x) {
    uint32_t i = c->collecting ? NONE : index_of(c, x);
    if (i != NONE)
        c->cut[i] = true;
}

static void for_each_extent(struct constraints *c, uint32_t value, void (*f)(struct constraints *c, int64_t x)) {
    uint32_t rank;
    const int64_t *dims = value == NONE ? NULL : graph_shape(c->subgraph->graph, value, &rank);
    for (uint32_t d = 0; dims && d < rank; d++)
        f(c, dims[d]);
}

void constraints_add_shape(struct constraints *c, uint32_t value) {
    for_each_extent(c, value, constraints_add_extent);
}

void constraints_fix_shape(struct constraints *c, uint32_t value) {
    for_each_extent(c, value, constraints_fix);
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
    constraints_add_extent(c, x);
    uint32_t i = c->collecting ? NONE : index_of(c, x);
    if (i != NONE && terms->n < MAX_TERMS_OF_SIDE)
        terms->variable[terms->n++] = (uint8_t)i;
    else if (i != NONE)
        c->full = true;
    else if (!c->collecting)
        constraint_add_constant(c, to, side, x);
}

static void relate(struct constraints *c, enum constraint_kind kind, int64_t x, int64_t y, int64_t result) {
    struct constraint *r = constraints_add(c, kind);
    constraint_add_term(c, r, 0, x);
    constraint_add_term(c, r, 0, y);
    constraint_add_term(c, r, 1, result);
}

void constrain_product(struct constraints *c, int64_t x, int64_t y, int64_t product) {
    relate(c, PRODUCT, x, y, product);
}

void constrain_sum(struct constraints *c, int64_t x, int64_t y, int64_t sum) {
    relate(c, SUM, x, y, sum);
}

void constrain_at_most(struct constraints *c, int64_t x, int64_t y) {
    relate(c, AT_MOST, x, 0, y);
}
