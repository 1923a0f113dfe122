/* Shape rules. Movement by attributes that only its result shows (reshape, broadcast, repeat) has none here. */
#include "ir/ops/infer.h"

#include <string.h>

const struct attr *attrs_axes(const struct attrs *a, enum op_kind k) {
    const struct attr *axes = NULL;
    for (const char *const *key = op_table[k].axes; *key && !axes; key++)
        axes = attrs_find(a, *key);
    return axes;
}

/* Counted from the end where negative; false where there is no such dimension. */
static bool is_dimension(int64_t *d, uint32_t rank) {
    *d += *d < 0 ? rank : 0;
    return *d >= 0 && *d < rank;
}

uint32_t reduced_dims(enum op_kind k, const struct attrs *a, uint32_t rank, bool *reduced) {
    const struct attr *axes = attrs_axes(a, k);
    int32_t n = axes ? axes->n : 0;
    uint32_t count = 0;
    if (n < 0 || n > (int32_t)rank)
        return NONE;
    for (uint32_t d = 0; d < rank; d++)
        reduced[d] = n == 0;
    for (int i = 0; i < n; i++) {
        int64_t d = axes->list[i];
        if (!is_dimension(&d, rank))
            return NONE;
        reduced[d] = true;
    }
    for (uint32_t d = 0; d < rank; d++)
        count += reduced[d];
    return count;
}

/* Each dimension once. */
static bool is_order(const uint32_t *order, uint32_t rank) {
    unsigned seen = 0;
    for (uint32_t d = 0; d < rank; d++)
        seen |= 1u << order[d];
    return seen == (1u << rank) - 1;
}

bool permuted_dims(enum op_kind k, const struct attrs *a, uint32_t rank, uint32_t *order) {
    const int64_t *given;
    if (rank > MAX_RANK)
        return false;
    if (k == K_PERMUTE) {
        if (attrs_list(a, "permutation", &given) != (int32_t)rank)
            return false;
        for (uint32_t d = 0; d < rank; d++) {
            int64_t from = given[d];
            if (!is_dimension(&from, rank))
                return false;
            order[d] = (uint32_t)from;
        }
        return is_order(order, rank);
    }
    int64_t first = attrs_int(a, "dim0", rank), second = attrs_int(a, "dim1", rank);
    if (!is_dimension(&first, rank) || !is_dimension(&second, rank))
        return false;
    for (uint32_t d = 0; d < rank; d++)
        order[d] = d;
    order[first] = (uint32_t)second;
    order[second] = (uint32_t)first;
    return true;
}

enum inferred infer_broadcast(const struct shape *const *operands, uint32_t n, struct shape *out) {
    *out = (struct shape){0};
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        const struct shape *x = operands[i];
        if (!x)
            continue;
        struct shape wide = x->rank >= out->rank ? *x : *out, narrow = x->rank >= out->rank ? *out : *x;
        for (uint32_t d = 0; d < narrow.rank; d++) {
            int64_t *to = &wide.dim[wide.rank - narrow.rank + d];
            if (*to != 1 && narrow.dim[d] != 1 && narrow.dim[d] != *to)
                return INFER_NEVER;
            *to = *to == 1 ? narrow.dim[d] : *to;
        }
        *out = wide;
        any = true;
    }
    return any ? INFER_SHAPE : INFER_UNKNOWN;
}

/* The dimensions of dim_arg, or all, have one element, or are gone without keep_dim. */
static enum inferred infer_reduction(enum op_kind k, const struct attrs *a, const struct shape *x, struct shape *out) {
    bool reduced[MAX_RANK] = {false}, keep = attrs_flag(a, "keep_dim");
    const struct attr *axes = attrs_axes(a, k);
    if (reduced_dims(k, a, x->rank, reduced) == NONE)
        return axes && axes->n < 0 ? INFER_UNKNOWN : INFER_NEVER;
    *out = (struct shape){0};
    for (uint32_t d = 0; d < x->rank; d++)
        if (!reduced[d] || keep)
            out->dim[out->rank++] = reduced[d] ? 1 : x->dim[d];
    return INFER_SHAPE;
}

/* Of the matrices of the last two dimensions, over batches that broadcast. A vector is a row on the left and a column
 * on the right, and has no such dimension in the product; that of two vectors is one element. */
