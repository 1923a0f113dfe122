#include "regions/proof.h"

#include "equal/equal.h"
#include "numeric/interpret_graph.h"

/* Evaluation is quadratic in the ops. Extents above the small ones become these: what is equal stays equal. */
enum { MOST_OPS = 256, MOST_REGISTERS = 64, SMALL = 3, MORE = 4, SHAPES = 2 };

struct region_run {
    const struct graph *graph;
    const struct region *region;
    int64_t extent; /* of the shapes */
    uint32_t result;
    struct problem problem;
    struct evaluated *at; /* the schedule */
};

static bool small_shape(const void *self, uint32_t value, struct shape *s) {
    const struct region_run *run = self;
    if (!shape_in_graph(run->graph, value, s))
        return false;
    for (uint32_t i = 0; i < s->rank; i++)
        s->dim[i] = s->dim[i] > run->extent ? run->extent : s->dim[i];
    return true;
}

/* ---- the schedule ---- */

static const struct tensor *given_of(const struct region_run *run, uint32_t value) {
    for (uint32_t i = 0; i < run->problem.ninputs; i++)
        if (run->at->given[i].value == value)
            return run->at->given[i].tensor;
    return NULL;
}

static const struct tensor *evaluate(struct region_run *run, const struct given *given, uint32_t ngiven, uint32_t op) {
    const struct tensor *t;
    struct program p = run->problem.program;
    p.given = given;
    p.ngiven = ngiven;
    p.ops = &op;
    p.nops = 1;
    uint32_t result = run->graph->m->ops[op].first_result;
    return interpret_values(run->at->eval, &p, &result, 1, &t) ? t : NULL;
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
    eval_fail(run->at->eval, "the schedule needs more than %u registers", all->n);
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
            return eval_fail(run->at->eval, "the schedule uses what it has not computed");
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
    const struct tensor *t = to == NONE ? NULL : evaluate(run, given, n, op);
    for (uint32_t k = 0; t && k < n; k++)
        all->held[at[k]] = NULL;
    if (t) {
        all->held[to] = t;
        all->value[to] = result;
    }
    return t != NULL;
}

/* For problem.other. */
static bool as_scheduled(void *self, struct evaluated *e, const struct tensor *got[MAX_OUTPUTS]) {
    struct region_run *run = self;
    const struct region *r = run->region;
    struct registers all = {.n = r->registers < MOST_REGISTERS ? r->registers : MOST_REGISTERS};
    run->at = e;
    for (uint32_t i = 0; i < r->nops; i++)
        if (!step(run, &all, r->order[i]))
            return false;
    uint32_t at = register_of(&all, run->result);
    got[0] = at == NONE ? NULL : all.held[at];
    return got[0] || eval_fail(e->eval, "the schedule does not compute the result");
}

/* ---- the problem ---- */

static bool add_input(struct problem *p, uint32_t value, struct arena *a) {
    struct constant c = graph_constant(p->program.graph, value);
    struct assumed_constant *constant = NULL;
    for (uint32_t i = 0; i < p->ninputs; i++)
        if (p->inputs[i].value == value)
            return true;
    if (p->ninputs == MAX_INPUTS)
        return false;
    if (c.known) {
        constant = arena_alloc(a, sizeof *constant);
        *constant = (struct assumed_constant){value, c.value, false};
    }
    p->inputs[p->ninputs++] = (struct input){.value = value, .constant = constant};
    return true;
}

/* NULL: it has too many inputs. */
static struct region_run *begin(const struct pattern_set *lowerings, const struct graph *g, const struct region *r,
                                int64_t extent, struct arena *a) {
    struct region_run *run = arena_alloc(a, sizeof *run);
    *run = (struct region_run){
        .graph = g, .region = r, .extent = extent, .result = g->m->ops[r->ops[r->nops - 1]].first_result};
    struct problem *p = &run->problem;
    *p = (struct problem){.lowerings = lowerings,
                          .program = {.graph = g, .ops = r->ops, .nops = r->nops, .shape = small_shape, .self = run},
                          .values = &run->result,
                          .nvalues = 1,
                          .noutputs = 1,
                          .other = as_scheduled,
                          .self = run,
                          .name = "the schedule",
                          .devices = 1,
                          .product_op = NONE};
    for (uint32_t i = 0; i < r->nops; i++)
        for (uint32_t k = 0; k < graph_noperands(g, r->ops[i]); k++) {
            uint32_t v = graph_operands(g, r->ops[i])[k];
            if (v != NONE && !region_computes(g, r->ops, r->nops, v) && !add_input(p, v, a))
                return NULL;
        }
    problem_facts(p);
    return run;
}

struct proved region_prove(const struct pattern_set *lowerings, const struct graph *g, const struct region *r,
                           struct arena *a) {
    struct proved v = {.kind = VERDICT_NONE, .text = STR("it has too many ops")};
    struct device_error error[SHAPES] = {{.known = false}};
    if (r->nops > MOST_OPS)
        return v;
    for (int i = 0; i < SHAPES; i++) {
        struct region_run *run = begin(lowerings, g, r, i ? MORE : SMALL, a);
        if (!run)
            return v;
        struct verdict one = equal_try(&run->problem, (struct effort){.samples = 1, .violated = NONE}, a);
        v = (struct proved){.kind = one.kind, .text = one.text, .shapes = SHAPES};
        if (one.kind != VERDICT_SAME)
            return v;
        error[i] = device_error_of(&run->problem, 0, is_for_blackhole(g->m));
    }
    v.device = error[1];
    v.device.known = device_error_tells(&v.device);
    v.device.steady = device_errors_agree(&error[0], &error[1]);
    return v;
}
