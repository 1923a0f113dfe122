/* Words for a near miss. One function for each kind of failure says what is there, with values, and what the formula
 * expects; all read the bindings of the search, which stands at the failure. */
#include "patterns/lang/condition.h"
#include "patterns/lang/printer.h"
#include "report/explain/diagnose.h"
#include "search/automaton/computation.h"

#include <math.h>
#include <stdio.h>

enum { MAX_EXPECTED = 5, MAX_PART = 100 };

struct words {
    struct matcher *m;
    const struct failure *s;
    struct buf *out;
    const char *hint;
};

/* ---- ops and values ---- */

static uint64_t line_of(const struct matcher *m, uint32_t op) {
    return mlir_place(m->g->m, m->g->m->ops[op].text.begin).line;
}

static void say_op(const struct words *w, uint32_t op) {
    struct str name = mlir_op_name(w->m->g->m, op);
    buf_printf(w->out, "%.*s at line %llu", (int)name.n, name.p, (unsigned long long)line_of(w->m, op));
}

static void say_value(const struct words *w, uint32_t value) {
    struct str label = value_label(w->m->g, value, w->m->arena);
    const struct mlir_value *v = &w->m->g->m->values[value];
    buf_printf(w->out, "%.*s", (int)label.n, label.p);
    if (v->def != NONE && w->m->g->m->ops[v->def].nresults > 1)
        buf_printf(w->out, "#%u", v->index);
}

/* "%3 (ttir.tanh at line 12)" */
static void say_source(const struct words *w, uint32_t value) {
    uint32_t op = w->m->g->m->values[value].def;
    say_value(w, value);
    if (op == NONE)
        return;
    buf_add(w->out, STR(" ("));
    say_op(w, op);
    buf_addc(w->out, ')');
}

static void say_result_of(const struct words *w, uint32_t op) {
    if (mlir_result_name(w->m->g->m, op).n)
        say_source(w, w->m->g->m->ops[op].first_result);
    else
        say_op(w, op);
}

/* ---- what was expected ---- */

/* The outermost node that stands for the same value as `n`: the alternatives that it is one of. NULL: `n` is not below
 * `at`. */
static const struct node *whole_of(const struct node *at, const struct node *whole, const struct node *n,
                                   uint64_t *seen) {
    if (at == n)
        return whole ? whole : n;
    if (at->kind == N_NAMED) {
        uint64_t *word = &seen[at->slot / 64], bit = 1ull << (at->slot % 64);
        if (*word & bit)
            return NULL;
        *word |= bit;
    }
    bool same = at->kind == N_NAMED || at->kind == N_EITHER || at->kind == N_TRANSPOSED;
    const struct node *below = !same ? NULL : whole ? whole : at;
    for (uint32_t i = 0; i < at->nargs; i++) {
        const struct node *found = whole_of(at->args[i], below, n, seen);
        if (found)
            return found;
    }
    return NULL;
}

static const struct node *part_of(const struct words *w) {
    const struct formula *f = &w->m->pattern->formula;
    uint64_t seen[(MAX_SLOTS + 63) / 64] = {0};
    const struct node *n = w->s->goal->node, *found = whole_of(f->root, NULL, n, seen);
    for (uint32_t i = 0; !found && i < f->nsecondary; i++)
        found = whole_of(f->also[i].node, NULL, n, seen);
    return found ? found : n;
}

/* The operators that a node can be, each once. */
static void operators_of(const struct node *n, const char **names, uint32_t *count) {
    if (n->kind == N_OP || n->kind == N_OUTER) {
        const char *name = op_table[n->op].name;
        for (uint32_t i = 0; i < *count; i++)
            if (names[i] == name)
                return;
        if (*count < MAX_EXPECTED + 1)
            names[(*count)++] = name;
        return;
    }
    for (uint32_t i = 0; i < n->nargs; i++)
        operators_of(n->args[i], names, count);
}

