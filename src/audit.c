/* The audit, from files to findings, in the order of the rooms: source, log, mlir and graph (inputs.c),
 * pattern, pair, report. */
#include "base/work.h"
#include "fusion_audit.h"
#include "inputs.h"
#include "library.h"
#include "pair/pair.h"
#include "pattern/match.h"
#include "pattern/signs.h"
#include "prove/proofs.h"
#include "report/classify.h"
#include "report/notes.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

struct fa_audit {
    const struct fa_options *options; /* while it runs */
    struct arena arena;
    struct diags diags;
    struct arena input_arena; /* of what is read while the patterns are */
    struct diags input_diags;
    struct pattern_set patterns;
    struct inputs inputs;
    struct report report;
    struct proofs *proofs; /* or NULL: nothing is proved */
    const char **remarks;
    uint32_t nremarks, remarks_cap;
    uint32_t unfused; /* graphs */
    bool has_patterns;
    bool skipped; /* an op, a function or a graph was not audited */
    enum fa_status status;
};

struct refuted {
    struct match match;
    struct str text; /* the line that says so */
};

/* What one thread describes matches with, and what it has said of those of the batch. */
struct describer {
    struct arena said;                    /* as long as a batch */
    struct arena arena;                   /* as long as one match is described */
    struct arena kept;                    /* as long as the graph */
    struct matcher *closer, *ttir_closer; /* or NULL */
    uint8_t *marks;                       /* for pair_segment, or NULL */
};

struct described {
    struct str *components;
    struct instance instance;
};

/* What is at hand while one graph is audited. Graphs may be audited side by side: each has its own. */
struct graph_audit {
    struct fa_audit *a;
    const struct compile *compile;
    struct level ttir, ttnn;
    struct level *shown;         /* the level that decides */
    const struct pairing *pairs; /* or NULL */
    struct match_list matches, ttir_matches;
    struct rivals *rivals;   /* of each match, or NULL */
    struct proved *verdicts; /* of each match, or NULL */
    struct refuted *refuted; /* what was matched and computes something else */
    uint32_t nrefuted, refuted_cap;
    bool blackhole;               /* the chip that the text says; else Wormhole */
    bool unfused;                 /* much is missed and nothing is fused */
    struct arena arena;           /* as long as this graph */
    struct describer *describers; /* of each thread */
    struct described *batch;      /* of the matches from `described` on */
    uint32_t described;
    struct flow *flow; /* or NULL: nothing is described */
    struct diags diags;
    uint32_t jobs;                  /* threads for this graph */
    struct alike_memory **memories; /* of each of them */
    struct work_order *order;       /* of what is handed over */
    uint32_t turn;
};

/* ---- matching, function by function ---- */

/* Functions of a level, each with its own list so that threads need not meet. */
struct level_match {
    const struct pattern_set *patterns;
    const struct graph *graph;
    const uint32_t *funcs;
    struct match_list *lists; /* per function */
    bool *apart;              /* per function: nothing in its list reaches into another one */
    struct arena *arenas;     /* per thread */
    struct matcher **searchers;
    struct alike_memory **memories;
};

/* Of ops outside of functions: the beginning of the text. */
static size_t begin_of_function(const struct mlir *m, uint32_t func) {
    return func == NONE || m->funcs[func].op == NONE ? 0 : m->ops[m->funcs[func].op].text.begin;
}

/* What is matched is looked at again only where something was found: the pages before each 4 MB of text may go. */
static void release_matched(const struct level_match *l, uint32_t i) {
    const struct mlir *m = l->graph->m;
    size_t at = begin_of_function(m, l->funcs[i]), before = i ? begin_of_function(m, l->funcs[i - 1]) : 0;
    if (source_step(before, at))
        source_release(m->source, m->text.p, at);
}

static void match_one(void *context, uint32_t i, uint32_t slot) {
    struct level_match *l = context;
    if (!l->searchers[slot])
        l->searchers[slot] = match_searcher_new(l->graph, l->memories[slot], &l->arenas[slot]);
    match_search(l->searchers[slot], l->patterns, l->funcs[i], &l->lists[i]);
    l->apart[i] = match_stays_inside(&l->lists[i], l->funcs[i]);
    release_matched(l, i);
}

