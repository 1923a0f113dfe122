#include "compile/verify/hosted.h"

#include <stdlib.h>

/* Which of the arguments a value is made of, a bit each. */
enum { MAX_ARGUMENTS = 62 };
static const uint64_t of_others = 1ull << 63;

struct arguments {
    uint32_t at[MAX_ARGUMENTS], n; /* of BEFORE */
};

bool is_hosted(const struct dag *d, uint32_t value) {
    const struct dag_value *v = &d->values[value];
    return v->side == AFTER && v->rep == NONE && v->join == NONE && v->node != NONE && dag_class(d, v->node) == OP_CALL;
}

uint32_t hosted_in_cone(const struct dag *d, const struct cone_pair *c, uint32_t out[MAX_HOSTED]) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->nnodes; i++) {
        const struct dag_node *x = &d->nodes[c->nodes[i]];
        for (uint32_t r = 0; r < x->nresults; r++) {
            if (!is_hosted(d, x->first_result + r))
                continue;
            if (n == MAX_HOSTED)
                return MAX_HOSTED + 1;
            out[n++] = x->first_result + r;
        }
    }
    return n;
}

/* The arguments of BEFORE that a value of AFTER is made of. Nodes are in the order in which they are evaluated. */
static bool find_arguments(const struct dag *d, uint32_t value, struct arguments *all) {
    if (d->values[value].node == NONE) {
        *all = (struct arguments){{d->values[value].rep}, 1};
        return d->values[value].rep != NONE;
    }
    bool *needed = xcalloc(d->nvalues + (size_t)1, sizeof *needed), good = true;
    needed[value] = true;
    for (uint32_t node = d->values[value].node + 1; good && node-- > d->side[AFTER].first_node;) {
        const struct dag_node *x = &d->nodes[node];
        bool used = false;
        for (uint32_t i = 0; i < x->nresults; i++)
            used |= needed[x->first_result + i];
        for (uint32_t i = 0; used && good && i < x->noperands; i++) {
            uint32_t v = dag_operands(d, node)[i];
            if (v == NONE || needed[v])
                continue;
            needed[v] = true;
            if (d->values[v].node != NONE)
                continue;
            good = d->values[v].rep != NONE && all->n < MAX_ARGUMENTS;
            if (good)
                all->at[all->n++] = d->values[v].rep;
        }
    }
    free(needed);
    return good;
}

/* What BEFORE makes of these arguments alone. */
struct made {
    const struct dag *d;
    uint64_t all, *of; /* per value: arguments, or `of_others` */
    bool *used;        /* per value: something else takes it, perhaps moved */
};

static bool moves(const struct dag *d, uint32_t node) {
    return class_moves(dag_class(d, node));
}

static void find_made(struct made *m, const struct arguments *args) {
    const struct dag *d = m->d;
    const struct dag_side *b = &d->side[BEFORE];
    for (uint32_t i = 0; i < b->nargs; i++)
        m->of[b->first_arg + i] = of_others;
    for (uint32_t i = 0; i < args->n; i++)
        m->of[args->at[i]] = 1ull << i;
    for (uint32_t node = b->first_node; node < b->end_node; node++) {
        const struct dag_node *x = &d->nodes[node];
        uint64_t of = dag_class(d, node) == OP_CALL ? of_others : 0;
        for (uint32_t i = 0; i < x->noperands; i++)
            of |= dag_operands(d, node)[i] == NONE ? 0 : m->of[dag_operands(d, node)[i]];
        for (uint32_t i = 0; i < x->nresults; i++)
            m->of[x->first_result + i] = of;
    }
}

static void find_used(struct made *m) {
    const struct dag *d = m->d;
    const struct dag_side *b = &d->side[BEFORE];
    for (uint32_t i = 0; i < b->noutputs; i++)
        if (b->outputs[i] != NONE)
            m->used[b->outputs[i]] = true;
    for (uint32_t node = b->end_node; node-- > b->first_node;) {
        const struct dag_node *x = &d->nodes[node];
        bool other = x->nresults == 0 || (m->of[x->first_result] & ~m->all) != 0;
        bool passes = x->nresults > 0 && moves(d, node) && m->used[x->first_result];
        for (uint32_t i = 0; i < x->noperands && (other || passes); i++)
            if (dag_operands(d, node)[i] != NONE)
                m->used[dag_operands(d, node)[i]] = true;
    }
}

uint32_t hosted_base(const struct dag *d, uint32_t value) {
    uint32_t node = d->values[value].node;
    while (node != NONE && moves(d, node) && dag_operands(d, node)[0] != NONE) {
        value = dag_operands(d, node)[0];
        node = d->values[value].node;
    }
    return value;
}

static bool has_as_many(const struct dag *d, uint32_t v, uint32_t value) {
    return dag_numel(d, v) == dag_numel(d, value);
}

