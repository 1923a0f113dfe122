/* Collectives: what a device has after all of them gave their operands.
 *
 * Semantics: the TTIR op definitions of tt-mlir (August 2026). One axis of the mesh is modelled; a device is its place
 * along that axis. */
#include "numeric/evaluators.h"

#include <math.h>

/* What each device gives, and which of them this is. */
struct exchange {
    const struct tensor *all[MAX_DEVICES];
    uint32_t n, self;
};

static bool exchange_of(struct bench *b, const struct call *c, struct exchange *e) {
    *e = (struct exchange){.n = b->mesh ? b->mesh->devices : 0, .self = b->device};
    if (!operands_needed(b, c, 1))
        return false;
    if (e->n == 0) {
        bench_beyond(b, "no evaluator for %s", op_table[c->kind].name);
        return false;
    }
    return b->mesh->gather(b, operand(c, 0), e->all);
}

/* One part of so many along a dimension. */
static const struct tensor *part_of(struct bench *b, const struct call *c, const struct tensor *t, uint32_t dim,
                                    uint32_t part, uint32_t of) {
    if (t->shape.dim[dim] % of != 0) {
        bench_fail(b, "%s: %lld elements for %u devices", op_table[c->kind].name, (long long)t->shape.dim[dim], of);
        return NULL;
    }
    int64_t n = t->shape.dim[dim] / of;
    struct view v = view_cut(view_of(t), dim, n * part, 1, n);
    return view_copy(b, &v);
}

static const struct tensor *joined(struct bench *b, const struct tensor *const *parts, uint32_t n, uint32_t dim) {
    struct shape s = parts[0]->shape;
    struct walk w;
    s.dim[dim] = 0;
    for (uint32_t i = 0; i < n; i++)
        s.dim[dim] += parts[i]->shape.dim[dim];
    struct tensor *t = tensor_new(b, &s);
    if (!t)
        return NULL;
    struct view v = view_of(t);
    for (uint32_t i = 0, at = 0; i < n; at += (uint32_t)parts[i++]->shape.dim[dim]) {
        struct view to = view_cut(v, dim, at, 1, parts[i]->shape.dim[dim]);
        const double *x = parts[i]->x;
        walk_begin(&w, &parts[i]->shape);
        for (walk_add(&w, &to); walk_more(&w); walk_next(&w))
            t->x[w.offset[0]] = *x++;
    }
    return t;
}

/* ---- reductions ---- */

static const struct {
    const char *name;
    enum op_kind by;
} reductions[] = {{"sum", K_ADD}, {"mean", K_ADD}, {"max", K_MAXIMUM}, {"min", K_MINIMUM}, {"prod", K_MULTIPLY}};

static const struct tensor *reduced(struct bench *b, const struct call *c, const struct exchange *e) {
    struct str text = STR("<sum>");
    attr_text(c, "reduce_type", &text);
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
        if (!str_find(text, str_of(reductions[i].name)))
            continue;
        const struct tensor *t = e->all[0];
        for (uint32_t d = 1; d < e->n && t; d++)
            t = apply_binary(b, binary_of(reductions[i].by), t, e->all[d]);
        bool mean = strcmp(reductions[i].name, "mean") == 0;
        const struct tensor *n = mean ? tensor_scalar(b, 1.0 / e->n) : NULL;
        return mean && n && t ? apply_binary(b, binary_of(K_MULTIPLY), t, n) : t;
    }
    bench_beyond(b, "no evaluator for %s of %.*s", op_table[c->kind].name, (int)text.n, text.p);
    return NULL;
}

bool evaluate_all_reduce(struct bench *b, const struct call *c, const struct tensor **out) {
    struct exchange e;
    if (!exchange_of(b, c, &e))
        return false;
    *out = reduced(b, c, &e);
    return *out != NULL;
}

