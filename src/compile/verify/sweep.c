/* What results depend on: the values of AFTER that are compared, in textual order, and the nodes that are marked with
 * the answers of their regions, from the results on. */
#include "compile/verify/sweep.h"

#include <stdlib.h>

#include "compile/verify/value.h"

/* ---- what results depend on ---- */

/* Values that are still to be visited. */
struct pending {
    uint32_t *values, n, cap;
    bool *seen;
};

static void push(struct pending *p, uint32_t value) {
    if (value == NONE || p->seen[value])
        return;
    p->seen[value] = true;
    p->values = grow(p->values, &p->cap, p->n + 1, sizeof *p->values);
    p->values[p->n++] = value;
}

static void push_operands(struct pending *p, const struct dag *d, uint32_t node) {
    for (uint32_t i = 0; i < d->nodes[node].noperands; i++)
        push(p, dag_operands(d, node)[i]);
}

/* What arguments hold that the function writes. */
static void push_written(struct sweep *s, int side, struct pending *p) {
    const struct dag_side *f = &s->d.side[side];
    for (uint32_t i = 0; i < f->nargs; i++)
        push(p, f->of[s->d.values[f->first_arg + i].value]);
}

/* What results depend on. */
static void find_reached(struct sweep *s, int side) {
    const struct dag_side *f = &s->d.side[side];
    struct pending p = {.seen = xcalloc(s->d.nvalues + (size_t)1, 1)};
    for (uint32_t i = 0; i < f->noutputs; i++)
        push(&p, f->outputs[i]);
    push_written(s, side, &p);
    while (p.n > 0) {
        uint32_t node = s->d.values[p.values[--p.n]].node;
        if (node == NONE)
            continue;
        s->reached[node] = true;
        push_operands(&p, &s->d, node);
    }
    free(p.values);
    free(p.seen);
}

static void compare_nodes(struct sweep *s) {
    const struct dag_side *a = &s->d.side[AFTER];
    for (uint32_t node = a->first_node; node < a->end_node; node++) {
        const struct dag_node *x = &s->d.nodes[node];
        if (dag_merge_twin(&s->d, node)) {
            value_compare_twin(s, node);
        } else if (dag_computes(&s->d, node) || dag_class(&s->d, node) == OP_CALL) {
            for (uint32_t i = 0; i < x->nresults; i++)
                value_compare(s, x->first_result + i);
        }
        arena_reset(&s->arena);
    }
}

/* ---- what is marked ---- */

static void mark_node(struct sweep *s, uint32_t node, enum answer answer) {
    if (s->mark[node] < 1 + answer)
        s->mark[node] = (uint8_t)(1 + answer);
}

static void mark_region(struct sweep *s, uint32_t region, struct pending *p) {
    struct compared_region *r = &s->m->regions[region];
    if (!r->needed)
        value_settle(s, region);
    s->m->nundecided += !r->needed && r->judgement.answer == ANSWER_NOT_COMPARED && r->judgement.differs;
    r->needed = true;
    for (uint32_t i = 0; i < r->nnodes; i++)
        mark_node(s, r->nodes[i], r->judgement.answer);
    for (uint32_t i = 0; i < r->nleaves; i++)
        push(p, r->leaves[i]);
}

static void mark_value(struct sweep *s, uint32_t value, struct pending *p) {
    uint32_t node = s->d.values[value].node;
    if (s->region_of[value] != NONE) {
        mark_region(s, s->region_of[value], p);
    } else if (node != NONE) {
        uint32_t twin = s->d.nodes[node].twin;
        mark_node(s, node, twin != NONE ? ANSWER_PROVED : ANSWER_NOT_COMPARED);
        if (twin != NONE)
            mark_node(s, twin, ANSWER_PROVED);
        push_operands(p, &s->d, node);
    }
}

/* What no result depends on has no effect: it counts as proved. So does what is left of BEFORE where all results are.
 */
static void mark_rest(struct sweep *s) {
    bool all = true;
    for (uint32_t node = s->d.side[AFTER].first_node; node < s->d.side[AFTER].end_node; node++)
        all &= !s->reached[node] || s->mark[node] == 1 + ANSWER_PROVED;
    for (uint32_t node = 0; node < s->d.nnodes; node++)
        if (!s->reached[node] || (all && !s->mark[node]))
            mark_node(s, node, ANSWER_PROVED);
}

static void mark_result(struct sweep *s, uint32_t after, uint32_t before, struct pending *p) {
    uint32_t region = after == NONE || before == NONE ? NONE : value_compare_result(s, after, before);
    if (region == NONE)
        push(p, after);
    else
        mark_region(s, region, p);
}

/* An argument that BEFORE writes is another result. One that AFTER alone writes may be memory that is given to it, or
 * what it returns. */
static void mark_written(struct sweep *s, struct pending *p) {
    const struct dag_side *a = &s->d.side[AFTER], *b = &s->d.side[BEFORE];
    for (uint32_t v = a->first_arg; v < a->first_arg + a->nargs; v++) {
        uint32_t argument = s->d.values[v].rep, before = argument == NONE ? NONE : b->of[s->d.values[argument].value];
        uint32_t after = a->of[s->d.values[v].value];
        bool returned = false;
        for (uint32_t i = 0; i < a->noutputs; i++)
            returned |= after != NONE && a->outputs[i] == after && (before == argument || b->outputs[i] == before);
        if (returned)
            continue;
        if (before == argument)
            push(p, after);
        else
            mark_result(s, after, before, p);
    }
}

/* Compares the results, and marks what they depend on. */
static void mark_all(struct sweep *s) {
    struct pending p = {.seen = xcalloc(s->d.nvalues + (size_t)1, 1)};
    for (uint32_t i = 0; i < s->d.side[AFTER].noutputs; i++)
        mark_result(s, s->d.side[AFTER].outputs[i], s->d.side[BEFORE].outputs[i], &p);
    mark_written(s, &p);
    while (p.n > 0)
        mark_value(s, p.values[--p.n], &p);
    mark_rest(s);
    free(p.values);
    free(p.seen);
}

void sweep_run(struct sweep *s, const struct alignment *align) {
    s->region_of = no_ids(s->d.nvalues);
    s->reached = xcalloc(s->d.nnodes + (size_t)1, sizeof *s->reached);
    s->mark = xcalloc(s->d.nnodes + (size_t)1, 1);
    s->fits = xcalloc(s->d.nvalues + (size_t)1, sizeof *s->fits);
    candidates_begin(&s->candidates, &s->d, align, s->m->what.same_names);
    for (int side = 0; side < SIDES; side++)
        find_reached(s, side);
    compare_nodes(s);
    mark_all(s);
    candidates_free(&s->candidates);
}

void sweep_free(struct sweep *s) {
    free(s->region_of);
    free(s->reached);
    free(s->mark);
    free(s->fits);
    dag_free(&s->d);
    arena_free(&s->arena);
}
