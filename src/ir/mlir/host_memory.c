/* Loads and stores at places that are affine in the loops around them are reshapes, slices, permutations and
 * broadcasts of whole buffers. */
#include "ir/mlir/host.h"

#include <stdlib.h>
#include <string.h>

#include "ir/mlir/builder.h"

bool affine_equal(const struct affine *a, const struct affine *b) {
    return a->base == b->base && memcmp(a->by, b->by, sizeof a->by) == 0 && a->times == b->times &&
           (a->times == 0 || a->index == b->index);
}

static bool add(int64_t *a, int64_t b, int64_t sign) {
    return sign > 0 ? !__builtin_add_overflow(*a, b, a) : !__builtin_sub_overflow(*a, b, a);
}

bool affine_add(struct affine *a, const struct affine *b, int64_t sign) {
    bool fits = add(&a->base, b->base, sign) && (a->times == 0 || b->times == 0 || a->index == b->index);
    a->index = b->times ? b->index : a->index;
    fits &= add(&a->times, b->times, sign);
    for (int k = 0; k < MAX_LOOPS; k++)
        fits &= add(&a->by[k], b->by[k], sign);
    return fits;
}

/* ---- tensors ---- */

static struct shape shape_of(const struct host *h, uint32_t tensor) {
    const struct mlir_type *t = &h->m->types[h->m->values[tensor].type];
    struct shape e = {.rank = t->rank < MAX_LOOPS ? t->rank : MAX_LOOPS};
    for (uint32_t d = 0; d < e.rank; d++)
        e.dim[d] = h->m->dims[t->first_dim + d];
    return e;
}

enum dtype host_dtype(const struct host *h, uint32_t tensor) {
    return h->m->types[h->m->values[tensor].type].dtype;
}

static void add_list(struct buf *out, const char *before, const int64_t *list, uint32_t n, const char *type,
                     const char *after) {
    buf_add(out, str_of(before));
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, "%s%lld%s", i ? ", " : "", (long long)list[i], type);
    buf_add(out, str_of(after));
}

/* An op of one operand that keeps the element type; `text` is its attributes, and freed. */
static uint32_t moved(struct host *h, const char *op, struct buf *text, uint32_t x, const struct shape *to) {
    uint32_t type = build_tensor(h->m, to->dim, to->rank, host_dtype(h, x));
    uint32_t made = type == NONE ? NONE : build_value(h->m, op, buf_str(text), &x, 1, type);
    buf_free(text);
    return made;
}

static uint32_t reshaped(struct host *h, uint32_t x, const struct shape *to) {
    struct shape from = shape_of(h, x);
    struct buf text = {0};
    uint32_t op = h->m->values[x].def;
    if (shape_eq(&from, to))
        return x;
    if (op != NONE && str_is(mlir_op_name(h->m, op), "ttir.reshape"))
        return reshaped(h, h->m->operands[h->m->ops[op].first_operand], to);
    add_list(&text, "shape = [", to->dim, to->rank, " : i32", "]");
    return moved(h, "ttir.reshape", &text, x, to);
}

static uint32_t broadcast(struct host *h, uint32_t x, const struct shape *to) {
    struct shape from = shape_of(h, x), factor = *to;
    struct buf text = {0};
    if (shape_eq(&from, to))
        return x;
    for (uint32_t d = 0; d < to->rank; d++)
        factor.dim[d] = from.dim[d] == to->dim[d] ? 1 : to->dim[d];
    add_list(&text, "broadcast_dimensions = array<i64: ", factor.dim, factor.rank, "", ">");
    return moved(h, "ttir.broadcast", &text, x, to);
}

/* Dimension d of the result is dimension order[d] of x. */
static uint32_t permuted(struct host *h, uint32_t x, const int64_t *order) {
    struct shape from = shape_of(h, x), to = from;
    bool sorted = true;
    struct buf text = {0};
    for (uint32_t d = 0; d < from.rank; d++) {
        to.dim[d] = from.dim[order[d]];
        sorted &= order[d] == d;
    }
    if (sorted)
        return x;
    add_list(&text, "permutation = array<i64: ", order, from.rank, "", ">");
    return moved(h, "ttir.permute", &text, x, &to);
}

