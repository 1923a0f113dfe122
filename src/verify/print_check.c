/* fusion_check.yml, written as text: block literals for what is verbatim, JSON strings for the rest. */
#include <json-c/json.h>

#include "base/utf8.h"
#include "base/writer.h"
#include "place/segment.h"
#include "prove/verdict.h"
#include "verify/unchecked.h"
#include "verify/verify.h"

/* `key: "text"`. */
static void put_text(struct buf *out, const char *indent, const char *key, struct str text) {
    struct buf scratch = {0};
    struct str clean = utf8_repair(text, &scratch);
    json_object *j = json_object_new_string_len(clean.p ? clean.p : "", (int)clean.n);
    buf_printf(out, "%s%s: %s\n", indent, key,
               j ? json_object_to_json_string_ext(j, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE) : "\"\"");
    json_object_put(j);
    buf_free(&scratch);
}

/* `key: |` and the lines, where a literal block keeps them as they are. */
static void put_block(struct buf *out, const char *indent, const char *key, struct str text) {
    struct buf scratch = {0};
    struct str clean = utf8_repair(text, &scratch);
    if (!is_literal_text(clean) || clean.n == 0 || clean.p[clean.n - 1] != '\n') {
        put_text(out, indent, key, clean);
    } else {
        buf_printf(out, "%s%s: |\n", indent, key);
        while (clean.n > 0) {
            struct str line = str_line(&clean);
            buf_printf(out, "%s  %.*s\n", indent, (int)line.n, line.p);
        }
    }
    buf_free(&scratch);
}

static bool is_chosen(const char *globs, struct str name) {
    bool found = !globs;
    for (struct str rest = str_of(globs); rest.n && !found;)
        found = str_matches(name, str_item(&rest));
    return found;
}

static uint32_t count_compute(const struct compared_region *r, const struct graph *g, int side) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->nops[side]; i++)
        n += op_computes(g, r->ops[side][i]);
    return n;
}

static void put_segment(struct buf *out, const struct compared_region *r, const struct level levels[SIDES], int side) {
    static const char *const keys[] = {"before", "after"};
    struct segment s = {&levels[side].ir, r->ops[side], r->nops[side]};
    struct buf text = {0};
    segment_text(&s, &text);
    put_block(out, "    ", keys[side], buf_str(&text));
    buf_free(&text);
}

void print_segments(struct buf *out, const struct compared_region *r, const struct level levels[SIDES]) {
    for (int side = 0; side < SIDES; side++)
        put_segment(out, r, levels, side);
}

/* How large the difference is on random numbers, beside what the device's arithmetic costs anyway. */
static void put_effect(struct buf *out, const struct stage_pair *p, const struct compared_region *r,
                       const struct mlir *after) {
    struct device_error e = miter_error(r->own_types, p->lowerings, is_for_blackhole(after));
    double by_types = e.relative_l2[0], on_device = e.relative_l2[1];
    char text[160], rounding[64] = "none";
    if (!e.known)
        return;
    if (by_types > 0)
        snprintf(rounding, sizeof rounding, "%.2g%s", by_types,
                 on_device < 2 * by_types ? ": it shows on few numbers only" : "");
    snprintf(text, sizeof text, "on random numbers an error of %.2g, where rounding makes %s", on_device, rounding);
    if (on_device == 0)
        snprintf(text, sizeof text, "none on random numbers: it shows on few numbers only");
    put_text(out, "    ", "on_device", str_of(text));
}

static void put_different(struct buf *out, const struct stage_pair *p, const struct compared_region *r,
                          const struct level levels[SIDES]) {
    const struct graph *g = &levels[BEFORE].graph, *h = &levels[AFTER].graph;
    uint32_t op = fused_op_of(r, h);
    struct str name = op == NONE ? STR("none") : mlir_op_name(h->m, op);
    bool fusion = count_compute(r, h, AFTER) < count_compute(r, g, BEFORE);
    buf_printf(out, "  - kind: %s\n", fusion ? "wrong_fusion" : "wrong_lowering");
    put_text(out, "    ", "fused_op", name);
    if (p->pass.n)
        put_text(out, "    ", "pass", p->pass);
    if (op != NONE)
        put_text(out, "    ", "ir_loc", mlir_loc_text(h->m, op));
    struct str unchecked = unchecked_condition(g, r->ops[BEFORE], r->nops[BEFORE], h, op);
    if (unchecked.n)
        put_text(out, "    ", "unchecked", unchecked);
    if (r->judgement.why.n)
        put_text(out, "    ", "matters_for", r->judgement.why);
    put_effect(out, p, r, h->m);
    struct arena scratch = {0};
    put_block(out, "    ", "counterexample", miter_show(r->judgement.miter, p->lowerings, &scratch));
    arena_free(&scratch);
    print_segments(out, r, levels);
}

