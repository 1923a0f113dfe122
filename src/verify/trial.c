#include "verify/trial.h"

#include <math.h>

#include "verify/mesh.h"

/* As those of the prover (prove/trials.c). */
static const double tolerance = 1e-9, floor_of_largest = 1e-3;

enum { MAX_CONSTANTS = 64 };

/* ---- circuits ---- */

static bool is_op(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return c != OP_CONSTANT && c != OP_RETURN && c != OP_STRUCTURE && g->m->ops[op].func == 0 &&
           g->m->ops[op].nresults > 0;
}

static bool list_ops(struct circuit *c, struct arena *a, struct str *why) {
    const struct graph *g = &c->module.graph;
    uint32_t *ops = arena_alloc(a, (g->m->nops + 1) * sizeof *ops), n = 0;
    for (uint32_t op = g->m->funcs[0].first_op; op < g->m->funcs[0].end_op; op++)
        if (is_op(g, op))
            ops[n++] = op;
    c->match = (struct match){.graph = g, .ops = ops, .nops = n, .func = 0, .root = n ? ops[n - 1] : NONE};
    return subgraph_of_match(&c->match, &c->subgraph, why);
}

/* What BEFORE promises of equal elements: their order where a sort is stable; where indices are used for more than to
 * be moved, whatever it does; else that an index is that of an equal element. */
static void set_equals(struct circuit *c, struct arena *a) {
    const struct graph *g = c->reference.match->graph;
    uint32_t *stack = arena_alloc(a, (g->m->nvalues + (size_t)1) * sizeof *stack), n = 0;
    bool *seen = arena_alloc(a, g->m->nvalues + (size_t)1), stable = false, shown = false;
    struct str text;
    for (stack[n++] = c->result[0]; n > 0;) {
        uint32_t op = g->m->values[stack[--n]].def;
        for (uint32_t i = 0; op != NONE && i < graph_noperands(g, op); i++) {
            uint32_t v = graph_operands(g, op)[i];
            if (v != NONE && !seen[v]) {
                seen[v] = true;
                stack[n++] = v;
            }
        }
        if (op != NONE && g->kind[op] == K_ARGMAX)
            shown |= reference_takes(&c->reference, g->m->ops[op].first_result);
        if (op == NONE || !op_is((enum op_kind)g->kind[op], SORTS))
            continue;
        stable |= mlir_attr(g->m, op, "stable", &text) && str_eq(text, STR("true"));
        shown |= g->m->ops[op].nresults > 1 && reference_takes(&c->reference, g->m->ops[op].first_result + 1);
    }
    c->nequals = stable ? 2 : 1;
    c->equals[0] = stable || shown ? EQUALS_FIRST : EQUALS_POINTED;
    c->equals[1] = EQUALS_LAST;
}

static bool set_up(struct circuit *c, const struct pattern_set *lowerings, struct arena *a, struct str *why) {
    const struct graph *g = &c->module.graph;
    struct reference *r = &c->reference;
    *r = (struct reference){.set = lowerings, .match = &c->match, .arena = a};
    if (c->match.nops > MAX_REFERENCE_OPS) {
        *why = STR("too many ops");
        return false;
    }
    for (uint32_t i = 0; i < c->match.nops; i++) {
        r->ops[r->nops++] = c->match.ops[i];
        r->sorts |= op_is((enum op_kind)g->kind[c->match.ops[i]], SORTS);
    }
    for (uint32_t i = 0; i < g->m->funcs[0].nargs; i++) {
        if (r->ninputs == MAX_INPUTS) {
            *why = STR("too many operands");
            return false;
        }
        r->inputs[r->ninputs++] = (struct proof_input){.value = g->m->funcs[0].first_arg + i};
    }
    for (uint32_t i = 0; i < r->ninputs; i++) {
        struct proof_input *in = &r->inputs[i];
        in->predicate = predicate_use_of(r, in->value);
        in->mask_sign = mask_sign_of(r, in->value);
        in->indices = indices_of_input(r, in->value);
    }
    r->thresholds = thresholds_of(r);
    set_equals(c, a);
    return true;
}

bool circuit_read(struct circuit *c, struct str text, const struct pattern_set *lowerings, struct arena *a,
                  struct str *why) {
    *c = (struct circuit){.result = {NONE, NONE}};
    bool good = parsed_module_read(&c->module, text, a);
    const struct graph *g = &c->module.graph;
    uint32_t end = good ? g->return_op[0] : NONE;
    if (end == NONE || graph_noperands(g, end) != 2) {
        *why = STR("the region has no text that can be read");
        return false;
    }
    memcpy(c->result, graph_operands(g, end), sizeof c->result);
    for (uint32_t i = 0; i < MAX_INPUTS; i++)
        c->argument[i] = i;
    return list_ops(c, a, why) && set_up(c, lowerings, a, why);
}

void circuit_free(struct circuit *c) {
    parsed_module_free(&c->module);
}

