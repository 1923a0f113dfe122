/* Scaled dot product attention, rotary position embeddings, and the ops that split and concatenate heads.
 *
 * Sizes in comments: B batch, H heads (Hq of queries, Hkv of keys and values), S positions (Sq, Sk), D width of a head.
 * Grouped queries: Hq / Hkv neighbouring query heads share a key head. Softmax subtracts the maximum of each row. */
#include "numeric/elementwise.h"
#include "numeric/evaluators.h"

#include <math.h>

static bool rank_needed(struct eval_context *b, const struct call *c, const struct tensor *t, uint32_t rank) {
    return t->shape.rank == rank || eval_fail(b, "%s of %s", op_table[c->kind].name, shape_text(b->arena, &t->shape).p);
}

/* ---- scaled dot product attention ---- */

struct sdpa {
    const struct tensor *q, *k, *v;              /* [B,Hq,Sq,D], [B,Hkv,Sk,D], [B,Hkv,Sk,width of v] */
    const struct tensor *mask, *position, *sink; /* each may be NULL. Position: of the query of each batch, in decode */
    double scale, sink_scale;
    bool causal, scale_mask; /* scale_mask: the mask is added to the scores before they are scaled */
    int64_t window;          /* of keys that a query sees; 0: all */
    int64_t batch, heads, kv_heads, queries, keys, width;
};

/* A causal window reaches back from the query, another one to both sides of it. */
static bool is_visible(const struct sdpa *a, int64_t batch, int64_t query, int64_t key) {
    double at = a->position ? a->position->x[a->position->n == 1 ? 0 : batch] : (double)query;
    if (a->causal && (double)key > at)
        return false;
    if (a->window && a->causal)
        return at - (double)key < (double)a->window;
    int64_t half = a->window / 2;
    return !a->window || fabs(at - (double)key) <= (double)half;
}

static double score(const struct sdpa *a, const struct view *mask, int64_t b, int64_t h, int64_t i, int64_t j) {
    int64_t kv = h / (a->heads / a->kv_heads), d;
    double dot = 0, added = 0;
    const double *q = a->q->x + ((b * a->heads + h) * a->queries + i) * a->width;
    const double *k = a->k->x + ((b * a->kv_heads + kv) * a->keys + j) * a->width;
    for (d = 0; d < a->width; d++)
        dot += q[d] * k[d];
    if (a->mask)
        added = mask->x[b * mask->stride[0] + h * mask->stride[1] + i * mask->stride[2] + j * mask->stride[3]];
    if (!is_visible(a, b, i, j))
        return -INFINITY;
    return a->scale_mask ? a->scale * (dot + added) : a->scale * dot + added;
}

/* One row of the result. `p` has room for a score for each key and one for the sink, which takes part in the softmax
 * but has no value. */
static void attend(const struct sdpa *a, const struct view *mask, int64_t b, int64_t h, int64_t i, double *p,
                   double *out) {
    int64_t n = a->keys, width = a->v->shape.dim[3], kv = h / (a->heads / a->kv_heads);
    double most = -INFINITY, total = 0;
    for (int64_t j = 0; j < n; j++)
        p[j] = score(a, mask, b, h, i, j);
    if (a->sink)
        p[n++] = a->sink_scale * a->sink->x[a->sink->n == 1 ? 0 : h];
    for (int64_t j = 0; j < n; j++)
        most = isnan(p[j]) || p[j] > most ? p[j] : most;
    for (int64_t j = 0; j < n; j++)
        total += p[j] = exp(p[j] - most);
    const double *v = a->v->x + (b * a->kv_heads + kv) * a->keys * width;
    for (int64_t d = 0; d < width; d++)
        out[d] = 0;
    for (int64_t j = 0; j < a->keys; j++)
        for (int64_t d = 0; d < width; d++)
            out[d] += p[j] / total * v[j * width + d];
}

static bool attention_fits(struct eval_context *b, const struct sdpa *a) {
    const int64_t *q = a->q->shape.dim, *k = a->k->shape.dim, *v = a->v->shape.dim;
    if (q[0] != k[0] || k[0] != v[0] || k[1] != v[1] || k[2] != v[2] || q[3] != k[3] || k[1] < 1 || q[1] % k[1] != 0)
        return eval_fail(b, "attention of %s, %s and %s", shape_text(b->arena, &a->q->shape).p,
                         shape_text(b->arena, &a->k->shape).p, shape_text(b->arena, &a->v->shape).p);
    if (a->sink && a->sink->n != 1 && a->sink->n != q[1])
        return eval_fail(b, "attention: sinks for %lld heads", (long long)a->sink->n);
    if (a->position && a->position->n != 1 && a->position->n != q[0])
        return eval_fail(b, "attention: %lld positions", (long long)a->position->n);
    return true;
}

