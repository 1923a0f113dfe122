#include "proof/trials/problem.h"

#include <math.h>
#include <stdlib.h>

#include "ir/graph/mesh.h"
#include "proof/reduce/subgraph.h"

enum { DEFAULT_DEVICES = 2 }; /* where nothing states their number */

bool problem_add_input(struct problem *p, uint32_t value, const struct assumed_constant *constant) {
    for (uint32_t i = 0; i < p->ninputs; i++)
        if (p->inputs[i].value == value)
            return true;
    if (p->ninputs == MAX_INPUTS)
        return false;
    p->inputs[p->ninputs++] = (struct input){.value = value, .constant = constant};
    return true;
}

/* ---- facts ---- */

/* By value: what the wanted results are made of; to be freed. */
static bool *wanted_values(const struct problem *p) {
    const struct graph *g = p->program.graph;
    bool *wanted = xcalloc(g->m->nvalues + (size_t)1, sizeof *wanted), more = true;
    for (uint32_t i = 0; i < p->noutputs; i++)
        wanted[p->values[p->outputs[i].want]] = true;
    while (more) {
        more = false;
        for (uint32_t i = p->program.nops; i-- > 0;) {
            const struct mlir_op *op = &g->m->ops[p->program.ops[i]];
            bool makes = false;
            for (uint32_t k = 0; k < op->nresults; k++)
                makes |= wanted[op->first_result + k];
            for (uint32_t k = 0; k < graph_noperands(g, p->program.ops[i]) && makes; k++) {
                uint32_t v = graph_operands(g, p->program.ops[i])[k];
                more |= v != NONE && !wanted[v];
                wanted[v == NONE ? g->m->nvalues : v] = true;
            }
        }
    }
    return wanted;
}

/* In order, as sorts are unless they say otherwise. */
static bool is_in_order(const struct graph *g, uint32_t op) {
    struct str absent;
    bool unsaid = !op_default(op_table[g->kind[op]].absent, STR("sorted"), graph_is_ttnn(g, op), &absent) ||
                  str_is(absent, "true");
    return attrs_number(graph_attributes(g, op), "sorted", unsaid) != 0;
}

/* Where the indices of a sort are used for more than to be moved, or the wanted one is stable and they are used at all,
 * or one of two graphs knows without a sort, the sides have to agree whichever order sorts leave equal elements in;
 * else an index counts as the element that it points to. */
static void find_orders(struct problem *p, const struct fact_table *facts) {
    const struct graph *g = p->program.graph;
    bool *wanted = NULL, shown = false, unsorted[2] = {false, false}; /* the wanted side, and the other */
    bool orders[2] = {false, false};                                  /* likewise: it has an op that tells an order */
    for (uint32_t i = 0; i < p->program.nops; i++) {
        const struct mlir_op *op = &g->m->ops[p->program.ops[i]];
        enum op_kind k = (enum op_kind)g->kind[p->program.ops[i]];
        p->sorts |= op_is(k, SORTS);
        if (op_is(k, LOCATES))
            shown |= facts_at(facts, op->first_result)->taken;
        if (!op_is(k, SORTS | LOCATES))
            continue;
        wanted = wanted ? wanted : wanted_values(p);
        orders[!wanted[op->first_result] && (op->nresults < 2 || !wanted[op->first_result + 1])] = true;
        if (!op_is(k, SORTS) || op->nresults < 2)
            continue;
        const struct facts *indices = facts_at(facts, op->first_result + 1);
        bool stable = attrs_flag(graph_attributes(g, p->program.ops[i]), "stable") &&
                      (wanted[op->first_result] || wanted[op->first_result + 1]);
        if (!is_in_order(g, p->program.ops[i]))
            unsorted[!wanted[op->first_result] && !wanted[op->first_result + 1]] = true;
        bool returned = false;
        for (uint32_t v = 0; v < p->nvalues; v++)
            returned |= p->values[v] == op->first_result + 1;
        shown |= indices->taken || (stable && (indices->used || returned));
    }
    free(wanted);
    shown |= !p->other && orders[0] != orders[1];
    p->norders = shown ? 2 : 1;
    p->orders[0] = shown ? EQUALS_FIRST : EQUALS_POINTED;
    p->orders[1] = EQUALS_LAST;
    p->unsorted = unsorted[1] && !unsorted[0];
}

/* An integer that is no truth value becomes a float, which is taken to hold it. */
static bool makes_float(const struct graph *g, uint32_t op) {
    uint32_t from = graph_noperands(g, op) ? graph_operands(g, op)[0] : NONE;
    uint32_t def = from == NONE ? NONE : g->m->values[from].def;
    bool truth = def != NONE && op_is((enum op_kind)g->kind[def], COMPARES);
    return graph_class(g, op) == OP_CAST && from != NONE && format_is_integer(graph_dtype(g, from)) && !truth &&
           graph_dtype(g, from) != DT_I1 && format_is_float(graph_dtype(g, g->m->ops[op].first_result));
}

