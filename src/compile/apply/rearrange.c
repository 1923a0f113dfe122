#include "compile/apply/rearrange.h"

static void push(struct eval_context *ctx, struct digits *d, struct digit one) {
    if (one.size == 1)
        return;
    if (d->n == MAX_DIGITS)
        op_fails(ctx, "a layout has too many parts");
    d->at[d->n++] = one;
}

void digits_of_axes(struct eval_context *ctx, const struct axes *axes, const struct shape *extents,
                    struct digits *out) {
    out->n = 0;
    for (uint32_t d = 0; d < axes->n; d++) {
        uint32_t begin = axes_begin(axes, d), n = axes->end[d] - begin;
        int64_t above = INT64_MAX;
        for (uint32_t k = 0; k < n && extents->dim[d] > 1; k++) {
            const struct term *next = NULL; /* in order of stride, the largest first */
            for (uint32_t i = begin; i < axes->end[d]; i++)
                if (axes->t[i].stride < above && (!next || axes->t[i].stride > next->stride))
                    next = &axes->t[i];
            if (!next)
                op_fails(ctx, "an axis is not one of digits");
            above = next->stride;
            push(ctx, out, (struct digit){next->space, next->lo, next->size});
        }
    }
}

/* ---- common digits ---- */

/* Splits digit i where `lo` is inside of it. */
static bool split_at(struct eval_context *ctx, struct digits *d, uint32_t i, int64_t lo) {
    struct digit *x = &d->at[i];
    if (lo <= x->lo || lo >= x->lo * x->size)
        return false;
    if (lo % x->lo || x->lo * x->size % lo || d->n == MAX_DIGITS)
        op_fails(ctx, "the layouts have no common digits");
    memmove(x + 2, x + 1, (d->n - i - 1) * sizeof *x);
    x[1] = (struct digit){x->space, x->lo, lo / x->lo};
    x[0] = (struct digit){x->space, lo, x->lo * x->size / lo};
    d->n++;
    return true;
}

static bool split_by(struct eval_context *ctx, struct digits *d, const struct digits *by) {
    bool any = false;
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; k < by->n; k++)
            if (d->at[i].space == by->at[k].space)
                any |= split_at(ctx, d, i, by->at[k].lo) || split_at(ctx, d, i, by->at[k].lo * by->at[k].size);
    return any;
}

static uint32_t find_digit(const struct digits *d, const struct digit *x) {
    for (uint32_t i = 0; i < d->n; i++)
        if (d->at[i].space == x->space && d->at[i].lo == x->lo && d->at[i].size == x->size)
            return i;
    return NONE;
}

/* ---- one permute ---- */

/* How many digits dimension d has, from digit `at` on; NONE where its end is inside of one. */
static uint32_t digits_in(const struct digits *digits, uint32_t at, int64_t extent) {
    uint32_t n = 0;
    int64_t size = 1;
    while (size < extent && at + n < digits->n)
        size *= digits->at[at + n++].size;
    return size == extent ? n : NONE;
}

/* The dimension of a shape that begins at this digit and has n of them, and is not taken; NONE. */
static uint32_t dimension_at(const struct digits *digits, const struct shape *s, uint32_t digit, uint32_t n,
                             const bool *taken) {
    for (uint32_t d = 0, at = 0; d < s->rank; d++) {
        uint32_t here = digits_in(digits, at, s->dim[d]);
        if (here == NONE)
            return NONE;
        if (!taken[d] && here == n && (n == 0 || at == digit))
            return d;
        at += here;
    }
    return NONE;
}

