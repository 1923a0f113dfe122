/* Which op reads as what. */
#include "search/automaton/view.h"

#include "ir/graph/movement.h"

double number_changed(double x, enum number_change how) {
    return how == NUMBER_NEGATED ? -x : how == NUMBER_INVERTED ? 1 / x : x;
}

struct view_list {
    const struct graph *g;
    uint32_t op, n;
    struct op_view *out;
};

static void add(struct view_list *l, struct op_view v) {
    if (l->n < MAX_VIEWS)
        l->out[l->n++] = v;
}

typedef bool made_so(const struct graph *g, uint32_t op, enum op_kind kind);

static bool is_of_kind(const struct graph *g, uint32_t op, enum op_kind kind) {
    return g->kind[op] == kind && graph_plain(g, op);
}

static bool is_negation(const struct graph *g, uint32_t op, enum op_kind kind) {
    (void)kind;
    return graph_negated(g, op) != NONE && graph_plain(g, op);
}

/* The op of this sort that the operand is the result of, perhaps moved; NONE: another one is. */
static uint32_t made_by(const struct graph *g, uint32_t op, uint32_t k, made_so *so, enum op_kind kind) {
    uint32_t value = graph_operands(g, op)[k];
    for (int n = 0; n < MAX_CHAIN && value != NONE; n++) {
        uint32_t def = g->m->values[value].def;
        if (def == NONE || g->m->ops[def].func != g->m->ops[op].func || !graph_looks_through(g, def))
            return def != NONE && so(g, def, kind) ? def : NONE;
        value = graph_through(g, def);
    }
    return NONE;
}

static bool number_of(const struct graph *g, uint32_t op, uint32_t k, double *x) {
    uint32_t value = graph_operands(g, op)[k];
    struct constant c = {false, 0, 0};
    if (value != NONE)
        c = graph_constant(g, value);
    *x = c.value;
    return c.known;
}

/* Of the other operand and what operand k is made of by an inverse of one operand: `inverse` or a negation. */
static void add_inverse(struct view_list *l, enum op_kind kind, uint32_t k, enum op_kind inverse) {
    bool negates = inverse == K_NEG;
    uint32_t def = made_by(l->g, l->op, k, negates ? is_negation : is_of_kind, inverse);
    if (def != NONE)
        add(l, (struct op_view){.kind = kind,
                                .inner = {{def, l->op, k}},
                                .ninner = 1,
                                .operands = {{l->op, 1 - k, 0}, {def, negates ? graph_negated(l->g, def) : 0, 0}},
                                .n = 2});
}

/* Operand k is a constant, of which `kind` takes another number. */
static void add_number(struct view_list *l, enum op_kind kind, uint32_t k, enum number_change change) {
    double x;
    if (number_of(l->g, l->op, k, &x) && (x != 0 || change != NUMBER_INVERTED))
        add(l, (struct op_view){.kind = kind, .operands = {{l->op, 1 - k, 0}, {l->op, k, change}}, .n = 2});
}

static void add_alone(struct view_list *l, enum op_kind kind, uint32_t k) {
    add(l, (struct op_view){.kind = kind, .operands = {{l->op, k, 0}}, .n = 1});
}

/* The operator that undoes a sum or a product. */
static enum op_kind inverse_of(enum op_kind family) {
    return family == K_ADD ? K_SUBTRACT : K_DIVIDE;
}

static bool is_of_family(const struct graph *g, uint32_t op, enum op_kind family) {
    return (g->kind[op] == family || g->kind[op] == inverse_of(family)) && graph_plain(g, op) &&
           graph_noperands(g, op) == 2 && graph_nuses(g, g->m->ops[op].first_result) == 1;
}

/* The operand is taken away, or divided by. */
static bool is_inverted(const struct graph *g, uint32_t op, uint32_t k, enum op_kind family) {
    return g->kind[op] != family && k == 1;
}

/* A sum of three terms with another one outside: x + (y + z) as (x + y) + z. So of products, and of both with their
 * inverses. */