/* [B,Hq,Sq,width of v]; NULL with a reason. */
static struct tensor *attend_all(struct eval_context *b, struct sdpa *a) {
    if (!attention_fits(b, a))
        return NULL;
    a->batch = a->q->shape.dim[0];
    a->heads = a->q->shape.dim[1];
    a->kv_heads = a->k->shape.dim[1];
    a->queries = a->q->shape.dim[2];
    a->keys = a->k->shape.dim[2];
    a->width = a->q->shape.dim[3];
    struct shape scores = {4, {a->batch, a->heads, a->queries, a->keys}}, fits;
    struct view mask = {0};
    if (a->mask) {
        if (!shape_broadcast(b, &a->mask->shape, &scores, &fits))
            return NULL;
        if (!shape_eq(&fits, &scores)) {
            eval_fail(b, "attention: a mask %s of scores %s", shape_text(b->arena, &a->mask->shape).p,
                      shape_text(b->arena, &scores).p);
            return NULL;
        }
        mask = view_expanded(a->mask, &scores);
    }
    int64_t width = a->v->shape.dim[3];
    struct tensor *t = tensor_new(b, &(struct shape){4, {a->batch, a->heads, a->queries, width}});
    if (!t || !eval_steps(b, shape_count(&scores), a->width + width + 1))
        return NULL;
    double *p = arena_alloc(b->arena, (size_t)(a->keys + 1) * sizeof *p), *out = t->x;
    for (int64_t i = 0; i < a->batch; i++)
        for (int64_t h = 0; h < a->heads; h++)
            for (int64_t s = 0; s < a->queries; s++, out += width)
                attend(a, &mask, i, h, s, p, out);
    return t;
}

static bool read_attention(struct eval_context *b, const struct call *c, struct sdpa *a) {
    a->causal = true;
    a->scale = 1 / sqrt((double)a->q->shape.dim[3]);
    if (!attr_number(b, c, "scale", &a->scale) || !attr_flag(b, c, "is_causal", &a->causal) ||
        !attr_int(b, c, "sliding_window_size", &a->window))
        return false;
    a->sink_scale = c->ttnn ? a->scale : 1; /* TTNN's kernel scales the sink as it does the scores */
    return true;
}

static bool query_key_value(struct eval_context *b, const struct call *c, struct sdpa *a) {
    if (!operands_needed(b, c, 3))
        return false;
    a->q = c->operands[0];
    a->k = c->operands[1];
    a->v = c->operands[2];
    return rank_needed(b, c, a->q, 4) && rank_needed(b, c, a->k, 4) && rank_needed(b, c, a->v, 4);
}

bool evaluate_attention(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct sdpa a = {.mask = operand(c, 3), .sink = operand(c, 4)};
    if (!query_key_value(b, c, &a))
        return false;
    *out = read_attention(b, c, &a) ? attend_all(b, &a) : NULL;
    return *out != NULL;
}

/* Decode: one query of each batch, [1,B,Hq,D] to [1,B,Hq,D]. The mask is [1|B, 1, 1|Hq, Sk]. */
bool evaluate_attention_decode(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct sdpa a = {.position = operand(c, 4), .sink = operand(c, 5), .scale_mask = c->ttnn};
    if (!query_key_value(b, c, &a))
        return false;
    const int64_t *q = a.q->shape.dim;
    a.q = tensor_reshape(b, a.q, &(struct shape){4, {q[0] * q[1], q[2], 1, q[3]}});
    if (operand(c, 3)) {
        if (!rank_needed(b, c, operand(c, 3), 4))
            return false;
        a.mask = view_copy(b, view_swapped(view_of(operand(c, 3)), 1, 2));
    }
    if (!read_attention(b, c, &a))
        return false;
    if (a.causal && !a.position)
        return eval_fail(b, "decode attention is causal but has no position");
    a.causal &= a.position != NULL;
    struct tensor *t = attend_all(b, &a);
    *out = t ? tensor_reshape(b, t, &(struct shape){4, {q[0], q[1], q[2], a.v->shape.dim[3]}}) : NULL;
    return *out != NULL;
}

/* ---- rotary position embeddings ---- */

