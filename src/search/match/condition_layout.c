/* Conditions about the order of elements: of a value in memory, and of one value in another. */
#include "ir/graph/movement.h"
#include "search/match/conditions.h"

/* Row-major strides of a tensor; false when it is dynamic. */
static bool strides_of(const struct graph *g, uint32_t value, const int64_t **shape, uint32_t *rank, int64_t *strides) {
    int64_t stride = 1;
    *shape = graph_shape(g, value, rank);
    if (!*shape || *rank > MAX_RANK || graph_numel(g, value) < 1)
        return false;
    for (uint32_t d = *rank; d-- > 0; stride *= (*shape)[d])
        strides[d] = stride;
    return true;
}

/* The space that the map is the identity over; NONE when it is no such map. */
static uint32_t own_space(const struct graph *g, const struct binding *b) {
    int64_t numel = graph_numel(g, b->value);
    bool own = b->map->n == 1 && b->map->t[0].lo == 1 && b->map->t[0].stride == 1 && b->map->t[0].size == numel;
    return own ? b->map->t[0].space : NONE;
}

/* The map from the elements of `to` as they are numbered to those of a value that it was moved from. */
static bool map_from(const struct graph *g, uint32_t to, uint32_t from, struct imap *map) {
    struct link links[MAX_CHAIN];
    struct imap own = {1, {{.lo = 1, .size = graph_numel(g, to), .stride = 1}}};
    uint32_t n = movement_chain(g, to, &own, links, MAX_CHAIN - 1), i = 0;
    while (i < n && links[i].value != from)
        i++;
    if (i < n)
        imap_copy(map, &links[i].map);
    return i < n;
}

/* read_as(whole, split, 0, 2, 1, 3): the elements of `whole` in row-major order run over the dimensions of `split` in
 * this order, the last one fastest: heads merged or split. */
bool condition_read_as(const struct condition_call *c) {
    uint32_t rank;
    int64_t strides[MAX_RANK];
    const int64_t *shape;
    if (c->arg[0].value == NONE || c->arg[1].value == NONE ||
        !strides_of(c->graph, c->arg[1].value, &shape, &rank, strides) || rank != c->number->ngiven ||
        graph_numel(c->graph, c->arg[0].value) != graph_numel(c->graph, c->arg[1].value))
        return false;
    uint32_t whole_space = own_space(c->graph, &c->arg[0]), split_space = own_space(c->graph, &c->arg[1]);
    struct imap expected = {0}, actual;
    bool outward = whole_space != NONE;    /* `split` is found below `whole`, or the other way round */
    if (!outward && split_space == NONE) { /* neither is a root */
        if (!map_from(c->graph, c->arg[0].value, c->arg[1].value, &actual))
            return false;
        outward = true;
        whole_space = actual.n ? actual.t[0].space : 0;
    } else {
        imap_copy(&actual, c->arg[outward].map);
    }
    int64_t lo = 1;
    for (uint32_t i = rank; i-- > 0;) {
        int d = c->number->given[i];
        if (d < 0 || d >= (int)rank)
            return false;
        struct term t = {whole_space, lo, shape[d], strides[d]};
        if (!outward)
            t = (struct term){split_space, strides[d], shape[d], lo};
        expected.t[expected.n++] = t;
        lo *= shape[d];
    }
    imap_canonical(&expected);
    imap_canonical(&actual);
    return imap_equal(&expected, &actual);
}

/* One dimension of `out` repeats that of x: all of it again (tile), or each element (interleave); the others are equal.
 */
static bool times_fit(const struct graph *g, const struct binding *b, bool interleave) {
    uint32_t rank, out_rank, space, more = 0;
    int64_t strides[MAX_RANK], out_strides[MAX_RANK];
    const int64_t *shape, *out_shape;
    if (b[0].value == NONE || b[1].value == NONE || (space = own_space(g, &b[0])) == NONE ||
        !strides_of(g, b[0].value, &out_shape, &out_rank, out_strides) ||
        !strides_of(g, b[1].value, &shape, &rank, strides) || rank != out_rank)
        return false;
    struct imap expected = {0}, actual = *b[1].map;
    for (uint32_t d = 0; d < rank; d++) {
        if (out_shape[d] % shape[d] != 0)
            return false;
        int64_t times = out_shape[d] / shape[d];
        more += times > 1 && shape[d] > 1;
        expected.t[expected.n++] =
            (struct term){space, out_strides[d] * (interleave ? times : 1), shape[d], strides[d]};
    }
    imap_canonical(&expected);
    imap_canonical(&actual);
    return more == 1 && imap_equal(&expected, &actual);
}

bool condition_repeats(const struct condition_call *c) {
    return times_fit(c->graph, c->arg, c->number->given[0] != 0);
}
