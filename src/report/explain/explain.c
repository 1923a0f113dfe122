/* `explain`: why nothing is reported at an op. Graph by graph, as an audit goes: what it selects first, since ops that
 * are reported need no explanation; then near misses by rank, of those with the same ops only the best. */
#include "report/explain/explain.h"
#include "base/locale.h"
#include "device/price/price.h"
#include "elementwise/proof.h"
#include "ir/graph/hosted.h"
#include "ir/pair/belong.h"
#include "patterns/library/choose.h"
#include "patterns/library/library.h"
#include "patterns/library/unchecked.h"
#include "proof/prove/select.h"
#include "report/explain/asked.h"
#include "report/explain/near_miss.h"
#include "report/explain/near_region.h"
#include "report/place/notes.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 10, MOST_AT = 5, MOST_LINES = 8 };

/* One graph. */
struct explained_graph {
    struct fa_explanation *e;
    const struct fa_explain_options *options;
    const struct compile *compile;
    const struct level *level, *ttir; /* the one that decides; the other one where both are there; or NULL */
    struct arena arena;
    struct selection selection;
    struct near_misses near;
    bool *asked;           /* per op: --at means it; NULL: no --at */
    uint32_t *reported[2]; /* per op: 1 + the reported match that has it, direct and theoretical; 0: none */
    uint32_t *near_at[2];  /* per op: see is_covered */
};

/* Of another source than ttnn. */
static bool is_theoretical(const struct pattern *p) {
    return !pattern_is_direct(p);
}

static uint64_t line_of(const struct mlir *m, uint32_t op) {
    return mlir_place(m, m->ops[op].text.begin).line;
}

static bool asks_for(const struct explained_graph *r, const uint32_t *ops, uint32_t n, uint32_t root,
                     uint32_t differs) {
    if (!r->asked || r->asked[root] || (differs != NONE && r->asked[differs]))
        return true;
    for (uint32_t i = 0; i < n; i++)
        if (r->asked[ops[i]])
            return true;
    return false;
}

/* ---- entries ---- */

static struct explained_op op_text(const struct explained_graph *r, uint32_t op) {
    const struct mlir *m = &r->level->ir;
    struct arena *a = &r->e->arena;
    return (struct explained_op){arena_str(a, mlir_op_name(m, op)), arena_str(a, mlir_result_name(m, op)),
                                 line_of(m, op)};
}

static struct explained *add(struct explained_graph *r, enum outcome outcome, const struct pattern *p, uint32_t root,
                             const uint32_t *ops, uint32_t nops) {
    struct fa_explanation *e = r->e;
    e->items = grow(e->items, &e->cap, e->n + 1, sizeof *e->items);
    struct explained *x = &e->items[e->n++];
    *x = (struct explained){.outcome = outcome,
                            .order = (uint64_t)r->compile->number << 32 | root,
                            .graph = r->compile->number,
                            .file = r->level->source->path,
                            .source = source_of(&(struct segment){&r->level->ir, ops, nops}, &e->arena),
                            .root = op_text(r, root),
                            .pattern = p->name,
                            .fused_op = p->fused_op,
                            .nops = nops,
                            .total = nops,
                            .about = outcome != OUTCOME_NEAR};
    x->ops = arena_alloc(&e->arena, (nops + 1) * sizeof *x->ops);
    for (uint32_t i = 0; i < nops; i++)
        x->ops[i] = op_text(r, ops[i]);
    return x;
}

/* ---- matches ---- */

/* As an audit does, with its proofs. */
static void select_reported(struct explained_graph *r) {
    struct selection *s = &r->selection;
    struct search_setup setup = {.patterns = r->e->patterns, .caches = &r->e->cache, .threads = 1};
    struct device device = device_for(&r->e->chips, NULL, &r->level->graph, r->ttir ? &r->ttir->graph : NULL);
    struct pricer pricer;
    pricer_begin(&pricer, &r->level->graph, &device, r->e->chips.cycles);
    select_matches(&setup, &r->options->patterns, r->e->proofs, &r->level->graph, &pricer, &r->arena, s);
    pricer_end(&pricer);
    for (uint32_t i = 0; i < s->matches.n; i++) {
        const struct match *m = &s->matches.items[i];
        uint32_t *reported = r->reported[is_theoretical(m->pattern)];
        for (uint32_t k = 0; k < m->nthrough; k++)
            reported[m->through[k]] = i + 1;
        for (uint32_t k = 0; k < m->nops; k++)
            reported[m->ops[k]] = i + 1;
    }
}

