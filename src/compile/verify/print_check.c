/* fusion_check.yml: what was found of each region as facts, and these as a document in YAML or JSON. */
#include "base/writer.h"
#include "compile/verify/verify.h"
#include "patterns/library/unchecked.h"
#include "proof/prove/verdict.h"
#include "report/place/segment.h"
#include "report/place/standalone.h"

/* ---- facts of a region ---- */

static uint32_t count_compute(const struct compared_region *r, const struct graph *g, int side) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->nops[side]; i++)
        n += op_computes(g, r->ops[side][i]);
    return n;
}

void check_segments(struct check *c, const struct compared_region *r, const struct level levels[SIDES],
                    struct arena *a) {
    for (int side = 0; side < SIDES; side++) {
        struct segment s = {&levels[side].ir, r->ops[side], r->nops[side]};
        struct buf text = {0}, lines = {0};
        segment_text(&s, &text);
        segment_lines(&s, &lines);
        c->segment[side] = buf_take(&text, a);
        c->lines[side] = buf_take(&lines, a);
    }
}

/* How large the difference is on random numbers, beside what the device's arithmetic costs anyway. */
static struct str effect_of(const struct stage_pair *p, const struct compared_region *r, const struct mlir *after,
                            struct arena *a) {
    struct device_error e = miter_error(r->own_types, p->lowerings, is_for_blackhole(after));
    double by_types = e.relative_l2[0], on_device = e.relative_l2[1];
    if (!e.known)
        return STR("");
    if (on_device == 0)
        return STR("none on random numbers: it shows on few numbers only");
    if (by_types == 0)
        return arena_printf(a, "on random numbers an error of %.2g, where rounding makes none", on_device);
    return arena_printf(a, "on random numbers an error of %.2g, where rounding makes %.2g%s", on_device, by_types,
                        on_device < 2 * by_types ? ": it shows on few numbers only" : "");
}

static void find_different(struct check *c, const struct stage_pair *p, const struct compared_region *r,
                           const struct level levels[SIDES], struct arena *a) {
    const struct graph *g = &levels[BEFORE].graph, *h = &levels[AFTER].graph;
    uint32_t op = fused_op_of(r, h);
    bool fusion = count_compute(r, h, AFTER) < count_compute(r, g, BEFORE);
    struct arena scratch = {0};
    c->kind = fusion ? CHECK_WRONG_FUSION : CHECK_WRONG_LOWERING;
    c->fused_op = op == NONE ? STR("none") : arena_str(a, mlir_op_name(h->m, op));
    c->pass = p->pass;
    c->ir_loc = op == NONE ? STR("") : arena_str(a, mlir_loc_text(h->m, op));
    if (op != NONE)
        c->unchecked = unchecked_text(
            p->lowerings, unchecked_of(p->lowerings, NULL, h->kind[op], g, r->ops[BEFORE], r->nops[BEFORE]), a);
    c->matters_for = arena_str(a, r->judgement.why.text);
    c->on_device = effect_of(p, r, h->m, a);
    c->counterexample = arena_str(a, miter_show(r->judgement.miter, p->lowerings, p->seed, &scratch));
    arena_free(&scratch);
}

static void find_freed(struct check *c, const struct stage_pair *p, const struct compared_region *r,
                       const struct level levels[SIDES], struct arena *a) {
    const struct mlir *m = levels[AFTER].graph.m;
    uint32_t op = r->ops[AFTER][1];
    c->kind = CHECK_USE_AFTER_DEALLOCATE;
    c->fused_op = arena_str(a, mlir_op_name(m, op));
    c->pass = p->pass;
    c->ir_loc = arena_str(a, mlir_loc_text(m, op));
}

/* What it would take to compare a region, by the kind of the reason why it was not. */
static const char *const needs[] = {
    [REASON_OTHER] = "",
    [REASON_NO_BODY] = "the function in TTIR or TTNN",
    [REASON_NO_EVALUATOR] = "what the op computes (lowering.yml, or an evaluator)",
    [REASON_TOO_MANY] = "a value between them that both modules have",
    [REASON_TOO_LARGE] = "smaller shapes of the same model",
    [REASON_COLLECTIVE] = "collectives along one axis of at most eight devices",
    [REASON_NOT_STATIC] = "static shapes",
    [REASON_FOREIGN_ARGUMENT] = "modules of one compile, with the same arguments",
};

void check_add(struct check_list *l, const struct check *c) {
    l->items = grow(l->items, &l->cap, l->n + 1, sizeof *l->items);
    l->items[l->n++] = *c;
}

void check_region(struct check_list *l, struct stage_pair *p, const struct compared_region *r,
                  const struct level levels[SIDES]) {
    struct check c = {.kind = CHECK_PROVED, .shapes = r->judgement.shapes, .bound = r->judgement.bound};
    struct arena *a = &p->arena;
    if (r->freed)
        find_freed(&c, p, r, levels, a);
    else if (r->judgement.answer == ANSWER_DIFFERENT)
        find_different(&c, p, r, levels, a);
    else if (r->judgement.answer == ANSWER_NOT_COMPARED)
        c = (struct check){CHECK_NOT_COMPARED, .reason = arena_str(a, r->judgement.why.text),
                           .needs = str_of(needs[r->judgement.why.kind])};
    else if (r->judgement.bends)
        c.because = STR("a constant is rounded: it rounds differently at the bend, where a comparison or clamp begins");
    check_segments(&c, r, levels, a);
    check_add(l, &c);
}

