/* Judges one value. Where no candidate is proved, it stays inside of larger cones. Where these are not proved either,
 * but would be if it were its candidate, the difference is there: it is assumed to be the candidate from then on. */
#include "compile/verify/value.h"

#include <stdlib.h>

#include "compile/verify/miter.h"
#include "proof/reduce/subgraph.h"

enum { MAX_LIFT = 64, MAX_AGAIN = 2, MAX_THOROUGH = 4, MAX_REJOINED = 48, MAX_GROWN = 64 };

/* ---- regions ---- */

static struct judging judging_of(const struct sweep *s, bool thorough) {
    return (struct judging){.seed = s->m->what.seed, .excluded = s->m->what.excluded, .thorough = thorough};
}

static bool has_call(const struct dag *d, const struct cone_pair *c) {
    bool found = false;
    for (uint32_t i = 0; i < c->nnodes && !found; i++)
        found = dag_class(d, c->nodes[i]) == OP_CALL;
    return found;
}

/* The module, for as long as the comparison. */
static const struct mlir *keep_miter(struct module_comparison *m, struct miter *w) {
    struct mlir *kept = arena_alloc(&m->arena, sizeof *kept);
    *kept = w->ir;
    w->ir = (struct mlir){0};
    m->miters = grow(m->miters, &m->miters_cap, m->nmiters + 1, sizeof *m->miters);
    m->miters[m->nmiters++] = kept;
    return kept;
}

/* The miter is to be freed. */
static struct judgement judge_miter(struct sweep *s, const struct cone_pair *c, struct miter_options form,
                                    struct judging how, struct miter *w) {
    struct judgement j = {.answer = ANSWER_NOT_COMPARED};
    return miter_build(c, &s->d, form, w, &j.why) ? miter_judge(&s->m->judged, &w->ir, s->m->lowerings, how) : j;
}

/* Also where it is proved with every gelu in the form with tanh. */
static struct judgement judge(struct sweep *s, const struct cone_pair *c, struct judging how) {
    struct miter w, other = {.has_gelu = false};
    struct judgement j = judge_miter(s, c, (struct miter_options){0}, how, &w), with_tanh = j;
    if (w.has_gelu && j.answer != ANSWER_PROVED)
        with_tanh = judge_miter(s, c, (struct miter_options){.tanh_gelu = true}, how, &other);
    j = with_tanh.answer == ANSWER_PROVED ? with_tanh : j;
    mlir_free(&other.ir);
    if (j.answer == ANSWER_DIFFERENT)
        j.miter = keep_miter(s->m, &w);
    if (j.answer == ANSWER_NOT_COMPARED && has_call(&s->d, c))
        j.why = (struct reason){STR("no evaluator for call: the function has no body, or one in another dialect"),
                                REASON_NO_BODY};
    j.why.text = arena_str(&s->m->arena, j.why.text);
    mlir_free(&w.ir);
    return j;
}

static struct judgement judge_cone(struct sweep *s, const struct cone_pair *c, bool thorough) {
    return judge(s, c, judging_of(s, thorough));
}

/* Before a difference is told. */
static struct judgement judge_confirmed(struct sweep *s, const struct cone_pair *c) {
    struct judging how = judging_of(s, true);
    how.confirmed = true;
    return judge(s, c, how);
}

static uint32_t *copy_ids(struct arena *a, const uint32_t *ids, uint32_t n) {
    uint32_t *to = arena_alloc(a, (n + (size_t)1) * sizeof *to);
    if (n)
        memcpy(to, ids, n * sizeof *to);
    return to;
}

/* NULL: there is none. */
static const struct mlir *miter_in_own_types(struct sweep *s, const struct cone_pair *c) {
    struct miter w;
    struct reason why;
    const struct mlir *kept = NULL;
    if (miter_build(c, &s->d, (struct miter_options){.in_own_types = true}, &w, &why))
        kept = keep_miter(s->m, &w);
    mlir_free(&w.ir);
    return kept;
}