/* The reported match that has most of its ops. */
static const struct match *winner_over(const struct explained_graph *r, const struct match *m) {
    uint32_t best = 0, most = 0;
    for (uint32_t i = 0; i < 2 * m->nops; i++) {
        const uint32_t *reported = r->reported[i % 2];
        uint32_t at = reported[m->ops[i / 2]], n = 0;
        for (uint32_t k = 0; at && k < m->nops; k++)
            n += reported[m->ops[k]] == at;
        best = n > most ? at : best;
        most = n > most ? n : most;
    }
    return best ? &r->selection.matches.items[best - 1] : NULL;
}

/* NULL unless --at means one of its ops. */
static struct explained *add_match(struct explained_graph *r, enum outcome outcome, const struct match *m) {
    if (!asks_for(r, m->ops, m->nops, m->root, NONE) && !asks_for(r, m->through, m->nthrough, m->root, NONE))
        return NULL;
    return add(r, outcome, m->pattern, m->root, m->ops, m->nops);
}

/* What fusing it saves, or costs; *left_out: so that an audit leaves it out. */
static struct str price_of(struct explained_graph *r, struct pricer *p, struct matcher *query, const struct match *m,
                           bool *left_out) {
    struct arena scratch = {0}, *a = &r->e->arena;
    struct match_detail detail;
    struct str line = STR("");
    *left_out = false;
    if (binding_query_run(query, m, &scratch, &detail)) {
        struct price x = price_match(p, m, &detail);
        line = price_line(&x, p->device, STR(""), a);
        line = !line.n || price_is_slower(&x) ? line : arena_printf(a, "saves %.*s", (int)line.n, line.p);
        *left_out =
            !included(&r->options->patterns, "slower") && price_saves_nothing(&x, m->pattern->status.pass.n > 0);
    }
    arena_free(&scratch);
    return line;
}

/* Of those that are reported only what is asked for; a slower one is no near miss, and hidden all the same. */
static void add_reported(struct explained_graph *r) {
    const struct selection *s = &r->selection;
    struct explained *x;
    struct device device = device_for(&r->e->chips, NULL, &r->level->graph, r->ttir ? &r->ttir->graph : NULL);
    struct pricer pricer;
    pricer_begin(&pricer, &r->level->graph, &device, r->e->chips.cycles);
    struct matcher *query = binding_query_new(&r->level->graph, NULL);
    for (uint32_t i = 0; i < s->matches.n; i++) {
        bool left_out;
        struct str price = price_of(r, &pricer, query, &s->matches.items[i], &left_out);
        r->e->reported |= !left_out;
        if (!(r->asked || left_out) ||
            !(x = add_match(r, left_out ? OUTCOME_SLOWER : OUTCOME_MATCHED, &s->matches.items[i])))
            continue;
        struct proved v = proofs_ask(r->e->shown, &s->matches.items[i], is_for_blackhole(&r->level->ir));
        x->proof = verdict_line(&v, &r->e->arena);
        x->price = price;
    }
    binding_query_free(query);
    pricer_end(&pricer);
}

static void add_others(struct explained_graph *r) {
    const struct selection *s = &r->selection;
    struct arena *a = &r->e->arena;
    struct explained *x;
    for (uint32_t i = 0; i < s->nrefuted; i++)
        if ((x = add_match(r, OUTCOME_REFUTED, &s->refuted[i].match)))
            x->proof = arena_str(a, s->refuted[i].why);
    for (uint32_t i = 0; i < s->gave_way.n; i++) {
        const struct match *m = &s->gave_way.items[i], *winner;
        if (!(x = add_match(r, OUTCOME_GAVE_WAY, m)))
            continue;
        struct proved v = proofs_ask(r->e->shown, m, is_for_blackhole(&r->level->ir));
        x->outcome = verdict_refutes(&v) ? OUTCOME_REFUTED : OUTCOME_GAVE_WAY;
        x->proof = verdict_refutes(&v) ? arena_str(a, v.text) : verdict_line(&v, a);
        winner = winner_over(r, m);
        x->winner = winner ? winner->pattern->name : STR("");
    }
}

/* ---- near misses ---- */

static int by_pattern_and_rank(const void *pa, const void *pb) {
    const struct near_miss *a = pa, *b = pb;
    if (a->pattern->order != b->pattern->order)
        return a->pattern->order < b->pattern->order ? -1 : 1;
    return near_miss_compare(a, b);
}

