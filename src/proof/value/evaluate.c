#include "proof/value/evaluate.h"

#include "proof/value/indices.h"

#include <math.h>
#include <stdlib.h>

enum { CHUNK = 256 };

struct node_state {
    struct indices wanted;
    double *x;     /* of the members, ascending; while they are read */
    uint32_t last; /* the node that reads them last, or NONE: who asks does */
};

struct lazy_demand {
    struct eval_context *ctx;
    const struct lazies *all;
    const struct evaluating *how; /* of the numbers that are computed */
    struct node_state *of;
    const struct wanted_elements *asked;
    uint32_t nasked;
    bool marking;
    double read, most;
    double *buffer[4]; /* for groups, and these as they were prepared */
    int64_t room[4];
};

/* Members of a node along one of its dimensions, each so far behind the one before it as `step`. */
struct run {
    struct index_run of;
    uint32_t along;
    int64_t step;
    int64_t at[MAX_RANK]; /* of the first one */
};

static struct run first_run(const struct lazy_demand *e, const struct lazy *l) {
    struct run r = {.along = 0};
    indices_begin(&e->of[l->id].wanted, &r.of);
    return r;
}

static bool next_run(const struct lazy_demand *e, const struct lazy *l, struct run *r) {
    if (!indices_next(&e->of[l->id].wanted, &r->of))
        return false;
    int64_t rest = r->of.from, inner = 1, most = 1;
    r->along = 0;
    r->step = 0;
    for (uint32_t d = l->shape.rank; d-- > 0; rest /= l->shape.dim[d], inner *= l->shape.dim[d]) {
        r->at[d] = rest % l->shape.dim[d];
        int64_t left = l->shape.dim[d] - 1 - r->at[d], step = r->of.step / inner;
        if (step > 0 && step <= left && step * inner == r->of.step) { /* of no other dimension */
            r->along = d;
            r->step = step;
            most = left / step + 1;
        }
    }
    indices_extend(&e->of[l->id].wanted, &r->of, most < CHUNK ? most : CHUNK);
    return true;
}

static int64_t offset_of(const struct view *v, const int64_t *at, uint32_t rank) {
    int64_t offset = v->offset;
    for (uint32_t d = 0; d < rank; d++)
        offset += at[d] * v->stride[d];
    return offset;
}

/* From a member of a run to the next one. */
static int64_t stride_of(const struct view *v, const struct run *r) {
    return r->step ? r->step * v->stride[r->along] : 0;
}

/* ---- reading ---- */

static void count_read(struct lazy_demand *e, int64_t n) {
    e->read += (double)n;
    if (e->read > e->most)
        eval_reason(e->ctx, REASON_TOO_LARGE, "it is made of more than %.0f elements", e->most);
}

static void mark(struct lazy_demand *e, const struct lazy *of, int64_t offset, int64_t stride, int64_t n) {
    struct indices *s = &e->of[of->id].wanted;
    count_read(e, n);
    if (of->kind == LAZY_TABLE)
        return;
    if (of->n > MAX_INDEXED)
        eval_reason(e->ctx, REASON_TOO_LARGE, "a tensor of %lld elements", (long long)of->n);
    if (stride > 0)
        indices_add(s, offset, stride, n);
    else
        indices_add(s, offset + (n - 1) * stride, stride ? -stride : 1, stride ? n : 1);
}

/* Of all elements some. */
static const double *take_from(const double *all, int64_t offset, int64_t stride, int64_t n, double *buffer) {
    if (stride == 1)
        return all + offset;
    for (int64_t i = 0; i < n; i++)
        buffer[i] = all[offset + i * stride];
    return buffer;
}

/* All elements of a node by their indices; NULL: some are not computed. */
static const double *all_of(const struct lazy_demand *e, const struct lazy *of) {
    const struct node_state *s = &e->of[of->id];
    return e->marking ? NULL : of->kind == LAZY_TABLE ? of->x : s->wanted.n == of->n ? s->x : NULL;
}