static enum inferred infer_product(const struct attrs *a, const struct shape *x, const struct shape *y,
                                   struct shape *out) {
    bool row = x->rank == 1, column = y->rank == 1;
    struct shape left = row ? (struct shape){2, {1, x->dim[0]}} : *x;
    struct shape right = column ? (struct shape){2, {y->dim[0], 1}} : *y;
    if (x->rank < 1 || y->rank < 1)
        return INFER_NEVER;
    bool transpose_x = !row && attrs_flag(a, "transpose_a"), transpose_y = !column && attrs_flag(a, "transpose_b");
    const int64_t *rows = left.dim + (left.rank -= 2), *columns = right.dim + (right.rank -= 2);
    if (rows[!transpose_x] != columns[transpose_y] ||
        infer_broadcast((const struct shape *const[]){&left, &right}, 2, out) != INFER_SHAPE)
        return INFER_NEVER;
    if (!row)
        out->dim[out->rank++] = rows[transpose_x];
    if (!column)
        out->dim[out->rank++] = columns[!transpose_y];
    if (out->rank == 0)
        out->dim[out->rank++] = 1;
    return INFER_SHAPE;
}

static enum inferred infer_contraction(const struct attrs *a, const struct shape *const *operands, uint32_t n,
                                       struct shape *out) {
    struct shape product;
    if (n < 2 || !operands[1])
        return INFER_UNKNOWN;
    enum inferred how = infer_product(a, operands[0], operands[1], &product);
    if (how != INFER_SHAPE)
        return how;
    return infer_broadcast((const struct shape *const[]){&product, n > 2 ? operands[2] : NULL}, 2, out);
}

/* With steps of any sign; what it takes may be nothing. */
static enum inferred infer_slice(const struct attrs *a, const struct shape *x, struct shape *out) {
    const int64_t *begins, *ends, *steps;
    int32_t rank = (int32_t)x->rank;
    if (attrs_list(a, "begins", &begins) != rank || attrs_list(a, "ends", &ends) != rank)
        return INFER_UNKNOWN;
    bool stepped = attrs_list(a, "step", &steps) == rank;
    *out = *x;
    for (uint32_t d = 0; d < x->rank; d++) {
        int64_t size = x->dim[d], step = stepped ? steps[d] : 1;
        int64_t begin = begins[d] + (begins[d] < 0 ? size : 0), end = ends[d] + (ends[d] < 0 ? size : 0);
        if (begin < 0 || begin > size || end < 0 || end > size || step == 0 || step < -INT32_MAX || step > INT32_MAX)
            return INFER_NEVER;
        int64_t way = step < 0 ? begin - end : end - begin, stride = step < 0 ? -step : step;
        if (way < 0)
            return INFER_NEVER;
        out->dim[d] = way > 0 ? (way - 1) / stride + 1 : 0;
    }
    return INFER_SHAPE;
}

static enum inferred infer_permute(enum op_kind k, const struct attrs *a, const struct shape *x, struct shape *out) {
    uint32_t order[MAX_RANK];
    if (!permuted_dims(k, a, x->rank, order))
        return INFER_UNKNOWN;
    *out = *x;
    for (uint32_t d = 0; d < x->rank; d++)
        out->dim[d] = x->dim[order[d]];
    return INFER_SHAPE;
}

/* Along the axis the extents add up, elsewhere they are the same. */
static enum inferred infer_join(enum op_kind k, const struct attrs *a, const struct shape *const *operands, uint32_t n,
                                struct shape *out) {
    const struct attr *axis = attrs_axes(a, k);
    int64_t dim = axis ? axis->whole : 0;
    for (uint32_t i = 0; i < n; i++)
        if (!operands[i])
            return INFER_UNKNOWN;
    if (!axis || !axis->is_whole)
        return INFER_UNKNOWN;
    *out = *operands[0];
    if (!is_dimension(&dim, out->rank))
        return INFER_NEVER;
    for (uint32_t i = 1; i < n; i++) {
        struct shape other = *operands[i];
        int64_t extent = other.dim[dim];
        other.dim[dim] = out->dim[dim];
        if (!shape_eq(&other, out) || __builtin_add_overflow(out->dim[dim], extent, &out->dim[dim]))
            return INFER_NEVER;
    }
    return INFER_SHAPE;
}

