/* Numbers in formulas: extents, values of names and arithmetic on them, as conditions of patterns have them too.
 *
 * The value of a name may have to be evaluated first, which formula_value.c does: formula_run.evaluate. */
#include <math.h>

#include "lang/condition.h"
#include "numeric/formula_run.h"

/* ---- reading ---- */

static const struct number *read_number(const struct formula *f, struct str text, struct arena *a) {
    struct diags quiet = {.arena = a};
    const struct number *n = NULL;
    bool good = condition_parse(&n, f, a, text, (struct text_origin){"", 1, 1}, NULL, &quiet);
    diags_free(&quiet);
    return good ? n : NULL;
}

const struct number *number_of_text(struct number_memo *m, const struct formula *f, struct str text, struct arena *a) {
    if (!m || m->n > MAX_MEMO / 2)
        return read_number(f, text, a);
    uint64_t at = (str_hash(text) + (uintptr_t)f / sizeof *f) % MAX_MEMO;
    for (; m->at[at].formula; at = (at + 1) % MAX_MEMO)
        if (m->at[at].formula == f && str_eq(m->at[at].text, text))
            return m->at[at].number;
    struct str kept = arena_str(m->arena, text);
    m->n++;
    m->at[at] = (struct number_read){f, kept, read_number(f, kept, m->arena)};
    return m->at[at].number;
}

const struct number *attribute_number(struct formula_run *r, struct str text) {
    uint32_t slot = formula_slot(r->formula, text);
    if (slot != NONE) {
        struct number *of = arena_alloc(r->eval->arena, sizeof *of);
        *of = (struct number){.op = NUM_VALUE_OF, .slot = slot};
        return of;
    }
    return number_of_text(r->numbers, r->formula, text, r->eval->arena);
}

bool next_expression(struct str *rest, struct str *expression) {
    size_t i = 0;
    int open = 0;
    for (; i < rest->n && (open > 0 || rest->p[i] != ','); i++)
        open += (rest->p[i] == '(') - (rest->p[i] == ')');
    *expression = str_trim((struct str){rest->p, i});
    rest->p += i + (i < rest->n);
    rest->n -= i + (i < rest->n);
    return expression->n > 0;
}

/* ---- values ---- */

const struct tensor *slot_value(struct formula_run *r, uint32_t slot) {
    if (!r->values[slot][0] && r->named[slot])
        return r->evaluate(r, r->named[slot]);
    if (!r->values[slot][0])
        eval_fail(r->eval, "%.*s is absent", (int)r->formula->slot_name[slot].n, r->formula->slot_name[slot].p);
    return r->values[slot][0];
}

static bool extent_of(struct formula_run *r, const struct shape *s, int axis, double *out) {
    int64_t at = axis < 0 ? axis + (int64_t)s->rank : axis;
    if (at < 0 || at >= s->rank)
        return eval_fail(r->eval, "no axis %d in %s", axis, shape_text(r->eval->arena, s).p);
    *out = (double)s->dim[at];
    return true;
}

/* Measures that tensors have: numel(x), rank(x), size(x, -1). All others are of ops in a graph. */
static bool measured(struct formula_run *r, const struct number *n, double *out) {
    struct str name = str_of(measure_table[n->call].name);
    const struct tensor *t = slot_value(r, n->slot);
    if (!t)
        return false;
    if (str_is(name, "size"))
        return extent_of(r, &t->shape, n->given[0], out);
    if (!str_is(name, "numel") && !str_is(name, "rank"))
        return eval_fail(r->eval, "%s is not known of a tensor", name.p);
    *out = str_is(name, "numel") ? (double)t->n : (double)t->shape.rank;
    return true;
}

static bool value_of_slot(struct formula_run *r, uint32_t slot, double *out) {
    const struct tensor *t = slot_value(r, slot);
    if (!t)
        return false;
    for (int64_t i = 0; i < t->n; i++)
        if (t->x[i] != t->x[0])
            return eval_fail(r->eval, "%.*s is more than one number", (int)r->formula->slot_name[slot].n,
                             r->formula->slot_name[slot].p);
    *out = t->n ? t->x[0] : NAN;
    return true;
}

static bool arithmetic(struct formula_run *r, const struct number *n, const struct shape *frame, double *out) {
    double a = 0, b = 0;
    if (!number_value(r, n->a, frame, &a) || (n->b && !number_value(r, n->b, frame, &b)))
        return false;
    if ((n->op == NUM_DIV || n->op == NUM_MOD) && b == 0)
        return eval_fail(r->eval, "a formula divides by 0");
    const double results[] = {[NUM_NEG] = -a,
                              [NUM_ADD] = a + b,
                              [NUM_SUB] = a - b,
                              [NUM_MUL] = a * b,
                              [NUM_DIV] = a / b,
                              [NUM_SQRT] = sqrt(a),
                              [NUM_EQ] = a == b,
                              [NUM_NE] = a != b,
                              [NUM_LT] = a<b, [NUM_LE] = a <= b, [NUM_GT] = a> b,
                              [NUM_GE] = a >= b,
                              [NUM_AND] = a != 0 && b != 0,
                              [NUM_OR] = a != 0 || b != 0,
                              [NUM_NOT] = a == 0,
                              [NUM_MOD] = b != 0 ? fmod(a, b) : 0};
    *out = results[n->op];
    return true;
}

bool number_value(struct formula_run *r, const struct number *n, const struct shape *frame, double *out) {
    switch (n->op) {
    case NUM_VALUE:
        *out = n->value;
        return true;
    case NUM_EXTENT:
        if (n->slot == NONE)
            return frame ? extent_of(r, frame, n->axis, out)
                         : eval_fail(r->eval, "the extent of an axis is asked for where nothing has axes");
        return slot_value(r, n->slot) && extent_of(r, &slot_value(r, n->slot)->shape, n->axis, out);
    case NUM_VALUE_OF:
        return value_of_slot(r, n->slot, out);
    case NUM_MEASURE:
        return measured(r, n, out);
    case NUM_CALL:
        return eval_fail(r->eval, "a condition stands where a number is computed");
    default:
        return arithmetic(r, n, frame, out);
    }
}
