/* The audit. Read from the end: fa_run_audit, run (patterns, inputs, graphs, status), audit_graph (the steps for one
 * graph). TTNN decides what is missed; TTIR shows where it comes from. */
#include "audit.h"

#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "base/units.h"
#include "base/work.h"
#include "elementwise/proof.h"
#include "ir/graph/hosted.h"
#include "ir/graph/level.h"
#include "ir/pair/belong.h"
#include "patterns/library/choose.h"
#include "patterns/library/library.h"
#include "patterns/library/signs.h"
#include "proof/prove/select.h"
#include "report/compare/fails.h"
#include "report/describe.h"
#include "report/explain/asked.h"

/* What the audits of all graphs share. Several graphs: one thread and one cache for each that is audited at a time. One
 * graph: it has all threads and caches. */
struct graph_queue {
    struct fa_audit *a;
    struct work_order *order;
    uint32_t threads;            /* for each graph */
    struct match_cache **caches; /* one for each thread of work_run */
};

/* What is at hand while one graph is audited. Graphs may be audited side by side: each has its own. */
struct graph_audit {
    struct fa_audit *a;
    const struct compile *compile;
    struct search_setup setup;
    struct level ttir, ttnn;
    struct level_pair levels;    /* where both are present */
    bool refused;                /* they are not of one compile: nothing of the graph is reported */
    const struct level *decides; /* the level in which fusions are missed: TTNN where there is one */
    struct findings found;
    struct arena arena;
    struct diags diags;
};

static void read_levels(struct graph_audit *g) {
    g->diags = (struct diags){.arena = &g->arena, .limit = g->a->options->max_diagnostics};
    level_read(&g->ttir, &g->compile->ttir, &g->diags);
    level_read(&g->ttnn, &g->compile->ttnn, &g->diags);
    g->decides = g->ttnn.present ? &g->ttnn : &g->ttir;
    g->levels = (struct level_pair){&g->ttir, &g->ttnn, g->a->inputs.ncompiles > 1 ? g->compile->number : 0};
    g->refused = g->ttir.present && g->ttnn.present && !g->a->options->inputs.unpaired &&
                 !signatures_agree(&g->levels, &g->diags);
    if (g->ttir.present && g->ttnn.present && !g->refused)
        hosted_take(&g->ttnn.graph, &g->ttir.graph);
}

/* Those that have an op at --at. */
static void keep_asked(struct graph_audit *g) {
    const char *at = g->a->options->at;
    struct match_list *all = &g->found.selection.matches;
    const struct level *other = g->decides == &g->ttnn && g->ttir.present ? &g->ttir : NULL;
    bool *asked = arena_alloc(&g->arena, g->decides->ir.nops + (size_t)1);
    struct str became = STR("");
    uint32_t n = 0;
    if (!asked_mark(at, g->decides, other, &g->arena, asked, &became))
        diag_add(&g->diags, SEV_ERROR, (struct source_location){g->decides->source->path, 0, 0},
                 "a value, a line, an op and its line, or a location", "nothing is at '%s'", at);
    for (uint32_t i = 0; i < all->n; i++) {
        bool found = false;
        for (uint32_t k = 0; k < all->items[i].nops && !found; k++)
            found = asked[all->items[i].ops[k]];
        if (!found)
            continue;
        if (g->found.selection.verdicts)
            g->found.selection.verdicts[n] = g->found.selection.verdicts[i];
        all->items[n++] = all->items[i];
    }
    all->n = n;
}

static struct device device_of(const struct graph_audit *g) {
    return device_for(&g->a->chips, g->a->chip, g->ttnn.present ? &g->ttnn.graph : NULL,
                      g->ttir.present ? &g->ttir.graph : NULL);
}

/* Searches, resolves overlaps and proves; again while a match is refuted. */
static void select_findings(struct graph_audit *g) {
    struct fa_audit *a = g->a;
    struct device device = device_of(g);
    struct pricer pricer;
    pricer_begin(&pricer, &g->decides->graph, &device, a->chips.cycles);
    select_matches(&g->setup, &a->options->patterns, a->proofs, &g->decides->graph, &pricer, &g->arena,
                   &g->found.selection);
    pricer_end(&pricer);
    if (a->options->at)
        keep_asked(g);
}

static void find_regions(struct graph_audit *g) {
    struct fa_audit *a = g->a;
    struct found_regions *f = &g->found.regions;
    if (a->regions == REGION_KINDS || !g->ttnn.present)
        return;
    f->rules = &a->rules;
    regions_find(&g->ttnn.graph, &a->rules, a->regions, &g->arena, &f->list, NULL);
    f->verdicts = a->proofs ? arena_alloc(&g->arena, (f->list.n + (size_t)1) * sizeof *f->verdicts) : NULL;
    for (uint32_t i = 0; f->verdicts && i < f->list.n; i++)
        f->verdicts[i] = region_prove(a->patterns, &f->list.items[i].match, a->options->details, &g->arena);
}

