/* Groups from the last op to the first, kernels from the first to the last. */
#include "elementwise/regions.h"

#include <stdlib.h>

enum { MOST_OPERANDS = 3 };

/* What is known of an op. */
struct grown_op {
    uint32_t group;     /* the exit of its group; NONE: it is in none */
    uint32_t next;      /* the op that one kernel may run it with: the only user of its result; or NONE */
    uint32_t inputs;    /* of the kernel that ends here, as far as it is grown */
    uint32_t registers; /* that it needs, in the best order */
    uint32_t kernel;    /* the last op of the kernel that has it */
    uint8_t kind;       /* enum region_kind */
    bool wide, joined;  /* joined: to the kernel of `next` */
};

struct grower {
    const struct graph *graph;
    const struct region_rules *rules;
    struct legality legality;
    enum region_kind kind; /* that was asked for */
    struct grown_op *ops;
    struct arena *arena;
    struct region_list *out;
    struct region_near_list *near; /* or NULL */
};

static uint32_t result_of(const struct grower *w, uint32_t op) {
    return w->graph->m->ops[op].first_result;
}

static bool is_elementwise(const struct grower *w, uint32_t op) {
    const struct region_op *rule = legal_op(&w->legality, op);
    return rule && rule->kind == REGION_ELEMENTWISE;
}

/* ---- groups ---- */

/* The group that the op joins, by its exit, the last op of it: the one that all users of its result are in. The op
 * itself, of which a group begins, where no user is elementwise; NONE where users are of several groups or of none. */
static uint32_t group_of(const struct grower *w, uint32_t op) {
    const struct graph *g = w->graph;
    uint32_t result = result_of(w, op), group = NONE;
    bool listed = false, same = true;
    for (uint32_t i = g->first_use[result]; i < g->first_use[result + 1]; i++) {
        uint32_t user = g->uses[i], of = user > op ? w->ops[user].group : NONE;
        same &= i == g->first_use[result] || of == group;
        group = of;
        listed |= is_elementwise(w, user);
        if (!same && listed)
            return NONE;
    }
    return !listed ? op : same ? group : NONE;
}

static void find_groups(struct grower *w) {
    for (uint32_t op = w->graph->m->nops; op-- > 0;) {
        w->ops[op].group = is_elementwise(w, op) ? group_of(w, op) : NONE;
        w->ops[op].next = NONE;
        w->ops[op].kernel = op;
    }
}

/* ---- what may run together ---- */

static void add_near(const struct grower *w, const struct region_near *near) {
    struct region_near_list *list = w->near;
    if (!list)
        return;
    list->items = grow(list->items, &list->cap, list->n + 1, sizeof *list->items);
    list->items[list->n++] = *near;
}

/* The op that uses the result of one in a group, where that is the only one, is in the group or a reduction, and both
 * are legal. */
static void link_op(struct grower *w, uint32_t op) {
    uint32_t user = only_user(w->graph, result_of(w, op));
    const struct region_op *rule = user == NONE || user < op ? NULL : legal_op(&w->legality, user);
    if (!rule || rule->kind > w->kind || (rule->kind == REGION_ELEMENTWISE && w->ops[user].group != w->ops[op].group))
        return;
    struct region_faults a = legal_faults(&w->legality, op), b = legal_faults(&w->legality, user);
    enum region_fault pair = legal_pair(&w->legality, op, user);
    unsigned kinds = a.kinds | b.kinds | (pair ? 1u << pair : 0);
    if (!kinds) {
        w->ops[op].next = user;
        return;
    }
    struct region_near near = {.producer = op, .consumer = user};
    near.value = a.kinds ? a.value : b.kinds ? b.value : result_of(w, op);
    while (kinds >> (near.fault + 1))
        near.fault = (enum region_fault)(near.fault + 1);
    if (kinds == 1u << near.fault)
        add_near(w, &near);
}

