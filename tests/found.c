/* What the search finds in the examples of a pattern directory: found.txt has it, and table_test.py compares.
 *
 *     relu6                                   a pattern
 *       out = clamp(x, 0, 6)                  its formula as it is printed, unless that is the one of another pattern
 *       where floating(x)                     its conditions
 *       0: %1 %3 through %2, x %0 [..] 8x4    a match: its ops, what it looks through, its names: a value, its index
 *                                             map where that is not the identity, and its axes
 *          %1 = 6(8), %2 parameter            what is known of values: of a constant its significant bits; the
 *          also relu at %1                    dimensions that it varies along, a bit each; what is found beside it
 *          pairs %3 -                         of the module paired with itself: an op that is not its own origin
 *          of %1 %2 %3                        what the match descends from then, where that is not just its ops
 *       1: %3: 1 of 2 ops %3, number %1: ...  no match: the root, what matches, and what explain says is different
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "authoring/examples.h"
#include "ir/pair/pair.h"
#include "parsed_module.h"
#include "patterns/lang/printer.h"
#include "report/explain/near_miss.h"
#include "search/match/search_graph.h"

static void print_value(const struct graph *g, uint32_t v, FILE *out) {
    struct str name = v == NONE ? STR("-") : mlir_span(g->m, g->m->values[v].name);
    fprintf(out, " %.*s", (int)name.n, name.p);
    if (v != NONE && g->m->values[v].index && g->m->values[v].def != NONE)
        fprintf(out, "#%u", g->m->values[v].index);
}

static void print_op(const struct graph *g, uint32_t op, FILE *out) {
    if (op == NONE || !g->m->ops[op].nresults)
        fprintf(out, " %s", op == NONE ? "-" : mlir_op_name(g->m, op).p);
    else
        print_value(g, g->m->ops[op].first_result, out);
}

static void print_ops(const struct graph *g, const uint32_t *ops, uint32_t n, FILE *out) {
    for (uint32_t i = 0; i < n; i++)
        print_op(g, ops[i], out);
}

/* "1/64*8": the digits of size 64 above the first 1 elements, times 8. */
static void print_map(const struct imap *map, FILE *out) {
    fprintf(out, " [");
    for (uint32_t i = 0; i < map->n; i++)
        fprintf(out, "%s%lld/%lld*%lld", i ? " " : "", (long long)map->t[i].lo, (long long)map->t[i].size,
                (long long)map->t[i].stride);
    fprintf(out, "]");
}

static void print_binding(const struct graph *g, const struct binding *b, bool variable, FILE *out) {
    struct imap whole;
    print_value(g, b->value, out);
    if (!variable || !b->map)
        return;
    imap_identity(&whole, b->map->n ? b->map->t[0].space : 0, graph_numel(g, b->value));
    if (!imap_equal(&whole, b->map))
        print_map(b->map, out);
    if (b->needed && !imap_equal(b->needed, b->map))
        print_map(b->needed, out);
    for (uint32_t i = 0; b->axes && i < b->axes->n; i++)
        fprintf(out, "%s%lld", i ? "x" : " ", (long long)axes_extent(b->axes, (int)i));
}

static void print_lines(const char *head, struct str_list lines, FILE *out) {
    for (uint32_t i = 0; i < lines.n; i++)
        fprintf(out, "; %s %.*s", head, (int)lines.items[i].n, lines.items[i].p);
}

