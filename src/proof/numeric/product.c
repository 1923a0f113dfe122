/* Contractions: matmul, linear, dot_general.
 *
 * ARITHMETIC_EXACT: the sum over k in order, in doubles. ARITHMETIC_DEVICE and ARITHMETIC_INSIDE: as the matrix unit
 * computes it (Tenstorrent ISA documentation, MVMUL.md and SrcASrcB.md). The left operand is in SrcB and the right one
 * in SrcA, each truncated to what a source register holds. Every 16 terms take one pass for each phase of the math
 * fidelity; their sum is added to Dst, which is rounded to f32 or bf16 each time. */
#include "proof/numeric/elementwise.h"
#include "proof/numeric/evaluators.h"

struct matrix_unit {
    struct dot dot;      /* the first member */
    unsigned phases;     /* 1: LoFi, ... 4: HiFi4 */
    bool wide;           /* Dst holds f32, else bf16 */
    bool stored;         /* operands were stored by the packer first */
    enum dtype types[2]; /* of the operands */
};

enum { TERMS = 16 }; /* of k in one pass */

static double in_dst(double x, bool wide) {
    double v = format_round(x, DT_F32, ROUND_EVEN);
    return wide ? v : format_round(v, DT_BF16, ROUND_EVEN);
}

/* The next two are for struct dot: the high parts of a row, then the low ones. */
static void prepare_for_unit(const struct dot *self, int operand, const double *x, int64_t n, double *out) {
    const struct matrix_unit *u = (const struct matrix_unit *)self;
    format_source_row(x, (size_t)n, u->types[operand], u->stored, operand == 1, out, out + n);
}

static double dot_of_unit(const struct dot *self, const double *x, const double *y, int64_t n) {
    const struct matrix_unit *u = (const struct matrix_unit *)self;
    double dst = 0;
    for (int64_t from = 0; from < n; from += TERMS) {
        int64_t terms = n - from < TERMS ? n - from : TERMS;
        for (unsigned phase = 0; phase < u->phases; phase++) {
            const double *left = x + from + (phase >> 1) * n, *right = y + from + (phase & 1) * n;
            double sum = 0;
            for (int64_t l = 0; l < terms; l++)
                sum += left[l] * right[l];
            dst = in_dst(dst + sum, u->wide);
        }
    }
    return dst;
}

/* Math fidelity where the op prints no compute_config: tt-metal, matmul_device_operation.cpp; for f32 its PR 38306. */
static unsigned default_phases(const struct eval_context *ctx, const enum dtype *types) {
    if (types[0] == DT_F32 || types[1] == DT_F32)
        return ctx->blackhole ? 4 : 3;
    return format_is_block(types[0]) && format_is_block(types[1]) ? 1 : 2;
}

static bool is_float(enum dtype t) {
    return format_is_float(t) && t != DT_F64;
}

/* How the matrix unit is set up for an op; false where the product is computed exactly. */
static bool on_device(const struct eval_context *ctx, const struct call *c, struct matrix_unit *u) {
    const enum dtype inside[2] = {ctx->product_type, ctx->product_type}, *types = c->operand_types;
    const struct attr *config = attrs_find(c->attributes, "compute_config"), *accumulator;
    if (ctx->arithmetic == ARITHMETIC_INSIDE) {
        types = inside;
        config = ctx->product_config;
    }
    if (ctx->arithmetic == ARITHMETIC_EXACT || ctx->exact_products || !types || !is_float(types[0]) ||
        !is_float(types[1]))
        return false;
    bool wide = ctx->arithmetic == ARITHMETIC_INSIDE ? ctx->product_type == DT_F32 : result_type(c, 0) == DT_F32;
    *u = (struct matrix_unit){.dot = {prepare_for_unit, dot_of_unit},
                              .phases = default_phases(ctx, types),
                              .wide = wide,
                              .stored = ctx->arithmetic == ARITHMETIC_INSIDE};
    memcpy(u->types, types, sizeof u->types);
    if (math_fidelity(config))
        u->phases = math_fidelity(config);
    accumulator = config ? attrs_find(&config->inside, "fp32_dest_acc_en") : NULL;
    if (accumulator)
        u->wide = accumulator->whole != 0;
    return true;
}