static void take_matches(struct match_list *to, struct match_list *from) {
    to->steps += from->steps;
    to->gave_up += from->gave_up;
    if (from->n) {
        to->items = grow(to->items, &to->cap, to->n + from->n, sizeof *to->items);
        memcpy(to->items + to->n, from->items, from->n * sizeof *to->items);
    }
    to->n += from->n;
    free(from->items);
}

static void settle_one(void *context, uint32_t i, uint32_t slot) {
    struct level_match *l = context;
    (void)slot;
    match_settle(&l->lists[i]);
}

/* Of those that overlap the winners: function by function, unless a match reaches into another function. */
static void settle_level(struct level_match *l, uint32_t n, uint32_t jobs, struct match_list *all) {
    bool apart = true;
    for (uint32_t i = 0; i < n && apart; i++)
        apart = l->apart[i];
    if (apart)
        work_run(n, jobs, settle_one, l);
    for (uint32_t i = 0; i < n; i++)
        take_matches(all, &l->lists[i]);
    if (!apart)
        match_settle(all);
}

/* With the winners only where `settle`. */
static void match_level(struct graph_audit *g, const struct graph *graph, bool settle, struct match_list *out) {
    uint32_t *funcs = arena_alloc(&g->arena, (graph->m->nfuncs + 1) * sizeof *funcs);
    uint32_t n = match_functions(graph, funcs);
    struct match_list *lists = arena_alloc(&g->arena, (n + 1) * sizeof *lists);
    bool *apart = arena_alloc(&g->arena, (n + 1) * sizeof *apart);
    struct arena *arenas = arena_alloc(&g->arena, (g->jobs + 1) * sizeof *arenas);
    struct matcher **searchers = arena_alloc(&g->arena, (g->jobs + 1) * sizeof *searchers);
    struct level_match l = {&g->a->patterns, graph, funcs, lists, apart, arenas, searchers, g->memories};
    work_run(n, g->jobs, match_one, &l);
    if (settle)
        settle_level(&l, n, g->jobs, out);
    for (uint32_t i = 0; i < n && !settle; i++)
        take_matches(out, &lists[i]);
    for (uint32_t i = 0; i < g->jobs; i++) {
        match_closer_free(searchers[i]);
        arena_merge(&g->arena, &arenas[i]);
    }
}

/* ---- from matches to instances ---- */

static int by_id(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static struct segment segment_of(const struct match *m, struct arena *arena) {
    uint32_t n = m->nops + m->nthrough, *ops = arena_alloc(arena, (n + 1) * sizeof *ops);
    memcpy(ops, m->ops, m->nops * sizeof *ops);
    memcpy(ops + m->nops, m->through, m->nthrough * sizeof *ops);
    qsort(ops, n, sizeof *ops, by_id);
    return (struct segment){m->graph->m, ops, n};
}

static uint32_t overlap(const struct match *m, const uint32_t *ops, uint32_t n) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool in = false;
        for (uint32_t k = 0; k < m->nops && !in; k++)
            in = m->ops[k] == ops[i];
        for (uint32_t k = 0; k < m->nthrough && !in; k++)
            in = m->through[k] == ops[i];
        count += in;
    }
    return count;
}

static int64_t root_elements(const struct match *m) {
    return graph_numel(m->graph, m->graph->m->ops[m->ops[m->nops - 1]].first_result);
}