static void add_regrouped(struct view_list *l, enum op_kind family, uint32_t at) {
    const struct graph *g = l->g;
    uint32_t def = made_by(g, l->op, at, is_of_family, family);
    for (uint32_t k = 0; k < 2 && def != NONE; k++) {
        bool whole = is_inverted(g, l->op, at, family), outside = whole != is_inverted(g, def, k, family),
             first = is_inverted(g, l->op, 1 - at, family), second = whole != is_inverted(g, def, 1 - k, family);
        struct viewed_operand x = {l->op, 1 - at, 0}, y = {def, 1 - k, 0}, group = {l->op, at, 0}, z = {def, k, 0};
        bool both = first && second;
        add(l, (struct op_view){.kind = outside || both ? inverse_of(family) : family,
                                .inner = {{def, l->op, at}},
                                .ninner = 1,
                                .operands = {both ? z : group, both ? group : z},
                                .n = 2,
                                .grouped = first == second ? family : inverse_of(family),
                                .at = both,
                                .in_place = def,
                                .group = {first && !both ? y : x, first && !both ? x : y}});
    }
}

/* A sum, difference, product or quotient as what is inverse to it, or of its terms in another order. */
static void add_inverses(struct view_list *l, enum op_kind k) {
    static const struct {
        enum op_kind kind, as, inverse;
        enum number_change change;
    } rows[] = {
        {K_ADD, K_SUBTRACT, K_NEG, NUMBER_NEGATED},
        {K_SUBTRACT, K_ADD, K_NEG, NUMBER_NEGATED},
        {K_MULTIPLY, K_DIVIDE, K_RECIPROCAL, NUMBER_INVERTED},
        {K_DIVIDE, K_MULTIPLY, K_RECIPROCAL, NUMBER_INVERTED},
    };
    for (uint32_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (uint32_t i = op_is(k, COMMUTES) ? 0 : 1; rows[r].kind == k && i < 2; i++) {
            add_inverse(l, rows[r].as, i, rows[r].inverse);
            add_number(l, rows[r].as, i, rows[r].change);
        }
    double x;
    if (k == K_DIVIDE && number_of(l->g, l->op, 0, &x) && x == 1)
        add_alone(l, K_RECIPROCAL, 1);
    for (uint32_t i = 0; i < 2; i++)
        if (k == K_ADD || k == K_SUBTRACT)
            add_regrouped(l, K_ADD, i);
        else if (k == K_MULTIPLY || k == K_DIVIDE)
            add_regrouped(l, K_MULTIPLY, i);
}

/* The extreme of two numbers that `inner` takes the negated other one of: -min(-x, -y). */
static void add_extreme(struct view_list *l, uint32_t at, enum op_kind inner, enum op_kind kind) {
    uint32_t def = made_by(l->g, l->op, at, is_of_kind, inner);
    struct op_view v = {.kind = kind, .inner = {{def, l->op, at}}, .ninner = 1, .n = 2};
    double x;
    for (uint32_t k = 0; k < 2 && def != NONE; k++) {
        uint32_t negation = made_by(l->g, def, k, is_negation, K_NEG);
        if (number_of(l->g, def, k, &x)) {
            v.operands[k] = (struct viewed_operand){def, k, NUMBER_NEGATED};
        } else if (negation != NONE) {
            v.inner[v.ninner++] = (struct inner_op){negation, def, k};
            v.operands[k] = (struct viewed_operand){negation, graph_negated(l->g, negation), 0};
        } else {
            def = NONE;
        }
    }
    if (def != NONE)
        add(l, v);
}

/* -(x + -y) as y - x */
static void add_negated_sum(struct view_list *l, uint32_t at) {
    uint32_t def = made_by(l->g, l->op, at, is_of_kind, K_ADD);
    for (uint32_t k = 0; k < 2 && def != NONE; k++) {
        uint32_t negation = made_by(l->g, def, k, is_negation, K_NEG);
        if (negation != NONE)
            add(l, (struct op_view){.kind = K_SUBTRACT,
                                    .inner = {{def, l->op, at}, {negation, def, k}},
                                    .ninner = 2,
                                    .operands = {{negation, graph_negated(l->g, negation), 0}, {def, 1 - k, 0}},
                                    .n = 2});
    }
}

/* -((x - y) * z) as (y - x) * z */
static void add_negated_product(struct view_list *l, uint32_t at) {
    uint32_t def = made_by(l->g, l->op, at, is_of_family, K_MULTIPLY);
    for (uint32_t k = 0; k < 2 && def != NONE; k++) {
        uint32_t difference = made_by(l->g, def, k, is_of_kind, K_SUBTRACT);
        if (difference != NONE)
            add(l, (struct op_view){.kind = (enum op_kind)l->g->kind[def],
                                    .inner = {{def, l->op, at}, {difference, def, k}},
                                    .ninner = 2,
                                    .operands = {{def, 0, 0}, {def, 1, 0}},
                                    .n = 2,
                                    .grouped = K_SUBTRACT,
                                    .at = k,
                                    .in_place = difference,
                                    .group = {{difference, 1, 0}, {difference, 0, 0}}});
    }
}

static void add_negation(struct view_list *l, enum op_kind k, uint32_t at) {
    uint32_t def = made_by(l->g, l->op, at, is_of_kind, K_SUBTRACT);
    struct op_view v = {.kind = K_SUBTRACT, .inner = {{def, l->op, at}}, .ninner = 1, .n = 2};
    double x;
    if (k != K_NEG)
        add_alone(l, K_NEG, at);
    if (def != NONE) {
        v.operands[0] = (struct viewed_operand){def, 1, 0};
        v.operands[1] = (struct viewed_operand){def, 0, 0};
        add(l, v);
    }
    if (def != NONE && number_of(l->g, def, 0, &x)) { /* -(2 - x) as x + -2 */
        v.kind = K_ADD;
        v.operands[1].change = NUMBER_NEGATED;
        add(l, v);
    }
    add_extreme(l, at, K_MINIMUM, K_MAXIMUM);
    add_extreme(l, at, K_MAXIMUM, K_MINIMUM);
    add_negated_sum(l, at);
    add_negated_product(l, at);
}

/* One value, or one number. */
static bool are_same(const struct graph *g, uint32_t a, uint32_t i, uint32_t b, uint32_t j) {
    double x, y;
    return graph_operands(g, a)[i] == graph_operands(g, b)[j] ||
           (number_of(g, a, i, &x) && number_of(g, b, j, &y) && x == y);
}

/* The comparison that a choice is made by, each element where it is, or moved back there. */
static uint32_t comparison_of(const struct graph *g, uint32_t op, enum op_kind kind) {
    uint32_t value = graph_operands(g, op)[0], n = 1, def = made_by(g, op, 0, is_of_kind, kind);
    struct link links[MAX_CHAIN];
    struct imap all;
    if (def == NONE || g->m->values[value].def == def)
        return def;
    imap_identity(&all, 0, graph_numel(g, value));
    n = movement_chain(g, value, &all, links, MAX_CHAIN);
    return g->m->values[links[n - 1].value].def == def && imap_equal(&links[n - 1].map, &all) ? def : NONE;
}

/* where(x > y, x, y) */
static void add_choice(struct view_list *l) {
    static const struct {
        enum op_kind comparison, kind, swapped;
    } rows[] = {{K_GT, K_MAXIMUM, K_MINIMUM},
                {K_GE, K_MAXIMUM, K_MINIMUM},
                {K_LT, K_MINIMUM, K_MAXIMUM},
                {K_LE, K_MINIMUM, K_MAXIMUM}};
    const struct graph *g = l->g;
    for (uint32_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        uint32_t def = comparison_of(g, l->op, rows[r].comparison);
        for (uint32_t s = 0; s < 2 && def != NONE; s++)
            if (are_same(g, def, 0, l->op, 1 + s) && are_same(g, def, 1, l->op, 2 - s)) {
                add(l, (struct op_view){.kind = s ? rows[r].swapped : rows[r].kind,
                                        .inner = {{def, l->op, 0}},
                                        .ninner = 1,
                                        .operands = {{l->op, 1, 0}, {l->op, 2, 0}},
                                        .n = 2});
                return;
            }
    }
}

uint32_t op_views(const struct graph *g, uint32_t op, struct op_view out[MAX_VIEWS]) {
    struct view_list l = {g, op, 0, out};
    enum op_kind k = (enum op_kind)g->kind[op];
    uint32_t n = graph_noperands(g, op), negated = graph_negated(g, op);
    if (graph_class(g, op) != OP_ELTWISE || !graph_plain(g, op) || g->m->ops[op].nresults != 1)
        return 0;
    if (n == 2)
        add_inverses(&l, k);
    if (negated != NONE)
        add_negation(&l, k, negated);
    if (k == K_WHERE && n == 3 && graph_operands(g, op)[0] != NONE)
        add_choice(&l);
    return l.n;
}

enum op_kind op_kind_alone(const struct graph *g, uint32_t op) {
    struct op_view views[MAX_VIEWS];
    enum op_kind kind = (enum op_kind)g->kind[op];
    for (uint32_t i = op_views(g, op, views); i-- > 0;)
        kind = views[i].n == 1 ? views[i].kind : kind;
    return kind;
}