static void say_expected(const struct words *w, const char *const *names, uint32_t n) {
    buf_add(w->out, n > 1 ? STR("; ") : STR(", "));
    for (uint32_t i = 0; i < n && i < MAX_EXPECTED; i++)
        buf_printf(w->out, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", names[i]);
    buf_printf(w->out, "%s expected", n > MAX_EXPECTED ? " or another" : "");
}

/* ---- a function for each kind ---- */

static void say_op_that_failed(struct words *w) {
    say_result_of(w, w->s->at);
}

static void say_value_that_failed(struct words *w) {
    say_source(w, w->s->at);
}

/* One of the expected operators stands there, but its operands are further off than without it. */
static uint32_t without(const char **names, uint32_t n, const char *name) {
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(names[i], name) != 0)
            names[k++] = names[i];
    return k ? k : n;
}

static void say_operator(struct words *w) {
    const char *names[MAX_EXPECTED + 1];
    uint32_t n = 0, op = w->m->g->m->values[w->s->at].def;
    operators_of(part_of(w), names, &n);
    if (op != NONE)
        n = without(names, n, op_table[w->m->g->kind[op]].name);
    say_value(w, w->s->at);
    buf_add(w->out, STR(" is "));
    if (op == NONE)
        buf_add(w->out, STR("an argument"));
    else
        say_op(w, op);
    say_expected(w, names, n);
}

static void say_folded(struct words *w) {
    const struct graph *g = w->m->g;
    say_result_of(w, w->s->at);
    buf_add(w->out, STR(" has more folded into it"));
    for (const char *p = op_table[g->kind[w->s->at]].strict; p && *p;) {
        char key[64];
        size_t n = strcspn(p, ","), k = strcspn(p, ",=~");
        if (k < sizeof key) {
            memcpy(key, p, k);
            key[k] = '\0';
            const struct attr *x = attrs_find(graph_attributes(g, w->s->at), key);
            if (x && !(p[k] == '=' && str_eq(x->text, (struct str){p + k + 1, n - k - 1})))
                buf_printf(w->out, ": %s = %.*s", key, x->text.n > MAX_PART ? MAX_PART : (int)x->text.n, x->text.p);
        }
        p += n;
        p += *p == ',';
    }
}

static void say_attribute(struct words *w) {
    const struct attr_spec *a = node_wrong_attribute(w->s->goal->node, w->m->g, w->s->at);
    say_result_of(w, w->s->at);
    if (!a)
        return;
    const struct attr *x = attrs_find(graph_attributes(w->m->g, w->s->at), a->key);
    struct str folded = strcmp(a->key, "activation") == 0 ? graph_activation(w->m->g, w->s->at) : STR("");
    if (x || folded.n)
        buf_printf(w->out, " has %s = %.*s, ", a->key, (int)(x ? x->text : folded).n, (x ? x->text : folded).p);
    else
        buf_printf(w->out, " has no %s, ", a->key);
    if (a->test == ATTR_ABSENT)
        buf_add(w->out, STR("none expected"));
    else
        buf_printf(w->out, "%.*s expected", (int)a->value.n, a->value.p);
}

static double value_in_match(const void *self, const struct number *n) {
    struct evaluation e = *(const struct evaluation *)self;
    return evaluate(&e, n);
}

/* "sqrt(64) = 8", or just the number where that is all there is. */
static void say_number(const struct words *w, const struct number *n) {
    struct evaluation e = matcher_evaluation(w->m, w->s->goal->axes);
    double value = evaluate(&e, n);
    size_t before = w->out->n;
    number_print(&w->m->pattern->formula, &(struct number_values){value_in_match, &e}, n, w->out);
    char plain[32];
    snprintf(plain, sizeof plain, "%.10g", value);
    if (w->out->n - before != strlen(plain) || memcmp(w->out->p + before, plain, strlen(plain)) != 0)
        buf_printf(w->out, " = %s", plain);
}

