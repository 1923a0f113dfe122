/* The leaves of a match get random numbers. The matched ops make of them the value of the root, the fused form makes
 * its own of what the match binds (form.c). Both are in doubles, so a difference is one of meaning. A constant
 * that the pattern ties to a number is that number, not what is left of it in its format. */
#include "prove/prove.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "prove/devices.h"
#include "prove/form.h"
#include "prove/proofs.h"

enum { VARIATIONS = 3, CHOICES = 512, SMALL_INDEX = 2 };

enum { BUDGET = 1 << 22, CHOICE_COST = 1 << 14 }; /* elements and steps after which no further choice is tried */

static const double relative = 1e-9, floor_of_largest = 1e-3;

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

/* A constant that a name stands for is the number that is printed, as attributes have it. */
static bool is_named_number(const struct proof *p, uint32_t value) {
    bool named = false;
    for (uint32_t i = 0; i < p->bound.nslots && !named; i++)
        named = p->bound.slots[i].value == value;
    return named && graph_constant(p->match->graph, value).known;
}

static const struct tie *tie_of(const struct proof *p, uint32_t value) {
    for (uint32_t i = 0; i < p->bound.nties; i++)
        if (p->bound.ties[i].value == value)
            return &p->bound.ties[i];
    if (!is_named_number(p, value))
        return NULL;
    struct tie *t = arena_alloc(p->arena, sizeof *t);
    *t = (struct tie){value, graph_constant(p->match->graph, value).value, false};
    return t;
}

/* What a constant holds is not always in the text. */
static bool is_unreadable(const struct proof *p, uint32_t op) {
    const struct graph *g = p->match->graph;
    if (graph_class(g, op) != OP_CONSTANT)
        return false;
    struct arena scratch = {0};
    struct bench b = {.arena = &scratch};
    struct program program = {.graph = g};
    const struct tensor *t;
    bool read = interpret_values(&b, &program, &g->m->ops[op].first_result, 1, &t);
    arena_free(&scratch);
    return !read;
}

