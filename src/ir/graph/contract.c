/* Contractions: matmul and linear with transpose flags, dot_general with its dimension lists.
 * Semantics from the op definitions: batch dimensions broadcast from the right; the result of
 * dot_general has batch, then free lhs, then free rhs dimensions. */
#include "ir/graph/index.h"

#include <string.h>

static bool matmul_dims(const struct graph *g, uint32_t op, uint32_t ra, uint32_t rb, struct contraction *c) {
    const struct attrs *all = graph_attributes(g, op);
    bool ta = attrs_flag(all, "transpose_a") && ra > 1, tb = attrs_flag(all, "transpose_b") && rb > 1;
    if (ra < 1 || rb < 1)
        return false;
    int row = ra > 1 ? (int)ra - (ta ? 1 : 2) : -1, column = rb > 1 ? (int)rb - (tb ? 2 : 1) : -1;
    c->nsummed = 1;
    c->a_summed[0] = (int)ra - (ta ? 2 : 1);
    c->b_summed[0] = rb > 1 ? (int)rb - (tb ? 1 : 2) : 0;
    uint32_t batch_a = ra > 2 ? ra - 2 : 0, batch_b = rb > 2 ? rb - 2 : 0;
    uint32_t batch = batch_a > batch_b ? batch_a : batch_b;
    for (uint32_t d = 0; d < batch; d++) {
        int a = (int)d - (int)(batch - batch_a), b = (int)d - (int)(batch - batch_b);
        c->a_dim[d] = a >= 0 ? a : -1;
        c->b_dim[d] = b >= 0 ? b : -1;
        c->role[d] = b >= 0 ? ROLE_BATCH : ROLE_ROWS; /* a batch dimension that only a has multiplies its rows */
    }
    c->rank = batch;
    if (row >= 0) {
        c->role[c->rank] = ROLE_ROWS;
        c->a_dim[c->rank] = row;
        c->b_dim[c->rank++] = -1;
    }
    if (column >= 0) {
        c->role[c->rank] = ROLE_COLUMNS;
        c->a_dim[c->rank] = -1;
        c->b_dim[c->rank++] = column;
    }
    return true;
}

static bool in_range(const int64_t *dims, int n, uint32_t rank) {
    for (int i = 0; i < n; i++)
        if (dims[i] < 0 || dims[i] >= (int64_t)rank)
            return false;
    return true;
}

static bool dot_dims(const struct graph *g, uint32_t op, uint32_t ra, uint32_t rb, struct contraction *c) {
    const struct attrs *all = graph_attributes(g, op);
    const int64_t *ba, *bb, *ca, *cb;
    int nba = attrs_list(all, "batch_dims_lhs", &ba), nbb = attrs_list(all, "batch_dims_rhs", &bb);
    int nca = attrs_list(all, "contract_dims_lhs", &ca), ncb = attrs_list(all, "contract_dims_rhs", &cb);
    if (nba < 0 || nba != nbb || nca < 0 || nca != ncb || nba > MAX_RANK || nca > MAX_RANK || !in_range(ba, nba, ra) ||
        !in_range(bb, nbb, rb) || !in_range(ca, nca, ra) || !in_range(cb, ncb, rb) || ra + rb > MAX_RANK)
        return false;
    bool used_a[MAX_RANK] = {false}, used_b[MAX_RANK] = {false};
    c->rank = 0;
    for (int i = 0; i < nba; i++) {
        c->role[c->rank] = ROLE_BATCH;
        c->a_dim[c->rank] = (int)ba[i];
        c->b_dim[c->rank++] = (int)bb[i];
        used_a[ba[i]] = used_b[bb[i]] = true;
    }
    c->nsummed = (uint32_t)nca;
    for (int i = 0; i < nca; i++) {
        c->a_summed[i] = (int)ca[i];
        c->b_summed[i] = (int)cb[i];
        used_a[ca[i]] = used_b[cb[i]] = true;
    }
    for (uint32_t d = 0; d < ra; d++)
        if (!used_a[d]) {
            c->role[c->rank] = ROLE_ROWS;
            c->a_dim[c->rank] = (int)d;
            c->b_dim[c->rank++] = -1;
        }
    for (uint32_t d = 0; d < rb; d++)
        if (!used_b[d]) {
            c->role[c->rank] = ROLE_COLUMNS;
            c->a_dim[c->rank] = -1;
            c->b_dim[c->rank++] = (int)d;
        }
    return true;
}

/* Every extent must agree with what the dimension lists say; a batch extent of 1 broadcasts. */
static bool extents_fit(const struct contraction *c, const int64_t *a, const int64_t *b, const int64_t *r) {
    for (uint32_t d = 0; d < c->rank; d++) {
        if (r[d] < 1)
            return false;
        if (c->a_dim[d] >= 0 && a[c->a_dim[d]] != r[d] && !(a[c->a_dim[d]] == 1 && c->b_dim[d] >= 0))
            return false;
        if (c->b_dim[d] >= 0 && b[c->b_dim[d]] != r[d] && !(b[c->b_dim[d]] == 1 && c->a_dim[d] >= 0))
            return false;
    }
    for (uint32_t i = 0; i < c->nsummed; i++)
        if (a[c->a_summed[i]] != b[c->b_summed[i]] || a[c->a_summed[i]] < 1)
            return false;
    return true;
}

