/* Index maps of operands. One that is computed from a map that all searches from the root share is shared as well: it
 * is found again by the op and the address of the map before it. */
#include "match/matcher.h"

#include <string.h>

void maps_begin(struct matcher *m, uint32_t op) {
    struct known_maps *k = &m->known;
    if (k->op == op)
        return;
    k->op = op;
    k->root++;
    k->used = 0;
    memset(k->first, 0, sizeof k->first);
}

void *maps_room(struct matcher *m, bool kept, size_t n) {
    if (!kept)
        return matcher_scratch(m, n);
    m->known.used += (n + 15) & ~(size_t)15;
    return m->known.room + m->known.used - ((n + 15) & ~(size_t)15);
}

static bool has_room(const struct known_maps *k) {
    return k->used + KNOWN_AT_ONCE <= KNOWN_BYTES;
}

static bool is_kept(const struct known_maps *k, const void *p) {
    return (uintptr_t)p - (uintptr_t)k->room < k->used;
}

struct known_map *maps_find(struct matcher *m, struct known_map key) {
    struct known_maps *all = &m->known;
    if (!has_room(all) || !is_kept(all, key.from) || (key.axes && !is_kept(all, key.axes)))
        return NULL;
    uint64_t h = hash_mix((uint64_t)key.op << 32 | key.operand, (uintptr_t)key.from ^ (uintptr_t)key.axes << 1);
    struct known_map *k = &all->table[h % KNOWN_MAPS];
    if (k->root != all->root || k->op != key.op || k->operand != key.operand || k->from != key.from ||
        k->axes != key.axes)
        *k = key;
    return k;
}

const struct imap *matcher_operand_map(struct matcher *m, uint32_t op, uint32_t operand, const struct imap *map) {
    struct known_map *k = maps_find(m, (struct known_map){.op = op, .operand = operand, .from = map});
    if (k && k->root)
        return k->to;
    struct imap *to = maps_room(m, k, sizeof *to);
    uint32_t value = operand == NONE ? NONE : graph_operands(m->g, op)[operand];
    bool found =
        to && (operand == NONE ? imap_through(m->g, op, map, to)
                               : value != NONE && imap_operand(m->g, m->g->m->ops[op].first_result, value, map, to));
    if (found)
        imap_canonical(to);
    to = found ? to : NULL;
    if (k) {
        k->to = to;
        k->root = m->known.root;
    }
    return to;
}

const struct imap *matcher_map_through(struct matcher *m, uint32_t op, const struct imap *map) {
    const struct imap *to = graph_looks_through(m->g, op) ? matcher_operand_map(m, op, NONE, map) : NULL;
    if (to)
        matcher_look_through(m, op, true);
    return to;
}

/* The formula's axes at a root are the dimensions of its tensor. In one reading trailing ones of a single element,
 * which a reshape put there, count as leading ones: the last axis is one along which something varies. */
static bool root_axes(const struct imap *map, const int64_t *shape, uint32_t rank, bool ones_lead, struct axes *out) {
    struct axes c;
    uint32_t last = rank;
    if (!imap_coordinates(map, shape, rank, &c))
        return false;
    while (ones_lead && last > 0 && shape[last - 1] == 1)
        last--;
    axes_clear(out);
    for (uint32_t d = last; d < rank; d++)
        if (!axes_add(out, NULL, 0))
            return false;
    for (uint32_t d = 0; d < last; d++)
        if (!axes_add(out, c.t + axes_begin(&c, d), c.end[d] - axes_begin(&c, d)))
            return false;
    return true;
}

static struct beginning begin_at(struct matcher *m, uint32_t op, uint32_t space, bool kept) {
    uint32_t rank, value = m->g->m->ops[op].first_result;
    const int64_t *shape = graph_shape(m->g, value, &rank), numel = graph_numel(m->g, value);
    struct imap *map = maps_room(m, kept, sizeof *map);
    struct axes *axes = maps_room(m, kept, sizeof *axes);
    if (numel < 1 || !map || !axes)
        return (struct beginning){NULL, NULL};
    imap_identity(map, space, numel);
    bool known = root_axes(map, shape, rank, space ? !m->ones_stay : m->ones_lead, axes);
    return (struct beginning){map, known ? axes : NULL};
}

struct goal *matcher_root_goal(struct matcher *m, const struct node *node, uint32_t op, uint32_t space) {
    uint32_t value = m->g->m->ops[op].first_result;
    struct beginning once = {NULL, NULL}, *b = &m->known.first[m->ones_lead];
    bool kept = space == 0 && op == m->known.op && (b->axes || has_room(&m->known));
    if (!kept)
        b = &once;
    if (!b->axes)
        *b = begin_at(m, op, space, kept);
    struct goal *c = b->axes ? matcher_scratch(m, sizeof *c) : NULL;
    if (c)
        *c = (struct goal){.node = node, .value = value, .map = b->map, .axes = b->axes, .slot = NONE, .parent = NONE};
    return c;
}
