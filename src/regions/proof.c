#include "regions/proof.h"

#include <math.h>

#include "numeric/interpret_graph.h"
#include "prove/compare.h"
#include "prove/numbers.h"

/* Evaluation is quadratic in the ops. Extents above the small ones become these: what is equal stays equal. */
enum { MOST_OPS = 256, MOST_VALUES = 512, MOST_REGISTERS = 64, SMALL = 3, MORE = 4, SHAPES = 2 };
enum region_trial { BOTH_SIGNS, POSITIVE, LARGE, REGION_TRIALS };

struct region_run {
    const struct graph *graph;
    const struct region *region;
    struct eval_context eval;
    int64_t extent; /* of the shapes */
    struct given given[MOST_VALUES];
    uint32_t ngiven;
};

static bool small_shape(const void *self, uint32_t value, struct shape *s) {
    const struct region_run *run = self;
    if (!shape_in_graph(run->graph, value, s))
        return false;
    for (uint32_t i = 0; i < s->rank; i++)
        s->dim[i] = s->dim[i] > run->extent ? run->extent : s->dim[i];
    return true;
}

/* ---- numbers ---- */

static double number_of(enum region_trial trial, enum dtype type, uint64_t seed, uint64_t i) {
    double u = (double)seed_of(seed, i) * 0x1p-56;
    if (format_is_integer(type))
        return floor(u * 64) - (trial == POSITIVE ? 0 : 32);
    return trial == POSITIVE ? u * 2 + 0.0625 : (u - 0.5) * (trial == LARGE ? 16 : 4);
}

static bool give(struct region_run *run, uint32_t value, enum region_trial trial) {
    struct constant c = graph_constant(run->graph, value);
    enum dtype type = graph_dtype(run->graph, value);
    struct shape s;
    for (uint32_t i = 0; i < run->ngiven; i++)
        if (run->given[i].value == value)
            return true;
    if (!small_shape(run, value, &s) || run->ngiven == MOST_VALUES)
        return eval_fail(&run->eval, "a shape is not static");
    struct tensor *t = tensor_new(&run->eval, &s);
    if (!t)
        return false;
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] =
            c.known ? c.value : number_of(trial, type, run->ngiven * (uint64_t)REGION_TRIALS + trial, (uint64_t)i);
    run->given[run->ngiven++] = (struct given){value, t};
    return true;
}

static bool give_inputs(struct region_run *run, enum region_trial trial) {
    const struct graph *g = run->graph;
    const struct region *r = run->region;
    for (uint32_t i = 0; i < r->nops; i++)
        for (uint32_t k = 0; k < graph_noperands(g, r->ops[i]); k++) {
            uint32_t v = graph_operands(g, r->ops[i])[k];
            if (!region_computes(g, r->ops, r->nops, v) && !give(run, v, trial))
                return false;
        }
    return true;
}

static const struct tensor *given_of(const struct region_run *run, uint32_t value) {
    for (uint32_t i = 0; i < run->ngiven; i++)
        if (run->given[i].value == value)
            return run->given[i].tensor;
    return NULL;
}

static void round_inputs(struct region_run *run) {
    for (uint32_t i = 0; i < run->ngiven; i++) {
        struct tensor *t = tensor_copy(&run->eval, run->given[i].tensor);
        if (!t)
            return;
        tensor_round(t, graph_dtype(run->graph, run->given[i].value), ROUND_EVEN);
        run->given[i].tensor = t;
    }
}

/* ---- the ops, and the schedule ---- */

static const struct tensor *evaluate(struct region_run *run, const struct given *given, uint32_t ngiven,
                                     const uint32_t *ops, uint32_t nops) {
    const struct tensor *t;
    struct program p = {.graph = run->graph,
                        .given = given,
                        .ngiven = ngiven,
                        .ops = ops,
                        .nops = nops,
                        .shape = small_shape,
                        .self = run};
    uint32_t result = run->graph->m->ops[ops[nops - 1]].first_result;
    return interpret_values(&run->eval, &p, &result, 1, &t) ? t : NULL;
}

static const struct tensor *as_written(struct region_run *run) {
    return evaluate(run, run->given, run->ngiven, run->region->ops, run->region->nops);
}

/* The destination registers of the chip. */
struct registers {
    const struct tensor *held[MOST_REGISTERS]; /* NULL: free */
    uint32_t value[MOST_REGISTERS], n;
};

static uint32_t register_of(const struct registers *all, uint32_t value) {
    for (uint32_t i = 0; i < all->n; i++)
        if (all->held[i] && all->value[i] == value)
            return i;
    return NONE;
}

static uint32_t put(struct region_run *run, struct registers *all, uint32_t value, const struct tensor *t) {
    for (uint32_t i = 0; i < all->n; i++)
        if (!all->held[i]) {
            all->held[i] = t;
            all->value[i] = value;
            return i;
        }
    eval_fail(&run->eval, "the schedule needs more than %u registers", all->n);
    return NONE;
}

/* Operands of an op into registers: what is computed is in one, all others are loaded. */
static bool load(struct region_run *run, struct registers *all, uint32_t op, uint32_t *at) {
    const struct graph *g = run->graph;
    for (uint32_t k = 0; k < graph_noperands(g, op); k++) {
        uint32_t v = graph_operands(g, op)[k];
        bool inside = region_computes(g, run->region->ops, run->region->nops, v);
        at[k] = inside ? register_of(all, v) : put(run, all, v, given_of(run, v));
        if (at[k] == NONE)
            return eval_fail(&run->eval, "the schedule uses what it has not computed");
    }
    return true;
}

