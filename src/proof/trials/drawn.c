#include "proof/trials/drawn.h"

#include <math.h>

enum { MOST_NARROW = 1 << 12, LEAST_NARROW = 64 };

/* How far in a dimension of `n` elements is split into two that a shape has side by side; 0: it has none. */
static int64_t split_in(const struct shape *s, int64_t n) {
    for (uint32_t d = 0; d < s->rank; d++) {
        int64_t size = s->dim[d];
        for (uint32_t e = d + 1; e < s->rank && size < n; e++) {
            size *= s->dim[e];
            if (size == n && s->dim[e] <= MOST_NARROW)
                return s->dim[e];
        }
    }
    return 0;
}

/* As some value of the program has it, or so that as many are further in as may be. */
static int64_t split_of(const struct program *p, int64_t n) {
    const struct mlir *m = p->graph->m;
    int64_t inner = 0;
    for (uint32_t i = 0; i < (p->nops ? p->nops : m->nops) && !inner; i++) {
        const struct mlir_op *op = &m->ops[p->nops ? p->ops[i] : i];
        struct shape s;
        for (uint32_t r = 0; r < op->nresults && !inner; r++)
            inner = program_shape(p, op->first_result + r, &s) ? split_in(&s, n) : 0;
    }
    if (inner)
        return inner;
    for (inner = MOST_NARROW; n % inner != 0;)
        inner--;
    return inner;
}

/* The dimensions of a shape, long ones as two, in parts. */
struct dimensions {
    struct shape shape;
    uint32_t of[MAX_RANK], part[MAX_RANK], nparts;
};

static void add_piece(struct dimensions *out, uint32_t of, int64_t n) {
    out->of[out->shape.rank] = of;
    out->shape.dim[out->shape.rank++] = n;
}

/* The part that each dimension is in, from the last one on: each of few elements, or of one dimension. */
static void part_dimensions(struct dimensions *out) {
    const struct shape *s = &out->shape;
    int64_t size = 1;
    for (uint32_t d = s->rank; d-- > 0; size *= s->dim[d]) {
        if (size > 1 && size * s->dim[d] > MOST_NARROW && s->dim[d] > 1) {
            out->nparts++;
            size = 1;
        }
        out->part[d] = out->nparts;
    }
    out->nparts++;
}

static struct dimensions dimensions_of(const struct program *p, const struct shape *s) {
    struct dimensions out = {.shape = {0}};
    for (uint32_t d = 0; d < s->rank; d++) {
        int64_t inner = s->dim[d] > MOST_NARROW ? split_of(p, s->dim[d]) : 1;
        bool splits = inner >= LEAST_NARROW && out.shape.rank + s->rank - d < MAX_RANK;
        if (splits)
            add_piece(&out, d, s->dim[d] / inner);
        add_piece(&out, d, splits ? inner : s->dim[d]);
    }
    part_dimensions(&out);
    return out;
}

uint32_t narrow_parts(const struct problem *p) {
    uint32_t most = 1;
    for (uint32_t i = 0; i < p->ninputs; i++) {
        struct shape s;
        if (!program_shape(&p->program, p->inputs[i].value, &s))
            continue;
        uint32_t n = dimensions_of(&p->program, &s).nparts;
        most = n > most ? n : most;
    }
    return most < NARROW / 2 ? most : NARROW / 2;
}

struct giving_run {
    struct lockstep *l;
    const struct giving *how;
};

static double fixed_number(const struct giving_run *t, struct eval_context *ctx, uint32_t device, uint32_t i) {
    double x = 0;
    filling_numbers(filling_of(t->l->p, (struct draw){.seed = t->how->seed}, device, i, ctx->arena), &(int64_t){0}, 1,
                    &x);
    return x;
}

/* What is no tensor, such as a semaphore, has one that no evaluator looks at. */
static bool is_tensor(const struct graph *g, uint32_t value) {
    struct shape s;
    return shape_in_graph(g, value, &s) || str_starts(g->m->types[g->m->values[value].type].text, STR("tensor"));
}

