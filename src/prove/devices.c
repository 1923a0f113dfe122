/* Collectives are counted: the same program comes to them in the same order on every device. */
#include "prove/devices.h"

enum { MAX_CALLS = 16, FEW_DEVICES = 2 };

struct devices {
    struct mesh mesh; /* first: the bench has it */
    struct proof *of[MAX_DEVICES];
    enum side_kind side;
    bool begun[MAX_DEVICES]; /* its match was evaluated to the end */
    uint32_t calls[MAX_DEVICES];
    const struct tensor *given[SIDES][MAX_CALLS][MAX_DEVICES];
};

static const enum op_kind collectives[] = {K_ALL_REDUCE,           K_ALL_REDUCE_ASYNC,  K_REDUCE_SCATTER,
                                           K_ALL_GATHER,           K_MESH_PARTITION,    K_ALL_TO_ALL,
                                           K_COLLECTIVE_BROADCAST, K_COLLECTIVE_PERMUTE};

static bool is_collective(enum op_kind k) {
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
        if (collectives[i] == k)
            return true;
    return false;
}

/* ---- how many ---- */

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* As many as the shapes or the attributes say; 0: they say nothing. */
static int64_t devices_said(const struct graph *g, uint32_t op) {
    int64_t in = graph_numel(g, graph_operands(g, op)[0]), out = graph_numel(g, g->m->ops[op].first_result);
    int64_t list[2 * MAX_DEVICES], most = -1;
    struct str text;
    switch (g->kind[op]) {
    case K_ALL_GATHER:
        return in > 0 ? out / in : 0;
    case K_REDUCE_SCATTER:
    case K_MESH_PARTITION:
        return out > 0 ? in / out : 0;
    default:
        break;
    }
    if (mlir_attr(g->m, op, "split_count", &text))
        return mlir_int(text, &most) ? most : 0;
    if (!mlir_attr(g->m, op, "source_target_pairs", &text) && !mlir_attr(g->m, op, "replica_groups", &text))
        return 0;
    int n = mlir_ints(text, list, 2 * MAX_DEVICES);
    for (int i = 0; i < n && i < 2 * MAX_DEVICES; i++)
        most = larger(most, list[i]);
    return n > 2 * MAX_DEVICES ? MAX_DEVICES + 1 : most + 1;
}

static bool same_axis(const struct graph *g, uint32_t op, struct str *axis) {
    struct str text = STR("");
    bool first = !axis->p;
    if (!mlir_attr(g->m, op, "cluster_axis", &text))
        return true;
    if (first)
        *axis = text;
    return first || str_eq(*axis, text);
}

/* 0: there is no collective. */
static bool count_devices(struct proof *p, int64_t *count) {
    const struct match *m = p->match;
    struct str axis = {0};
    bool any = false;
    *count = 0;
    for (uint32_t i = 0; i < m->nops; i++) {
        if (!is_collective((enum op_kind)m->graph->kind[m->ops[i]]) || graph_noperands(m->graph, m->ops[i]) == 0)
            continue;
        int64_t said = devices_said(m->graph, m->ops[i]);
        any = true;
        if (!same_axis(m->graph, m->ops[i], &axis))
            return bench_beyond(&p->bench, "collectives along several axes of the mesh");
        if (said > 0 && *count > 0 && said != *count)
            return bench_beyond(&p->bench, "collectives of different numbers of devices");
        *count = larger(*count, said);
    }
    if (*count > MAX_DEVICES)
        return bench_beyond(&p->bench, "a collective of more than %d devices", MAX_DEVICES);
    *count = any && *count == 0 ? FEW_DEVICES : *count;
    return true;
}

/* ---- in lockstep ---- */

static struct devices *devices_of(const struct proof *p) {
    return (struct devices *)p->devices;
}

/* Everything but its inputs and where it is, is that of the first one. */
static void as_first(const struct devices *d, uint32_t device) {
    struct proof *q = d->of[device];
    q->bench = d->of[0]->bench;
    q->bench.device = device;
    q->bench.error = STR("");
    q->frame = d->of[0]->frame;
    q->choice = d->of[0]->choice;
}

