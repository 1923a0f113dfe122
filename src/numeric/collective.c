/* Collectives: the result on one device, from the operands of all (struct mesh).
 *
 * Semantics: the TTIR op definitions of tt-mlir (August 2026). One axis of the mesh is modelled; a device is known by
 * its index along that axis. Reductions combine the operands in the order of the devices. */
#include "numeric/elementwise.h"
#include "numeric/evaluators.h"

/* The operand of each device, and which of them this one is. */
struct exchange {
    const struct tensor *all[MAX_DEVICES];
    uint32_t n, self;
};

static bool exchange_of(struct eval_context *b, const struct call *c, struct exchange *e) {
    *e = (struct exchange){.n = b->mesh ? b->mesh->devices : 0, .self = b->device};
    if (!operands_needed(b, c, 1))
        return false;
    if (e->n == 0)
        return eval_beyond(b, "no evaluator for %s", op_table[c->kind].name);
    return b->mesh->gather(b, operand(c, 0), e->all);
}

/* Shard number `shard` of `count` along a dimension. */
static const struct tensor *shard_of(struct eval_context *b, const struct call *c, const struct tensor *t, uint32_t dim,
                                     uint32_t shard, uint32_t count) {
    if (t->shape.dim[dim] % count != 0) {
        eval_fail(b, "%s: %lld elements for %u devices", op_table[c->kind].name, (long long)t->shape.dim[dim], count);
        return NULL;
    }
    int64_t n = t->shape.dim[dim] / count;
    return view_copy(b, view_cut(view_of(t), dim, n * shard, 1, n));
}

/* ---- reductions ---- */

static const struct tensor *reduced(struct eval_context *b, const struct call *c, const struct exchange *e) {
    struct str text = STR("<sum>");
    attr_text(c, "reduce_type", &text);
    bool mean = str_find(text, STR("mean")) != NULL && !str_find(text, STR("sum"));
    binary_function *f = mean ? binary_ADD : combination_of(text);
    const struct tensor *t = e->all[0];
    if (!f) {
        eval_beyond(b, "no evaluator for %s of %.*s", op_table[c->kind].name, (int)text.n, text.p);
        return NULL;
    }
    for (uint32_t d = 1; d < e->n && t; d++)
        t = apply_binary(b, f, t, e->all[d]);
    const struct tensor *share = mean && t ? tensor_scalar(b, 1.0 / e->n) : NULL;
    return share ? apply_binary(b, binary_MULTIPLY, t, share) : t;
}

bool evaluate_all_reduce(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct exchange e;
    if (!exchange_of(b, c, &e))
        return false;
    *out = reduced(b, c, &e);
    return *out != NULL;
}

bool evaluate_reduce_scatter(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct exchange e;
    uint32_t dim;
    if (!exchange_of(b, c, &e) || !axis_needed(b, c, "scatter_dim", &dim))
        return false;
    const struct tensor *t = reduced(b, c, &e);
    *out = t ? shard_of(b, c, t, dim, e.self, e.n) : NULL;
    return *out != NULL;
}

/* ---- movement ---- */

bool evaluate_all_gather(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct exchange e;
    uint32_t dim;
    if (!exchange_of(b, c, &e) || !axis_needed(b, c, "all_gather_dim", &dim))
        return false;
    *out = tensor_concat(b, e.all, e.n, dim);
    return *out != NULL;
}

bool evaluate_mesh_partition(struct eval_context *b, const struct call *c, const struct tensor **out) {
    uint32_t dim;
    if (!b->mesh)
        return eval_beyond(b, "no evaluator for %s", op_table[c->kind].name);
    if (!axis_needed(b, c, "dim", &dim))
        return false;
    *out = shard_of(b, c, operand(c, 0), dim, b->device, b->mesh->devices);
    return *out != NULL;
}

/* All devices form one group, in the order of their indices; that is the default. */
static bool is_one_group(struct eval_context *b, const struct call *c, uint32_t devices) {
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
    return one || eval_beyond(b, "no evaluator for %s in groups", op_table[c->kind].name);
}

bool evaluate_all_to_all(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct exchange e;
    const struct tensor *parts[MAX_DEVICES] = {operand(c, 0)};
    uint32_t split, concat;
    if (!exchange_of(b, c, &e) || !is_one_group(b, c, e.n) || !axis_needed(b, c, "split_dim", &split) ||
        !axis_needed(b, c, "concat_dim", &concat))
        return false;
    for (uint32_t d = 0; d < e.n; d++)
        if (!(parts[d] = shard_of(b, c, e.all[d], split, e.self, e.n)))
            return false;
    *out = tensor_concat(b, parts, e.n, concat);
    return *out != NULL;
}

bool evaluate_collective_broadcast(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct exchange e;
    if (!exchange_of(b, c, &e) || !is_one_group(b, c, e.n))
        return false;
    *out = e.all[0];
    return true;
}

/* A device that is the target of no pair gets zeros. */
bool evaluate_collective_permute(struct eval_context *b, const struct call *c, const struct tensor **out) {
    struct exchange e;
    int64_t pairs[2 * MAX_DEVICES] = {0};
    int n = 0;
    if (!exchange_of(b, c, &e) || !attr_list_needed(b, c, "source_target_pairs", pairs, 2 * MAX_DEVICES, &n))
        return false;
    *out = NULL;
    for (int i = 0; i + 1 < n; i += 2) {
        if (pairs[i] < 0 || pairs[i] >= e.n || pairs[i + 1] < 0 || pairs[i + 1] >= e.n)
            return eval_beyond(b, "no evaluator for collective_permute on so many devices");
        if (pairs[i + 1] == e.self)
            *out = e.all[pairs[i]];
    }
    *out = *out ? *out : tensor_new(b, &operand(c, 0)->shape);
    return *out != NULL;
}