static uint32_t sliced(struct host *h, uint32_t x, const int64_t *begin, const struct shape *to) {
    static const int64_t ones[MAX_LOOPS] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct shape from = shape_of(h, x);
    int64_t end[MAX_LOOPS];
    struct buf text = {0};
    if (shape_eq(&from, to))
        return x;
    for (uint32_t d = 0; d < to->rank; d++)
        end[d] = begin[d] + to->dim[d];
    add_list(&text, "begins = [", begin, to->rank, " : i32", "], ");
    add_list(&text, "ends = [", end, to->rank, " : i32", "], ");
    add_list(&text, "step = [", ones, to->rank, " : i32", "]");
    return moved(h, "ttir.slice_static", &text, x, to);
}

/* The iterations of the loops that are open. */
static struct shape here(const struct host *h) {
    struct shape e = {.rank = h->nloops ? h->nloops : 1, .dim = {1}};
    for (uint32_t k = 0; k < h->nloops; k++)
        e.dim[k] = h->loops[k].extent;
    return e;
}

/* What was made in outer loops is the same in all iterations of inner ones. */
static uint32_t lifted(struct host *h, uint32_t x, uint32_t rank) {
    struct shape e = shape_of(h, x);
    while (e.rank < rank)
        e.dim[e.rank++] = 1;
    return reshaped(h, x, &e);
}

uint32_t host_op(struct host *h, const char *name, const uint32_t *operands, uint32_t n, enum dtype dtype) {
    struct shape all = here(h);
    uint32_t lift[4];
    if (n > 4)
        return NONE;
    for (uint32_t d = 0; d < all.rank; d++)
        all.dim[d] = 1;
    for (uint32_t i = 0; i < n; i++) {
        lift[i] = operands[i] == NONE ? NONE : lifted(h, operands[i], all.rank);
        if (lift[i] == NONE)
            return NONE;
        struct shape e = shape_of(h, lift[i]);
        for (uint32_t d = 0; d < all.rank; d++)
            all.dim[d] = e.dim[d] > all.dim[d] ? e.dim[d] : all.dim[d];
    }
    uint32_t type = build_tensor(h->m, all.dim, all.rank, dtype);
    return type == NONE ? NONE : build_value(h->m, name, STR(""), lift, n, type);
}

uint32_t host_number(struct host *h, double x, enum dtype dtype) {
    static const int64_t ones[MAX_LOOPS] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct buf text = {0};
    uint32_t rank = here(h).rank, type = build_tensor(h->m, ones, rank, dtype);
    if (type == NONE)
        return NONE;
    if (format_is_float(dtype))
        buf_printf(&text, "fill_value = %.9e : f32, ", x);
    else
        buf_printf(&text, "fill_value = %lld : i32, ", (long long)x);
    add_list(&text, "shape = array<i32: ", ones, rank, "", ">");
    uint32_t made = build_value(h->m, "ttir.full", buf_str(&text), NULL, 0, type);
    buf_free(&text);
    return made;
}

/* What the counter of a loop is in each iteration, times a number. */
static uint32_t counted(struct host *h, uint32_t loop, int64_t by, enum dtype dtype) {
    struct shape to = here(h);
    int64_t end;
    for (uint32_t d = 0; d < to.rank; d++)
        to.dim[d] = d == loop ? to.dim[d] : 1;
    uint32_t type = build_tensor(h->m, to.dim, to.rank, dtype);
    if (type == NONE || __builtin_mul_overflow(by, to.dim[loop], &end))
        return NONE;
    struct buf text = {0};
    buf_printf(&text, "start = 0 : si64, end = %lld : si64, step = %lld : si64, arange_dimension = %u : i64",
               (long long)end, (long long)by, loop);
    uint32_t made = build_value(h->m, "ttir.arange", buf_str(&text), NULL, 0, type);
    buf_free(&text);
    return made;
}