/* `n` elements of a node. While elements are marked, what is returned means nothing. */
static const double *read_node(struct lazy_demand *e, const struct lazy *of, int64_t offset, int64_t stride, int64_t n,
                               double *buffer) {
    const struct node_state *s = &e->of[of->id];
    if (e->marking) {
        mark(e, of, offset, stride, n);
        return buffer;
    }
    const double *all = all_of(e, of);
    if (all)
        return take_from(all, offset, stride, n, buffer);
    int64_t first = indices_rank(&s->wanted, offset);
    if (n == 1 || (stride > 0 && indices_rank(&s->wanted, offset + (n - 1) * stride) == first + n - 1))
        return s->x + first; /* no others are between them */
    for (int64_t i = 0; i < n; i++)
        buffer[i] = s->x[stride ? indices_rank(&s->wanted, offset + i * stride) : first];
    return buffer;
}

static double *room_for(struct lazy_demand *e, int k, int64_t n) {
    if (e->marking || n <= e->room[k])
        return e->buffer[k];
    free(e->buffer[k]);
    e->room[k] = n;
    e->buffer[k] = xrealloc(NULL, (size_t)n * sizeof(double));
    return e->buffer[k];
}

/* ---- elementwise ---- */

static double wrapped(struct lazy_demand *e, const struct lazy *l, double x) {
    uint32_t unused = 64 - dtype_table[l->type].bits;
    if (!unused && fabs(x) > 0x1p53)
        eval_reason(e->ctx, REASON_NO_EVALUATOR, "no evaluator for integers of more than 53 bits");
    uint64_t bits = (uint64_t)whole_of(x) << unused;
    return dtype_table[l->type].is_signed ? (double)((int64_t)bits >> unused) : (double)(bits >> unused);
}

static void round_run(struct lazy_demand *e, const struct lazy *l, const double *x, int64_t n, double *out) {
    for (int64_t i = 0; i < n; i++)
        out[i] = l->wraps ? wrapped(e, l, x[i]) : x[i];
    for (int64_t i = 0; format_is_block(l->type) && i < n; i++) /* each is a block by itself */
        out[i] = format_round(out[i], l->type, ROUND_PACKER);
    if (!format_is_block(l->type))
        format_round_row(out, (size_t)n, l->type, ROUND_PACKER);
}

static void map_run(struct lazy_demand *e, const struct lazy *l, const double *const *p, int64_t n, double *out) {
    if (l->rounds)
        round_run(e, l, p[0], n, out);
    for (int64_t i = 0; l->unary && i < n; i++)
        out[i] = l->unary(p[0][i]);
    for (int64_t i = 0; l->binary && i < n; i++)
        out[i] = l->binary(p[0][i], p[1][i]);
    for (int64_t i = 0; l->nin == 3 && i < n; i++)
        out[i] = p[0][i] != 0 ? p[1][i] : p[2][i];
}

/* What it makes is no number, which is not compared, and would be one if it went the other way; or it compares one. */
static bool says_nothing(const struct lazy *l, const double *const *p, int64_t i, double out) {
    return l->nin == 3 ? isnan(out) && !isnan(p[p[0][i] != 0 ? 2 : 1][i]) : isnan(p[0][i]) || isnan(p[1][i]);
}

/* Of comparisons those of whole numbers count, of which few may be tried. */
static void note_ways(struct lazy *l, const double *const *p, int64_t n, const double *out) {
    for (int64_t i = 0; i < n && !(l->meets[0] && l->meets[1]); i++)
        if (says_nothing(l, p, i, out[i]))
            continue;
        else if (l->nin == 3 || p[0][i] == rint(p[0][i]))
            l->meets[(l->nin == 3 ? p[0][i] : out[i]) != 0] = true;
        else
            l->meets[0] = l->meets[1] = true;
}

static void map_chunk(struct lazy_demand *e, const struct lazy *l, const double *const *p, int64_t n, double *out) {
    map_run(e, l, p, n, out);
    if (l->chooses)
        note_ways(e->all->all[l->id], p, n, out);
}

/* Of each element that of the operand has the same number. */
static bool is_in_order(const struct lazy *l, const struct view *v) {
    int64_t stride = 1;
    for (uint32_t d = l->shape.rank; d-- > 0; stride *= l->shape.dim[d])
        if (v->stride[d] != stride)
            return false;
    return v->offset == 0 && v->lazy->n == l->n && v->lazy->kind != LAZY_TABLE;
}

/* What an operand has is one number. */
static bool is_one_number(const struct lazy_demand *e, const struct lazy *of) {
    return of->kind == LAZY_TABLE ? of->n == 1 : e->of[of->id].wanted.n == 1;
}

