#include "compile/verify/circuit.h"

#include "proof/numeric/interpret.h"

#include <float.h>
#include <math.h>

static const double largest_epsilon = 1e-3, infinite = 1e18; /* less stands for 0, and more for infinity */

/* ---- ops ---- */

static bool is_op(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return c != OP_CONSTANT && c != OP_RETURN && c != OP_STRUCTURE && g->m->ops[op].func == 0 &&
           g->m->ops[op].nresults > 0;
}

/* What no evaluator knows is told before numbers are drawn for what it takes. */
static bool list_ops(struct circuit *c, struct arena *a, struct reason *why) {
    const struct graph *g = &c->graph;
    uint32_t *ops = arena_alloc(a, (g->m->nops + 1) * sizeof *ops), n = 0;
    for (uint32_t op = g->m->funcs[0].first_op; op < g->m->funcs[0].end_op; op++) {
        if (!is_op(g, op))
            continue;
        if (!interpretable((enum op_kind)g->kind[op])) {
            struct str name = g->kind[op] == NO_OPERATOR ? mlir_op_name(g->m, op) : str_of(op_table[g->kind[op]].name);
            *why = (struct reason){arena_printf(a, "no evaluator for %.*s", (int)name.n, name.p), REASON_NO_EVALUATOR};
            return false;
        }
        ops[n++] = op;
    }
    return subgraph_of_match(&(struct match){.graph = g, .ops = ops, .nops = n}, &c->subgraph, why);
}

/* ---- constants that one side has and the other lacks ---- */

/* The largest rounding error of a constant: half a unit of the last place of the narrowest format on its way, and of
 * the seventh digit, which is the last one that the compiler prints. Numbers of few bits are meant exactly: of three in
 * formats of few bits, where a rounded one ends in zeros by chance. An epsilon that is a number of bf16 was rounded to
 * it, whatever its own type is. */
static double rounding_of(struct constant c) {
    enum { PRINTED = 21, OF_BF16 = 8 };
    int exponent, exact = c.bits >= 24 ? 12 : 3;
    double x = frexp(fabs((double)(float)c.value), &exponent); /* it is printed in few digits */
    if (fabs(c.value) <= largest_epsilon && ldexp(x, OF_BF16) == floor(ldexp(x, OF_BF16)) && c.bits > OF_BF16) {
        exact = 3;
        c.bits = OF_BF16;
    }
    if (c.value == 0 || !isfinite(c.value) || ldexp(x, exact) == floor(ldexp(x, exact)))
        return 0;
    return ldexp(1, exponent - 1 - (c.bits < PRINTED ? c.bits : PRINTED));
}

/* An attribute has the reciprocal of a number that is meant exactly, but for a power of 2, as near as f32 has it: a
 * scale that was a divisor. */
static bool has_reciprocal(const struct graph *g, double number) {
    bool found = false;
    for (uint32_t op = g->m->funcs[0].first_op; op < g->m->funcs[0].end_op && !found; op++) {
        const struct attrs *a = graph_attributes(g, op);
        for (uint32_t i = 0; a && i < a->n && !found; i++) {
            int exponent;
            bool fraction = a->at[i].is_number && !a->at[i].is_whole;
            double value = fraction ? a->at[i].number : 0, x = frexp(fabs(value * number), &exponent);
            double off = fmin(2 * x - 1, 1 - x); /* of 1/2 or 1 */
            found = off > 0 && off <= (double)FLT_EPSILON && fabs(value) < infinite;
        }
    }
    return found;
}

static double error_of(const struct graph *g, struct constant c) {
    double error = rounding_of(c);
    return error == 0 && has_reciprocal(g, c.value) ? fabs(c.value) * (double)FLT_EPSILON / 2 : error;
}

static double rounded(struct constant c) {
    int exponent;
    double x = frexp(c.value, &exponent);
    return ldexp(rint(ldexp(x, c.bits)), exponent - c.bits);
}

/* Per value: which of both results are made of it, a bit each. */
static uint8_t *sides_of_values(const struct circuit *c, struct arena *a) {
    const struct graph *g = &c->graph;
    uint8_t *sides = arena_alloc(a, g->m->nvalues + (size_t)1);
    for (int side = 0; side < 2; side++)
        sides[c->result[side]] |= (uint8_t)(1 << side);
    for (uint32_t op = g->m->funcs[0].end_op; op-- > g->m->funcs[0].first_op;) {
        uint8_t of = 0;
        for (uint32_t i = 0; i < g->m->ops[op].nresults; i++)
            of |= sides[g->m->ops[op].first_result + i];
        for (uint32_t i = 0; i < graph_noperands(g, op); i++)
            if (graph_operands(g, op)[i] != NONE)
                sides[graph_operands(g, op)[i]] |= of;
    }
    return sides;
}

/* The value is a constant where ops other than casts take it. */
static bool is_last_constant(const struct graph *g, uint32_t v) {
    uint32_t op = g->m->values[v].def;
    bool last = op != NONE && (graph_class(g, op) == OP_CONSTANT || graph_class(g, op) == OP_CAST) &&
                graph_constant(g, v).known;
    for (uint32_t u = g->first_use[v]; u < g->first_use[v + 1] && last; u++)
        last = graph_class(g, g->uses[u]) != OP_CAST || !graph_constant(g, g->m->ops[g->uses[u]].first_result).known;
    return last;
}

static void add_number(struct circuit *c, double number, uint8_t sides, bool attribute) {
    uint32_t i = 0;
    while (i < c->nnumbers && (c->numbers[i].number != number || c->numbers[i].attribute != attribute))
        i++;
    c->numbers[i].number = number;
    c->numbers[i].attribute = attribute;
    c->numbers[i].sides |= sides;
    c->nnumbers += i == c->nnumbers;
}

