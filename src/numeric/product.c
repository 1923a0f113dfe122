/* Contractions. Sums run over k in order. */
#include "numeric/evaluators.h"

/* One product [.., m, k] x [.., k, n]; batch dimensions broadcast. */
static struct tensor *product(struct bench *b, const struct view *x, const struct view *y) {
    uint32_t rx = x->shape.rank - 2, ry = y->shape.rank - 2;
    struct shape bx = x->shape, by = y->shape, s;
    bx.rank = rx;
    by.rank = ry;
    if (!shape_broadcast(b, &bx, &by, &s))
        return NULL;
    int64_t m = x->shape.dim[rx], k = x->shape.dim[rx + 1], n = y->shape.dim[ry + 1];
    struct shape batch = s;
    if (s.rank + 2 > TENSOR_RANK) {
        bench_fail(b, "a product of rank %u", s.rank + 2);
        return NULL;
    }
    s.dim[s.rank++] = m;
    s.dim[s.rank++] = n;
    struct tensor *t = tensor_new(b, &s);
    if (!t || !bench_steps(b, (uint64_t)t->n * (uint64_t)(k > 0 ? k : 1)))
        return NULL;
    struct view vx = {.shape = batch, .offset = x->offset}, vy = {.shape = batch, .offset = y->offset};
    for (uint32_t d = 0; d < batch.rank; d++) {
        uint32_t from = batch.rank - d; /* counted from the last batch dimension */
        vx.stride[d] = from <= rx && x->shape.dim[rx - from] != 1 ? x->stride[rx - from] : 0;
        vy.stride[d] = from <= ry && y->shape.dim[ry - from] != 1 ? y->stride[ry - from] : 0;
    }
    struct walk w;
    walk_begin(&w, &batch);
    walk_add(&w, &vx);
    walk_add(&w, &vy);
    for (double *out = t->x; walk_more(&w); walk_next(&w), out += m * n)
        for (int64_t i = 0; i < m; i++)
            for (int64_t l = 0; l < k; l++) {
                double a = x->x[w.offset[0] + i * x->stride[rx] + l * x->stride[rx + 1]];
                const double *row = y->x + w.offset[1] + l * y->stride[ry];
                for (int64_t j = 0; j < n; j++)
                    out[i * n + j] += a * row[j * y->stride[ry + 1]];
            }
    return t;
}

/* A vector is a row on the left and a column on the right. */
static struct view as_matrix(const struct tensor *t, bool left) {
    struct view v = view_of(t);
    if (v.shape.rank != 1)
        return v;
    v.shape = left ? (struct shape){2, {1, t->n}} : (struct shape){2, {t->n, 1}};
    v.stride[0] = left ? 0 : 1;
    v.stride[1] = left ? 1 : 0;
    return v;
}

const struct tensor *multiply_matrices(struct bench *b, const struct tensor *x, bool turn_x, const struct tensor *y,
                                       bool turn_y) {
    struct view vx = as_matrix(x, true), vy = as_matrix(y, false);
    uint32_t rx = vx.shape.rank, ry = vy.shape.rank;
    if (rx < 2 || ry < 2) {
        bench_fail(b, "a product with a scalar");
        return NULL;
    }
    if (turn_x && x->shape.rank > 1)
        vx = view_swapped(vx, rx - 1, rx - 2);
    if (turn_y && y->shape.rank > 1)
        vy = view_swapped(vy, ry - 1, ry - 2);
    if (vx.shape.dim[rx - 1] != vy.shape.dim[ry - 2]) {
        bench_fail(b, "a product of %s and %s", shape_text(b->arena, &vx.shape).p, shape_text(b->arena, &vy.shape).p);
        return NULL;
    }
    struct tensor *t = product(b, &vx, &vy);
    if (!t)
        return NULL;
    struct shape s = t->shape; /* dimensions that vectors were given go again */
    if (y->shape.rank == 1)
        s.rank--;
    if (x->shape.rank == 1) {
        s.dim[s.rank - (y->shape.rank == 1 ? 1 : 2)] = t->shape.dim[t->shape.rank - 1];
        s.rank--;
    }
    return tensor_reshape(b, t, &s);
}