uint32_t host_whole(struct host *h, const struct affine *at, enum dtype dtype) {
    uint32_t terms[MAX_LOOPS + 2], n = 0;
    if (at->times != 0) {
        uint32_t x = at->index;
        if (host_dtype(h, x) != dtype)
            x = host_op(h, "ttir.typecast", &x, 1, dtype);
        if (at->times != 1)
            x = host_op(h, "ttir.multiply", (uint32_t[]){x, host_number(h, (double)at->times, dtype)}, 2, dtype);
        terms[n++] = x;
    }
    for (uint32_t k = 0; k < h->nloops; k++)
        if (at->by[k] != 0)
            terms[n++] = counted(h, k, at->by[k], dtype);
    if (at->base != 0 || n == 0)
        terms[n++] = host_number(h, (double)at->base, dtype);
    uint32_t sum = terms[0];
    for (uint32_t i = 1; i < n; i++)
        sum = host_op(h, "ttir.add", (uint32_t[]){sum, terms[i]}, 2, dtype);
    return sum;
}

/* ---- places ---- */

struct axis {
    int64_t stride, extent;
    uint32_t loop;
};

/* The loops in which the place varies, those with the largest stride first. False where two iterations might be at one
 * place, or strides do not count the elements of a tensor. */
static bool axes_at(const struct host *h, const struct affine *at, struct axis *axes, uint32_t *n) {
    *n = 0;
    if (at->times != 0)
        return false;
    for (uint32_t k = 0; k < h->nloops; k++) {
        if (at->by[k] == 0 || h->loops[k].extent == 1)
            continue;
        uint32_t i = (*n)++;
        for (; i > 0 && axes[i - 1].stride < at->by[k]; i--)
            axes[i] = axes[i - 1];
        axes[i] = (struct axis){at->by[k], h->loops[k].extent, k};
    }
    for (uint32_t i = 0; i < *n; i++) {
        const struct axis *inner = i + 1 < *n ? &axes[i + 1] : NULL;
        if (axes[i].stride < 1 || axes[i].stride > MAX_ELEMENTS ||
            (inner && (axes[i].stride % inner->stride != 0 || axes[i].stride < inner->stride * inner->extent)))
            return false;
    }
    return at->base >= 0 && at->base <= MAX_ELEMENTS;
}

/* Dimensions in the order of strides become dimensions in the order of loops, and those of loops that do not move. */
static uint32_t in_loop_order(struct host *h, uint32_t x, const struct axis *axes, uint32_t n) {
    struct shape moving = {.rank = n}, all = here(h);
    int64_t order[MAX_LOOPS] = {0};
    uint32_t to = 0;
    for (uint32_t i = 0; i < n; i++)
        moving.dim[i] = axes[i].extent;
    for (uint32_t k = 0; k < all.rank; k++) {
        all.dim[k] = 1;
        for (uint32_t i = 0; i < n; i++)
            if (axes[i].loop == k) {
                order[to++] = i;
                all.dim[k] = axes[i].extent;
            }
    }
    if (n)
        x = permuted(h, reshaped(h, x, &moving), order);
    return reshaped(h, x, &all);
}

/* ---- what a buffer holds ---- */

static int64_t size_of(const struct stored_part *p) {
    int64_t n = 1;
    for (uint32_t i = 0; i < p->n; i++)
        n *= p->extent[i];
    return n;
}

/* One stretch of memory: a row. */
static bool is_dense(const struct stored_part *p) {
    int64_t below = 1;
    for (uint32_t i = p->n; i-- > 0; below *= p->extent[i])
        if (below > MAX_ELEMENTS || (p->extent[i] > 1 && p->stride[i] != below))
            return false;
    return true;
}

static void flatten(struct host *h, struct stored_part *p) {
    struct shape flat = {1, {size_of(p)}};
    p->value = reshaped(h, p->value, &flat);
    p->n = 1;
    p->stride[0] = 1;
    p->extent[0] = flat.dim[0];
}

/* Gives the piece a dimension for each of these strides. False where it has another one. */
static bool spread(struct host *h, struct stored_part *p, const int64_t *strides, uint32_t n) {
    struct shape e = {.rank = n};
    uint32_t from = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool own = from < p->n && p->stride[from] == strides[i];
        e.dim[i] = own ? p->extent[from++] : 1;
    }
    if (from < p->n)
        return false;
    p->value = reshaped(h, p->value, &e);
    p->n = n;
    memcpy(p->stride, strides, n * sizeof *strides);
    memcpy(p->extent, e.dim, n * sizeof *e.dim);
    return true;
}