/* A report shows the TTIR ops that its TTNN ops descend from: where nothing is reported, as much is paired as tells
 * whether the two belong together. */
static void find_origins(struct graph_audit *g) {
    bool ask = !g->a->options->inputs.unpaired, any = g->found.selection.matches.n + g->found.regions.list.n > 0;
    if (!g->ttnn.present || !g->ttir.present || !(ask || any))
        return;
    pair_build(&g->found.origins.pairing, &g->ttir.graph, &g->ttnn.graph, any);
    g->refused = ask && !origins_suffice(&g->levels, &g->found.origins.pairing, &g->diags);
    if (any && !g->refused)
        origins_search(&g->found.origins, &g->setup, &g->found.selection.matches, &g->found.selection.gave_way,
                       &g->arena);
}

/* False: nothing was measured, or not of this module. */
static bool join_perf(const struct graph_audit *g, const struct device *d, struct perf_join *join) {
    struct fa_audit *a = g->a;
    if (!a->perf.nrows || !g->ttnn.present)
        return false;
    perf_join_begin(join, &a->perf, &g->ttnn.graph, d, &a->arena);
    a->perf_joined += join->joined;
    if (!perf_is_shifted(join))
        return true;
    diag_add(&a->diags, SEV_ERROR, (struct source_location){a->options->perf, 0, 0},
             "the rows are shifted against the module, or of another one: they are not used",
             "at %u of %u locations ran another op than stands there: %.*s", join->disagreeing,
             join->disagreeing + join->agreeing, (int)join->example.n, join->example.p);
    return false;
}

/* So many fusions of the dialect missed in a module make one wonder whether there was any fusing, or those of so many
 * patterns that run by default. */
enum { MANY = 10, MANY_PATTERNS = 3 };

static bool is_unfused(const struct graph_audit *g) {
    const struct match_list *list = &g->found.selection.matches;
    struct str seen[MANY_PATTERNS];
    uint32_t direct = 0, n = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct pattern_status *s = &list->items[i].pattern->status;
        uint32_t k = 0;
        direct += pattern_reach(list->items[i].pattern) == REACH_DIALECT;
        while (k < n && !str_eq(seen[k], s->pattern))
            k++;
        if (k == n && n < MANY_PATTERNS && s->pattern.n && !s->gated.n)
            seen[n++] = s->pattern;
    }
    return g->ttnn.present && (direct >= MANY || n == MANY_PATTERNS) &&
           !signs_of_fusing(g->a->patterns, &g->ttnn.graph, g->ttir.present ? &g->ttir.graph : NULL);
}

static void report_findings(struct graph_audit *g) {
    struct fa_audit *a = g->a;
    struct perf_join join = {.perf = NULL};
    struct device device = device_of(g);
    struct findings *f = &g->found;
    f->compile = g->compile;
    f->ngraphs = a->inputs.ncompiles > 1 ? a->inputs.ngraphs : 1;
    f->patterns = a->patterns;
    f->graph = &g->decides->graph;
    f->device = &device;
    f->measured = join_perf(g, &device, &join) ? &join : NULL;
    f->cycles = a->chips.cycles;
    f->texts = &a->texts;
    f->tried = &a->tried;
    f->inputs = &a->inputs;
    f->unfused = is_unfused(g);
    f->show_slower = included(&a->options->patterns, "slower");
    bool ran = describe_findings(f, a->options, &a->report);
    a->unfused += f->unfused && !ran;
    perf_join_end(&join);
    f->device = NULL;
    f->measured = NULL;
}

static void remark(struct fa_audit *a, struct str text) {
    a->remarks = grow(a->remarks, &a->remarks_cap, a->nremarks + 1, sizeof *a->remarks);
    a->remarks[a->nremarks++] = arena_strdup(&a->arena, text);
}

static void remark_graph(const struct graph_audit *g) {
    struct fa_audit *a = g->a;
    const struct pairing *p = &g->found.origins.pairing;
    uint32_t places = g->found.selection.matches.n;
    struct str paired = STR(""); /* where nothing is found so much is paired as tells whether they belong together */
    if (places + g->found.regions.list.n > 0)
        paired = arena_printf(&a->arena, "%u paired by location, %u by dataflow, ", p->nlocation, p->ndataflow);
    remark(a, arena_printf(&a->arena, "graph %u: %u TTIR ops, %u TTNN ops, %.*s%u places", g->compile->number,
                           g->ttir.present ? g->ttir.ir.nops : 0, g->ttnn.present ? g->ttnn.ir.nops : 0, (int)paired.n,
                           paired.p, places));
    for (uint32_t i = 0; i < g->found.selection.nrefuted; i++)
        remark(a, g->found.selection.refuted[i].text);
}