/* Matches stand in the order of their roots: the first one at `op` or behind it. */
static uint32_t first_match_from(const struct match_list *list, uint32_t op) {
    uint32_t lo = 0, hi = list->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (list->items[mid].ops[list->items[mid].nops - 1] < op)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The TTIR match of the same fused op that shares most of the TTIR ops which the TTNN ops descend from. */
static const struct match *counterpart(const struct graph_audit *g, const struct match *m, const uint32_t *ttir,
                                       uint32_t n) {
    const struct match *best = NULL;
    uint32_t most = 0;
    for (uint32_t i = first_match_from(&g->ttir_matches, ttir[0]); i < g->ttir_matches.n; i++) {
        const struct match *t = &g->ttir_matches.items[i];
        if (t->ops[t->nops - 1] > ttir[n - 1])
            break;
        if (!str_eq(t->pattern->fused_op, m->pattern->fused_op) || root_elements(t) != root_elements(m))
            continue;
        uint32_t shared = overlap(t, ttir, n);
        if (shared > most || (shared == most && best && t->nops < best->nops)) {
            most = shared;
            best = t;
        }
    }
    return most * 2 >= n ? best : NULL;
}

/* The TTIR side of a TTNN match; `origin`: the match there, if it is one, else NULL. */
static struct segment ttir_segment(const struct graph_audit *g, struct describer *by, const struct match *m,
                                   const struct match **origin) {
    struct arena *arena = &by->arena;
    struct segment none = {NULL, NULL, 0}, shown = segment_of(m, arena);
    uint32_t *ops, n = 0, *found = arena_alloc(arena, (shown.nops + 1) * sizeof *found);
    for (uint32_t i = 0; i < shown.nops; i++)
        if (g->pairs->ttir_of[shown.ops[i]] != NONE)
            found[n++] = g->pairs->ttir_of[shown.ops[i]];
    if (n == 0)
        return none;
    qsort(found, n, sizeof *found, by_id);
    *origin = counterpart(g, m, found, n);
    if (*origin)
        return segment_of(*origin, arena);
    if (!by->marks)
        by->marks = xcalloc((size_t)g->pairs->ttir->m->nops + 1, 1);
    if (pair_segment(g->pairs, by->marks, m->ops, m->nops, arena, &ops, &n))
        return (struct segment){g->pairs->ttir->m, ops, n};
    return none;
}

static void describe(const struct graph_audit *g, struct describer *by, const struct match *m, struct instance *in) {
    const struct fa_audit *a = g->a;
    struct arena *arena = &by->arena;
    struct segment shown = segment_of(m, arena);
    const struct log_block *block = g->compile->ttnn.block ? g->compile->ttnn.block : g->compile->ttir.block;
    if (!by->closer)
        by->closer = match_closer_new(m->graph, &by->kept);
    struct note_context context = {.set = &a->patterns,
                                   .copies = block->copies,
                                   .graph = g->compile->number,
                                   .ngraphs = a->inputs.ncompiles,
                                   .flow = g->flow,
                                   .closer = by->closer};
    context.rivals = g->rivals ? &g->rivals[m - g->matches.items] : NULL;
    context.before = g->shown == &g->ttir;
    if (g->verdicts)
        context.verdict = verdict_line(&g->verdicts[m - g->matches.items], arena);
    if (g->verdicts && a->options->details)
        in->validation = verdict_details(&g->verdicts[m - g->matches.items], arena);
    in->ir_loc = ir_loc_of(m, arena);
    if (g->shown == &g->ttir) {
        in->ttir = shown;
    } else {
        in->ttnn = shown;
        if (g->pairs)
            in->ttir = ttir_segment(g, by, m, &context.origin);
        if (g->pairs && in->ttir.nops == 0)
            context.missing_level = "TTIR";
        if (context.origin && !by->ttir_closer)
            by->ttir_closer = match_closer_new(context.origin->graph, &by->kept);
        context.origin_closer = by->ttir_closer;
    }
    in->notes = notes_of(&context, m, &shown, arena);
}

static struct segment kept_segment(struct segment s, struct arena *a) {
    uint32_t *ops = arena_alloc(a, (s.nops + 1) * sizeof *ops);
    if (s.nops)
        memcpy(ops, s.ops, s.nops * sizeof *ops);
    return (struct segment){s.ir, ops, s.nops};
}

static void keep_instance(struct instance *in, struct arena *a) {
    in->ir_loc = arena_str(a, in->ir_loc);
    in->notes = arena_str(a, in->notes);
    in->validation = arena_str(a, in->validation);
    in->ttir = kept_segment(in->ttir, a);
    in->ttnn = kept_segment(in->ttnn, a);
}

static void describe_one(void *context, uint32_t i, uint32_t slot) {
    struct graph_audit *g = context;
    struct describer *by = &g->describers[slot];
    const struct match *m = &g->matches.items[g->described + i];
    struct str *components = arena_alloc(&by->said, (m->nops + 1) * sizeof *components);
    for (uint32_t k = 0; k < m->nops; k++)
        components[k] = mlir_op_name(m->graph->m, m->ops[k]);
    struct instance in = {.order = (uint64_t)g->compile->number << 32 | m->ops[m->nops - 1]};
    if (g->a->options->classify)
        in.class = classify(m->pattern);
    if (!g->a->report.count_only) {
        describe(g, by, m, &in);
        keep_instance(&in, &by->said);
        arena_reset(&by->arena);
    }
    g->batch[i] = (struct described){components, in};
}

static void add_remark(struct fa_audit *a, struct str text) {
    a->remarks = grow(a->remarks, &a->remarks_cap, a->nremarks + 1, sizeof *a->remarks);
    a->remarks[a->nremarks++] = arena_strdup(&a->arena, text);
}

static void remark(struct graph_audit *g) {
    struct fa_audit *a = g->a;
    const struct pairing *p = g->pairs;
    struct str text =
        arena_printf(&a->arena, "graph %u: %u TTIR ops, %u TTNN ops, %u paired by location, %u by dataflow, %u places",
                     g->compile->number, g->ttir.present ? g->ttir.ir.nops : 0, g->ttnn.present ? g->ttnn.ir.nops : 0,
                     p ? p->nlocation : 0, p ? p->ndataflow : 0, g->matches.n);
    add_remark(a, text);
    for (uint32_t i = 0; i < g->nrefuted; i++)
        add_remark(a, g->refuted[i].text);
}

/* What --source leaves of the matches. A theoretical one that a direct one covers stays away all the same. */
static void drop_sources(const struct fa_options *o, struct match_list *list) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        if (source_wanted(o, list->items[i].pattern->source))
            list->items[n++] = list->items[i];
    list->n = n;
}

