/* Puts the notes together, in a fixed order: summary and remarks of the pattern, verdict, what is saved, place in the
 * model, torch ops, source locations, state of the compiler, conflicts, graph, layout of the segment. A line without
 * content is left out. */
#include "place/notes.h"

#include "match/evaluate.h"
#include "place/classify.h"
#include "place/locate.h"

#include <string.h>

enum { MAX_LOC_NAMES = 8, MAX_NAMED = 24 };

static void add_line(struct buf *out, const char *key, struct str text) {
    text = str_trim(text);
    if (!text.n)
        return;
    buf_add(out, str_of(key));
    buf_add(out, text);
    buf_addc(out, '\n');
}

static void add_lines(struct buf *out, const char *key, struct str_list lines) {
    for (uint32_t i = 0; i < lines.n; i++)
        add_line(out, key, lines.items[i]);
}

static void add_item(struct buf *out, bool first, struct str item) {
    if (!first)
        buf_add(out, STR(", "));
    buf_add(out, item);
}

static uint32_t *textual(const struct match *m, struct arena *a) {
    uint32_t *ops = arena_alloc(a, (m->nops + 1) * sizeof *ops);
    memcpy(ops, m->ops, m->nops * sizeof *ops);
    sort_ids(ops, m->nops);
    return ops;
}

static bool seen(const struct str *all, uint32_t n, struct str s) {
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(all[i], s))
            return true;
    return false;
}

struct str ir_loc_of(const struct match *m, struct arena *a) {
    uint32_t *ops = textual(m, a), n = 0;
    struct str *locs = arena_alloc(a, (m->nops + 1) * sizeof *locs);
    struct buf out = {0};
    for (uint32_t i = 0; i < m->nops; i++) {
        struct str loc = mlir_loc_text(m->graph->m, ops[i]);
        if (!loc.n || seen(locs, n, loc))
            continue;
        add_item(&out, n == 0, loc);
        locs[n++] = loc;
    }
    return buf_take(&out, a);
}

/* The innermost name in the source location of each op, each name once. */
static void add_locations(struct buf *out, const struct match *m, struct arena *a) {
    uint32_t *ops = textual(m, a), n = 0;
    struct str all[MAX_NAMED], names[MAX_LOC_NAMES];
    struct buf line = {0};
    for (uint32_t i = 0; i < m->nops && n < MAX_NAMED; i++) {
        int k = mlir_loc_names(m->graph->m, ops[i], names, MAX_LOC_NAMES);
        if (k < 1)
            continue;
        struct str name = names[(k > MAX_LOC_NAMES ? MAX_LOC_NAMES : k) - 1];
        if (seen(all, n, name))
            continue;
        add_item(&line, n == 0, name);
        all[n++] = name;
    }
    add_line(out, "locations: ", buf_str(&line));
    buf_free(&line);
}

/* Number of other ops between the first and the last op shown. Constants and loads of cached ones do not count: they
 * can be moved freely. */
static uint32_t foreign_ops(const struct graph *g, const struct segment *s) {
    if (s->nops == 0)
        return 0;
    uint32_t count = g->ops_before[s->ops[s->nops - 1] + 1] - g->ops_before[s->ops[0]];
    for (uint32_t i = 0; i < s->nops; i++)
        count -= g->ops_before[s->ops[i] + 1] - g->ops_before[s->ops[i]];
    return count;
}

static void add_remarks(struct buf *out, const struct match_detail *d) {
    add_lines(out, "blocked: ", d->blocked);
    if (d->decomposed)
        add_line(out, "decomposed: ", STR("the compiler took a fused op apart here for a reason of the op."));
    add_lines(out, "", d->remarks);
    add_lines(out, "", d->slices);
    add_lines(out, "outside of the claim: ", d->outside);
    add_lines(out, "precondition: ", d->preconditions);
}

/* Attributes of the frontend that the compiler's own fusions drop in places: a warning to carry them over. */
static bool add_carried(struct buf *out, const struct match *m, struct arena *a) {
    struct str text;
    bool any = false;
    for (uint32_t i = 0; m && i < m->nops; i++) {
        const struct mlir *ir = m->graph->m;
        if (!mlir_attr(ir, m->ops[i], "ttcore.weight_dtype", &text))
            continue;
        any = true;
        struct str op = mlir_op_name(ir, m->ops[i]);
        struct str label = value_label(m->graph, ir->ops[m->ops[i]].first_result, a);
        buf_printf(out, "precondition: the fused op keeps ttcore.weight_dtype = %.*s of %.*s (%.*s).\n", (int)text.n,
                   text.p, (int)label.n, label.p, (int)op.n, op.p);
    }
    return any;
}

/* What is left of a fused op that was taken apart carries its location, which was that of the root. TTIR that states no
 * locations has those of its lines. */
