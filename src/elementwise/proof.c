#include "elementwise/proof.h"

#include "proof/numeric/interpret_graph.h"
#include "proof/trials/equal.h"

/* Extents above the small ones become these: what is equal stays equal. */
enum { MOST_OPS = 256, SMALL = 3, MORE = 4 };

struct region_run {
    const struct graph *graph;
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

/* For problem.other: the ops, with nothing stored between them. */
static bool as_kernel(void *self, struct evaluated *e, const struct tensor *got[MAX_OUTPUTS]) {
    const struct region_run *run = self;
    struct program p = run->problem.program;
    p.given = e->given;
    p.ngiven = run->problem.ninputs;
    return interpret_values(e->eval, &p, &run->result, 1, got);
}

static bool add_input(struct problem *p, uint32_t value, struct arena *a) {
    struct constant c = graph_constant(p->program.graph, value);
    struct assumed_constant *constant = NULL;
    if (c.known) {
        constant = arena_alloc(a, sizeof *constant);
        *constant = (struct assumed_constant){value, c.value, false};
    }
    return problem_add_input(p, value, constant);
}

static bool is_made_inside(const struct match *m, uint32_t value) {
    return find_id(m->ops, m->nops, m->graph->m->values[value].def) != NONE;
}

/* In shapes of that extent; not known where it has too many inputs. */
static struct device_error error_in(const struct pattern_set *lowerings, const struct match *m, int64_t extent,
                                    struct arena *a) {
    const struct graph *g = m->graph;
    struct region_run *run = arena_alloc(a, sizeof *run);
    *run = (struct region_run){.graph = g, .extent = extent, .result = g->m->ops[m->root].first_result};
    struct problem *p = &run->problem;
    *p = (struct problem){.lowerings = lowerings,
                          .program = {.graph = g, .ops = m->ops, .nops = m->nops, .shape = small_shape, .self = run},
                          .values = &run->result,
                          .nvalues = 1,
                          .noutputs = 1,
                          .other = as_kernel,
                          .self = run,
                          .name = "the kernel",
                          .devices = 1,
                          .product_op = NONE};
    for (uint32_t i = 0; i < m->nops; i++)
        for (uint32_t k = 0; k < graph_noperands(g, m->ops[i]); k++) {
            uint32_t v = graph_operands(g, m->ops[i])[k];
            if (v != NONE && !is_made_inside(m, v) && !add_input(p, v, a))
                return (struct device_error){.known = false};
        }
    problem_facts(p);
    return device_error_of(p, is_for_blackhole(g->m), false);
}

struct proved region_prove(const struct pattern_set *lowerings, const struct match *m, bool figures, struct arena *a) {
    struct proved v = {.kind = VERDICT_SAME};
    if (!figures || m->nops > MOST_OPS)
        return v;
    struct device_error less = error_in(lowerings, m, SMALL, a);
    v.device = error_in(lowerings, m, MORE, a);
    v.device.known = device_error_tells(&v.device);
    v.device.steady = device_errors_agree(&less, &v.device);
    return v;
}