/* ---- proofs ---- */

static void release_text(const struct level *l) {
    if (l->present)
        source_release(l->ir.source, l->ir.text.p, l->ir.text.n);
}

static size_t begin_of_match(const struct match *m) {
    return m->graph->m->ops[m->ops[0]].text.begin;
}

static void prove_one(void *context, uint32_t i, uint32_t slot) {
    struct graph_audit *g = context;
    (void)slot;
    const struct match *m = &g->matches.items[i];
    g->verdicts[i] = proofs_ask(g->a->proofs, m, g->blackhole);
    if (i && source_step(begin_of_match(m - 1), begin_of_match(m)))
        release_text(g->shown);
}

static struct str refuted_text(const struct match *m, struct str why, struct arena *a) {
    const struct mlir *ir = m->graph->m;
    uint32_t root = m->ops[m->nops - 1];
    struct place at = mlir_place(ir, ir->ops[root].text.begin);
    struct str op = mlir_op_name(ir, root);
    return arena_printf(a, "%s:%llu: %.*s at %.*s is not reported: %.*s", at.file, (unsigned long long)at.line,
                        (int)m->pattern->fused_op.n, m->pattern->fused_op.p, (int)op.n, op.p, (int)why.n, why.p);
}

static void prove_matches(struct graph_audit *g) {
    g->verdicts = arena_alloc(&g->arena, (g->matches.n + 1) * sizeof *g->verdicts);
    work_run(g->matches.n, g->jobs, prove_one, g);
}

/* The matches that are refuted, and what is said of them. How many there are that were not known. */
static uint32_t find_refuted(struct graph_audit *g) {
    uint32_t before = g->nrefuted;
    for (uint32_t i = 0; i < g->matches.n; i++) {
        const struct match *m = &g->matches.items[i];
        if (!verdict_refutes(&g->verdicts[i]))
            continue;
        g->refuted = grow(g->refuted, &g->refuted_cap, g->nrefuted + 1, sizeof *g->refuted);
        g->refuted[g->nrefuted++] = (struct refuted){*m, refuted_text(m, g->verdicts[i].text, &g->arena)};
    }
    return g->nrefuted - before;
}