static void add_modules(struct check *c, const struct compared_region *r, const struct level levels[SIDES],
                        struct arena *a) {
    for (int side = 0; side < SIDES; side++) {
        struct segment s = {&levels[side].ir, r->ops[side], r->nops[side]};
        c->module[side] = standalone_module(&levels[side].graph, &s, a);
    }
}

static bool is_chosen(const char *globs, struct str name) {
    bool found = !globs;
    for (struct str rest = str_of(globs); rest.n && !found;)
        found = str_matches(name, str_item(&rest));
    return found;
}

/* In detail also what was not compared, and what is the same but for rounding. */
void check_pair(struct stage_pair *p, const struct module_comparison *m, const struct level levels[SIDES],
                const struct fa_verify_options *o) {
    static const enum answer listed[] = {ANSWER_DIFFERENT, ANSWER_NOT_COMPARED, ANSWER_PROVED};
    for (int k = 0; k < (o->details ? 3 : 1); k++)
        for (uint32_t i = 0; i < m->nregions; i++) {
            enum answer answer = listed[k];
            const struct compared_region *r = &m->regions[i];
            uint32_t op = fused_op_of(r, &levels[AFTER].graph);
            struct str name = op == NONE ? STR("none") : mlir_op_name(levels[AFTER].graph.m, op);
            if (!r->needed || r->judgement.answer != answer || !is_chosen(o->only, name) ||
                (answer == ANSWER_PROVED && r->judgement.bound == 0 && !r->judgement.bends))
                continue;
            p->ndifferences += answer == ANSWER_DIFFERENT;
            check_region(&p->checks, p, r, levels);
            if (o->modules)
                add_modules(&p->checks.items[p->checks.n - 1], r, levels, &p->arena);
        }
}

/* ---- the document ---- */

const char *const check_kinds[] = {"wrong_fusion", "wrong_lowering", "use_after_deallocate", "not_compared",
                                   "proved",       "copy",           "looked_through"};

static void write_check(struct writer *w, const struct check *c) {
    const struct {
        const char *key;
        struct str text;
        enum text_style style;
    } all[] = {{"fused_op", c->fused_op, TEXT_NAME},
               {"pass", c->pass, TEXT_NAME},
               {"ir_loc", c->ir_loc, TEXT_QUOTED},
               {"unchecked", c->unchecked, TEXT_QUOTED},
               {"matters_for", c->matters_for, TEXT_QUOTED},
               {"on_device", c->on_device, TEXT_QUOTED},
               {"counterexample", c->counterexample, TEXT_BLOCK},
               {"reason", c->reason, TEXT_QUOTED},
               {"needs", c->needs, TEXT_QUOTED},
               {"because", c->because, TEXT_QUOTED}};
    write_map(w);
    write_pair(w, "kind", str_of(check_kinds[c->kind]), TEXT_NAME);
    if (c->shapes)
        write_pair_number(w, "shapes", c->shapes);
    write_pair_positive(w, "bound", c->bound);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        write_pair_if_any(w, all[i].key, all[i].text, all[i].style);
    if (c->kind != CHECK_USE_AFTER_DEALLOCATE) {
        write_pair_if_any(w, "before_lines", c->lines[BEFORE], TEXT_QUOTED);
        write_pair(w, "before", c->segment[BEFORE], TEXT_BLOCK);
    }
    write_pair_if_any(w, "after_lines", c->lines[AFTER], TEXT_QUOTED);
    write_pair(w, "after", c->segment[AFTER], TEXT_BLOCK);
    write_close(w);
}

static void write_counts(struct writer *w, const char *key, const uint32_t answers[ANSWER_NOT_COMPARED + 1]) {
    write_map_at(w, key);
    write_pair_number(w, "ops", count_answers(answers));
    write_pair_number(w, "proved", answers[ANSWER_PROVED]);
    write_pair_number(w, "different", answers[ANSWER_DIFFERENT]);
    write_pair_number(w, "not_compared", answers[ANSWER_NOT_COMPARED]);
    write_close(w);
}

bool checks_print(const struct check_list *l, FILE *out) {
    struct writer w;
    write_begin(&w, MARKUP_YAML, out);
    write_list(&w);
    for (uint32_t i = 0; i < l->n; i++)
        write_check(&w, &l->items[i]);
    write_close(&w);
    return write_end(&w);
}

bool check_print(const struct fa_verification *v, enum markup markup, FILE *out) {
    struct writer w;
    write_document(&w, markup, out);
    write_map_at(&w, "input");
    write_pair(&w, v->paths[1] ? "before" : "log", str_of(v->paths[0]), TEXT_NAME);
    write_pair_if_any(&w, "after", str_of(v->paths[1]), TEXT_NAME);
    write_close(&w);
    write_map_at(&w, "compared");
    write_counts(&w, "before", v->answers[BEFORE]);
    write_counts(&w, "after", v->answers[AFTER]);
    write_close(&w);
    write_list_at(&w, "checks");
    for (uint32_t i = 0; i < v->npairs; i++)
        for (uint32_t k = 0; k < v->pairs[i].checks.n; k++)
            write_check(&w, &v->pairs[i].checks.items[k]);
    write_close(&w);
    write_close(&w);
    return write_end(&w);
}
