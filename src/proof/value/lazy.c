#include "proof/value/fold.h"
#include "proof/value/lazy_node.h"

#include <math.h>
#include <string.h>

const struct tensor *lazy_input(struct eval_context *ctx, uint32_t input, const struct shape *s, enum dtype type,
                                int64_t apart) {
    struct lazy *l = node_new(ctx, LAZY_INPUT, s);
    l->input = input;
    l->apart = apart;
    l->type = type;
    return node_tensor(ctx, l, s, s);
}

/* The dimensions of a view as those of its node stand, outermost first: its elements are in a row then. */
static void order_of_node(const struct view *v, uint32_t rank, uint32_t *order) {
    for (uint32_t d = 0; d < rank; d++) {
        uint32_t i = d;
        int64_t stride = v->stride[d] ? v->stride[d] : INT64_MAX;
        for (; i > 0 && stride > (v->stride[order[i - 1]] ? v->stride[order[i - 1]] : INT64_MAX); i--)
            order[i] = order[i - 1];
        order[i] = d;
    }
}

static struct view in_order(const struct view *v, uint32_t rank, const uint32_t *order) {
    struct view out = *v;
    for (uint32_t i = 0; i < rank; i++) {
        out.shape.dim[i] = v->shape.dim[order[i]];
        out.stride[i] = v->stride[order[i]];
    }
    return out;
}

/* A node of shape `own`, of all operands in the order of the largest one, and its tensor of shape `s`, which is one of
 * shape `to`. */
struct mapped {
    struct lazy *l;
    struct shape own, s, to;
    uint32_t order[MAX_RANK];
};

static struct mapped map_of(struct eval_context *ctx, const struct tensor *const *t, uint32_t n) {
    struct mapped m = {.s = t[0]->shape};
    struct view lift[MOST_SPLIT], *in[MOST_SPLIT];
    struct split split;
    uint32_t largest = 0;
    for (uint32_t k = 1; k < n; k++) {
        struct shape so_far = m.s;
        shape_broadcast(ctx, &so_far, &t[k]->shape, &m.s);
    }
    m.to = m.s;
    for (uint32_t k = 0; k < n; k++) {
        lift[k] = node_view(ctx, view_expanded(t[k], &m.s));
        largest = lift[k].lazy->n > lift[largest].lazy->n ? k : largest;
    }
    if (node_split_repeated(lift, n, &m.s, &split))
        m.s = split.shape;
    m.own = node_varying_shape(lift, n, &m.s);
    order_of_node(&lift[largest], m.s.rank, m.order);
    struct view own = {.shape = m.own};
    m.l = node_new(ctx, LAZY_MAP, &m.own);
    m.l->shape = in_order(&own, m.s.rank, m.order).shape;
    m.l->nin = n;
    for (uint32_t k = 0; k < n; k++) {
        m.l->in[k] = in_order(&lift[k], m.s.rank, m.order);
        in[k] = &m.l->in[k];
    }
    node_coalesce(&m.l->shape, in, n, 0);
    return m;
}

static const struct tensor *tensor_of_map(struct eval_context *ctx, const struct mapped *m) {
    return tensor_reshape(ctx, node_tensor_in_order(ctx, m->l, &m->own, &m->s, m->order), &m->to);
}

const struct tensor *lazy_unary(struct eval_context *ctx, unary_function *f, const struct tensor *x) {
    struct mapped m = map_of(ctx, &x, 1);
    m.l->unary = f;
    m.l->moved = true;
    return tensor_of_map(ctx, &m);
}

static bool is_itself(const struct lazy *l) {
    return l->in[0].lazy == l->in[1].lazy && l->in[0].offset == l->in[1].offset &&
           memcmp(l->in[0].stride, l->in[1].stride, l->shape.rank * sizeof *l->in[0].stride) == 0;
}

