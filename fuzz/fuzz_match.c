/* The matcher and the pairing with the bundled patterns, read once: many more inputs a second than whole audits. A
 * line `---` in the input starts the TTNN module; without one there is one level. */
#include "authoring/draft.h"
#include "device/price/price.h"
#include "fuzz.h"
#include "ir/pair/pair.h"
#include "report/explain/near_miss.h"
#include "report/place/classify.h"
#include "report/place/notes.h"
#include "search/match/search.h"

#include <stdlib.h>

struct module {
    struct source source;
    struct log_scan scan;
    struct mlir ir;
    struct graph graph;
    bool present;
};

static const struct pattern_set *patterns(void) {
    static struct pattern_set set;
    static struct arena arena;
    if (set.n == 0) {
        struct diags diags = {.arena = &arena};
        struct str bad;
        FUZZ_PROMISE(patterns_load(&set, FA_SOURCE_PATTERN_DIR, &diags) && patterns_select(&set, NULL, NULL, &bad));
        diags_free(&diags);
    }
    return &set;
}

/* The first block of a text. */
static void read_module(struct module *m, struct str text, struct arena *arena, struct diags *diags) {
    *m = (struct module){.source = fuzz_source((const uint8_t *)text.p, text.n)};
    log_scan(&m->source, arena, &m->scan);
    for (uint32_t i = 0; i < m->scan.nblocks && !m->present; i++)
        if (m->scan.blocks[i].chosen) {
            mlir_parse(&m->ir, &m->source, &m->scan.blocks[i], diags);
            graph_build(&m->graph, &m->ir, NULL);
            m->present = true;
        }
}

static void free_module(struct module *m) {
    if (!m->present)
        return;
    graph_free(&m->graph);
    mlir_free(&m->ir);
}

/* A chip with the figures of no other. */
static const struct device *device(void) {
    static const struct device d = {.chip = {.rows = 8,
                                             .columns = 8,
                                             .l1_bytes = 1 << 20,
                                             .dram_align = 32,
                                             .clock_mhz = 1000,
                                             .dram_rate = 200,
                                             .gap_us = 1,
                                             .startup_us = 2,
                                             .matrix_use = 0.5,
                                             .core_bytes = 20}};
    return &d;
}

/* With a fusion there is no more to launch than without it but for what its operands and result need. */
static void check_price(const struct match *m, const struct match_detail *detail, struct arena *arena) {
    static const double cycles[OPERATORS];
    struct pricer pricer;
    pricer_begin(&pricer, m->graph, device(), cycles);
    struct price price = price_match(&pricer, m, detail);
    FUZZ_PROMISE(!price.known || (price.with.estimated.us > 0 && price.without.counted.held >= 0));
    fuzz_touch(price_line(&price, device(), STR(""), arena));
    struct figures figures = price_figures(&price, device(), arena);
    for (uint32_t i = 0; i < figures.n; i++)
        fuzz_touch(figures.items[i].value);
    pricer_end(&pricer);
}

static void check_match(const struct match *m, const struct note_context *context, struct arena *arena) {
    const struct mlir *ir = m->graph->m;
    struct match_detail detail;
    FUZZ_PROMISE(m->nops > 0);
    for (uint32_t i = 0; i < m->nops; i++) {
        FUZZ_PROMISE(m->ops[i] < ir->nops && (m->func == NONE || ir->ops[m->ops[i]].func == m->func));
        for (uint32_t k = 0; k < i; k++)
            FUZZ_PROMISE(m->ops[k] != m->ops[i]);
    }
    for (uint32_t i = 0; i < m->nthrough; i++) {
        FUZZ_PROMISE(m->through[i] < ir->nops && (i == 0 || m->through[i - 1] < m->through[i]));
        for (uint32_t k = 0; k < m->nops; k++)
            FUZZ_PROMISE(m->ops[k] != m->through[i]);
    }
    struct segment shown = {ir, m->ops, m->nops};
    fuzz_touch(ir_loc_of(m, arena));
    if (!match_details(m, arena, &detail))
        return;
    struct claim claim = claim_of(context, m, NULL, &detail, arena);
    struct notes notes = notes_of(context, m, &detail, &shown, NULL, &claim, arena);
    fuzz_touch(notes.place);
    classify(&notes.claim);
    check_price(m, &detail, arena);
}

enum { FEW = 48 }; /* ops; of more only close places are put into words, which takes its time */

