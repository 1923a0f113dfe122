#include "compile/verify/cone.h"

#include "proof/reduce/subgraph.h"
#include "proof/value/format.h"

enum { MAX_WALK = 16 };

/* One walk from a value backwards. */
struct cone_walk {
    struct cone_pair *c;
    const struct dag *d;
    enum merge least;
    int side;
    uint32_t first_node; /* of c->nodes */
    uint32_t stack[4 * MAX_CONE_NODES], n;
};

static bool fail(struct cone_pair *c, enum reason_kind kind, const char *why) {
    c->why = (struct reason){str_of(why), kind};
    return false;
}

/* Positions that are moved on the way are no arbitrary numbers: what makes them is taken in, up to the constant. */
static bool moves_positions(const struct dag *d, uint32_t value) {
    uint32_t node = d->values[value].node;
    bool moved = false;
    for (int i = 0; i < MAX_WALK && node != NONE && d->nodes[node].noperands > 0; i++) {
        enum op_class class = dag_class(d, node);
        uint32_t from = dag_operands(d, node)[0];
        if (!class_moves(class) || from == NONE)
            return false;
        moved = true;
        node = d->values[from].node;
    }
    return moved && node != NONE && op_is(dag_kind(d, node), COUNTS) && d->nodes[node].noperands == 0;
}

/* The walk ends at the value: its representative is an input. */
static bool is_input(const struct cone_walk *w, uint32_t value) {
    const struct dag_value *v = &w->d->values[value];
    bool compared = (value == w->c->result[BEFORE] || value == w->c->result[AFTER]) && v->node != NONE;
    return v->rep != NONE && (enum merge)v->merged >= w->least && !compared &&
           !has_id(w->c->opened, w->c->nopened, v->rep) && !moves_positions(w->d, value);
}

static bool add_input(struct cone_walk *w, uint32_t value) {
    struct cone_pair *c = w->c;
    const struct dag_value *v = &w->d->values[value];
    uint32_t i = 0;
    while (i < c->ninputs && c->inputs[i] != v->rep)
        i++;
    if (i == MAX_CONE_INPUTS || c->nleaves == MAX_CONE_INPUTS)
        return fail(c, REASON_TOO_MANY, "too many operands");
    if (i == c->ninputs) {
        c->inputs[c->ninputs++] = v->rep;
        c->used[i] = 0;
    }
    c->used[i] |= (uint8_t)(1 << w->side);
    if (v->side == AFTER && !has_id(c->leaves, c->nleaves, value))
        c->leaves[c->nleaves++] = value;
    c->weakest = (enum merge)v->merged < c->weakest ? (enum merge)v->merged : c->weakest;
    return true;
}

static bool push(struct cone_walk *w, const uint32_t *values, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (values[i] == NONE)
            continue;
        if (w->n == sizeof w->stack / sizeof *w->stack)
            return fail(w->c, REASON_TOO_MANY, "too many ops without a value that both modules have");
        w->stack[w->n++] = values[i];
    }
    return true;
}

static bool visit(struct cone_walk *w, uint32_t value) {
    struct cone_pair *c = w->c;
    uint32_t node = w->d->values[value].node;
    if (is_input(w, value))
        return add_input(w, value);
    if (node == NONE)
        return fail(c, REASON_FOREIGN_ARGUMENT, "an argument that only one of the modules has");
    if (has_id(c->nodes + w->first_node, c->nnodes - w->first_node, node))
        return true;
    if (c->nnodes == MAX_CONE_NODES)
        return fail(c, REASON_TOO_MANY, "too many ops without a value that both modules have");
    c->nodes[c->nnodes++] = node;
    return push(w, dag_operands(w->d, node), w->d->nodes[node].noperands);
}

static void drop_repeated(struct cone_pair *c) {
    uint32_t n = 0;
    sort_ids(c->nodes, c->nnodes);
    for (uint32_t i = 0; i < c->nnodes; i++)
        if (n == 0 || c->nodes[n - 1] != c->nodes[i])
            c->nodes[n++] = c->nodes[i];
    c->nnodes = n;
}

bool cone_build(struct cone_pair *c, const struct dag *d, enum merge least) {
    c->nnodes = c->ninputs = c->nleaves = 0;
    c->weakest = PROVED;
    c->why.text = STR("");
    for (int side = SIDES; side-- > 0;) { /* what AFTER is made of is known where BEFORE is made of too much */
        struct cone_walk w = {.c = c, .d = d, .least = least, .side = side, .first_node = c->nnodes};
        w.stack[w.n++] = c->result[side];
        while (w.n > 0)
            if (!visit(&w, w.stack[--w.n]))
                return false;
    }
    drop_repeated(c);
    return true;
}

