/* A collective is identified by its number in the order of evaluation, which is the same on every device. */
#include "prove/devices.h"

/* Collectives of one side. */
enum { MAX_COLLECTIVES = 16 };

enum proof_side { SIDE_MATCH, SIDE_FORM, SIDES };

struct devices {
    struct mesh mesh; /* the first member: a context points to it, and gather() gets back from there */
    struct device_run *runs[MAX_DEVICES + 1]; /* up to a NULL */
    enum proof_side side;                     /* that is evaluated */
    bool evaluated[MAX_DEVICES];              /* the match was, to the end */
    uint32_t reached[MAX_DEVICES];            /* collectives in the current evaluation */
    const struct tensor *operands[SIDES][MAX_COLLECTIVES][MAX_DEVICES];
};

/* ---- how many ---- */

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

int64_t devices_stated(const struct graph *g, uint32_t op) {
    int64_t in = graph_numel(g, graph_operands(g, op)[0]), out = graph_numel(g, g->m->ops[op].first_result);
    int64_t list[2 * MAX_DEVICES], most = -1;
    struct str text;
    if (op_table[g->kind[op]].shrink == SHRINK_MULTIPLIES)
        return in > 0 ? out / in : 0;
    if (op_table[g->kind[op]].shrink == SHRINK_DIVIDES)
        return out > 0 ? in / out : 0;
    if (mlir_attr(g->m, op, "split_count", &text))
        return mlir_int(text, &most) ? most : 0;
    if (!mlir_attr(g->m, op, "source_target_pairs", &text) && !mlir_attr(g->m, op, "replica_groups", &text))
        return 0;
    int n = mlir_ints(text, list, 2 * MAX_DEVICES);
    for (int i = 0; i < n && i < 2 * MAX_DEVICES; i++)
        most = larger(most, list[i]);
    return n > 2 * MAX_DEVICES ? MAX_DEVICES + 1 : most + 1;
}

/* The collective is along the mesh axis of those before it. */
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
static bool count_devices(struct device_run *first, int64_t *count) {
    const struct match *m = first->ref->match;
    struct str axis = {0};
    bool any = false;
    *count = 0;
    for (uint32_t i = 0; i < m->nops; i++) {
        if (!op_is((enum op_kind)m->graph->kind[m->ops[i]], COLLECTIVE) || graph_noperands(m->graph, m->ops[i]) == 0)
            continue;
        int64_t stated = devices_stated(m->graph, m->ops[i]);
        any = true;
        if (!same_axis(m->graph, m->ops[i], &axis))
            return eval_beyond(&first->eval, "collectives along several axes of the mesh");
        if (stated > 0 && *count > 0 && stated != *count)
            return eval_beyond(&first->eval, "collectives of different numbers of devices");
        *count = larger(*count, stated);
    }
    if (*count > MAX_DEVICES)
        return eval_beyond(&first->eval, "a collective of more than %d devices", MAX_DEVICES);
    *count = any && *count == 0 ? DEFAULT_DEVICES : *count;
    return true;
}

/* ---- in lockstep ---- */

static struct devices *devices_of(const struct device_run *run) {
    return (struct devices *)run->mesh;
}

/* Another device continues where the first one is: the same arena, arithmetic, frame and choice. */
static void follow_first(const struct devices *d, uint32_t device) {
    struct device_run *run = d->runs[device];
    run->eval = d->runs[0]->eval;
    run->eval.device = device;
    run->eval.error = STR("");
    run->sample = d->runs[0]->sample;
    run->frame = d->runs[0]->frame;
    run->choice = d->runs[0]->choice;
}

/* A side is evaluated from its beginning. On the first device that makes what was left at its collectives stale. */
static void begin_side(struct device_run *run, enum proof_side side) {
    struct devices *d = devices_of(run);
    if (!d)
        return;
    d->side = side;
    d->reached[run->eval.device] = 0;
    if (run->eval.device > 0)
        return;
    for (int s = side; s < SIDES; s++)
        memset(d->operands[s], 0, sizeof d->operands[s]);
    if (side == SIDE_MATCH)
        memset(d->evaluated, 0, sizeof d->evaluated);
}

