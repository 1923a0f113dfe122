/* PDLL: ops, numbers and what is known of one way to write a formula. */
#include <ctype.h>
#include <string.h>

#include "compile/rewrite/cpp.h"
#include "patterns/lang/condition.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."

uint32_t pdll_choose(struct cpp *c, uint32_t of) {
    struct pdll_way *w = c->way;
    if (w->used == MOST_CHOICES || of > UINT8_MAX) {
        w->never = true;
        return 0;
    }
    uint32_t i = w->used++;
    w->taken[i] = i < w->nchoices ? w->taken[i] : 0;
    w->of[i] = (uint8_t)of;
    return w->taken[i];
}

static bool is_unsaid(const struct pdll_way *w, const struct node *n, uint32_t which) {
    if (which > 0 && cpp_is_by_values(n->args[which]))
        return true; /* the pass takes fewer spellings */
    const struct unsaid *u = *w->unsaid;
    while (u && (u->of != n || u->which != which))
        u = u->before;
    return u;
}

enum { NEVER = 10000 };

uint32_t pdll_least_ops(const struct cpp *c, const struct node *n) {
    bool name = n->kind == N_VARIABLE || n->kind == N_NAMED;
    uint32_t ops = n->kind == N_OP, least = NEVER;
    if (name && pdll_forbids(c, n->slot))
        return NEVER;
    if (n->kind == N_NAMED && c->uses[n->slot] > 1) /* it may be counted elsewhere */
        return 0;
    for (uint32_t i = 0; i < n->nargs; i++) {
        uint32_t of_one = n->kind == N_EITHER && is_unsaid(c->way, n, i) ? NEVER : pdll_least_ops(c, n->args[i]);
        ops += of_one;
        least = of_one < least ? of_one : least;
    }
    return n->kind == N_EITHER ? least : ops;
}

/* Whether an alternative can be said, in a way of so few ops. */
static bool is_open(struct cpp *c, const struct node *n, uint32_t which) {
    struct pdll_way *w = c->way;
    if (is_unsaid(w, n, which))
        return false;
    bool fits = w->ops + w->owed + pdll_least_ops(c, n->args[which]) <= w->most_ops;
    w->cut |= !fits;
    return fits;
}

uint32_t pdll_alternative(struct cpp *c, const struct node *n) {
    uint32_t count = 0, taken = 0, i = 0;
    bool cut = c->way->cut;
    for (uint32_t k = 0; k < n->nargs; k++)
        count += is_open(c, n, k);
    c->way->more |= c->way->cut;
    c->way->cut = count ? cut : c->way->cut;
    taken = count ? pdll_choose(c, count) : 0;
    for (; i < n->nargs; i++)
        if (is_open(c, n, i) && taken-- == 0)
            break;
    c->way->cut = i < n->nargs ? cut : c->way->cut;
    if (i == n->nargs && !c->way->cut)
        cpp_cannot(c, "any of several alternatives");
    return i;
}

void pdll_leave_out(struct cpp *c, const struct node *n, uint32_t which) {
    struct unsaid *u = arena_alloc(c->arena, sizeof *u);
    *u = (struct unsaid){n, which, *c->way->unsaid};
    *c->way->unsaid = u;
    c->way->again = true;
}

/* Whether a condition that is to have this truth forbids a name. */
static bool forbids(const struct number *n, bool truth, uint32_t slot) {
    if (n->op == NUM_CALL && n->call == NONE)
        return forbids(n->a, truth, slot);
    if (n->op == NUM_CALL)
        return n->call == CONDITION_present && !truth && n->args[0] == slot;
    if (n->op == NUM_NOT)
        return forbids(n->a, !truth, slot);
    bool all = n->op == (truth ? NUM_AND : NUM_OR);
    return all && (forbids(n->a, truth, slot) || forbids(n->b, truth, slot));
}

bool pdll_forbids(const struct cpp *c, uint32_t slot) {
    const struct pattern *p = c->pattern;
    bool does = false;
    for (uint32_t i = 0; i < p->nrequire; i++)
        does |= forbids(p->require[i], true, slot);
    for (uint32_t i = 0; i < p->nwhere; i++)
        does |= forbids(p->where[i], true, slot);
    for (uint32_t i = 0; i < p->nunless; i++)
        does |= forbids(p->unless[i], false, slot);
    return does;
}

bool pdll_has(const struct cpp *c, uint32_t slot) {
    return slot != NONE && (c->is_variable[slot] || c->line_of[slot]);
}

