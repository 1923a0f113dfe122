/* What a pattern asks of its places as code, where shapes say it. */
#include "compile/pass/where.h"

#include <inttypes.h>
#include <math.h>

#include "patterns/lang/condition.h"
#include "patterns/lang/printer.h"

static const char *const operators[] = {
    [NUM_ADD] = "+", [NUM_SUB] = "-", [NUM_MUL] = "*", [NUM_EQ] = "==",  [NUM_NE] = "!=", [NUM_LT] = "<",
    [NUM_LE] = "<=", [NUM_GT] = ">",  [NUM_GE] = ">=", [NUM_AND] = "&&", [NUM_OR] = "||", [NUM_MOD] = NULL};

/* rank(x), size(x, 1), numel(x). False: it is another measure, or x is no value whose shape has a name. */
static bool print_measure(struct pass_writer *w, const struct number *n, struct buf *out) {
    uint32_t value = n->slot < w->detail.nslots ? w->detail.slots[n->slot].value : NONE, rank;
    const int64_t *dims = value == NONE || !w->expr[value].n ? NULL : graph_shape(w->place.g, value, &rank);
    int64_t d = n->given[0];
    if (!dims || n->call > MEASURE_numel || n->sources)
        return false;
    if (n->call == MEASURE_rank) /* haveShape has compared it */
        buf_printf(out, "%u", rank);
    if (n->call == MEASURE_size) {
        d += d < 0 ? rank : 0;
        if (d < 0 || d >= rank)
            return false;
        buf_add(out, extents_print(&w->extents, false, value, (uint32_t)d));
    }
    for (uint32_t i = 0; i < rank && n->call == MEASURE_numel; i++) {
        struct str one = extents_print(&w->extents, false, value, i);
        buf_printf(out, "%s%.*s", i ? " * " : "", (int)one.n, one.p);
    }
    return true;
}

static bool print(struct pass_writer *w, const struct number *n, struct buf *out) {
    if (n->op == NUM_VALUE && n->value == floor(n->value) && fabs(n->value) < 1e9) {
        buf_printf(out, "%" PRId64, (int64_t)n->value);
        return true;
    }
    if (n->op == NUM_MEASURE)
        return print_measure(w, n, out);
    if (n->op >= NUM_MOD || !operators[n->op])
        return false;
    struct buf a = {0}, b = {0};
    bool good = print(w, n->a, &a) && print(w, n->b, &b);
    struct str x = buf_take(&a, w->arena), y = buf_take(&b, w->arena);
    bool parts = n->op >= NUM_AND;
    bool decided = str_eq(x, y) || (!str_find(x, STR("[")) && !str_find(y, STR("["))); /* by what is compared */
    if (good && parts && (!x.n || !y.n))
        buf_add(out, x.n ? x : y);
    else if (good && !decided)
        buf_printf(out, parts ? "(%.*s) %s (%.*s)" : "%.*s %s %.*s", (int)x.n, x.p, operators[n->op], (int)y.n, y.p);
    return good;
}

/* The names of the formula in it are all those of something. */
static bool is_of_place(const struct pass_writer *w, struct str text) {
    const struct formula *f = &w->match->pattern->formula;
    bool all = true;
    for (uint32_t i = 0; i < w->detail.nslots && all; i++)
        all = w->detail.slots[i].value != NONE || !f->slot_name[i].n || !str_find_word(text, f->slot_name[i]);
    return all;
}

/* Each is a guard, or one of the conditions that a comment lists. */
void pass_where(struct pass_writer *w, struct buf *guards, struct buf *comment) {
    const struct pattern *p = w->match->pattern;
    for (uint32_t i = 0; i < p->nwhere + p->nrequire; i++) {
        const struct number *n = i < p->nwhere ? p->where[i] : p->require[i - p->nwhere];
        struct buf code = {0}, text = {0};
        bool said = print(w, n, &code);
        struct str is = buf_take(&code, w->arena);
        number_print(&p->formula, NULL, n, &text);
        struct str one = buf_take(&text, w->arena);
        if (said && is.n)
            buf_printf(guards, "%s!(%.*s)", guards->n ? " || " : "", (int)is.n, is.p);
        if (!said && is_of_place(w, one))
            buf_printf(comment, "%s%.*s", comment->n ? "; " : "", (int)one.n, one.p);
    }
}