/* TTNN's kernel pads the rows of its result to a whole tile, with zeros; only the declared shape tells. */
static const struct tensor *with_padding_rows(struct eval_context *b, const struct call *c, const struct tensor *t) {
    const struct shape *declared = declared_shape(c, 0);
    uint32_t rank = t->shape.rank;
    struct shape s = t->shape;
    if (!declared || declared->rank != rank || declared->dim[rank - 2] <= s.dim[rank - 2])
        return t;
    s.dim[rank - 2] = declared->dim[rank - 2];
    struct tensor *r = tensor_new(b, &s);
    if (!r)
        return NULL;
    struct view rows = view_cut(view_of(r), rank - 2, 0, 1, t->shape.dim[rank - 2]);
    view_fill(r, &rows, t->x);
    return r;
}

static const struct tensor *rotated(struct eval_context *b, const struct tensor *x, const struct tensor *cos,
                                    const struct tensor *turned, const struct tensor *sin) {
    const struct tensor *p = apply_binary(b, binary_MULTIPLY, x, cos);
    const struct tensor *q = p ? apply_binary(b, binary_MULTIPLY, turned, sin) : NULL;
    return q ? apply_binary(b, binary_ADD, p, q) : NULL;
}

/* x * cos + turned * sin; turned is x with its halves exchanged and the first of them negated (Su et al., 2021, in the
 * layout of GPT-NeoX). */
bool evaluate_rotary(struct eval_context *b, const struct call *c, const struct tensor **out) {
    int64_t token = 0;
    struct str text;
    if (!operands_needed(b, c, 3) || !attr_int(b, c, "token_index", &token))
        return false;
    const struct tensor *x = operand(c, 0), *angle[2] = {operand(c, 1), operand(c, 2)};
    struct tensor *turned = tensor_copy(b, x);
    uint32_t rank = x->shape.rank;
    if (!turned || rank < 2 || x->shape.dim[rank - 1] % 2 != 0)
        return eval_fail(b, "rotary_embedding of %s", shape_text(b->arena, &x->shape).p);
    int64_t width = x->shape.dim[rank - 1], half = width / 2;
    for (int64_t i = 0; i < x->n; i++)
        turned->x[i] = i % width < half ? -x->x[i + half] : x->x[i - half];
    for (int k = 0; k < 2 && angle[k]; k++) {
        uint32_t r = angle[k]->shape.rank;
        struct view v = view_of(angle[k]);
        if (r < 2)
            return eval_fail(b, "rotary_embedding by %s", shape_text(b->arena, &angle[k]->shape).p);
        bool one = attr_text(c, "token_index", &text);
        if (one && (token < 0 || token >= v.shape.dim[r - 2]))
            return eval_fail(b, "rotary_embedding: token %lld", (long long)token);
        int64_t rows = x->shape.dim[rank - 2] < v.shape.dim[r - 2] ? x->shape.dim[rank - 2] : v.shape.dim[r - 2];
        v = view_cut(v, r - 2, one ? token : 0, 1, one ? 1 : rows); /* tables may be longer than the sequence */
        if (!(angle[k] = view_copy(b, v)))
            return false;
    }
    const struct tensor *t = rotated(b, x, angle[0], turned, angle[1]);
    *out = t ? with_padding_rows(b, c, t) : NULL;
    return *out != NULL;
}

/* x * cos + (x . m) * sin; m is an operand, the matrix that maps neighbours (a, b) to (-b, a). */
bool evaluate_rotary_llama(struct eval_context *b, const struct call *c, const struct tensor **out) {
    if (!operands_needed(b, c, 4))
        return false;
    const struct tensor *turned = multiply_matrices(b, operand(c, 0), false, operand(c, 3), false);
    *out = turned ? rotated(b, operand(c, 0), operand(c, 1), turned, operand(c, 2)) : NULL;
    return *out != NULL;
}

/* ---- heads ---- */

/* [B,H,S,D] to [B,S,H*D], or with `rank4` to [B,1,S,H*D]. */
static bool merge_heads(struct eval_context *b, const struct call *c, bool rank4, const struct tensor **out) {
    if (!operands_needed(b, c, 1) || !rank_needed(b, c, operand(c, 0), 4))
        return false;
    const int64_t *d = operand(c, 0)->shape.dim;
    struct tensor *t = view_copy(b, view_swapped(view_of(operand(c, 0)), 1, 2));
    struct shape s =
        rank4 ? (struct shape){4, {d[0], 1, d[2], d[1] * d[3]}} : (struct shape){3, {d[0], d[2], d[1] * d[3]}};
    *out = t ? tensor_reshape(b, t, &s) : NULL;
    return *out != NULL;
}

bool evaluate_concatenate_heads(struct eval_context *b, const struct call *c, const struct tensor **out) {
    return merge_heads(b, c, false, out);
}

bool evaluate_nlp_concat_heads(struct eval_context *b, const struct call *c, const struct tensor **out) {
    return merge_heads(b, c, true, out);
}

