#include "verify/judge.h"

#include <math.h>

#include "verify/shapes.h"
#include "verify/shown.h"

/* Of extents_cost: above it one seed and one shape have to do, since what is proved there holds for many elements. */
static const double few = 1 << 13;

enum { SHAPES = 2, SEEDS = 2, MANY_NUMBERS = 256 };

/* ---- all trials in one shape ---- */

struct finding {
    enum answer answer;
    struct trial_of_circuit at; /* the first that shows a difference */
    struct str why;
    double bound;
    int64_t elements; /* that were compared */
};

/* `scratch` is empty before and after. */
static void try_once(const struct circuit *c, struct trial_of_circuit at, struct finding *f, struct arena *scratch,
                     struct arena *a) {
    struct eval_context b = {.arena = scratch};
    struct given given[MAX_INPUTS];
    struct comparison o = {.evaluated = true};
    if (circuit_fill(c, at.trial, at.seed, &b, given))
        o = circuit_compare(c, given, at.equals, scratch);
    else if (b.error.n)
        o = (struct comparison){.why = b.error};
    f->elements += o.elements;
    f->bound = fmax(f->bound, o.bound);
    if (!o.evaluated || o.differs)
        *f = (struct finding){o.differs ? ANSWER_DIFFERENT : ANSWER_NOT_COMPARED, at, arena_str(a, o.why), 0, 0};
    arena_reset(scratch);
}

/* What a trial has to meet, a threshold or equal numbers in two inputs, needs many numbers; positive ones come in pairs
 * (circuit_fill). */
static uint64_t seeds_of(const struct circuit *c, enum trial trial, uint64_t seeds) {
    int64_t most = 1;
    for (uint32_t i = 0; i < c->reference.ninputs; i++) {
        int64_t n = graph_numel(&c->module.graph, c->reference.inputs[i].value);
        most = n > most ? n : most;
    }
    uint64_t wanted = trial == TRIAL_POSITIVE ? 2 : (uint64_t)(MANY_NUMBERS / most);
    bool many = trial == TRIAL_THRESHOLDS || trial == TRIAL_COARSE || trial == TRIAL_POSITIVE;
    return many && wanted > seeds ? wanted : seeds;
}

static struct finding try_all(const struct circuit *c, uint64_t seeds, struct arena *a) {
    struct finding f = {.answer = ANSWER_PROVED};
    struct arena scratch = {0};
    for (enum trial trial = 0; trial < TRIALS; trial++)
        for (uint64_t seed = 0; trial_differs(&c->reference, trial) && seed < seeds_of(c, trial, seeds); seed++)
            for (uint32_t e = 0; e < (trial == TRIAL_EQUAL ? c->nequals : 1) && f.answer == ANSWER_PROVED; e++) {
                enum equals equals = trial == TRIAL_EQUAL ? c->equals[e] : EQUALS_FIRST;
                try_once(c, (struct trial_of_circuit){trial, seed, equals}, &f, &scratch, a);
            }
    arena_free(&scratch);
    if (f.answer == ANSWER_PROVED && f.elements == 0)
        f = (struct finding){.answer = ANSWER_NOT_COMPARED, .why = STR("the result is no number anywhere")};
    return f;
}

/* ---- answers ---- */

struct question_of_miter {
    struct miter_shapes shapes;
    struct arena *a;
    struct judgement *j;
    bool show; /* make the counterexample, too */
};

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
    struct arena scratch = {0};
    if (small->answer == ANSWER_DIFFERENT)
        try_once(c, small->at, &f, &scratch, a);
    arena_free(&scratch);
    return f.answer == ANSWER_DIFFERENT ? f : try_all(c, 1, a);
}

/* What small shapes said is checked in shapes that keep what constants may be tied to: the extents of reductions, then
 * all. False where neither can be evaluated. */
static bool check_in_own_shapes(struct question_of_miter *q, const struct finding *small) {
    for (int whole = 0; whole < 2; whole++) {
        struct circuit *c = arena_alloc(q->a, sizeof *c);
        struct str why = STR("");
        struct finding f = {.answer = ANSWER_NOT_COMPARED};
        if (whole ? shapes_own(&q->shapes, c, &why) : shapes_reduced(&q->shapes, shapes_own_cost, c, &why))
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
        struct str why = STR("");
        circuit_free(c);
        if (!shapes_small(&q->shapes, which, scale, cost, c, &why))
            return (struct finding){.answer = ANSWER_NOT_COMPARED, .why = why};
        f = try_all(c, *cost > few ? 1 : SEEDS, q->a);
    }
    return f;
}

static void judge(struct question_of_miter *q, bool thorough) {
    bool tied = has_tied_constants(&q->shapes.own.subgraph);
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

static struct judgement ask(struct str text, const struct pattern_set *lowerings, bool thorough, bool show,
                            struct arena *a) {
    struct question_of_miter *q = arena_alloc(a, sizeof *q);
    struct judgement j = {.answer = ANSWER_NOT_COMPARED};
    q->a = a;
    q->j = &j;
    q->show = show;
    if (shapes_read(&q->shapes, text, lowerings, a, &j.why))
        judge(q, thorough);
    shapes_free(&q->shapes);
    return j;
}

struct judgement miter_judge(struct str text, const struct pattern_set *lowerings, bool thorough, struct arena *a) {
    return ask(text, lowerings, thorough, false, a);
}

struct str miter_show(struct str text, const struct pattern_set *lowerings, struct arena *a) {
    return ask(text, lowerings, true, true, a).shown;
}