/* ---- kernels ---- */

/* The operands of an op that other ops of the group compute for it alone. */
struct producers {
    uint32_t ops[MOST_OPERANDS], n;
    uint32_t slots[MOST_OPERANDS]; /* operands that it is */
};

static struct producers producers_of(const struct grower *w, uint32_t op) {
    const struct graph *g = w->graph;
    struct producers p = {.n = 0};
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t def = g->m->values[graph_operands(g, op)[i]].def, at = 0;
        if (def == NONE || def >= op || w->ops[def].next != op)
            continue;
        while (at < p.n && p.ops[at] != def)
            at++;
        p.ops[at] = def;
        p.slots[at]++;
        p.n += at == p.n;
    }
    return p;
}

static void swap(uint32_t *a, uint32_t *b) {
    uint32_t c = *a;
    *a = *b;
    *b = c;
}

static void sort_descending(uint32_t *x, uint32_t n) {
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && x[k - 1] < x[k]; k--)
            swap(&x[k - 1], &x[k]);
}

/* Registers of an op whose producers `joined` (a bit each) are computed and whose other operands are loaded. */
static uint32_t registers_with(const struct grower *w, uint32_t op, const struct producers *p, unsigned joined) {
    uint32_t needs[MOST_OPERANDS], n = 0, slots = graph_noperands(w->graph, op), loaded = slots;
    for (uint32_t i = 0; i < p->n; i++)
        if (joined >> i & 1) {
            needs[n++] = w->ops[p->ops[i]].registers;
            loaded -= p->slots[i];
        }
    for (uint32_t i = 0; i < loaded; i++)
        needs[n++] = 1;
    sort_descending(needs, n);
    uint32_t most = n + (slots > 1 || w->ops[op].kind == REGION_REDUCTION);
    for (uint32_t i = 0; i < n; i++)
        most = needs[i] + i > most ? needs[i] + i : most;
    return most;
}

static int64_t limit_of(const struct region_rules *r, enum region_fault what, bool wide) {
    if (what == FAULT_REGISTERS)
        return wide ? r->wide_registers : r->registers;
    int64_t most = r->circular_buffers - 1;
    return wide && r->wide_inputs < most ? r->wide_inputs : most;
}

/* Joins one producer, unless the kernel would be too large. */
static void join(struct grower *w, uint32_t op, const struct producers *p, uint32_t i, unsigned *joined) {
    struct grown_op *to = &w->ops[op], *from = &w->ops[p->ops[i]];
    uint32_t inputs = to->inputs - p->slots[i] + from->inputs;
    uint32_t registers = registers_with(w, op, p, *joined | 1u << i);
    bool wide = to->wide | from->wide;
    int64_t most_inputs = limit_of(w->rules, FAULT_INPUTS, wide);
    int64_t most_registers = limit_of(w->rules, FAULT_REGISTERS, wide);
    struct region_near near = {.producer = p->ops[i], .consumer = op, .value = NONE, .wide = wide};
    if (inputs <= most_inputs && registers <= most_registers) {
        *joined |= 1u << i;
        to->inputs = inputs;
        to->wide = wide;
        from->joined = true;
        return;
    }
    near.fault = inputs > most_inputs ? FAULT_INPUTS : FAULT_REGISTERS;
    near.count = inputs > most_inputs ? inputs : registers;
    near.most = (uint32_t)(inputs > most_inputs ? most_inputs : most_registers);
    if (near.count == near.most + 1 && !(inputs > most_inputs && registers > most_registers))
        add_near(w, &near);
}

/* Smaller producers first: so as few kernels remain as can be (Kundu and Misra, A Linear Tree Partitioning Algorithm,
 * 1977, with the inputs that an op adds as its weight). */