/* [1,B,H,D] to [1,1,B,heads*D]: heads beyond `num_heads` are padding. */
bool evaluate_nlp_concat_heads_decode(struct eval_context *b, const struct call *c, const struct tensor **out) {
    if (!operands_needed(b, c, 1) || !rank_needed(b, c, operand(c, 0), 4))
        return false;
    const int64_t *d = operand(c, 0)->shape.dim;
    int64_t heads = d[2];
    if (!attr_int(b, c, "num_heads", &heads))
        return false;
    if (heads < 1 || heads > d[2])
        return eval_fail(b, "nlp_concat_heads_decode: %lld of %lld heads", (long long)heads, (long long)d[2]);
    struct tensor *t = view_copy(b, view_cut(view_of(operand(c, 0)), 2, 0, 1, heads));
    *out = t ? tensor_reshape(b, t, &(struct shape){4, {1, d[0], d[1], heads * d[3]}}) : NULL;
    return *out != NULL;
}

/* Columns [from, from + heads * width) of [B,S,columns] as [B,heads,S,width]. */
static const struct tensor *cut_heads(struct eval_context *b, const struct tensor *x, int64_t from, int64_t heads,
                                      int64_t width) {
    struct view v = view_of(x);
    struct view h = {.shape = {4, {v.shape.dim[0], heads, v.shape.dim[1], width}},
                     .x = x->x,
                     .offset = from,
                     .stride = {v.stride[0], width, v.stride[1], 1}};
    return view_copy(b, h);
}

static bool head_counts(struct eval_context *b, const struct call *c, int64_t *q, int64_t *kv) {
    if (!attr_int_needed(b, c, "num_heads", q))
        return false;
    *kv = *q;
    if (!attr_int(b, c, "num_kv_heads", kv))
        return false;
    return (*q > 0 && *kv > 0) || eval_fail(b, "%s: no heads", op_table[c->kind].name);
}

/* [B,S,columns] to q [B,Hq,S,D], k and v [B,Hkv,S,D]. The columns are q, k and v one after the other; with a second
 * operand that has k and v, the first has q only. */
bool evaluate_split_heads(struct eval_context *b, const struct call *c, const struct tensor **out) {
    int64_t hq, hkv;
    bool transpose_key = false;
    const struct tensor *x = operand(c, 0), *kv = operand(c, 1);
    if (!operands_needed(b, c, 1) || !head_counts(b, c, &hq, &hkv) ||
        !attr_flag(b, c, "transpose_key", &transpose_key) || !rank_needed(b, c, x, 3) ||
        (kv && !rank_needed(b, c, kv, 3)))
        return false;
    int64_t parts = kv ? hq : hq + 2 * hkv, columns = x->shape.dim[2], width = columns / parts;
    if (width * parts != columns || (kv && kv->shape.dim[2] != 2 * hkv * width))
        return eval_fail(b, "%s: %lld columns for %lld and %lld heads", op_table[c->kind].name, (long long)columns,
                         (long long)hq, (long long)hkv);
    int64_t from = kv ? 0 : hq * width;
    kv = kv ? kv : x;
    out[0] = cut_heads(b, x, 0, hq, width);
    out[1] = cut_heads(b, kv, from, hkv, width);
    out[2] = cut_heads(b, kv, from + hkv * width, hkv, width);
    if (transpose_key && out[1])
        out[1] = view_copy(b, view_swapped(view_of(out[1]), 2, 3));
    return out[0] && out[1] && out[2];
}

/* [1,1,B,(Hq + 2 * Hkv) * D] to [1,B,Hq,D] and [1,B,Hkv,D] twice. */
bool evaluate_create_heads_decode(struct eval_context *b, const struct call *c, const struct tensor **out) {
    int64_t hq, hkv;
    if (!operands_needed(b, c, 1) || !head_counts(b, c, &hq, &hkv) || !rank_needed(b, c, operand(c, 0), 4))
        return false;
    const struct tensor *x = operand(c, 0);
    int64_t rows = x->shape.dim[2], columns = x->shape.dim[3], width = columns / (hq + 2 * hkv), from = 0;
    if (width * (hq + 2 * hkv) != columns || x->n != rows * columns)
        return eval_fail(b, "%s of %s", op_table[c->kind].name, shape_text(b->arena, &x->shape).p);
    for (uint32_t i = 0; i < 3; i++) {
        int64_t heads = i == 0 ? hq : hkv;
        struct view v = {
            .shape = {4, {1, rows, heads, width}}, .x = x->x, .offset = from, .stride = {x->n, columns, width, 1}};
        out[i] = view_copy(b, v);
        from += heads * width;
    }
    return out[0] && out[1] && out[2];
}