/* x != x is true where x is no number. */
static bool tests_nan(const struct graph *g, uint32_t op) {
    const uint32_t *v = graph_operands(g, op);
    return graph_op_is(g, op, COMPARES) && graph_noperands(g, op) == 2 && v[0] == v[1] &&
           format_is_float(graph_dtype(g, v[0]));
}

void problem_facts(struct problem *p) {
    enum { MOST_COVERS = 512 };
    const struct graph *g = p->program.graph;
    struct fact_table facts = facts_of(g, p->program.ops, p->program.nops);
    for (uint32_t i = 0; i < p->ninputs; i++) {
        struct input *in = &p->inputs[i];
        enum dtype type = graph_dtype(g, in->value);
        in->facts = *facts_at(&facts, in->value);
        enum predicate_use use = in->facts.predicate;
        p->masks |= in->facts.mask_sign != 0 || predicate_hides(in->facts.beside);
        p->hides |= in->facts.mask_sign != 0 || predicate_hides(use) || predicate_hides(in->facts.beside);
        p->integers |= format_is_integer(type) && type != DT_I1 && !use && !in->facts.indices;
        int64_t n = graph_numel(g, in->value), places = type == DT_I1 || in->facts.indices ? 0 : in->facts.places;
        int64_t covers = n > 0 && places > 0 ? (places - 1) / n + 1 : 0;
        p->covers = covers > p->covers ? (uint32_t)(covers < MOST_COVERS ? covers : MOST_COVERS) : p->covers;
    }
    p->wide = p->integers;
    for (uint32_t i = 0; i < p->program.nops; i++) {
        p->wide &= !makes_float(g, p->program.ops[i]);
        p->tests_nan |= tests_nan(g, p->program.ops[i]);
        p->compares |= graph_op_is(g, p->program.ops[i], COMPARES);
    }
    p->thresholds = thresholds_of(g, p->program.ops, p->program.nops);
    find_orders(p, &facts);
    facts_free(&facts);
}

/* ---- devices ---- */

int64_t devices_stated(const struct graph *g, uint32_t op) {
    int64_t in = graph_numel(g, graph_operands(g, op)[0]), out = graph_numel(g, g->m->ops[op].first_result);
    const int64_t *list;
    int64_t most = -1;
    if (op_table[g->kind[op]].shrink == SHRINK_MULTIPLIES)
        return in > 0 ? out / in : 0;
    if (op_table[g->kind[op]].shrink == SHRINK_DIVIDES)
        return out > 0 ? in / out : 0;
    const struct attrs *a = graph_attributes(g, op);
    struct transfer t;
    if (attrs_find(a, "split_count"))
        return attrs_int(a, "split_count", 0);
    if (mesh_transfer(g, op, &t))
        return 1 + (t.from > t.to ? t.from : t.to);
    static const char *const keys[] = {"source_target_pairs", "replica_groups", "sender_coord",
                                       "receiver_coord",      "send_coord",     "receive_coord"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        int n = attrs_list(a, keys[k], &list);
        for (int i = 0; i < n; i++)
            most = list[i] > most ? list[i] : most;
        if (n > 2 * MAX_DEVICES)
            return MAX_DEVICES + 1;
    }
    return most + 1;
}

uint32_t problem_devices(const struct problem *p, struct eval_context *b) {
    const struct graph *g = p->program.graph;
    struct str axis = STR("");
    int64_t count = 0, least = 0;
    bool any = false;
    for (uint32_t i = 0; i < p->program.nops; i++) {
        uint32_t op = p->program.ops[i];
        if (!op_is((enum op_kind)g->kind[op], COLLECTIVE) || graph_noperands(g, op) == 0)
            continue;
        int64_t stated = devices_stated(g, op);
        const struct attr *along = attrs_find(graph_attributes(g, op), "cluster_axis");
        if (along && axis.n && !str_eq(axis, along->text))
            return eval_reason(b, REASON_COLLECTIVE, "collectives along several axes of the mesh");
        any = true;
        axis = along ? along->text : axis;
        least = stated > least ? stated : least;
        if (graph_op_is(g, op, PARTIAL)) /* there may be others */
            continue;
        if (stated > 0 && count > 0 && stated != count)
            return eval_reason(b, REASON_COLLECTIVE, "collectives of different numbers of devices");
        count = stated > count ? stated : count;
    }
    if (count > 0 && least > count)
        return eval_reason(b, REASON_COLLECTIVE, "collectives of different numbers of devices");
    count = least;
    if (count > MAX_DEVICES)
        return eval_reason(b, REASON_COLLECTIVE, "a collective of more than %d devices", MAX_DEVICES);
    return !any ? 1 : count > 0 ? (uint32_t)count : DEFAULT_DEVICES;
}