/* All strides of all pieces, and 1, largest first. */
static uint32_t all_strides(const struct buffer *b, int64_t *strides) {
    uint32_t n = 1;
    strides[0] = 1;
    for (uint32_t i = 0; i < b->npieces; i++)
        for (uint32_t k = 0; k < b->pieces[i].n; k++) {
            int64_t s = b->pieces[i].stride[k];
            uint32_t at = 0;
            while (at < n && strides[at] > s)
                at++;
            if (at < n && strides[at] == s)
                continue;
            if (n == MAX_LOOPS)
                return 0;
            memmove(strides + at + 1, strides + at, (n++ - at) * sizeof *strides);
            strides[at] = s;
        }
    return n;
}

static uint32_t concatenated(struct host *h, const uint32_t *values, uint32_t n, uint32_t dim, const struct shape *to) {
    struct buf text = {0};
    uint32_t type = build_tensor(h->m, to->dim, to->rank, host_dtype(h, values[0]));
    buf_printf(&text, "dim = %u : si32", dim);
    uint32_t made = type == NONE ? NONE : build_value(h->m, "ttir.concat", buf_str(&text), values, n, type);
    buf_free(&text);
    return made;
}

static uint32_t joined(struct host *h, const struct buffer *b, uint32_t dim) {
    uint32_t values[MAX_PIECES];
    struct shape all = shape_of(h, b->pieces[0].value);
    all.dim[dim] = 0;
    for (uint32_t i = 0; i < b->npieces; i++) {
        values[i] = b->pieces[i].value;
        all.dim[dim] += b->pieces[i].extent[dim];
    }
    return concatenated(h, values, b->npieces, dim, &all);
}

static int by_base(const void *a, const void *b) {
    const struct stored_part *x = a, *y = b;
    return (x->base > y->base) - (x->base < y->base);
}

/* Pieces that stand beside each other along one dimension and fill all others become one. */
static bool join_pieces(struct host *h, struct buffer *b) {
    int64_t strides[MAX_LOOPS];
    qsort(b->pieces, b->npieces, sizeof *b->pieces, by_base);
    uint32_t n = all_strides(b, strides), along = NONE;
    for (uint32_t i = 0; i < b->npieces; i++)
        if (n == 0 || !spread(h, &b->pieces[i], strides, n))
            return false;
    int64_t step = b->pieces[1].base - b->pieces[0].base, sum = 0;
    for (uint32_t k = n; k-- > 0;)
        along = step % strides[k] == 0 && step / strides[k] == b->pieces[0].extent[k] ? k : along;
    for (uint32_t i = 0; along != NONE && i < b->npieces; i++) {
        if (b->pieces[i].base != sum * strides[along])
            return false;
        for (uint32_t k = 0; k < n; k++)
            if (k != along && b->pieces[i].extent[k] != b->pieces[0].extent[k])
                return false;
        sum += b->pieces[i].extent[along];
    }
    if (along == NONE || sum > MAX_ELEMENTS)
        return false;
    struct stored_part whole = b->pieces[0];
    whole.value = joined(h, b, along);
    whole.extent[along] = sum;
    b->pieces[0] = whole;
    b->npieces = 1;
    return whole.value != NONE && is_dense(&whole);
}

/* All of it, as one row; NONE where parts are missing. */
static uint32_t contents(struct host *h, uint32_t buffer) {
    struct buffer *b = &h->buffers[buffer];
    if (b->npieces == 0 || (b->npieces > 1 && !join_pieces(h, b)) || b->pieces[0].base != 0 || !is_dense(&b->pieces[0]))
        return NONE;
    flatten(h, &b->pieces[0]);
    return b->pieces[0].value;
}

static int64_t last_of(const struct stored_part *p) {
    int64_t last = p->base;
    for (uint32_t k = 0; k < p->n; k++)
        last += p->stride[k] * (p->extent[k] - 1);
    return last;
}

static bool same_place(const struct stored_part *a, const struct stored_part *b) {
    return a->base == b->base && a->n == b->n && memcmp(a->stride, b->stride, a->n * sizeof *a->stride) == 0 &&
           memcmp(a->extent, b->extent, a->n * sizeof *a->extent) == 0;
}

