/* What the report says of each match, in batches and over threads. */
#include "audit.h"
#include "report/classify.h"
#include "report/notes.h"

#include <stdlib.h>

static void describe(const struct graph_audit *g, struct describer *by, const struct match *m, struct instance *in) {
    const struct fa_audit *a = g->a;
    struct arena *arena = &by->arena;
    struct segment shown = audit_segment(m, arena);
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
            in->ttir = audit_ttir_segment(g, by, m, &context.origin);
        if (g->pairs && in->ttir.nops == 0)
            context.missing_level = "TTIR";
        if (context.origin && !by->ttir_closer)
            by->ttir_closer = match_closer_new(context.origin->graph, &by->kept);
        context.origin_closer = by->ttir_closer;
    }
    in->notes = notes_of(&context, m, &shown, arena);
}

/* What is put aside of it, as long as the batch. */
static struct str described_text(const struct graph_audit *g, struct describer *by, const struct match *m) {
    struct instance in = {0};
    describe(g, by, m, &in);
    instance_text(&in, &by->text);
    arena_reset(&by->arena);
    return arena_str(&by->said, buf_str(&by->text));
}

/* A pattern and the names of the ops are all that an entry is told by. */
static uint64_t kind_of(const struct match *m) {
    return (m->names ^ (uintptr_t)m->pattern) * 0x9E3779B97F4A7C15u | 1;
}

static struct instance instance_of(const struct graph_audit *g, const struct match *m) {
    struct instance in = {.order = (uint64_t)g->compile->number << 32 | m->root, .kind = kind_of(m)};
    if (g->a->options->classify)
        in.class = classify(m->pattern);
    return in;
}

static void describe_one(void *context, uint32_t i, uint32_t slot) {
    struct graph_audit *g = context;
    const struct match *m = &g->matches.items[g->described + i];
    g->batch[i] = instance_of(g, m);
    g->batch[i].stored = described_text(g, &g->describers[slot], m);
}

enum { BATCH = 512 }; /* matches that are described at once */

static uint32_t batch_size(const struct graph_audit *g) {
    uint32_t left = g->matches.n - g->described;
    return left < BATCH ? left : BATCH;
}

void audit_describe_begin(struct graph_audit *g) {
    g->describers = arena_alloc(&g->arena, (g->jobs + 1) * sizeof *g->describers);
    g->batch = arena_alloc(&g->arena, batch_size(g) * sizeof *g->batch);
    if (g->matches.n && !g->a->report.count_only)
        g->flow = flow_new(&g->shown->graph, g->jobs);
}

void audit_describe_batch(struct graph_audit *g) {
    if (!g->a->report.count_only)
        work_run(batch_size(g), g->jobs, describe_one, g);
}

/* The next matches are to be described, and what was said of the last ones is let go. */
static void next_batch(struct graph_audit *g, uint32_t n) {
    g->described += n;
    for (uint32_t i = 0; i < g->jobs; i++)
        arena_reset(&g->describers[i].said);
}

static void add_instance(struct graph_audit *g, const struct match *m, struct instance in) {
    struct report *r = &g->a->report;
    if (report_add_again(r, in))
        return;
    struct arena *arena = &g->describers[0].arena; /* of one match at a time */
    struct str *components = arena_alloc(arena, (m->nops + 1) * sizeof *components);
    for (uint32_t k = 0; k < m->nops; k++)
        components[k] = mlir_op_name(m->graph->m, m->ops[k]);
    report_add(r, m->pattern->fused_op, m->pattern->source, components, m->nops, in);
    arena_reset(arena);
}

/* Segments and locations are read from all over the text: its pages go each time that 4 MB of ops were described. */
void audit_report_batch(struct graph_audit *g) {
    uint32_t n = batch_size(g);
    bool bare = g->a->report.count_only;
    for (uint32_t i = 0; i < n; i++) {
        const struct match *m = &g->matches.items[g->described + i];
        add_instance(g, m, bare ? instance_of(g, m) : g->batch[i]);
        if (bare || !audit_steps(&g->matches, g->described + i))
            continue;
        level_release(&g->ttir);
        level_release(&g->ttnn);
    }
    next_batch(g, n);
}

void audit_describe_end(struct graph_audit *g) {
    for (uint32_t i = 0; i < g->jobs; i++) {
        struct describer *by = &g->describers[i];
        match_closer_free(by->closer);
        match_closer_free(by->ttir_closer);
        free(by->marks);
        buf_free(&by->text);
        arena_free(&by->said);
        arena_free(&by->arena);
        arena_free(&by->kept);
    }
    flow_free(g->flow);
}