static void warn_given_up(const struct graph_audit *g) {
    struct fa_audit *a = g->a;
    uint32_t gave_up = g->found.selection.matches.gave_up;
    uint64_t steps = search_steps(a->patterns->max_steps);
    if (gave_up)
        diag_add(&a->diags, SEV_WARNING, (struct source_location){g->decides->source->path, 0, 0}, NULL,
                 "%u search%s given up after %llu steps: what could be found that way is not reported", gave_up,
                 gave_up == 1 ? " was" : "es were", (unsigned long long)steps);
}

static void count_fused(const struct graph_audit *g) {
    struct fa_audit *a = g->a;
    const struct graph *graph = &g->decides->graph;
    if (a->options->expect)
        expectations_count(&a->expect, a->patterns, graph);
    if (!a->options->inventory)
        return;
    fused_count_add(&a->counts, a->patterns, graph, &a->arena);
    inventory_add(&a->fused, a->patterns, graph, &a->arena);
}

static void say_what_happened(const struct graph_audit *g) {
    struct fa_audit *a = g->a;
    diags_take(&a->diags, &g->diags);
    if (!g->refused) {
        warn_given_up(g);
        remark_graph(g);
    }
    a->skipped |=
        g->found.selection.matches.gave_up || g->ttir.ir.bad_ops + g->ttnn.ir.bad_ops > 0 || g->diags.errors > 0;
}

static void graph_audit_free(struct graph_audit *g) {
    pair_free(&g->found.origins.pairing);
    free(g->found.origins.matches.items);
    selection_free(&g->found.selection);
    free(g->found.regions.list.items);
    level_free(&g->ttir);
    level_free(&g->ttnn);
    diags_free(&g->diags);
    arena_free(&g->arena);
}

static void audit_graph(void *context, uint32_t i, uint32_t worker) {
    const struct graph_queue *all = context;
    struct fa_audit *a = all->a;
    struct graph_audit g = {
        .a = a,
        .compile = &a->inputs.compiles[i],
        .setup = {.patterns = a->patterns, .caches = all->caches + worker, .threads = all->threads}};
    read_levels(&g);
    if (!g.refused) {
        select_findings(&g);
        find_regions(&g);
        find_origins(&g);
    }
    work_wait(all->order, i); /* the report, and what is said, in the order of the graphs */
    if (!g.refused) {
        report_findings(&g);
        count_fused(&g);
    }
    say_what_happened(&g);
    work_done(all->order, i);
    graph_audit_free(&g);
}

/* Graphs side by side where there are several, functions and proofs side by side where there is one. */
static void audit_graphs(struct fa_audit *a) {
    uint32_t n = a->inputs.ncompiles, threads = work_threads(a->options->jobs);
    for (size_t i = 0; i < a->inputs.nfiles; i++)
        texts_see(&a->texts, &a->patterns->facts, &a->inputs.files[i].source, &a->arena);
    struct graph_queue all = {.a = a,
                              .order = work_order_new(),
                              .threads = n > 1 ? 1 : threads,
                              .caches = arena_alloc(&a->arena, threads * sizeof *all.caches)};
    for (uint32_t i = 0; i < threads; i++)
        all.caches[i] = match_cache_new(a->patterns);
    work_run(n, n > 1 ? threads : 1, audit_graph, &all);
    work_order_free(all.order);
    for (uint32_t i = 0; i < threads; i++)
        match_cache_free(all.caches[i]);
}