/* The members of operands are one number each, or one run beside that of the node. */
static bool is_one_run(const struct lazy_demand *e, const struct lazy *l) {
    for (uint32_t k = 0; k < l->nin; k++) {
        const struct lazy *of = l->in[k].lazy;
        bool beside = is_in_order(l, &l->in[k]) && e->of[of->id].wanted.n == e->of[l->id].wanted.n;
        if (!beside && !is_one_number(e, of))
            return false;
    }
    return true;
}

static void map_one_run(struct lazy_demand *e, const struct lazy *l, double *out) {
    double buffers[3][CHUNK];
    const double *p[3] = {NULL};
    for (int64_t at = 0, left = e->of[l->id].wanted.n, n; left > 0; at += n, left -= n) {
        n = left < CHUNK ? left : CHUNK;
        for (uint32_t k = 0; k < l->nin; k++) {
            const struct lazy *of = l->in[k].lazy;
            bool one = is_one_number(e, of);
            const double *x = of->kind == LAZY_TABLE ? of->x : e->of[of->id].x;
            double number = *x;
            for (int64_t i = 0; i < n && one && at == 0; i++)
                buffers[k][i] = number;
            p[k] = one ? buffers[k] : x + at;
        }
        map_chunk(e, l, p, n, out + at);
    }
}

/* Marks what is in order, or one element, as a whole; returns whether all operands are. */
static bool mark_in_order(struct lazy_demand *e, const struct lazy *l, bool *marked) {
    bool all = true;
    for (uint32_t k = 0; k < l->nin; k++) {
        const struct view *v = &l->in[k];
        bool one = l->shape.rank == 1 && v->stride[0] == 0;
        marked[k] = one || is_in_order(l, v);
        all &= marked[k];
        if (one)
            mark(e, v->lazy, v->offset, 0, e->of[l->id].wanted.n);
        else if (marked[k]) {
            count_read(e, e->of[l->id].wanted.n);
            indices_join(&e->of[v->lazy->id].wanted, &e->of[l->id].wanted);
        }
    }
    return all;
}

static void map_node(struct lazy_demand *e, const struct lazy *l, double *out) {
    double buffers[3][CHUNK];
    const double *p[3] = {NULL};
    bool marked[3] = {false};
    if (e->marking ? mark_in_order(e, l, marked) : is_one_run(e, l)) {
        if (!e->marking)
            map_one_run(e, l, out);
        return;
    }
    for (struct run r = first_run(e, l); next_run(e, l, &r);) {
        for (uint32_t k = 0; k < l->nin; k++)
            if (!marked[k])
                p[k] = read_node(e, l->in[k].lazy, offset_of(&l->in[k], r.at, l->shape.rank), stride_of(&l->in[k], &r),
                                 r.of.n, buffers[k]);
        if (e->marking)
            continue;
        map_chunk(e, l, p, r.of.n, out);
        out += r.of.n;
    }
}

/* ---- groups ---- */

/* All elements of a group, from that with this offset on. */
static const double *read_group(struct lazy_demand *e, const struct lazy *l, uint32_t k, int64_t offset, double *buffer,
                                int64_t size) {
    const struct view *g = &l->group[k];
    uint32_t rank = g->shape.rank;
    int64_t row = rank ? g->shape.dim[rank - 1] : 1, at[MAX_RANK] = {0};
    const struct lazy *of = l->in[k].lazy;
    if (row == size)
        return read_node(e, of, offset, rank ? g->stride[rank - 1] : 0, size, buffer);
    for (int64_t done = 0; done < size; done += row) {
        double *to = e->marking ? buffer : buffer + done;
        const double *p = read_node(e, of, offset, g->stride[rank - 1], row, to);
        if (!e->marking && p != to)
            memcpy(to, p, (size_t)row * sizeof *to);
        for (uint32_t d = rank - 1; d-- > 0;) {
            offset += g->stride[d];
            if (++at[d] < g->shape.dim[d])
                break;
            offset -= g->stride[d] * at[d];
            at[d] = 0;
        }
    }
    return buffer;
}

static const double *group_at(struct lazy_demand *e, const struct lazy *l, uint32_t k, int64_t offset, int64_t size) {
    const double *group = read_group(e, l, k, offset, room_for(e, (int)k, size), size);
    if (!l->dot || e->marking)
        return group;
    double *prepared = room_for(e, 2 + (int)k, 2 * size);
    l->dot->prepare(l->dot, (int)k, group, size, prepared);
    return prepared;
}