bool circuit_resize(const struct circuit *c, const struct extents *e, const struct payloads *payloads, bool scale,
                    struct arena *a, struct circuit *out, struct str *why) {
    struct print_options how = {.scale_constants = scale, .payloads = payloads};
    struct printed_module w;
    const struct mlir *m = c->module.graph.m;
    *out = (struct circuit){.result = {NONE, NONE}};
    if (!subgraph_print(&c->subgraph, e, &how, a, &w, why))
        return false;
    if (!parsed_module_read(&out->module, w.text, a)) {
        *why = STR("its ops do not hold together in other shapes");
        return false;
    }
    const struct mlir *small = out->module.graph.m;
    for (uint32_t i = 0; i < c->subgraph.nops; i++)
        for (int side = 0; side < 2; side++)
            if (c->subgraph.ops[i] == m->values[c->result[side]].def)
                out->result[side] = small->ops[small->funcs[0].first_op + w.line[i]].first_result;
    if (out->result[0] == NONE || out->result[1] == NONE) {
        *why = STR("a result is lost");
        return false;
    }
    for (uint32_t i = 0; i < small->funcs[0].nargs && i < MAX_INPUTS; i++) {
        struct str name = mlir_span(small, small->values[small->funcs[0].first_arg + i].name);
        int64_t input = 0; /* "%a3": the fourth input of the subgraph */
        if (name.n > 2 && mlir_int((struct str){name.p + 2, name.n - 2}, &input) && input < c->subgraph.ninputs)
            out->argument[i] = c->subgraph.inputs[input] - m->funcs[0].first_arg;
    }
    return list_ops(out, a, why) && set_up(out, c->reference.set, a, why);
}

/* ---- numbers ---- */

/* Rows of negative numbers only are rare among random ones: every second set of positive numbers is negated. */
static bool negate(const struct circuit *c, struct eval_context *b, struct given *given) {
    for (uint32_t i = 0; i < c->reference.ninputs; i++) {
        const struct proof_input *in = &c->reference.inputs[i];
        if (in->mask_sign || in->predicate || format_is_integer(graph_dtype(&c->module.graph, in->value)))
            continue;
        struct tensor *t = tensor_copy(b, given[i].tensor);
        for (int64_t k = 0; t && k < t->n; k++)
            t->x[k] = -t->x[k];
        given[i].tensor = t;
        if (!t)
            return false;
    }
    return true;
}

bool circuit_fill(const struct circuit *c, enum trial trial, uint64_t seed, struct eval_context *b,
                  struct given given[MAX_INPUTS]) {
    if (!trial_differs(&c->reference, trial))
        return false;
    struct device_run *run = arena_alloc(b->arena, sizeof *run);
    *run = (struct device_run){.ref = &c->reference, .eval = *b, .seed = seed};
    bool good = numbers_make(run, run, trial, NONE);
    memcpy(given, run->given, c->reference.ninputs * sizeof *given);
    return good && (trial != TRIAL_POSITIVE || seed % 2 == 0 || negate(c, b, given));
}

/* ---- evaluation ---- */

/* A constant that one side has and the other lacks: it may be the rounded result of what the other computes. */
struct constant_at {
    uint32_t value;
    double error; /* of rounding, absolute */
};

/* The largest rounding error of a constant: half a unit of the last place of the narrowest format on its way, and of
 * the seventh digit, which is the last one that the compiler prints. Numbers of few bits are meant exactly: of three in
 * formats of few bits, where a rounded one ends in zeros by chance. */
static double rounding_of(struct constant c) {
    enum { PRINTED = 21 };
    int exponent, exact = c.bits >= 24 ? 12 : 3;
    double x = frexp(fabs(c.value), &exponent);
    if (c.value == 0 || !isfinite(c.value) || ldexp(x, exact) == floor(ldexp(x, exact)))
        return 0;
    return ldexp(1, exponent - 1 - (c.bits < PRINTED ? c.bits : PRINTED));
}

/* A number that some op of each side takes, by side: a bit each. */
struct number_of_sides {
    double number;
    uint8_t sides;
};

