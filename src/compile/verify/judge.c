#include "compile/verify/judge.h"

#include "base/hash.h"
#include "compile/verify/circuit.h"
#include "ir/mlir/print.h"
#include "proof/elements/same.h"
#include "proof/elements/show.h"

/* Of extents_cost, in small extents and in those of the model: products in the device's arithmetic take some fifty
 * times as long as in f64. */
static const double small_cost = 1 << 18, own_cost = 1 << 24, own_device_cost = 1 << 21;

enum { MAX_PAYLOAD = 1 << 18, SAMPLES = 2 };

struct miter_question {
    struct circuit own; /* of the model */
    struct payloads payloads;
    struct judging how;
    struct arena *a;
};

static bool begin(struct miter_question *q, const struct mlir *miter, const struct pattern_set *lowerings,
                  struct arena *a, struct reason *why) {
    *q = (struct miter_question){.a = a};
    if (!miter || !circuit_of(&q->own, miter, lowerings, a, why))
        return false;
    payload_read(&q->own.subgraph, MAX_PAYLOAD, a, &q->payloads);
    return true;
}

/* For shapes_question.ask. */
static struct verdict ask(void *self, const struct sized *how) {
    struct miter_question *q = self;
    struct circuit *c = arena_alloc(q->a, sizeof *c);
    struct effort effort = {.seed = q->how.seed, .thorough = true, .whole = true, .samples = how->costly ? 1 : SAMPLES};
    struct verdict v = {.kind = VERDICT_NONE};
    if (circuit_resize(&q->own, &how->extents, &q->payloads, how->scaled, q->a, c, &v.why)) {
        c->problem.excluded = q->how.excluded;
        c->problem.bound = q->how.bound;
        c->problem.any_order = q->how.any_order;
        c->problem.choices = true;
        v = same_try(&c->problem, effort, q->a);
    }
    circuit_free(c);
    return v;
}

/* For shapes_question.in_both. */
static bool in_both(void *self, struct constant number) {
    const struct miter_question *q = self;
    return circuit_in_both(&q->own, number);
}

static struct shapes_question question_of(struct miter_question *q, double cost) {
    return (struct shapes_question){.subgraph = &q->own.subgraph,
                                    .payloads = &q->payloads,
                                    .small_cost = small_cost,
                                    .own_cost = cost,
                                    .ask = ask,
                                    .in_both = in_both,
                                    .self = q};
}

static struct str matters_for(enum trial t) {
    return t == TRIAL_MASKED_ROWS    ? STR("rows of which a mask hides everything (no key to attend to)")
           : t == TRIAL_MASKED       ? STR("masks that hide some scores")
           : t == TRIAL_THRESHOLDS   ? STR("numbers at or beyond a threshold that it compares with")
           : t == TRIAL_NEAR_EPSILON ? STR("numbers so small that an epsilon counts")
           : t == TRIAL_EQUAL        ? STR("equal elements")
           : t == TRIAL_NAN          ? STR("what is no number")
                                     : STR("");
}

static struct judgement judgement_of(const struct shapes_answer *all, bool thorough) {
    const struct verdict *v = &all->verdict;
    if (v->kind == VERDICT_SAME)
        return (struct judgement){
            .answer = ANSWER_PROVED, .shapes = all->shapes, .bound = v->rounding, .bends = v->bends};
    if (v->kind == VERDICT_NONE || !thorough)
        return (struct judgement){.answer = ANSWER_NOT_COMPARED, .agrees = v->agrees, .why = v->why};
    if (all->doubtful)
        return (struct judgement){.answer = ANSWER_NOT_COMPARED,
                                  .differs = true,
                                  .why = {STR("it differs in small shapes, and constants may be tied to larger "
                                              "ones, which cost too much"),
                                          REASON_TOO_LARGE}};
    return (struct judgement){.answer = ANSWER_DIFFERENT, .why.text = matters_for(v->at.trial)};
}

/* Some constant has elements that were not read: in small shapes they are any numbers. */
static bool has_unread_constant(const struct miter_question *q) {
    const struct graph *g = &q->own.graph;
    bool found = false;
    for (uint32_t i = 0; i < q->own.subgraph.ninputs; i++) {
        uint32_t v = q->own.subgraph.inputs[i], op = v == NONE ? NONE : g->m->values[v].def;
        found |= op != NONE && graph_class(g, op) == OP_CONSTANT && !graph_constant(g, v).known && !q->payloads.of[i];
    }
    return found;
}

/* What small shapes do not prove elements of both sides at the shapes of the model may. Nor is it a difference where
 * these agree: the small ones may have lost what it depends on. */
static void ask_at_own_shapes(struct miter_question *q, struct judgement *j) {
    struct effort effort = {.seed = q->how.seed, .thorough = true, .samples = SAMPLES};
    q->own.problem.excluded = q->how.excluded;
    q->own.problem.bound = q->how.bound;
    q->own.problem.choices = true;
    struct verdict v = same_try(&q->own.problem, effort, q->a);
    bool plain = v.at.trial == TRIAL_PLAIN || v.at.trial == TRIAL_POSITIVE, same = v.kind == VERDICT_SAME;
    if (v.kind == VERDICT_DIFFERENT && plain && j->differs)
        *j = (struct judgement){.answer = ANSWER_DIFFERENT};
    else if (same && j->answer == ANSWER_DIFFERENT && (!(v.few || v.dear) || has_unread_constant(q)))
        *j = (struct judgement){
            .answer = ANSWER_NOT_COMPARED,
            .agrees = true,
            .why.text = STR("it differs in small shapes, but not at its own, in the elements that were compared")};
    else if (same && j->answer == ANSWER_NOT_COMPARED && !v.dear && !(v.few && j->differs))
        *j = (struct judgement){.answer = ANSWER_PROVED, .shapes = 1, .bound = v.rounding, .bends = v.bends};
}

