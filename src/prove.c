/* The leaves of a match get random numbers. The matched ops make of them the value of the root; the names of the fused
 * form get what the match binds to them, seen along the axes of the formula, and the form is evaluated on that. Both
 * are in doubles, so a difference is one of meaning. */
#include "prove.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "numeric/numeric.h"
#include "pattern/lowering.h"

enum { MAX_LEAVES = 64, MAX_INSIDE = 512, TRIALS = 3, CHOICES = 64, SMALL_INDEX = 4 };

static const double relative = 1e-9, floor_of_largest = 1e-3;

struct proof {
    const struct pattern_set *set;
    const struct match *match;
    struct arena *arena;
    struct bench bench;
    struct formula *fused;
    const struct binding *bindings; /* by slot of the pattern's formula */
    uint32_t inside[MAX_INSIDE], ninside;
    struct given leaves[MAX_LEAVES];
    uint32_t nleaves;
    uint32_t trial;
    uint64_t choice; /* of the alternatives of the fused form; 0: the first that is there */
    uint32_t root_rank;
    uint32_t work_axis; /* along which the match works, as an axis of the formula; NONE: the last one, or none */
    bool too_many;
};

/* ---- what is given ---- */

static bool is_matched(const struct proof *p, uint32_t op) {
    const struct match *m = p->match;
    enum op_class c = graph_class(m->graph, op);
    if (c == OP_CONSTANT || m->graph->kind[op] == K_ARANGE || c == OP_MOVE || c == OP_CAST || c == OP_LAYOUT)
        return true;
    for (uint32_t i = 0; i < m->nops; i++)
        if (m->ops[i] == op)
            return true;
    for (uint32_t i = 0; i < m->nthrough; i++)
        if (m->through[i] == op)
            return true;
    return false;
}

static bool is_inside(const struct proof *p, uint32_t op) {
    for (uint32_t i = 0; i < p->ninside; i++)
        if (p->inside[i] == op)
            return true;
    return false;
}

/* Below a value: matched ops, movement and constants are evaluated, what they start from is a leaf. */
static void find_leaves(struct proof *p, uint32_t value) {
    const struct graph *g = p->match->graph;
    uint32_t op = g->m->values[value].def;
    if (op != NONE && is_inside(p, op))
        return;
    if (op != NONE && is_matched(p, op) && p->ninside < MAX_INSIDE) {
        p->inside[p->ninside++] = op;
        for (uint32_t i = 0; i < graph_noperands(g, op); i++)
            if (graph_operands(g, op)[i] != NONE)
                find_leaves(p, graph_operands(g, op)[i]);
        return;
    }
    for (uint32_t i = 0; i < p->nleaves; i++)
        if (p->leaves[i].value == value)
            return;
    p->too_many |= p->nleaves == MAX_LEAVES || p->ninside == MAX_INSIDE;
    if (p->nleaves < MAX_LEAVES)
        p->leaves[p->nleaves++] = (struct given){value, NULL};
}