/* matmul and linear: product, bias, activation. */
bool evaluate_matmul(struct bench *b, const struct call *c, const struct tensor **out) {
    bool turn_a = false, turn_b = false;
    if (!operands_needed(b, c, 2) || !attr_flag(b, c, "transpose_a", &turn_a) ||
        !attr_flag(b, c, "transpose_b", &turn_b))
        return false;
    const struct tensor *t = multiply_matrices(b, operand(c, 0), turn_a, operand(c, 1), turn_b);
    if (t && c->kind == K_LINEAR && operand(c, 2))
        t = apply_binary(b, binary_of(K_ADD), t, operand(c, 2));
    *out = apply_activation(b, c, t);
    return *out != NULL;
}

/* ---- dot_general ---- */

/* The dimensions of an operand in the order batch, free, contracted; as three it is a matrix. */
struct side {
    uint32_t order[TENSOR_RANK], nfree;
    int64_t batch, free, summed; /* elements */
    struct shape batch_shape, free_shape;
};

static bool arrange(struct bench *b, const struct call *c, const struct tensor *t, const char *batch,
                    const char *contract, struct side *s) {
    int64_t dims[2][TENSOR_RANK];
    int n[2] = {0, 0};
    bool used[TENSOR_RANK] = {false};
    uint32_t at = 0, d, summed[TENSOR_RANK];
    *s = (struct side){.batch = 1, .free = 1, .summed = 1};
    if (!attr_list(b, c, batch, dims[0], TENSOR_RANK, &n[0]) || !attr_list(b, c, contract, dims[1], TENSOR_RANK, &n[1]))
        return false;
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < n[part]; i++) {
            if (!axis_in(b, c, dims[part][i], t->shape.rank, &d))
                return false;
            if (used[d])
                return bench_fail(b, "dot_general names a dimension twice");
            used[d] = true;
            if (part == 1) {
                summed[i] = d;
                s->summed *= t->shape.dim[d];
                continue;
            }
            s->order[at++] = d;
            s->batch *= t->shape.dim[d];
            s->batch_shape.dim[s->batch_shape.rank++] = t->shape.dim[d];
        }
    for (d = 0; d < t->shape.rank; d++)
        if (!used[d]) {
            s->order[at++] = d;
            s->free *= t->shape.dim[d];
            s->free_shape.dim[s->free_shape.rank++] = t->shape.dim[d];
        }
    for (int i = 0; i < n[1]; i++)
        s->order[at++] = summed[i];
    return true;
}

static const struct tensor *as_three(struct bench *b, const struct tensor *t, const struct side *s) {
    struct view v = view_permuted(view_of(t), s->order);
    struct tensor *moved = view_copy(b, &v);
    return moved ? tensor_reshape(b, moved, &(struct shape){3, {s->batch, s->free, s->summed}}) : NULL;
}

bool evaluate_dot_general(struct bench *b, const struct call *c, const struct tensor **out) {
    struct side l, r;
    if (!operands_needed(b, c, 2) || !arrange(b, c, operand(c, 0), "batch_dims_lhs", "contract_dims_lhs", &l) ||
        !arrange(b, c, operand(c, 1), "batch_dims_rhs", "contract_dims_rhs", &r))
        return false;
    if (!shape_eq(&l.batch_shape, &r.batch_shape) || l.summed != r.summed)
        return bench_fail(b, "dot_general of %s and %s", shape_text(b->arena, &operand(c, 0)->shape).p,
                          shape_text(b->arena, &operand(c, 1)->shape).p);
    struct shape s = l.batch_shape;
    if (s.rank + l.free_shape.rank + r.free_shape.rank > TENSOR_RANK)
        return bench_fail(b, "a product of rank %u", s.rank + l.free_shape.rank + r.free_shape.rank);
    for (uint32_t d = 0; d < l.free_shape.rank; d++)
        s.dim[s.rank++] = l.free_shape.dim[d];
    for (uint32_t d = 0; d < r.free_shape.rank; d++)
        s.dim[s.rank++] = r.free_shape.dim[d];
    const struct tensor *x = as_three(b, operand(c, 0), &l), *y = as_three(b, operand(c, 1), &r);
    const struct tensor *t = x && y ? multiply_matrices(b, x, false, y, true) : NULL;
    *out = t ? tensor_reshape(b, t, &s) : NULL;
    return *out != NULL;
}
