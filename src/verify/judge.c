#include "verify/judge.h"

#include <math.h>

#include "verify/shown.h"
#include "verify/trial.h"

/* Bounds of extents_cost. */
/* Above `few` one seed and one shape have to do: what is proved there holds for many elements. */
static const double few = 1 << 13, small_cost = 1 << 18, own_cost = 1 << 24;

enum { SHAPES = 2, SEEDS = 2, MANY_NUMBERS = 256, MAX_FIXED = 32, MAX_PAYLOAD = 1 << 14 };

/* ---- all trials in one shape ---- */

struct finding {
    enum answer answer;
    struct trial_of_circuit at; /* the first that shows a difference */
    struct str why;
    double bound;
    int64_t elements; /* that were compared */
};

static void try_once(const struct circuit *c, struct trial_of_circuit at, struct finding *f, struct arena *a) {
    struct arena scratch = {0};
    struct eval_context b = {.arena = &scratch};
    struct given given[MAX_INPUTS];
    struct comparison o = {.evaluated = true};
    if (circuit_fill(c, at.trial, at.seed, &b, given))
        o = circuit_compare(c, given, at.equals, &scratch);
    else if (b.error.n)
        o = (struct comparison){.why = b.error};
    f->elements += o.elements;
    f->bound = fmax(f->bound, o.bound);
    if (!o.evaluated || o.differs)
        *f = (struct finding){o.differs ? ANSWER_DIFFERENT : ANSWER_NOT_COMPARED, at, arena_str(a, o.why), 0, 0};
    arena_free(&scratch);
}

/* What a trial has to meet, a threshold or equal numbers in two inputs, needs many numbers. */
static uint64_t seeds_of(const struct circuit *c, enum trial trial, uint64_t seeds) {
    int64_t most = 1;
    for (uint32_t i = 0; i < c->reference.ninputs; i++) {
        int64_t n = graph_numel(&c->module.graph, c->reference.inputs[i].value);
        most = n > most ? n : most;
    }
    uint64_t wanted = (uint64_t)(MANY_NUMBERS / most);
    return (trial == TRIAL_THRESHOLDS || trial == TRIAL_COARSE) && wanted > seeds ? wanted : seeds;
}

static struct finding try_all(const struct circuit *c, uint64_t seeds, struct arena *a) {
    struct finding f = {.answer = ANSWER_PROVED};
    for (enum trial trial = 0; trial < TRIALS; trial++)
        for (uint64_t seed = 0; trial_differs(&c->reference, trial) && seed < seeds_of(c, trial, seeds); seed++)
            for (uint32_t e = 0; e < (trial == TRIAL_EQUAL ? c->nequals : 1) && f.answer == ANSWER_PROVED; e++) {
                enum equals equals = trial == TRIAL_EQUAL ? c->equals[e] : EQUALS_FIRST;
                try_once(c, (struct trial_of_circuit){trial, seed, equals}, &f, a);
            }
    if (f.answer == ANSWER_PROVED && f.elements == 0)
        f = (struct finding){.answer = ANSWER_NOT_COMPARED, .why = STR("the result is no number anywhere")};
    return f;
}

/* ---- shapes ---- */

struct question_of_miter {
    struct circuit own;
    struct payloads payloads;
    struct arena *a;
    struct judgement *j;
    bool show; /* make the counterexample, too */
};

/* The circuit in extents number `which`, with those of `fixed` as they are. */
static bool resize(struct question_of_miter *q, struct shrink_options *how, double most, bool scale, double *cost,
                   struct circuit *out, struct str *why) {
    struct extents *e = arena_alloc(q->a, sizeof *e);
    for (uint32_t i = 0; i < q->own.subgraph.ninputs; i++)
        how->keep[i] = q->payloads.of[i] && !q->payloads.regular;
    *out = (struct circuit){0};
    if (!extents_shrink(&q->own.subgraph, how, e, why))
        return false;
    *cost = extents_cost(&q->own.subgraph, e);
    if (*cost > most) {
        *why = STR("no shapes that are small enough keep all relations");
        return false;
    }
    return circuit_resize(&q->own, e, &q->payloads, scale, q->a, out, why);
}

