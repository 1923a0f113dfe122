/* From matches to instances of the report: for each match the ops that are shown, their locations, the notes and the
 * validation. One binding query for each level serves all matches of the graph. */
#include "report/describe.h"

#include <ctype.h>
#include <stdlib.h>

#include "place/classify.h"
#include "place/flow.h"
#include "place/locate.h"
#include "place/notes.h"
#include "price/price.h"
#include "regions/rivals.h"
#include "regions/worth.h"
#include "report/describe_region.h"

struct describer {
    const struct findings *f;
    const struct fa_options *options;
    struct note_context notes;
    struct matcher *query;      /* of what matches bind */
    struct str_list *conflicts; /* by match; NULL: there are none */
    struct pricer pricer;
    struct ranks *ranks, *origin_ranks; /* of the graph, and of its TTIR */
    bool *counted;                      /* per op: what is saved there is in the sum of the report */
    struct arena arena;                 /* freed after each match */
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
    by->ranks = ranks_new(f->graph);
    by->counted = xcalloc(f->graph->m->nops + (size_t)1, sizeof *by->counted);
    by->origin_ranks = f->origins ? ranks_new(f->origins->pairing.ttir) : NULL;
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
    free(by->counted);
    ranks_free(by->ranks);
    ranks_free(by->origin_ranks);
    arena_free(&by->arena);
}

/* Hash of a text without the names of values in it and the lines of their ops: "%12 (ttir.add at line 34)". Not
 * `exact`: without any numbers. */
