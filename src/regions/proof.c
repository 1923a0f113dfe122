#include "regions/proof.h"

#include "equal/equal.h"
#include "numeric/interpret_graph.h"

/* Extents above the small ones become these: what is equal stays equal. */
enum { MOST_OPS = 256, MOST_REGISTERS = 64, SMALL = 3, MORE = 4, SHAPES = 2 };

struct region_run {
    const struct graph *graph;
    const struct region *region;
    int64_t extent; /* of the shapes */
    uint32_t result;
    struct problem problem;
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

/* The destination registers of the chip: the value that each holds, or NONE. */
struct registers {
    uint32_t held[MOST_REGISTERS], n;
};

static uint32_t register_of(const struct registers *all, uint32_t value) {
    for (uint32_t i = 0; i < all->n; i++)
        if (all->held[i] == value)
            return i;
    return NONE;
}

/* An op takes its operands out of registers: what is computed is in one, all others are loaded. The result stands in
 * that of the only operand, or else in one more. */
static const char *step(const struct region_run *run, struct registers *all, uint32_t op) {
    const struct graph *g = run->graph;
    uint32_t n = graph_noperands(g, op), at[3] = {0};
    bool apart = n > 1 || graph_class(g, op) == OP_REDUCE;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t v = graph_operands(g, op)[k];
        bool inside = region_computes(g, run->region->ops, run->region->nops, v);
        at[k] = register_of(all, inside ? v : NONE);
        if (at[k] == NONE)
            return inside ? "the schedule uses what it has not computed" : "the schedule needs more registers";
        all->held[at[k]] = v;
    }
    uint32_t to = apart ? register_of(all, NONE) : at[0];
    for (uint32_t k = 0; k < n; k++)
        all->held[at[k]] = NONE;
    if (to != NONE)
        all->held[to] = g->m->ops[op].first_result;
    return to == NONE ? "the schedule needs more registers" : NULL;
}

/* It computes the result of the region's ops, each once and on its operands. NULL: so it does. */
static const char *schedule_fault(const struct region_run *run) {
    const struct region *r = run->region;
    struct registers all = {.n = r->registers < MOST_REGISTERS ? r->registers : MOST_REGISTERS};
    const char *why = NULL;
    memset(all.held, 0xff, sizeof all.held);
    for (uint32_t i = 0; i < r->nops && !why; i++)
        why = step(run, &all, r->order[i]);
    return why || register_of(&all, run->result) != NONE ? why : "the schedule does not compute the result";
}

/* For problem.other: the ops in their order, with nothing stored between them. */
static bool as_scheduled(void *self, struct evaluated *e, const struct tensor *got[MAX_OUTPUTS]) {
    const struct region_run *run = self;
    struct program p = run->problem.program;
    p.given = e->given;
    p.ngiven = run->problem.ninputs;
    return interpret_values(e->eval, &p, &run->result, 1, got);
}

/* ---- the problem ---- */

static bool add_input(struct problem *p, uint32_t value, struct arena *a) {
    struct constant c = graph_constant(p->program.graph, value);
    struct assumed_constant *constant = NULL;
    if (c.known) {
        constant = arena_alloc(a, sizeof *constant);
        *constant = (struct assumed_constant){value, c.value, false};
    }
    return problem_add_input(p, value, constant);
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
        const char *why = schedule_fault(run);
        if (why)
            return (struct proved){.kind = VERDICT_NONE, .text = str_of(why)};
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