/* Some op makes the value, so that it need not be an input. What a device has of an argument is as arbitrary as that.
 */
static bool is_made(const struct dag *d, uint32_t value) {
    uint32_t node = d->values[value].node;
    bool argument = node != NONE && op_is(dag_kind(d, node), SHARDS) && d->nodes[node].noperands > 0 &&
                    dag_operands(d, node)[0] != NONE && d->values[dag_operands(d, node)[0]].node == NONE;
    return node != NONE && !dag_is_constant(d, value) && !argument;
}

uint32_t cone_one_sided_inputs(const struct cone_pair *c) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->ninputs; i++)
        n += c->used[i] != (1 << BEFORE | 1 << AFTER);
    return n;
}

bool cone_has_foreign_input(const struct cone_pair *c, const struct dag *d) {
    bool found = false;
    for (uint32_t i = 0; i < c->ninputs; i++)
        found |= c->used[i] != (1 << BEFORE | 1 << AFTER) && is_made(d, c->inputs[i]);
    return found;
}

bool cone_has_elided_constant(const struct cone_pair *c, const struct dag *d) {
    bool found = false;
    for (uint32_t i = 0; i < c->nnodes; i++)
        found |= dag_is_elided(d, c->nodes[i]);
    for (uint32_t i = 0; i < c->ninputs; i++) {
        uint32_t node = d->values[c->inputs[i]].node;
        found |= node != NONE &&
                 (c->used[i] == (1 << BEFORE | 1 << AFTER) ? dag_is_one_of_many(d, node) : dag_is_elided(d, node));
    }
    return found;
}

static bool is_table(const struct dag *d, uint32_t node) {
    if (node == NONE || dag_class(d, node) != OP_CONSTANT || d->nodes[node].nresults != 1)
        return false;
    const struct dag_value *v = &d->values[d->nodes[node].first_result];
    return !graph_constant(d->side[v->side].g, v->value).known && (v->side == BEFORE || v->rep == NONE);
}

bool cone_has_table_of_one_side(const struct cone_pair *c, const struct dag *d) {
    bool found = false;
    for (uint32_t i = 0; i < c->nnodes; i++)
        found |= is_table(d, c->nodes[i]);
    for (uint32_t i = 0; i < c->ninputs; i++)
        found |= c->used[i] != (1 << BEFORE | 1 << AFTER) && is_table(d, d->values[c->inputs[i]].node);
    return found;
}

static bool is_unwritten(const struct dag *d, uint32_t node) {
    return node != NONE && dag_class(d, node) == OP_CONSTANT && op_is(dag_kind(d, node), ARBITRARY);
}

bool cone_reads_unwritten(const struct cone_pair *c, const struct dag *d) {
    bool found = false;
    for (uint32_t i = 0; i < c->nnodes; i++)
        found |= is_unwritten(d, c->nodes[i]);
    for (uint32_t i = 0; i < c->ninputs; i++)
        found |= is_unwritten(d, d->values[c->inputs[i]].node);
    return found;
}

static bool is_foreign_to(const struct cone_pair *c, const struct dag *d, uint32_t input, int side) {
    return c->used[input] == 1 << side && is_made(d, c->inputs[input]);
}

/* Both sides may have inputs that the other lacks: the earlier one may be what the later one is made of. Returns the
 * first of those that are later than all of one side. */
static uint32_t first_to_open(const struct cone_pair *c, const struct dag *d) {
    uint32_t end[SIDES] = {0, 0};
    for (int side = 0; side < SIDES; side++)
        for (uint32_t i = 0; i < c->ninputs; i++)
            if (is_foreign_to(c, d, i, side) && c->inputs[i] >= end[side])
                end[side] = c->inputs[i] + 1;
    return end[BEFORE] < end[AFTER] ? end[BEFORE] : end[AFTER];
}

static bool open_foreign(struct cone_pair *c, const struct dag *d) {
    uint32_t before = c->nopened, first = first_to_open(c, d);
    for (uint32_t i = 0; i < c->ninputs && c->nopened < MAX_OPENED; i++)
        if (c->inputs[i] >= first && (is_foreign_to(c, d, i, BEFORE) || is_foreign_to(c, d, i, AFTER)))
            c->opened[c->nopened++] = c->inputs[i];
    return c->nopened > before;
}

