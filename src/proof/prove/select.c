/* Searches, resolves overlaps, proves, and does so again without what was refuted until nothing more is. */
#include "proof/prove/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/watch.h"
#include "base/work.h"
#include "device/price/price.h"
#include "patterns/library/choose.h"

struct proving {
    struct selection *selection;
    struct proofs *proofs;
    struct watch *watch;
    bool blackhole;
};

static void prove_one(void *context, uint32_t i, uint32_t worker) {
    struct proving *p = context;
    (void)worker;
    if (watch_wants(p->watch, "proving", i, p->selection->matches.n))
        p->selection->verdicts[i] = proofs_ask(p->proofs, &p->selection->matches.items[i], p->blackhole);
}

static void prove_matches(struct selection *s, struct proofs *proofs, const struct graph *g,
                          const struct search_setup *setup, struct arena *a) {
    s->verdicts = arena_alloc(a, (s->matches.n + (size_t)1) * sizeof *s->verdicts);
    work_run(s->matches.n, setup->threads, prove_one,
             &(struct proving){s, proofs, setup->watch, is_for_blackhole(g->m)});
}

static struct str refuted_text(const struct match *m, struct str why, struct arena *a) {
    const struct mlir *ir = m->graph->m;
    struct source_location at = mlir_place(ir, ir->ops[m->root].text.begin);
    struct str op = mlir_op_name(ir, m->root);
    return arena_printf(a, "%s:%llu: %.*s at %.*s is not reported: %.*s", at.file, (unsigned long long)at.line,
                        (int)m->pattern->fused_op.n, m->pattern->fused_op.p, (int)op.n, op.p, (int)why.n, why.p);
}

/* Moves refuted matches aside; returns how many are new. */
static uint32_t find_refuted(struct selection *s, struct arena *a) {
    uint32_t before = s->nrefuted;
    for (uint32_t i = 0; i < s->matches.n; i++) {
        const struct match *m = &s->matches.items[i];
        if (!verdict_refutes(&s->verdicts[i]))
            continue;
        s->refuted = grow(s->refuted, &s->refuted_cap, s->nrefuted + 1, sizeof *s->refuted);
        s->refuted[s->nrefuted++] = (struct refuted){*m, s->verdicts[i].text, refuted_text(m, s->verdicts[i].text, a)};
    }
    return s->nrefuted - before;
}

static bool is_refuted(const struct selection *s, const struct match *m) {
    for (uint32_t i = 0; i < s->nrefuted; i++) {
        const struct match *r = &s->refuted[i].match;
        if (r->pattern == m->pattern && r->nops == m->nops && memcmp(r->ops, m->ops, m->nops * sizeof *m->ops) == 0)
            return true;
    }
    return false;
}

static void drop_refuted(const struct selection *s, struct match_list *list) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        if (!is_refuted(s, &list->items[i]))
            list->items[n++] = list->items[i];
    list->n = n;
}

/* Applies --source to what would be reported without it, so that a narrowed report is a part of the full one. */
static void drop_sources(const struct fa_patterns *o, struct selection *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->matches.n; i++) {
        if (!source_wanted(o, s->matches.items[i].pattern))
            continue;
        s->matches.items[n] = s->matches.items[i];
        if (s->verdicts)
            s->verdicts[n] = s->verdicts[i];
        n++;
    }
    s->matches.n = n;
}

/* What takes longer saves nothing; of unknown sizes, too. What the compiler fuses as a whole is not taken apart. */
struct asked_savings {
    struct pricer *pricer;
    struct matcher *query;
    struct arena arena; /* freed after each match */
};

static struct saving saving_of(void *context, const struct match *m) {
    struct asked_savings *s = context;
    struct match_detail detail;
    struct saving saving = {0, 0};
    if (binding_query_run(s->query, m, &s->arena, &detail)) {
        struct price price = price_match(s->pricer, m, &detail);
        bool kept = m->pattern->status.pass.n && price_saves_launches(&price);
        saving = (struct saving){price_saved_us(&price), kept ? INFINITY : price_saved_at_best_us(&price)};
    }
    arena_reset(&s->arena);
    return saving;
}

static void resolve(struct match_list *all, struct pricer *pricer, struct selection *out) {
    struct asked_savings asked = {.pricer = pricer};
    out->gave_way.n = 0;
    if (pricer)
        asked.query = binding_query_new(pricer->graph, NULL);
    match_resolve(all, pricer ? &(struct savings){saving_of, &asked} : NULL, &out->gave_way);
    binding_query_free(asked.query);
    arena_free(&asked.arena);
}

/* A refuted match frees its ops for matches that it overlapped. That is rare, so the whole search is repeated then. */
void select_matches(const struct search_setup *setup, const struct fa_patterns *o, struct proofs *proofs,
                    const struct graph *g, struct pricer *pricer, struct arena *a, struct selection *out) {
    do {
        struct match_list all = {0};
        match_graph(setup, g, a, &all);
        drop_refuted(out, &all);
        resolve(&all, pricer, out);
        free(out->matches.items);
        out->matches = all;
        if (proofs)
            prove_matches(out, proofs, g, setup, a);
    } while (proofs && find_refuted(out, a));
    drop_sources(o, out);
}

void selection_free(struct selection *s) {
    free(s->matches.items);
    free(s->gave_way.items);
    free(s->refuted);
}
