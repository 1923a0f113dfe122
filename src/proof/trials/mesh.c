/* A collective is identified by its number in the order of evaluation, which is the same on every device. */
#include "proof/trials/mesh.h"

enum { MAX_ELEMENTS = 1 << 24 }; /* of all devices together */

static bool run_program(struct lockstep *l, uint32_t device) {
    struct evaluated *e = &l->devices[device];
    struct program program = l->p->program;
    enum side side = l->side;
    program.given = l->given[device];
    program.ngiven = l->p->ninputs;
    l->side = SIDE_PROGRAM;
    l->reached[device] = 0;
    e->eval->arithmetic = l->arithmetic[SIDE_PROGRAM];
    e->eval->equals = l->order[SIDE_PROGRAM];
    e->given = l->given[device];
    e->kept = NULL;
    l->evaluated[device] = interpret_values(e->eval, &program, l->p->values, l->p->nvalues, e->values);
    l->side = side;
    return l->evaluated[device];
}

static bool run_other(struct lockstep *l, uint32_t device, const struct tensor *got[MAX_OUTPUTS]) {
    if (!l->evaluated[device] && !run_program(l, device))
        return false;
    l->side = SIDE_OTHER;
    l->reached[device] = 0;
    l->eval[device].arithmetic = l->arithmetic[SIDE_OTHER];
    l->eval[device].equals = l->order[SIDE_OTHER];
    if (l->p->other)
        return l->p->other(l->p->self, &l->devices[device], got);
    for (uint32_t i = 0; i < l->p->noutputs; i++)
        got[i] = l->devices[device].values[l->p->outputs[i].got];
    return true;
}

/* What another device ended with is the reason here, too, and a limit stays one. */
static bool fail_as(struct eval_context *b, const struct eval_context *other) {
    return eval_reason(b, other->why, "%.*s", (int)other->error.n, other->error.p);
}

/* For mesh.gather. */
static bool gather(struct eval_context *b, const struct tensor *x, const struct tensor *all[MAX_DEVICES]) {
    struct lockstep *l = (struct lockstep *)b->mesh;
    uint32_t number = l->reached[b->device]++;
    const struct tensor *got[MAX_OUTPUTS];
    if (number >= MAX_COLLECTIVES)
        return eval_reason(b, REASON_COLLECTIVE, "more than %d collectives", MAX_COLLECTIVES);
    const struct tensor **operands = l->operands[l->side][number];
    operands[b->device] = x;
    for (uint32_t i = 0; i < l->mesh.devices; i++) {
        if (!operands[i] && b->device > 0)
            return eval_fail(b, "a collective waits for other devices");
        l->eval[i].error = operands[i] ? l->eval[i].error : STR("");
        if (!operands[i] && l->side == SIDE_PROGRAM)
            run_program(l, i);
        else if (!operands[i])
            run_other(l, i, got);
        if (!operands[i])
            return fail_as(b, &l->eval[i]);
    }
    memcpy(all, operands, l->mesh.devices * sizeof *all);
    return true;
}

void lockstep_begin(struct lockstep *l, const struct problem *p, const struct eval_context *how) {
    bool one_side_reverses = p->other && how->equals == EQUALS_LAST;
    *l = (struct lockstep){.mesh = {p->devices, gather}, .p = p};
    if (p->devices > 1)
        l->operands = arena_alloc(how->arena, SIDES * sizeof *l->operands);
    l->order[SIDE_PROGRAM] = one_side_reverses ? EQUALS_FIRST : how->equals;
    l->order[SIDE_OTHER] = how->equals;
    for (uint32_t i = 0; i < p->devices; i++) {
        l->eval[i] = *how;
        l->eval[i].device = i;
        l->eval[i].max_elements = MAX_ELEMENTS / p->devices;
        l->eval[i].mesh = p->devices > 1 ? &l->mesh : NULL;
        l->given[i] = arena_alloc(how->arena, (p->ninputs + (size_t)1) * sizeof(struct given));
        l->devices[i] = (struct evaluated){
            .eval = &l->eval[i],
            .values = arena_alloc(how->arena, (p->nvalues + (size_t)1) * sizeof(const struct tensor *))};
    }
}

bool lockstep_program(struct lockstep *l) {
    memset(l->evaluated, 0, sizeof l->evaluated);
    if (l->operands)
        memset(l->operands, 0, SIDES * sizeof *l->operands);
    return run_program(l, 0);
}

bool lockstep_outputs(struct lockstep *l, uint32_t device, const struct tensor *want[MAX_OUTPUTS],
                      const struct tensor *got[MAX_OUTPUTS]) {
    struct eval_context *eval = &l->eval[device];
    eval->error = STR("");
    eval->elements = 0;
    if (device == 0 && l->operands)
        memset(l->operands[SIDE_OTHER], 0, sizeof l->operands[SIDE_OTHER]);
    if (!run_other(l, device, got))
        return device > 0 && fail_as(&l->eval[0], eval);
    for (uint32_t i = 0; i < l->p->noutputs; i++)
        want[i] = l->devices[device].values[l->p->outputs[i].want];
    return true;
}
