/* Which matches are reported: found, settled, and not refuted by their proofs. */
#include "audit.h"
#include "library.h"

#include <stdlib.h>
#include <string.h>

/* What --source leaves of the matches. A theoretical one that a direct one covers stays away all the same. */
static void drop_sources(const struct fa_options *o, struct match_list *list) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        if (source_wanted(o, list->items[i].pattern->source))
            list->items[n++] = list->items[i];
    list->n = n;
}

static void prove_one(void *context, uint32_t i, uint32_t slot) {
    struct graph_audit *g = context;
    (void)slot;
    const struct match *m = &g->matches.items[i];
    g->verdicts[i] = proofs_ask(g->a->proofs, m, g->blackhole);
    if (audit_steps(&g->matches, i))
        level_release(g->shown);
}

static struct str refuted_text(const struct match *m, struct str why, struct arena *a) {
    const struct mlir *ir = m->graph->m;
    uint32_t root = m->root;
    struct place at = mlir_place(ir, ir->ops[root].text.begin);
    struct str op = mlir_op_name(ir, root);
    return arena_printf(a, "%s:%llu: %.*s at %.*s is not reported: %.*s", at.file, (unsigned long long)at.line,
                        (int)m->pattern->fused_op.n, m->pattern->fused_op.p, (int)op.n, op.p, (int)why.n, why.p);
}

static void prove_matches(struct graph_audit *g) {
    g->verdicts = arena_alloc(&g->arena, (g->matches.n + 1) * sizeof *g->verdicts);
    work_run(g->matches.n, g->jobs, prove_one, g);
}

/* The matches that are refuted, and what is said of them. How many there are that were not known. */
static uint32_t find_refuted(struct graph_audit *g) {
    uint32_t before = g->nrefuted;
    for (uint32_t i = 0; i < g->matches.n; i++) {
        const struct match *m = &g->matches.items[i];
        if (!verdict_refutes(&g->verdicts[i]))
            continue;
        g->refuted = grow(g->refuted, &g->refuted_cap, g->nrefuted + 1, sizeof *g->refuted);
        g->refuted[g->nrefuted++] = (struct refuted){*m, refuted_text(m, g->verdicts[i].text, &g->arena)};
    }
    return g->nrefuted - before;
}

static bool is_refuted(const struct graph_audit *g, const struct match *m) {
    for (uint32_t i = 0; i < g->nrefuted; i++) {
        const struct match *r = &g->refuted[i].match;
        if (r->pattern == m->pattern && r->nops == m->nops && memcmp(r->ops, m->ops, m->nops * sizeof *m->ops) == 0)
            return true;
    }
    return false;
}

static void drop_refuted(const struct graph_audit *g, struct match_list *list) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        if (!is_refuted(g, &list->items[i]))
            list->items[n++] = list->items[i];
    list->n = n;
}

/* The matches that are reported. What is refuted gives its ops back to those that it overlaps: that is rare, so all
 * are searched again only then. */
void audit_find_matches(struct graph_audit *g) {
    audit_match_level(g, &g->shown->graph, true, &g->matches);
    drop_sources(g->a->options, &g->matches);
    if (!g->a->proofs)
        return;
    for (prove_matches(g); find_refuted(g); prove_matches(g)) {
        struct match_list all = {0};
        audit_match_level(g, &g->shown->graph, false, &all);
        drop_refuted(g, &all);
        match_settle(&all);
        drop_sources(g->a->options, &all);
        free(g->matches.items);
        g->matches = all;
    }
}