/* Where one side alone has inputs that the other lacks, what both have behind these may be made of them. */
static bool open_behind_foreign(struct cone_pair *c, const struct dag *d) {
    uint32_t before = c->nopened, first[SIDES] = {NONE, NONE};
    for (int side = 0; side < SIDES; side++)
        for (uint32_t i = 0; i < c->ninputs; i++)
            if (is_foreign_to(c, d, i, side) && c->inputs[i] < first[side])
                first[side] = c->inputs[i];
    if (first[BEFORE] != NONE && first[AFTER] != NONE)
        return false;
    for (uint32_t i = 0; i < c->ninputs && c->nopened < MAX_OPENED; i++)
        if (c->inputs[i] > first[BEFORE] || c->inputs[i] > first[AFTER])
            if (c->used[i] == (1 << BEFORE | 1 << AFTER) && is_made(d, c->inputs[i]))
                c->opened[c->nopened++] = c->inputs[i];
    return c->nopened > before;
}

static bool open_all(struct cone_pair *c, const struct dag *d) {
    uint32_t before = c->nopened;
    for (uint32_t i = 0; i < c->ninputs && c->nopened < MAX_OPENED; i++)
        if (is_made(d, c->inputs[i]))
            c->opened[c->nopened++] = c->inputs[i];
    return c->nopened > before;
}

bool cone_grow(struct cone_pair *c, const struct dag *d, enum merge least) {
    return (open_foreign(c, d) || open_all(c, d)) && cone_build(c, d, least);
}

bool cone_grow_to_shared(struct cone_pair *c, const struct dag *d, enum merge least) {
    return (open_behind_foreign(c, d) || open_foreign(c, d) || open_all(c, d)) && cone_build(c, d, least);
}

/* Marks the value and all that it is made of. */
static void mark_made_of(const struct dag *d, uint32_t value, bool *marked, uint32_t *stack) {
    uint32_t n = 0;
    for (stack[n++] = value; n > 0;) {
        uint32_t v = stack[--n];
        if (v == NONE || marked[v])
            continue;
        marked[v] = true;
        uint32_t node = d->values[v].node;
        for (uint32_t i = 0; node != NONE && i < d->nodes[node].noperands; i++)
            if (dag_operands(d, node)[i] != NONE && !marked[dag_operands(d, node)[i]])
                stack[n++] = dag_operands(d, node)[i];
    }
}

/* Whole numbers, or floats that are chosen or cast by these. */
static bool is_mask(const struct dag *d, uint32_t value) {
    for (int left = MAX_WALK; left > 0; left--) {
        const struct graph *g = dag_graph(d, value);
        uint32_t node = d->values[value].node;
        if (format_is_integer(graph_dtype(g, d->values[value].value)))
            return true;
        if (node == NONE || d->nodes[node].noperands == 0 || dag_operands(d, node)[0] == NONE ||
            !(class_moves(dag_class(d, node)) || dag_class(d, node) == OP_SLICE || dag_kind(d, node) == K_WHERE))
            return false;
        value = dag_operands(d, node)[0];
    }
    return false;
}

/* Some argument is in what the input is made of and in nothing that the other side needs. */
static bool is_free(const struct cone_pair *c, const struct dag *d, uint32_t input, int side, struct arena *a) {
    bool *own = arena_alloc(a, d->nvalues + (size_t)1), *other = arena_alloc(a, d->nvalues + (size_t)1), free = false;
    uint32_t *stack = arena_alloc(a, (d->noperands + (size_t)1) * sizeof *stack);
    mark_made_of(d, c->inputs[input], own, stack);
    for (uint32_t i = 0; i < c->ninputs; i++)
        if (c->used[i] != 1 << side)
            mark_made_of(d, c->inputs[i], other, stack);
    for (uint32_t v = 0; v < d->nvalues && !free; v++)
        free = own[v] && !other[v] && d->values[v].node == NONE;
    return free && format_is_float(graph_dtype(dag_graph(d, c->inputs[input]), d->values[c->inputs[input]].value)) &&
           !is_mask(d, c->inputs[input]);
}

bool cone_foreign_are_free(const struct cone_pair *c, const struct dag *d, struct arena *a) {
    bool free = true;
    for (int side = 0; side < SIDES; side++)
        for (uint32_t i = 0; i < c->ninputs && free; i++)
            free = !is_foreign_to(c, d, i, side) || is_free(c, d, i, side, a);
    return free;
}

bool cone_grow_masks(struct cone_pair *c, const struct dag *d, enum merge least) {
    uint32_t first = c->nopened, before = UINT32_MAX;
    while (c->nopened != before) {
        before = c->nopened;
        for (uint32_t i = 0; i < c->ninputs && c->nopened < MAX_OPENED; i++)
            if (is_made(d, c->inputs[i]) && is_mask(d, c->inputs[i]))
                c->opened[c->nopened++] = c->inputs[i];
        if (c->nopened != before && !cone_build(c, d, least))
            return false;
    }
    return c->nopened > first;
}