static bool compares_itself(const struct tensor *t, binary_function *f) {
    const struct lazy *l = t->lazy;
    if (l && l->kind == LAZY_MAP && l->unary == element_itself)
        l = l->in[0].lazy;
    return l && l->kind == LAZY_MAP && l->binary == f && is_itself(l);
}

static bool is_same_integer(const struct tensor *x, const struct tensor *y) {
    struct view v = view_of(x), w = view_of(y);
    return v.lazy && v.lazy == w.lazy && v.lazy->kind == LAZY_INPUT && format_is_integer(v.lazy->type) &&
           shape_eq(&v.shape, &w.shape) && v.offset == w.offset &&
           memcmp(v.stride, w.stride, v.shape.rank * sizeof *v.stride) == 0;
}

/* (x == x) + (x != x) is 1, whatever x is, and x == x where it is no NaN: lowerings write so what has as many elements
 * as x. */
const struct tensor *lazy_binary(struct eval_context *ctx, binary_function *f, const struct tensor *x,
                                 const struct tensor *y) {
    if ((f == binary_EQ || f == binary_NE) && is_same_integer(x, y))
        return lazy_of_view(ctx, view_expanded(tensor_scalar(ctx, f == binary_EQ), &x->shape));
    if (f == binary_ADD && compares_itself(x, binary_EQ) && compares_itself(y, binary_NE) &&
        shape_eq(&x->shape, &y->shape))
        return lazy_of_view(ctx, view_expanded(tensor_scalar(ctx, 1), &x->shape));
    struct mapped m = map_of(ctx, (const struct tensor *const[]){x, y}, 2);
    m.l->binary = f;
    m.l->moved = true;
    return tensor_of_map(ctx, &m);
}

const struct tensor *lazy_select(struct eval_context *ctx, const struct tensor *condition, const struct tensor *x,
                                 const struct tensor *y) {
    struct mapped m = map_of(ctx, (const struct tensor *const[]){condition, x, y}, 3);
    return tensor_of_map(ctx, &m);
}

const struct tensor *lazy_rounded_alone(struct eval_context *ctx, const struct tensor *x, enum dtype type, bool wraps) {
    struct mapped m = map_of(ctx, &x, 1);
    m.l->rounds = true;
    m.l->wraps = wraps;
    m.l->type = type;
    return tensor_of_map(ctx, &m);
}

/* The table of a constant has the numbers of its text. */
void lazy_round_constant(const struct tensor *x, enum dtype type) {
    struct lazy *l = x->lazy;
    if (l->kind != LAZY_TABLE)
        return;
    l->type = type;
    for (int64_t i = 0; i < l->n; i++)
        l->x[i] = format_round(l->x[i], type, ROUND_EVEN);
}

const struct tensor *lazy_place(struct eval_context *ctx, const struct view *x, const struct shape *s,
                                const int64_t *before, const int64_t *spread, double fill) {
    struct view lift = node_view(ctx, *x);
    struct lazy *l = node_new(ctx, LAZY_PLACE, s);
    l->in[0] = lift;
    l->nin = 1;
    l->fill = fill;
    for (uint32_t d = 0; d < s->rank; d++) {
        l->before[d] = before[d];
        l->spread[d] = spread ? spread[d] : 1;
    }
    return node_tensor(ctx, l, s, s);
}

const struct tensor *lazy_take(struct eval_context *ctx, const struct taking *t) {
    struct view index = node_view(ctx, t->index), x = t->x;
    x.shape.dim[x.shape.rank] = t->size; /* up to the last one */
    x.stride[x.shape.rank] = t->step;
    x.shape.rank += x.shape.rank < MAX_RANK;
    x = node_view(ctx, x);
    struct lazy *l = node_new(ctx, LAZY_TAKE, &t->index.shape);
    l->name = t->op;
    l->in[0] = index;
    l->in[1] = x;
    l->nin = 2;
    l->size = t->size;
    l->step = t->step;
    node_coalesce(&l->shape, (struct view *const[]){&l->in[0], &l->in[1]}, 2, 0);
    return node_tensor(ctx, l, &t->index.shape, &t->index.shape);
}