static bool evaluate_match(struct devices *d, uint32_t device) {
    enum side_kind side = d->side;
    d->begun[device] = form_begin(d->of[device]);
    d->side = side;
    return d->begun[device];
}

/* The side at hand, on another device; it ends early where a collective waits for others. */
static uint32_t evaluate_side(struct devices *d, uint32_t device, struct outcome *out) {
    as_first(d, device);
    if (d->side == SIDE_MATCH)
        return evaluate_match(d, device);
    if (!d->begun[device] && !evaluate_match(d, device))
        return 0;
    return form_names(d->of[device]) ? form_evaluate(d->of[device], out) : 0;
}

static bool gather(struct bench *b, const struct tensor *x, const struct tensor *all[MAX_DEVICES]) {
    struct devices *d = (struct devices *)b->mesh;
    uint32_t call = d->calls[b->device]++;
    struct outcome out[MAX_OUTCOMES];
    if (call >= MAX_CALLS)
        return bench_beyond(b, "more than %d collectives", MAX_CALLS);
    const struct tensor **given = d->given[d->side][call];
    given[b->device] = x;
    for (uint32_t i = 0; i < d->mesh.devices; i++) {
        if (!given[i] && b->device > 0)
            return bench_fail(b, "a collective waits for other devices");
        if (!given[i])
            evaluate_side(d, i, out);
        if (!given[i]) {
            struct str why = d->of[i]->bench.error;
            return bench_fail(b, "%.*s", (int)why.n, why.p);
        }
    }
    memcpy(all, given, d->mesh.devices * sizeof *all);
    return true;
}

bool devices_prepare(struct proof *p) {
    int64_t count;
    p->devices = NULL;
    if (!count_devices(p, &count))
        return false;
    if (count == 0)
        return true;
    struct devices *d = arena_alloc(p->arena, sizeof *d);
    d->mesh = (struct mesh){(uint32_t)count, gather};
    p->devices = &d->mesh;
    d->of[0] = p;
    for (uint32_t i = 1; i < count; i++) {
        struct prover *own = arena_alloc(p->arena, sizeof *own);
        d->of[i] = arena_alloc(p->arena, sizeof *d->of[i]);
        *own = *p->prover;
        own->seed += i * 0x9e3779b97f4a7c15u;
        *d->of[i] = *p;
        d->of[i]->prover = own;
    }
    return true;
}

struct mesh *devices_mesh(const struct proof *p) {
    return p->devices;
}

struct proof *devices_other(const struct proof *p, uint32_t device) {
    const struct devices *d = devices_of(p);
    return d && p->bench.device == 0 && device < d->mesh.devices ? d->of[device] : NULL;
}

void devices_begin(struct proof *p, enum side_kind side) {
    struct devices *d = devices_of(p);
    if (!d)
        return;
    d->side = side;
    d->calls[p->bench.device] = 0;
    if (p->bench.device > 0)
        return;
    for (int s = side; s < SIDES; s++)
        memset(d->given[s], 0, sizeof d->given[s]);
    if (side == SIDE_MATCH)
        memset(d->begun, 0, sizeof d->begun);
}

void devices_join(struct proof *p) {
    for (uint32_t i = 1; devices_other(p, i); i++)
        as_first(devices_of(p), i);
}

uint32_t devices_evaluate(struct proof *p, uint32_t device, struct outcome out[MAX_OUTCOMES]) {
    uint32_t n = evaluate_side(devices_of(p), device, out);
    if (n == 0) {
        struct str why = devices_other(p, device)->bench.error;
        bench_fail(&p->bench, "%.*s", (int)why.n, why.p);
    }
    return n;
}

bool devices_replicate(const struct proof *p, uint32_t value) {
    const struct pattern *pattern = p->match->pattern;
    bool found = false;
    for (uint32_t i = 0; i < pattern->nreplicated; i++)
        found |= p->bound.slots[pattern->replicated[i]].value == value;
    return found;
}