static void say_setting(struct words *w) {
    const struct node *node = w->s->goal->node;
    struct evaluation e = matcher_evaluation(w->m, w->s->goal->axes);
    char key[32];
    double actual;
    say_result_of(w, w->s->at);
    for (uint32_t i = graph_noperands(w->m->g, w->s->at); i < node->nargs; i++) {
        if (node->args[i]->kind != N_NUMBER) {
            buf_add(w->out, STR(" has an attribute where the formula has an operand"));
        } else if (match_setting(w->m, w->s->at, i, key, &actual)) {
            if (close_to(actual, evaluate(&e, node->args[i]->number), 24))
                continue;
            buf_printf(w->out, " has %s = %.9g, ", key, actual);
            say_number(w, node->args[i]->number);
            buf_add(w->out, STR(" expected"));
        } else {
            buf_add(w->out, STR(" lacks an operand"));
        }
        return;
    }
}

static void say_operands(struct words *w) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph_noperands(w->m->g, w->s->at); i++)
        n += graph_operands(w->m->g, w->s->at)[i] != NONE;
    say_result_of(w, w->s->at);
    buf_printf(w->out, " has %u operand%s, %u expected", n, n == 1 ? "" : "s", w->s->goal->node->nargs);
}

static void say_result(struct words *w) {
    say_source(w, w->s->at);
    if (w->s->goal->node->kind == N_RESULT)
        buf_printf(w->out, " is not result %u of what is meant", w->s->goal->node->result);
    else
        buf_add(w->out, STR(" is not the first result of its op"));
}

/* The attribute that says along which dimensions an op works. */
static void say_dims(const struct words *w) {
    static const char *const keys[] = {"dim_arg", "dim", "dim_args", "dimension", "normalized_shape", "begins"};
    const struct attr *x = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !x; i++)
        x = attrs_find(graph_attributes(w->m->g, w->s->at), keys[i]);
    if (x)
        buf_printf(w->out, ", with %.*s = %.*s,", (int)x->key.n, x->key.p, (int)x->text.n, x->text.p);
}

static void say_axis(struct words *w) {
    const struct axis_spec *dim = &w->s->goal->node->dim;
    say_result_of(w, w->s->at);
    say_dims(w);
    bool all = graph_class(w->m->g, w->s->at) == OP_REDUCE && !graph_axes(w->m->g, w->s->at);
    buf_printf(w->out, " works along %s%s", all ? "all axes" : "another axis",
               !dim->n ? ""
               : all   ? ", not "
                       : " than ");
    axis_spec_print(dim, w->out);
    buf_add(w->out, dim->n ? STR(" of the formula") : STR(""));
}

static void say_part(struct words *w) {
    const struct node *node = w->s->goal->node;
    struct slice_bounds b;
    say_result_of(w, w->s->at);
    if (slice_bounds(w->m->g, w->s->at, &b))
        for (uint32_t d = 0; d < b.rank; d++)
            if (b.cut[d])
                buf_printf(w->out, " cuts dimension %u from %lld to %lld by %lld,", d, (long long)b.begin[d],
                           (long long)b.end[d], (long long)b.step[d]);
    for (uint32_t i = 0; i < node->nattrs; i++)
        buf_printf(w->out, "%s%s=%.*s", i ? ", " : " ", node->attrs[i].key, (int)node->attrs[i].value.n,
                   node->attrs[i].value.p);
    buf_printf(w->out, "%s expected", node->nattrs ? "" : " one dimension");
}

/* A value that holds no known number. */
static void say_unknown(struct words *w, uint32_t value) {
    uint32_t argument = graph_argument(w->m->g, value);
    if (argument == NONE) {
        say_source(w, value);
        buf_add(w->out, STR(" is no known number"));
        return;
    }
    say_value(w, argument);
    if (graph_argument_is_input(w->m->g, argument)) {
        buf_add(w->out, STR(" is an input of the model"));
        return;
    }
    buf_add(w->out, STR(" is an argument whose value is not in the file"));
}