enum inferred infer_shape(enum op_kind k, const struct attrs *a, const struct shape *const *operands, uint32_t n,
                          struct shape *out) {
    const struct shape *x = n ? operands[0] : NULL;
    enum op_class class = op_table[k].class;
    if (class == OP_ELTWISE)
        return infer_broadcast(operands, n, out);
    if (!x)
        return INFER_UNKNOWN;
    switch (class) {
    case OP_REDUCE:
        return infer_reduction(k, a, x, out);
    case OP_JOIN:
        return infer_join(k, a, operands, n, out);
    case OP_SLICE:
        return infer_slice(a, x, out);
    case OP_CONTRACT:
        return k == K_DOT_GENERAL ? INFER_UNKNOWN : infer_contraction(a, operands, n, out);
    case OP_AXISWISE:
    case OP_ALIKE:
    case OP_CAST:
    case OP_LAYOUT:
        *out = *x;
        return INFER_SHAPE;
    default:
        return op_table[k].movement == MOVEMENT_PERMUTE ? infer_permute(k, a, x, out) : INFER_UNKNOWN;
    }
}

/* ---- rules of single ops ---- */

/* Rows of all heads. */
static uint32_t infer_joined_heads(enum op_kind k, const struct attrs *a, const struct shape *const *x,
                                   struct shape *out) {
    (void)k, (void)a;
    *out = (struct shape){3, {x[0]->dim[0], x[0]->dim[2], x[0]->dim[1] * x[0]->dim[3]}};
    return x[0]->rank == 4;
}

/* Heads of queries, keys and values that lie side by side in a row; the last two perhaps in an operand of their own, of
 * any length. */
static uint32_t infer_split_heads(enum op_kind k, const struct attrs *a, const struct shape *const *x,
                                  struct shape *out) {
    int64_t heads = attrs_int(a, "num_heads", 0), others = attrs_int(a, "num_kv_heads", heads);
    const struct shape *q = x[0], *kv = x[1] ? x[1] : q;
    int64_t groups = kv == q ? heads + 2 * others : heads;
    (void)k;
    if (q->rank != 3 || kv->rank != 3 || heads < 1 || others < 1 || q->dim[2] % groups != 0)
        return 0;
    int64_t size = q->dim[2] / groups;
    if (kv != q && (kv->dim[0] != q->dim[0] || kv->dim[2] != 2 * others * size))
        return 0;
    out[0] = (struct shape){4, {q->dim[0], heads, q->dim[1], size}};
    out[1] = out[2] = (struct shape){4, {kv->dim[0], others, kv->dim[1], size}};
    if (attrs_flag(a, "transpose_key")) {
        out[1].dim[2] = size;
        out[1].dim[3] = kv->dim[1];
    }
    return 3;
}

/* Values and positions. */
static uint32_t infer_topk(enum op_kind k, const struct attrs *a, const struct shape *const *x, struct shape *out) {
    const struct attr *axis = attrs_axes(a, k);
    int64_t dim = axis ? axis->whole : -1;
    out[0] = *x[0];
    if (!is_dimension(&dim, x[0]->rank))
        return 0;
    out[0].dim[dim] = attrs_int(a, "k", 1);
    out[1] = out[0];
    return 2;
}

static uint32_t infer_repeat(enum op_kind k, const struct attrs *a, const struct shape *const *x, struct shape *out) {
    const int64_t *times;
    (void)k;
    *out = *x[0];
    if (attrs_list(a, "repeat_dimensions", &times) != (int32_t)x[0]->rank)
        return 0;
    for (uint32_t d = 0; d < x[0]->rank; d++)
        if (__builtin_mul_overflow(x[0]->dim[d], times[d], &out->dim[d]))
            return 0;
    return 1;
}

static uint32_t infer_interleave(enum op_kind k, const struct attrs *a, const struct shape *const *x,
                                 struct shape *out) {
    const struct attr *axis = attrs_axes(a, k);
    int64_t dim = axis ? axis->whole : 0;
    *out = *x[0];
    return is_dimension(&dim, x[0]->rank) &&
           !__builtin_mul_overflow(x[0]->dim[dim], attrs_int(a, "repeats", 1), &out->dim[dim]);
}

uint32_t infer_results(enum op_kind k, const struct attrs *a, const struct shape *const *operands, uint32_t n,
                       struct shape out[MOST_INFERRED]) {
    const struct shape *two[] = {operands[0], n > 1 ? operands[1] : NULL};
    static const struct {
        enum op_kind kind;
        uint32_t (*infer)(enum op_kind k, const struct attrs *a, const struct shape *const *x, struct shape *out);
    } rules[] = {{K_CONCATENATE_HEADS, infer_joined_heads},
                 {K_SPLIT_QUERY_KEY_VALUE_AND_SPLIT_HEADS, infer_split_heads},
                 {K_TOPK, infer_topk},
                 {K_REPEAT, infer_repeat},
                 {K_REPEAT_INTERLEAVE, infer_interleave}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].kind == k)
            return rules[i].infer(k, a, two, out);
    return 0;
}
