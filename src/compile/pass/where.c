/* What a pattern asks of its places as code, where shapes and types say it. */
#include "compile/pass/where.h"

#include <inttypes.h>
#include <math.h>

#include "patterns/lang/condition.h"
#include "patterns/lang/number.h"
#include "patterns/lang/printer.h"

/* ---- numbers ---- */

static const struct {
    const char *op, *negated; /* NULL: it makes a number */
} operators[NUM_MOD + 1] = {
    [NUM_MOD] = {"%", NULL}, [NUM_ADD] = {"+", NULL}, [NUM_SUB] = {"-", NULL},  [NUM_MUL] = {"*", NULL},
    [NUM_EQ] = {"==", "!="}, [NUM_NE] = {"!=", "=="}, [NUM_LT] = {"<", ">="},   [NUM_LE] = {"<=", ">"},
    [NUM_GT] = {">", "<="},  [NUM_GE] = {">=", "<"},  [NUM_AND] = {"&&", "||"}, [NUM_OR] = {"||", "&&"}};

static bool compares(enum number_op op) {
    return op <= NUM_MOD && op != NUM_AND && op != NUM_OR && operators[op].negated;
}

/* What rank(x), size(x, 1), extent(x, -1), numel(x), users(x) are here. False: it is another measure, or x is no value
 * that the code can call. */
static bool print_measure(struct pass_writer *w, const struct number *n, struct buf *out, double *is) {
    uint32_t value = n->slot < w->detail.nslots ? w->detail.slots[n->slot].value : NONE, rank;
    const int64_t *dims = value == NONE || !w->expr[value].n ? NULL : graph_shape(w->place.g, value, &rank);
    bool extent = n->op == NUM_EXTENT, one = extent || n->call == MEASURE_size;
    int64_t d = extent ? n->axis : n->given[0], all = 1;
    if (!dims || (!extent && (n->call > MEASURE_users || n->sources)))
        return false;
    d += d < 0 ? rank : 0;
    if (one && (d < 0 || d >= rank))
        return false;
    const struct axes *axes = w->detail.slots[n->slot].axes;
    if (extent && (!axes || axes_extent(axes, n->axis) != dims[d])) /* an axis is not always a dimension */
        return false;
    size_t begin = out->n;
    for (uint32_t i = 0; i < rank && (one || n->call == MEASURE_numel); i++) {
        struct str extent_text = one && i != d ? STR("1") : extents_print(&w->extents, false, value, i);
        all *= one && i != d ? 1 : dims[i];
        if (!str_is(extent_text, "1"))
            buf_printf(out, "%s%.*s", out->n > begin ? " * " : "", (int)extent_text.n, extent_text.p);
    }
    if (!extent && n->call == MEASURE_users) {
        all = (int64_t)graph_nuses(w->place.g, value);
        buf_printf(out, "ttmlir::utils::countUsers(%.*s)", (int)w->expr[value].n, w->expr[value].p);
        w->counts_uses = true;
    } else if (out->n == begin) { /* haveShape has compared the rank */
        all = !extent && n->call == MEASURE_rank ? rank : 1;
        buf_printf(out, "%" PRId64, all);
    }
    *is = (double)all;
    return true;
}

/* value(x), where the rewrite reads it. */
static bool print_value(const struct pass_writer *w, const struct number *n, struct buf *out, double *is) {
    uint32_t value = n->slot < w->detail.nslots ? w->detail.slots[n->slot].value : NONE;
    for (uint32_t i = 0; i < w->nconstants && value != NONE; i++)
        if (w->constants[i].variable.n && fabs(w->constants[i].number - graph_constant(w->place.g, value).value) == 0) {
            buf_printf(out, "*%.*s", (int)w->constants[i].variable.n, w->constants[i].variable.p);
            *is = w->constants[i].number;
            return true;
        }
    return false;
}

static double number_here(void *self, const struct number *n) {
    struct buf text = {0};
    double is = NAN;
    if (n->op == NUM_VALUE_OF)
        (void)print_value(self, n, &text, &is);
    else
        (void)print_measure(self, n, &text, &is);
    buf_free(&text);
    return is;
}

static bool print_number(struct pass_writer *w, const struct number *n, struct buf *out) {
    if (n->op == NUM_VALUE && n->value == floor(n->value) && fabs(n->value) < 1e9) {
        buf_printf(out, "%" PRId64, (int64_t)n->value);
        return true;
    }
    if (n->op == NUM_MEASURE || n->op == NUM_EXTENT)
        return print_measure(w, n, out, &(double){0});
    if (n->op == NUM_VALUE_OF)
        return print_value(w, n, out, &(double){0});
    if (n->op > NUM_MOD || !operators[n->op].op || operators[n->op].negated)
        return false;
    bool good = print_number(w, n->a, out);
    buf_printf(out, " %s ", operators[n->op].op);
    return print_number(w, n->b, out) && good;
}

/* ---- conditions ---- */

/* What is known of a condition: what the code compares already decides it, in a way that is known or not; it is code;
 * or nothing says it. */
enum said { UNSAID, CODE, DECIDED, IS_TRUE, IS_FALSE };