static void fold_node(struct lazy_demand *e, const struct lazy *l, double *out) {
    const double *p[2] = {NULL, NULL};
    int64_t size = shape_count(&l->group[0].shape), last[2] = {-1, -1};
    if (e->marking && e->read + (double)size * (double)e->of[l->id].wanted.n > e->most)
        eval_reason(e->ctx, REASON_TOO_LARGE, "%s over %.0f elements, in all %.3g", l->name, (double)size,
                    (double)size * (double)e->of[l->id].wanted.n);
    for (struct run r = first_run(e, l); next_run(e, l, &r);)
        for (int64_t i = 0; i < r.of.n; i++) {
            for (uint32_t k = 0; k < l->nin; k++) {
                int64_t at = offset_of(&l->in[k], r.at, l->shape.rank) + i * stride_of(&l->in[k], &r);
                if (at != last[k])
                    p[k] = group_at(e, l, k, at, size);
                last[k] = at;
            }
            if (!e->marking)
                *out++ = l->dot ? l->dot->of(l->dot, p[0], p[1], size) : l->fold(p[0], p[1], size);
        }
}

/* ---- data movement that is no view ---- */

/* From `at` on along a run that is `n` long, how many elements are all of the operand, or all beside it. */
static int64_t place_alike(const struct lazy *l, const struct run *r, const int64_t *at, int64_t n) {
    uint32_t d = r->along;
    if (!r->step || r->step % l->spread[d] != 0)
        return 1;
    int64_t i = at[d] - l->before[d], end = (l->in[0].shape.dim[d] - 1) * l->spread[d] + 1;
    int64_t to = i < 0 ? -i : end - i, alike = to > 0 ? (to - 1) / r->step + 1 : n;
    return alike < n ? alike : n;
}

static bool place_offset(const struct lazy *l, const int64_t *at, int64_t *offset) {
    bool inside = true;
    *offset = l->in[0].offset;
    for (uint32_t d = 0; d < l->shape.rank; d++) {
        int64_t i = at[d] - l->before[d];
        inside &= i >= 0 && i % l->spread[d] == 0 && i / l->spread[d] < l->in[0].shape.dim[d];
        *offset += i / l->spread[d] * l->in[0].stride[d];
    }
    return inside;
}

static void place_node(struct lazy_demand *e, const struct lazy *l, double *out) {
    double buffer[CHUNK];
    for (struct run r = first_run(e, l); next_run(e, l, &r);)
        for (int64_t done = 0, n, offset; done < r.of.n; done += n) {
            n = place_alike(l, &r, r.at, r.of.n - done);
            bool inside = place_offset(l, r.at, &offset);
            int64_t stride = n > 1 ? stride_of(&l->in[0], &r) / l->spread[r.along] : 0;
            const double *p = inside ? read_node(e, l->in[0].lazy, offset, stride, n, buffer) : NULL;
            for (int64_t i = 0; !e->marking && i < n; i++)
                *out++ = p ? p[i] : l->fill;
            r.at[r.along] += n * r.step;
        }
}

static void join_node(struct lazy_demand *e, const struct lazy *l, double *out) {
    uint32_t part = 0;
    double buffer[CHUNK];
    for (struct run r = first_run(e, l); next_run(e, l, &r);)
        for (int64_t done = 0, n; done < r.of.n; done += n) {
            int64_t at = r.at[l->axis];
            while (at < l->begin[part])
                part--;
            while (at >= l->begin[part + 1])
                part++;
            n = r.of.n - done;
            if (l->axis == r.along && r.step && (l->begin[part + 1] - 1 - at) / r.step + 1 < n)
                n = (l->begin[part + 1] - 1 - at) / r.step + 1;
            r.at[l->axis] -= l->begin[part];
            const double *p = read_node(e, l->parts[part].lazy, offset_of(&l->parts[part], r.at, l->shape.rank),
                                        stride_of(&l->parts[part], &r), n, buffer);
            r.at[l->axis] += l->begin[part];
            r.at[r.along] += n * r.step;
            if (!e->marking) {
                memcpy(out, p, (size_t)n * sizeof *out);
                out += n;
            }
        }
}