/* A row seen as a tensor with a dimension for each stride, and the part of it in which the loops move. */
struct row_window {
    struct shape own, taken;
    int64_t begin[MAX_RANK];
};

static bool find_window(struct row_window *w, int64_t above, int64_t base, const int64_t *strides,
                        const int64_t *extents, uint32_t n) {
    *w = (struct row_window){.own.rank = 0};
    for (uint32_t i = 0; i <= n && w->own.rank < MAX_LOOPS; i++) {
        if (i == n && n && strides[n - 1] == 1)
            break;
        int64_t stride = i < n ? strides[i] : 1, extent = i < n ? extents[i] : 1;
        uint32_t d = w->own.rank++;
        if (above % stride != 0 || base / stride + extent > above / stride)
            return false;
        w->own.dim[d] = above / stride;
        w->taken.dim[d] = extent;
        w->begin[d] = base / stride;
        base %= stride;
        above = stride;
    }
    w->taken.rank = w->own.rank;
    return above == 1;
}

/* The row with the piece in place of what was there. */
static uint32_t overlaid(struct host *h, uint32_t row, const struct stored_part *p) {
    struct row_window w;
    struct shape flat = shape_of(h, row), all;
    if (!find_window(&w, flat.dim[0], p->base, p->stride, p->extent, p->n))
        return NONE;
    uint32_t x = reshaped(h, p->value, &w.taken), old = reshaped(h, row, &w.own);
    all = w.taken;
    for (uint32_t d = w.own.rank; d-- > 0;) {
        uint32_t parts[3], n = 0;
        int64_t begin[MAX_RANK] = {0}, end = w.begin[d] + w.taken.dim[d];
        struct shape part = all;
        memcpy(begin, w.begin, d * sizeof *begin);
        if ((part.dim[d] = w.begin[d]) > 0)
            parts[n++] = sliced(h, old, begin, &part);
        parts[n++] = x;
        begin[d] = end;
        if ((part.dim[d] = w.own.dim[d] - end) > 0)
            parts[n++] = sliced(h, old, begin, &part);
        all.dim[d] = w.own.dim[d];
        x = n > 1 ? concatenated(h, parts, n, d, &all) : x;
    }
    return reshaped(h, x, &flat);
}

/* Whether all of it is one row that the piece stands in. */
static bool stands_in_row(const struct buffer *b, const struct stored_part *p) {
    const struct stored_part *row = &b->pieces[0];
    return b->npieces == 1 && row->base == 0 && is_dense(row) && last_of(p) < size_of(row) && size_of(p) < size_of(row);
}

static bool add_piece(struct host *h, struct buffer *b, struct stored_part p) {
    int64_t end = p.base + size_of(&p);
    uint32_t kept = 0;
    if (p.value == NONE)
        return false;
    if (is_dense(&p))
        flatten(h, &p);
    if (stands_in_row(b, &p)) {
        flatten(h, &b->pieces[0]);
        b->pieces[0].value = overlaid(h, b->pieces[0].value, &p);
        return b->pieces[0].value != NONE;
    }
    for (uint32_t i = 0; i < b->npieces; i++) /* what it covers is gone */
        if (!(is_dense(&p) && b->pieces[i].base >= p.base && last_of(&b->pieces[i]) < end) &&
            !same_place(&b->pieces[i], &p))
            b->pieces[kept++] = b->pieces[i];
    b->npieces = kept;
    b->dtype = host_dtype(h, p.value);
    if (b->npieces == MAX_PIECES)
        return false;
    b->pieces[b->npieces++] = p;
    return true;
}

uint32_t host_buffer(struct host *h) {
    h->buffers = grow(h->buffers, &h->buffers_cap, h->nbuffers + 1, sizeof *h->buffers);
    h->buffers[h->nbuffers] = (struct buffer){.reduced_below = NONE};
    return h->nbuffers++;
}

void host_set(struct host *h, uint32_t buffer, uint32_t tensor) {
    struct shape e = shape_of(h, tensor);
    (void)add_piece(h, &h->buffers[buffer],
                    (struct stored_part){.value = tensor, .n = 1, .stride = {1}, .extent = {shape_count(&e)}});
}

/* ---- loads and stores ---- */

/* Keeps where the open loops load the buffer. False: an iteration would load what another one stores, so that a load is
 * not one op on whole tensors. */