/* Below a value: matched ops, movement and constants are evaluated, what they start from is a leaf. */
static void find_leaves(struct proof *p, uint32_t value) {
    const struct graph *g = p->match->graph;
    const struct tie *tie = tie_of(p, value);
    uint32_t op = tie ? NONE : g->m->values[value].def;
    if (op != NONE && is_inside(p, op))
        return;
    if (op != NONE && is_matched(p, op) && !is_unreadable(p, op) && p->ninside < MAX_INSIDE) {
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
        p->leaves[p->nleaves++] = (struct leaf){value, tie};
}

static double uniform(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

enum { POSITIVE = 1, HIDDEN = 2, COARSE = 3, TRIALS = 4, FEW_TRIALS = 2 }; /* trials, beside 0 */

/* Rows are of different size, one is 0, and a few numbers are far out: limits of a clamp are met, and a softmax is not
 * of one element only. One trial has positive numbers, for roots and logarithms; one has larger ones with many equals,
 * as far as an exponential in f64 goes; in two a mask is -inf here and there. */
struct filling {
    uint64_t seed;
    uint32_t leaf, trial;
    bool positive, distinct, mask;
};

/* True and false in each row: what a mask leaves nothing of is outside of the claim, and the notes say so. */
static void mix_rows(struct tensor *t, int64_t row, uint32_t leaf) {
    for (int64_t at = 0; row > 1 && at + row <= t->n; at += row) {
        int64_t one = (at / row + leaf) % row;
        t->x[at + one] = 1;
        t->x[at + (one + 1) % row] = 0;
    }
}

/* Some of each row, not all. */
static void hide(struct tensor *t, int64_t row, uint64_t *state) {
    for (int64_t at = 0; at + row <= t->n; at += row) {
        int64_t kept = (int64_t)(uniform(state) * (double)row);
        for (int64_t i = 0; i < row; i++)
            if (i != kept && uniform(state) < 0.4)
                t->x[at + i] = -INFINITY;
    }
}

static void fill(struct filling f, struct tensor *t, enum dtype type) {
    static const double sizes[] = {0.25, 1, 0.5, 2};
    uint64_t state = (f.leaf + 1) * 0x2545f4914f6cdd1du + f.trial * 0x632be59bd9b4e019u + f.seed * 0xd1342543de82ef95u;
    int64_t row = t->shape.rank ? t->shape.dim[t->shape.rank - 1] : 1;
    double size = 1;
    for (int64_t i = 0; i < t->n; i++) {
        if (row > 1 && i % row == 0)
            size = sizes[(int)(uniform(&state) * 4)];
        double x = 2 * uniform(&state) - 1, far = uniform(&state) < 0.03 ? 8 : 1;
        if (format_is_integer(type))
            t->x[i] = floor(uniform(&state) * SMALL_INDEX);
        else if (f.positive)
            t->x[i] = (0.01 + fabs(x)) * size * far;
        else if (!f.distinct && row > 1 && i / row == 2)
            t->x[i] = 0;
        else if (f.trial == COARSE)
            t->x[i] = (f.distinct ? 4 * x : rint(4 * x)) * fmin(size, 1);
        else
            t->x[i] = x * size * far;
    }
    if (f.mask && f.trial >= HIDDEN && row > 1)
        hide(t, row, &state);
    if (type == DT_I1)
        mix_rows(t, row, f.leaf);
}

/* What a pattern ties to a number holds that; what it only states to hold it, unless `violated`. */
static void impose(const struct tie *tie, bool violated, struct tensor *t) {
    if (!tie || (tie->stated && violated))
        return;
    for (int64_t i = 0; i < t->n; i++)
        t->x[i] = isnan(tie->number) ? t->x[0] : tie->number;
}

/* What the pattern says of a name: the notes state it. */
static bool is_positive(const struct proof *p, uint32_t value) {
    const struct pattern *pattern = p->match->pattern;
    bool found = false;
    for (uint32_t i = 0; i < pattern->npositive; i++)
        found |= p->bound.slots[pattern->positive[i]].value == value;
    return found;
}

/* Among equal elements no order is promised, so that there is nothing to compare. */
static bool is_sorted(const struct match *m) {
    bool found = false;
    for (uint32_t i = 0; i < m->nops; i++)
        found |= m->graph->kind[m->ops[i]] == K_SORT || m->graph->kind[m->ops[i]] == K_TOPK;
    return found;
}

/* A value that decides, whatever its element type is. */
static bool is_truth(const struct proof *p, uint32_t value, int depth) {
    enum { DEEP = 16 };
    const struct graph *g = p->match->graph;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && depth < DEEP; u++) {
        uint32_t op = g->uses[u];
        enum op_class c = graph_class(g, op);
        if (!is_inside(p, op))
            continue;
        if (g->kind[op] == K_LOGICAL_NOT || g->kind[op] == K_LOGICAL_AND || g->kind[op] == K_LOGICAL_OR ||
            (g->kind[op] == K_WHERE && graph_operands(g, op)[0] == value))
            return true;
        if ((c == OP_MOVE || c == OP_CAST || c == OP_LAYOUT) && is_truth(p, g->m->ops[op].first_result, depth + 1))
            return true;
    }
    return false;
}

/* What a pattern calls a mask, seen through movement. */
static bool is_mask(const struct proof *p, uint32_t value, int depth) {
    enum { DEEP = 16 };
    const struct graph *g = p->match->graph;
    const struct formula *f = form_pattern(p);
    for (uint32_t i = 0; i < f->nslots; i++)
        if (f->slot_is_variable[i] && p->bound.slots[i].value == value && str_find(f->slot_name[i], STR("mask")))
            return true;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && depth < DEEP; u++) {
        enum op_class c = graph_class(g, g->uses[u]);
        if (is_inside(p, g->uses[u]) && (c == OP_MOVE || c == OP_CAST || c == OP_LAYOUT) &&
            is_mask(p, g->m->ops[g->uses[u]].first_result, depth + 1))
            return true;
    }
    return false;
}

static bool make_own_leaves(struct proof *p, const struct proof *first, uint32_t trial, bool violated) {
    const struct graph *g = p->match->graph;
    bool sorts = is_sorted(p->match);
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
        bool positive = trial == POSITIVE || (is_positive(p, value) && !violated);
        enum dtype type = is_truth(p, value, 0) ? DT_I1 : graph_dtype(g, value);
        fill((struct filling){p->prover->seed, i, trial, positive, sorts, is_mask(p, value, 0)}, t, type);
        impose(p->leaves[i].tie, violated, t);
        p->given[i] =
            p != first && !violated && devices_replicate(p, value) ? first->given[i] : (struct given){value, t};
    }
    return true;
}

/* Each device has its own. */
static bool make_leaves(struct proof *p, uint32_t trial, bool violated) {
    struct proof *q;
    devices_join(p);
    bool good = make_own_leaves(p, p, trial, violated);
    for (uint32_t i = 1; good && (q = devices_other(p, i)); i++)
        good = make_own_leaves(q, p, trial, violated);
    return good;
}