const struct tensor *lazy_join(struct eval_context *ctx, const struct tensor *const *parts, uint32_t n, uint32_t axis) {
    struct shape s = parts[0]->shape;
    struct view *views = arena_alloc(ctx->arena, n * sizeof *views);
    int64_t *begin = arena_alloc(ctx->arena, (n + (size_t)1) * sizeof *begin);
    begin[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        views[i] = node_view(ctx, view_of(parts[i]));
        begin[i + 1] = begin[i] + parts[i]->shape.dim[axis];
    }
    s.dim[axis] = begin[n];
    struct shape own = node_varying_shape(views, n, &s);
    own.dim[axis] = s.dim[axis];
    struct lazy *l = node_new(ctx, LAZY_JOIN, &own);
    l->parts = views;
    l->begin = begin;
    l->nparts = n;
    l->axis = axis;
    return node_tensor(ctx, l, &own, &s);
}

/* ---- shapes ---- */

/* The strides of the same elements in another shape; false: there are none. */
static bool restride(const struct view *v, const struct shape *to, int64_t *stride) {
    struct view one = *v;
    struct shape s = v->shape;
    uint32_t d = 0, e = 0;
    node_coalesce(&s, (struct view *const[]){&one}, 1, 0);
    for (uint32_t i = 0; i < s.rank; i++) { /* dimension i is those from d to e of the new shape */
        int64_t n = 1;
        while (e < to->rank && n * to->dim[e] <= s.dim[i] && n < s.dim[i])
            n *= to->dim[e++];
        if (n != s.dim[i])
            return false;
        int64_t step = one.stride[i];
        for (uint32_t k = e; k-- > d; step *= to->dim[k])
            stride[k] = step;
        d = e;
    }
    for (; d < to->rank; d++)
        stride[d] = 1;
    return true;
}

/* Dimensions become 1 in both shapes where as many of them are the same elements, in which the view does not vary. */
static void drop_repeated(const struct view *v, struct shape *own, struct shape *result) {
    for (uint32_t d = 0, e = 0, first, to; d < own->rank || e < result->rank; d = first, e = to) {
        int64_t n = d < own->rank ? own->dim[d] : 1, m = e < result->rank ? result->dim[e] : 1;
        for (first = d + 1, to = e + 1; n != m;)
            if (n < m)
                n *= own->dim[first++];
            else
                m *= result->dim[to++];
        bool varies = false;
        for (uint32_t i = d; i < first && i < own->rank; i++)
            varies |= own->dim[i] > 1 && v->stride[i] != 0;
        for (uint32_t i = d; i < first && i < own->rank && !varies; i++)
            own->dim[i] = 1;
        for (uint32_t i = e; i < to && i < result->rank && !varies; i++)
            result->dim[i] = 1;
    }
}

static const struct tensor *reshaped(struct eval_context *ctx, const struct tensor *t, const struct shape *s) {
    struct view v = view_of(t);
    struct split split;
    node_need_elements(ctx, s);
    if (split_views(&v, 1, &t->shape, &split))
        v = split.v[0];
    struct view to = {.shape = *s, .lazy = v.lazy, .offset = v.offset};
    if (restride(&v, s, to.stride))
        return lazy_of_view(ctx, to);
    struct view from = node_view(ctx, v);
    struct shape own = v.shape, result = *s;
    drop_repeated(&from, &own, &result);
    struct lazy *l = node_new(ctx, LAZY_MAP, &own);
    l->nin = 1;
    l->in[0] = from;
    l->unary = element_itself;
    node_coalesce(&l->shape, &(struct view *){&l->in[0]}, 1, 0);
    return node_tensor(ctx, l, &result, s);
}