/* One op of the schedule. Of two operands that commute the one that is computed comes first. */
static bool step(struct region_run *run, struct registers *all, uint32_t op) {
    const struct graph *g = run->graph;
    uint32_t at[3] = {0}, n = graph_noperands(g, op), result = g->m->ops[op].first_result;
    const uint32_t *in = graph_operands(g, op);
    struct given given[3] = {{0, NULL}};
    if (!load(run, all, op, at))
        return false;
    bool turn = n == 2 && in[0] != in[1] && op_is((enum op_kind)g->kind[op], COMMUTES) &&
                !region_computes(g, run->region->ops, run->region->nops, in[0]);
    for (uint32_t k = 0; k < n; k++)
        given[k] = (struct given){in[k], all->held[at[turn ? 1 - k : k]]};
    bool apart = n > 1 || graph_class(g, op) == OP_REDUCE;
    uint32_t to = apart ? put(run, all, NONE, given[0].tensor) : at[0];
    const struct tensor *t = to == NONE ? NULL : evaluate(run, given, n, &op, 1);
    for (uint32_t k = 0; t && k < n; k++)
        all->held[at[k]] = NULL;
    if (t) {
        all->held[to] = t;
        all->value[to] = result;
    }
    return t != NULL;
}

static const struct tensor *as_scheduled(struct region_run *run) {
    const struct region *r = run->region;
    struct registers all = {.n = r->registers < MOST_REGISTERS ? r->registers : MOST_REGISTERS};
    for (uint32_t i = 0; i < r->nops; i++)
        if (!step(run, &all, r->order[i]))
            return NULL;
    uint32_t at = register_of(&all, run->graph->m->ops[r->ops[r->nops - 1]].first_result);
    return at == NONE ? NULL : all.held[at];
}

/* ---- verdict ---- */

static struct region_run begin_run(const struct pattern_set *lowerings, const struct graph *g, const struct region *r,
                                   int64_t extent, struct arena *a) {
    return (struct region_run){.graph = g, .region = r, .extent = extent, .eval = {.arena = a, .lowerings = lowerings}};
}

/* `compared`: counts the elements that are a number on some side. */
static struct proved try_once(const struct pattern_set *lowerings, const struct graph *g, const struct region *r,
                              int64_t extent, enum region_trial trial, int64_t *compared, struct arena *a) {
    struct arena scratch = {0};
    struct region_run run = begin_run(lowerings, g, r, extent, &scratch);
    struct proved v = {.kind = VERDICT_NONE};
    const struct tensor *want = give_inputs(&run, trial) ? as_written(&run) : NULL,
                        *got = want ? as_scheduled(&run) : NULL;
    if (got) {
        int64_t n = 0;
        struct difference d = compare_worst(got, want, 0, &n);
        *compared += n;
        v.kind = d.error > 1e-9 ? VERDICT_DIFFERENT : VERDICT_SAME;
        v.text =
            d.error > 1e-9 ? arena_printf(a, "the schedule computes %.6g instead of %.6g", d.got, d.want) : STR("");
    } else {
        v.text = arena_str(a, run.eval.error);
    }
    arena_free(&scratch);
    return v;
}

static struct device_error error_of(const struct pattern_set *lowerings, const struct graph *g, const struct region *r,
                                    int64_t extent) {
    uint32_t result = g->m->ops[r->ops[r->nops - 1]].first_result;
    struct device_error e = {.type = graph_dtype(g, result), .blackhole = is_for_blackhole(g->m)};
    struct arena scratch = {0};
    struct region_run run = begin_run(lowerings, g, r, extent, &scratch);
    run.eval.blackhole = e.blackhole;
    bool given = !format_is_integer(e.type) && give_inputs(&run, POSITIVE);
    round_inputs(&run);
    const struct tensor *exact = given ? as_written(&run) : NULL;
    run.eval.arithmetic = ARITHMETIC_DEVICE;
    const struct tensor *apart = exact ? as_written(&run) : NULL;
    run.eval.arithmetic = ARITHMETIC_INSIDE;
    const struct tensor *inside = apart ? as_scheduled(&run) : NULL;
    struct tensor *stored = inside ? tensor_copy(&run.eval, inside) : NULL;
    if (stored) {
        tensor_round(stored, e.type, ROUND_PACKER);
        const struct tensor *both[] = {apart, stored};
        for (int i = 0; i < 2; i++) {
            e.pcc[i] = compare_pcc(both[i], exact);
            e.relative_l2[i] = compare_relative_l2(both[i], exact);
            e.ulp[i] = compare_ulp(both[i], exact, e.type);
        }
        e.known = isfinite(e.pcc[1]) && isfinite(e.relative_l2[0]) && isfinite(e.relative_l2[1]);
    }
    arena_free(&scratch);
    return e;
}

struct proved region_prove(const struct pattern_set *lowerings, const struct graph *g, const struct region *r,
                           struct arena *a) {
    struct proved v = {.kind = VERDICT_NONE, .text = STR("it has too many ops")};
    int64_t compared = 0;
    if (r->nops > MOST_OPS)
        return v;
    for (int64_t extent = SMALL; extent <= MORE; extent++)
        for (int trial = 0; trial < REGION_TRIALS; trial++) {
            v = try_once(lowerings, g, r, extent, (enum region_trial)trial, &compared, a);
            if (v.kind != VERDICT_SAME)
                return v;
        }
    if (!compared)
        return (struct proved){.kind = VERDICT_NONE, .text = STR("no element of it is a number")};
    v.shapes = SHAPES;
    struct device_error small = error_of(lowerings, g, r, SMALL);
    v.device = error_of(lowerings, g, r, MORE);
    v.device.steady = device_errors_agree(&small, &v.device);
    return v;
}