/* ---- the verdict ---- */

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
        const struct tensor *t = p->given[i].tensor;
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

/* What is wrong with a line of the form; empty: nothing. */
static struct str compare(struct proof *p, const struct outcome *o, int64_t *compared) {
    if (!shape_eq(&o->want->shape, &o->got->shape))
        return arena_printf(p->arena, "the fused form makes %s of what is %s", shape_text(p->arena, &o->got->shape).p,
                            shape_text(p->arena, &o->want->shape).p);
    struct difference d = compare_worst(o->got, o->want, floor_of_largest, compared);
    double bound = p->match->pattern->approximate;
    bool exact = d.error <= relative;
    bool same = exact || (bound > 0 && d.error < INFINITY && compare_relative_l2(o->got, o->want) <= bound);
    p->approximate |= same && !exact;
    return same || d.at < 0 ? STR("") : difference_text(p, o->want, d);
}

/* ---- trials ---- */

enum verdict { SAME, NOT_EVALUATED, DIFFERENT };

struct finding {
    enum verdict verdict;
    struct str text; /* the difference, or why it was not evaluated */
};

/* The form with one choice of its alternatives. */
static struct finding try_choice(struct proof *p, int64_t *compared) {
    struct outcome lines[MAX_OUTCOMES] = {0};
    struct finding f = {SAME, STR("")};
    int64_t n = 0;
    p->bench.elements = p->bench.steps = 0;
    p->bench.error = STR("");
    uint32_t count = form_evaluate(p, lines);
    p->spent += CHOICE_COST + p->bench.elements + p->bench.steps;
    for (uint32_t device = 0; count > 0 && f.verdict == SAME; device++) {
        struct proof *q = device ? devices_other(p, device) : p;
        if (!q || (device && (count = devices_evaluate(p, device, lines)) == 0))
            break;
        for (uint32_t i = 0; i < count && f.verdict == SAME; i++) {
            f.text = compare(q, &lines[i], &n);
            f.verdict = f.text.n ? DIFFERENT : SAME;
            *compared += n;
        }
        p->approximate |= q->approximate;
    }
    if (count > 0)
        return f;
    p->nfailed++;
    p->nbeyond += p->bench.beyond;
    return (struct finding){NOT_EVALUATED, arena_str(p->arena, p->bench.error)};
}

static bool says_more(const struct finding *f, const struct finding *than) {
    return !than->text.n || f->verdict > than->verdict;
}

static struct finding try_frame(struct proof *p, int64_t *compared) {
    struct finding first = {NOT_EVALUATED, STR("")};
    p->choice.n = 0;
    p->bench.error = STR("");
    if (!form_names(p))
        return (struct finding){NOT_EVALUATED, arena_str(p->arena, p->bench.error)};
    uint32_t tried = 0;
    do {
        struct finding f = try_choice(p, compared);
        if (f.verdict == SAME)
            return f;
        if (says_more(&f, &first))
            first = f;
    } while (++tried < CHOICES && p->spent < p->budget && formula_choice_next(&p->choice));
    return first;
}

/* The fused op computes the same where one of the alternatives that its form writes does, in the axes of one of the
 * ops; that is left in `p`. The first of them speaks for all where none does. */
static struct finding find_choice(struct proof *p, int64_t *compared) {
    struct finding first = {NOT_EVALUATED, STR("")};
    for (uint32_t k = 0; k < p->nframes; k++) {
        p->frame = p->frames[k];
        struct finding f = try_frame(p, compared);
        if (f.verdict == SAME)
            return f;
        if (says_more(&f, &first))
            first = f;
    }
    return first;
}

static struct finding try_once(struct proof *p, uint32_t trial, bool violated, int64_t *compared) {
    struct arena scratch = {0};
    struct finding f = {NOT_EVALUATED, STR("")};
    p->bench = (struct bench){.arena = &scratch, .mesh = devices_mesh(p)};
    bool good = make_leaves(p, trial, violated) && form_begin(p) && (trial == 0 || form_names(p));
    if (good)
        f = trial == 0 ? find_choice(p, compared) : try_choice(p, compared);
    else
        f.text = arena_str(p->arena, p->bench.error);
    arena_free(&scratch);
    return f;
}