/* Hidden on purpose: no near miss. */
static bool is_intended(const struct near_miss *c) {
    return c->whole && (strcmp(c->kind, "decomposed") == 0 || strcmp(c->kind, "block") == 0);
}

/* Of the reported match that has the op; 0: none has it. */
static uint32_t size_at(const struct explained_graph *r, int theoretical, uint32_t op) {
    uint32_t at = r->reported[theoretical][op];
    return at ? r->selection.matches.items[at - 1].nops : 0;
}

/* All of its ops are reported, or most of them in matches that are no smaller. */
static bool is_reported(const struct explained_graph *r, const struct near_miss *c) {
    uint32_t reported = 0, in_larger = 0;
    for (uint32_t i = 0; i < c->nops; i++) {
        uint32_t size = size_at(r, 0, c->ops[i]), other = is_theoretical(c->pattern) ? size_at(r, 1, c->ops[i]) : 0;
        size = other > size ? other : size;
        reported += size > 0;
        in_larger += size >= c->nops;
    }
    return c->nops > 0 && (reported == c->nops || 2 * in_larger > c->nops);
}

/* The pattern matches these ops, in another order or with more. */
static bool is_matched(const struct explained_graph *r, const struct near_miss *c) {
    bool all = false;
    for (uint32_t i = 0; i < r->selection.matches.n && !all; i++) {
        const struct match *m = &r->selection.matches.items[i];
        all = c->nops > 0 && m->pattern == c->pattern;
        for (uint32_t k = 0; k < c->nops && all; k++)
            all = has_id(m->ops, m->nops, c->ops[k]);
    }
    return all;
}

static bool is_wanted(const void *self, const struct near_miss *c) {
    const struct explained_graph *r = self;
    if (r->asked)
        return asks_for(r, c->ops, c->nops, c->root, c->op) && !is_matched(r, c);
    return !is_reported(r, c) && !c->excluded; /* excluded: it is for another pattern */
}

/* Better near misses that were kept are marked at their ops: with --at each pattern keeps one a place, its marks are of
 * its own; else a theoretical one gives way to any, a direct one to direct ones. */
static bool is_covered(struct explained_graph *r, const struct near_miss *c) {
    int last = r->asked ? 0 : is_theoretical(c->pattern);
    uint32_t mark = r->asked ? c->pattern->order + 1 : 1;
    for (int i = 0; i <= last; i++)
        for (uint32_t k = 0; k <= c->nops; k++)
            if (r->near_at[i][k < c->nops ? c->ops[k] : c->root] == mark)
                return true;
    for (uint32_t k = 0; k <= c->nops; k++)
        r->near_at[last][k < c->nops ? c->ops[k] : c->root] = mark;
    return false;
}

/* More than arithmetic that any formula may have is there, or all of it: then the place is one of this fusion. */
static bool is_about(const struct graph *g, const struct near_miss *c) {
    bool about = c->nops == c->total;
    for (uint32_t i = 0; i < c->nops && !about; i++) {
        about = !graph_op_is(g, c->ops[i], ADDS | SCALES);
    }
    return about;
}

static void add_near(struct explained_graph *r, const struct near_miss *c) {
    if (!is_wanted(r, c) || (!r->asked && is_intended(c)) || is_covered(r, c))
        return;
    struct explained *x = add(r, OUTCOME_NEAR, c->pattern, c->root, c->ops, c->nops);
    x->total = c->total;
    x->others = c->others;
    x->rank = near_miss_rank(c);
    x->kind = c->kind;
    x->hint = c->hint;
    if (c->nops == c->total && c->others == 0)
        x->compiler = unchecked_of(r->e->patterns, &c->pattern->status.pattern, c->pattern->makes, &r->level->graph,
                                   c->ops, c->nops);
    x->part = arena_str(&r->e->arena, c->part);
    x->reason = arena_str(&r->e->arena, c->reason);
    x->hidden = is_intended(c);
    x->about = r->asked && is_about(&r->level->graph, c);
    x->theoretical = r->asked && is_theoretical(c->pattern);
    x->asked = r->asked && (r->asked[c->root] || (c->op != NONE && r->asked[c->op]));
    if (c->op != NONE)
        x->differs = op_text(r, c->op);
}

static void add_all_near(struct explained_graph *r) {
    if (r->near.n)
        qsort(r->near.items, r->near.n, sizeof *r->near.items, r->asked ? by_pattern_and_rank : near_miss_compare);
    for (uint32_t i = 0; i < r->near.n; i++)
        add_near(r, &r->near.items[i]);
    r->near.n = 0;
}

