#include "proof/value/split.h"

#include <string.h>

double element_itself(double x) {
    return x;
}

static bool is_reshaped(const struct view *v) {
    return v->lazy && v->lazy->kind == LAZY_MAP && v->lazy->unary == element_itself;
}

/* A part of a dimension: `n` elements along one dimension of a node, `step` apart. */
struct part {
    int64_t n, step;
    uint32_t along; /* NONE: one element */
};

/* The innermost part of `n` steps of `stride` elements of a node. False: there is none. */
static bool innermost(const struct lazy *l, int64_t n, int64_t stride, struct part *p) {
    int64_t inner = 1;
    uint32_t d = l->shape.rank;
    *p = (struct part){.n = n, .along = NONE};
    if (n == 1 || stride == 0)
        return true;
    while (d-- > 0 && stride >= inner * l->shape.dim[d])
        inner *= l->shape.dim[d];
    if (stride < 0 || d == NONE || stride % inner != 0)
        return false;
    int64_t step = stride / inner, fit = (l->shape.dim[d] - 1) / step + 1;
    p->n = n < fit ? n : fit;
    p->step = step;
    p->along = d;
    return p->n == n || (fit * step == l->shape.dim[d] && n % fit == 0);
}

/* Where parts of a dimension begin: so many elements of it are further in. */
struct inner_sizes {
    int64_t at[MAX_RANK];
    uint32_t n;
};

static bool add_cut(struct inner_sizes *c, int64_t at) {
    uint32_t i = 0;
    while (i < c->n && c->at[i] < at)
        i++;
    if (i < c->n && c->at[i] == at)
        return true;
    if (c->n == MAX_RANK)
        return false;
    for (uint32_t k = c->n++; k > i; k--)
        c->at[k] = c->at[k - 1];
    c->at[i] = at;
    return true;
}

static bool cut_dimension(const struct view *v, uint32_t d, int64_t n, struct inner_sizes *c) {
    struct part p;
    for (int64_t within = 1; within < n; within *= p.n)
        if (!innermost(v->lazy, n / within, v->stride[d] * within, &p) || !add_cut(c, within * p.n))
            return false;
    return true;
}

/* The dimension in its parts, outermost first. */
static bool add_parts(struct split *out, uint32_t d, int64_t n, const struct inner_sizes *c) {
    int64_t outer = n;
    for (uint32_t i = c->n; i-- > 0;) {
        int64_t inner = i ? c->at[i - 1] : 1;
        if (c->at[i] != outer || outer % inner != 0 || out->shape.rank == MAX_RANK)
            return false;
        out->of[out->shape.rank] = d;
        out->shape.dim[out->shape.rank++] = outer / inner;
        outer = inner;
    }
    return true;
}

/* Over the parts; still of the node. */
static struct view over_parts(const struct view *v, const struct split *s) {
    struct view out = {.shape = s->shape, .lazy = v->lazy, .x = v->x, .offset = v->offset};
    int64_t within = 1;
    for (uint32_t i = s->shape.rank; i-- > 0; within *= s->shape.dim[i]) {
        if (i + 1 == s->shape.rank || s->of[i] != s->of[i + 1])
            within = 1;
        out.stride[i] = v->stride[s->of[i]] * within;
    }
    return out;
}

static void place_of(const struct lazy *l, int64_t i, int64_t *at) {
    for (uint32_t d = l->shape.rank; d-- > 0; i /= l->shape.dim[d])
        at[d] = i % l->shape.dim[d];
}

/* Of what the node reads. False: the steps of two parts go beyond a dimension together. */
static bool look_through(struct view *v) {
    const struct lazy *l = v->lazy;
    int64_t at[MAX_RANK], offset = l->in[0].offset;
    place_of(l, v->offset, at);
    for (uint32_t d = 0; d < l->shape.rank; d++)
        offset += at[d] * l->in[0].stride[d];
    for (uint32_t i = 0; i < v->shape.rank; i++) {
        struct part p;
        if (!innermost(l, v->shape.dim[i], v->stride[i], &p) || p.n != v->shape.dim[i])
            return false;
        v->stride[i] = p.along == NONE ? 0 : p.step * l->in[0].stride[p.along];
        if (p.along != NONE && (at[p.along] += (p.n - 1) * p.step) >= l->shape.dim[p.along])
            return false;
    }
    v->lazy = l->in[0].lazy;
    v->offset = offset;
    return true;
}

bool split_views(const struct view *v, uint32_t n, const struct shape *shape, struct split *out) {
    bool any = false, good = true;
    for (uint32_t k = 0; k < n; k++)
        any |= is_reshaped(&v[k]);
    out->shape.rank = 0;
    for (uint32_t d = 0; d < shape->rank && any && good; d++) {
        struct inner_sizes cuts = {.at = {shape->dim[d]}, .n = 1};
        for (uint32_t k = 0; k < n && good; k++)
            good = !is_reshaped(&v[k]) || cut_dimension(&v[k], d, shape->dim[d], &cuts);
        good = good && add_parts(out, d, shape->dim[d], &cuts);
    }
    for (uint32_t k = 0; k < n && any && good; k++) {
        out->v[k] = over_parts(&v[k], out);
        good = !is_reshaped(&v[k]) || look_through(&out->v[k]);
    }
    return any && good;
}

/* ---- parts of a join ---- */

bool view_is_joined(const struct view *v, uint32_t d, struct join_steps *out) {
    const struct lazy *l = v->lazy;
    int64_t reach[MAX_RANK];
    if (!l || l->kind != LAZY_JOIN)
        return false;
    out->d = d;
    place_of(l, v->offset, out->at);
    memcpy(reach, out->at, sizeof reach);
    for (uint32_t i = 0; i < v->shape.rank; i++) {
        struct part p;
        bool good = innermost(l, v->shape.dim[i], v->stride[i], &p) && p.n == v->shape.dim[i];
        if (!good || (i == d) != (p.along == l->axis) || (i == d && p.step != 1))
            return false;
        if (p.along != NONE && (reach[p.along] += (p.n - 1) * p.step) >= l->shape.dim[p.along])
            return false;
        out->along[i] = p.along;
        out->step[i] = p.step;
    }
    out->begin = out->at[l->axis];
    return true;
}

static uint32_t part_at(const struct lazy *l, int64_t at) {
    uint32_t k = 0;
    while (at >= l->begin[k + 1])
        k++;
    return k;
}

int64_t joined_alike(const struct view *v, const struct join_steps *j, int64_t from) {
    int64_t end = v->lazy->begin[part_at(v->lazy, j->begin + from) + 1] - j->begin;
    return (end < v->shape.dim[j->d] ? end : v->shape.dim[j->d]) - from;
}

struct view view_of_part(const struct view *v, const struct join_steps *j, int64_t from, int64_t n) {
    const struct lazy *l = v->lazy;
    uint32_t k = part_at(l, j->begin + from);
    const struct view *part = &l->parts[k];
    struct view out = {.shape = v->shape, .lazy = part->lazy, .offset = part->offset};
    for (uint32_t d = 0; d < l->shape.rank; d++)
        out.offset += (d == l->axis ? j->begin + from - l->begin[k] : j->at[d]) * part->stride[d];
    for (uint32_t i = 0; i < v->shape.rank; i++)
        out.stride[i] = j->along[i] == NONE ? 0 : j->step[i] * part->stride[j->along[i]];
    out.shape.dim[j->d] = n;
    return out;
}