/* Ops, attributes and shapes, which are compared, decide what index maps say. */
static enum said call_said(const struct pass_writer *w, const struct number *n) {
    uint32_t value = n->nargs && n->args[0] < w->detail.nslots ? w->detail.slots[n->args[0]].value : NONE;
    switch (n->call) {
    case CONDITION_present:
        return value != NONE ? IS_TRUE : IS_FALSE;
    case CONDITION_same:
        return DECIDED;
    case CONDITION_scalar:
    case CONDITION_constant:
    case CONDITION_stated_constant:
    case CONDITION_count_power:
        return value != NONE && graph_constant(w->place.g, value).known ? DECIDED : UNSAID;
    default:
        break;
    }
    enum condition_group group = condition_table[n->call].group;
    return group == GROUP_AXES || group == GROUP_GROUPS || group == GROUP_LAYOUT || group == GROUP_WINDOWS ? DECIDED
                                                                                                           : UNSAID;
}

static struct str next_factor(struct str text) {
    const char *end = str_find(text, STR(" * "));
    return end ? (struct str){text.p, (size_t)(end - text.p)} : text;
}

/* The factors with which both begin. */
static void cancel(struct str *a, struct str *b) {
    while (str_eq(next_factor(*a), next_factor(*b)) && a->n && b->n && !str_find(*a, STR(" + ")) &&
           !str_find(*b, STR(" + "))) {
        size_t n = next_factor(*a).n, behind = n + 3;
        *a = a->n > n ? (struct str){a->p + behind, a->n - behind} : STR("1");
        *b = b->n > n ? (struct str){b->p + behind, b->n - behind} : STR("1");
    }
}

/* Of dtype(x) < 0. */
static enum said print_floating(struct pass_writer *w, const struct number *x, bool holds, struct buf *out) {
    uint32_t value = x->slot < w->detail.nslots ? w->detail.slots[x->slot].value : NONE;
    struct str expr = value == NONE ? STR("") : w->expr[value];
    if (!expr.n)
        return UNSAID;
    buf_printf(out, "%sisa<FloatType>(getElementTypeOrSelf(%.*s))", holds ? "!" : "", (int)expr.n, expr.p);
    w->element_types = true;
    return CODE;
}

static enum said print(struct pass_writer *w, const struct number *n, bool holds, struct buf *out);

/* When `n` does not hold, or does not fail. */
static enum said print_junction(struct pass_writer *w, const struct number *n, bool holds, struct buf *out) {
    struct buf a = {0}, b = {0};
    enum said x = print(w, n->a, holds, &a), y = print(w, n->b, holds, &b);
    struct str left = buf_take(&a, w->arena), right = buf_take(&b, w->arena);
    bool all = (n->op == NUM_AND) == holds; /* both are asked for */
    enum said ends = n->op == NUM_AND ? IS_FALSE : IS_TRUE, other = n->op == NUM_AND ? IS_TRUE : IS_FALSE;
    if (x == ends || y == ends)
        return ends;
    if (x == other || y == other || (all && (x == DECIDED || y == DECIDED))) {
        bool second = x == other || (x == DECIDED && y != other);
        buf_add(out, second ? right : left);
        return second ? y : x;
    }
    bool mixed = !all && (str_find(left, STR(" || ")) || str_find(right, STR(" || ")));
    if (x == CODE && y == CODE && !mixed)
        buf_printf(out, all ? "%.*s || %.*s" : "(%.*s && %.*s)", (int)left.n, left.p, (int)right.n, right.p);
    return mixed || x == UNSAID || y == UNSAID || x != y ? UNSAID : x;
}

/* The code is true where the condition is not what it is to be: `holds`, or else false. */
static enum said print(struct pass_writer *w, const struct number *n, bool holds, struct buf *out) {
    if (n->op == NUM_CALL)
        return n->call != NONE ? call_said(w, n) : n->a ? print(w, n->a, holds, out) : UNSAID;
    if (n->op == NUM_NOT) {
        enum said s = print(w, n->a, !holds, out);
        return s == IS_TRUE ? IS_FALSE : s == IS_FALSE ? IS_TRUE : s;
    }
    if (n->op == NUM_AND || n->op == NUM_OR)
        return print_junction(w, n, holds, out);
    if (!compares(n->op))
        return UNSAID;
    if (n->a->op == NUM_MEASURE && n->a->call != MEASURE_siblings && n->a->call != MEASURE_devices &&
        (n->a->call >= MEASURE_innermost || n->a->call == MEASURE_rank))
        return DECIDED; /* by attributes and ranks */
    if (n->op == NUM_LT && n->a->op == NUM_MEASURE && n->a->call == MEASURE_dtype)
        return print_floating(w, n->a, holds, out);
    struct buf a = {0}, b = {0};
    bool good = print_number(w, n->a, &a) && print_number(w, n->b, &b), is = number_evaluate(n, number_here, w) != 0;
    struct str left = buf_take(&a, w->arena), right = buf_take(&b, w->arena);
    if (good && str_eq(left, right))
        return DECIDED;
    cancel(&left, &right);
    if (good)
        buf_printf(out, "%.*s %s %.*s", (int)left.n, left.p, holds ? operators[n->op].negated : operators[n->op].op,
                   (int)right.n, right.p);
    return good && is == holds ? CODE : UNSAID;
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
        if (said == CODE)
            buf_printf(to, "%s%.*s", to->n ? " || " : "", (int)is.n, is.p);
        if (said == UNSAID && is_of_place(w, one))
            buf_printf(comment, "%s%.*s", comment->n ? "; " : "", (int)one.n, one.p);
    }
}