static uint32_t fix(int64_t *fixed, uint32_t n, int64_t extent) {
    if (n < MAX_FIXED)
        fixed[n++] = extent;
    return n;
}

/* The extents over which something is reduced: constants may be tied to them. */
static uint32_t reduced_extents(const struct subgraph *s, int64_t fixed[MAX_FIXED]) {
    const struct graph *g = s->graph;
    uint32_t n = 0, rank;
    for (uint32_t i = 0; i < s->nops; i++) {
        uint32_t op = s->ops[i];
        bool reduced[MAX_RANK] = {false};
        const int64_t *dims = graph_noperands(g, op) ? graph_shape(g, graph_operands(g, op)[0], &rank) : NULL;
        struct contraction c;
        if (!dims || rank == 0)
            continue;
        if (graph_class(g, op) == OP_REDUCE && graph_reduced_dims(g, op, rank, reduced) != NONE)
            for (uint32_t d = 0; d < rank; d++)
                n = reduced[d] ? fix(fixed, n, dims[d]) : n;
        else if (graph_class(g, op) == OP_CONTRACT && contraction_of(g, op, &c))
            for (uint32_t k = 0; k < c.nsummed; k++)
                n = fix(fixed, n, dims[c.a_summed[k]]);
        else if (graph_class(g, op) != OP_ELTWISE && !class_moves(graph_class(g, op)))
            n = fix(fixed, n, dims[rank - 1]);
    }
    return n;
}

/* A constant of the region may be tied to an extent: it is none of 0, 1, 2, 1/2 and their negatives, and neither so
 * large or small that it stands for infinity or an epsilon. */
static bool has_tied_constants(const struct subgraph *s) {
    bool found = false;
    for (uint32_t i = 0; i < s->ninputs && !found; i++) {
        struct constant c = graph_constant(s->graph, s->inputs[i]);
        double x = fabs(c.value);
        found = c.known && !(x == 0 || x == 1 || x == 2 || x == 0.5 || x > 1e6 || x < 1e-8);
    }
    return found;
}

/* ---- answers ---- */

static struct str matters_for(enum trial t) {
    return t == TRIAL_MASKED_ROWS    ? STR("rows of which a mask hides everything (no key to attend to)")
           : t == TRIAL_MASKED       ? STR("masks that hide some scores")
           : t == TRIAL_THRESHOLDS   ? STR("numbers at or beyond a threshold that it compares with")
           : t == TRIAL_NEAR_EPSILON ? STR("numbers so small that an epsilon counts")
           : t == TRIAL_EQUAL        ? STR("equal elements")
                                     : STR("");
}

static bool refute(struct question_of_miter *q, const struct circuit *c, const struct finding *f) {
    *q->j = (struct judgement){.answer = ANSWER_DIFFERENT,
                               .why = matters_for(f->at.trial),
                               .shown = q->show ? counterexample_show(c, f->at, q->a) : STR("")};
    return true;
}

/* All trials in larger shapes, the one that showed a difference in small ones first. */
static struct finding try_again(const struct circuit *c, const struct finding *small, struct arena *a) {
    struct finding f = {.answer = ANSWER_PROVED};
    if (small->answer == ANSWER_DIFFERENT)
        try_once(c, small->at, &f, a);
    return f.answer == ANSWER_DIFFERENT ? f : try_all(c, 1, a);
}

/* What small shapes said is checked in shapes that keep what constants may be tied to: the extents of reductions, then
 * all. False where neither can be evaluated. */