bool evaluate_reduce_scatter(struct bench *b, const struct call *c, const struct tensor **out) {
    struct exchange e;
    uint32_t dim;
    if (!exchange_of(b, c, &e) || !attr_needed(b, c, "scatter_dim") ||
        !axis_attr(b, c, "scatter_dim", 0, operand(c, 0)->shape.rank, &dim))
        return false;
    const struct tensor *t = reduced(b, c, &e);
    *out = t ? part_of(b, c, t, dim, e.self, e.n) : NULL;
    return *out != NULL;
}

/* ---- movement ---- */

bool evaluate_all_gather(struct bench *b, const struct call *c, const struct tensor **out) {
    struct exchange e;
    uint32_t dim;
    if (!exchange_of(b, c, &e) || !attr_needed(b, c, "all_gather_dim") ||
        !axis_attr(b, c, "all_gather_dim", 0, operand(c, 0)->shape.rank, &dim))
        return false;
    *out = joined(b, e.all, e.n, dim);
    return *out != NULL;
}

bool evaluate_mesh_partition(struct bench *b, const struct call *c, const struct tensor **out) {
    uint32_t dim;
    if (!b->mesh)
        return bench_beyond(b, "no evaluator for %s", op_table[c->kind].name);
    if (!operands_needed(b, c, 1) || !attr_needed(b, c, "dim") ||
        !axis_attr(b, c, "dim", 0, operand(c, 0)->shape.rank, &dim))
        return false;
    *out = part_of(b, c, operand(c, 0), dim, b->device, b->mesh->devices);
    return *out != NULL;
}

/* All devices are one group, in their order; an absent list says so. */
static bool is_one_group(struct bench *b, const struct call *c, uint32_t devices) {
    int64_t list[MAX_DEVICES];
    int n = (int)devices;
    struct str text;
    if (!attr_text(c, "replica_groups", &text))
        return true;
    if (!attr_list(b, c, "replica_groups", list, MAX_DEVICES, &n))
        return false;
    bool one = n == (int)devices;
    for (int i = 0; i < n && one; i++)
        one = list[i] == i;
    return one || bench_beyond(b, "no evaluator for %s in groups", op_table[c->kind].name);
}

bool evaluate_all_to_all(struct bench *b, const struct call *c, const struct tensor **out) {
    struct exchange e;
    const struct tensor *parts[MAX_DEVICES] = {operand(c, 0)};
    uint32_t split, concat;
    if (!exchange_of(b, c, &e) || !is_one_group(b, c, e.n) || !attr_needed(b, c, "split_dim") ||
        !attr_needed(b, c, "concat_dim") || !axis_attr(b, c, "split_dim", 0, operand(c, 0)->shape.rank, &split) ||
        !axis_attr(b, c, "concat_dim", 0, operand(c, 0)->shape.rank, &concat))
        return false;
    for (uint32_t d = 0; d < e.n; d++)
        if (!(parts[d] = part_of(b, c, e.all[d], split, e.self, e.n)))
            return false;
    *out = joined(b, parts, e.n, concat);
    return *out != NULL;
}

bool evaluate_collective_broadcast(struct bench *b, const struct call *c, const struct tensor **out) {
    struct exchange e;
    if (!exchange_of(b, c, &e) || !is_one_group(b, c, e.n))
        return false;
    *out = e.all[0];
    return true;
}

/* Who is no target of any source gets zeros. */
bool evaluate_collective_permute(struct bench *b, const struct call *c, const struct tensor **out) {
    struct exchange e;
    int64_t pairs[2 * MAX_DEVICES] = {0};
    int n = 0;
    if (!exchange_of(b, c, &e) || !attr_needed(b, c, "source_target_pairs") ||
        !attr_list(b, c, "source_target_pairs", pairs, 2 * MAX_DEVICES, &n))
        return false;
    *out = NULL;
    for (int i = 0; i + 1 < n; i += 2) {
        if (pairs[i] < 0 || pairs[i] >= e.n || pairs[i + 1] < 0 || pairs[i + 1] >= e.n)
            return bench_beyond(b, "no evaluator for collective_permute on so many devices");
        if (pairs[i + 1] == e.self)
            *out = e.all[pairs[i]];
    }
    *out = *out ? *out : tensor_new(b, &operand(c, 0)->shape);
    return *out != NULL;
}
