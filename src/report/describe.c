/* From matches to instances of the report: for each match the ops that are shown, their locations, the notes and the
 * validation. One binding query for each level serves all matches of the graph. */
#include "report/describe.h"

#include <stdlib.h>

#include "device/price/price.h"
#include "patterns/library/signs.h"
#include "patterns/library/unchecked.h"
#include "report/parts.h"
#include "report/place/classify.h"
#include "report/place/flow.h"
#include "report/place/locate.h"
#include "report/place/standalone.h"
#include "report/place/version.h"

static void begin_describing(struct describer *by, struct report *r) {
    const struct findings *f = by->f;
    struct device *device = arena_alloc(&r->arena, sizeof *device);
    *device = *f->device;
    const struct graph *ttir = f->origins.pairing.ttir;
    by->device = device;
    by->missed = f->unfused;
    by->fused = signs_of_fusing(f->patterns, f->graph, ttir);
    by->counted_only = r->counted;
    by->all = r->least.given;
    struct seen_compile *compile = arena_alloc(&r->arena, sizeof *compile);
    compile_see(f->patterns, f->texts,
                ttir                     ? ttir
                : f->compile->ttnn.block ? NULL
                                         : f->graph,
                f->compile->ttnn.block ? f->graph : NULL, &r->arena, compile);
    by->notes =
        (struct note_context){.set = f->patterns,
                              .compile = compile,
                              .before_passes = !f->compile->ttnn.block,
                              .fusing = by->fused && ttir && f->patterns->nsigns > 0 ? FUSING_ON : FUSING_UNKNOWN};
    by->dumps = dumps_new(f->inputs, f->compile);
    by->query = binding_query_new(f->graph, NULL);
    by->kinds = xcalloc(KIND_SLOTS, sizeof *by->kinds);
    by->taken = xcalloc(f->graph->m->nops + (size_t)1, sizeof *by->taken);
    by->best = xcalloc(f->graph->m->nops + (size_t)1, sizeof *by->best);
    by->finding_of = xcalloc(f->selection.matches.n + (size_t)1, sizeof *by->finding_of);
    pricer_begin(&by->pricer, f->graph, f->device, f->cycles);
    by->pricer.measured = f->measured;
    if (ttir)
        by->notes.origin_query = binding_query_new(ttir, "ttir:");
    if (by->counted_only)
        return;
    by->notes.flow = flow_new(f->graph);
    by->ranks = ranks_new(f->graph);
    by->origin_ranks = ttir ? ranks_new(ttir) : NULL;
    by->first_layer = r->nlayers;
    by->layers = layers_new(f->patterns, f->graph, by->notes.flow->known, &r->arena);
}

static void end_describing(struct describer *by) {
    binding_query_free(by->query);
    binding_query_free(by->notes.origin_query);
    flow_free(by->notes.flow);
    dumps_free(by->dumps);
    pricer_end(&by->pricer);
    layers_free(&by->layers);
    free(by->kinds);
    free(by->taken);
    free(by->best);
    free(by->places);
    free(by->finding_of);
    free(by->of_ops);
    ranks_free(by->ranks);
    ranks_free(by->origin_ranks);
    arena_free(&by->arena);
    arena_free(&by->kept);
}

static uint64_t cost_hash(const struct cost *c) {
    const struct counted *n = &c->counted;
    const int64_t counts[] = {n->launches, n->dram_read, n->dram_written, n->l1_read, n->l1_written, n->held};
    return str_hash((struct str){(const char *)counts, sizeof counts});
}

/* The graph that shown ops are of. */
static const struct graph *graph_of(const struct describer *by, const struct segment *s) {
    return by->f->graph->m == s->ir ? by->f->graph : by->f->origins.pairing.ttir;
}

/* Of what tells one proof from another. */
static uint64_t proof_hash(const struct proved *p) {
    const double figures[] = {p ? p->bound : 0, p ? p->device.pcc[1] : 0, p ? p->device.relative_l2[1] : 0};
    const uint64_t all[] = {str_hash((struct str){(const char *)figures, sizeof figures}),
                            p ? (uint64_t)p->kind << 32 | p->evaluated : UINT64_MAX, p ? p->same_outside : 0};
    return str_hash((struct str){(const char *)all, sizeof all});
}