static double uniform(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* Rows are of different size, and a few numbers are far out: limits of a clamp are met, and a softmax is not of one
 * element only. The second trial has positive numbers, for roots and logarithms. */
static void fill(struct proof *p, uint32_t leaf, struct tensor *t, enum dtype type) {
    static const double sizes[] = {0.25, 1, 0.5, 2};
    uint64_t state = (leaf + 1) * 0x2545f4914f6cdd1du + p->trial * 0x632be59bd9b4e019u;
    int64_t row = t->shape.rank ? t->shape.dim[t->shape.rank - 1] : 1;
    double size = 1;
    for (int64_t i = 0; i < t->n; i++) {
        if (row > 1 && i % row == 0)
            size = sizes[(int)(uniform(&state) * 4)];
        double x = 2 * uniform(&state) - 1, far = uniform(&state) < 0.03 ? 8 : 1;
        if (format_is_integer(type))
            t->x[i] = floor(uniform(&state) * (type == DT_I1 ? 2 : SMALL_INDEX));
        else
            t->x[i] = (p->trial == 1 ? 0.01 + fabs(x) : x) * size * far;
    }
}

static bool make_leaves(struct proof *p) {
    const struct graph *g = p->match->graph;
    for (uint32_t i = 0; i < p->nleaves; i++) {
        struct shape s = {0};
        uint32_t rank, value = p->leaves[i].value;
        const int64_t *dims = graph_shape(g, value, &rank);
        if (!dims || rank > TENSOR_RANK || graph_numel(g, value) < 0)
            return bench_fail(&p->bench, "an operand has no static shape");
        s.rank = rank;
        memcpy(s.dim, dims, rank * sizeof *dims);
        struct tensor *t = tensor_new(&p->bench, &s);
        if (!t)
            return false;
        fill(p, i, t, graph_dtype(g, value));
        p->leaves[i].tensor = t;
    }
    return true;
}

/* ---- what a name is bound to, along the formula's axes ---- */

/* Every digit that the map depends on is one of an axis. */
static bool covers(const struct axes *axes, const struct imap *map) {
    struct imap all = {.n = axes->n ? axes->end[axes->n - 1] : 0};
    memcpy(all.t, axes->t, all.n * sizeof *all.t);
    for (uint32_t i = 0; i < all.n; i++)
        all.t[i].stride = 1;
    imap_canonical(&all);
    return imap_within(map, &all);
}

/* Index of the formula's axes to element of the value: the digits of each axis make the indices of the spaces, and the
 * map's terms take theirs out of these. */
static int64_t element_at(const struct axes *axes, const struct imap *map, const int64_t *at) {
    int64_t element = 0;
    for (uint32_t k = 0; k < map->n; k++) {
        const struct term *m = &map->t[k];
        int64_t index = 0;
        for (uint32_t d = 0; d < axes->n; d++)
            for (uint32_t j = axes_begin(axes, d); j < axes->end[d]; j++)
                if (axes->t[j].space == m->space)
                    index += at[d] / axes->t[j].stride % axes->t[j].size * axes->t[j].lo;
        element += index / m->lo % m->size * m->stride;
    }
    return element;
}

/* The axis that the match works along is the last one of the fused form. What varies along none of the formula's axes
 * varies along one that a reduction took away. */
static bool form_axes(const struct proof *p, const struct binding *b, struct axes *out) {
    struct term gone[MAX_TERMS];
    uint32_t ngone = 0;
    int64_t stride = 1;
    axes_copy(out, b->axes);
    for (uint32_t i = 0; i < b->map->n && !covers(b->axes, b->map); i++) {
        struct imap one = {.n = 1, .t = {b->map->t[i]}};
        if (covers(b->axes, &one))
            continue;
        gone[ngone++] = (struct term){one.t[0].space, one.t[0].lo, one.t[0].size, stride};
        stride *= one.t[0].size;
    }
    axes_clear(out);
    for (uint32_t d = 0; d < b->axes->n; d++)
        if ((d != p->work_axis || b->axes->n != p->root_rank) &&
            !axes_add(out, b->axes->t + axes_begin(b->axes, d), b->axes->end[d] - axes_begin(b->axes, d)))
            return false;
    if (ngone)
        return axes_add(out, gone, ngone);
    uint32_t d = p->work_axis;
    return d >= b->axes->n || b->axes->n != p->root_rank ||
           axes_add(out, b->axes->t + axes_begin(b->axes, d), b->axes->end[d] - axes_begin(b->axes, d));
}

static const struct tensor *along_axes(struct proof *p, const struct binding *bound, const struct tensor *t,
                                       struct str name) {
    struct axes axes;
    struct binding binding = *bound, *b = &binding;
    if (!form_axes(p, bound, &axes)) {
        bench_fail(&p->bench, "%.*s has too many axes", (int)name.n, name.p);
        return NULL;
    }
    b->axes = &axes;
    struct shape s = {.rank = b->axes->n};
    struct walk w;
    for (uint32_t d = 0; d < s.rank; d++)
        s.dim[d] = axes_extent(b->axes, (int)d);
    if (!covers(b->axes, b->map)) {
        bench_fail(&p->bench, "%.*s varies along more than the axes of the formula", (int)name.n, name.p);
        return NULL;
    }
    struct tensor *out = tensor_new(&p->bench, &s);
    if (!out)
        return NULL;
    walk_begin(&w, &s);
    for (int64_t i = 0; walk_more(&w); walk_next(&w), i++) {
        int64_t element = element_at(b->axes, b->map, w.at);
        if (element < 0 || element >= t->n) {
            bench_fail(&p->bench, "%.*s is seen outside of its elements", (int)name.n, name.p);
            return NULL;
        }
        out->x[i] = t->x[element];
    }
    return out;
}

static bool known_constant(const struct graph *g, uint32_t value, const struct tensor *t) {
    if (!graph_constant(g, value).known)
        return false;
    for (int64_t i = 1; i < t->n; i++)
        if (t->x[i] != t->x[0])
            return false;
    return t->n > 0;
}

static const struct formula *formula_of(const struct match *m) {
    return m->pattern->is_variant ? &m->pattern->variant_of->formula : &m->pattern->formula;
}

/* The pattern's slot of a name of the fused form; NONE: the form's own. */
static uint32_t slot_of(const struct proof *p, uint32_t fused_slot) {
    struct str name = p->fused->slot_name[fused_slot];
    return name.n ? formula_slot(formula_of(p->match), name) : NONE;
}

static bool is_bound(const struct proof *p, uint32_t slot) {
    return slot != NONE && p->bindings[slot].value != NONE && p->bindings[slot].map && p->bindings[slot].axes;
}

/* ---- both sides ---- */

/* The line `out`, where a further line is that; else the root's. */
static uint32_t root_value(const struct proof *p) {
    const struct match *m = p->match;
    uint32_t slot = formula_slot(formula_of(m), STR("out"));
    if (slot != NONE && p->bindings[slot].value != NONE && p->bindings[slot].op != NONE && p->bindings[slot].line > 0)
        return p->bindings[slot].value;
    return m->graph->m->ops[m->ops[m->nops - 1]].first_result;
}

/* Of its own result the fused form may ask extents only. */
static const struct tensor *no_number(struct bench *b, const struct tensor *like) {
    struct tensor *t = like ? tensor_copy(b, like) : NULL;
    for (int64_t i = 0; t && i < t->n; i++)
        t->x[i] = NAN;
    return t;
}

/* The fused form may name what the match computes, but not the root: that would prove nothing. */
static bool evaluate_both(struct proof *p, const struct tensor **root, const struct tensor **fused) {
    const struct graph *g = p->match->graph;
    uint32_t values[MAX_SLOTS + 1] = {root_value(p)}, at[MAX_SLOTS], n = 1;
    const struct tensor *tensors[MAX_SLOTS + 1], *slots[MAX_SLOTS] = {NULL}, *results[MAX_RESULTS];
    for (uint32_t i = 0; i < p->fused->nslots; i++) {
        uint32_t slot = slot_of(p, i);
        at[i] = NONE;
        if (!p->fused->slot_is_variable[i] || !is_bound(p, slot))
            continue;
        at[i] = n;
        values[n++] = p->bindings[slot].value;
    }
    struct program program = {
        .graph = g, .given = p->leaves, .ngiven = p->nleaves, .ops = p->inside, .nops = p->ninside};
    if (!interpret_values(&p->bench, &program, values, n, tensors))
        return false;
    for (uint32_t i = 0; i < p->fused->nslots; i++) {
        if (at[i] == NONE)
            continue;
        const struct tensor *t = tensors[at[i]];
        const struct binding *b = &p->bindings[slot_of(p, i)];
        slots[i] = known_constant(g, b->value, t) ? tensor_scalar(&p->bench, t->x[0])
                                                  : along_axes(p, b, t, p->fused->slot_name[i]);
        if (b->value == values[0])
            slots[i] = no_number(&p->bench, slots[i]);
        if (!slots[i])
            return false;
    }
    struct formula_like like = {g, p->match->ops, p->match->nops};
    if (!formula_value_like(&p->bench, p->set, p->fused, slots, &like, p->choice, results))
        return false;
    *root = tensors[0];
    *fused = results[0];
    return true;
}

/* ---- the verdict ---- */

/* In the order of the root's own axes again. */
static const struct tensor *in_root_order(struct proof *p, const struct tensor *t) {
    uint32_t order[TENSOR_RANK], n = t->shape.rank;
    if (p->work_axis == NONE || n != p->root_rank || n < 2)
        return t;
    for (uint32_t d = 0; d < n; d++)
        order[d] = d < p->work_axis ? d : d == p->work_axis ? n - 1 : d - 1;
    struct view v = view_permuted(view_of(t), order);
    return view_copy(&p->bench, &v);
}

static struct str index_text(struct arena *a, const struct shape *s, int64_t at) {
    int64_t index[TENSOR_RANK];
    struct str text = STR("[");
    for (uint32_t d = s->rank; d-- > 0; at /= s->dim[d])
        index[d] = at % s->dim[d];
    for (uint32_t d = 0; d < s->rank; d++)
        text = arena_printf(a, "%.*s%s%lld", (int)text.n, text.p, d ? ", " : "", (long long)index[d]);
    return arena_printf(a, "%.*s]", (int)text.n, text.p);
}

/* The elements of the operands that stand where the result differs, as far as they have its index. */
static struct str inputs_text(const struct proof *p, const struct tensor *root, int64_t at) {
    const struct mlir *m = p->match->graph->m;
    struct str text = STR("");
    for (uint32_t i = 0; i < p->nleaves; i++) {
        const struct tensor *t = p->leaves[i].tensor;
        struct str name = mlir_span(m, m->values[p->leaves[i].value].name);
        if (t->n == root->n && t->n > 0)
            text = arena_printf(p->arena, "%.*s%s%.*s = %.6g", (int)text.n, text.p, text.n ? ", " : "", (int)name.n,
                                name.p, t->x[at]);
    }
    return text.n ? arena_printf(p->arena, " (input %.*s)", (int)text.n, text.p) : text;
}

static struct str difference_text(const struct proof *p, const struct tensor *root, struct difference d) {
    struct str index = index_text(p->arena, &root->shape, d.at), inputs = inputs_text(p, root, d.at);
    return arena_printf(p->arena, "the fused form computes something else: at %.*s %.6g instead of %.6g%.*s",
                        (int)index.n, index.p, d.got, d.want, (int)inputs.n, inputs.p);
}

/* The same elements in the same order: a fused op that moves data too is written without that. */
static const struct tensor *in_shape_of(struct proof *p, const struct tensor *fused, const struct tensor *root) {
    struct shape both;
    if (!(fused = in_root_order(p, fused)))
        return NULL;
    if (fused->n == root->n)
        return tensor_reshape(&p->bench, fused, &root->shape);
    if (fused->n < root->n && shape_broadcast(&p->bench, &fused->shape, &root->shape, &both) &&
        shape_eq(&both, &root->shape)) {
        struct view v = view_expanded(fused, &root->shape);
        return view_copy(&p->bench, &v);
    }
    p->bench.error = STR("");
    bench_fail(&p->bench, "the fused form makes %s of what is %s", shape_text(p->arena, &fused->shape).p,
               shape_text(p->arena, &root->shape).p);
    return NULL;
}

static bool compare(struct proof *p, const struct tensor *root, const struct tensor *fused, struct str *wrong,
                    int64_t *compared) {
    const struct tensor *x = in_shape_of(p, fused, root);
    if (!x)
        return false;
    struct difference d = compare_worst(x, root, floor_of_largest, compared);
    double bound = p->match->pattern->approximate;
    bool same = bound > 0 ? d.error < INFINITY && compare_relative_l2(x, root) <= bound : d.error <= relative;
    if (!same && d.at >= 0)
        *wrong = difference_text(p, root, d);
    return true;
}

/* ---- trials ---- */

/* Of the first op that works along one axis of a tensor of the root's rank. */
static void find_work_axis(struct proof *p) {
    const struct graph *g = p->match->graph;
    static const char *const keys[] = {"dim_arg", "dimension", "dim"};
    uint32_t rank, last;
    const int64_t *dims = graph_shape(g, root_value(p), &rank);
    p->work_axis = NONE;
    p->root_rank = last = dims ? rank : 0;
    while (dims && last > 0 && dims[last - 1] == 1)
        last--;
    for (uint32_t i = 0; i < p->match->nops && dims && p->work_axis == NONE; i++) {
        uint32_t op = p->match->ops[i], of;
        struct str text;
        int64_t axis[2];
        if (graph_class(g, op) != OP_REDUCE && g->kind[op] != K_SOFTMAX)
            continue;
        if (!graph_shape(g, graph_operands(g, op)[0], &of) || of != rank)
            return;
        for (size_t k = 0; k < 3; k++)
            if (mlir_attr(g->m, op, keys[k], &text) && (mlir_int(text, &axis[0]) || mlir_ints(text, axis, 2) == 1)) {
                axis[0] += axis[0] < 0 ? rank : 0;
                p->work_axis = axis[0] < last ? (uint32_t)axis[0] + rank - last : NONE;
                break;
            }
    }
    if (p->work_axis != NONE && p->work_axis + 1 >= rank)
        p->work_axis = NONE;
}

static bool prepare(struct proof *p) {
    struct diags quiet = {.arena = p->arena};
    const struct match *m = p->match;
    struct binding *bindings = arena_alloc(p->arena, MAX_SLOTS * sizeof *bindings);
    p->fused = arena_alloc(p->arena, sizeof *p->fused);
    struct text_origin origin = {m->pattern->file.p, m->pattern->line, 0};
    bool good = fused_parse(p->fused, p->arena, p->set, m->pattern->fused, origin, &quiet);
    if (!good)
        bench_fail(&p->bench, "its `fused` is no formula: %s", quiet.n ? quiet.items[0].message : "");
    diags_free(&quiet);
    if (!good)
        return false;
    if (!match_bindings(m, p->arena, bindings))
        return bench_fail(&p->bench, "the match is not found again");
    p->bindings = bindings;
    find_leaves(p, root_value(p));
    find_work_axis(p);
    for (uint32_t i = 0; i < p->fused->nslots; i++)
        if (p->fused->slot_is_variable[i] && is_bound(p, slot_of(p, i)))
            find_leaves(p, bindings[slot_of(p, i)].value);
    return !p->too_many || bench_fail(&p->bench, "too many operands");
}

/* A place that holds only if an argument is a number, as the preconditions say, is not met by random numbers. */
static bool is_conditional(const struct proof *p) {
    struct match_detail detail;
    match_look_closer(p->match, p->arena, &detail);
    return detail.npreconditions > 0;
}

/* Both sides on numbers of several kinds, with one choice of the form's alternatives. False: not evaluated. */
static bool try_choice(struct proof *p, struct str *wrong, int64_t *compared) {
    *compared = 0;
    *wrong = STR("");
    for (p->trial = 0; p->trial < TRIALS && !wrong->n; p->trial++) {
        const struct tensor *root, *fused;
        int64_t n;
        p->bench.elements = p->bench.steps = 0;
        p->bench.error = STR("");
        if (!make_leaves(p) || !evaluate_both(p, &root, &fused) || !compare(p, root, fused, wrong, &n))
            return false;
        *compared += n;
    }
    return true;
}

/* ---- the device ---- */

static void round_leaves(struct proof *p) {
    const struct graph *g = p->match->graph;
    for (uint32_t i = 0; i < p->nleaves; i++) {
        struct tensor *t = tensor_copy(&p->bench, p->leaves[i].tensor);
        if (t)
            tensor_round(t, graph_dtype(g, p->leaves[i].value), ROUND_EVEN);
        p->leaves[i].tensor = t ? t : p->leaves[i].tensor;
    }
}

/* Products of the fused op are made as the first one of the match is. */
static void product_as_matched(struct proof *p) {
    const struct match *m = p->match;
    for (uint32_t i = 0; i < m->nops; i++)
        if (graph_class(m->graph, m->ops[i]) == OP_CONTRACT) {
            p->bench.product_type = graph_dtype(m->graph, graph_operands(m->graph, m->ops[i])[0]);
            mlir_attr(m->graph->m, m->ops[i], "compute_config", &p->bench.product_config);
            return;
        }
}

/* Both sides in one kind of arithmetic. */
static bool evaluate_as(struct proof *p, enum arithmetic arithmetic, const struct tensor **root,
                        const struct tensor **fused) {
    p->bench.arithmetic = arithmetic;
    bool good = evaluate_both(p, root, fused);
    p->bench.arithmetic = EXACT;
    return good;
}

static struct effect effect_of(struct proof *p) {
    struct effect e = {.type = graph_dtype(p->match->graph, root_value(p)), .blackhole = p->bench.blackhole};
    const struct tensor *want, *fused, *unfused, *same;
    p->trial = 0;
    p->bench.elements = p->bench.steps = 0;
    product_as_matched(p);
    if (e.type == DT_NONE || e.type == DT_OTHER || format_is_integer(e.type) || !make_leaves(p))
        return e;
    round_leaves(p);
    if (!evaluate_as(p, EXACT, &want, &fused) || !evaluate_as(p, DEVICE, &unfused, &fused) ||
        !evaluate_as(p, INSIDE, &same, &fused) || !(fused = in_shape_of(p, fused, want)))
        return e;
    struct tensor *stored = tensor_copy(&p->bench, fused);
    if (!stored)
        return e;
    tensor_round(stored, e.type, ROUND_PACKER);
    const struct tensor *both[] = {unfused, stored};
    for (int i = 0; i < 2; i++) {
        e.pcc[i] = compare_pcc(both[i], want);
        e.error[i] = compare_relative_l2(both[i], want);
        e.ulp[i] = compare_ulp(both[i], want, e.type);
    }
    e.known = isfinite(e.pcc[1]) && isfinite(e.error[0]) && isfinite(e.error[1]);
    return e;
}

static struct verdict verdict_of(struct proof *p) {
    struct str first = STR(""), wrong;
    int64_t compared;
    if (!p->match->pattern->fused.n)
        return (struct verdict){.text = STR("the pattern has no fused form")};
    if (!prepare(p))
        return (struct verdict){.text = p->bench.error};
    bool good = try_choice(p, &first, &compared);
    bool proved = good && !first.n;
    struct str why = good && compared == 0 ? STR("the result is no number anywhere") : p->bench.error;
    for (uint32_t i = 1; i <= CHOICES && !proved && formula_choices(p->fused) > 0; i++) {
        p->choice = i;
        proved = try_choice(p, &wrong, &compared) && !wrong.n;
    }
    if (proved && compared > 0)
        return (struct verdict){.kind = VERDICT_SAME, .effect = effect_of(p)};
    if (good && first.n)
        return (struct verdict){.kind = VERDICT_DIFFERENT, .text = first, .conditional = is_conditional(p)};
    return (struct verdict){.text = why};
}

struct verdict prove_match(const struct pattern_set *set, const struct match *m, bool blackhole, struct arena *a) {
    struct proof *p = arena_alloc(a, sizeof *p);
    *p = (struct proof){.set = set, .match = m, .arena = a, .bench = {.arena = a, .blackhole = blackhole}};
    return verdict_of(p);
}

struct str prove_example(void *self, const struct match *m, const struct example *e, struct arena *a) {
    struct prover *prover = self;
    const struct pattern *pattern = m->pattern;
    if (!pattern->fused.n)
        return STR("");
    struct verdict v = prove_match(prover->set, m, false, a);
    if (v.kind == VERDICT_DIFFERENT && !v.conditional)
        return v.text;
    if (v.conditional)
        v.text = STR("it is the same only where the preconditions hold");
    prover->proved += v.kind == VERDICT_SAME;
    prover->unproved += v.kind != VERDICT_SAME;
    if (v.kind != VERDICT_SAME && prover->say_unproved)
        diag_add(prover->diags, SEV_NOTE, (struct place){pattern->file.p, e->line, 0}, NULL,
                 "%.*s: hit: not evaluated: %.*s", (int)pattern->name.n, pattern->name.p, (int)v.text.n, v.text.p);
    return STR("");
}
