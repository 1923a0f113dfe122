/* The audit, from files to findings, in the order of the rooms: source, log, mlir and graph (inputs.c), pattern and
 * prove (audit_match.c, audit_prove.c), pair, report (audit_describe.c). */
#include "audit.h"
#include "library.h"

#include <stdlib.h>
#include <string.h>

struct all_graphs {
    struct fa_audit *a;
    struct work_order *order;
    uint32_t inner_jobs;
    struct alike_memory **memories; /* of each thread */
};

static void read_levels(struct graph_audit *g) {
    g->diags.arena = &g->arena;
    level_read(&g->ttir, &g->compile->ttir, g->jobs, &g->diags);
    level_read(&g->ttnn, &g->compile->ttnn, g->jobs, &g->diags);
    g->shown = g->ttnn.present ? &g->ttnn : &g->ttir;
    g->blackhole = is_for_blackhole(&g->shown->ir);
}

/* Only what is reported asks where it comes from. */
static void pair_levels(struct graph_audit *g) {
    if (!g->matches.n || !g->ttnn.present || !g->ttir.present)
        return;
    pair_build(&g->pairing, &g->ttir.graph, &g->ttnn.graph);
    g->pairs = &g->pairing;
    audit_match_level(g, &g->ttir.graph, false, &g->ttir_matches);
}

/* What one graph found, in the order of the graphs. The first batch is described before its turn comes. */
static void hand_over(struct graph_audit *g) {
    struct fa_audit *a = g->a;
    audit_describe_begin(g);
    audit_describe_batch(g);
    work_wait(g->order, g->turn);
    audit_report_batch(g);
    while (g->described < g->matches.n) {
        audit_describe_batch(g);
        audit_report_batch(g);
    }
    diags_take(&a->diags, &g->diags);
    audit_say_given_up(g);
    a->unfused += g->unfused;
    a->skipped |= g->matches.gave_up || g->ttir.ir.bad_ops + g->ttnn.ir.bad_ops > 0 || g->diags.errors > 0;
    audit_remark_graph(g);
    work_done(g->order, g->turn);
}

static void graph_audit_free(struct graph_audit *g) {
    if (g->pairs)
        pair_free(&g->pairing);
    free(g->matches.items);
    free(g->ttir_matches.items);
    free(g->refuted);
    level_free(&g->ttir, &g->compile->ttir, g->jobs);
    level_free(&g->ttnn, &g->compile->ttnn, g->jobs);
    diags_free(&g->diags);
    audit_describe_end(g);
    arena_free(&g->arena);
}

static void audit_graph(void *context, uint32_t i, uint32_t slot) {
    struct all_graphs *all = context;
    struct graph_audit g = {.a = all->a,
                            .compile = &all->a->inputs.compiles[i],
                            .jobs = all->inner_jobs,
                            .memories = all->memories + slot,
                            .order = all->order,
                            .turn = i};
    read_levels(&g);
    audit_find_matches(&g);
    if (!all->a->report.count_only)
        g.rivals = match_rivals(&g.matches, &g.arena);
    g.unfused = audit_is_unfused(&g);
    pair_levels(&g);
    hand_over(&g);
    graph_audit_free(&g);
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

/* Neither asks for the other. Whoever is left over helps to read the inputs. */
static void read_thing(void *context, uint32_t i, uint32_t slot) {
    struct fa_audit *a = context;
    (void)slot;
    if (i == READ_PATTERNS) {
        a->has_patterns = patterns_read(a);
    } else if (i == READ_INPUTS) {
        a->status = inputs_read(&a->inputs, a->options, a->board, &a->input_arena, &a->input_diags);
        if (a->board)
            work_close(a->board);
    } else {
        work_help(a->board);
    }
}

static void read_things(struct fa_audit *a, uint32_t jobs) {
    if (jobs < 2 || !inputs_are_long(a->options)) {
        work_run(THINGS_READ, jobs, read_thing, a);
        return;
    }
    a->board = work_board_new();
    work_run(THINGS_READ + jobs, jobs, read_thing, a);
    work_board_free(a->board);
    a->board = NULL;
}

static enum fa_status run(struct fa_audit *a, const struct fa_options *o) {
    read_things(a, work_jobs(o->jobs));
    if (!a->has_patterns)
        return FA_USAGE;
    diags_take(&a->diags, &a->input_diags);
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
        audit_remark(a, arena_printf(&a->arena, "proofs: %u evaluated for %zu place%s", proofs_count(a->proofs),
                                     fa_places(a), fa_places(a) == 1 ? "" : "s"));
    audit_say_unfused(a);
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
