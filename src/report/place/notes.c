#include "report/place/notes.h"

#include "report/place/locate.h"
#include "search/match/evaluate.h"

#include <string.h>

enum { MAX_LOC_NAMES = 8, MAX_NAMED = 24 };

/* Unless it is empty or there already. */
static void add_once(struct str *all, uint32_t *n, struct str s) {
    for (uint32_t i = 0; i < *n; i++)
        if (str_eq(all[i], s))
            return;
    if (s.n)
        all[(*n)++] = s;
}

struct str ir_loc_of(const struct match *m, struct arena *a) {
    struct segment s = matched_ops(m, a);
    struct str *locs = arena_alloc(a, (m->nops + (size_t)1) * sizeof *locs);
    struct buf out = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < s.nops; i++)
        add_once(locs, &n, mlir_loc_text(s.ir, s.ops[i]));
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&out, "%s%.*s", i ? ", " : "", (int)locs[i].n, locs[i].p);
    return buf_take(&out, a);
}

struct str_list locations_of(const struct match *m, struct arena *a) {
    struct segment s = matched_ops(m, a);
    struct str *all = arena_alloc(a, MAX_NAMED * sizeof *all), names[MAX_LOC_NAMES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < s.nops && n < MAX_NAMED; i++) {
        int k = mlir_loc_names(s.ir, s.ops[i], names, MAX_LOC_NAMES);
        if (k >= 1)
            add_once(all, &n, names[(k > MAX_LOC_NAMES ? MAX_LOC_NAMES : k) - 1]);
    }
    return (struct str_list){all, n};
}

static uint32_t foreign_ops(const struct graph *g, const struct segment *s) {
    if (s->nops == 0)
        return 0;
    uint32_t count = g->ops_before[s->ops[s->nops - 1] + 1] - g->ops_before[s->ops[0]];
    for (uint32_t i = 0; i < s->nops; i++)
        count -= g->ops_before[s->ops[i] + 1] - g->ops_before[s->ops[i]];
    return count;
}

/* The compiler's own fusions drop them in places. */
static struct str_list carried_by(const struct match *m, struct arena *a) {
    struct str *items = arena_alloc(a, ((m ? m->nops : 0) + (size_t)1) * sizeof *items);
    uint32_t n = 0;
    for (uint32_t i = 0; m && i < m->nops; i++) {
        const struct mlir *ir = m->graph->m;
        const struct attr *dtype = attrs_find(graph_attributes(m->graph, m->ops[i]), "ttcore.weight_dtype");
        if (!dtype)
            continue;
        struct str op = mlir_op_name(ir, m->ops[i]);
        struct str label = value_label(m->graph, ir->ops[m->ops[i]].first_result, a);
        items[n++] = arena_printf(a, "ttcore.weight_dtype = %.*s of %.*s (%.*s)", (int)dtype->text.n, dtype->text.p,
                                  (int)label.n, label.p, (int)op.n, op.p);
    }
    return (struct str_list){items, n};
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

/* "epsilon = 1e-05", "stride = [2, 2]" */
static void add_attribute(const struct attr *x, const char *key, struct buf *out) {
    if (!x || (!x->is_number && x->n < 1))
        return;
    buf_printf(out, "%s%s = ", out->n ? ", " : "(", key);
    if (x->is_number)
        buf_printf(out, "%.6g", x->number);
    for (int i = 0; !x->is_number && i < x->n; i++)
        buf_printf(out, "%s%lld%s", i ? ", " : "[", (long long)x->list[i], i + 1 < x->n ? "" : "]");
}

static bool has_user_outside(const struct match *m, uint32_t value) {
    const struct graph *g = m->graph;
    bool outside = false;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && !outside; u++) {
        uint32_t user = g->uses[u];
        bool moved = has_id(m->through, m->nthrough, user) && g->m->ops[user].nresults > 0;
        outside = moved ? has_user_outside(m, g->m->ops[user].first_result) : !has_id(m->ops, m->nops, user);
    }
    return outside;
}

/* Values inside that others take, which the fused op yields as well. */
static void add_escapes(const struct match *m, const struct match_detail *d, struct buf *out) {
    const struct pattern *p = m->pattern;
    for (uint32_t i = 0; i < p->nescapes; i++) {
        uint32_t value = p->escapes[i] < d->nslots ? d->slots[p->escapes[i]].value : NONE;
        if (value == NONE || !has_user_outside(m, value))
            continue;
        struct str name = p->formula.slots[p->escapes[i]].name;
        buf_printf(out, ", %.*s: ", (int)name.n, name.p);
        value_add_type(m->graph, value, out);
    }
}