/* ---- regions ---- */

static void add_regions(struct explained_graph *r) {
    const struct graph *g = &r->level->graph;
    struct region_list found = {0};
    struct region_near_list near = {0};
    if (r->e->regions == REGION_KINDS)
        return;
    regions_find(g, &r->e->rules, r->e->regions, &r->arena, &found, &near);
    near_regions_add(g, &r->e->rules, &near, &r->arena, &r->near);
    for (uint32_t i = 0; r->asked && i < found.n; i++) {
        const struct match *m = &found.items[i].match;
        if (!asks_for(r, m->ops, m->nops, m->root, NONE))
            continue;
        struct proved v = region_prove(r->e->patterns, m, true, &r->e->arena);
        add(r, OUTCOME_MATCHED, m->pattern, m->root, m->ops, m->nops)->proof = verdict_line(&v, &r->e->arena);
    }
    free(found.items);
    free(near.items);
}

/* ---- one graph ---- */

/* A function that has been searched, and the items that came of it. */
struct searched_function {
    uint64_t alike;
    uint32_t func, first, end;
};

/* What is said of a function may depend on locations, and on other functions: the same of it is reported then. */
static bool reports_the_same(const struct explained_graph *r, uint32_t func, uint32_t like) {
    const struct mlir_func *f = &r->level->ir.funcs[func], *other = &r->level->ir.funcs[like];
    for (uint32_t i = 0; i < f->end_op - f->first_op; i++)
        for (int k = 0; k < 2; k++)
            if (!r->reported[k][f->first_op + i] != !r->reported[k][other->first_op + i])
                return false;
    return true;
}

/* In a function that is written like one before it is as far to each op. */
static void repeat_near(struct explained_graph *r, const struct searched_function *like, uint32_t func) {
    const struct mlir *m = &r->level->ir;
    uint32_t shift = m->funcs[func].first_op - m->funcs[like->func].first_op;
    for (uint32_t i = like->first; i < like->end; i++) {
        struct fa_explanation *e = r->e;
        uint32_t root = (uint32_t)e->items[i].order + shift;
        e->items = grow(e->items, &e->cap, e->n + 1, sizeof *e->items);
        e->items[e->n] = e->items[i];
        e->items[e->n].order += shift;
        e->items[e->n++].root = op_text(r, root);
    }
}

static void find_near_in(struct explained_graph *r, struct automaton_run *ops, const struct near_query *query,
                         struct searched_function *searched, uint32_t n, uint32_t func) {
    struct fa_explanation *e = r->e;
    uint32_t k = 0, first = e->n;
    uint64_t alike = func == NONE || r->asked || r->e->regions != REGION_KINDS ? 0 : r->selection.matches.alike[func];
    while (k < n && !(alike && searched[k].alike == alike && reports_the_same(r, func, searched[k].func)))
        k++;
    if (k < n)
        repeat_near(r, &searched[k], func);
    else
        near_misses_find(e->patterns, ops, &r->level->graph, func, query, &r->arena, &r->near);
    if (e->regions == REGION_KINDS) /* regions that come close may be closer */
        add_all_near(r);
    searched[n] = (struct searched_function){alike, func, first, e->n};
}

static void find_near(struct explained_graph *r) {
    struct fa_explanation *e = r->e;
    const struct graph *g = &r->level->graph;
    struct automaton_run *ops = automaton_run_new(match_cache_automaton(e->cache), g);
    uint32_t *funcs = arena_alloc(&r->arena, (g->m->nfuncs + 1) * sizeof *funcs);
    uint32_t n = match_functions(g, funcs);
    struct searched_function *searched = arena_alloc(&r->arena, (n + (size_t)1) * sizeof *searched);
    bool *reported = arena_alloc(&r->arena, g->m->nops + (size_t)1);
    for (uint32_t i = 0; i < g->m->nops; i++)
        reported[i] = r->reported[0][i] > 0;
    struct near_query query = {e->all ? 1 : LEAST_OPS, is_wanted, r, r->asked ? NULL : reported,
                               e->all ? NULL : near_misses_far(e->patterns, g, &r->arena)};
    for (uint32_t i = 0; i < n; i++)
        find_near_in(r, ops, &query, searched, i, funcs[i]);
    automaton_run_free(ops);
}