static void put_freed(struct buf *out, const struct stage_pair *p, const struct compared_region *r,
                      const struct level levels[SIDES]) {
    const struct mlir *m = levels[AFTER].graph.m;
    uint32_t op = r->ops[AFTER][1];
    buf_printf(out, "  - kind: use_after_deallocate\n");
    put_text(out, "    ", "fused_op", mlir_op_name(m, op));
    if (p->pass.n)
        put_text(out, "    ", "pass", p->pass);
    put_text(out, "    ", "ir_loc", mlir_loc_text(m, op));
    put_segment(out, r, levels, AFTER);
}

/* What it would take to compare a region. */
static const char *needs(struct str why) {
    static const char *const known[][2] = {
        {"no evaluator for call", "the function in TTIR or TTNN"},
        {"no evaluator", "what the op computes (lowering.yml, or an evaluator)"},
        {"too many", "a value between them that both modules have"},
        {"too large", "smaller shapes of the same model"},
        {"cost too much", "smaller shapes of the same model"},
        {"small enough", "smaller shapes of the same model"},
        {"collective", "collectives along one axis of at most eight devices"},
        {"static", "static shapes"},
        {"argument that only one", "modules of one compile, with the same arguments"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_find(why, str_of(known[i][0])))
            return known[i][1];
    return NULL;
}

static void put_not_compared(struct buf *out, const struct compared_region *r, const struct level levels[SIDES]) {
    const char *needed = needs(r->judgement.why);
    buf_add(out, STR("  - kind: not_compared\n"));
    put_text(out, "    ", "reason", r->judgement.why);
    if (needed)
        put_text(out, "    ", "needs", str_of(needed));
    print_segments(out, r, levels);
}

static void put_proved(struct buf *out, const struct compared_region *r, const struct level levels[SIDES]) {
    buf_printf(out, "  - kind: proved\n    shapes: %u\n", r->judgement.shapes);
    if (r->judgement.bound > 0)
        buf_printf(out, "    bound: %.2g # relative; the rounding of constants explains it\n", r->judgement.bound);
    print_segments(out, r, levels);
}

void print_region(struct buf *out, const struct stage_pair *p, const struct compared_region *r,
                  const struct level levels[SIDES]) {
    if (r->freed)
        put_freed(out, p, r, levels);
    else if (r->judgement.answer == ANSWER_DIFFERENT)
        put_different(out, p, r, levels);
    else if (r->judgement.answer == ANSWER_NOT_COMPARED)
        put_not_compared(out, r, levels);
    else
        put_proved(out, r, levels);
}

void print_entries(struct stage_pair *p, const struct module_comparison *m, const struct level levels[SIDES],
                   const struct fa_verify_options *o) {
    for (int answer = ANSWER_DIFFERENT; answer <= (o->details ? ANSWER_NOT_COMPARED : ANSWER_DIFFERENT); answer++)
        for (uint32_t i = 0; i < m->nregions; i++) {
            const struct compared_region *r = &m->regions[i];
            uint32_t op = fused_op_of(r, &levels[AFTER].graph);
            struct str name = op == NONE ? STR("none") : mlir_op_name(levels[AFTER].graph.m, op);
            if (!r->needed || (int)r->judgement.answer != answer || !is_chosen(o->only, name))
                continue;
            p->ndifferences += answer == ANSWER_DIFFERENT;
            print_region(&p->report, p, r, levels);
        }
}

static void put_counts(struct buf *out, const struct fa_verification *v, int side) {
    buf_printf(out, "  %s: {ops: %u, proved: %u, different: %u, not_compared: %u}\n",
               side == AFTER ? "after" : "before", count_answers(v->answers[side]), v->answers[side][ANSWER_PROVED],
               v->answers[side][ANSWER_DIFFERENT], v->answers[side][ANSWER_NOT_COMPARED]);
}

void print_check(struct fa_verification *v) {
    struct buf *out = &v->report;
    bool any = false;
    for (uint32_t i = 0; i < v->npairs; i++)
        any |= v->pairs[i].report.n > 0;
    if (!any)
        return;
    buf_add(out, STR("input:\n"));
    put_text(out, "  ", v->options->inputs.nfiles > 1 ? "before" : "log", str_of(v->options->inputs.files[0]));
    if (v->options->inputs.nfiles > 1)
        put_text(out, "  ", "after", str_of(v->options->inputs.files[1]));
    buf_add(out, STR("compared:\n"));
    put_counts(out, v, BEFORE);
    put_counts(out, v, AFTER);
    buf_add(out, STR("checks:\n"));
    for (uint32_t i = 0; i < v->npairs; i++)
        buf_add(out, buf_str(&v->pairs[i].report));
}