static void set_region(struct sweep *s, struct compared_region *r, const struct cone_pair *c, struct judgement j) {
    struct arena *a = &s->m->arena;
    *r = (struct compared_region){.judgement = j, .nnodes = c->nnodes, .nleaves = c->nleaves};
    memcpy(r->result, c->result, sizeof r->result);
    r->moved = c->moved;
    r->in_own_type = c->in_own_type;
    if (j.answer == ANSWER_DIFFERENT)
        r->own_types = miter_in_own_types(s, c);
    r->nodes = copy_ids(a, c->nodes, c->nnodes);
    r->leaves = copy_ids(a, c->leaves, c->nleaves);
    for (int side = 0; side < SIDES; side++)
        r->ops[side] = arena_alloc(a, (c->nnodes + (size_t)1) * sizeof *r->ops[side]);
    for (uint32_t i = 0; i < c->nnodes; i++) {
        const struct dag_node *n = &s->d.nodes[c->nodes[i]];
        r->ops[n->side][r->nops[n->side]++] = n->op;
    }
    for (int side = 0; side < SIDES; side++)
        sort_ids(r->ops[side], r->nops[side]);
}

static struct cone_pair cone_of_region(const struct compared_region *r) {
    return (struct cone_pair){
        .result = {r->result[BEFORE], r->result[AFTER]}, .moved = r->moved, .in_own_type = r->in_own_type};
}

static uint32_t keep_region(struct sweep *s, const struct cone_pair *c, struct judgement j) {
    struct module_comparison *m = s->m;
    m->regions = grow(m->regions, &m->regions_cap, m->nregions + 1, sizeof *m->regions);
    set_region(s, &m->regions[m->nregions], c, j);
    return m->nregions++;
}

/* ---- one value ---- */

/* What agrees although a part of it differs on few numbers may not have had these: it differs again in a larger cone.
 */
static bool differs_again(struct sweep *s, const struct cone_pair *c, enum merge least) {
    struct cone_pair *larger = arena_alloc(&s->arena, sizeof *larger);
    enum answer answer = ANSWER_PROVED;
    *larger = *c;
    for (int i = 0; i < MAX_AGAIN && answer != ANSWER_DIFFERENT && cone_grow(larger, &s->d, least); i++)
        answer = judge_cone(s, larger, true).answer;
    return answer == ANSWER_DIFFERENT;
}

/* What differs may do so since inputs are not independent: one is made of another, or two are equal. Then what makes
 * them is part of the cone. The smallest cone that is proved is left in `c`, or else the one that was given. One that
 * is large already is made of values that are not proved, and a larger one tells no more. */
static struct judgement judge_grown(struct sweep *s, struct cone_pair *c, enum merge least, int most) {
    struct judgement first = judge_cone(s, c, false), j = first;
    struct cone_pair *larger = arena_alloc(&s->arena, sizeof *larger);
    *larger = *c;
    for (int i = 0; i < most && j.answer != ANSWER_PROVED && larger->nnodes <= MAX_GROWN; i++) {
        if (!cone_grow(larger, &s->d, least))
            break;
        j = judge_cone(s, larger, false);
    }
    if (j.answer != ANSWER_PROVED || (first.answer != ANSWER_PROVED && differs_again(s, larger, least)))
        return first;
    *c = *larger;
    return j;
}

static void leave_undecided(struct compared_region *r, struct str why) {
    r->judgement.answer = ANSWER_NOT_COMPARED;
    r->judgement.differs = true;
    r->judgement.why = (struct reason){.text = why};
}

/* How a candidate is tried: `least`, of inputs, and how many layers the cone may grow by; or THOROUGHLY, as it is. */
enum { MAX_GROWTH = 5, THOROUGHLY = -1 };

/* Merges a value with a candidate where they are proved to be the same. Else the reason, or what is different, is in
 * `j` and the cone in `c`. `anew`: also where that makes no other inputs than a surer attempt. */
static bool try_candidate(struct sweep *s, uint32_t after, struct merge_candidate x, enum merge least, int growth,
                          bool anew, struct cone_pair *c, struct judgement *j) {
    *c = (struct cone_pair){.result = {x.before, after}, .moved = x.moved, .in_own_type = x.in_own_type};
    *j = (struct judgement){.answer = ANSWER_NOT_COMPARED};
    if (!cone_build(c, &s->d, least))
        j->why = c->why;
    else if (growth >= 0 && growth < MAX_GROWTH && c->nnodes > MAX_GROWN)
        return false; /* of another layer, for all that is known */
    else if (anew || c->weakest == least)
        *j = growth == THOROUGHLY ? judge_cone(s, c, true) : judge_grown(s, c, least, growth);
    if (j->answer != ANSWER_PROVED)
        return false;
    s->region_of[after] = keep_region(s, c, *j);
    for (uint32_t i = 0; i < c->nleaves; i++)
        s->fits[c->leaves[i]] = true;
    dag_merge(&s->d, after, x.before, x.moved, c->weakest == PROVED ? PROVED : CONDITIONAL);
    return true;
}