static uint64_t hash_without_names(struct str text, bool exact) {
    struct str line = STR("at line ");
    uint64_t h = 0;
    while (text.n) {
        bool at = str_starts(text, line),
             left_out = at || *text.p == '%' || (!exact && isdigit((unsigned char)*text.p));
        size_t n = at ? line.n : 1;
        while (left_out && n < text.n && (isalnum((unsigned char)text.p[n]) || text.p[n] == '_'))
            n++;
        h = left_out ? h : (h ^ (unsigned char)*text.p) * 0x100000001B3ull;
        text = (struct str){text.p + n, text.n - n};
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

/* What is told of one place: a match, or a region as one. */
struct described {
    const struct match *match;
    struct segment ops;
    struct match_detail detail;
    struct price price;
    const struct proved *verdict; /* NULL: nothing was proved */
    struct str_list conflicts;
    struct str beside; /* a wrong fusion; or empty */
    bool counts;       /* what it saves counts although others compete for its ops */
};

/* `ttir`: the ops that it descends from. */
static struct fingerprint identify(struct describer *by, const struct match *m, const struct segment *ttir,
                                   const struct str_list *names) {
    uint32_t *ops = arena_alloc(&by->arena, (m->nops + (size_t)1) * sizeof *ops);
    memcpy(ops, m->ops, m->nops * sizeof *ops);
    sort_ids(ops, m->nops);
    struct fingerprint f = {.structure = structure_hash(m->graph, m->pattern->name, ops, m->nops, &by->arena),
                            .place = place_hash(names)};
    if (by->origin_ranks && ttir->nops)
        ranks_of(by->origin_ranks, ttir->ops[ttir->nops - 1], &f);
    else
        ranks_of(by->ranks, m->root, &f);
    return f;
}

static struct instance describe(struct describer *by, const struct described *x) {
    const struct findings *f = by->f;
    const struct match *m = x->match;
    const struct proved *verdict = x->verdict;
    struct instance in = {.order = (uint64_t)f->compile->number << 32 | m->root, .ir_loc = ir_loc_of(m, &by->arena)};
    struct segment *shown = by->notes.before_passes ? &in.ttir : &in.ttnn;
    struct match_facts facts = {.shown = shown,
                                .detail = &x->detail,
                                .conflicts = x->conflicts,
                                .beside = x->beside,
                                .saves = price_line(&x->price, f->device, &by->arena),
                                .memory = price_precondition(&x->price, f->device, &by->arena)};
    *shown = x->ops;
    if (f->origins)
        in.ttir = origin_segment(f->origins, m, &by->arena, &facts.origin);
    facts.unpaired = f->origins && in.ttir.nops == 0;
    if (verdict)
        facts.verdict = verdict_line(verdict, &by->arena);
    if (verdict && by->options->details)
        in.validation = verdict_details(verdict, &by->arena);
    if (by->options->details)
        in.cost = price_details(&x->price, f->device, &by->arena);
    in.saved = price_saved_us(&x->price);
    in.label = label_of(by, m);
    in.notes = notes_of(&by->notes, m, &facts, &in.marks, &by->arena);
    if (x->price.known && in.saved < 0)
        in.marks.todo = (struct todo){TODO_LEAVE, STR(""), STR("")};
    in.alike = alike_hash(&in, facts.saves);
    in.reason = hash_without_names(in.marks.todo.why, false);
    in.fingerprint = identify(by, m, &in.ttir, &in.marks.names);
    in.pattern = m->pattern;
    return in;
}

/* The model location of a place and the names in the locations of its ops. */
static struct str_list names_of_place(struct describer *by, const struct described *x) {
    enum { MOST = 8 };
    const struct match *m = x->match;
    struct str *names = arena_alloc(&by->arena, (m->nops * (size_t)MOST + 1) * sizeof *names);
    uint32_t n = 0;
    struct str_list unused;
    names[n++] = locate_match(by->f->patterns, by->notes.flow, m, &x->detail, &unused, &by->arena);
    for (uint32_t i = 0; i < m->nops; i++) {
        int k = mlir_loc_names(m->graph->m, m->ops[i], names + n, MOST);
        n += (uint32_t)(k > MOST ? MOST : k > 0 ? k : 0);
    }
    return (struct str_list){names, n};
}

static bool is_suppressed(struct describer *by, const struct described *x, struct report *r) {
    const struct match *m = x->match;
    if (!r->suppress)
        return false;
    struct str_list names = names_of_place(by, x);
    const struct suppression *s = suppression_of(r->suppress, m->pattern->fused_op, names);
    if (!s)
        return false;
    struct left_out out = {.rule = m->pattern->name,
                           .fused_op = m->pattern->fused_op,
                           .label = label_of(by, m),
                           .place = names.items[0],
                           .reason = s->reason,
                           .line = mlir_place(m->graph->m, m->graph->m->ops[m->root].text.begin).line};
    report_leave_out(r, &out);
    return true;
}

/* The sum is of what can all be fused: direct fusions, and others as long as nobody else needs their ops. */
static void count_saving(struct describer *by, const struct described *x, double saved, struct report *r) {
    const struct match *m = x->match;
    bool alone = x->counts || !x->conflicts.n;
    for (uint32_t k = 0; k < m->nops && !x->counts; k++)
        alone &= !by->counted[m->ops[k]];
    if (!alone || !(saved > 0))
        return;
    for (uint32_t k = 0; k < m->nops; k++)
        by->counted[m->ops[k]] = true;
    r->saved_us += saved;
}

static void add_instance(struct describer *by, const struct described *x, struct report *r) {
    const struct match *m = x->match;
    if (is_suppressed(by, x, r)) {
        arena_reset(&by->arena);
        return;
    }
    struct entry_key key = {.fused_op = m->pattern->fused_op, .source = m->pattern->source};
    struct instance in = {.order = 0};
    if (!r->count_only)
        in = describe(by, x);
    if (by->options->classify)
        key.class = classify(m->pattern, in.marks.undone);
    struct str *components = arena_alloc(&by->arena, (m->nops + (size_t)1) * sizeof *components);
    for (uint32_t k = 0; k < m->nops; k++)
        components[k] = mlir_op_name(m->graph->m, m->ops[k]);
    key.component_ops = (struct str_list){components, m->nops};
    report_add(r, &key, &in);
    if (!r->count_only)
        count_saving(by, x, in.saved, r);
    arena_reset(&by->arena);
}

static void add_match(struct describer *by, uint32_t i, struct report *r) {
    const struct findings *f = by->f;
    const struct match *m = &f->selection->matches.items[i];
    struct described x = {.match = m, .counts = pattern_is_direct(m->pattern)};
    if (!r->count_only || r->suppress)
        binding_query_run(by->query, m, &by->arena, &x.detail);
    if (!r->count_only) {
        x.price = price_match(&by->pricer, m, &x.detail);
        x.ops = match_segment(m, &by->arena);
        x.verdict = f->selection->verdicts ? &f->selection->verdicts[i] : NULL;
    }
    if (by->conflicts)
        x.conflicts = by->conflicts[i];
    if (f->beside)
        x.beside = f->beside[i];
    add_instance(by, &x, r);
}

static void add_region(struct describer *by, uint32_t i, const struct str_list *rivals, struct report *r) {
    const struct found_regions *f = by->f->regions;
    const struct region *region = &f->list.items[i];
    struct match m = region_match(by->f->graph, f->rules, region);
    struct described x = {.match = &m,
                          .ops = {by->f->graph->m, region->ops, region->nops},
                          .price = region_price(&by->pricer, region),
                          .verdict = f->verdicts ? &f->verdicts[i] : NULL,
                          .conflicts = rivals[i]};
    if (!region_is_worth(&x.price) || (x.verdict && verdict_refutes(x.verdict)))
        return;
    if (!r->count_only)
        x.detail = region_detail(by->f->graph, f->rules, region, &by->arena);
    add_instance(by, &x, r);
}

static void add_regions(struct describer *by, const struct str_list *rivals, struct report *r) {
    for (uint32_t i = 0; i < by->f->regions->list.n; i++)
        add_region(by, i, rivals, r);
}

void describe_findings(const struct findings *f, const struct fa_options *o, struct report *r) {
    struct describer by = {.f = f, .options = o, .conflicts = f->conflicts};
    struct arena kept = {0};
    struct str_list *rivals =
        region_rivals(&f->regions->list, f->regions->rules, &f->selection->matches, &by.conflicts, &kept);
    bool any = f->selection->matches.n + f->regions->list.n > 0;
    if (any && (!r->count_only || r->suppress || f->regions->list.n))
        begin_describing(&by);
    if (any && !r->count_only) {
        r->total_us += graph_us(&by.pricer);
        if (!r->device.n && f->device->choice != CHIP_OF_MODULE)
            r->device = arena_str(&r->arena, device_label(f->device, &by.arena));
    }
    if (f->origins) {
        r->npaired += f->origins->pairing.nlocation + f->origins->pairing.ndataflow;
        r->nunpaired += f->origins->pairing.nunpaired;
    }
    for (uint32_t i = 0; i < f->selection->matches.n; i++)
        add_match(&by, i, r);
    add_regions(&by, rivals, r);
    end_describing(&by);
    arena_free(&kept);
}