/* Equal for places that differ in names and locations only; not 0. */
static uint64_t alike_key(const struct finding *f, const struct segment *ttir, const struct segment *ttnn) {
    const struct claim *c = &f->notes.claim;
    const double figures[] = {f->price.without.estimated.us, f->price.with.estimated.us, f->price.measured_us};
    const uint64_t all[] = {segment_hash(ttir),         segment_hash(ttnn),
                            str_hash(f->pattern->name), cost_hash(&f->price.without),
                            cost_hash(&f->price.with),  str_hash((struct str){(const char *)figures, sizeof figures}),
                            proof_hash(f->proof),       c->undone.n > 0,
                            (uint64_t)c->fusing,        (uint64_t)f->todo.kind};
    return str_hash((struct str){(const char *)all, sizeof all}) | 1;
}

static struct str label_of(struct describer *by, const struct match *m) {
    const struct mlir *ir = m->graph->m;
    struct str name = mlir_op_name(ir, m->root);
    struct str value = mlir_result_name(ir, m->root);
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
};

/* `ttir`: the ops that it descends from. */
static struct fingerprint identify(struct describer *by, const struct match *m, const struct segment *ttir,
                                   const struct str_list *names) {
    struct segment ops = matched_ops(m, &by->arena);
    struct fingerprint f = {.structure = structure_hash(m->graph, m->pattern->name, ops.ops, ops.nops, &by->arena),
                            .place = place_hash(names)};
    if (by->origin_ranks && ttir->nops)
        ranks_of(by->origin_ranks, ttir->ops[ttir->nops - 1], &f);
    else
        ranks_of(by->ranks, m->root, &f);
    return f;
}

static struct shown_ops shown(const struct describer *by, const struct segment *s, struct arena *a) {
    struct buf text = {0}, lines = {0};
    if (!s->nops)
        return (struct shown_ops){.text = STR("")};
    segment_text(s, &text);
    segment_lines(s, &lines);
    return (struct shown_ops){buf_take(&text, a), buf_take(&lines, a), extent_of(s->ir, s->ops[0]),
                              by->options->modules ? standalone_module(graph_of(by, s), s, a) : STR("")};
}

static struct str_list components_of(const struct match *m, struct arena *a) {
    struct str *names = arena_alloc(a, (m->nops + (size_t)1) * sizeof *names);
    for (uint32_t k = 0; k < m->nops; k++)
        names[k] = mlir_op_name(m->graph->m, m->ops[k]);
    return (struct str_list){names, m->nops};
}

/* The report shows the drawing of the first of those that are alike. */
static bool is_drawn(struct describer *by, const struct finding *f) {
    uint64_t key = hash_mix(f->alike, bits_of_double(f->saved_us)), *known = &by->drawn[key % DRAWN_SLOTS];
    bool drawn = *known == key;
    *known = key;
    return drawn;
}

/* The ops of a place in both levels, and its match in TTIR. */
struct both_levels {
    struct segment ttir, ttnn;
    const struct match *origin; /* or NULL */
};

static struct both_levels levels_of(struct describer *by, const struct described *x) {
    const struct findings *f = by->f;
    struct both_levels l = {.ttnn = x->ops};
    if (f->origins.pairing.ttir)
        l.ttir = origin_segment(&f->origins, x->match, &by->arena, &l.origin);
    else if (by->notes.before_passes)
        l = (struct both_levels){.ttir = x->ops};
    return l;
}

/* TTIR of before the passes has its ops already; of a pass of TTNN it is the ops of TTNN that its dumps have. */
static void see_around(struct describer *by, const struct match *m, const struct match *origin, struct claim *claim) {
    const struct compiler_pass *pass = find_pass(claim->set, claim->pattern->status.pass);
    const struct fact *f = pass ? fact_of_pass(&claim->set->facts, pass->name) : NULL;
    if (f && f->dump.n)
        claim->around = dumps_around(by->dumps, f->dump, str_is(pass->level, "ttnn") ? m : origin);
}

