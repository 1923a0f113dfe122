#include "proof/trials/drawn.h"

#include <math.h>

enum { MOST_NARROW = 1 << 12 };

/* The part that each dimension is in, from the last one on: each of few elements, or of one dimension. How many. */
static uint32_t parts_of(const struct shape *s, uint32_t part[MAX_RANK]) {
    uint32_t n = 0;
    int64_t size = 1;
    for (uint32_t d = s->rank; d-- > 0; size *= s->dim[d]) {
        if (size > 1 && size * s->dim[d] > MOST_NARROW && s->dim[d] > 1) {
            n++;
            size = 1;
        }
        part[d] = n;
    }
    return n + 1;
}

uint32_t narrow_parts(const struct problem *p) {
    uint32_t most = 1, part[MAX_RANK];
    for (uint32_t i = 0; i < p->ninputs; i++) {
        struct shape s;
        uint32_t n = program_shape(&p->program, p->inputs[i].value, &s) ? parts_of(&s, part) : 1;
        most = n > most ? n : most;
    }
    return most < NARROW / 2 ? most : NARROW / 2;
}

/* A sum over millions costs too much time: then an input varies along its last dimensions alone, or along those before;
 * one input along these, the next one along others. */
static void narrow_strides(uint32_t narrow, uint32_t input, const struct shape *s, int64_t *stride) {
    uint32_t part[MAX_RANK] = {0}, n = parts_of(s, part);
    uint32_t shift = (narrow - 1) / (NARROW / 2), own = ((narrow - 1) % (NARROW / 2) + shift * input) % n;
    for (uint32_t d = 0; d < s->rank; d++)
        stride[d] = part[d] == own ? stride[d] : 0;
}

struct giving_run {
    struct lockstep *l;
    const struct giving *how;
};

static double fixed_number(const struct giving_run *t, struct eval_context *ctx, uint32_t device, uint32_t i) {
    double x = 0;
    filling_numbers(filling_of(t->l->p, (struct draw){.seed = t->how->seed}, device, i, ctx->arena), 0, 1, &x);
    return x;
}

/* What is no tensor, such as a semaphore, has one that no evaluator looks at. */
static bool is_tensor(const struct graph *g, uint32_t value) {
    struct shape s;
    return shape_in_graph(g, value, &s) || str_starts(g->m->types[g->m->values[value].type].text, STR("tensor"));
}

static const struct tensor *input_tensor(const struct giving_run *t, struct eval_context *ctx, uint32_t device,
                                         uint32_t i) {
    const struct problem *p = t->l->p;
    const struct giving *how = t->how;
    const struct input *in = &p->inputs[i];
    const struct graph *g = p->program.graph;
    struct shape s;
    if (!is_tensor(g, in->value))
        return tensor_scalar(ctx, 0);
    if (!program_shape(&p->program, in->value, &s))
        eval_reason(ctx, REASON_NOT_STATIC, "an operand has no static shape");
    bool known = in->constant && !isnan(in->constant->number);
    if (in->constant || (how->fixed && g->varies[in->value] == 0 && !in->holds)) {
        double x = known ? in->constant->number : fixed_number(t, ctx, device, i);
        return lazy_of_view(ctx, view_expanded(tensor_scalar(ctx, x), &s));
    }
    const struct tensor *x = lazy_input(ctx, device * p->ninputs + i, &s, graph_dtype(g, in->value));
    struct view v = view_of(x);
    for (uint32_t d = 0; d < s.rank; d++)
        v.stride[d] = g->varies[in->value] >> d & 1 ? v.stride[d] : 0;
    if (how->narrow)
        narrow_strides(how->narrow, i, &s, v.stride);
    x = lazy_of_view(ctx, v);
    if (how->rounded && format_is_float(graph_dtype(g, in->value)))
        x = lazy_rounded(ctx, x, graph_dtype(g, in->value), false);
    return in->holds ? as_stated(ctx, in->holds, x) : x;
}

static void give_all(struct eval_context *ctx, void *self) {
    const struct giving_run *t = self;
    struct lockstep *l = t->l;
    for (uint32_t device = 0; device < l->p->devices; device++)
        for (uint32_t i = 0; i < l->p->ninputs; i++) {
            const struct input *in = &l->p->inputs[i];
            l->given[device][i] = device > 0 && in->replicated
                                      ? l->given[0][i]
                                      : (struct given){in->value, input_tensor(t, ctx, device, i)};
            if (!l->given[device][i].tensor)
                eval_fail(ctx, "an input cannot be made");
        }
}

bool drawn_give(struct lockstep *l, struct eval_context *ctx, const struct giving *how) {
    return eval_attempt(ctx, give_all, &(struct giving_run){l, how});
}

void drawn_begin(struct drawn *n, struct draw at, const struct lazies *all) {
    uint32_t ninputs = n->p->devices * n->p->ninputs;
    arena_reset(&n->arena);
    n->at = at;
    n->fillings = arena_alloc(&n->arena, (ninputs + (size_t)all->n + 1) * sizeof *n->fillings);
    for (uint32_t i = 0; i < ninputs; i++)
        n->fillings[i] = filling_of(n->p, at, i / n->p->ninputs, i % n->p->ninputs, &n->arena);
    for (uint32_t i = 0; i < all->n; i++)
        if (all->all[i]->given)
            n->fillings[ninputs + i] = filling_plain(n->p, at, ninputs + i, &all->all[i]->shape, &n->arena);
}

void drawn_numbers(const void *self, const struct lazy *input, int64_t from, int64_t n, double *out) {
    const struct drawn *d = self;
    uint32_t k = input->given ? d->p->devices * d->p->ninputs + input->id : input->input;
    filling_numbers(d->fillings[k], from, n, out);
}