/* All extents but one are the same. */
static bool fits_beside(const struct dag *d, uint32_t v, uint32_t value, uint32_t dim) {
    uint32_t n, m;
    const int64_t *a = graph_shape(dag_graph(d, v), d->values[v].value, &n);
    const int64_t *b = graph_shape(dag_graph(d, value), d->values[value].value, &m);
    bool fits = a && b && n == m;
    for (uint32_t i = 0; fits && i < n; i++)
        fits = i == dim ? a[i] < b[i] : a[i] == b[i];
    return fits;
}

/* A value that is sought: `dim` is NONE, or that along which it is a part. */
struct wanted {
    uint32_t value, dim;
};

static uint32_t add_candidate(const struct made *m, uint32_t v, struct wanted w, uint32_t *out, uint32_t n) {
    uint32_t node = m->d->values[v].node;
    bool reshaped = node != NONE && op_table[dag_kind(m->d, node)].movement == MOVEMENT_RESHAPE;
    bool fits = w.dim == NONE ? has_as_many(m->d, v, w.value) : fits_beside(m->d, v, w.value, w.dim);
    if (n < MAX_HOSTED_CANDIDATES && m->of[v] == m->all && m->used[v] && fits && !reshaped)
        out[n++] = v;
    return n;
}

static uint32_t find_candidates(const struct dag *d, const struct arguments *args, struct wanted w,
                                uint32_t out[MAX_HOSTED_CANDIDATES]) {
    const struct dag_side *b = &d->side[BEFORE];
    uint32_t n = 0;
    struct made m = {d, (1ull << args->n) - 1, xcalloc(d->nvalues + (size_t)1, sizeof *m.of),
                     xcalloc(d->nvalues + (size_t)1, sizeof *m.used)};
    find_made(&m, args);
    find_used(&m);
    for (uint32_t i = 0; i < args->n; i++)
        n = add_candidate(&m, args->at[i], w, out, n);
    for (uint32_t node = b->first_node; node < b->end_node; node++)
        for (uint32_t i = 0; i < d->nodes[node].nresults; i++)
            n = add_candidate(&m, d->nodes[node].first_result + i, w, out, n);
    free(m.of);
    free(m.used);
    return n < MAX_HOSTED_CANDIDATES ? n : 0;
}

/* The parts are as long as the whole. */
static bool fills(const struct dag *d, const struct dag_join *join, uint32_t value) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < join->n; i++)
        sum += dag_numel(d, join->parts[i]);
    return sum == dag_numel(d, value);
}

/* The same op makes both: the host does to all parts the same. */
static bool made_alike(const struct dag *d, uint32_t v, uint32_t w) {
    uint32_t x = d->values[v].node, y = d->values[w].node;
    return x == NONE || y == NONE ? x == y : dag_kind(d, x) == dag_kind(d, y);
}

/* Parts for the operands from `join->n` on. */
static uint32_t add_joined(const struct dag *d, struct wanted w, struct dag_join *join, struct dag_join *out,
                           uint32_t n) {
    uint32_t found[MAX_HOSTED_CANDIDATES], node = d->values[w.value].node, at = join->n;
    struct arguments args = {.n = 0};
    if (at == d->nodes[node].noperands && fills(d, join, w.value) && n < MAX_HOSTED_CANDIDATES)
        out[n++] = *join;
    if (at == d->nodes[node].noperands || !find_arguments(d, dag_operands(d, node)[at], &args))
        return n;
    uint32_t nfound = find_candidates(d, &args, w, found);
    for (uint32_t i = 0; i < nfound && n < MAX_HOSTED_CANDIDATES; i++) {
        if (at > 0 && !made_alike(d, join->parts[0], found[i]))
            continue;
        join->parts[at] = found[i];
        join->n = at + 1;
        n = add_joined(d, w, join, out, n);
    }
    join->n = at;
    return n;
}

uint32_t hosted_candidates(const struct dag *d, uint32_t value, struct dag_join out[MAX_HOSTED_CANDIDATES]) {
    struct arguments args = {.n = 0};
    uint32_t found[MAX_HOSTED_CANDIDATES], n = 0, rank = 0, node = d->values[value].node;
    if (find_arguments(d, value, &args))
        n = find_candidates(d, &args, (struct wanted){value, NONE}, found);
    for (uint32_t i = 0; i < n; i++)
        out[i] = (struct dag_join){.parts = {found[i]}, .n = 1};
    uint32_t operands = d->nodes[node].noperands;
    bool joined = n == 0 && operands > 1 && operands <= MAX_JOINED && d->nodes[node].nresults == 1 &&
                  !has_id(dag_operands(d, node), operands, NONE) &&
                  graph_shape(dag_graph(d, value), d->values[value].value, &rank);
    for (uint32_t dim = 0; joined && dim < rank && n < MAX_HOSTED_CANDIDATES; dim++) {
        struct dag_join join = {.dim = dim};
        n = add_joined(d, (struct wanted){value, dim}, &join, out, n);
    }
    return n < MAX_HOSTED_CANDIDATES ? n : 0;
}
