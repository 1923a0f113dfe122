/* Values seen through movement: one op after another, with the index map. */
#include "ir/graph/movement.h"

enum { MAX_MADE = 6 }; /* calls and elementwise ops between a value and what it is made of */

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

/* What an elementwise op computes the value of, if all else is single numbers; the map goes on to that. */
static uint32_t only_operand(const struct graph *g, uint32_t value, struct imap *map) {
    uint32_t op = g->m->values[value].def, only = NONE;
    struct imap of_value;
    if (op == NONE || graph_class(g, op) != OP_ELTWISE || !graph_plain(g, op))
        return NONE;
    for (uint32_t k = 0; k < graph_noperands(g, op); k++) {
        uint32_t v = graph_operands(g, op)[k];
        bool number = v != NONE && (graph_constant(g, v).known || graph_numel(g, v) == 1 || g->varies[v] == 0);
        if (v == NONE || (only != NONE && !number))
            return NONE;
        only = number ? only : v;
    }
    imap_copy(&of_value, map);
    return only != NONE && imap_operand(g, value, only, &of_value, map) ? only : NONE;
}

/* All of its elements lie along one dimension, so that this is all that dimensions tell. */
static bool is_flat(const struct graph *g, uint32_t value) {
    uint32_t rank;
    const int64_t *shape = graph_shape(g, value, &rank);
    bool flat = false;
    for (uint32_t d = 0; shape && d < rank; d++)
        flat |= shape[d] == graph_numel(g, value);
    return flat;
}

/* What the value is moved or computed from tells more than its own dimensions. */
static bool is_told_before(const struct graph *g, uint32_t value) {
    uint32_t source = movement_source(g, value), op = g->m->values[source].def;
    if (source != value && g->varies[source] != graph_dimensions(g, source))
        return true;
    return op != NONE && graph_class(g, op) == OP_ELTWISE && (is_flat(g, value) || is_flat(g, source));
}

bool movement_split(const struct graph *g, uint32_t value, const struct imap *map, struct imap *varying,
                    struct imap *equal) {
    struct link links[MAX_CHAIN];
    struct imap last, part;
    if (imap_split(g, value, map, varying, equal))
        return true;
    imap_copy(&last, map);
    bool told = is_told_before(g, value);
    for (uint32_t steps = 0, of = told ? value : graph_callee_value(g, value); steps < MAX_MADE && of != NONE;
         steps++) {
        uint32_t n = movement_chain(g, of, &last, links, MAX_CHAIN);
        value = links[n - 1].value;
        imap_copy(&last, &links[n - 1].map);
        if (told && imap_split(g, value, &last, &part, equal)) {
            imap_copy(&last, &part);
            break;
        }
        of = graph_callee_value(g, value);
        if (of == NONE && told)
            of = only_operand(g, value, &last);
    }
    return imap_part(map, &last, varying, equal) && equal->n > 0;
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