/* What it takes, by the names of the formula, and what it yields. */
static struct str signature_of(const struct match *m, const struct match_detail *d, struct arena *a) {
    const struct formula *f = &m->pattern->formula;
    const struct mlir_op *root = &m->graph->m->ops[m->root];
    static const char *const attributes[] = {"epsilon", "scale",   "k",      "kernel_size",
                                             "stride",  "padding", "groups", NULL}; /* of ops in it: that it needs */
    struct buf b = {0};
    if (pattern_is_direct(m->pattern))
        return STR("");
    for (uint32_t i = 0; i < d->nslots; i++) {
        uint32_t value = d->slots[i].value;
        if (!f->slots[i].is_variable || value == NONE)
            continue;
        struct constant c = graph_constant(m->graph, value);
        buf_printf(&b, "%s%.*s%s", b.n ? ", " : "(", (int)f->slots[i].name.n, f->slots[i].name.p,
                   c.known ? " = " : ": ");
        if (c.known)
            buf_printf(&b, "%.6g", c.value);
        else
            value_add_type(m->graph, value, &b);
    }
    for (uint32_t i = 0; i < m->nops; i++)
        for (const char *const *key = attributes; *key; key++)
            add_attribute(attrs_find(graph_attributes(m->graph, m->ops[i]), *key), *key, &b);
    buf_add(&b, b.n ? STR(") -> ") : STR("() -> "));
    for (uint32_t i = 0; i < root->nresults; i++) {
        buf_add(&b, i ? STR(", ") : STR(""));
        value_add_type(m->graph, root->first_result + i, &b);
    }
    add_escapes(m, d, &b);
    return buf_take(&b, a);
}

/* What the compiler did, of a TTNN match. Ops of one location are a fused op that was taken apart only where the ops
 * that they descend from had several. */
struct claim claim_of(const struct note_context *c, const struct match *m, const struct match *origin,
                      const struct match_detail *d, struct arena *a) {
    struct match_detail before = {0};
    const struct pattern *p = m->pattern;
    bool known = !c->before_passes && origin && origin->pattern == p;
    if (known)
        binding_query_run(c->origin_query, origin, a, &before);
    bool undone = !c->before_passes && d->undone.n && !before.undone.n && (!known || same_location(m, origin));
    return (struct claim){.set = c->set,
                          .compile = c->compile,
                          .pattern = p,
                          .signature = signature_of(m, d, a),
                          .undone = undone ? d->undone.items[0] : STR(""),
                          .unmade = d->unmade,
                          .before = c->before_passes,
                          .fusing = known && pass_made_part(c->set, m, origin) ? FUSING_ON : c->fusing};
}

static bool is_bound(const struct match *m, const struct match_detail *d, struct str name) {
    uint32_t slot = formula_slot(&m->pattern->formula, name);
    return slot < d->nslots && d->slots[slot].value != NONE;
}

/* The summary of the pattern, of which "[mask|penalty: + mask]" stands only where one of these names does. */
static struct str sentence_of(const struct match *m, const struct match_detail *d, struct arena *a) {
    struct str s = m->pattern->sentence;
    struct buf out = {0};
    while (s.n) {
        struct summary_part part = next_summary_part(&s);
        bool there = !part.names.n;
        while (part.names.n && !there)
            there = is_bound(m, d, str_part(&part.names, '|'));
        if (there)
            buf_add(&out, part.text);
    }
    return buf_take(&out, a);
}

struct notes notes_of(const struct note_context *c, const struct match *m, const struct match_detail *detail,
                      const struct segment *shown, const struct match *origin, const struct claim *claim,
                      struct arena *a) {
    struct segment own = matched_ops(m, a);
    struct notes notes = {.sentence = sentence_of(m, detail, a),
                          .source = source_of(&own, a),
                          .decomposed = detail->decomposed,
                          .blocked = detail->blocked,
                          .remarks = detail->remarks,
                          .slices = detail->slices,
                          .outside = detail->outside,
                          .preconditions = detail->preconditions,
                          .carried = carried_by(m, a),
                          .torch = detail->torch,
                          .call = detail->call,
                          .locations = locations_of(m, a),
                          .claim = *claim,
                          .between = foreign_ops(m->graph, shown)};
    if (!notes.source.n && origin) {
        own = matched_ops(origin, a);
        notes.source = source_of(&own, a);
    }
    if (!notes.carried.n)
        notes.carried = carried_by(origin, a);
    notes.place = locate_match(c->set, c->flow, m, detail, &notes.names, a);
    return notes;
}