static bool record_load(struct host *h, struct buffer *b, const struct affine *at) {
    if (b->reduced_below < h->nloops && b->stored_nest == h->nest)
        return false;
    if (b->stored_nest == h->nest && h->nloops && !affine_equal(&b->stored, at))
        return false;
    if (b->loaded_nest == h->nest && h->nloops && !affine_equal(&b->loaded, at))
        b->loaded.base = -1; /* two places: no store may follow */
    else
        b->loaded = *at;
    b->loads = b->loaded_nest == h->nest ? b->loads + 1 : 1;
    b->loaded_nest = h->nest;
    return true;
}

/* The same of a store. */
static bool record_store(struct host *h, struct buffer *b, const struct affine *at) {
    if (h->nloops && b->loaded_nest == h->nest && !affine_equal(&b->loaded, at))
        return false;
    b->stored = *at;
    b->stored_nest = h->nest;
    b->reduced_below = NONE;
    return true;
}

/* The buffer at `at`, where a tensor of indices counts its rows (at->times elements each): these rows by a
 * ttir.embedding, one behind another, and in `at` from there on the place in them. NONE: it is no look-up of rows. */
static uint32_t rows_by_index(struct host *h, uint32_t row, struct affine *at) {
    struct shape all = shape_of(h, row), index = shape_of(h, at->index), flat = {1, {shape_count(&index)}};
    struct shape rows = {2, {all.dim[0] / at->times, at->times}}, picked = {2, {flat.dim[0], at->times}};
    int64_t last = at->base, stride = at->times;
    for (uint32_t k = 0; k < h->nloops && last < at->times; k++)
        last += at->by[k] * (h->loops[k].extent - 1);
    if (all.dim[0] % at->times != 0 || last >= at->times || flat.dim[0] > MAX_ELEMENTS / at->times)
        return NONE;
    for (uint32_t k = index.rank; k-- > 0; stride *= index.dim[k])
        if (index.dim[k] > 1 && (k >= h->nloops || at->by[k] != 0))
            return NONE;
        else if (index.dim[k] > 1)
            at->by[k] = stride;
    uint32_t type = build_tensor(h->m, picked.dim, 2, host_dtype(h, row));
    uint32_t operands[] = {reshaped(h, at->index, &flat), reshaped(h, row, &rows)};
    at->times = 0;
    flat.dim[0] *= rows.dim[1];
    return type == NONE ? NONE : reshaped(h, build_value(h->m, "ttir.embedding", STR(""), operands, 2, type), &flat);
}

uint32_t host_load(struct host *h, uint32_t buffer, const struct affine *at) {
    struct axis axes[MAX_LOOPS];
    struct affine place = *at;
    uint32_t n, row;
    bool forward = at->base >= 0 && at->base <= MAX_ELEMENTS && at->times >= 0 && at->times <= MAX_ELEMENTS;
    for (uint32_t k = 0; k < h->nloops; k++)
        forward &= at->by[k] >= 0 && at->by[k] <= MAX_ELEMENTS;
    if (!record_load(h, &h->buffers[buffer], at) || !forward || (row = contents(h, buffer)) == NONE)
        return NONE;
    if (at->times && (row = rows_by_index(h, row, &place)) == NONE)
        return NONE;
    struct row_window w;
    int64_t strides[MAX_LOOPS] = {0}, extents[MAX_LOOPS] = {0};
    if (!axes_at(h, &place, axes, &n))
        return NONE;
    for (uint32_t i = 0; i < n; i++) {
        strides[i] = axes[i].stride;
        extents[i] = axes[i].extent;
    }
    if (!find_window(&w, shape_of(h, row).dim[0], place.base, strides, extents, n))
        return NONE;
    return in_loop_order(h, sliced(h, reshaped(h, row, &w.own), w.begin, &w.taken), axes, n);
}

/* The sum, the largest or the smallest (`op`) of the iterations that all store to one place: over the loops in which
 * `at` does not move, of which `outermost` becomes the first. NONE: several iterations store there and nothing combines
 * them. */