static bool is_refuted(const struct graph_audit *g, const struct match *m) {
    for (uint32_t i = 0; i < g->nrefuted; i++) {
        const struct match *r = &g->refuted[i].match;
        if (r->pattern == m->pattern && r->nops == m->nops && memcmp(r->ops, m->ops, m->nops * sizeof *m->ops) == 0)
            return true;
    }
    return false;
}

static void drop_refuted(const struct graph_audit *g, struct match_list *list) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        if (!is_refuted(g, &list->items[i]))
            list->items[n++] = list->items[i];
    list->n = n;
}

/* The matches that are reported. What is refuted gives its ops back to those that it overlaps: that is rare, so all
 * are searched again only then. */
static void find_matches(struct graph_audit *g) {
    match_level(g, &g->shown->graph, true, &g->matches);
    drop_sources(g->a->options, &g->matches);
    if (!g->a->proofs)
        return;
    for (prove_matches(g); find_refuted(g); prove_matches(g)) {
        struct match_list all = {0};
        match_level(g, &g->shown->graph, false, &all);
        drop_refuted(g, &all);
        match_settle(&all);
        drop_sources(g->a->options, &all);
        free(g->matches.items);
        g->matches = all;
    }
}

enum { MANY = 10 }; /* so many direct fusions missed in a module make one wonder whether there was any fusing */

static uint32_t direct_matches(const struct match_list *list) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        n += str_is(list->items[i].pattern->source, pattern_sources[0]);
    return n;
}

static void say_unfused(struct fa_audit *a) {
    struct place at = {a->inputs.ttnn_path, 0, 0};
    if (a->unfused == 1 && a->inputs.ncompiles == 1)
        diag_add(&a->diags, SEV_NOTE, at, NULL, "no op of it is fused: fusing seems to be off");
    else if (a->unfused)
        diag_add(&a->diags, SEV_NOTE, at, NULL, "in %u of %u graphs no op is fused: fusing seems to be off", a->unfused,
                 a->inputs.ncompiles);
}

static void take_diags(struct diags *to, const struct diags *from) {
    uint32_t errors = 0;
    for (uint32_t i = 0; i < from->n; i++) {
        const struct diag *d = &from->items[i];
        diag_add(to, d->severity, (struct place){d->file, d->line, d->column}, d->hint, "%s", d->message);
        errors += d->severity == SEV_ERROR;
    }
    to->dropped += from->dropped;
    to->errors += from->errors - errors; /* of those dropped */
}

enum { BATCH = 512, BARE_BATCH = 1 << 14 }; /* matches that are described at once, and whose text is in memory or not */

static uint32_t batch_size(const struct graph_audit *g) {
    uint32_t left = g->matches.n - g->described, most = g->a->report.count_only ? BARE_BATCH : BATCH;
    return left < most ? left : most;
}

static void describe_begin(struct graph_audit *g) {
    g->describers = arena_alloc(&g->arena, (g->jobs + 1) * sizeof *g->describers);
    g->batch = arena_alloc(&g->arena, batch_size(g) * sizeof *g->batch);
    if (g->matches.n && !g->a->report.count_only)
        g->flow = flow_new(&g->shown->graph);
}

static void describe_batch(struct graph_audit *g) {
    work_run(batch_size(g), g->jobs, describe_one, g);
}

/* The next matches are to be described, and what was said of the last ones is let go. */
static void next_batch(struct graph_audit *g, uint32_t n) {
    g->described += n;
    for (uint32_t i = 0; i < g->jobs; i++)
        arena_reset(&g->describers[i].said);
}

static void describe_end(struct graph_audit *g) {
    for (uint32_t i = 0; i < g->jobs; i++) {
        struct describer *by = &g->describers[i];
        match_closer_free(by->closer);
        match_closer_free(by->ttir_closer);
        free(by->marks);
        arena_free(&by->said);
        arena_free(&by->arena);
        arena_free(&by->kept);
    }
    flow_free(g->flow);
}