/* What is known of a place, without names and texts. */
static struct finding facts_of_place(struct describer *by, const struct described *x, const struct both_levels *l) {
    const struct findings *f = by->f;
    const struct match *m = x->match;
    struct arena *a = &by->arena;
    struct finding out = {.fused_op = m->pattern->fused_op,
                          .source = m->pattern->source,
                          .lacks = pattern_lacks(m->pattern),
                          .saved_us = us_as_said(price_saved_us(&x->price)),
                          .pattern = m->pattern,
                          .component_ops = components_of(m, a),
                          .notes.claim = claim_of(&by->notes, m, l->origin, &x->detail, a),
                          .price = x->price,
                          .device = by->device,
                          .proof = x->verdict,
                          .places = 1,
                          .graph = f->compile->number,
                          .ngraphs = f->ngraphs};
    struct claim *claim = &out.notes.claim;
    const struct graph *ttir = graph_of(by, &l->ttir);
    if (l->ttir.nops && (by->options->modules || f->tried->n))
        out.kind = standalone_kind(ttir, &l->ttir, a);
    claim->traced = l->ttir.nops > 0;
    claim->tried = tried_of(f->tried, out.kind);
    out.todo = todo_of(claim, a);
    if (out.todo.kind == TODO_LOOK && !claim->before) {
        see_around(by, x->match, l->origin, claim);
        out.todo = todo_of(claim, a);
    }
    if (price_is_slower(&x->price) || (!by->all && price_saves_nothing(&x->price, m->pattern->status.pass.n > 0)))
        out.todo = (struct todo){.kind = TODO_LEAVE};
    if (by->options->classify)
        out.class = classify(claim);
    out.alike = alike_key(&out, &l->ttir, &l->ttnn);
    return out;
}

static void add_texts(struct describer *by, const struct described *x, const struct both_levels *l,
                      struct finding *out) {
    const struct findings *f = by->f;
    const struct match *m = x->match;
    struct arena *a = &by->arena;
    out->ir_loc = ir_loc_of(m, a);
    out->label = label_of(by, m);
    out->ttir = shown(by, &l->ttir, a);
    out->ttnn = shown(by, &l->ttnn, a);
    out->notes = notes_of(&by->notes, m, &x->detail, &x->ops, l->origin, &out->notes.claim, a);
    out->place = out->notes.place;
    struct str maker = claim_maker(&out->notes.claim);
    out->known_defect =
        unchecked_text(f->patterns, unchecked_of(f->patterns, &maker, m->pattern->makes, m->graph, m->ops, m->nops), a);
    out->copies = (by->notes.before_passes ? f->compile->ttir : f->compile->ttnn).block->copies;
    out->unpaired = f->origins.pairing.ttir && !l->ttir.nops;
    out->fingerprint = identify(by, m, &l->ttir, &out->notes.names);
}

/* Of the layer that an op belongs to. */
static struct layer_time *time_of_layer(const struct describer *by, struct report *r, uint32_t op) {
    struct str name = by->layers.names[by->layers.of_op[op]];
    uint32_t i = r->nlayers, graph = by->f->compile->number;
    while (i > by->first_layer && !str_eq(r->layers[i - 1].name, name)) /* most ops are of the layer that came last */
        i--;
    if (i > by->first_layer)
        return &r->layers[i - 1];
    r->layers = grow(r->layers, &r->layers_cap, r->nlayers + 1, sizeof *r->layers);
    r->layers[r->nlayers] = (struct layer_time){.name = arena_str(&r->arena, name), .graph = graph};
    return &r->layers[r->nlayers++];
}

/* The fused ops that take ops of a match, each once; *us: what the findings that they are of save. */
static struct str_list takers_of(const uint32_t *taken, const struct match *m, const struct report *r, double *us,
                                 struct arena *a) {
    uint32_t first = 0, n = 0, ntakers = 0;
    *us = 0;
    while (first < m->nops && !taken[m->ops[first]])
        first++;
    if (first == m->nops) /* nothing takes any: mostly */
        return (struct str_list){NULL, 0};
    struct str *names = arena_alloc(a, m->nops * sizeof *names);
    uint32_t *takers = arena_alloc(a, m->nops * sizeof *takers);
    for (uint32_t k = first; k < m->nops; k++) {
        uint32_t i = 0, at = 0, taker = taken[m->ops[k]];
        if (!taker)
            continue;
        const struct finding *f = r->findings.items[taker - 1];
        while (at < ntakers && takers[at] != taker)
            at++;
        *us += at == ntakers ? f->saved_us : 0;
        takers[at] = taker;
        ntakers += at == ntakers;
        while (i < n && !str_eq(names[i], f->fused_op))
            i++;
        names[i] = f->fused_op;
        n += i == n;
    }
    return (struct str_list){names, n};
}

