#include "report/explain/near_region.h"

/* What is said of each fault: behind the name and type of the tensor, and what would have to change. */
static const struct {
    const char *kind, *reason, *hint;
} texts[] = {
    [FAULT_TYPE] = {"type", "has elements that the kernel does not take", "another element type, such as bf16"},
    [FAULT_LAYOUT] = {"layout", "is not in tiles that are interleaved in DRAM or sharded in L1", "another layout"},
    [FAULT_ALIGNED] = {"layout", "does not end in two dimensions that are multiples of 32",
                       "pad it, or broadcast it before"},
    [FAULT_UNLIKE] = {"layout", "is laid out differently from the result", "the layout of the result"},
    [FAULT_SHAPE] = {"shape", "has another shape than what the kernel yields",
                     "broadcast it before, or behind the kernel"},
    [FAULT_USERS] = {"user", "is used by too many other ops, and is no argument of the function",
                     "compute it again for some of them"},
    [FAULT_REDUCES] = {"reduction", "is not reduced along one dimension", "one reduction for each dimension"},
};

static struct str tensor_text(const struct graph *g, uint32_t value, struct arena *a) {
    const struct mlir *m = g->m;
    struct str name = mlir_span(m, m->values[value].name), type = m->types[m->values[value].type].text;
    const char *comma = type.n ? memchr(type.p, ',', type.n) : NULL; /* without its encoding */
    if (comma)
        type = arena_printf(a, "%.*s>", (int)(comma - type.p), type.p);
    return arena_printf(a, "%.*s, a %.*s,", (int)name.n, name.p, (int)type.n, type.p);
}

static void say(const struct graph *g, const struct region_rules *rules, const struct region_near *from,
                struct arena *a, struct near_miss *to) {
    bool inputs = from->fault == FAULT_INPUTS;
    if (!inputs && from->fault != FAULT_REGISTERS) {
        struct str tensor = tensor_text(g, from->value, a);
        to->kind = texts[from->fault].kind;
        to->hint = texts[from->fault].hint;
        to->reason = arena_printf(a, "%.*s %s", (int)tensor.n, tensor.p, texts[from->fault].reason);
        return;
    }
    to->kind = "limit";
    to->reason = arena_printf(a, "together they have %u %s, at most %u%s", from->count,
                              inputs ? "inputs" : "destination registers in use", from->most,
                              from->wide ? " where elements have more than 16 bits"
                              : inputs   ? " beside the result"
                                         : "");
    bool narrower = from->wide && from->count <= (inputs ? rules->circular_buffers - 1 : rules->registers);
    to->hint = narrower ? "elements of 16 bits, or two kernels" : "two kernels";
}

void near_regions_add(const struct graph *g, const struct region_rules *rules, const struct region_near_list *from,
                      struct arena *a, struct near_misses *near) {
    for (uint32_t i = 0; i < from->n; i++) {
        const struct region_near *n = &from->items[i];
        uint32_t *ops = arena_alloc(a, 2 * sizeof *ops);
        const struct region_op *rule = NULL;
        for (uint32_t k = 0; k < rules->nops && !rule; k++)
            if (str_eq(rules->ops[k].name, mlir_op_name(g->m, n->consumer)))
                rule = &rules->ops[k];
        ops[0] = n->producer;
        ops[1] = n->consumer;
        near->items = grow(near->items, &near->cap, near->n + 1, sizeof *near->items);
        struct near_miss *to = &near->items[near->n++];
        *to = (struct near_miss){.pattern = &rules->claims[rule ? rule->kind : REGION_ELEMENTWISE],
                                 .graph = g,
                                 .func = g->m->ops[n->consumer].func,
                                 .root = n->consumer,
                                 .ops = ops,
                                 .nops = 2,
                                 .total = 2,
                                 .op = n->value == NONE ? NONE : g->m->values[n->value].def,
                                 .whole = true};
        say(g, rules, n, a, to);
    }
}