static bool check_in_own_shapes(struct question_of_miter *q, const struct finding *small) {
    int64_t fixed[MAX_FIXED];
    for (int whole = 0; whole < 2; whole++) {
        struct shrink_options how = {.fixed = fixed, .nfixed = reduced_extents(&q->own.subgraph, fixed)};
        struct circuit *c = arena_alloc(q->a, sizeof *c);
        struct extents *own = arena_alloc(q->a, sizeof *own);
        struct str why = STR("");
        struct finding f = {.answer = ANSWER_NOT_COMPARED};
        double cost;
        bool there = whole ? extents_unchanged(&q->own.subgraph, own, &why) &&
                                 extents_cost(&q->own.subgraph, own) <= own_cost &&
                                 circuit_resize(&q->own, own, &q->payloads, false, q->a, c, &why)
                           : resize(q, &how, own_cost, false, &cost, c, &why);
        if (there)
            f = try_again(c, small, q->a);
        if (f.answer == ANSWER_DIFFERENT)
            refute(q, c, &f);
        else if (f.answer == ANSWER_PROVED)
            *q->j = (struct judgement){.answer = ANSWER_PROVED, .shapes = 1, .bound = f.bound};
        circuit_free(c);
        if (f.answer != ANSWER_NOT_COMPARED)
            return true;
    }
    return false;
}

/* One choice of small extents, constants as they are or scaled with them. */
static struct finding try_small(struct question_of_miter *q, uint32_t which, double *cost, struct circuit *c) {
    struct finding f = {.answer = ANSWER_NOT_COMPARED};
    for (int scale = 0; scale < 2 && f.answer != ANSWER_PROVED; scale++) {
        struct shrink_options how = {.which = which};
        struct str why = STR("");
        circuit_free(c);
        if (!resize(q, &how, small_cost, scale, cost, c, &why))
            return (struct finding){.answer = ANSWER_NOT_COMPARED, .why = why};
        f = try_all(c, *cost > few ? 1 : SEEDS, q->a);
    }
    return f;
}

static void judge(struct question_of_miter *q, bool thorough) {
    bool tied = has_tied_constants(&q->own.subgraph);
    struct judgement *j = q->j;
    struct finding found[SHAPES] = {{.answer = ANSWER_NOT_COMPARED}};
    struct circuit *circuits[SHAPES] = {NULL};
    uint32_t n = 0, refuted = 0;
    double cost = 0;
    for (; n < SHAPES && (n == 0 || refuted || cost <= few); n++) {
        circuits[n] = arena_alloc(q->a, sizeof *circuits[n]);
        found[n] = try_small(q, n, &cost, circuits[n]);
        refuted += found[n].answer == ANSWER_DIFFERENT;
        j->bound = fmax(j->bound, found[n].bound);
        if (found[n].answer == ANSWER_NOT_COMPARED || (refuted && (tied || !thorough)))
            break;
    }
    j->shapes = n;
    if (n > 0 && !refuted)
        j->answer = ANSWER_PROVED;
    else if (!thorough)
        j->why = found[0].why;
    else if (refuted == SHAPES && n == SHAPES)
        refute(q, circuits[0], &found[0]);
    else if (!check_in_own_shapes(q, &found[0]))
        j->why = refuted
                     ? STR("it differs in small shapes, and constants may be tied to larger ones, which cost too much")
                     : found[0].why;
    for (uint32_t i = 0; i < SHAPES && circuits[i]; i++)
        circuit_free(circuits[i]);
}

static struct judgement ask(struct str text, bool thorough, bool show, struct arena *a) {
    struct question_of_miter *q = arena_alloc(a, sizeof *q);
    struct judgement j = {.answer = ANSWER_NOT_COMPARED};
    q->a = a;
    q->j = &j;
    q->show = show;
    if (circuit_read(&q->own, text, a, &j.why)) {
        payload_read(&q->own.subgraph, MAX_PAYLOAD, a, &q->payloads);
        judge(q, thorough);
    }
    circuit_free(&q->own);
    return j;
}

struct judgement miter_judge(struct str text, bool thorough, struct arena *a) {
    return ask(text, thorough, false, a);
}

struct str miter_show(struct str text, struct arena *a) {
    return ask(text, true, true, a).shown;
}