static void add_to_sum(struct describer *by, struct place *p, double us, struct report *r) {
    r->findings.items[p->finding]->counts_us += us;
    r->saved_us += us;
    if (by->layers.n > 1)
        time_of_layer(by, r, p->match->root)->saved_us += us;
}

static void count_saving(struct describer *by, struct place *p, struct report *r) {
    const struct match *m = p->match;
    struct finding *f = r->findings.items[p->finding];
    double us;
    struct str_list takers = takers_of(by->best, m, r, &us, &r->arena);
    bool better = pattern_is_direct(m->pattern) && f->saved_us - us >= NO_TIME_US;
    for (uint32_t k = 0; k < m->nops && (!takers.n || better); k++)
        by->best[m->ops[k]] = p->finding + 1;
    if (takers.n) {
        f->instead_of = takers;
        f->more_us = f->saved_us - us;
        p->needless = f->more_us < NO_TIME_US;
        f->needless += p->needless;
        f->gains_us += f->more_us > 0 ? f->more_us : 0;
        if (better)
            add_to_sum(by, p, us_as_said(f->more_us), r);
        return;
    }
    for (uint32_t k = 0; k < m->nops; k++)
        by->taken[m->ops[k]] = p->finding + 1;
    f->counted++;
    f->gains_us += f->saved_us;
    add_to_sum(by, p, f->saved_us, r);
}

static int by_claim(const void *pa, const void *pb) {
    const struct place *a = pa, *b = pb;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->saved_us != b->saved_us ? (a->saved_us < b->saved_us ? 1 : -1) : a->number < b->number ? -1 : 1;
}

/* No op counts twice: what the dialect has takes its ops before what its library has, that before what only others
 * have, and that before generated kernels; among these what saves more. What of TTNN saves more than the best before it
 * counts with that. */
static void count_savings(struct describer *by, struct report *r) {
    if (by->nplaces)
        qsort(by->places, by->nplaces, sizeof *by->places, by_claim);
    for (uint32_t i = 0; i < by->nplaces; i++)
        count_saving(by, &by->places[i], r);
}

/* Of a finding in the report. */
static void add_place(struct describer *by, const struct match *m, uint32_t finding, bool generated,
                      const struct report *r) {
    enum pattern_reach reach = pattern_reach(m->pattern);
    double saved = r->findings.items[finding]->saved_us;
    if (saved <= 0)
        return;
    by->places = grow(by->places, &by->places_cap, by->nplaces + 1, sizeof *by->places);
    by->places[by->nplaces] = (struct place){.match = m,
                                             .finding = finding,
                                             .number = by->nplaces,
                                             .saved_us = saved,
                                             .rank = generated                  ? 3
                                                     : reach == REACH_DIALECT   ? 0
                                                     : reach == REACH_ELSEWHERE ? 2
                                                                                : 1};
    by->nplaces++;
}

/* "from 2025-08-31 on (dtype of ttnn.add, line 7)": empty where nothing tells. */
static void add_sign(struct buf *b, const char *when, const struct version_sign *s) {
    struct str day = s->day;
    if (!day.n)
        return;
    bool at_most = str_ends(day, STR("+"));
    day.n -= at_most;
    buf_printf(b, "%s%s %.*s (%.*s, line %llu)", b->n ? ", " : "", at_most ? "of, or before," : when, (int)day.n, day.p,
               (int)s->what.n, s->what.p, (unsigned long long)s->line);
}

/* When the compiler of the module was made, and as of when what is said of passes is. */
static struct str version_of_claims(const struct describer *by, struct str claimed, struct arena *a) {
    const struct version *own = &by->notes.compile->version;
    struct buf b = {0};
    if (!claimed.n)
        return STR("");
    add_sign(&b, "from", &own->since);
    add_sign(&b, "before", &own->before);
    if (b.n)
        buf_add(&b, STR("; "));
    buf_printf(&b, "passes are described as of %.*s", (int)claimed.n, claimed.p);
    return buf_take(&b, a);
}