/* Segments and locations are read from all over the text: its pages go each time that 4 MB of ops were described. */
static void report_batch(struct graph_audit *g) {
    uint32_t n = batch_size(g);
    for (uint32_t i = 0; i < n; i++) {
        const struct match *m = &g->matches.items[g->described + i];
        const struct described *d = &g->batch[i];
        report_add(&g->a->report, m->pattern->fused_op, m->pattern->source, d->components, m->nops, d->instance);
        bool read = !g->a->report.count_only && g->described + i > 0;
        if (!read || !source_step(begin_of_match(m - 1), begin_of_match(m)))
            continue;
        release_text(&g->ttir);
        release_text(&g->ttnn);
    }
    next_batch(g, n);
}

/* What one graph found, handed over in the order of the graphs. */
static void hand_over(struct graph_audit *g) {
    struct fa_audit *a = g->a;
    describe_begin(g);
    describe_batch(g);
    work_wait(g->order, g->turn);
    report_batch(g);
    while (g->described < g->matches.n) {
        describe_batch(g);
        report_batch(g);
    }
    take_diags(&a->diags, &g->diags);
    uint64_t steps = a->patterns.max_steps ? a->patterns.max_steps : MAX_STEPS;
    if (g->matches.gave_up)
        diag_add(&a->diags, SEV_WARNING, (struct place){g->shown->source.path, 0, 0}, "--limit steps=N allows more",
                 "%u search%s given up after %llu steps: what could be found that way is not reported",
                 g->matches.gave_up, g->matches.gave_up == 1 ? " was" : "es were", (unsigned long long)steps);
    a->unfused += g->unfused;
    a->skipped |= g->matches.gave_up || g->ttir.ir.bad_ops + g->ttnn.ir.bad_ops > 0 || g->diags.errors > 0;
    remark(g);
    work_done(g->order, g->turn);
}

struct all_graphs {
    struct fa_audit *a;
    struct work_order *order;
    uint32_t inner_jobs;
    struct alike_memory **memories; /* of each thread */
};

static void audit_graph(void *context, uint32_t i, uint32_t slot) {
    struct all_graphs *all = context;
    struct graph_audit g = {.a = all->a,
                            .compile = &all->a->inputs.compiles[i],
                            .jobs = all->inner_jobs,
                            .memories = all->memories + slot,
                            .order = all->order,
                            .turn = i};
    struct pairing pairs;
    g.diags.arena = &g.arena;
    level_read(&g.ttir, &g.compile->ttir, g.jobs, &g.diags);
    level_read(&g.ttnn, &g.compile->ttnn, g.jobs, &g.diags);
    g.shown = g.ttnn.present ? &g.ttnn : &g.ttir;
    g.blackhole = is_for_blackhole(&g.shown->ir);
    find_matches(&g);
    if (!all->a->report.count_only)
        g.rivals = match_rivals(&g.matches, &g.arena);
    g.unfused = g.ttnn.present && direct_matches(&g.matches) >= MANY && !signs_of_fusing(&g.a->patterns, &g.ttnn.graph);
    if (g.matches.n && g.ttnn.present && g.ttir.present) {
        pair_build(&pairs, &g.ttir.graph, &g.ttnn.graph);
        g.pairs = &pairs;
        match_level(&g, &g.ttir.graph, false, &g.ttir_matches);
    }
    hand_over(&g);
    if (g.pairs)
        pair_free(&pairs);
    free(g.matches.items);
    free(g.ttir_matches.items);
    free(g.refuted);
    level_free(&g.ttir, &g.compile->ttir);
    level_free(&g.ttnn, &g.compile->ttnn);
    diags_free(&g.diags);
    describe_end(&g);
    arena_free(&g.arena);
}

/* Graphs side by side where there are several, functions side by side where there is one. */
static void audit_graphs(struct fa_audit *a, uint32_t jobs) {
    uint32_t n = a->inputs.ncompiles;
    struct all_graphs all = {a, work_order_new(), n > 1 ? 1 : jobs,
                             arena_alloc(&a->arena, jobs * sizeof *all.memories)};
    for (uint32_t i = 0; i < jobs; i++)
        all.memories[i] = alike_memory_new();
    work_run(n, n > 1 ? jobs : 1, audit_graph, &all);
    work_order_free(all.order);
    for (uint32_t i = 0; i < jobs; i++)
        alike_memory_free(all.memories[i]);
}

