#include "report/describe.h"

#include "place/classify.h"
#include "place/flow.h"
#include "place/notes.h"

/* What describes the matches of one graph, one after another. */
struct describer {
    const struct findings *f;
    const struct fa_options *options;
    struct flow *flow;
    struct arena kept;                  /* as long as the graph */
    struct arena arena;                 /* as long as one match */
    struct matcher *query, *ttir_query; /* NULL until they are needed */
};

static struct matcher *query_for(struct matcher **query, const struct match *m, struct arena *a) {
    if (!*query)
        *query = binding_query_new(m->graph, a);
    return *query;
}

static void add_segments(struct describer *by, const struct match *m, struct instance *in,
                         struct note_context *context) {
    const struct findings *f = by->f;
    struct segment shown = match_segment(m, &by->arena);
    context->before = !f->compile->ttnn.block;
    if (context->before) {
        in->ttir = shown;
        return;
    }
    in->ttnn = shown;
    if (!f->origins)
        return;
    in->ttir = origin_segment(f->origins, m, &by->arena, &context->origin);
    if (in->ttir.nops == 0)
        context->missing_level = "TTIR";
    if (context->origin)
        context->origin_query = query_for(&by->ttir_query, context->origin, &by->kept);
}

static struct instance describe(struct describer *by, uint32_t i) {
    const struct findings *f = by->f;
    const struct match *m = &f->selection->matches.items[i];
    const struct log_block *block = f->compile->ttnn.block ? f->compile->ttnn.block : f->compile->ttir.block;
    struct instance in = {.order = (uint64_t)f->compile->number << 32 | m->root, .ir_loc = ir_loc_of(m, &by->arena)};
    struct note_context context = {.set = f->patterns,
                                   .copies = block->copies,
                                   .graph = f->compile->number,
                                   .ngraphs = f->ngraphs,
                                   .flow = by->flow,
                                   .query = query_for(&by->query, m, &by->kept),
                                   .conflicts = f->conflicts ? &f->conflicts[i] : NULL};
    if (f->selection->verdicts)
        context.verdict = verdict_line(&f->selection->verdicts[i], &by->arena);
    if (f->selection->verdicts && by->options->details)
        in.validation = verdict_details(&f->selection->verdicts[i], &by->arena);
    add_segments(by, m, &in, &context);
    in.notes = notes_of(&context, m, in.ttnn.nops ? &in.ttnn : &in.ttir, &by->arena);
    return in;
}

static void add_instance(struct describer *by, uint32_t i, struct report *r) {
    const struct match *m = &by->f->selection->matches.items[i];
    struct instance in = {.order = 0};
    if (!r->count_only)
        in = describe(by, i);
    if (by->options->classify)
        in.class = classify(m->pattern);
    struct str *components = arena_alloc(&by->arena, (m->nops + (size_t)1) * sizeof *components);
    for (uint32_t k = 0; k < m->nops; k++)
        components[k] = mlir_op_name(m->graph->m, m->ops[k]);
    report_add(r, m->pattern->fused_op, m->pattern->source, components, m->nops, in);
    arena_reset(&by->arena);
}

void describe_findings(const struct findings *f, const struct fa_options *o, struct report *r) {
    struct describer by = {.f = f, .options = o};
    if (f->selection->matches.n && !r->count_only)
        by.flow = flow_new(f->graph);
    for (uint32_t i = 0; i < f->selection->matches.n; i++)
        add_instance(&by, i, r);
    binding_query_free(by.query);
    binding_query_free(by.ttir_query);
    flow_free(by.flow);
    arena_free(&by.arena);
    arena_free(&by.kept);
}