static void print_match(const struct match *m, struct arena *a, FILE *out) {
    const struct formula *f = &m->pattern->formula;
    const struct graph *g = m->graph;
    struct match_detail d;
    print_ops(g, m->ops, m->nops, out);
    if (m->nthrough)
        fprintf(out, " through");
    print_ops(g, m->through, m->nthrough, out);
    if (!match_details(m, a, &d)) {
        fprintf(out, "; not found again\n");
        return;
    }
    for (uint32_t i = 0; i < d.nslots; i++)
        if (f->slots[i].name.n && d.slots[i].value != NONE) {
            fprintf(out, ", %.*s", (int)f->slots[i].name.n, f->slots[i].name.p);
            print_binding(g, &d.slots[i], f->slots[i].is_variable, out);
        }
    for (uint32_t i = 0; i < d.nconstants; i++) {
        fprintf(out, "; assumes");
        print_value(g, d.constants[i].value, out);
        fprintf(out, " %g%s", d.constants[i].number, d.constants[i].stated ? " stated" : "");
    }
    print_lines("slice", d.slices, out);
    print_lines("blocked", d.blocked, out);
    const uint32_t notes[] = {d.preconditions.n, d.remarks.n, d.outside.n, d.undone.n};
    static const char *const names[] = {"preconditions", "remarks", "outside", "undone"};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (notes[i])
            fprintf(out, "; %u %s", notes[i], names[i]);
    fprintf(out, "%s%s%.*s\n", d.decomposed ? "; decomposed" : "", d.torch.n ? "; " : "",
            d.torch.n ? (int)strcspn(d.torch.p, " (") : 0, d.torch.p);
}

/* What an op looks through is seen in the matches, what a value varies along is not. */
static void print_knowledge(const struct graph *g, FILE *out) {
    const char *before = "    ";
    for (uint32_t v = 0; v < g->m->nvalues; v++) {
        struct constant c = graph_constant(g, v);
        uint16_t varies = g->varies[v] & graph_dimensions(g, v);
        bool parameter = graph_is_parameter(g, v), less = varies != graph_dimensions(g, v);
        if (!(c.known || parameter || less) || !mlir_span(g->m, g->m->values[v].name).n)
            continue;
        fprintf(out, "%s", before);
        print_value(g, v, out);
        if (c.known)
            fprintf(out, " = %g(%d)", c.value, c.bits);
        else if (parameter)
            fprintf(out, " parameter");
        if (less && !c.known)
            fprintf(out, " varies %x", (unsigned)varies);
        before = ",";
    }
    fprintf(out, "%s", *before == ',' ? "\n" : "");
}

/* Of the module paired with itself: the ops that are not their own origin, and what the match descends from where that
 * is not just its ops. */
static void print_pairs(const struct match *own, struct arena *a, FILE *out) {
    const struct graph *g = own->graph;
    struct pairing p;
    uint32_t *ops = NULL, n = 0, same = 0;
    pair_build(&p, g, g, true);
    for (uint32_t op = 0; op < g->m->nops; op++)
        if (p.ttir_of[op] != op && graph_class(g, op) < OP_CONSTANT) {
            fprintf(out, "     pairs");
            print_op(g, op, out);
            print_op(g, p.ttir_of[op], out);
            fprintf(out, "\n");
        }
    pair_segment(&p, own->ops, own->nops, a, &ops, &n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < own->nops; k++)
            same += own->ops[k] == ops[i];
    if (same != n || same != own->nops) {
        fprintf(out, "     of");
        print_ops(g, ops, n, out);
        fprintf(out, "\n");
    }
    pair_free(&p);
}

/* What all patterns together find in it, with what the cache knows of the modules before it. */
static void print_others(const struct search_setup *setup, const struct match *own, struct arena *a, FILE *out) {
    struct match_list all = {0};
    match_graph(setup, own->graph, a, &all);
    match_resolve(&all, NULL, NULL);
    for (uint32_t i = 0; i < all.n; i++) {
        const struct match *m = &all.items[i];
        if (m->pattern == own->pattern)
            continue;
        fprintf(out, "    also %.*s at", (int)m->pattern->name.n, m->pattern->name.p);
        print_op(m->graph, m->root, out);
        fprintf(out, "\n");
    }
    free(all.items);
}