/* The slot of the match that a slot of the formula is; NONE: it has none. */
static uint32_t slot_of(const struct cpp *c, uint32_t slot) {
    return c->formula == c->match || slot == NONE ? slot : formula_slot(c->match, c->formula->slot_name[slot]);
}

static int call_known(const struct cpp *c, const struct number *n) {
    if (n->call == NONE)
        return pdll_known(c, n->a);
    if (n->call == CONDITION_present)
        return pdll_has(c, slot_of(c, n->args[0]));
    for (uint32_t i = 0; i < n->nargs; i++)
        if (!pdll_has(c, slot_of(c, n->args[i])))
            return n->call != CONDITION_used_by;
    return -1;
}

/* Whether a number speaks of a name that is not there. */
static bool lacks(const struct cpp *c, const struct number *n) {
    bool of_slot = n && (n->op == NUM_EXTENT || n->op == NUM_VALUE_OF || n->op == NUM_MEASURE) && n->slot != NONE;
    return n && ((of_slot && !pdll_has(c, slot_of(c, n->slot))) || lacks(c, n->a) || lacks(c, n->b));
}

int pdll_known(const struct cpp *c, const struct number *n) {
    int a, b, stops = n->op == NUM_OR;
    switch (n->op) {
    case NUM_CALL:
        return call_known(c, n);
    case NUM_NOT:
        a = pdll_known(c, n->a);
        return a < 0 ? a : !a;
    case NUM_AND:
    case NUM_OR:
        a = pdll_known(c, n->a);
        b = pdll_known(c, n->b);
        return a == stops || b == stops ? stops : a < 0 || b < 0 ? -1 : !stops;
    case NUM_EQ:
    case NUM_NE:
    case NUM_LT:
    case NUM_LE:
    case NUM_GT:
    case NUM_GE:
        return lacks(c, n) ? n->op == NUM_NE : -1; /* of a number that is none */
    default:
        return -1;
    }
}

/* The next value that an expression speaks of; empty: there is no more. */
static struct str next_value(struct str *x) {
    for (size_t n; x->n; *x = (struct str){x->p + n, x->n - n}) {
        n = x->p[0] == '\'' ? strcspn(x->p + 1, "'") + 2 : strspn(x->p, NAME_CHARACTERS);
        struct str one = {x->p, n};
        bool name = n && n < x->n && isalpha((unsigned char)x->p[0]) && x->p[n] != '(' && !str_is(one, "INFINITY");
        n += !n;
        if (!name)
            continue;
        *x = (struct str){x->p + n, x->n - n};
        return one;
    }
    return STR("");
}

/* An expression as an attribute, and the values that it speaks of, in the order in which it does: their number. */
static uint32_t expression(struct cpp *c, struct str x, struct str *attribute, struct str *values) {
    struct str_list seen = {0};
    struct str rest = x, one;
    *attribute = arena_printf(c->arena, "attr<\"\\\"%s\\\"\">", x.p);
    *values = STR("");
    while ((one = next_value(&rest)).n)
        if (cpp_add_new(&seen, one, c->arena))
            *values = arena_printf(c->arena, "%s%s%.*s", values->p, values->n ? ", " : "", (int)one.n, one.p);
    return seen.n;
}

struct str pdll_holds(struct cpp *c, struct str x) {
    struct str attribute, values;
    uint32_t n = expression(c, x, &attribute, &values);
    enum { MOST_VALUES = 8 }; /* of Fusion.pdll */
    c->way->unasked = n > MOST_VALUES ? x : c->way->unasked;
    return arena_printf(c->arena, "Holds%u(%s%s%s)", n, attribute.p, n ? ", " : "", values.p);
}

struct str pdll_asked(struct cpp *c, struct str x) {
    struct str attribute, values;
    expression(c, x, &attribute, &values);
    return arena_printf(c->arena, "%s, (%s)", attribute.p, values.p);
}

struct str pdll_op_name(struct cpp *c, enum op_kind k) {
    struct str one = arena_str(c->arena, cpp_spelling(k));
    return one.n ? one : cpp_cannot(c, "TTIR has no op %s", op_table[k].name);
}

struct str pdll_frame(const struct cpp *c, uint32_t slot) {
    uint32_t at = slot_of(c, slot);
    bool there = slot == NONE || pdll_has(c, at);
    uint32_t frame = slot == NONE ? c->way->frame : there ? c->way->frame_of[at] : 0;
    struct str text = c->way->frames[frame];
    return !there ? STR("") : text.n ? text : arena_printf(c->arena, "%c%c", PDLL_FRAME, 'A' + (int)frame);
}

