/* What a pattern asks of its places as code, where shapes say it. */
#include "compile/pass/where.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>

#include "patterns/lang/condition.h"
#include "patterns/lang/printer.h"

static const struct {
    const char *op, *negated;
} operators[NUM_MOD] = {
    [NUM_ADD] = {"+", NULL}, [NUM_SUB] = {"-", NULL},  [NUM_MUL] = {"*", NULL}, [NUM_EQ] = {"==", "!="},
    [NUM_NE] = {"!=", "=="}, [NUM_LT] = {"<", ">="},   [NUM_LE] = {"<=", ">"},  [NUM_GT] = {">", "<="},
    [NUM_GE] = {">=", "<"},  [NUM_AND] = {"&&", "||"}, [NUM_OR] = {"||", "&&"}};

/* rank(x), size(x, 1), numel(x), users(x). False: it is another measure, or x is no value whose shape has a name. */
static bool print_measure(struct pass_writer *w, const struct number *n, struct buf *out) {
    uint32_t value = n->slot < w->detail.nslots ? w->detail.slots[n->slot].value : NONE, rank;
    const int64_t *dims = value == NONE || !w->expr[value].n ? NULL : graph_shape(w->place.g, value, &rank);
    int64_t d = n->given[0];
    if (!dims || n->call > MEASURE_users || n->sources)
        return false;
    if (n->call == MEASURE_rank) /* haveShape has compared it */
        buf_printf(out, "%u", rank);
    if (n->call == MEASURE_size) {
        d += d < 0 ? rank : 0;
        if (d < 0 || d >= rank)
            return false;
        buf_add(out, extents_print(&w->extents, false, value, (uint32_t)d));
    }
    if (n->call == MEASURE_users) {
        buf_printf(out, "ttmlir::utils::countUsers(%.*s)", (int)w->expr[value].n, w->expr[value].p);
        w->counts_uses = true;
    }
    size_t begin = out->n;
    for (uint32_t i = 0; i < rank && n->call == MEASURE_numel; i++) {
        struct str one = extents_print(&w->extents, false, value, i);
        if (!str_is(one, "1"))
            buf_printf(out, "%s%.*s", out->n > begin ? " * " : "", (int)one.n, one.p);
    }
    if (n->call == MEASURE_numel && out->n == begin)
        buf_addc(out, '1');
    return true;
}

/* As code; of a condition, when it does not hold. Empty where what is compared already decides it. */
static bool print(struct pass_writer *w, const struct number *n, struct buf *out) {
    if (n->op == NUM_VALUE && n->value == floor(n->value) && fabs(n->value) < 1e9) {
        buf_printf(out, "%" PRId64, (int64_t)n->value);
        return true;
    }
    if (n->op == NUM_MEASURE)
        return print_measure(w, n, out);
    if (n->op >= NUM_MOD || !operators[n->op].op)
        return false;
    struct buf a = {0}, b = {0};
    bool good = print(w, n->a, &a) && print(w, n->b, &b), junction = n->op == NUM_AND || n->op == NUM_OR;
    const char *op = operators[n->op].negated ? operators[n->op].negated : operators[n->op].op;
    struct str x = buf_take(&a, w->arena), y = buf_take(&b, w->arena);
    bool decided = !junction && (str_eq(x, y) || (isdigit((unsigned char)*x.p) && isdigit((unsigned char)*y.p)));
    if (!good || decided || (n->op == NUM_OR && (!x.n || !y.n)))
        return good;
    if (n->op == NUM_AND && (!x.n || !y.n))
        buf_add(out, x.n ? x : y);
    else
        buf_printf(out, n->op == NUM_OR ? "(%.*s) %s (%.*s)" : "%.*s %s %.*s", (int)x.n, x.p, op, (int)y.n, y.p);
    return true;
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
            buf_printf(guards, "%s%.*s", guards->n ? " || " : "", (int)is.n, is.p);
        if (!said && is_of_place(w, one))
            buf_printf(comment, "%s%.*s", comment->n ? "; " : "", (int)one.n, one.p);
    }
}