static void print_miss(const struct near_miss *n, FILE *out) {
    print_op(n->graph, n->root, out);
    fprintf(out, ": %u of %u ops", n->nops, n->total);
    print_ops(n->graph, n->ops, n->nops, out);
    fprintf(out, ", %s", n->kind);
    if (n->op != NONE)
        print_op(n->graph, n->op, out);
    fprintf(out, ": %.*s%s%.*s", (int)n->part.n, n->part.n ? n->part.p : "", n->part.n ? ": " : "", (int)n->reason.n,
            n->reason.p);
    if (n->hint)
        fprintf(out, "; %s", n->hint);
    if (n->others)
        fprintf(out, "; %u more", n->others);
    fprintf(out, "%s%s\n", n->whole ? "; whole" : "", n->excluded ? "; excluded" : "");
}

struct table {
    struct search_setup setup;
    const struct example *example; /* whose match was printed last */
};

static void print_pattern(const struct pattern *p) {
    struct buf text = {0};
    printf("%.*s\n", (int)p->name.n, p->name.p);
    if (!p->is_variant)
        formula_print(&p->formula, 2, &text);
    const struct number *const *lists[] = {p->where, p->require, p->unless};
    const uint32_t n[] = {p->nwhere, p->nrequire, p->nunless};
    const char *const names[] = {"where", "require", "unless"};
    for (int k = 0; k < 3; k++)
        for (uint32_t i = 0; i < n[k]; i++) {
            buf_printf(&text, "  %s ", names[k]);
            number_print(&p->formula, NULL, lists[k][i], &text);
            buf_addc(&text, '\n');
        }
    printf("%.*s", (int)text.n, text.n ? text.p : "");
    buf_free(&text);
}

static struct str print_found(void *self, const struct match *own, const struct example *e, struct arena *a) {
    struct table *t = self;
    printf("  %ld:", (long)(e - own->pattern->examples));
    print_match(own, a, stdout);
    if (t->example != e) {
        print_knowledge(own->graph, stdout);
        print_pairs(own, a, stdout);
        print_others(&t->setup, own, a, stdout);
    }
    t->example = e;
    return STR("");
}

static void print_misses(const struct pattern_set *set, const struct pattern *p, struct diags *d) {
    for (uint32_t i = 0; i < p->nexamples; i++) {
        struct arena arena = {0};
        struct parsed_module m;
        struct near_miss near;
        if (p->examples[i].hit)
            continue;
        parsed_module_read(&m, example_module(p, &p->examples[i], &arena, d), &arena);
        for (uint32_t f = 0; f < m.ir.nfuncs; f++)
            if (m.graph.func_kind[f] == FUNC_MAIN &&
                near_miss_of(p->is_variant ? p->variant_of : p, p, &m.graph, f, set->max_steps, &arena, &near)) {
                printf("  %u:", i);
                print_miss(&near, stdout);
            }
        parsed_module_free(&m);
        arena_free(&arena);
    }
}

int main(int argc, char **argv) {
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct pattern_set set = {0};
    struct example_counts counts = {0};
    bool good = argc == 2 && patterns_load(&set, argv[1], &diags);
    struct match_cache *cache = match_cache_new(&set);
    struct table table = {.setup = {.patterns = &set, .caches = &cache, .threads = 1}};
    struct example_judge judge = {.judge = print_found, .self = &table};
    for (uint32_t i = 0; i < set.n; i++) {
        good &= patterns_load_tests(&set, set.items[i], &diags);
        print_pattern(set.items[i]);
        examples_run(&set, set.items[i], &diags, &judge, &counts);
        print_misses(&set, set.items[i], &diags);
    }
    for (uint32_t i = 0; i < diags.n; i++)
        fprintf(stderr, "%s\n", diags.items[i].message);
    good &= diags.n == 0 && counts.run > 0;
    match_cache_free(cache);
    patterns_free(&set);
    diags_free(&diags);
    arena_free(&arena);
    return good ? 0 : 1;
}