/* Merges a value with a candidate where that takes a thorough look, or else keeps the region in which the first one is
 * not proved: a difference is beyond doubt where no candidate fits, whether or not others are what they are guessed to
 * be. */
static bool look_thoroughly(struct sweep *s, uint32_t after, const struct merge_candidate *all, uint32_t n,
                            uint32_t *region) {
    struct cone_pair *c = arena_alloc(&s->arena, sizeof *c), *other = arena_alloc(&s->arena, sizeof *other);
    struct judgement j = {.answer = ANSWER_NOT_COMPARED}, k;
    bool refuted = true;
    for (uint32_t i = 0; i < n && i < MAX_THOROUGH; i++) {
        if (try_candidate(s, after, all[i], CONDITIONAL, THOROUGHLY, true, i == 0 ? c : other, i == 0 ? &j : &k))
            return true;
        refuted &= (i == 0 ? &j : &k)->answer == ANSWER_DIFFERENT;
    }
    if (try_candidate(s, after, all[0], GUESSED, THOROUGHLY, false, other, &k))
        return true;
    if (c->weakest != PROVED) {
        if (try_candidate(s, after, all[0], PROVED, THOROUGHLY, true, other, &k))
            return true;
        refuted &= k.answer == ANSWER_DIFFERENT;
    }
    *region = keep_region(s, c, j);
    s->m->regions[*region].doubtful = !refuted;
    return false;
}

/* Each as it is, since one that is proved so is seen at once, and only then what makes the inputs as well. */
static bool prove_value(struct sweep *s, uint32_t after, const struct merge_candidate *all, uint32_t n) {
    struct cone_pair *c = arena_alloc(&s->arena, sizeof *c);
    struct judgement j;
    for (enum merge least = PROVED; least > NOT_MERGED; least--)
        for (uint32_t k = n > 1 ? 0 : 1; k < 2 * n; k++) {
            int growth = k < n ? 0 : k == n ? MAX_GROWTH : 1;
            if (try_candidate(s, after, all[k % n], least, growth, least == PROVED, c, &j))
                return true;
        }
    return false;
}

/* Of candidates that all differ the one is likeliest that is made of the same: a convolution with its bias. */
static void put_likeliest_first(struct sweep *s, uint32_t after, struct merge_candidate *all, uint32_t n) {
    struct cone_pair *c = arena_alloc(&s->arena, sizeof *c);
    uint32_t best = 0, least = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        *c = (struct cone_pair){.result = {all[i].before, after}, .moved = all[i].moved};
        uint32_t alone = cone_build(c, &s->d, CONDITIONAL) ? cone_one_sided_inputs(c) : UINT32_MAX;
        best = alone < least ? i : best;
        least = alone < least ? alone : least;
    }
    struct merge_candidate likeliest = all[best];
    memmove(all + 1, all, best * sizeof *all);
    all[0] = likeliest;
}

/* The op moves data: one that is merged with nothing stays inside of larger cones. */
static bool only_moves(const struct dag *d, uint32_t value) {
    return signature_source(dag_graph(d, value), d->values[value].value) != d->values[value].value;
}

/* ---- one value of any kind ---- */

void value_compare(struct sweep *s, uint32_t after) {
    struct merge_candidate all[MAX_CANDIDATES];
    uint32_t n = candidates_of(&s->candidates, after, all);
    if (prove_value(s, after, all, n))
        return;
    if (n == 0 || only_moves(&s->d, after))
        return;
    put_likeliest_first(s, after, all, n);
    if (!look_thoroughly(s, after, all, n, &s->region_of[after]))
        dag_merge(&s->d, after, all[0].before, all[0].moved, GUESSED);
}

/* What does the same as in BEFORE to values that are guessed may be proved whatever these are: where a guard leaves out
 * what differs. */
static void prove_twin(struct sweep *s, uint32_t value) {
    struct merge_candidate x = {.before = s->d.values[value].rep};
    struct cone_pair *c = arena_alloc(&s->arena, sizeof *c);
    struct judgement j;
    *c = (struct cone_pair){.result = {x.before, value}};
    if (s->d.values[value].merged < PROVED && cone_build(c, &s->d, PROVED) && c->nnodes <= MAX_REJOINED)
        (void)try_candidate(s, value, x, PROVED, 0, true, c, &j);
}

void value_compare_twin(struct sweep *s, uint32_t node) {
    const struct dag_node *x = &s->d.nodes[node];
    for (uint32_t i = 0; i < x->nresults; i++)
        prove_twin(s, x->first_result + i);
}