/* As in NumPy, a vector is a row on the left and a column on the right. */
static struct view as_matrix(const struct tensor *t, bool left) {
    struct view v = view_of(t);
    if (v.shape.rank != 1)
        return v;
    v.shape = left ? (struct shape){2, {1, t->n}} : (struct shape){2, {t->n, 1}};
    v.stride[0] = left ? 0 : 1;
    v.stride[1] = left ? 1 : 0;
    return v;
}

static const struct tensor *multiply(struct eval_context *ctx, const struct tensor *x, bool transpose_x,
                                     const struct tensor *y, bool transpose_y, struct matrix_unit *u) {
    struct view vx = as_matrix(x, true), vy = as_matrix(y, false);
    uint32_t rx = vx.shape.rank, ry = vy.shape.rank;
    if (rx < 2 || ry < 2)
        op_fails(ctx, "a product with a scalar");
    if (transpose_x && x->shape.rank > 1)
        vx = view_swapped(vx, rx - 1, rx - 2);
    if (transpose_y && y->shape.rank > 1)
        vy = view_swapped(vy, ry - 1, ry - 2);
    if (vx.shape.dim[rx - 1] != vy.shape.dim[ry - 2])
        op_fails(ctx, "a product of %s and %s", shape_text(ctx->arena, &vx.shape).p,
                 shape_text(ctx->arena, &vy.shape).p);
    struct matrix_unit *kept = u ? arena_alloc(ctx->arena, sizeof *kept) : NULL;
    if (kept)
        *kept = *u;
    const struct tensor *t = lazy_product(ctx, &vx, &vy, kept ? &kept->dot : NULL);
    struct shape s = t->shape; /* without the dimensions that vectors were given */
    if (y->shape.rank == 1)
        s.rank--;
    if (x->shape.rank == 1) {
        s.dim[s.rank - (y->shape.rank == 1 ? 1 : 2)] = t->shape.dim[t->shape.rank - 1];
        s.rank--;
    }
    return tensor_reshape(ctx, t, &s);
}

const struct tensor *multiply_matrices(struct eval_context *ctx, const struct tensor *x, const struct tensor *y) {
    return multiply(ctx, x, false, y, false, NULL);
}

/* Bias and activation apply to the product as Dst holds it, before it is rounded to the type of the result. */
void evaluate_matmul(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *a = operand_needed(ctx, c, 0), *b = operand_needed(ctx, c, 1);
    bool transpose_a = attr_flag(ctx, c, "transpose_a", false), transpose_b = attr_flag(ctx, c, "transpose_b", false);
    struct matrix_unit unit, *u = on_device(ctx, c, &unit) ? &unit : NULL;
    const struct tensor *t = multiply(ctx, a, transpose_a, b, transpose_b, u);
    if (operand(c, 2))
        t = lazy_binary(ctx, binary_ADD, t, operand(c, 2));
    *out = apply_activation(ctx, c, t);
}

/* The rows of each group by the matrix of each expert, or each expert's own rows; 0 where the sparsity is. */
void evaluate_sparse_matmul(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *a = operand_needed(ctx, c, 0), *b = operand_needed(ctx, c, 1), *on = operand_needed(ctx, c, 2);
    struct shape rows = a->shape, blocks;
    if (rows.rank != 4 || b->shape.rank != 4)
        op_fails(ctx, "sparse_matmul of %s and %s", shape_text(ctx->arena, &a->shape).p,
                 shape_text(ctx->arena, &b->shape).p);
    if (!attr_flag(ctx, c, "is_input_a_sparse", false))
        rows = (struct shape){6, {rows.dim[0], rows.dim[1], 1, 1, rows.dim[2], rows.dim[3]}};
    const struct tensor *t = multiply_matrices(ctx, tensor_reshape(ctx, a, &rows), b);
    blocks = t->shape;
    blocks.dim[blocks.rank - 1] = blocks.dim[blocks.rank - 2] = 1;
    *out = lazy_select(ctx, tensor_reshape(ctx, on, &blocks), t, tensor_scalar(ctx, 0));
}