bool devices_evaluate_match(struct device_run *run) {
    begin_side(run, SIDE_MATCH);
    return form_evaluate_match(run);
}

uint32_t devices_evaluate_form(struct device_run *run, struct output out[MAX_OUTPUTS]) {
    begin_side(run, SIDE_FORM);
    return form_evaluate(run, out);
}

static bool evaluate_match(struct devices *d, uint32_t device) {
    enum proof_side side = d->side;
    d->evaluated[device] = devices_evaluate_match(d->runs[device]);
    d->side = side;
    return d->evaluated[device];
}

/* Evaluates the side at hand on another device; it ends early at a collective whose other operands are not there yet.
 */
static uint32_t evaluate_side(struct devices *d, uint32_t device, struct output *out) {
    struct device_run *run = d->runs[device];
    follow_first(d, device);
    if (d->side == SIDE_MATCH)
        return evaluate_match(d, device);
    if (!d->evaluated[device] && !evaluate_match(d, device))
        return 0;
    return form_bind(run) ? devices_evaluate_form(run, out) : 0;
}

/* What another device ended with is the reason here, too, and a limit stays one. */
static bool fail_as(struct eval_context *b, const struct eval_context *other) {
    struct str why = other->error;
    return other->beyond ? eval_beyond(b, "%.*s", (int)why.n, why.p) : eval_fail(b, "%.*s", (int)why.n, why.p);
}

/* For mesh.gather. */
static bool gather(struct eval_context *b, const struct tensor *x, const struct tensor *all[MAX_DEVICES]) {
    struct devices *d = (struct devices *)b->mesh;
    uint32_t number = d->reached[b->device]++;
    struct output out[MAX_OUTPUTS];
    if (number >= MAX_COLLECTIVES)
        return eval_beyond(b, "more than %d collectives", MAX_COLLECTIVES);
    const struct tensor **operands = d->operands[d->side][number];
    operands[b->device] = x;
    for (uint32_t i = 0; i < d->mesh.devices; i++) {
        if (!operands[i] && b->device > 0)
            return eval_fail(b, "a collective waits for other devices");
        if (!operands[i])
            evaluate_side(d, i, out);
        if (!operands[i])
            return fail_as(b, &d->runs[i]->eval);
    }
    memcpy(all, operands, d->mesh.devices * sizeof *all);
    return true;
}

/* ---- entry points ---- */

bool devices_prepare(struct device_run *first) {
    struct arena *a = first->ref->arena;
    int64_t count;
    first->mesh = NULL;
    if (!count_devices(first, &count))
        return false;
    if (count == 0)
        return true;
    struct devices *d = arena_alloc(a, sizeof *d);
    d->mesh = (struct mesh){(uint32_t)count, gather};
    d->runs[0] = first;
    first->mesh = &d->mesh;
    for (uint32_t i = 1; i < count; i++) {
        d->runs[i] = arena_alloc(a, sizeof *d->runs[i]);
        *d->runs[i] = *first;
        d->runs[i]->seed += i * 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio: far apart for neighbouring devices */
    }
    return true;
}

struct device_run *devices_other(const struct device_run *first, uint32_t device) {
    const struct devices *d = devices_of(first);
    return d && first->eval.device == 0 ? d->runs[device] : NULL;
}

bool devices_make_numbers(struct device_run *first, enum trial trial, uint32_t violated) {
    struct device_run *run;
    for (uint32_t i = 1; devices_other(first, i); i++)
        follow_first(devices_of(first), i);
    bool good = numbers_make(first, first, trial, violated);
    for (uint32_t i = 1; good && (run = devices_other(first, i)); i++)
        good = numbers_make(run, first, trial, violated);
    return good;
}

uint32_t devices_evaluate_other(struct device_run *first, uint32_t device, struct output out[MAX_OUTPUTS]) {
    uint32_t n = evaluate_side(devices_of(first), device, out);
    if (n == 0)
        fail_as(&first->eval, &devices_other(first, device)->eval);
    return n;
}