static void grow_kernel(struct grower *w, uint32_t op, enum region_kind kind) {
    struct grown_op *to = &w->ops[op];
    struct producers p = producers_of(w, op);
    unsigned joined = 0;
    to->kind = (uint8_t)kind;
    to->inputs = graph_noperands(w->graph, op);
    to->wide = legal_is_wide(&w->legality, op);
    for (uint32_t i = 1; i < p.n; i++)
        for (uint32_t k = i; k > 0 && w->ops[p.ops[k - 1]].inputs > w->ops[p.ops[k]].inputs; k--) {
            swap(&p.ops[k - 1], &p.ops[k]);
            swap(&p.slots[k - 1], &p.slots[k]);
        }
    for (uint32_t i = 0; i < p.n; i++)
        join(w, op, &p, i, &joined);
    to->registers = registers_with(w, op, &p, joined);
}

static void find_kernels(struct grower *w) {
    for (uint32_t op = 0; op < w->graph->m->nops; op++)
        if (w->ops[op].group != NONE)
            link_op(w, op);
    for (uint32_t op = 0; op < w->graph->m->nops; op++) {
        const struct region_op *rule = legal_op(&w->legality, op);
        if (rule && rule->kind <= w->kind && (rule->kind == REGION_REDUCTION || w->ops[op].group != NONE))
            grow_kernel(w, op, rule->kind);
    }
    for (uint32_t op = w->graph->m->nops; op-- > 0;)
        if (w->ops[op].joined)
            w->ops[op].kernel = w->ops[w->ops[op].next].kernel;
}

/* ---- regions ---- */

static void add_region(struct grower *w, const uint32_t *ops, uint32_t n) {
    struct region_list *list = w->out;
    const struct grown_op *last = &w->ops[ops[n - 1]];
    list->items = grow(list->items, &list->cap, list->n + 1, sizeof *list->items);
    list->items[list->n++] = (struct region){.match = {.pattern = &w->rules->claims[last->kind],
                                                       .graph = w->graph,
                                                       .ops = ops,
                                                       .nops = n,
                                                       .func = w->graph->m->ops[ops[n - 1]].func,
                                                       .root = ops[n - 1]},
                                             .ninputs = last->inputs,
                                             .registers = last->registers,
                                             .wide = last->wide,
                                             .grid_known = legal_grid_known(&w->legality, result_of(w, ops[0]))};
}

/* Ops by kernel, as a counting sort: `first` per op of the graph the place of the first op of the kernel that ends
 * there. */
static void collect(struct grower *w) {
    uint32_t nops = w->graph->m->nops, total = 0;
    uint32_t *sizes = xcalloc(nops + (size_t)1, sizeof *sizes), *first = xcalloc(nops + (size_t)1, sizeof *first);
    for (uint32_t op = 0; op < nops; op++)
        sizes[w->ops[op].kernel]++;
    for (uint32_t op = 0; op < nops; op++) {
        first[op] = total;
        total += sizes[op] > 1 ? sizes[op] : 0;
    }
    uint32_t *ops = arena_alloc(w->arena, (total + (size_t)1) * sizeof *ops);
    for (uint32_t op = 0; op < nops; op++) {
        uint32_t kernel = w->ops[op].kernel;
        if (sizes[kernel] > 1)
            ops[first[kernel]++] = op;
        if (sizes[op] > 1) /* its other ops stand before it */
            add_region(w, ops + first[op] - sizes[op], sizes[op]);
    }
    free(sizes);
    free(first);
}

void regions_find(const struct graph *g, const struct region_rules *rules, enum region_kind kind, struct arena *a,
                  struct region_list *out, struct region_near_list *near) {
    struct grower w = {.graph = g, .rules = rules, .kind = kind, .arena = a, .out = out, .near = near};
    legality_begin(&w.legality, g, rules);
    w.ops = xcalloc(g->m->nops + (size_t)1, sizeof *w.ops);
    find_groups(&w);
    find_kernels(&w);
    collect(&w);
    free(w.ops);
    legality_end(&w.legality);
}