/* On numbers of all kinds. */
static struct finding try_all(struct proof *p, bool violated) {
    struct finding f = {SAME, STR("")};
    int64_t compared = 0;
    for (uint32_t trial = 0; trial < p->trials && f.verdict == SAME; trial++)
        f = try_once(p, trial, violated, &compared);
    if (f.verdict == SAME && compared == 0)
        return (struct finding){NOT_EVALUATED, STR("the result is no number anywhere")};
    return f;
}

/* ---- preconditions ---- */

/* Whether something is stated that can fail to hold. */
static bool has_preconditions(const struct proof *p) {
    for (uint32_t i = 0; i < p->nleaves; i++) {
        const struct tie *tie = p->leaves[i].tie;
        if (tie && tie->stated && (!isnan(tie->number) || graph_numel(p->match->graph, p->leaves[i].value) > 1))
            return true;
    }
    return p->match->pattern->npositive > 0 || p->match->pattern->nreplicated > 0;
}

/* ---- the device ---- */

static void round_given(struct proof *p) {
    struct proof *q;
    for (uint32_t i = 1; (q = devices_other(p, i)); i++)
        round_given(q);
    for (uint32_t i = 0; i < p->nleaves; i++) {
        struct tensor *t = tensor_copy(&p->bench, p->given[i].tensor);
        if (!t)
            return;
        tensor_round(t, graph_dtype(p->match->graph, p->given[i].value), ROUND_EVEN);
        p->given[i].tensor = t;
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

/* The first line: what the ops make of the inputs at hand in one kind of arithmetic, and the form in another. */
static bool first_line(struct proof *p, enum arithmetic ops, enum arithmetic form, struct outcome *out) {
    struct outcome lines[MAX_OUTCOMES];
    p->bench.arithmetic = ops;
    if (!form_begin(p) || !form_names(p))
        return false;
    p->bench.arithmetic = form;
    if (!form_evaluate(p, lines) || !shape_eq(&lines[0].want->shape, &lines[0].got->shape))
        return false;
    *out = lines[0];
    return true;
}

static void measure(struct proof *p, struct effect *e) {
    struct outcome exact, device;
    if (!make_leaves(p, 0, false))
        return;
    product_as_matched(p);
    round_given(p);
    if (!first_line(p, EXACT, EXACT, &exact) || !first_line(p, DEVICE, INSIDE, &device))
        return;
    struct tensor *stored = tensor_copy(&p->bench, device.got);
    if (!stored)
        return;
    tensor_round(stored, e->type, ROUND_PACKER);
    const struct tensor *both[] = {device.want, stored};
    for (int i = 0; i < 2; i++) {
        e->pcc[i] = compare_pcc(both[i], exact.want);
        e->error[i] = compare_relative_l2(both[i], exact.want);
        e->ulp[i] = compare_ulp(both[i], exact.want, e->type);
    }
    e->known = isfinite(e->pcc[1]) && isfinite(e->error[0]) && isfinite(e->error[1]);
}

static struct effect effect_of(struct proof *p, bool blackhole) {
    struct effect e = {.type = graph_dtype(p->match->graph, form_root(p)), .blackhole = blackhole};
    struct arena scratch = {0};
    if (e.type == DT_NONE || e.type == DT_OTHER || format_is_integer(e.type))
        return e;
    p->bench = (struct bench){.arena = &scratch, .mesh = devices_mesh(p), .blackhole = blackhole};
    measure(p, &e);
    arena_free(&scratch);
    return e;
}

/* ---- one match ---- */

static bool prepare(struct proof *p) {
    if (!form_prepare(p))
        return false;
    find_leaves(p, form_root(p));
    for (uint32_t i = 0; i < p->match->nops; i++)
        for (uint32_t r = 0; r < p->match->graph->m->ops[p->match->ops[i]].nresults; r++)
            find_leaves(p, p->match->graph->m->ops[p->match->ops[i]].first_result + r);
    for (uint32_t i = 0; i < p->fused->nslots; i++)
        if (p->fused->slot_is_variable[i] && form_is_bound(p, form_slot(p, i)))
            find_leaves(p, p->bound.slots[form_slot(p, i)].value);
    return p->too_many ? bench_fail(&p->bench, "too many operands") : devices_prepare(p);
}

static struct finding examine(struct proof *p) {
    if (!p->match->pattern->fused.n)
        return (struct finding){NOT_EVALUATED, STR("the pattern has no `fused`")};
    if (!prepare(p))
        return (struct finding){NOT_EVALUATED, p->bench.error};
    return try_all(p, false);
}

/* What was searched for has to give what the ops give: else it is the reading of the place that is wrong, not the fused
 * form. */
static bool reads_rightly(const struct proof *p) {
    struct proof *own = arena_alloc(p->arena, sizeof *own);
    *own = (struct proof){
        .prover = p->prover, .match = p->match, .arena = p->arena, .budget = BUDGET, .trials = p->trials, .own = true};
    own->bench.arena = p->arena;
    return prepare(own) && try_all(own, false).verdict == SAME;
}

static struct proved verdict_of(struct proof *p) {
    struct finding f = examine(p);
    if (f.verdict == NOT_EVALUATED)
        return (struct proved){.text = f.text};
    if (f.verdict == DIFFERENT && !reads_rightly(p))
        return (struct proved){.text = STR("how the place is laid out is not understood")};
    if (f.verdict == DIFFERENT)
        return (struct proved){.kind = VERDICT_DIFFERENT, .text = f.text};
    return (struct proved){.kind = VERDICT_SAME};
}

static struct proof *proof_new(struct prover *self, const struct match *m, struct arena *a) {
    struct proof *p = arena_alloc(a, sizeof *p);
    *p = (struct proof){
        .prover = self, .match = m, .arena = a, .bench = {.arena = a}, .budget = BUDGET, .trials = TRIALS};
    return p;
}

struct proved prove_match(const struct pattern_set *set, const struct match *m, bool blackhole, struct arena *a) {
    struct prover self = {.set = set};
    struct proof *p = proof_new(&self, m, a);
    struct proved v = verdict_of(p);
    if (v.kind == VERDICT_SAME)
        v.effect = effect_of(p, blackhole);
    v.bound = p->approximate ? m->pattern->approximate : 0;
    v.spent = p->spent / p->trials;
    return v;
}

struct proved prove_function(const struct pattern_set *set, const struct match *m, uint64_t seed, struct arena *a) {
    struct prover self = {.set = set, .seed = seed};
    return verdict_of(proof_new(&self, m, a));
}

/* ---- one example ---- */

static struct str unproved(struct proof *p, struct str why) {
    struct pattern const *pattern = p->match->pattern;
    p->prover->unproved++;
    if (p->prover->say_unproved)
        diag_add(p->prover->diags, SEV_NOTE, (struct place){pattern->file.p, p->example->line, 0}, NULL,
                 "%.*s: hit: not evaluated: %.*s", (int)pattern->name.n, pattern->name.p, (int)why.n, why.p);
    return STR("");
}

/* The smallest extents in which the difference is still there. */
static struct str smallest(const struct proof *p, const struct variation *v, struct str text) {
    struct variation least = *v;
    least.which = 0;
    struct proved small = prove_variation(p->prover->set, p->match, &least, p->arena);
    return small.kind == VERDICT_DIFFERENT ? small.text : text;
}

/* In other extents and element types, as the seed says. Text where one is not the same. */
static struct str vary(struct proof *p) {
    uint64_t seed = p->prover->seed;
    for (uint32_t i = 0; i < VARIATIONS; i++) {
        struct variation v = {(uint32_t)(i ? 1 + (seed + i) % 4 : 0), (enum variation_types)((seed + i) % TYPES_COUNT),
                              seed + i + 1};
        struct proved r = prove_variation(p->prover->set, p->match, &v, p->arena);
        p->prover->varied += r.kind == VERDICT_SAME;
        if (r.kind == VERDICT_DIFFERENT)
            return smallest(p, &v, r.text);
    }
    return STR("");
}

struct str prove_example(void *self, const struct match *m, const struct example *e, struct arena *a) {
    struct proof *p = proof_new(self, m, a);
    p->example = e;
    p->budget = UINT64_MAX;
    p->trials = FEW_TRIALS;
    if (!m->pattern->fused.n)
        p->prover->formless++;
    struct finding f = examine(p);
    if (f.verdict == NOT_EVALUATED && p->nfailed > 0 && p->nbeyond == 0)
        return arena_printf(a, "the fused form does not fit the match: %.*s", (int)f.text.n, f.text.p);
    if (f.verdict == NOT_EVALUATED)
        return unproved(p, f.text);
    if (f.verdict == DIFFERENT)
        return smallest(p, &(struct variation){.types = TYPES_KEPT, .seed = p->prover->seed}, f.text);
    if (has_preconditions(p) && try_all(p, true).verdict == SAME)
        return STR("it computes the same where a precondition does not hold: that need not be stated");
    struct str wrong = vary(p);
    p->prover->proved += wrong.n == 0;
    return wrong;
}