static void say_constant(struct words *w) {
    struct constant c = graph_constant(w->m->g, w->s->goal->value);
    if (c.known) {
        say_value(w, w->s->goal->value);
        buf_printf(w->out, " is %.*g", c.bits > 24 ? 10 : 7, c.value);
    } else {
        say_unknown(w, w->s->goal->value);
    }
    buf_add(w->out, STR(", "));
    say_number(w, w->s->goal->node->number);
    buf_add(w->out, STR(" expected"));
}

/* The value that the goal's and the bound one come from through movement; NONE when there is none. */
static uint32_t common_source(const struct matcher *m, const struct goal *g, const struct binding *b) {
    struct link here[MAX_CHAIN], there[MAX_CHAIN];
    uint32_t n = movement_chain(m->g, g->value, g->map, here, MAX_CHAIN);
    uint32_t k = movement_chain(m->g, b->value, b->map, there, MAX_CHAIN);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < k; j++)
            if (here[i].value == there[j].value)
                return here[i].value;
    return NONE;
}

static void say_same(struct words *w) {
    const struct goal *g = w->s->goal;
    const struct binding *b = &w->m->state.slots[g->node->slot];
    struct str name = w->m->pattern->formula.slots[g->node->slot].name;
    uint32_t common = common_source(w->m, g, b);
    if (!name.n)
        name = STR("a part that is used twice");
    buf_printf(w->out, "%.*s is ", (int)name.n, name.p);
    if (common != NONE) {
        say_source(w, common);
        buf_add(w->out,
                STR(" both times, but with its elements at other places: moved, cut or broadcast in another way"));
        return;
    }
    say_source(w, g->value);
    buf_add(w->out, STR(" here and "));
    say_source(w, b->value);
    buf_add(w->out, STR(" elsewhere"));
    struct constant here = graph_constant(w->m->g, g->value), there = graph_constant(w->m->g, b->value);
    if (here.known && there.known && here.value == there.value)
        buf_printf(w->out, "; both hold %.*g", here.bits > 24 ? 10 : 7, here.value);
}

/* "%b 32x128 (ttir.exp at line 3)"; `typed`: 32x128xbf16 */
static void say_shaped(const struct words *w, uint32_t value, bool typed) {
    uint32_t rank, op = w->m->g->m->values[value].def;
    const int64_t *shape = graph_shape(w->m->g, value, &rank);
    say_value(w, value);
    for (uint32_t d = 0; shape && d < rank; d++)
        buf_printf(w->out, "%c%lld", d ? 'x' : ' ', (long long)shape[d]);
    if (shape && typed)
        buf_printf(w->out, "%c%s", rank ? 'x' : ' ', dtype_table[graph_dtype(w->m->g, value)].name);
    if (op != NONE) {
        buf_add(w->out, STR(" ("));
        say_op(w, op);
        buf_addc(w->out, ')');
    }
}

static bool mentions(const struct number *n, uint32_t slot) {
    if (!n)
        return false;
    bool here = (n->op == NUM_EXTENT || n->op == NUM_VALUE_OF || n->op == NUM_MEASURE) && n->slot == slot;
    for (uint32_t i = 0; n->op == NUM_CALL && i < n->nargs; i++)
        here |= n->args[i] == slot;
    return here || mentions(n->a, slot) || mentions(n->b, slot);
}

static bool asks_dtype(const struct number *n) {
    return n && ((n->op == NUM_MEASURE && n->call == MEASURE_dtype) || asks_dtype(n->a) || asks_dtype(n->b));
}

/* Some name of the condition stands for no value, or, if it is `met` that is asked for, for no op that is matched. */
static bool lacks_name(const struct matcher *m, const struct number *n, bool met) {
    const struct formula *f = &m->pattern->formula;
    if (!n)
        return false;
    bool one = n->op == NUM_EXTENT || n->op == NUM_VALUE_OF || n->op == NUM_MEASURE;
    for (uint32_t i = 0; i < (one ? 1 : n->op == NUM_CALL ? n->nargs : 0u); i++) {
        uint32_t slot = one ? n->slot : n->args[i];
        if (slot < f->nslots && (m->state.slots[slot].value == NONE ||
                                 (met && !f->slots[slot].is_variable && m->state.slots[slot].op == NONE)))
            return true;
    }
    return lacks_name(m, n->a, met) || lacks_name(m, n->b, met);
}