/* ---- results ---- */

/* The type of one value holds what the other is, but for the rounding of floats. */
static bool holds_all(const struct dag *d, uint32_t value, uint32_t other) {
    enum dtype to = graph_dtype(dag_graph(d, value), d->values[value].value),
               from = graph_dtype(dag_graph(d, other), d->values[other].value);
    return from == to || from == DT_I1 || (format_is_float(from) && format_is_float(to)) ||
           (format_is_integer(from) && format_is_integer(to) && dtype_table[to].bits > dtype_table[from].bits);
}

uint32_t value_compare_result(struct sweep *s, uint32_t after, uint32_t before) {
    struct dag_value was = s->d.values[after];
    uint32_t region = s->region_of[after], found;
    struct merge_candidate x = {.before = before, .in_own_type = true};
    if (was.rep == before && was.merged >= CONDITIONAL && !was.moved.rank && holds_all(&s->d, after, before))
        return NONE;
    if (prove_value(s, after, &x, 1) || look_thoroughly(s, after, &x, 1, &found))
        found = s->region_of[after];
    dag_part(&s->d, after, &was);
    s->region_of[after] = region;
    return found;
}

/* Proved where a mask is what makes it, also in larger cones: a row of which all is hidden may not be there. */
static bool holds_for_masks(struct sweep *s, struct compared_region *r) {
    struct cone_pair *c = arena_alloc(&s->arena, sizeof *c);
    struct judgement j = {.answer = ANSWER_NOT_COMPARED};
    *c = cone_of_region(r);
    if (cone_build(c, &s->d, CONDITIONAL) && cone_grow_masks(c, &s->d, CONDITIONAL))
        j = judge_cone(s, c, true);
    if (j.answer != ANSWER_PROVED || differs_again(s, c, CONDITIONAL))
        return false;
    set_region(s, r, c, j);
    return true;
}

/* What differs on values that both have may never do so: the values themselves may not be arbitrary. The region grows
 * to the arguments of the function, or as far as it can be evaluated, which decides; but not where one side is made of
 * a value that the other does not know, and what makes it cannot be evaluated. Returns the miter of the largest region;
 * NULL where that does not differ or is not evaluated. */
static const struct mlir *lift_difference(struct sweep *s, struct compared_region *r) {
    struct cone_pair *c = arena_alloc(&s->arena, sizeof *c), *agrees = arena_alloc(&s->arena, sizeof *agrees);
    struct judgement j = r->judgement, proved = {.answer = ANSWER_NOT_COMPARED};
    enum merge least = PROVED;
    *c = cone_of_region(r);
    bool lifted = cone_build(c, &s->d, CONDITIONAL) && cone_foreign_are_free(c, &s->d, &s->arena);
    bool larger = cone_build(c, &s->d, least) || cone_build(c, &s->d, least = CONDITIONAL);
    lifted &= !has_call(&s->d, c);
    for (int level = 1, next = 1; larger && level <= MAX_LIFT; level++) {
        if (j.answer == ANSWER_NOT_COMPARED)
            break;
        larger = cone_grow_to_shared(c, &s->d, least);
        bool shared = !c->why.text.n && !cone_has_foreign_input(c, &s->d), last = !larger && !c->why.text.n;
        if (level == next || last || (shared && !lifted)) {
            j = c->why.text.n ? j : judge_confirmed(s, c);
            lifted |= shared && j.answer == ANSWER_DIFFERENT;
            next = 2 * level;
        }
        if (j.answer == ANSWER_PROVED && proved.answer != ANSWER_PROVED) { /* it may differ again, as above */
            proved = j;
            *agrees = *c;
        }
    }
    if (j.answer != ANSWER_DIFFERENT && proved.answer == ANSWER_PROVED)
        set_region(s, r, agrees, proved);
    else if (j.agrees)
        leave_undecided(r, j.why.text);
    else if (!lifted)
        leave_undecided(r, STR("it differs on values that may depend on one another, and how cannot be evaluated"));
    arena_reset(&s->arena);
    return r->judgement.answer == ANSWER_DIFFERENT ? j.miter : NULL;
}

