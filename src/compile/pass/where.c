/* What a pattern asks of its places as code, where shapes and types say it. */
#include "compile/pass/writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "patterns/lang/condition.h"
#include "patterns/lang/number.h"
#include "patterns/lang/printer.h"

/* ---- numbers ---- */

static const struct {
    const char *op, *negated; /* NULL: it makes a number */
} operators[NUM_MOD + 1] = {
    [NUM_MOD] = {"%", NULL}, [NUM_ADD] = {"+", NULL}, [NUM_SUB] = {"-", NULL}, [NUM_MUL] = {"*", NULL},
    [NUM_EQ] = {"==", "!="}, [NUM_NE] = {"!=", "=="}, [NUM_LT] = {"<", ">="},  [NUM_LE] = {"<=", ">"},
    [NUM_GT] = {">", "<="},  [NUM_GE] = {">=", "<"}};

static uint32_t value_of(const struct pass_writer *w, uint32_t slot) {
    return slot < w->detail.nslots ? w->detail.slots[slot].value : NONE;
}

/* What size(x, 1), extent(x, -1), numel(x), users(x) are here; NAN: it is another measure, or x is no value that the
 * code can call. */
static double print_measure(struct pass_writer *w, const struct number *n, struct buf *out) {
    uint32_t value = value_of(w, n->slot), rank;
    const int64_t *dims = value == NONE || !w->expr[value].n ? NULL : graph_shape(w->place.g, value, &rank);
    bool extent = n->op == NUM_EXTENT, one = extent || n->call == MEASURE_size;
    int64_t d = extent ? n->axis : n->given[0], all = 1;
    if (!dims || (!extent && (n->sources || (!one && n->call != MEASURE_numel && n->call != MEASURE_users))))
        return NAN;
    if (!one && n->call == MEASURE_users) {
        buf_printf(out, "ttmlir::utils::countUsers(%s)", w->expr[value].p);
        return (double)graph_nuses(w->place.g, value);
    }
    d += d < 0 ? rank : 0;
    const struct axes *axes = w->detail.slots[n->slot].axes;
    struct buf times = {0};
    if ((one && (d < 0 || d >= rank)) || (extent && (!axes || axes_extent(axes, n->axis) != dims[d])))
        return NAN; /* an axis is not always a dimension */
    for (uint32_t i = one ? (uint32_t)d : 0; i < (one ? (uint32_t)d + 1 : rank); i++) {
        struct str text = extents_print(&w->extents, false, value, i);
        if (!str_is(text, "1"))
            buf_printf(&times, "%s%s", times.n ? " * " : "", text.p);
        all *= dims[i];
    }
    buf_add(out, times.n ? buf_str(&times) : STR("1"));
    buf_free(&times);
    return (double)all;
}

/* value(x), where the rewrite reads it. */
static double print_value(const struct pass_writer *w, const struct number *n, struct buf *out) {
    uint32_t value = value_of(w, n->slot);
    for (uint32_t i = 0; i < w->nconstants && value != NONE; i++)
        if (w->constants[i].variable.n && fabs(w->constants[i].number - graph_constant(w->place.g, value).value) == 0) {
            buf_printf(out, "*%s", w->constants[i].variable.p);
            return w->constants[i].number;
        }
    return NAN;
}

static double leaf_here(void *self, const struct number *n) {
    struct buf text = {0};
    double is = n->op == NUM_VALUE_OF ? print_value(self, n, &text) : print_measure(self, n, &text);
    buf_free(&text);
    return is;
}

static bool print_number(struct pass_writer *w, const struct number *n, struct buf *out) {
    if (n->op == NUM_VALUE && n->value == floor(n->value) && fabs(n->value) < 1e9) {
        buf_printf(out, "%" PRId64, (int64_t)n->value);
        return true;
    }
    if (n->op == NUM_MEASURE || n->op == NUM_EXTENT || n->op == NUM_VALUE_OF)
        return !isnan(n->op == NUM_VALUE_OF ? print_value(w, n, out) : print_measure(w, n, out));
    if (n->op > NUM_MOD || !operators[n->op].op || operators[n->op].negated)
        return false;
    bool good = print_number(w, n->a, out);
    buf_printf(out, " %s ", operators[n->op].op);
    return print_number(w, n->b, out) && good;
}

/* ---- conditions ---- */

/* It is not so here; nothing says it; what the code compares decides it; it is code; it is so. */
enum said { IS_FALSE, UNSAID, DECIDED, CODE, IS_TRUE };

/* Ops, attributes and shapes, which are compared, decide what index maps say. */
static bool is_decided(const struct pass_writer *w, const struct number *n) {
    uint32_t value = n->nargs ? value_of(w, n->args[0]) : NONE;
    enum condition_group group = condition_table[n->call].group;
    if (n->call == CONDITION_scalar || n->call == CONDITION_constant || n->call == CONDITION_stated_constant ||
        n->call == CONDITION_count_power)
        return value != NONE && graph_constant(w->place.g, value).known;
    return n->call == CONDITION_same || group == GROUP_SPELLING || group == GROUP_AXES || group == GROUP_GROUPS ||
           group == GROUP_LAYOUT || group == GROUP_WINDOWS;
}