bool reason_is_presence(const struct failure *s) {
    const struct number *n = s->condition;
    if (!n || (s->why != FAILED_UNLESS && n->op != NUM_NOT))
        return false;
    n = n->op == NUM_NOT ? n->a : n;
    return n->op == NUM_CALL && n->call == CONDITION_present;
}

bool reason_is_decidable(const struct matcher *m, const struct number *n) {
    return !lacks_name(m, n, true);
}

bool reason_is_absence(const struct matcher *m, const struct failure *s) {
    bool must_hold = s->why == FAILED_WHERE || s->why == FAILED_REQUIRE;
    return must_hold && s->condition && lacks_name(m, s->condition, false);
}

/* ": 64 == 32; bias is %arg2" */
static void say_values(const struct words *w, const struct number *n) {
    const struct formula *f = &w->m->pattern->formula;
    struct evaluation e = matcher_evaluation(w->m, w->m->root_axes);
    const char *separator = ": ";
    if (number_has_values(n)) {
        buf_add(w->out, str_of(separator));
        number_print(f, &(struct number_values){value_in_match, &e}, n, w->out);
        separator = "; ";
    }
    for (uint32_t slot = 0; slot < f->nslots; slot++) {
        uint32_t value = w->m->state.slots[slot].value;
        if (!f->slots[slot].name.n || !mentions(n, slot))
            continue;
        buf_printf(w->out, "%s%.*s is ", separator, (int)f->slots[slot].name.n, f->slots[slot].name.p);
        if (value == NONE)
            buf_add(w->out, STR("absent"));
        else
            say_shaped(w, value, asks_dtype(n));
        separator = ", ";
    }
}

/* The description of the first call in a condition that needs one. */
static const char *meaning(const struct number *n) {
    if (!n || n->op == NUM_CALL)
        return n && n->call != CONDITION_present ? condition_says(n) : NULL;
    const char *says = meaning(n->a);
    return says ? says : meaning(n->b);
}

/* Some number in it is not known: what a condition asks is. */
static bool is_undecided(struct evaluation *e, const struct number *n) {
    return n && n->op != NUM_CALL && (isnan(evaluate(e, n)) || is_undecided(e, n->a) || is_undecided(e, n->b));
}

static void say_condition(struct words *w) {
    struct evaluation e = matcher_evaluation(w->m, w->m->root_axes);
    buf_add(w->out, w->s->why == FAILED_UNLESS     ? STR("holds")
                    : is_undecided(&e, w->s->part) ? STR("is not decided")
                                                   : STR("does not hold"));
    say_values(w, w->s->part);
    w->hint = meaning(w->s->part);
}

static void say_outside_user(struct words *w) {
    uint32_t op, user;
    if (!match_outside_user(w->m, &op, &user))
        return;
    say_result_of(w, op);
    buf_add(w->out, STR(" has a user outside: "));
    say_result_of(w, user);
}

static void say_blocked(struct words *w) {
    struct evaluation e = matcher_evaluation(w->m, w->m->root_axes);
    struct str text;
    bool filled = fill_in(&e, w->s->why_blocked, &text);
    text.n -= filled && str_ends(text, STR("."));
    buf_add(w->out, filled && text.n ? text : STR("the pattern is not safe there"));
}

static void say_limit(struct words *w) {
    buf_printf(w->out, "the search was given up after %llu steps", (unsigned long long)w->m->max_steps);
}