/* Some result of the function, which is the same one on both sides in whatever order its elements are. */
static bool some_result_differs(struct sweep *s) {
    bool differs = false;
    for (uint32_t i = 0; i < s->d.side[AFTER].noutputs && !differs; i++) {
        uint32_t after = s->d.side[AFTER].outputs[i], before = s->d.side[BEFORE].outputs[i];
        struct cone_pair *c = arena_alloc(&s->arena, sizeof *c);
        struct compared_region r = {.result = {before, after}, .in_own_type = true};
        if (after == NONE || before == NONE)
            continue;
        *c = cone_of_region(&r);
        if (cone_build(c, &s->d, PROVED))
            r.judgement = judge_cone(s, c, true);
        if (r.judgement.answer == ANSWER_DIFFERENT)
            (void)lift_difference(s, &r);
        differs = r.judgement.answer == ANSWER_DIFFERENT;
    }
    arena_reset(&s->arena);
    return differs;
}

/* Both have the same elements in another order, which is none of the candidates' and which no result shows. */
static bool is_moved_otherwise(struct sweep *s, const struct mlir *miter) {
    struct judging how = judging_of(s, true);
    how.any_order = true;
    bool same = miter_judge(&s->m->judged, miter, s->m->lowerings, how).answer == ANSWER_PROVED;
    return same && !some_result_differs(s);
}

/* The compiler computed it, or a constant that it takes, and all that the results differ by is what rounding in their
 * formats makes: of a sample, and then of all. */
static bool is_folded(struct sweep *s, const struct compared_region *r, const struct cone_pair *c) {
    if (c->ninputs && !cone_has_table_of_one_side(c, &s->d))
        return false;
    struct judging how = judging_of(s, true);
    struct device_error e = miter_error(r->own_types, s->m->lowerings, false);
    how.bound = e.known ? 2 * e.relative_l2[BEFORE] : 0;
    return how.bound > 0 && e.relative_l2[AFTER] <= how.bound && judge(s, c, how).answer == ANSWER_PROVED;
}

/* No result is this value, and each value that an op makes of it is proved, whatever it is. */
static bool is_made_good(struct sweep *s, uint32_t after, struct judgement *j) {
    const struct dag_side *a = &s->d.side[AFTER];
    struct cone_pair *c = arena_alloc(&s->arena, sizeof *c);
    bool good = !has_id(a->outputs, a->noutputs, after), any = false;
    for (uint32_t node = a->first_node; node < a->end_node && good; node++) {
        const struct dag_node *x = &s->d.nodes[node];
        bool uses = s->reached[node] && has_id(dag_operands(&s->d, node), x->noperands, after);
        for (uint32_t i = 0; i < x->nresults && uses && good; i++) {
            uint32_t value = x->first_result + i;
            *c = (struct cone_pair){.result = {s->d.values[value].rep, value}, .moved = s->d.values[value].moved};
            good = c->result[BEFORE] != NONE && cone_build(c, &s->d, PROVED);
            if (good)
                *j = judge_cone(s, c, true);
            good = good && j->answer == ANSWER_PROVED;
            any = true;
        }
    }
    return good && any;
}

/* A difference from what the value may not have to be is none: not where other candidates cannot be told, and nothing
 * that is made of the value is proved with the first one in its place. */
static void settle_difference(struct sweep *s, struct compared_region *r) {
    const struct mlir *miter;
    struct judgement good;
    struct cone_pair *c = arena_alloc(&s->arena, sizeof *c);
    *c = cone_of_region(r);
    bool built = cone_build(c, &s->d, CONDITIONAL);
    if (built && cone_has_elided_constant(c, &s->d))
        leave_undecided(r, STR("it depends on a constant whose elements the text leaves out"));
    else if (built && cone_reads_unwritten(c, &s->d))
        leave_undecided(r, STR("it depends on memory that nothing has written"));
    else if (built && is_folded(s, r, c))
        r->judgement = (struct judgement){.answer = ANSWER_PROVED, .shapes = 1};
    else if (is_made_good(s, r->result[AFTER], &good))
        r->judgement = good;
    else if (built && (good = judge_confirmed(s, c)).answer == ANSWER_PROVED)
        set_region(s, r, c, good);
    else if (built && good.answer == ANSWER_NOT_COMPARED)
        leave_undecided(r, good.why.text);
    else if (r->doubtful && !s->fits[r->result[AFTER]])
        leave_undecided(r, STR("it differs from one of the values that it may be, and others cannot be told"));
    else if (!holds_for_masks(s, r) && (miter = lift_difference(s, r)) && is_moved_otherwise(s, miter))
        leave_undecided(r, STR("it has the same elements in another order, which nothing tells"));
}

void value_settle(struct sweep *s, uint32_t region) {
    struct compared_region *r = &s->m->regions[region];
    if (r->judgement.answer == ANSWER_DIFFERENT)
        settle_difference(s, r);
}