static bool same_location(const struct match *m, const struct match *origin) {
    struct str here[MAX_LOC_NAMES], there[MAX_LOC_NAMES];
    int n = mlir_loc_names(m->graph->m, m->root, here, MAX_LOC_NAMES);
    int k = mlir_loc_names(origin->graph->m, origin->root, there, MAX_LOC_NAMES);
    if (k == 0)
        return n > 0;
    return n > 0 && n <= MAX_LOC_NAMES && k <= MAX_LOC_NAMES && str_eq(here[n - 1], there[k - 1]);
}

/* The values in these texts are of the TTIR file: "%59" becomes "ttir:%59", which a TTNN file may have, too. */
static struct str_list of_ttir(struct str_list texts, struct arena *a) {
    struct str *items = arena_alloc(a, (texts.n + (size_t)1) * sizeof *items);
    struct buf b = {0};
    for (uint32_t i = 0; i < texts.n; i++) {
        struct str t = texts.items[i];
        b.n = 0;
        for (size_t k = 0; k < t.n; k++) {
            if (t.p[k] == '%' && (k == 0 || t.p[k - 1] == ' ' || t.p[k - 1] == '('))
                buf_add(&b, STR("ttir:"));
            buf_addc(&b, t.p[k]);
        }
        items[i] = arena_str(a, buf_str(&b));
    }
    buf_free(&b);
    return (struct str_list){items, texts.n};
}

/* What the compiler did, of a TTNN match. Preconditions are evaluated in the TTIR graph, where the first pass ran; in
 * TTNN only if there is no counterpart. Ops of one location are a fused op that was taken apart only where the ops that
 * they descend from had several. */
static struct str compiler_note(const struct note_context *c, const struct match *m, const struct match *origin,
                                const struct match_detail *d, struct note_marks *marks, struct arena *a) {
    struct match_detail before = {0};
    const struct pattern *p = m->pattern;
    bool known = !c->before_passes && origin && origin->pattern == p;
    bool lowered = !c->before_passes && str_is(p->status.level, "ttir");
    if (known) {
        binding_query_run(c->origin_query, origin, a, &before);
        before.compiler = of_ttir(before.compiler, a);
        before.undecided = of_ttir(before.undecided, a);
    }
    marks->undone = !c->before_passes && d->undone.n && !before.undone.n && (!known || same_location(m, origin));
    if (known && !before.compiler.n && !before.undecided.n)
        before.undecided = d->undecided; /* what became of what the pass made */
    struct claim claim = {c->set, p, known ? &before : d, c->before_passes, lowered && !known};
    marks->todo = todo_of(&claim, marks->undone, a);
    struct str text = marks->undone ? d->undone.items[0] : classification_note(&claim, a);
    marks->version = text.n ? version_of_claims(c->set, p) : STR("");
    return text;
}

/* A line of which it is marked where it stands. */
static struct span add_marked(struct buf *out, const char *key, struct str text) {
    uint32_t begin = (uint32_t)out->n;
    add_line(out, key, text);
    return (struct span){begin, (uint32_t)out->n};
}

struct str notes_of(const struct note_context *c, const struct match *m, const struct match_facts *facts,
                    struct note_marks *marks, struct arena *a) {
    struct buf out = {0};
    const struct match_detail *detail = facts->detail;
    add_line(&out, "", m->pattern->summary);
    add_remarks(&out, detail);
    add_line(&out, "precondition: ", facts->memory);
    if (!add_carried(&out, m, a))
        add_carried(&out, facts->origin, a);
    marks->verdict = add_marked(&out, "", facts->verdict);
    add_line(&out, "wrong beside it: ", facts->beside);
    add_line(&out, "saves: ", facts->saves);
    marks->place = locate_match(c->set, c->flow, m, detail, &marks->names, a);
    add_line(&out, "model location: ",
             marks->place.n ? marks->place : STR("not stated in the input (no parameter name nearby)"));
    add_line(&out, "source torch ops: ", detail->torch.n ? detail->torch : STR("not stated in the input"));
    add_locations(&out, m, a);
    marks->compiler = add_marked(&out, "compiler: ", compiler_note(c, m, facts->origin, detail, marks, a));
    for (uint32_t i = 0; i < facts->conflicts.n; i++) {
        struct str other = facts->conflicts.items[i];
        buf_printf(&out, "competes with %.*s at the same ops.\n", (int)other.n, other.p);
    }
    if (c->ngraphs > 1)
        buf_printf(&out, "graph: %u of %u\n", c->graph, c->ngraphs);
    if (c->copies > 1)
        buf_printf(&out, "compiled %u times in this log, reported once.\n", c->copies);
    uint32_t between = foreign_ops(m->graph, facts->shown);
    if (between)
        buf_printf(&out, "not contiguous: %u other op%s between these; reordering may be required.\n", between,
                   between == 1 ? " stands" : "s stand");
    if (facts->unpaired)
        buf_add(&out, STR("TTIR: no pair established for these ops.\n"));
    return buf_take(&out, a);
}
