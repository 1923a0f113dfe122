/* From matches to instances of the report: for each match the ops that are shown, their locations, the notes and the
 * validation. One binding query for each level serves all matches of the graph. */
#include "report/describe.h"

#include "place/classify.h"
#include "place/flow.h"
#include "place/notes.h"
#include "price/price.h"

struct describer {
    const struct findings *f;
    const struct fa_options *options;
    struct note_context notes;
    struct matcher *query; /* of what matches bind */
    struct pricer pricer;
    struct arena arena; /* freed after each match */
};

static void begin_describing(struct describer *by, struct report *r) {
    const struct findings *f = by->f;
    bool ttnn = f->compile->ttnn.block;
    by->notes = (struct note_context){.set = f->patterns,
                                      .flow = flow_new(f->graph),
                                      .before_passes = !ttnn,
                                      .version_said = &r->version_said,
                                      .copies = (ttnn ? f->compile->ttnn : f->compile->ttir).block->copies,
                                      .graph = f->compile->number,
                                      .ngraphs = f->ngraphs};
    by->query = binding_query_new(f->graph);
    pricer_begin(&by->pricer, f->graph, f->device, f->cycles);
    by->pricer.measured = f->measured;
    if (f->origins)
        by->notes.origin_query = binding_query_new(f->origins->pairing.ttir);
}

static void end_describing(struct describer *by) {
    binding_query_free(by->query);
    binding_query_free(by->notes.origin_query);
    flow_free(by->notes.flow);
    pricer_end(&by->pricer);
    arena_free(&by->arena);
}

static struct instance describe(struct describer *by, uint32_t i) {
    const struct findings *f = by->f;
    const struct match *m = &f->selection->matches.items[i];
    const struct proved *verdict = f->selection->verdicts ? &f->selection->verdicts[i] : NULL;
    struct instance in = {.order = (uint64_t)f->compile->number << 32 | m->root, .ir_loc = ir_loc_of(m, &by->arena)};
    struct segment *shown = by->notes.before_passes ? &in.ttir : &in.ttnn;
    struct match_detail detail;
    binding_query_run(by->query, m, &by->arena, &detail);
    struct price price = price_match(&by->pricer, m, &detail);
    struct match_facts facts = {.shown = shown,
                                .detail = &detail,
                                .saves = price_line(&price, f->device, &by->arena),
                                .memory = price_precondition(&price, f->device, &by->arena)};
    *shown = match_segment(m, &by->arena);
    if (f->origins)
        in.ttir = origin_segment(f->origins, m, &by->arena, &facts.origin);
    facts.unpaired = f->origins && in.ttir.nops == 0;
    if (f->conflicts)
        facts.conflicts = f->conflicts[i];
    if (verdict)
        facts.verdict = verdict_line(verdict, &by->arena);
    if (verdict && by->options->details)
        in.validation = verdict_details(verdict, &by->arena);
    if (by->options->details)
        in.cost = price_details(&price, f->device, &by->arena);
    in.saved = price_saved_us(&price);
    in.notes = notes_of(&by->notes, m, &facts, &in.undone, &by->arena);
    return in;
}

static void add_instance(struct describer *by, uint32_t i, struct report *r) {
    const struct match *m = &by->f->selection->matches.items[i];
    struct entry_key key = {.fused_op = m->pattern->fused_op, .source = m->pattern->source};
    struct instance in = {.order = 0};
    if (!r->count_only)
        in = describe(by, i);
    if (by->options->classify)
        key.class = classify(m->pattern, in.undone);
    struct str *components = arena_alloc(&by->arena, (m->nops + (size_t)1) * sizeof *components);
    for (uint32_t k = 0; k < m->nops; k++)
        components[k] = mlir_op_name(m->graph->m, m->ops[k]);
    key.component_ops = (struct str_list){components, m->nops};
    report_add(r, &key, &in);
    r->nundone += in.undone;
    arena_reset(&by->arena);
}

void describe_findings(const struct findings *f, const struct fa_options *o, struct report *r) {
    struct describer by = {.f = f, .options = o};
    if (f->selection->matches.n && !r->count_only)
        begin_describing(&by, r);
    for (uint32_t i = 0; i < f->selection->matches.n; i++)
        add_instance(&by, i, r);
    end_describing(&by);
}