/* The fused op itself is in TTIR: the compiler took it apart, and nothing that is set keeps it. */
static bool is_taken_apart(const struct describer *by, const struct pattern *p, const struct both_levels *l,
                           const struct claim *c) {
    return by->f->origins.pairing.ttir && l->ttir.nops == 1 && p->makes != NO_OPERATOR && !c->undone.n &&
           by->f->origins.pairing.ttir->kind[l->ttir.ops[0]] == p->makes;
}

/* Returns the number of the finding in the report; NONE: it is not reported. */
static uint32_t add_finding(struct describer *by, struct described *x, struct report *r) {
    uint32_t number = r->findings.n;
    struct both_levels levels = levels_of(by, x);
    struct finding f = facts_of_place(by, x, &levels);
    bool apart = is_taken_apart(by, x->match->pattern, &levels, &f.notes.claim);
    if (apart && !x->match->pattern->show_decomposed)
        return NONE;
    if (!by->counted_only)
        add_texts(by, x, &levels, &f);
    f.notes.decomposed |= apart;
    by->missed |= claim_is_optional(&f.notes.claim) && tells_of_fusing(by->f->patterns, x->match);
    if (f.todo.kind == TODO_LEAVE && !by->f->show_slower) {
        number = NONE;
        r->nslower++;
    } else {
        if (!by->counted_only) {
            f.layer = by->layers.names[by->layers.of_op[x->match->root]];
            if (!is_drawn(by, &f))
                f.drawing = draw_match(x->match, &x->detail, &r->arena);
        }
        report_add(r, &f);
        if (!r->version.n)
            r->version = version_of_claims(by, claim_version(&f.notes.claim), &r->arena);
    }
    return number;
}

static void add_match(struct describer *by, uint32_t i, struct report *r) {
    const struct findings *f = by->f;
    const struct match *m = &f->selection.matches.items[i];
    struct described x = {.match = m};
    x.verdict = f->selection.verdicts ? &f->selection.verdicts[i] : NULL;
    uint64_t key = kind_key(by, m);
    key = key ? hash_mix(key, proof_hash(x.verdict)) : 0;
    const struct kind *known = known_kind(by, m, key);
    if (known && by->counted_only) {
        by->finding_of[i] = known->finding;
        if (known->finding == NONE) {
            r->nslower++;
            return;
        }
        r->findings.items[known->finding]->places++;
        add_place(by, m, known->finding, false, r);
        return;
    }
    binding_query_run(by->query, m, &by->arena, &x.detail);
    x.price = known ? known->price : price_match(&by->pricer, m, &x.detail);
    x.ops = match_segment(m, &by->arena);
    if (!by->counted_only)
        binding_query_say(by->query, &x.detail);
    by->finding_of[i] = add_finding(by, &x, r);
    if (by->finding_of[i] != NONE)
        add_place(by, m, by->finding_of[i], false, r);
    if (!known)
        keep_kind(by, key, &x.detail, (struct kind){.finding = by->finding_of[i], .price = x.price});
    arena_reset(&by->arena);
}

/* Whether the fusing passes of this graph were on, which is known when all its findings are (those from `first` on),
 * and says it in each: on, if one of their patterns made a part of a place; off, if nothing is fused and something was
 * missed. */
static enum fusing settle_fusing(const struct describer *by, struct report *r, uint32_t first) {
    bool off = !by->fused && (by->missed || part_is_missed(by, r));
    enum fusing now = off ? FUSING_OFF : by->notes.fusing;
    for (uint32_t i = first; i < r->findings.n; i++)
        if (r->findings.items[i]->notes.claim.fusing == FUSING_ON)
            now = FUSING_ON;
    for (uint32_t i = first; i < r->findings.n; i++) {
        struct finding *f = r->findings.items[i];
        if (f->notes.claim.fusing == now)
            continue;
        f->notes.claim.fusing = now;
        f->notes.claim.many = by->f->unfused && by->f->origins.pairing.ttir;
        if (f->todo.kind != TODO_LEAVE)
            f->todo = todo_of(&f->notes.claim, &r->arena);
    }
    return now;
}

/* It saves a launch or traffic of DRAM. */
static bool is_worth(const struct price *x) {
    struct saved saved = price_saved(x);
    return x->known && (saved.launches > 0 || saved.dram_bytes > 0);
}