/* The elements of an input, or of what is given, at `n` indices, which ascend and are changed. */
static void draw(const struct lazy_demand *e, const struct lazy *l, int64_t *at, int64_t n, double *out) {
    for (int64_t i = 0; i < n && !l->given && l->apart > 1; i++)
        at[i] *= l->apart;
    e->how->draw(e->how->self, l, at, n, out);
}

/* What is given or drawn is read as it is; of what is computed all elements may be asked for. */
static double take_element(struct lazy_demand *e, const struct lazy *l, double index, int64_t offset) {
    const struct lazy *of = l->in[1].lazy;
    int64_t i = index_within(index, l->size), at = offset + i * l->step;
    double x;
    if (i < 0)
        eval_reason(e->ctx, REASON_OTHER, "%s: index %g of %lld", l->name, index, (long long)l->size);
    if (of->kind != LAZY_INPUT && !of->given)
        return *read_node(e, of, at, 1, 1, &x);
    draw(e, of, &at, 1, &x);
    return x;
}

static void take_node(struct lazy_demand *e, const struct lazy *l, double *out) {
    double buffer[CHUNK];
    int64_t marked = -1;
    bool computed = l->in[1].lazy->kind != LAZY_INPUT && l->in[1].lazy->kind != LAZY_TABLE && !l->in[1].lazy->given;
    for (struct run r = first_run(e, l); next_run(e, l, &r);) {
        const double *index = read_node(e, l->in[0].lazy, offset_of(&l->in[0], r.at, l->shape.rank),
                                        stride_of(&l->in[0], &r), r.of.n, buffer);
        int64_t offset = offset_of(&l->in[1], r.at, l->shape.rank), step = stride_of(&l->in[1], &r);
        for (int64_t i = 0; i < r.of.n; i++) {
            if (!e->marking)
                *out++ = take_element(e, l, index[i], offset + i * step);
            else if (computed && offset + i * step != marked) {
                marked = offset + i * step;
                mark(e, l->in[1].lazy, marked, l->step, l->size);
            }
        }
    }
}

static void input_node(struct lazy_demand *e, const struct lazy *l, double *out) {
    int64_t at[CHUNK], from = 0, n;
    for (; !e->marking && (n = indices_list(&e->of[l->id].wanted, &from, at, CHUNK)) > 0; out += n)
        draw(e, l, at, n, out);
}

static void visit(struct lazy_demand *e, const struct lazy *l, double *out) {
    static void (*const of[])(struct lazy_demand *, const struct lazy *, double *) = {
        [LAZY_INPUT] = input_node, [LAZY_TABLE] = NULL,     [LAZY_MAP] = map_node,  [LAZY_FOLD] = fold_node,
        [LAZY_PLACE] = place_node, [LAZY_JOIN] = join_node, [LAZY_TAKE] = take_node};
    if (l->given)
        input_node(e, l, out);
    else if (of[l->kind])
        of[l->kind](e, l, out);
}

/* ---- the two passes ---- */

static void jitter(const struct lazy_demand *e, const struct lazy *l, const struct node_state *s) {
    for (uint32_t i = 0; i < s->wanted.n; i++) {
        uint64_t bits =
            ((uint64_t)i + (l->id + (e->how->jitter_seed << 32)) * (uint64_t)8191 + 1) * 0x9e3779b97f4a7c15u;
        if (s->x[i] != rint(s->x[i])) /* a whole number may be an index, and is exact */
            s->x[i] *= 1 + e->how->jitter * (0x1p-63 * (double)((bits ^ bits >> 29) >> 1) * 2 - 1);
    }
}

static int64_t offset_of_index(const struct tensor *t, int64_t at) {
    int64_t offset = t->offset;
    for (uint32_t d = t->shape.rank; d-- > 0; at /= t->shape.dim[d])
        offset += at % t->shape.dim[d] * t->stride[d];
    return offset;
}

static void mark_all(struct eval_context *ctx, void *self) {
    struct lazy_demand *e = self;
    (void)ctx;
    for (uint32_t k = 0; k < e->nasked; k++)
        for (uint32_t i = 0; i < e->asked[k].n; i++)
            mark(e, e->asked[k].tensor->lazy, offset_of_index(e->asked[k].tensor, e->asked[k].at[i]), 1, 1);
    for (uint32_t i = e->all->n; i-- > 0;) {
        struct node_state *s = &e->of[i];
        indices_count(&s->wanted);
        if (!s->wanted.n)
            continue;
        visit(e, e->all->all[i], NULL);
    }
}

