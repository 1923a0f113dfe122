/* Values seen through movement: one op after another, with the index map. */
#include "ir/graph/movement.h"

uint32_t movement_chain(const struct graph *g, uint32_t value, const struct imap *map, struct link *out, uint32_t max) {
    uint32_t n = 0;
    out[n].value = value;
    out[n].op = NONE;
    imap_copy(&out[n].map, map);
    imap_canonical(&out[n++].map);
    while (n < max) {
        uint32_t op = g->m->values[out[n - 1].value].def;
        if (op == NONE || !graph_looks_through(g, op) || !imap_through(g, op, &out[n - 1].map, &out[n].map))
            break;
        imap_canonical(&out[n].map);
        out[n].value = graph_through(g, op);
        out[n++].op = op;
    }
    return n;
}

uint32_t movement_source(const struct graph *g, uint32_t value) {
    uint32_t op = g->m->values[value].def;
    for (int n = 0; n < MAX_CHAIN && op != NONE && graph_looks_through(g, op); n++) {
        value = graph_through(g, op);
        op = g->m->values[value].def;
    }
    return value;
}

uint32_t movement_result(const struct graph *g, uint32_t value) {
    for (int n = 0; n < MAX_CHAIN && graph_nuses(g, value) == 1; n++) {
        uint32_t user = g->uses[g->first_use[value]];
        if (!graph_looks_through(g, user))
            break;
        value = g->m->ops[user].first_result;
    }
    return value;
}

/* The term of stride 1 tells which axis is innermost. */
bool last_axis_innermost(const struct imap *map, const struct axes *axes) {
    struct imap last;
    axes_axis(axes, -1, &last);
    for (uint32_t i = 0; i < map->n; i++)
        if (map->t[i].stride == 1)
            return imap_within(&(struct imap){1, {map->t[i]}}, &last);
    return true;
}