/* Adds a region of elementwise ops as a finding where one kernel for it saves something. Of a very long one only the
 * last ops are described, since notes take time in proportion to the square of theirs. */
static void add_region(struct describer *by, uint32_t i, struct report *r) {
    enum { MOST_DESCRIBED = 512 };
    const struct found_regions *f = &by->f->regions;
    const struct region *region = &f->list.items[i];
    struct match m = region->match;
    struct described x = {.match = &m,
                          .ops = {by->f->graph->m, m.ops, m.nops},
                          .detail = region_detail(by->f->graph, f->rules, region, &by->arena),
                          .verdict = f->verdicts ? &f->verdicts[i] : NULL};
    x.price = price_match(&by->pricer, &m, &x.detail);
    if (m.nops > MOST_DESCRIBED) {
        m.ops += m.nops - MOST_DESCRIBED;
        m.nops = MOST_DESCRIBED;
    }
    uint32_t finding = is_worth(&x.price) ? add_finding(by, &x, r) : NONE;
    if (finding != NONE)
        add_place(by, &region->match, finding, true, r);
    arena_reset(&by->arena);
}

/* Of the ops that run, and of the layers that they belong to. */
static void add_times(struct describer *by, struct report *r) {
    uint32_t nops = by->f->graph->m->nops;
    by->of_ops = xcalloc(nops + (size_t)1, sizeof *by->of_ops);
    r->total_us += graph_us(&by->pricer, by->f->selection.matches.alike, by->of_ops);
    for (uint32_t op = 0; by->layers.n > 1 && op < nops; op++)
        if (by->of_ops[op] > 0)
            time_of_layer(by, r, op)->us += by->of_ops[op];
}

/* Needless is what no finding has. */
static void list_times(struct describer *by, struct report *r) {
    bool *taken = xcalloc(by->f->graph->m->nops + (size_t)1, sizeof *taken);
    struct timed_graph g = {&by->pricer, by->of_ops, taken, by->f->compile->number};
    for (uint32_t i = 0; i < by->nplaces; i++) {
        const struct match *m = by->places[i].match;
        for (uint32_t k = 0; k < m->nops + m->nthrough && !by->places[i].needless; k++)
            taken[k < m->nops ? m->ops[k] : m->through[k - m->nops]] = true;
    }
    if (by->options->times)
        times_add(&r->times, &g, &r->arena);
    needless_add(&r->times.needless, &g, &r->arena);
    free(taken);
}

/* What saves no more than the fused ops that take its ops. */
static void drop_needless(struct report *r, uint32_t first) {
    uint32_t n = first;
    for (uint32_t i = first; i < r->findings.n; i++) {
        struct finding *f = r->findings.items[i];
        f->places -= f->needless;
        r->nslower += f->needless;
        if (f->places > 0)
            r->findings.items[n++] = f;
    }
    r->findings.n = n;
}

bool describe_findings(const struct findings *f, const struct fa_audit_options *o, struct report *r) {
    struct describer by = {.f = f, .options = o};
    uint32_t first = r->findings.n;
    bool priced = f->selection.matches.n + f->regions.list.n > 0 || f->ngraphs > 1 /* all ops are those of all */ ||
                  o->inventory || o->baseline || o->times;
    if (priced) {
        begin_describing(&by, r);
        add_times(&by, r);
        if (!r->device.n)
            r->device = arena_str(&r->arena, device_label(f->device, &by.arena));
    }
    if (f->origins.pairing.ttir) {
        r->npaired += f->origins.pairing.nlocation + f->origins.pairing.ndataflow;
        r->nunpaired += f->origins.pairing.nunpaired;
    }
    for (uint32_t i = 0; i < f->selection.matches.n; i++)
        add_match(&by, i, r);
    for (uint32_t i = 0; i < f->regions.list.n; i++)
        add_region(&by, i, r);
    count_savings(&by, r);
    if (priced)
        list_times(&by, r);
    enum fusing fusing = settle_fusing(&by, r, first);
    if (f->selection.matches.n)
        count_parts(&by, fusing, first, r);
    end_describing(&by);
    if (!f->show_slower)
        drop_needless(r, first);
    return fusing == FUSING_ON;
}
