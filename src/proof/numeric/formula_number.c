/* Numbers in formulas (patterns/lang/number.h): what names and extents are on tensors.
 *
 * The value of a name may have to be evaluated first, which formula_value.c does: formula_run.evaluate. */
#include <math.h>

#include "patterns/lang/condition.h"
#include "patterns/lang/number.h"
#include "proof/numeric/formula_run.h"

const struct tensor *slot_value(struct formula_run *r, uint32_t slot) {
    if (!r->values[slot][0] && r->formula->slots[slot].named)
        return r->evaluate(r, r->formula->slots[slot].named);
    if (!r->values[slot][0])
        op_fails(r->eval, "%.*s is absent", (int)r->formula->slots[slot].name.n, r->formula->slots[slot].name.p);
    return r->values[slot][0];
}

static double extent_of(struct formula_run *r, const struct shape *s, int axis) {
    int64_t at = axis < 0 ? axis + (int64_t)s->rank : axis;
    if (at >= s->rank)
        op_fails(r->eval, "no axis %d in %s", axis, shape_text(r->eval->arena, s).p);
    return at < 0 ? 1 : (double)s->dim[at]; /* dimensions of one element may stand in front of any tensor */
}

/* Measures that tensors have: numel(x), rank(x), size(x, -1). All others are of ops in a graph. */
static double measured(struct formula_run *r, const struct number *n) {
    struct str name = str_of(measure_table[n->call].name);
    const struct tensor *t = slot_value(r, n->slot);
    if (str_is(name, "size"))
        return extent_of(r, &t->shape, n->given[0]);
    if (!str_is(name, "numel") && !str_is(name, "rank"))
        op_fails(r->eval, "%s is not known of a tensor", name.p);
    return str_is(name, "numel") ? (double)t->n : (double)t->shape.rank;
}

static double value_of_slot(struct formula_run *r, uint32_t slot) {
    const struct tensor *t = slot_value(r, slot);
    if (!t->x && t->n) {
        r->unknown = slot;
        op_fails(r->eval, "the number that %.*s is has to be known", (int)r->formula->slots[slot].name.n,
                 r->formula->slots[slot].name.p);
    }
    for (int64_t i = 0; i < t->n && !t->lazy; i++)
        if (t->x[i] != t->x[0])
            op_fails(r->eval, "%.*s is more than one number", (int)r->formula->slots[slot].name.n,
                     r->formula->slots[slot].name.p);
    return t->n ? t->x[0] : NAN;
}

static double leaf(void *self, const struct number *n) {
    struct formula_run *r = self;
    switch (n->op) {
    case NUM_EXTENT:
        if (n->slot == NONE)
            op_fails(r->eval, "which value extent(%d) is of is not said, as extent(x, %d) does", n->axis, n->axis);
        return extent_of(r, &slot_value(r, n->slot)->shape, n->axis);
    case NUM_VALUE_OF:
        return value_of_slot(r, n->slot);
    case NUM_MEASURE:
        return measured(r, n);
    case NUM_CALL:
        op_fails(r->eval, "a condition stands where a number is computed");
    default:
        op_fails(r->eval, "a formula divides by 0");
    }
}

double number_value(struct formula_run *r, const struct number *n) {
    return number_evaluate(n, leaf, r);
}