/* A bias of a higher rank: the result has leading dimensions of 1 that the product has not. */
static void add_leading_ones(struct contraction *c, const int64_t *r, uint32_t rank) {
    uint32_t more = rank - c->rank;
    for (uint32_t d = 0; d < more; d++)
        if (r[d] != 1)
            return;
    for (uint32_t d = rank; d-- > 0;) {
        c->role[d] = d < more ? ROLE_ROWS : c->role[d - more];
        c->a_dim[d] = d < more ? -1 : c->a_dim[d - more];
        c->b_dim[d] = d < more ? -1 : c->b_dim[d - more];
    }
    c->rank = rank;
}

bool contraction_of(const struct graph *g, uint32_t op, struct contraction *c) {
    const uint32_t *v = graph_operands(g, op);
    if (graph_class(g, op) != OP_CONTRACT || graph_noperands(g, op) < 2 || g->m->ops[op].nresults != 1 ||
        v[0] == NONE || v[1] == NONE)
        return false;
    c->a = v[0];
    c->b = v[1];
    c->result = g->m->ops[op].first_result;
    uint32_t ra, rb, rr;
    const int64_t *a = graph_shape(g, c->a, &ra), *b = graph_shape(g, c->b, &rb), *r = graph_shape(g, c->result, &rr);
    if (!a || !b || !r || ra > MAX_RANK - 2 || rb > MAX_RANK - 2 || graph_numel(g, c->a) < 1 ||
        graph_numel(g, c->b) < 1)
        return false;
    bool ok = graph_op_is(g, op, NAMES_AXES) ? dot_dims(g, op, ra, rb, c) : matmul_dims(g, op, ra, rb, c);
    if (ok && graph_count_operands(g, op) > 2 && c->rank < rr && rr <= MAX_RANK)
        add_leading_ones(c, r, rr);
    return ok && c->rank == rr && extents_fit(c, a, b, r);
}

/* Coordinates of one operand: from the result's where a dimension is shared, else the summed factors. */
static bool operand_map(const struct graph *g, uint32_t value, const struct axes *result, uint32_t rank,
                        const int *dim_of, const int *summed, uint32_t nsummed, const struct axes *sum_axes,
                        struct imap *out) {
    uint32_t r;
    const int64_t *shape = graph_shape(g, value, &r);
    struct axes c;
    axes_clear(&c);
    for (uint32_t d = 0; d < r; d++) {
        const struct axes *from = NULL;
        uint32_t at = 0;
        for (uint32_t i = 0; i < rank; i++)
            if (dim_of[i] == (int)d) {
                from = result;
                at = i;
            }
        for (uint32_t i = 0; i < nsummed; i++)
            if (summed[i] == (int)d) {
                from = sum_axes;
                at = i;
            }
        if (!from)
            return false;
        uint32_t begin = axes_begin(from, at);
        uint32_t n = shape[d] == 1 ? 0 : from->end[at] - begin;
        if (!axes_add(&c, from->t + begin, n))
            return false;
    }
    return imap_of_coordinates(&c, shape, r, out);
}

static bool add_axis(struct axes *out, const struct imap *axis) {
    return axes_add(out, axis->t, axis->n);
}

bool contraction_maps(const struct graph *g, const struct contraction *c, const struct imap *result, uint32_t space,
                      struct operand_maps *out) {
    uint32_t ra, rr;
    const int64_t *a = graph_shape(g, c->a, &ra), *r = graph_shape(g, c->result, &rr);
    struct axes coordinates, sum, rows, columns, batch;
    if (!imap_coordinates(result, r, rr, &coordinates))
        return false;
    axes_clear(&sum);
    int64_t lo = 1;
    for (uint32_t i = c->nsummed; i-- > 0;) /* the last summed dimension is the least significant */
        lo *= a[c->a_summed[i]];
    for (uint32_t i = 0; i < c->nsummed; i++) {
        int64_t e = a[c->a_summed[i]];
        lo /= e;
        struct term t = {space, lo, e, 1};
        if (!axes_add(&sum, &t, e > 1))
            return false;
    }
    if (!operand_map(g, c->a, &coordinates, rr, c->a_dim, c->a_summed, c->nsummed, &sum, &out->a) ||
        !operand_map(g, c->b, &coordinates, rr, c->b_dim, c->b_summed, c->nsummed, &sum, &out->b))
        return false;
    axes_clear(&rows);
    axes_clear(&columns);
    axes_clear(&batch);
    for (uint32_t d = 0; d < rr; d++) {
        struct axes *to = c->role[d] == ROLE_BATCH ? &batch : c->role[d] == ROLE_ROWS ? &rows : &columns;
        uint32_t begin = axes_begin(&coordinates, d);
        if (!axes_add(to, coordinates.t + begin, coordinates.end[d] - begin))
            return false;
    }
    struct imap row, column, summed;
    axes_join(&rows, 0, rows.n, &row);
    axes_join(&columns, 0, columns.n, &column);
    axes_join(&sum, 0, sum.n, &summed);
    out->of_a = c->a;
    out->of_b = c->b;
    axes_copy(&out->a_axes, &batch);
    axes_copy(&out->b_axes, &batch);
    axes_copy(&out->result_axes, &batch);
    return add_axis(&out->a_axes, &row) && add_axis(&out->a_axes, &summed) && add_axis(&out->b_axes, &summed) &&
           add_axis(&out->b_axes, &column) && add_axis(&out->result_axes, &row) && add_axis(&out->result_axes, &column);
}