static uint32_t reduced(struct host *h, uint32_t x, const struct affine *at, const char *op, uint32_t *outermost) {
    struct shape all = here(h), to = all;
    int64_t dims[MAX_LOOPS];
    uint32_t n = 0;
    for (uint32_t k = 0; k < h->nloops; k++)
        if (at->by[k] == 0 && all.dim[k] > 1) {
            to.dim[k] = 1;
            dims[n++] = k;
        }
    *outermost = n ? (uint32_t)dims[0] : NONE;
    x = broadcast(h, lifted(h, x, all.rank), &all);
    if (n == 0)
        return x;
    if (!op)
        return NONE;
    struct buf text = {0};
    add_list(&text, "dim_arg = [", dims, n, " : i32", "], keep_dim = true");
    return moved(h, op, &text, x, &to);
}

bool host_store(struct host *h, uint32_t buffer, const struct affine *at, uint32_t tensor, const char *adds) {
    static const struct {
        const char *reduction, *op;
    } combined[] = {{"ttir.sum", "ttir.add"}, {"ttir.max", "ttir.maximum"}, {"ttir.min", "ttir.minimum"}};
    struct axis axes[MAX_LOOPS];
    struct stored_part p = {.base = at->base};
    int64_t order[MAX_LOOPS] = {0};
    uint32_t outermost, before = NONE;
    if (!axes_at(h, at, axes, &p.n) || tensor == NONE)
        return false;
    if (adds && (h->buffers[buffer].loads != 1 || (before = host_load(h, buffer, at)) == NONE))
        return false;
    uint32_t x = reduced(h, tensor, at, adds, &outermost);
    for (size_t i = 0; adds && x != NONE && i < sizeof combined / sizeof *combined; i++)
        if (strcmp(combined[i].reduction, adds) == 0)
            x = host_op(h, combined[i].op, (uint32_t[]){before, x}, 2, host_dtype(h, x));
    if (x == NONE || !record_store(h, &h->buffers[buffer], at))
        return false;
    h->buffers[buffer].reduced_below = outermost;
    struct shape moving = {.rank = p.n};
    uint32_t to = 0;
    for (uint32_t k = 0; k < h->nloops; k++)
        for (uint32_t i = 0; i < p.n; i++)
            if (axes[i].loop == k) {
                moving.dim[to] = axes[i].extent;
                order[i] = to++;
            }
    for (uint32_t i = 0; i < p.n; i++) {
        p.stride[i] = axes[i].stride;
        p.extent[i] = axes[i].extent;
    }
    if (p.n == 0) {
        moving = (struct shape){1, {1}};
        order[0] = 0;
        p.n = 1;
        p.stride[0] = p.extent[0] = 1;
    }
    p.value = permuted(h, reshaped(h, x, &moving), order);
    return add_piece(h, &h->buffers[buffer], p);
}

bool host_copy(struct host *h, uint32_t to, int64_t to_at, uint32_t from, int64_t from_at, int64_t n) {
    struct shape part = {1, {n}};
    uint32_t row = contents(h, from);
    if (h->nloops || row == NONE || n < 1 || n > MAX_ELEMENTS || from_at < 0 || from_at > MAX_ELEMENTS || to_at < 0 ||
        to_at > MAX_ELEMENTS || from_at + n > shape_of(h, row).dim[0])
        return false;
    return add_piece(
        h, &h->buffers[to],
        (struct stored_part){
            .value = sliced(h, row, &from_at, &part), .base = to_at, .n = 1, .stride = {1}, .extent = {n}});
}

uint32_t host_view(struct host *h, uint32_t buffer, int64_t offset, const int64_t *sizes, const int64_t *strides,
                   uint32_t rank) {
    struct affine at = {.base = offset};
    if (h->nloops || rank > MAX_LOOPS)
        return NONE;
    for (uint32_t d = 0; d < rank; d++) {
        if (sizes[d] < 1 || sizes[d] > MAX_ELEMENTS)
            return NONE;
        h->loops[d] = (struct loop){.extent = sizes[d]};
        at.by[d] = sizes[d] == 1 ? 0 : strides[d];
    }
    h->nloops = rank;
    h->nest++;
    struct shape all = here(h);
    uint32_t x = host_load(h, buffer, &at);
    x = x == NONE ? NONE : broadcast(h, x, &all);
    h->nloops = 0;
    return x;
}