/* Each dimension of the target is one of the value's: its order. */
static bool find_order(const struct digits *from, const struct shape *x, const struct digits *to, const struct shape *s,
                       uint32_t *order) {
    bool taken[MAX_RANK] = {false};
    if (x->rank != s->rank)
        return false;
    for (uint32_t d = 0, at = 0; d < s->rank; d++) {
        uint32_t n = digits_in(to, at, s->dim[d]), first = 0;
        for (uint32_t k = 0; n != NONE && k < n; k++) {
            uint32_t there = find_digit(from, &to->at[at + k]);
            if (there == NONE || (k && there != first + k))
                return false;
            first = k ? first : there;
        }
        order[d] = n == NONE ? NONE : dimension_at(from, x, first, n, taken);
        if (order[d] == NONE)
            return false;
        taken[order[d]] = true;
        at += n;
    }
    return true;
}

static bool swaps_last_two(const uint32_t *order, uint32_t rank) {
    bool swaps = rank >= 2;
    for (uint32_t d = 0; swaps && d < rank; d++)
        swaps = order[d] == (d + 2 < rank ? d : 2 * rank - 3 - d);
    return swaps;
}

/* ---- the general way ---- */

/* Neighbours in both orders become one, so that the permute has few dimensions. `order`: of each digit of the target
 * its number in `from`. */
static uint32_t merge_runs(const struct digits *from, const uint32_t *order, uint32_t n, struct shape *in,
                           uint32_t *run_order) {
    uint32_t first[MAX_DIGITS], nruns = 0;
    int64_t size_of[MAX_DIGITS];
    for (uint32_t i = 0; i < n; i++) {
        if (i && order[i] == order[i - 1] + 1)
            size_of[nruns - 1] *= from->at[order[i]].size;
        else {
            first[nruns] = order[i];
            size_of[nruns++] = from->at[order[i]].size;
        }
    }
    if (nruns > MAX_RANK)
        return NONE;
    for (uint32_t i = 0; i < nruns; i++) {
        uint32_t before = 0;
        for (uint32_t k = 0; k < nruns; k++)
            before += first[k] < first[i];
        run_order[i] = before;
        in->dim[before] = size_of[i];
    }
    in->rank = nruns;
    return nruns;
}

/* Digits that the value lacks are repeated where they share a dimension with others. */
static struct written expand(struct emitter *e, struct written v, const struct digits *from, const struct digits *to,
                             const struct shape *s) {
    struct shape one = {0}, full = {0};
    bool missing = false;
    for (uint32_t i = 0; i < to->n; i++) {
        bool there = find_digit(from, &to->at[i]) != NONE;
        if (full.rank == MAX_RANK)
            op_fails(e->eval, "a layout has too many dimensions");
        one.dim[one.rank++] = there ? to->at[i].size : 1;
        full.dim[full.rank++] = to->at[i].size;
        missing |= !there;
    }
    if (missing)
        v = emit_broadcast(e, emit_reshape(e, v, &one), &full);
    return emit_reshape(e, v, s);
}

struct written rearrange(struct emitter *e, struct written v, const struct digits *have, const struct digits *want,
                         const struct shape *s) {
    struct digits from = *have, to = *want;
    uint32_t order[MAX_DIGITS], run_order[MAX_RANK], n = 0;
    struct shape in;
    while (split_by(e->eval, &from, &to) || split_by(e->eval, &to, &from))
        ;
    for (uint32_t i = 0; i < to.n; i++) {
        uint32_t at = find_digit(&from, &to.at[i]);
        if (at != NONE)
            order[n++] = at;
    }
    if (n != from.n)
        op_fails(e->eval, "an operand varies along more than the fused op has");
    if (n == to.n && find_order(&from, &v.shape, &to, s, run_order)) {
        if (!swaps_last_two(run_order, s->rank))
            return emit_permute(e, v, run_order);
        v.swapped = !v.swapped;
        return v;
    }
    uint32_t runs = merge_runs(&from, order, n, &in, run_order);
    if (runs == NONE)
        op_fails(e->eval, "a layout has too many dimensions");
    if (runs > 1)
        v = emit_permute(e, emit_reshape(e, v, &in), run_order);
    return expand(e, v, &from, &to, s);
}