static bool explain_level(struct explained_graph *r) {
    struct fa_explanation *e = r->e;
    const struct graph *g = &r->level->graph;
    if (e->at) {
        struct str became;
        r->asked = arena_alloc(&r->arena, g->m->nops + (size_t)1);
        if (!asked_mark(e->at, r->level, r->ttir, &e->arena, r->asked, &became))
            return false;
        e->became = e->became.n ? e->became : became;
    }
    for (int i = 0; i < 2; i++) {
        r->reported[i] = arena_alloc(&r->arena, (g->m->nops + (size_t)1) * sizeof **r->reported);
        r->near_at[i] = arena_alloc(&r->arena, (g->m->nops + (size_t)1) * sizeof **r->near_at);
    }
    select_reported(r);
    add_reported(r);
    if (r->asked)
        add_others(r);
    find_near(r);
    add_regions(r);
    add_all_near(r);
    return true;
}

/* False when --at means nothing in it. */
static bool explain_graph(struct fa_explanation *e, const struct compile *c, const struct fa_explain_options *o) {
    struct level ttir, ttnn;
    struct level_pair both = {&ttir, &ttnn, e->inputs.ncompiles > 1 ? c->number : 0};
    level_read(&ttir, &c->ttir, &e->diags);
    level_read(&ttnn, &c->ttnn, &e->diags);
    struct explained_graph r = {.e = e, .options = o, .compile = c, .level = ttnn.present ? &ttnn : &ttir};
    r.ttir = ttnn.present && ttir.present ? &ttir : NULL;
    bool refused = !o->inputs.unpaired && !levels_belong(&both, &e->diags);
    if (r.ttir && !refused)
        hosted_take(&ttnn.graph, &ttir.graph);
    bool any = refused || (r.level->present && explain_level(&r));
    selection_free(&r.selection);
    free(r.near.items);
    arena_free(&r.arena);
    level_free(&ttir);
    level_free(&ttnn);
    return any;
}

/* ---- all of them ---- */

/* What is reported, then what matches and is not, then what ends or differs at the op that was asked for, then the
 * rest. */
static int kind_of(const struct explained *x) {
    static const int kinds[] = {
        [OUTCOME_MATCHED] = 0, [OUTCOME_REFUTED] = 1, [OUTCOME_GAVE_WAY] = 1, [OUTCOME_SLOWER] = 1};
    return x->outcome != OUTCOME_NEAR ? kinds[x->outcome] : x->hidden ? 1 : x->asked ? 2 : 3;
}

static int by_place(const void *pa, const void *pb) {
    const struct explained *a = pa, *b = pb;
    if (kind_of(a) != kind_of(b))
        return kind_of(a) - kind_of(b);
    if (a->about != b->about)
        return a->about ? -1 : 1;
    if (a->theoretical != b->theoretical)
        return a->theoretical ? 1 : -1;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* The same is said of another layer of the model. */
static bool is_repeated(const struct explained *a, const struct explained *b) {
    bool near = a->outcome == OUTCOME_NEAR;
    return a->outcome == b->outcome && a->file == b->file && a->nops == b->nops && a->total == b->total &&
           str_eq(a->pattern, b->pattern) && str_eq(a->proof, b->proof) && str_eq(a->price, b->price) &&
           str_eq(a->winner, b->winner) && (!near || strcmp(a->kind, b->kind) == 0) && str_eq(a->part, b->part);
}

static void add_line(struct fa_explanation *e, struct explained *x, uint64_t line) {
    if (!x->more)
        x->more = arena_alloc(&e->arena, MOST_LINES * sizeof *x->more);
    if (x->nmore < MOST_LINES)
        x->more[x->nmore] = line;
    x->nmore++;
}

/* What is the same at several roots becomes one, at the first; of others at most `most` stay. */
static void gather(struct fa_explanation *e, size_t most) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->n; i++) {
        uint32_t k = 0;
        while (k < n && !is_repeated(&e->items[k], &e->items[i]))
            k++;
        if (k < n)
            add_line(e, &e->items[k], e->items[i].root.line);
        else if (n < most)
            e->items[n++] = e->items[i];
    }
    e->n = n;
}

/* At one place those are kept that it is about, where it is about any. */
static void keep_best_at(struct fa_explanation *e, size_t most) {
    uint32_t n = 0;
    bool asked_for = e->all || most, about = false;
    most = most ? most : e->all ? MOST : MOST_AT;
    for (uint32_t i = 0; i < e->n; i++)
        about |= e->items[i].about;
    for (uint32_t i = 0; i < e->n && n < most; i++)
        if (asked_for || !about || e->items[i].about)
            e->items[n++] = e->items[i];
    e->n = n;
}

