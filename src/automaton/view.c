/* Which op reads as what; movement may stand before the inner op. */
#include "automaton/view.h"

#include "graph/movement.h"

double number_changed(double x, enum number_change how) {
    return how == NUMBER_NEGATED ? -x : how == NUMBER_INVERTED ? 1 / x : x;
}

/* The op of this kind that the operand is the result of, perhaps moved; NONE: another one is. */
static uint32_t made_by(const struct graph *g, uint32_t op, uint32_t k, enum op_kind kind) {
    uint32_t value = graph_operands(g, op)[k];
    for (int n = 0; n < MAX_CHAIN && value != NONE; n++) {
        uint32_t def = g->m->values[value].def;
        if (def == NONE || g->m->ops[def].func != g->m->ops[op].func)
            return NONE;
        if (g->kind[def] == kind)
            return graph_plain(g, def) ? def : NONE;
        if (!graph_looks_through(g, def))
            return NONE;
        value = graph_through(g, def);
    }
    return NONE;
}

static bool number_of(const struct graph *g, uint32_t op, uint32_t k, double *x) {
    struct constant c = graph_constant(g, graph_operands(g, op)[k]);
    *x = c.value;
    return c.known;
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

/* Operand k is made by an op of kind `inner` of one operand, of which a binary `kind` takes what that is made of. */
static void add_unary(struct view_list *l, enum op_kind kind, uint32_t k, enum op_kind inner) {
    uint32_t def = made_by(l->g, l->op, k, inner);
    if (def != NONE)
        add(l, (struct op_view){kind, def, k, {{l->op, 1 - k, 0}, {def, 0, 0}}, 2});
}

/* Operand k is a constant, of which a binary `kind` takes another number. */
static void add_number(struct view_list *l, enum op_kind kind, uint32_t k, enum number_change change) {
    double x;
    if (number_of(l->g, l->op, k, &x) && (x != 0 || change != NUMBER_INVERTED))
        add(l, (struct op_view){kind, NONE, NONE, {{l->op, 1 - k, 0}, {l->op, k, change}}, 2});
}

/* Operand k is this number: of the other one the op is a unary `kind`. */
static void add_alone(struct view_list *l, enum op_kind kind, uint32_t k, double number) {
    double x;
    if (number_of(l->g, l->op, k, &x) && x == number)
        add(l, (struct op_view){kind, NONE, NONE, {{l->op, 1 - k, 0}}, 1});
}

uint32_t op_views(const struct graph *g, uint32_t op, struct op_view out[MAX_VIEWS]) {
    static const struct {
        enum op_kind kind, as, inverse, alone;
        enum number_change change;
        uint32_t alone_at;
        double number;
    } rows[] = {
        {K_ADD, K_SUBTRACT, K_NEG, K_UNKNOWN, NUMBER_NEGATED, 0, 0},
        {K_SUBTRACT, K_ADD, K_NEG, K_NEG, NUMBER_NEGATED, 0, 0},
        {K_MULTIPLY, K_DIVIDE, K_UNKNOWN, K_NEG, NUMBER_INVERTED, 0, -1}, /* formulas say x * reciprocal(y) by it */
        {K_DIVIDE, K_MULTIPLY, K_RECIPROCAL, K_RECIPROCAL, NUMBER_INVERTED, 0, 1},
    };
    struct view_list l = {g, op, 0, out};
    enum op_kind k = (enum op_kind)g->kind[op];
    bool may = k == K_ADD || k == K_SUBTRACT || k == K_MULTIPLY || k == K_DIVIDE || k == K_NEG;
    if (!may || !graph_plain(g, op) || g->m->ops[op].nresults != 1)
        return 0;
    uint32_t def = k == K_NEG && graph_noperands(g, op) == 1 ? made_by(g, op, 0, K_SUBTRACT) : NONE;
    if (def != NONE)
        add(&l, (struct op_view){K_SUBTRACT, def, 0, {{def, 1, 0}, {def, 0, 0}}, 2});
    for (uint32_t r = 0; r < sizeof rows / sizeof *rows && graph_noperands(g, op) == 2; r++)
        for (uint32_t i = op_is(k, COMMUTES) ? 0 : 1; rows[r].kind == k && i < 2; i++) {
            if (rows[r].inverse != K_UNKNOWN)
                add_unary(&l, rows[r].as, i, rows[r].inverse);
            add_number(&l, rows[r].as, i, rows[r].change);
            if (rows[r].alone != K_UNKNOWN)
                add_alone(&l, rows[r].alone, op_is(k, COMMUTES) ? i : rows[r].alone_at, rows[r].number);
        }
    return l.n;
}

enum op_kind op_kind_alone(const struct graph *g, uint32_t op) {
    struct op_view views[MAX_VIEWS];
    enum op_kind kind = (enum op_kind)g->kind[op];
    for (uint32_t i = op_views(g, op, views); i-- > 0;)
        kind = views[i].n == 1 ? views[i].kind : kind;
    return kind;
}