static const struct {
    const char *name;
    void (*say)(struct words *w); /* NULL: it is always the same */
    const char *text, *hint;
} kinds[] = {
    [FAILED_OPERATOR] = {"operator", say_operator, NULL, NULL},
    [FAILED_LINE] = {"line", NULL, "no op matches this line", NULL},
    [FAILED_FOLDED] = {"folded", say_folded, NULL, NULL},
    [FAILED_ATTRIBUTE] = {"attribute", say_attribute, NULL, NULL},
    [FAILED_SETTING] = {"attribute", say_setting, NULL, NULL},
    [FAILED_OPERANDS] = {"operands", say_operands, NULL, NULL},
    [FAILED_RESULT] = {"result", say_result, NULL, NULL},
    [FAILED_AXIS] = {"axis", say_axis, NULL, NULL},
    [FAILED_PART] = {"part", say_part, NULL, NULL},
    [FAILED_ROLES] = {"axis", say_op_that_failed, " has its rows and columns in other places than the formula",
                      "transposed(x) is x with its last two axes exchanged"},
    [FAILED_INDEX] = {"index", say_op_that_failed, " moves elements in a way that is not understood", NULL},
    [FAILED_ORDER] = {"order", say_value_that_failed, " has its elements in another order, or is of another shape",
                      NULL},
    [FAILED_NUMBER] = {"number", say_constant, NULL, NULL},
    [FAILED_SAME] = {"value", say_same, NULL, NULL},
    [FAILED_WHERE] = {"where", say_condition, NULL, NULL},
    [FAILED_USER] = {"user", say_outside_user, NULL, NULL},
    [FAILED_REQUIRE] = {"require", say_condition, NULL, NULL},
    [FAILED_UNLESS] = {"unless", say_condition, NULL, NULL},
    [FAILED_DECOMPOSED] = {"decomposed", NULL, "the compiler took it apart on purpose",
                           "--include=decomposed reports it"},
    [FAILED_BLOCKED] = {"block", say_blocked, NULL, "--include=blocked reports it"},
    [FAILED_LIMIT] = {"limit", say_limit, NULL, NULL},
};

/* The function that the node is, or the first of several; NULL: it is none. */
static const struct node *function_of(const struct node *n) {
    while (n->kind == N_NAMED || n->kind == N_EITHER)
        n = n->args[0];
    return n->kind == N_FUNCTION ? n : NULL;
}

/* What the ops make of a value at a point where it is far from the function; of one that captures numbers at any. */
struct gap {
    uint32_t value;
    double at, is, expected, size;
};

/* In parts of what is expected; points that one can reckon with count most. */
static double gap_size(double x, double is, double expected) {
    double size = isnan(is) && isnan(expected) ? 0
                  : isnan(is - expected)       ? 1
                                               : fabs(is - expected) / fmax(1, fmax(fabs(is), fabs(expected)));
    return fabs(x) > 0.05 && fabs(x) < 10 ? size : size / 1000;
}

static struct gap gap_from(const struct computation *c, const struct node *f) {
    struct gap most = {.value = c->open[0].value};
    for (int p = 0; p < FUNCTION_POINTS; p++) {
        double x = function_points[p], is = computation_at(c, x);
        bool captures = function_captures(f), near_one = fabs(x) > 0.9 && fabs(x) < 1;
        double expected = captures ? is : function_at(f, x, NULL);
        double size = captures ? near_one : gap_size(x, is, expected);
        if (size > most.size)
            most = (struct gap){most.value, x, is, expected, size};
    }
    return most;
}

/* Of the values that the op is a function of with ops before it, the last one is told. */
static void say_function(struct words *w, uint32_t op, const struct node *f) {
    struct gap gap = {.value = NONE};
    struct computation c;
    computation_begin(&c, w->m->g, w->m->g->m->ops[op].first_result, NULL);
    while (computation_next(&c))
        gap = gap_from(&c, f);
    if (gap.value == NONE) {
        buf_add(w->out, STR("which is no function of one value with the ops before it"));
        return;
    }
    buf_add(w->out, STR("which makes with the ops before it another function of "));
    say_value(w, gap.value);
    if (gap.size == 0) /* it is written with the op itself, which is found otherwise */
        return;
    buf_printf(w->out, ": %.4g at %.4g, ", gap.is, gap.at);
    if (function_captures(f))
        buf_printf(w->out, "and no constant of theirs is %.*s", (int)f->args[1]->text.n, f->args[1]->text.p);
    else
        buf_printf(w->out, "%.4g expected", gap.expected);
}