static struct judgement judge(const struct mlir *miter, const struct pattern_set *lowerings, struct judging how,
                              struct arena *a) {
    struct miter_question *q = arena_alloc(a, sizeof *q);
    struct judgement j = {.answer = ANSWER_NOT_COMPARED};
    if (begin(q, miter, lowerings, a, &j.why)) {
        q->how = how;
        struct shapes_question shapes = question_of(q, how.thorough ? own_cost : 0);
        struct shapes_answer all = equal_in_shapes(&shapes);
        j = judgement_of(&all, how.thorough);
        bool unconfirmed = how.confirmed && j.answer == ANSWER_DIFFERENT;
        if (!how.any_order && j.answer == ANSWER_PROVED && q->own.problem.ninputs == 0)
            j = (struct judgement){.answer = ANSWER_NOT_COMPARED,
                                   .agrees = true,
                                   .why.text = STR("constants that are the same in small shapes only")};
        if (how.thorough && !how.any_order && (j.agrees || j.differs || unconfirmed))
            ask_at_own_shapes(q, &j);
    }
    circuit_free(&q->own);
    return j;
}

struct judged_miter {
    UT_hash_handle hh;
    struct str key;
    struct judgement judgement;
};

static struct str key_of(const struct mlir *miter, struct judging how, struct arena *a) {
    struct buf key = {0};
    buf_printf(&key, "%llu %a %u %d%d%d ", (unsigned long long)how.seed, how.bound, how.excluded, how.thorough,
               how.any_order, how.confirmed);
    buf_add(&key, mlir_key(miter, a));
    return buf_take(&key, a);
}

struct judgement miter_judge(struct judged *known, const struct mlir *miter, const struct pattern_set *lowerings,
                             struct judging how) {
    struct arena scratch = {0};
    struct judged_miter *k = NULL;
    struct str key = key_of(miter, how, &scratch);
    HASH_FIND(hh, known->all, key.p, key.n, k);
    if (!k) {
        k = arena_alloc(&known->arena, sizeof *k);
        *k = (struct judged_miter){.key = arena_str(&known->arena, key),
                                   .judgement = judge(miter, lowerings, how, &scratch)};
        k->judgement.why.text = arena_str(&known->arena, k->judgement.why.text);
        HASH_ADD_KEYPTR(hh, known->all, k->key.p, k->key.n, k);
    }
    arena_free(&scratch);
    return k->judgement;
}

void judged_free(struct judged *known) {
    HASH_CLEAR(hh, known->all);
    arena_free(&known->arena);
}

/* In small shapes, with the constants that it has. */
static struct verdict ask_as_it_is(const struct shapes_question *shapes, struct sized *at) {
    struct verdict none = {.kind = VERDICT_NONE};
    at->scaled = at->costly = false;
    return shapes_choose(shapes, false, small_cost, &at->extents, &none.why) ? ask(shapes->self, at) : none;
}

struct str miter_show(const struct mlir *miter, const struct pattern_set *lowerings, uint64_t seed, struct arena *a) {
    struct miter_question *q = arena_alloc(a, sizeof *q);
    struct circuit *c = arena_alloc(a, sizeof *c);
    struct str shown = STR("");
    struct reason why;
    if (begin(q, miter, lowerings, a, &why)) {
        q->how.seed = seed;
        struct shapes_question shapes = question_of(q, own_cost);
        struct shapes_answer all = equal_in_shapes(&shapes);
        if (all.verdict.kind != VERDICT_DIFFERENT)
            all.verdict = ask_as_it_is(&shapes, &all.at);
        if (all.verdict.kind == VERDICT_DIFFERENT &&
            circuit_resize(&q->own, &all.at.extents, &q->payloads, all.at.scaled, a, c, &why))
            shown = same_show(&c->problem, &all.verdict, c->names, a);
        circuit_free(c);
    }
    circuit_free(&q->own);
    return shown;
}

struct device_error miter_error(const struct mlir *miter, const struct pattern_set *lowerings, bool blackhole) {
    struct arena scratch = {0};
    struct miter_question *q = arena_alloc(&scratch, sizeof *q);
    struct circuit *c = arena_alloc(&scratch, sizeof *c);
    struct extents *e = arena_alloc(&scratch, sizeof *e);
    struct device_error error = {.known = false};
    struct reason why;
    if (begin(q, miter, lowerings, &scratch, &why)) {
        struct shapes_question shapes = question_of(q, own_cost);
        if ((shapes_choose(&shapes, true, own_device_cost, e, &why) ||
             shapes_choose(&shapes, false, small_cost, e, &why)) &&
            circuit_resize(&q->own, e, &q->payloads, false, &scratch, c, &why))
            error = device_error_of(&c->problem, blackhole, false);
        circuit_free(c);
    }
    circuit_free(&q->own);
    arena_free(&scratch);
    return error;
}