/* Per value: which of both results are made of it, a bit each. */
static uint8_t *sides_of_values(const struct circuit *c, struct arena *a) {
    const struct graph *g = &c->module.graph;
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

static uint32_t find_loose_constants(const struct circuit *c, struct arena *a, struct constant_at *out) {
    const struct graph *g = &c->module.graph;
    const uint8_t *sides = sides_of_values(c, a);
    struct number_of_sides *all = arena_alloc(a, (g->m->nvalues + (size_t)1) * sizeof *all);
    uint32_t nall = 0, n = 0;
    for (uint32_t v = 0; v < g->m->nvalues; v++) {
        uint32_t i = 0;
        if (!is_last_constant(g, v))
            continue;
        while (i < nall && all[i].number != graph_constant(g, v).value)
            i++;
        all[i].number = graph_constant(g, v).value;
        all[i].sides |= sides[v];
        nall += i == nall;
    }
    for (uint32_t v = 0; v < g->m->nvalues && n < MAX_CONSTANTS; v++) {
        struct constant k = graph_constant(g, v);
        uint32_t i = 0;
        if (!is_last_constant(g, v) || format_is_integer(graph_dtype(g, v)) || rounding_of(k) == 0)
            continue;
        while (all[i].number != k.value)
            i++;
        if (all[i].sides != 3)
            out[n++] = (struct constant_at){v, rounding_of(k)};
    }
    return n;
}

bool circuit_evaluate(const struct circuit *c, const struct given *given, uint32_t n, struct evaluation_mode how,
                      struct arena *a, const struct tensor *out[2], struct str *why) {
    struct device_lockstep *l = arena_alloc(a, sizeof *l);
    struct eval_context b = {.arena = a};
    const struct tensor *last[2];
    uint32_t devices = devices_of_circuit(c, why);
    if (devices == 0)
        return false;
    lockstep_begin(l, c, devices, given, n, how, a);
    if (!lockstep_evaluate(l, 0, out, why) || (devices > 1 && !lockstep_evaluate(l, devices - 1, last, why)))
        return false;
    for (int side = 0; side < 2 && devices > 1; side++) {
        const struct tensor *both[] = {out[side], last[side]};
        struct shape one = {1, {out[side]->n}};
        both[0] = tensor_reshape(&b, both[0], &one);
        both[1] = both[0] ? tensor_reshape(&b, both[1], &one) : NULL;
        if (!both[1] || !(out[side] = tensor_concat(&b, both, 2, 0))) {
            *why = b.error;
            return false;
        }
    }
    return true;
}

/* Adds to `slack` by how much each result changes when each loose constant is rounded the other way. */
static void add_slack(const struct circuit *c, const struct given *given, enum equals equals, struct arena *a,
                      const struct tensor *const results[2], double *slack) {
    struct constant_at constants[MAX_CONSTANTS];
    uint32_t nconstants = find_loose_constants(c, a, constants), n = c->reference.ninputs;
    struct given *more = arena_alloc(a, (n + 1) * sizeof *more);
    memcpy(more, given, n * sizeof *more);
    for (uint32_t i = 0; i < nconstants; i++) {
        struct eval_context b = {.arena = a};
        struct shape s;
        const struct tensor *moved[2];
        struct str why;
        if (!shape_in_graph(&c->module.graph, constants[i].value, &s))
            continue;
        struct tensor *t = tensor_new(&b, &s);
        for (int64_t k = 0; t && k < t->n; k++)
            t->x[k] = graph_constant(&c->module.graph, constants[i].value).value + constants[i].error;
        more[n] = (struct given){constants[i].value, t};
        if (!t || !circuit_evaluate(c, more, n + 1, (struct evaluation_mode){.equals = equals}, a, moved, &why))
            continue;
        for (int side = 0; side < 2; side++)
            for (int64_t k = 0; k < moved[side]->n && moved[side]->n == results[side]->n; k++) {
                double d = fabs(moved[side]->x[k] - results[side]->x[k]);
                slack[k] += isfinite(d) ? 1.1 * d : 0;
            }
    }
}

/* Elements that BEFORE does not make a number are not compared. */
static double error_at(double p, double q, double scale) {
    if (isnan(p) || p == q)
        return 0;
    return isfinite(p) && isfinite(q) ? fabs(p - q) / scale : INFINITY;
}

struct comparison circuit_compare(const struct circuit *c, const struct given *given, enum equals equals,
                                  struct arena *a) {
    const struct tensor *t[2];
    struct comparison o = {.at = -1};
    double largest = 0, worst = tolerance, *slack = NULL;
    o.evaluated =
        circuit_evaluate(c, given, c->reference.ninputs, (struct evaluation_mode){.equals = equals}, a, t, &o.why);
    if (!o.evaluated)
        return o;
    o.shape = t[0]->shape;
    if (t[0]->n != t[1]->n) {
        o.evaluated = false;
        o.why = STR("the results have different shapes");
        return o;
    }
    for (int64_t i = 0; i < t[0]->n; i++)
        if (isfinite(t[0]->x[i])) {
            o.elements++;
            largest = fmax(largest, fabs(t[0]->x[i]));
        }
    for (int64_t i = 0; i < t[0]->n; i++) {
        double scale = fmax(fabs(t[0]->x[i]), floor_of_largest * largest);
        double e = error_at(t[0]->x[i], t[1]->x[i], scale);
        if (e <= tolerance)
            continue;
        if (!slack) {
            slack = arena_alloc(a, (size_t)t[0]->n * sizeof *slack);
            add_slack(c, given, equals, a, t, slack);
        }
        double rest = isfinite(e) ? e - slack[i] / scale : e;
        if (rest <= tolerance)
            o.bound = fmax(o.bound, e);
        else if (rest > worst) {
            worst = rest;
            o.differs = true;
            o.at = i;
            o.before = t[0]->x[i];
            o.after = t[1]->x[i];
        }
    }
    return o;
}