static void find_numbers(struct circuit *c, struct arena *a) {
    const struct graph *g = &c->graph;
    const uint8_t *sides = sides_of_values(c, a);
    size_t most = g->m->nvalues + (size_t)1;
    for (uint32_t op = 0; op < g->m->nops; op++)
        most += graph_attributes(g, op) ? graph_attributes(g, op)->n : 0;
    c->numbers = arena_alloc(a, most * sizeof *c->numbers);
    for (uint32_t v = 0; v < g->m->nvalues; v++)
        if (is_last_constant(g, v))
            add_number(c, graph_constant(g, v).value, sides[v], false);
    for (uint32_t i = 0; i < c->subgraph.nops; i++) {
        const struct attrs *all = graph_attributes(g, c->subgraph.ops[i]);
        for (uint32_t k = 0; all && k < all->n; k++)
            if (all->at[k].is_number && !all->at[k].is_whole)
                add_number(c, all->at[k].number, sides[g->m->ops[c->subgraph.ops[i]].first_result], true);
    }
}

static bool is_constant_of_both(const struct circuit *c, double number) {
    bool found = false;
    for (uint32_t i = 0; i < c->nnumbers && !found; i++)
        found = c->numbers[i].number == number && !c->numbers[i].attribute && c->numbers[i].sides == 3;
    return found;
}

bool circuit_in_both(const struct circuit *c, struct constant number) {
    uint8_t sides = 0;
    double error = fmax(fabs(number.value) * ldexp(1, -(number.bits < 22 ? number.bits : 22)), rounding_of(number));
    for (uint32_t i = 0; i < c->nnumbers; i++)
        if (fabs(c->numbers[i].number - number.value) <= error)
            sides |= c->numbers[i].sides;
    return sides == 3;
}

static void find_loose_constants(struct circuit *c, struct arena *a) {
    const struct graph *g = &c->graph;
    struct loose_constant *out = arena_alloc(a, MAX_LOOSE * sizeof *out);
    uint32_t n = 0;
    for (uint32_t v = 0; v < g->m->nvalues && n < MAX_LOOSE; v++) {
        struct constant k = graph_constant(g, v);
        double error = error_of(g, k);
        if (!is_last_constant(g, v) || format_is_integer(graph_dtype(g, v)) || error == 0)
            continue;
        if (!is_constant_of_both(c, k.value))
            out[n++] = (struct loose_constant){v, k.value, error, rounded(k)};
    }
    c->problem.loose = out;
    c->problem.nloose = n;
}

/* ---- circuits ---- */

static bool set_up(struct circuit *c, const struct pattern_set *lowerings, struct arena *a, struct reason *why) {
    const struct graph *g = &c->graph;
    struct eval_context b = {.arena = a};
    struct problem *p = &c->problem;
    *p = (struct problem){.lowerings = lowerings,
                          .program = {.graph = g, .ops = c->subgraph.ops, .nops = c->subgraph.nops},
                          .values = c->result,
                          .nvalues = 2,
                          .outputs = {{0, 1}},
                          .noutputs = 1,
                          .name = "AFTER",
                          .product_op = NONE};
    for (uint32_t i = 0; i < g->m->funcs[0].nargs; i++)
        if (!problem_add_input(p, g->m->funcs[0].first_arg + i, NULL)) {
            *why = (struct reason){STR("too many operands"), REASON_TOO_MANY};
            return false;
        }
    problem_facts(p);
    for (uint32_t i = 0; i < p->ninputs;
         i++) /* what is done to a divisor of 0 is compared, too, where it is no error */
        p->inputs[i].facts.divides &= format_is_integer(graph_dtype(g, p->inputs[i].value));
    find_numbers(c, a);
    find_loose_constants(c, a);
    p->devices = problem_devices(p, &b);
    *why = (struct reason){b.error, b.why};
    return p->devices > 0;
}

bool circuit_of(struct circuit *c, const struct mlir *miter, const struct pattern_set *lowerings, struct arena *a,
                struct reason *why) {
    *c = (struct circuit){.result = {NONE, NONE}};
    graph_build(&c->graph, miter, NULL);
    uint32_t returned = c->graph.return_op[0];
    if (graph_noperands(&c->graph, returned) != 2) {
        *why = (struct reason){.text = STR("small shapes of it have other results")};
        return false;
    }
    memcpy(c->result, graph_operands(&c->graph, returned), sizeof c->result);
    for (uint32_t i = 0; i < miter->funcs[0].nargs && i < MAX_INPUTS; i++)
        c->names[i] = mlir_span(miter, miter->values[i].name);
    return list_ops(c, a, why) && set_up(c, lowerings, a, why);
}

void circuit_free(struct circuit *c) {
    graph_free(&c->graph);
    if (c->resized)
        mlir_free(c->resized);
}

bool circuit_resize(const struct circuit *c, const struct extents *e, const struct payloads *payloads, bool scaled,
                    struct arena *a, struct circuit *out, struct reason *why) {
    struct resize_options how = {.scaled = scaled, .payloads = payloads};
    struct resized w;
    struct mlir *small = arena_alloc(a, sizeof *small);
    const struct mlir *m = c->graph.m;
    bool good = subgraph_resize(&c->subgraph, e, &how, a, &w, why);
    *small = w.ir;
    good = good && circuit_of(out, small, c->problem.lowerings, a, why);
    for (uint32_t i = 0; good && i < small->funcs[0].nargs; i++)
        out->names[i] = mlir_span(m, m->values[c->subgraph.inputs[w.arguments[i]]].name);
    out->resized = small;
    return good;
}