void pdll_test(struct cpp *c, struct str test) {
    c->way->tests = arena_printf(c->arena, "%s%s;\n", c->way->tests.n ? c->way->tests.p : "", test.p);
}

void pdll_settle(struct cpp *c) {
    struct str text = STR("");
    for (struct str rest = c->way->tests; rest.n;) {
        struct str before = str_part(&rest, PDLL_FRAME);
        text = arena_printf(c->arena, "%s%.*s%s", text.p, (int)before.n, before.p,
                            rest.n ? c->way->frames[rest.p[0] - 'A'].p : "");
        rest = rest.n ? (struct str){rest.p + 1, rest.n - 1} : rest;
    }
    c->way->tests = STR("");
    for (struct str rest = text; rest.n;) {
        struct str line = str_line(&rest), x = line, before = str_part(&x, PDLL_ASKED),
                   asked = str_part(&x, PDLL_ASKED);
        asked = asked.n ? pdll_holds(c, arena_str(c->arena, asked)) : STR("");
        c->way->tests =
            arena_printf(c->arena, "%s%.*s%s%.*s\n", c->way->tests.p, (int)before.n, before.p, asked.p, (int)x.n, x.p);
    }
}

struct str pdll_number(struct cpp *c, struct str number) {
    struct str name = arena_printf(c->arena, "number%u", ++c->way->numbers);
    bool literal = !strchr(number.p, '(');
    const char *test = literal ? "IsNumber(%s, attr<\"\\\"%s\\\"\">)" : "IsNumber(%s, %s)";
    struct str text = arena_printf(c->arena, test, name.p, number.p);
    pdll_test(c, literal ? text : arena_printf(c->arena, "%c%s%c", PDLL_ASKED, text.p, PDLL_ASKED));
    return name;
}

bool pdll_has_own_axes(enum op_kind k) {
    enum op_class class = op_table[k].class;
    return class != OP_ELTWISE && class != OP_REDUCE && class != OP_AXISWISE && class != OP_CAST;
}

/* clamp_scalar(x) {min = ..., max = ...}: of two numbers. */
static struct str clamp(struct cpp *c, const struct node *n, struct str args) {
    if (n->args[1]->kind != N_NUMBER || n->args[2]->kind != N_NUMBER)
        return cpp_cannot(c, "bounds of a clamp that are no numbers of the formula");
    return arena_printf(c->arena, "op<ttir.clamp_scalar>(%s)", args.p);
}

/* The flags of a product. */
static struct str product(struct cpp *c, const struct node *n, struct str args) {
    static const char *const flag[] = {"false", "true"};
    bool a = n->args[0]->kind == N_TRANSPOSED, b = n->args[1]->kind == N_TRANSPOSED;
    return arena_printf(c->arena, "op<ttir.matmul>(%s) {transpose_a = attr<\"%s\">, transpose_b = attr<\"%s\">}",
                        args.p, flag[a], flag[b]);
}

struct str pdll_op(struct cpp *c, const struct node *n, struct str args) {
    enum op_class class = op_table[n->op].class;
    struct str name = pdll_op_name(c, n->op);
    c->way->cut |= ++c->way->ops > c->way->most_ops;
    if (!name.n || c->way->cut)
        return STR("");
    c->way->window = op_convolves(n->op) ? args : c->way->window;
    if (cpp_has_numbers(n->op))
        return clamp(c, n, args);
    if (class == OP_CONTRACT && n->nargs == 2)
        return product(c, n, args);
    if (class != OP_ELTWISE && class != OP_REDUCE && class != OP_AXISWISE && !op_convolves(n->op))
        return cpp_cannot(c, "how elements move in %s", op_table[n->op].name);
    return arena_printf(c->arena, "op<%s>(%s)", name.p, args.p);
}

void pdll_test_op(struct cpp *c, const struct node *n, struct str value) {
    enum op_class class = op_table[n->op].class;
    if (class == OP_REDUCE || class == OP_AXISWISE) {
        struct str dim = n->dim.given ? arena_printf(c->arena, "attr<\"%d\">", n->dim.axis) : STR("attr<\"unit\">");
        pdll_test(c, arena_printf(c->arena, "WorksAlong(%s, %s)", value.p, dim.p));
        c->way->axis = n->dim.given ? arena_printf(c->arena, "%d", n->dim.axis) : STR("");
    }
    if (op_convolves(n->op))
        pdll_test(c, arena_printf(c->arena, "HasChannelsLast(%s)", value.p));
    if (class == OP_CONTRACT || op_convolves(n->op))
        c->way->whole = value;
}