/* The same matches without a cache, and near misses whose ops are there, each once. */
static void explain(const struct module *m, uint32_t func, const struct match_list *found, struct arena *arena) {
    struct match_list again = {0};
    struct near_misses near = {0};
    struct near_query query = {.least = m->ir.nops < FEW ? 1 : LEAST_OPS};
    match_function(patterns(), &m->graph, func, arena, &again);
    near_misses_find(patterns(), NULL, &m->graph, func, &query, arena, &near);
    FUZZ_PROMISE(again.n == found->n);
    for (uint32_t i = 0; i < near.n; i++) {
        const struct near_miss *c = &near.items[i];
        FUZZ_PROMISE(c->root < m->ir.nops && (c->op == NONE || c->op < m->ir.nops) && c->nops <= c->total);
        for (uint32_t k = 0; k < c->nops; k++)
            FUZZ_PROMISE(c->ops[k] < m->ir.nops && (k == 0 || c->ops[k - 1] < c->ops[k]));
        FUZZ_PROMISE(c->reason.n > 0);
        fuzz_touch(c->reason);
        fuzz_touch(c->part);
    }
    free(again.items);
    free(near.items);
}

static void search_function(const struct module *m, uint32_t func, struct searcher *searcher, struct arena *arena,
                            struct match_list *all) {
    struct match_list found = {0};
    searcher_run(searcher, patterns(), func, &found);
    if (m->source.size % 8 == 0) /* most of the time would be its */
        explain(m, func, &found, arena);
    for (uint32_t i = 0; i < found.n; i++) {
        all->items = grow(all->items, &all->cap, all->n + 1, sizeof *all->items);
        all->items[all->n++] = found.items[i];
    }
    free(found.items);
}

static void search(const struct module *m, const struct pairing *pairs, struct arena *arena) {
    struct match_list found = {0};
    struct match_cache *cache = match_cache_new(patterns());
    struct searcher *searcher = searcher_new(&m->graph, cache, arena);
    search_function(m, NONE, searcher, arena, &found);
    for (uint32_t f = 0; f < m->ir.nfuncs; f++)
        if (m->graph.func_kind[f] == FUNC_MAIN)
            search_function(m, f, searcher, arena, &found);
    searcher_free(searcher);
    match_cache_free(cache);
    match_resolve(&found, NULL, NULL);
    struct flow *flow = flow_new(&m->graph);
    struct note_context context = {.set = patterns(), .flow = flow};
    for (uint32_t i = 0; i < found.n; i++) {
        uint32_t *ops, n;
        check_match(&found.items[i], &context, arena);
        if (pairs && pair_segment(pairs, found.items[i].ops, found.items[i].nops, arena, &ops, &n))
            for (uint32_t k = 0; k < n; k++)
                FUZZ_PROMISE(ops[k] < pairs->ttir->m->nops && (k == 0 || ops[k - 1] < ops[k]));
    }
    flow_free(flow);
    free(found.items);
}

static void check_pairs(const struct pairing *p) {
    for (uint32_t op = 0; op < p->ttnn->m->nops; op++)
        FUZZ_PROMISE(p->ttir_of[op] == NONE || p->ttir_of[op] < p->ttir->m->nops);
}

/* `patterns new` of an op. */
static void draft_op(const struct mlir *ir, uint32_t op, const char *file) {
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct pattern_set set = {0};
    struct buf out = {0};
    struct str name = mlir_span(ir, ir->values[ir->ops[op].first_result].name);
    struct str ops = arena_printf(&arena, "%.*s", (int)name.n, name.p);
    bool good = draft_make(&set, &(struct fa_inputs){.files = &file, .nfiles = 1}, ops.p, &diags, &out);
    FUZZ_PROMISE(good ? out.n > 0 : diags.n > 0);
    buf_free(&out);
    diags_free(&diags);
    patterns_free(&set);
    arena_free(&arena);
}

/* Of a few, from the one that the length decides. */
static void draft(const struct module *m, struct str text) {
    const struct mlir *ir = &m->ir;
    const char *file = fuzz_file(0, text);
    for (uint32_t i = 0; i < 4 && i < ir->nops; i++) {
        uint32_t op = (uint32_t)((text.n + i) % ir->nops);
        if (ir->ops[op].nresults == 1)
            draft_op(ir, op, file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct str first = {(const char *)data, size}, second = fuzz_cut(&first);
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct module a, b;
    struct pairing pairs;
    read_module(&a, first, &arena, &diags);
    read_module(&b, second, &arena, &diags);
    bool both = a.present && b.present;
    if (both) {
        pair_build(&pairs, &a.graph, &b.graph, true);
        check_pairs(&pairs);
    }
    if (a.present) {
        search(&a, NULL, &arena);
        draft(&a, first);
    }
    if (b.present)
        search(&b, both ? &pairs : NULL, &arena);
    if (both)
        pair_free(&pairs);
    free_module(&b);
    free_module(&a);
    diags_free(&diags);
    arena_free(&arena);
    return 0;
}
