/* Collectives: the result on one device, from the operands of all (struct mesh).
 *
 * Semantics: the TTIR op definitions of tt-mlir (August 2026). One axis of the mesh is modelled; a device is known by
 * its index along that axis. Reductions combine the operands in the order of the devices. */
#include "proof/numeric/elementwise.h"
#include "proof/numeric/evaluators.h"

/* The operand of each device, and which of them this one is. */
struct exchange {
    const struct tensor *all[MAX_DEVICES];
    uint32_t n, self;
};

static struct exchange exchange_of(struct eval_context *ctx, const struct call *c) {
    const struct tensor *x = operand_needed(ctx, c, 0);
    if (!ctx->mesh)
        op_unsupported(ctx, "no evaluator for %s", op_table[c->kind].name);
    struct exchange e = {.n = ctx->mesh->devices, .self = ctx->device};
    jmp_buf *escape = ctx->escape;
    ctx->escape = NULL; /* the other devices return here, whatever they fail of */
    bool good = ctx->mesh->gather(ctx, x, e.all);
    ctx->escape = escape;
    if (!good)
        op_fails(ctx, "%s cannot be evaluated", op_table[c->kind].name);
    return e;
}

/* Shard number `shard` of `count` along a dimension. */
static const struct tensor *shard_of(struct eval_context *ctx, const struct call *c, const struct tensor *t,
                                     uint32_t dim, uint32_t shard, uint32_t count) {
    if (t->shape.dim[dim] % count != 0)
        op_fails(ctx, "%s: %lld elements for %u devices", op_table[c->kind].name, (long long)t->shape.dim[dim], count);
    int64_t n = t->shape.dim[dim] / count;
    return lazy_of_view(ctx, view_cut(view_of(t), dim, n * shard, 1, n));
}

/* ---- reductions ---- */

static const struct tensor *reduced(struct eval_context *ctx, const struct call *c, const struct exchange *e) {
    static const char *const words[] = {"sum", "prod", "min", "max", "mean", NULL};
    static binary_function *const functions[] = {binary_ADD, binary_MULTIPLY, binary_MINIMUM, binary_MAXIMUM,
                                                 binary_ADD};
    int how = attr_word(ctx, c, "reduce_type", words);
    const struct tensor *t = e->all[0];
    for (uint32_t d = 1; d < e->n; d++)
        t = lazy_binary(ctx, functions[how], t, e->all[d]);
    bool mean = strcmp(words[how], "mean") == 0;
    return mean ? lazy_binary(ctx, binary_MULTIPLY, t, tensor_scalar(ctx, 1.0 / e->n)) : t;
}

void evaluate_all_reduce(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct exchange e = exchange_of(ctx, c);
    *out = reduced(ctx, c, &e);
}

void evaluate_reduce_scatter(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct exchange e = exchange_of(ctx, c);
    uint32_t dim = axis_needed(ctx, c, "scatter_dim");
    *out = shard_of(ctx, c, reduced(ctx, c, &e), dim, e.self, e.n);
}

/* ---- movement ---- */

void evaluate_all_gather(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct exchange e = exchange_of(ctx, c);
    *out = lazy_join(ctx, e.all, e.n, axis_needed(ctx, c, "all_gather_dim"));
}

void evaluate_mesh_partition(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    if (!ctx->mesh)
        op_unsupported(ctx, "no evaluator for %s", op_table[c->kind].name);
    uint32_t dim = axis_needed(ctx, c, "dim");
    *out = shard_of(ctx, c, operand(c, 0), dim, ctx->device, ctx->mesh->devices);
}

/* All devices form one group, in the order of their indices; that is the default. */
static void one_group_needed(struct eval_context *ctx, const struct call *c, uint32_t devices) {
    int64_t list[MAX_DEVICES];
    int n = attr_list(ctx, c, "replica_groups", list, MAX_DEVICES);
    bool one = n < 0 || n == (int)devices;
    for (int i = 0; i < n && one; i++)
        one = list[i] == i;
    if (!one)
        op_unsupported(ctx, "no evaluator for %s in groups", op_table[c->kind].name);
}

void evaluate_all_to_all(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct exchange e = exchange_of(ctx, c);
    const struct tensor *parts[MAX_DEVICES] = {NULL};
    one_group_needed(ctx, c, e.n);
    uint32_t split = axis_needed(ctx, c, "split_dim"), concat = axis_needed(ctx, c, "concat_dim");
    for (uint32_t d = 0; d < e.n; d++)
        parts[d] = shard_of(ctx, c, e.all[d], split, e.self, e.n);
    *out = lazy_join(ctx, parts, e.n, concat);
}

void evaluate_collective_broadcast(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct exchange e = exchange_of(ctx, c);
    one_group_needed(ctx, c, e.n);
    *out = e.all[0];
}

static void device_at(struct eval_context *ctx, const struct call *c, const char *key, const char *old_key,
                      int64_t at[2]) {
    at[0] = at[1] = 0;
    if (attr_list_needed(ctx, c, attrs_find(c->attributes, old_key) ? old_key : key, at, 2) < 1)
        op_unsupported(ctx, "no evaluator for point_to_point of this device");
}

static const struct tensor *zeros_like(struct eval_context *ctx, const struct tensor *x) {
    return lazy_of_view(ctx, view_expanded(tensor_scalar(ctx, 0), &x->shape));
}

/* The receiver gets what the sender has; the others keep what is there, as all do of the first group along the other
 * axis of the mesh where another group's exchange. */
void evaluate_point_to_point(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct exchange e = exchange_of(ctx, c);
    int64_t from[2], to[2];
    device_at(ctx, c, "sender_coord", "send_coord", from);
    device_at(ctx, c, "receiver_coord", "receive_coord", to);
    int axis = from[0] == to[0];
    if (from[!axis] != to[!axis] || from[axis] < 0 || from[axis] >= e.n || to[axis] < 0 || to[axis] >= e.n)
        op_unsupported(ctx, "no evaluator for point_to_point along several axes, or on so many devices");
    const struct tensor *there = operand(c, 1) ? operand(c, 1) : zeros_like(ctx, operand(c, 0));
    *out = e.self == to[axis] && from[!axis] == 0 ? e.all[from[axis]] : there;
}

/* A device that is the target of no pair gets zeros. */
void evaluate_collective_permute(struct eval_context *ctx, const struct call *c, const struct tensor **out) {
    struct exchange e = exchange_of(ctx, c);
    int64_t pairs[2 * MAX_DEVICES];
    int n = attr_list_needed(ctx, c, "source_target_pairs", pairs, 2 * MAX_DEVICES);
    const struct tensor *mine = NULL;
    for (int i = 0; i + 1 < n; i += 2) {
        if (pairs[i] < 0 || pairs[i] >= e.n || pairs[i + 1] < 0 || pairs[i + 1] >= e.n)
            op_unsupported(ctx, "no evaluator for collective_permute on so many devices");
        if (pairs[i + 1] == e.self)
            mine = e.all[pairs[i]];
    }
    *out = mine ? mine : zeros_like(ctx, operand(c, 0));
}