static bool read_chips(struct fa_audit *a) {
    const struct fa_audit_options *o = a->options;
    const char *dir = devices_directory(&o->patterns, &a->arena);
    struct buf names = {0};
    a->regions = region_kind_wanted(a->patterns, &o->patterns);
    if (!chips_load(&a->chips, dir, &a->arena, &a->diags))
        return false;
    if (a->regions != REGION_KINDS && !region_rules_load(&a->rules, dir, &a->arena, &a->diags))
        return false;
    a->chip = o->device ? chip_named(&a->chips, str_of(o->device)) : NULL;
    for (uint32_t i = 0; o->device && !a->chip && i < a->chips.n; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", a->chips.items[i].name.p);
    if (names.n)
        option_wrong(&a->diags, "--device", arena_strdup(&a->arena, buf_str(&names)), str_of(o->device));
    buf_free(&names);
    return !o->device || a->chip;
}

static void say_unfused(struct fa_audit *a) {
    struct source_location at = {a->inputs.ttnn_path, 0, 0};
    if (a->unfused == 1 && a->inputs.ncompiles == 1)
        diag_add(&a->diags, SEV_NOTE, at, NULL, "no op of it is fused: fusing seems to be off");
    else if (a->unfused)
        diag_add(&a->diags, SEV_NOTE, at, NULL, "in %u of %u graphs no op is fused: fusing seems to be off", a->unfused,
                 a->inputs.ncompiles);
}

static void say_unjoined(struct fa_audit *a) {
    uint32_t rest = a->perf.nrows - (a->perf_joined < a->perf.nrows ? a->perf_joined : a->perf.nrows);
    if (rest)
        diag_add(&a->diags, SEV_NOTE, (struct source_location){a->options->perf, 0, 0}, NULL,
                 "%u of %u rows are of no op of the module, and not used; %u more are of const-eval", rest,
                 a->perf.nrows, a->perf.nconst_eval);
}

static bool read_gates(struct fa_audit *a) {
    const struct fa_audit_options *o = a->options;
    struct least_saving *least = &a->report.least;
    least->given = o->min_saving;
    least->by_effort =
        !least->given && !o->baseline && !o->inventory && !o->patterns.only && !included(&o->patterns, "slower");
    if (o->min_saving && !read_time_or_share(str_of(o->min_saving), &least->us, &least->share))
        return option_wrong(&a->diags, "--min-saving", "a time such as 10us or a share such as 1%",
                            str_of(o->min_saving));
    return sources_check(o->fail_on, "--fail-on", &a->arena, &a->diags) &&
           (!o->baseline || baseline_read(&a->baseline, o->baseline, &a->arena, &a->diags)) &&
           (!o->expect || expectations_read(&a->expect, o->expect, &a->arena, &a->diags));
}

/* True when something fails: a finding, with a baseline a new one, an expectation, with --strict-baseline an entry of
 * the baseline. */
static bool gates_fail(struct fa_audit *a) {
    const struct fa_audit_options *o = a->options;
    struct finding_list *l = &a->report.findings;
    struct gate gate = {o->fail_on, o->baseline ? report_least_us(&a->report) : -1};
    char date[DAY_TEXT];
    bool fail = o->baseline || o->fail_on ? findings_fail(l->items, l->n, &gate) > 0 : l->n > 0;
    for (uint32_t i = 0; i < l->n && !o->baseline && !o->fail_on; i++)
        l->items[i]->fails = true;
    if (o->baseline) {
        bool all = !o->patterns.no_bundled && !a->skipped && !a->inputs.failed && !a->inputs.partial;
        fail |=
            baseline_tell(&a->baseline, today(date), all, a->patterns, &o->patterns, &a->diags) && o->strict_baseline;
    }
    if (o->expect)
        a->failed = expectations_check(&a->expect, l, o, &a->diags);
    return fail || a->failed;
}

/* What the baseline knows is known before anything is left out. */
static void finish_report(struct fa_audit *a) {
    if (a->options->baseline)
        baseline_apply(&a->baseline, &a->report);
    report_sort(&a->report);
    size_t places = fa_places(a);
    if (a->proofs && places)
        remark(a, arena_printf(&a->arena, "proofs: %u evaluated for %zu place%s", proofs_count(a->proofs), places,
                               places == 1 ? "" : "s"));
    say_unfused(a);
    say_unjoined(a);
}

static enum fa_status run(struct fa_audit *a, const struct fa_audit_options *o) {
    a->patterns = patterns_asked_for(&o->patterns, &a->own, &a->diags);
    if (!a->patterns || !read_chips(a) || !read_gates(a))
        return FA_USAGE;
    if (o->perf && !perf_read(&a->perf, o->perf, &a->arena, &a->diags))
        return FA_INPUT;
    if (o->tried)
        tried_read(&a->tried, o->tried, &a->arena, &a->diags);
    enum fa_status read = inputs_read(&a->inputs, &o->inputs, &a->arena, &a->diags);
    if (read != FA_CLEAN)
        return read;
    a->report.ttir_path = a->inputs.ttir_path;
    a->report.ttnn_path = a->inputs.ttnn_path;
    a->report.details = o->details;
    a->report.counted = o->count_only && !o->baseline && !o->expect && !o->inventory;
    a->narrowed = o->patterns.only || o->patterns.skip || o->patterns.sources || o->patterns.no_bundled ||
                  (o->patterns.library && o->patterns.library->narrowed);
    a->report.partial = a->narrowed;
    if (!o->no_validate)
        a->proofs = proofs_new(a->patterns, o->details);
    audit_graphs(a);
    finish_report(a);
    if (gates_fail(a)) /* what is found counts more than what was not read */
        return FA_MISSED;
    return a->diags.errors || a->skipped || a->inputs.failed ? FA_INPUT : FA_CLEAN;
}

struct fa_audit *fa_run_audit(const struct fa_audit_options *options) {
    IN_C_LOCALE;
    struct fa_audit *a = xcalloc(1, sizeof *a);
    a->diags.arena = &a->arena;
    a->diags.limit = options->max_diagnostics;
    a->options = options;
    a->status = run(a, options);
    a->options = NULL;
    return a;
}
