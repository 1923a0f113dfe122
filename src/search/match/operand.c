/* An operand of a fused op as Python passes it: named, reshaped and turned to what the formula has there. */
#include "search/match/evaluate.h"

#include <ctype.h>
#include <string.h>

/* How a value lies beside the axes of the formula: along axis order[i] are the extents[i] elements of dimension i. */
struct lie {
    uint32_t rank, order[MAX_RANK];
    int64_t extents[MAX_RANK];
};

/* The largest stride of the map along the axis; 0: it has none, every element along the axis is the same. */
static int64_t stride_along(const struct imap *map, const struct imap *axis) {
    int64_t most = 0;
    for (uint32_t i = 0; i < map->n; i++)
        if (imap_touches(&(struct imap){1, {map->t[i]}}, axis) && map->t[i].stride > most)
            most = map->t[i].stride;
    return most;
}

/* How many axes of the root from `at` on are, as one, the axis. 0: none. */
static uint32_t parts_of(const struct axes *root, uint32_t at, const struct imap *axis) {
    for (uint32_t n = 1; at + n <= root->n; n++) {
        struct imap whole;
        axes_join(root, at, n, &whole);
        if (imap_equal(&whole, axis) && whole.n)
            return n;
    }
    return 0;
}

/* The axes, those of the root in place of one that is several of them: rows of a product that is reshaped. */
static bool split_axes(const struct axes *root, const struct axes *axes, struct axes *out) {
    axes_clear(out);
    for (uint32_t i = 0; i < axes->n; i++) {
        struct imap axis;
        uint32_t at = 0, n = 0;
        axes_axis(axes, (int)i, &axis);
        while (at < root->n && !(n = parts_of(root, at, &axis)))
            at++;
        const struct axes *from = n > 1 ? root : axes;
        for (uint32_t k = n > 1 ? at : i, end = n > 1 ? at + n : i + 1; k < end; k++)
            if (!axes_add(out, from->t + axes_begin(from, k), from->end[k] - axes_begin(from, k)))
                return false;
    }
    return true;
}

/* False: no reshape and permute make the operand of the value. */
static bool lie_of(const struct graph *g, uint32_t value, const struct imap *map, const struct axes *axes,
                   struct lie *lie) {
    int64_t strides[MAX_RANK] = {0}, numel = 1;
    struct axes laid;
    struct imap axis, whole;
    axes_clear(&laid);
    lie->rank = axes->n;
    for (uint32_t i = 0; i < axes->n; i++) {
        axes_axis(axes, (int)i, &axis);
        strides[i] = stride_along(map, &axis);
        lie->order[i] = i;
    }
    for (uint32_t i = 0; i < axes->n; i++)
        for (uint32_t k = i + 1; k < axes->n; k++) {
            uint32_t a = lie->order[i], b = lie->order[k];
            if (!strides[a] || !strides[b] || strides[a] >= strides[b])
                continue;
            lie->order[i] = b;
            lie->order[k] = a;
        }
    for (uint32_t i = 0; i < axes->n; i++) {
        uint32_t a = lie->order[i], from = axes_begin(axes, a);
        lie->extents[i] = strides[a] ? axes_extent(axes, (int)a) : 1;
        numel *= lie->extents[i];
        if (!axes_add(&laid, axes->t + from, strides[a] ? axes->end[a] - from : 0))
            return false;
    }
    return numel == graph_numel(g, value) && imap_of_coordinates(&laid, lie->extents, lie->rank, &whole) &&
           imap_equal(&whole, map);
}

/* Of the function that the match is in, where it is called inside of another one. NONE: there it has no name. */
static uint32_t named_value(const struct evaluation *e, uint32_t value, const struct imap *map, struct imap *out) {
    const struct graph *g = e->graph;
    uint32_t f = 0, root = e->nops ? e->ops[e->nops - 1] : 0;
    while (f < g->m->nfuncs && (root < g->m->funcs[f].first_op || root >= g->m->funcs[f].end_op))
        f++;
    imap_copy(out, map);
    for (int step = 0; f < g->m->nfuncs && value != NONE && step < 64; step++) {
        uint32_t op = g->m->values[value].def, own = NONE, number;
        struct imap before;
        if (op == NONE ? !graph_argument_of(g, value, &own, &number) || own == f
                       : op >= g->m->funcs[f].first_op && op < g->m->funcs[f].end_op)
            return value;
        if (op == NONE) {
            value = graph_caller_value(g, value);
            continue;
        }
        if (!imap_through(g, op, out, &before))
            return NONE;
        imap_copy(out, &before);
        value = graph_through(g, op);
    }
    return value;
}