/* What nobody reads behind this node. */
static void forget_operands(struct lazy_demand *e, const struct lazy *l) {
    for (uint32_t k = 0; k < l->nin + l->nparts; k++) {
        struct node_state *s = &e->of[k < l->nin ? l->in[k].lazy->id : l->parts[k - l->nin].lazy->id];
        if (s->last == l->id) {
            free(s->x);
            s->x = NULL;
        }
    }
}

static void compute_all(struct eval_context *ctx, void *self) {
    struct lazy_demand *e = self;
    (void)ctx;
    for (uint32_t i = 0; i < e->all->n; i++) {
        struct node_state *s = &e->of[i];
        if (!s->wanted.n)
            continue;
        const struct lazy *l = e->all->all[i];
        free(s->x);
        s->x = xrealloc(NULL, (size_t)s->wanted.n * sizeof *s->x);
        visit(e, l, s->x);
        if (e->how->jitter > 0 && l->moved && !l->given)
            jitter(e, l, s);
        forget_operands(e, l);
    }
    for (uint32_t k = 0; k < e->nasked; k++)
        for (uint32_t i = 0; i < e->asked[k].n; i++) {
            const struct tensor *t = e->asked[k].tensor;
            double x;
            e->asked[k].out[i] = *read_node(e, t->lazy, offset_of_index(t, e->asked[k].at[i]), 1, 1, &x);
        }
}

static void find_last(struct lazy_demand *e) {
    for (uint32_t i = 0; i < e->all->n; i++) {
        const struct lazy *l = e->all->all[i];
        for (uint32_t k = 0; e->of[i].wanted.n && k < l->nin + l->nparts; k++)
            e->of[k < l->nin ? l->in[k].lazy->id : l->parts[k - l->nin].lazy->id].last = i;
    }
    for (uint32_t k = 0; k < e->nasked; k++)
        e->of[e->asked[k].tensor->lazy->id].last = NONE;
}

struct lazy_demand *demand_of(struct eval_context *ctx, const struct lazies *all, const struct wanted_elements *asked,
                              uint32_t n, double most) {
    struct lazy_demand *e = xcalloc(1, sizeof *e);
    *e = (struct lazy_demand){.ctx = ctx, .all = all, .asked = asked, .nasked = n, .most = most, .marking = true};
    e->of = xcalloc(all->n + (size_t)1, sizeof *e->of);
    for (uint32_t i = 0; i < all->n; i++)
        e->of[i].wanted.numel = all->all[i]->n;
    if (!eval_attempt(ctx, mark_all, e)) {
        demand_free(e);
        return NULL;
    }
    e->marking = false;
    find_last(e);
    return e;
}

double demand_size(const struct lazy_demand *e) {
    return e->read;
}

uint32_t demand_inputs(const struct lazy_demand *e) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->all->n; i++) {
        const struct lazy *l = e->all->all[i];
        n += (l->kind == LAZY_INPUT || l->given) && l->n > 1 && e->of[i].wanted.n > 0;
    }
    return n;
}

bool demand_compute(struct lazy_demand *e, const struct evaluating *how) {
    e->how = how;
    return eval_attempt(e->ctx, compute_all, e);
}

void demand_free(struct lazy_demand *e) {
    for (uint32_t i = 0; e && i < e->all->n; i++) {
        indices_free(&e->of[i].wanted);
        free(e->of[i].x);
    }
    if (!e)
        return;
    free(e->of);
    for (size_t i = 0; i < sizeof e->buffer / sizeof *e->buffer; i++)
        free(e->buffer[i]);
    free(e);
}

const struct tensor *elements_read(struct eval_context *ctx, const struct tensor *t, double most) {
    struct tensor *all = tensor_new(ctx, &t->shape);
    if (!all || all->n == 0)
        return all;
    int64_t *at = arena_alloc(ctx->arena, (size_t)all->n * sizeof *at);
    for (int64_t i = 0; i < all->n; i++)
        at[i] = i;
    struct wanted_elements asked = {lazy_of_view(ctx, view_of(t)), at, (uint32_t)all->n, all->x};
    struct lazy_demand *d = demand_of(ctx, ctx->nodes, &asked, 1, most);
    bool good = d && demand_compute(d, &(struct evaluating){.jitter = 0});
    demand_free(d);
    return good ? all : NULL;
}