/* An input whose elements vary along some dimensions of its shape. */
struct varying {
    uint32_t number;
    struct shape shape;
    enum dtype type;
    uint32_t along; /* a bit for each dimension */
    uint32_t turn;  /* where each varies along something else: the how many-th it is */
};

static const struct tensor *drawn_input(struct eval_context *ctx, const struct varying *in) {
    const struct tensor *x = lazy_input(ctx, in->number, &in->shape, in->type, 1);
    struct view v = view_of(x);
    for (uint32_t d = 0; d < in->shape.rank; d++)
        v.stride[d] = in->along >> d & 1 ? v.stride[d] : 0;
    return lazy_of_view(ctx, v);
}

/* Where sums cost too much time, an input varies along its last dimensions alone, or along those before; one along
 * these, the next one along others. */
static struct view narrow_view(struct eval_context *ctx, const struct dimensions *of, const struct varying *in,
                               uint32_t narrow) {
    const struct shape *all = &of->shape;
    struct shape drawn = {.rank = 0};
    const uint32_t *part = of->part, shift = (narrow - 1) / (NARROW / 2);
    uint32_t own = ((narrow - 1) % (NARROW / 2) + shift * in->turn) % of->nparts;
    int64_t apart = 1;
    for (uint32_t d = all->rank; d-- > 0 && part[d] < own;)
        apart *= all->dim[d];
    for (uint32_t d = 0; d < all->rank; d++)
        if (part[d] == own)
            drawn.dim[drawn.rank++] = all->dim[d];
    struct view v = view_of(lazy_input(ctx, in->number, &drawn, in->type, apart)), over = {.shape = *all};
    over.lazy = v.lazy;
    for (uint32_t d = 0, i = 0; d < all->rank; d++) {
        bool varies = in->along >> of->of[d] & 1;
        if (part[d] == own)
            over.stride[d] = varies ? v.stride[i] : 0;
        i += part[d] == own;
    }
    return over;
}

static const struct tensor *narrow_input(struct eval_context *ctx, const struct problem *p, const struct varying *in,
                                         uint32_t narrow) {
    struct dimensions of = dimensions_of(&p->program, &in->shape);
    return tensor_reshape(ctx, lazy_of_view(ctx, narrow_view(ctx, &of, in, narrow)), &in->shape);
}

uint32_t drawn_instead(struct eval_context *ctx, const struct problem *p, struct lazy *l, uint32_t turn,
                       uint32_t narrow) {
    struct varying all = {NONE, l->whole, DT_F32, UINT32_MAX, p->ninputs + turn};
    struct dimensions of = dimensions_of(&p->program, &l->whole);
    if (of.nparts > NARROW / 2)
        return 0;
    struct view v = narrow_view(ctx, &of, &all, narrow);
    v.lazy->given = true;
    lazy_replace(ctx, l, &v);
    return of.nparts;
}

/* Where what hides varied along some dimensions alone, it would hide whole rows. */
static bool hides(const struct facts *f) {
    return f->mask_sign || predicate_hides(f->predicate) || predicate_hides(f->beside);
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
    struct varying all = {device * p->ninputs + i, s, graph_dtype(g, in->value), g->varies[in->value], i};
    bool narrow = how->narrow && !hides(&in->facts);
    const struct tensor *x = narrow ? narrow_input(ctx, p, &all, how->narrow) : drawn_input(ctx, &all);
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
            n->fillings[ninputs + i] =
                filling_plain(n->p, at, ninputs + i, &all->all[i]->shape, lazy_is_truth(all->all[i]), &n->arena);
}

void drawn_numbers(const void *self, const struct lazy *input, const int64_t *at, int64_t n, double *out) {
    const struct drawn *d = self;
    uint32_t k = input->given ? d->p->devices * d->p->ninputs + input->id : input->input;
    filling_numbers(d->fillings[k], at, n, out);
}