static bool patterns_read(struct fa_audit *a) {
    a->patterns.no_examples = true;
    return library_load(&a->patterns, a->options, &a->diags) && library_select(&a->patterns, a->options, &a->diags);
}

enum { READ_PATTERNS, READ_INPUTS, THINGS_READ };

/* Neither asks for the other. */
static void read_thing(void *context, uint32_t i, uint32_t slot) {
    struct fa_audit *a = context;
    (void)slot;
    if (i == READ_PATTERNS)
        a->has_patterns = patterns_read(a);
    else
        a->status = inputs_read(&a->inputs, a->options, &a->input_arena, &a->input_diags);
}

static enum fa_status run(struct fa_audit *a, const struct fa_options *o) {
    work_run(THINGS_READ, work_jobs(o->jobs), read_thing, a);
    if (!a->has_patterns)
        return FA_USAGE;
    take_diags(&a->diags, &a->input_diags);
    if (a->status != FA_CLEAN)
        return a->status;
    a->report.ttir_path = a->inputs.ttir_path;
    a->report.ttnn_path = a->inputs.ttnn_path;
    a->report.count_only = o->dry_run;
    a->report.jobs = work_jobs(o->jobs);
    if (!o->no_validate && !o->dry_run)
        a->proofs = proofs_new(&a->patterns);
    audit_graphs(a, work_jobs(o->jobs));
    if (a->proofs && fa_places(a))
        add_remark(a, arena_printf(&a->arena, "proofs: %u evaluated for %zu place%s", proofs_count(a->proofs),
                                   fa_places(a), fa_places(a) == 1 ? "" : "s"));
    say_unfused(a);
    report_sort(&a->report);
    if (a->report.nentries)
        return FA_MISSED;
    return a->diags.errors || a->skipped || a->inputs.skipped ? FA_INPUT : FA_CLEAN;
}

struct fa_audit *fa_audit(const struct fa_options *options) {
    struct fa_audit *a = xrealloc(NULL, sizeof *a);
    memset(a, 0, sizeof *a);
    a->diags.arena = &a->arena;
    a->diags.limit = options->max_diagnostics;
    a->input_diags = (struct diags){.arena = &a->input_arena, .limit = options->max_diagnostics};
    a->patterns.max_steps = options->max_steps;
    a->options = options;
    a->status = run(a, options);
    a->options = NULL;
    return a;
}

enum fa_status fa_get_status(const struct fa_audit *a) {
    return a->status;
}
size_t fa_fused_ops(const struct fa_audit *a) {
    return a->report.nentries;
}

size_t fa_places(const struct fa_audit *a) {
    size_t n = 0;
    for (uint32_t i = 0; i < a->report.nentries; i++)
        n += a->report.entries[i].ninstances;
    return n;
}

size_t fa_diagnostics(const struct fa_audit *a) {
    return a->diags.n;
}
size_t fa_diagnostics_dropped(const struct fa_audit *a) {
    return a->diags.dropped;
}

struct fa_diagnostic fa_get_diagnostic(const struct fa_audit *a, size_t i) {
    return diagnostic_of(&a->diags.items[i]);
}

size_t fa_remarks(const struct fa_audit *a) {
    return a->nremarks;
}
const char *fa_get_remark(const struct fa_audit *a, size_t i) {
    return a->remarks[i];
}

bool fa_write_report(struct fa_audit *a, const char *path, char *error, size_t n) {
    return report_write(&a->report, path, error, n);
}

bool fa_remove_stale_report(const char *path) {
    return report_remove_stale(path);
}

const char *fa_version(void) {
    return FA_VERSION;
}

void fa_free(struct fa_audit *a) {
    report_free(&a->report);
    proofs_free(a->proofs);
    inputs_free(&a->inputs);
    patterns_free(&a->patterns);
    diags_free(&a->diags);
    diags_free(&a->input_diags);
    free(a->remarks);
    arena_free(&a->arena);
    arena_free(&a->input_arena);
    free(a);
}