const struct tensor *tensor_reshape(struct eval_context *b, const struct tensor *t, const struct shape *s) {
    if (s->rank > MAX_RANK || shape_count(s) != t->n) {
        eval_fail(b, "%s cannot be reshaped to %s", shape_text(b->arena, &t->shape).p, shape_text(b->arena, s).p);
        return NULL;
    }
    if (t->lazy)
        return reshaped(b, t, s);
    struct tensor *r = arena_alloc(b->arena, sizeof *r);
    *r = (struct tensor){.shape = *s, .n = t->n, .x = t->x};
    return r;
}

const struct tensor *lazy_taken(struct eval_context *ctx, const char *op, const struct tensor *x, uint32_t axis,
                                const struct tensor *indices) {
    struct taking t = {.op = op, .x = view_of(x), .size = x->shape.dim[axis]};
    struct shape s = x->shape, column = {.rank = x->shape.rank - axis, .dim = {indices->n}};
    for (uint32_t d = 1; d < column.rank; d++)
        column.dim[d] = 1;
    s.dim[axis] = indices->n;
    t.index = view_expanded(tensor_reshape(ctx, indices, &column), &s);
    t.step = t.x.stride[axis];
    t.x.stride[axis] = 0;
    t.x.shape = s;
    return lazy_take(ctx, &t);
}

/* ---- choices ---- */

bool lazy_is_truth(const struct lazy *l) {
    return l->kind == LAZY_MAP &&
           ((l->rounds && l->type == DT_I1) || is_comparison(l->binary) || l->binary == binary_LOGICAL_AND ||
            l->binary == binary_LOGICAL_OR || l->binary == binary_LOGICAL_XOR || l->unary == unary_LOGICAL_NOT ||
            l->unary == unary_ISFINITE);
}

/* Nothing and something else is nothing. */
static bool is_false(const struct lazy *l) {
    bool found = false;
    for (uint32_t k = 0; k < l->nin && l->kind == LAZY_MAP && l->binary == binary_LOGICAL_AND; k++)
        found |= l->in[k].lazy->kind == LAZY_TABLE && l->in[k].lazy->n == 1 && l->in[k].lazy->x[0] == 0;
    return found;
}

/* Finds whether it depends on inputs and on tables. */
static void settle(struct lazy *l) {
    l->drawn = l->kind == LAZY_INPUT;
    l->tabled = l->kind == LAZY_TABLE && l->n > 1;
    for (uint32_t k = 0; k < l->nin + l->nparts; k++) {
        const struct lazy *of = k < l->nin ? l->in[k].lazy : l->parts[k - l->nin].lazy;
        l->drawn |= of->drawn;
        l->tabled |= of->tabled;
    }
    l->tabled &= !is_false(l);
}

/* Some operand stands for infinity: few numbers are as large. */
static bool asks_for_infinity(const struct lazy *l) {
    static const double infinite = 1e18;
    bool clamps = is_comparison(l->binary) || l->binary == binary_MAXIMUM || l->binary == binary_MINIMUM, found = false;
    for (uint32_t k = 0; k < l->nin && clamps; k++)
        found |= l->in[k].lazy->kind == LAZY_TABLE && !(fabs(l->in[k].lazy->x[l->in[k].offset]) < infinite);
    return found;
}

static bool is_decided(const struct lazy *l) {
    bool decided = l->kind == LAZY_INPUT;
    for (uint32_t k = 0; k < l->nin && !decided; k++)
        decided = l->in[k].lazy->decided;
    for (uint32_t k = 0; k < l->nparts && !decided; k++)
        decided = l->parts[k].lazy->decided;
    return decided && !(l->kind == LAZY_MAP && asks_for_infinity(l));
}

void lazies_settle(struct lazies *all) {
    for (uint32_t i = 0; i < all->n; i++) {
        struct lazy *l = all->all[i];
        settle(l);
        l->decided = is_decided(l);
        l->chooses = l->kind == LAZY_MAP && (l->nin == 3 || is_comparison(l->binary));
    }
}
