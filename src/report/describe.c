/* From matches to instances of the report: for each match the ops that are shown, their locations, the notes and the
 * validation. One binding query for each level serves all matches of the graph. */
#include "report/describe.h"

#include <ctype.h>

#include "place/classify.h"
#include "place/flow.h"
#include "place/locate.h"
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

static void begin_describing(struct describer *by) {
    const struct findings *f = by->f;
    bool ttnn = f->compile->ttnn.block;
    by->notes = (struct note_context){.set = f->patterns,
                                      .flow = flow_new(f->graph),
                                      .before_passes = !ttnn,
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

/* Hash of a text without the names of values in it and the lines of their ops: "%12 (ttir.add at line 34)". Not
 * `exact`: without any numbers. */
static uint64_t hash_without_names(struct str text, bool exact) {
    struct str line = STR("at line ");
    uint64_t h = 0;
    for (size_t i = 0; i < text.n; i++) {
        struct str rest = {text.p + i, text.n - i};
        bool name = rest.p[0] == '%', at = str_starts(rest, line);
        size_t skip = name ? 1 : at ? line.n : 0;
        if (!skip && !exact && isdigit((unsigned char)rest.p[0]))
            name = true;
        if (!name && !at)
            h = (h ^ (unsigned char)rest.p[0]) * 0x100000001B3ull;
        while ((name || at) && skip < rest.n && (isalnum((unsigned char)rest.p[skip]) || rest.p[skip] == '_'))
            skip++;
        i += skip > 0 ? skip - 1 : 0;
    }
    return h;
}

static struct str marked(struct str notes, struct span s) {
    return (struct str){notes.p + s.begin, s.end - s.begin};
}

/* Places that differ in names and locations only have the same hash; it is not 0. */
static uint64_t alike_hash(const struct instance *in, struct str saves) {
    const struct note_marks *k = &in->marks;
    const uint64_t all[] = {segment_hash(&in->ttir),
                            segment_hash(&in->ttnn),
                            str_hash(saves),
                            hash_without_names(marked(in->notes, k->verdict), true),
                            hash_without_names(marked(in->notes, k->compiler), true),
                            (uint64_t)k->todo.kind};
    return str_hash((struct str){(const char *)all, sizeof all}) | 1;
}

static struct str label_of(struct describer *by, const struct match *m) {
    const struct mlir *ir = m->graph->m;
    const struct mlir_op *op = &ir->ops[m->root];
    struct str name = mlir_op_name(ir, m->root);
    struct str value = op->nresults ? mlir_span(ir, ir->values[op->first_result].name) : STR("");
    return arena_printf(&by->arena, by->f->ngraphs > 1 ? "%.*s (%.*s, graph %u)" : "%.*s (%.*s)", (int)value.n, value.p,
                        (int)name.n, name.p, by->f->compile->number);
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
    in.label = label_of(by, m);
    in.notes = notes_of(&by->notes, m, &facts, &in.marks, &by->arena);
    if (price.known && in.saved < 0)
        in.marks.todo = (struct todo){TODO_LEAVE, STR(""), STR("")};
    in.alike = alike_hash(&in, facts.saves);
    in.reason = hash_without_names(in.marks.todo.why, false);
    return in;
}

/* The model location of a place and the names in the locations of its ops. */
static struct str_list names_of_place(struct describer *by, const struct match *m) {
    enum { MOST = 8 };
    struct match_detail detail;
    struct str *names = arena_alloc(&by->arena, (m->nops * (size_t)MOST + 1) * sizeof *names);
    uint32_t n = 0;
    binding_query_run(by->query, m, &by->arena, &detail);
    names[n++] = locate_match(by->f->patterns, by->notes.flow, m, &detail, &by->arena);
    for (uint32_t i = 0; i < m->nops; i++) {
        int k = mlir_loc_names(m->graph->m, m->ops[i], names + n, MOST);
        n += (uint32_t)(k > MOST ? MOST : k > 0 ? k : 0);
    }
    return (struct str_list){names, n};
}

static bool is_suppressed(struct describer *by, const struct match *m, struct report *r) {
    if (!r->suppress)
        return false;
    struct str_list names = names_of_place(by, m);
    const struct suppression *s = suppression_of(r->suppress, m->pattern->fused_op, names);
    if (!s)
        return false;
    struct str op = m->pattern->fused_op, place = names.items[0], label = label_of(by, m);
    r->suppressed = grow(r->suppressed, &r->suppressed_cap, r->nsuppressed + 1, sizeof *r->suppressed);
    r->suppressed[r->nsuppressed++] =
        arena_printf(&r->arena, "suppressed: %.*s at %.*s%s%.*s: %.*s", (int)op.n, op.p, (int)label.n, label.p,
                     place.n ? ", " : "", (int)place.n, place.p, (int)s->reason.n, s->reason.p);
    return true;
}

static void add_instance(struct describer *by, uint32_t i, struct report *r) {
    const struct match *m = &by->f->selection->matches.items[i];
    if (is_suppressed(by, m, r)) {
        arena_reset(&by->arena);
        return;
    }
    struct entry_key key = {.fused_op = m->pattern->fused_op, .source = m->pattern->source};
    struct instance in = {.order = 0};
    if (!r->count_only)
        in = describe(by, i);
    if (by->options->classify)
        key.class = classify(m->pattern, in.marks.undone);
    struct str *components = arena_alloc(&by->arena, (m->nops + (size_t)1) * sizeof *components);
    for (uint32_t k = 0; k < m->nops; k++)
        components[k] = mlir_op_name(m->graph->m, m->ops[k]);
    key.component_ops = (struct str_list){components, m->nops};
    report_add(r, &key, &in);
    if (in.saved > 0 && (pattern_is_direct(m->pattern) || !by->f->conflicts || !by->f->conflicts[i].n))
        r->saved_us += in.saved;
    arena_reset(&by->arena);
}

void describe_findings(const struct findings *f, const struct fa_options *o, struct report *r) {
    struct describer by = {.f = f, .options = o};
    if (f->selection->matches.n && (!r->count_only || r->suppress))
        begin_describing(&by);
    if (f->selection->matches.n && !r->count_only) {
        r->total_us += price_graph(&by.pricer);
        if (!r->device.n && f->device->choice != CHIP_OF_MODULE)
            r->device = arena_str(&r->arena, device_label(f->device, &by.arena));
    }
    if (f->origins) {
        r->npaired += f->origins->pairing.nlocation + f->origins->pairing.ndataflow;
        r->nunpaired += f->origins->pairing.nunpaired;
    }
    for (uint32_t i = 0; i < f->selection->matches.n; i++)
        add_instance(&by, i, r);
    end_describing(&by);
}