static enum said print_comparison(struct pass_writer *w, const struct number *n, bool holds, struct buf *out) {
    const struct number *x = n->a;
    uint32_t value = x->op == NUM_MEASURE ? value_of(w, x->slot) : NONE;
    if (n->op > NUM_MOD || !operators[n->op].negated)
        return UNSAID;
    if (n->op == NUM_LT && x->op == NUM_MEASURE && x->call == MEASURE_dtype && value != NONE &&
        w->expr[value].n) { /* dtype(x) < 0 */
        buf_printf(out, "%sisa<FloatType>(getElementTypeOrSelf(%s))", holds ? "!" : "", w->expr[value].p);
        return CODE;
    }
    if (x->op == NUM_MEASURE && x->call != MEASURE_siblings && x->call != MEASURE_devices &&
        (x->call >= MEASURE_innermost || x->call == MEASURE_rank))
        return DECIDED; /* by attributes and ranks */
    struct buf left = {0}, right = {0};
    bool good = print_number(w, n->a, &left) && print_number(w, n->b, &right);
    struct str l = buf_take(&left, w->arena), r = buf_take(&right, w->arena);
    struct str divisor = l, dividend = n->a->op == NUM_MOD ? str_part(&divisor, ' ') : STR("");
    bool names = l.n && strpbrk(l.p, "abcdefghijklmnopqrstuvwxyz"); /* else it is so everywhere */
    if (!good || !names || str_eq(l, r) || (dividend.n && str_ends(divisor, dividend)))
        return good ? DECIDED : UNSAID;
    if ((number_evaluate(n, leaf_here, w) != 0) != holds)
        return IS_FALSE;
    if (str_starts(l, arena_printf(w->arena, "%s * ", r.p))) {
        l = (struct str){l.p + r.n + 3, l.n - r.n - 3};
        r = STR("1");
    }
    buf_printf(out, "%s %s %s", l.p, holds ? operators[n->op].negated : operators[n->op].op, r.p);
    return CODE;
}

/* last_use(x, out): no user beside the one that is matched is sure to say so. */
static enum said print_last_use(struct pass_writer *w, const struct number *n, bool holds, struct buf *out) {
    uint32_t value = value_of(w, n->args[0]);
    if (!holds || value == NONE || !w->expr[value].n || graph_nuses(w->place.g, value) != 1)
        return UNSAID;
    buf_printf(out, "ttmlir::utils::countUsers(%s) != 1", w->expr[value].p);
    return CODE;
}

/* The code is true where the condition is not what it is to be: `holds`, or else false. */
static enum said print(struct pass_writer *w, const struct number *n, bool holds, struct buf *out) {
    if (n->op == NUM_NOT || (n->op == NUM_CALL && n->call == NONE && n->a))
        return print(w, n->a, n->op == NUM_NOT ? !holds : holds, out);
    if (n->op == NUM_CALL && n->call == CONDITION_present)
        return (value_of(w, n->args[0]) != NONE) == holds ? IS_TRUE : IS_FALSE;
    if (n->op == NUM_CALL && n->call == CONDITION_last_use)
        return print_last_use(w, n, holds, out);
    if (n->op == NUM_CALL)
        return n->call != NONE && is_decided(w, n) ? DECIDED : UNSAID;
    if (n->op != NUM_AND && n->op != NUM_OR)
        return print_comparison(w, n, holds, out);
    struct buf a = {0}, b = {0};
    enum said x = print(w, n->a, holds, &a), y = print(w, n->b, holds, &b), least = x < y ? x : y, most = x < y ? y : x;
    bool both = (n->op == NUM_AND) == holds; /* else one is enough: what is code is so here */
    if (x == CODE)
        buf_add(out, buf_str(&a));
    if (y == CODE && (both || x != CODE))
        buf_printf(out, "%s%s", x == CODE ? " || " : "", b.p);
    buf_free(&a);
    buf_free(&b);
    if (both)
        return least <= UNSAID || most == IS_TRUE ? least : most;
    return most >= CODE || least == IS_FALSE ? most : least;
}

/* The names of the formula in it are all those of something. */
static bool is_of_place(const struct pass_writer *w, struct str text) {
    const struct formula *f = &w->match->pattern->formula;
    bool all = true;
    for (uint32_t i = 0; i < w->detail.nslots && all; i++)
        all = w->detail.slots[i].value != NONE || !f->slots[i].name.n || !str_find_word(text, f->slots[i].name);
    return all;
}

/* Each is a guard, or one of the conditions that a comment lists. */
void pass_where(struct pass_writer *w, struct buf *guards, struct buf *constants, struct buf *comment) {
    const struct pattern *p = w->match->pattern;
    for (uint32_t i = 0; i < p->nwhere + p->nrequire; i++) {
        const struct number *n = i < p->nwhere ? p->where[i] : p->require[i - p->nwhere];
        struct buf code = {0}, text = {0};
        enum said said = print(w, n, true, &code);
        struct str is = buf_take(&code, w->arena);
        number_print(&p->formula, NULL, n, &text);
        struct str one = buf_take(&text, w->arena);
        struct buf *to = said == CODE && *is.p == '*' ? constants : guards;
        if (said == CODE && !str_find(buf_str(to), is))
            buf_printf(to, "%s%s", to->n ? " || " : "", is.p);
        if (said == UNSAID && is_of_place(w, one))
            buf_printf(comment, "%s%s", comment->n ? "; " : "", one.p);
    }
}