struct str reason_root(const struct pattern *p, const struct graph *g, uint32_t op, struct arena *a) {
    const char *names[MAX_EXPECTED + 1];
    uint32_t n = 0;
    struct buf out = {0};
    struct matcher m = {.g = g, .arena = a};
    struct words w = {.m = &m, .out = &out};
    operators_of(p->formula.root, names, &n);
    say_value(&w, g->m->ops[op].first_result);
    buf_add(&out, STR(" is "));
    say_op(&w, op);
    const struct node *function = function_of(p->formula.root);
    bool is = node_is(p->formula.root, (enum op_kind)g->kind[op]);
    buf_add(&out, is ? STR(", ") : STR(""));
    if (is && function)
        say_function(&w, op, function);
    else if (is)
        buf_add(&out, STR("and nothing before it is as expected"));
    else
        say_expected(&w, names, n);
    return buf_take(&out, a);
}

/* "w = softmax(s, dim=-1)": a named part with what it is. */
static void write_part(const struct formula *f, const struct node *n, struct buf *out) {
    if (n->kind == N_NAMED && f->slots[n->slot].name.n) {
        buf_printf(out, "%.*s = ", (int)f->slots[n->slot].name.n, f->slots[n->slot].name.p);
        n = n->args[0];
    }
    formula_print_part(f, n, MAX_PART, out);
}

/* The part of the formula, or the condition, as printed; long ones are cut. */
static struct str part_text(const struct words *w) {
    const struct formula *f = &w->m->pattern->formula;
    struct buf out = {0};
    if (w->s->part)
        number_print(f, NULL, w->s->part, &out);
    else if (w->s->line)
        write_part(f, w->s->line, &out);
    else if (w->s->goal)
        write_part(f, w->s->why == FAILED_OPERATOR ? part_of(w) : w->s->goal->node, &out);
    if (out.n > MAX_PART && w->s->goal && w->s->why == FAILED_OPERATOR) {
        const char *names[MAX_EXPECTED + 1] = {NULL};
        uint32_t n = 0;
        operators_of(part_of(w), names, &n);
        out.n = 0;
        buf_printf(&out, "%s(…)", n ? names[0] : "");
    }
    struct str text = buf_str(&out);
    struct str kept =
        text.n > MAX_PART ? arena_printf(w->m->arena, "%.*s...", MAX_PART - 3, text.p) : arena_str(w->m->arena, text);
    buf_free(&out);
    return kept;
}

uint32_t reason_op(const struct matcher *m, const struct failure *s) {
    uint32_t op, user;
    switch (s->why) {
    case FAILED_OPERATOR:
    case FAILED_RESULT:
    case FAILED_ORDER:
    case FAILED_NUMBER:
    case FAILED_SAME:
    case FAILED_WHERE:
        return s->at == NONE ? NONE : m->g->m->values[s->at].def;
    case FAILED_USER:
        return match_outside_user(m, &op, &user) ? op : NONE;
    case FAILED_LINE:
    case FAILED_REQUIRE:
    case FAILED_UNLESS:
    case FAILED_DECOMPOSED:
    case FAILED_BLOCKED:
    case FAILED_LIMIT:
        return NONE;
    default:
        return s->at;
    }
}

void reason_of(struct matcher *m, const struct failure *s, struct near_miss *out) {
    struct buf text = {0};
    struct words w = {.m = m, .s = s, .out = &text, .hint = kinds[s->why].hint};
    if (kinds[s->why].say)
        kinds[s->why].say(&w);
    buf_add(&text, str_of(kinds[s->why].text));
    out->kind = kinds[s->why].name;
    out->reason = arena_str(m->arena, buf_str(&text));
    out->part = part_text(&w);
    out->hint = w.hint;
    buf_free(&text);
}