static enum fa_status run(struct fa_explanation *e, const struct fa_explain_options *o) {
    bool any = false;
    e->patterns = patterns_asked_for(&o->patterns, &e->own, &e->diags);
    if (!e->patterns)
        return FA_USAGE;
    const char *devices = devices_directory(&o->patterns, &e->arena);
    e->regions = region_kind_wanted(e->patterns, &o->patterns);
    if (!chips_load(&e->chips, devices, &e->arena, &e->diags) ||
        (e->regions != REGION_KINDS && !region_rules_load(&e->rules, devices, &e->arena, &e->diags)))
        return FA_USAGE;
    enum fa_status status = inputs_read(&e->inputs, &o->inputs, &e->arena, &e->diags);
    if (status != FA_CLEAN)
        return status;
    e->proofs = proofs_new(e->patterns, false);
    e->shown = proofs_new(e->patterns, true);
    e->cache = match_cache_new(e->patterns);
    for (uint32_t i = 0; i < e->inputs.ncompiles; i++)
        any |= explain_graph(e, &e->inputs.compiles[i], o);
    if (e->at && !any) {
        diag_add(&e->diags, SEV_ERROR, (struct source_location){"", 0, 0},
                 "--at takes a value (%12, ttir:%12), a line, FILE:LINE, an op (ttnn.add) or an op and its line, a "
                 "name, a location or its alias",
                 "nothing in the input is at '%s'", e->at);
        return FA_INPUT;
    }
    if (e->n)
        qsort(e->items, e->n, sizeof *e->items, by_place);
    gather(e, e->at ? SIZE_MAX : o->most ? o->most : MOST);
    if (e->at)
        keep_best_at(e, o->most);
    return e->diags.errors ? FA_INPUT : FA_CLEAN;
}

struct fa_explanation *fa_explain(const struct fa_explain_options *options) {
    IN_C_LOCALE;
    struct fa_explanation *e = xcalloc(1, sizeof *e);
    e->diags.arena = &e->arena;
    e->diags.limit = options->max_diagnostics;
    e->at = options->at ? arena_strdup(&e->arena, str_of(options->at)) : NULL;
    e->all = options->patterns.only && options->at;
    e->status = run(e, options);
    return e;
}

enum fa_status fa_explanation_status(const struct fa_explanation *e) {
    return e->status;
}
const struct fa_diagnostics *fa_explanation_diagnostics(const struct fa_explanation *e) {
    return diagnostics_of(&e->diags);
}
bool fa_get_near_miss(struct fa_explanation *e, size_t i, struct fa_near_miss *out) {
    struct arena *a = &e->arena;
    if (i >= e->n)
        return false;
    const struct explained *x = &e->items[i];
    *out = (struct fa_near_miss){.outcome = outcome_words[x->outcome],
                                 .file = x->file,
                                 .op = arena_strdup(a, x->root.name),
                                 .result = arena_strdup(a, x->root.result),
                                 .line = x->root.line,
                                 .pattern = arena_strdup(a, x->pattern),
                                 .fused_op = arena_strdup(a, x->fused_op),
                                 .matched = x->nops,
                                 .total = x->total,
                                 .kind = x->kind ? x->kind : "",
                                 .part = arena_strdup(a, x->part),
                                 .reason = arena_strdup(a, x->price.n ? x->price : x->reason),
                                 .hint = x->hint ? x->hint : "",
                                 .proof = arena_strdup(a, x->proof),
                                 .gives_way_to = arena_strdup(a, x->winner),
                                 .same = x->nmore};
    return true;
}

void fa_explanation_print(const struct fa_explanation *e, bool json, FILE *out) {
    IN_C_LOCALE;
    if (e->status == FA_CLEAN || e->n > 0) /* else "nothing comes close" cannot be claimed */
        explain_print(e, json, out);
}

void fa_explanation_free(struct fa_explanation *e) {
    if (!e)
        return;
    inputs_free(&e->inputs);
    proofs_free(e->proofs);
    proofs_free(e->shown);
    match_cache_free(e->cache);
    region_rules_free(&e->rules);
    chips_free(&e->chips);
    patterns_free(&e->own);
    diags_free(&e->diags);
    free(e->items);
    arena_free(&e->arena);
    free(e);
}