/* ---- dot_general ---- */

/* An operand of dot_general with its dimensions in the order batch, free, contracted: a batch of matrices. */
struct contraction_side {
    uint32_t order[MAX_RANK];
    int64_t batch, free, contracted; /* elements */
    struct shape batch_shape, free_shape;
};

static void add_dimension(struct shape *s, int64_t *elements, int64_t extent) {
    s->dim[s->rank++] = extent;
    *elements *= extent;
}

static struct contraction_side arrange(struct eval_context *ctx, const struct call *c, const struct tensor *t,
                                       const char *batch, const char *contract) {
    struct contraction_side s = {.batch = 1, .free = 1, .contracted = 1};
    int64_t dims[2][MAX_RANK];
    int n[2] = {attr_list(ctx, c, batch, dims[0], MAX_RANK), attr_list(ctx, c, contract, dims[1], MAX_RANK)};
    bool used[MAX_RANK] = {false};
    uint32_t at = 0, contracted[MAX_RANK] = {0};
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < n[part]; i++) {
            uint32_t d = axis_in(ctx, c, dims[part][i], t->shape.rank);
            if (used[d])
                op_fails(ctx, "dot_general names a dimension twice");
            used[d] = true;
            if (part == 1) {
                contracted[i] = d;
                s.contracted *= t->shape.dim[d];
                continue;
            }
            s.order[at++] = d;
            add_dimension(&s.batch_shape, &s.batch, t->shape.dim[d]);
        }
    for (uint32_t d = 0; d < t->shape.rank; d++)
        if (!used[d]) {
            s.order[at++] = d;
            add_dimension(&s.free_shape, &s.free, t->shape.dim[d]);
        }
    for (int i = 0; i < n[1]; i++)
        s.order[at++] = contracted[i];
    return s;
}

static const struct tensor *as_matrices(struct eval_context *ctx, const struct tensor *t,
                                        const struct contraction_side *s) {
    const struct tensor *moved = lazy_of_view(ctx, view_permuted(view_of(t), s->order));
    return tensor_reshape(ctx, moved, &(struct shape){3, {s->batch, s->free, s->contracted}});
}

void evaluate_dot_general(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    const struct tensor *a = operand_needed(ctx, c, 0), *b = operand_needed(ctx, c, 1);
    struct contraction_side l = arrange(ctx, c, a, "batch_dims_lhs", "contract_dims_lhs");
    struct contraction_side r = arrange(ctx, c, b, "batch_dims_rhs", "contract_dims_rhs");
    if (!shape_eq(&l.batch_shape, &r.batch_shape) || l.contracted != r.contracted)
        op_fails(ctx, "dot_general of %s and %s", shape_text(ctx->arena, &a->shape).p,
                 shape_text(ctx->arena, &b->shape).p);
    struct shape s = l.batch_shape;
    if (s.rank + l.free_shape.rank + r.free_shape.rank > MAX_RANK)
        op_fails(ctx, "a product of rank %u", s.rank + l.free_shape.rank + r.free_shape.rank);
    for (uint32_t d = 0; d < l.free_shape.rank; d++)
        s.dim[s.rank++] = l.free_shape.dim[d];
    for (uint32_t d = 0; d < r.free_shape.rank; d++)
        s.dim[s.rank++] = r.free_shape.dim[d];
    struct matrix_unit unit, *u = on_device(ctx, c, &unit) ? &unit : NULL;
    *out = tensor_reshape(ctx, multiply(ctx, as_matrices(ctx, a, &l), false, as_matrices(ctx, b, &r), true, u), &s);
}