/* "v3_1" of %3#1. */
static void add_name(const struct graph *g, uint32_t value, struct buf *out) {
    struct str name = mlir_span(g->m, g->m->values[value].name);
    for (size_t i = 0; i < name.n; i++) {
        if (i == 0 && name.p[i] == '%') {
            buf_add(out, name.n > 1 && isdigit((unsigned char)name.p[1]) ? STR("v") : STR(""));
            continue;
        }
        buf_addc(out, isalnum((unsigned char)name.p[i]) ? name.p[i] : '_');
    }
}

static void add_numbers(struct buf *out, const int64_t *numbers, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        buf_add(out, i ? STR(", ") : STR("("));
        buf_int(out, numbers[i]);
    }
    buf_add(out, n == 1 ? STR(",)") : STR(")"));
}

/* An op of the match moves it: what the others have there is not its shape. */
static bool is_moved(const struct evaluation *e, uint32_t value) {
    const struct graph *g = e->graph;
    for (uint32_t i = 0; i < e->nops; i++)
        for (uint32_t k = 0; graph_class(g, e->ops[i]) == OP_MOVE && k < graph_noperands(g, e->ops[i]); k++)
            if (graph_operands(g, e->ops[i])[k] == value)
                return true;
    return false;
}

/* The value has these extents as it is, but for ones; of a value that is `moved` or turned only leading ones do not
 * count, or none where not even these may be missing. */
static bool has_extents(const struct graph *g, uint32_t value, const struct lie *lie, bool broadcast, bool moved) {
    uint32_t rank, k = 0;
    const int64_t *shape = graph_shape(g, value, &rank);
    bool same = true, leading = true;
    for (uint32_t i = 0; i < rank && same; i++) {
        bool skips = broadcast && (leading || !moved);
        leading &= shape[i] == 1;
        while (skips && k < lie->rank && lie->extents[k] == 1)
            k++;
        if (skips && shape[i] == 1)
            continue;
        same = k < lie->rank && shape[i] == lie->extents[k++];
    }
    while (broadcast && !moved && k < lie->rank && lie->extents[k] == 1)
        k++;
    return same && k == lie->rank;
}

bool operand_in_python(const struct evaluation *e, const struct binding *b, struct buf *out) {
    const struct graph *g = e->graph;
    struct lie lie;
    struct imap map;
    struct axes axes;
    uint32_t value = named_value(e, b->value, b->map, &map), first = 0;
    if (value == NONE || !split_axes(e->axes, b->axes, &axes) || !lie_of(g, value, &map, &axes, &lie))
        return false;
    while (first < lie.rank && lie.order[first] == first)
        first++;
    bool turned = first < lie.rank, last = first + 2 == lie.rank;
    bool reshaped = !has_extents(g, value, &lie, !turned || last, turned || value != b->value || is_moved(e, value));
    buf_add(out, !turned ? STR("") : last ? STR("ttnn.transpose(") : STR("ttnn.permute("));
    buf_add(out, reshaped ? STR("ttnn.reshape(") : STR(""));
    add_name(g, value, out);
    if (reshaped) {
        buf_add(out, STR(", "));
        add_numbers(out, lie.extents, lie.rank);
        buf_addc(out, ')');
    }
    if (turned && !last) {
        int64_t at[MAX_RANK];
        for (uint32_t i = 0; i < lie.rank; i++)
            at[lie.order[i]] = i;
        buf_add(out, STR(", "));
        add_numbers(out, at, lie.rank);
    }
    buf_add(out, !turned ? STR("") : last ? STR(", -2, -1)") : STR(")"));
    return true;
}
