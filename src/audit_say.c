/* What is said of graphs as a whole: remarks for --verbose, warnings and notes. */
#include "audit.h"
#include "pattern/signs.h"

void audit_remark(struct fa_audit *a, struct str text) {
    a->remarks = grow(a->remarks, &a->remarks_cap, a->nremarks + 1, sizeof *a->remarks);
    a->remarks[a->nremarks++] = arena_strdup(&a->arena, text);
}

void audit_remark_graph(const struct graph_audit *g) {
    struct fa_audit *a = g->a;
    const struct pairing *p = g->pairs;
    struct str text =
        arena_printf(&a->arena, "graph %u: %u TTIR ops, %u TTNN ops, %u paired by location, %u by dataflow, %u places",
                     g->compile->number, g->ttir.present ? g->ttir.ir.nops : 0, g->ttnn.present ? g->ttnn.ir.nops : 0,
                     p ? p->nlocation : 0, p ? p->ndataflow : 0, g->matches.n);
    audit_remark(a, text);
    for (uint32_t i = 0; i < g->nrefuted; i++)
        audit_remark(a, g->refuted[i].text);
}

void audit_say_given_up(const struct graph_audit *g) {
    struct fa_audit *a = g->a;
    uint64_t steps = a->patterns.max_steps ? a->patterns.max_steps : MAX_STEPS;
    if (g->matches.gave_up)
        diag_add(&a->diags, SEV_WARNING, (struct place){g->shown->source.path, 0, 0}, "--limit steps=N allows more",
                 "%u search%s given up after %llu steps: what could be found that way is not reported",
                 g->matches.gave_up, g->matches.gave_up == 1 ? " was" : "es were", (unsigned long long)steps);
}

enum { MANY = 10 }; /* so many direct fusions missed in a module make one wonder whether there was any fusing */

static uint32_t direct_matches(const struct match_list *list) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        n += str_is(list->items[i].pattern->source, pattern_sources[0]);
    return n;
}

bool audit_is_unfused(const struct graph_audit *g) {
    return g->ttnn.present && direct_matches(&g->matches) >= MANY && !signs_of_fusing(&g->a->patterns, &g->ttnn.graph);
}

void audit_say_unfused(struct fa_audit *a) {
    struct place at = {a->inputs.ttnn_path, 0, 0};
    if (a->unfused == 1 && a->inputs.ncompiles == 1)
        diag_add(&a->diags, SEV_NOTE, at, NULL, "no op of it is fused: fusing seems to be off");
    else if (a->unfused)
        diag_add(&a->diags, SEV_NOTE, at, NULL, "in %u of %u graphs no op is fused: fusing seems to be off", a->unfused,
                 a->inputs.ncompiles);
}
