/* Searches, resolves overlaps, proves, and does so again without what was refuted until nothing more is. */
#include "proof/prove/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/work.h"
#include "device/price/price.h"
#include "patterns/library/choose.h"
#include "search/match/cache.h"
#include "search/match/fingerprint.h"

/* Of a place that is alike to others: the key that they share; 0: not known. */
static uint64_t place_key(const uint64_t *alike, const struct match *m) {
    return alike && m->func != NONE && alike[m->func] ? match_alike(m, alike[m->func]) : 0;
}

struct first_place {
    UT_hash_handle hh;
    uint64_t key;
    uint32_t match;
};

struct proving {
    struct selection *selection;
    struct proofs *proofs;
    bool blackhole;
    const uint32_t *first; /* per match: the first that is alike */
    bool others;           /* than these: what one has that holds is theirs, too */
};

static void prove_one(void *context, uint32_t i, uint32_t worker) {
    struct proving *p = context;
    struct proved *verdicts = p->selection->verdicts;
    uint32_t first = p->first[i];
    (void)worker;
    if (p->others != (first != i))
        return;
    if (p->others && verdicts[first].kind == VERDICT_SAME)
        verdicts[i] = verdicts[first];
    else
        verdicts[i] = proofs_ask(p->proofs, &p->selection->matches.items[i], p->blackhole);
}

static const uint32_t *find_first(const struct match_list *list, struct arena *a) {
    struct first_place *places = arena_alloc(a, (list->n + (size_t)1) * sizeof *places), *all = NULL, *known;
    uint32_t *first = arena_alloc(a, (list->n + (size_t)1) * sizeof *first);
    for (uint32_t i = 0; i < list->n; i++) {
        struct first_place *p = &places[i];
        first[i] = i;
        p->key = place_key(list->alike, &list->items[i]);
        p->match = i;
        HASH_FIND(hh, all, &p->key, sizeof p->key, known);
        if (p->key && known)
            first[i] = known->match;
        else if (p->key)
            HASH_ADD(hh, all, key, sizeof p->key, p);
    }
    HASH_CLEAR(hh, all);
    return first;
}

static void prove_matches(struct selection *s, struct proofs *proofs, const struct graph *g,
                          const struct search_setup *setup, struct arena *a) {
    struct arena places = {0};
    struct proving p = {s, proofs, is_for_blackhole(g->m), find_first(&s->matches, &places), false};
    s->verdicts = arena_alloc(a, (s->matches.n + (size_t)1) * sizeof *s->verdicts);
    for (int pass = 0; pass < 2; pass++, p.others = true)
        work_run(s->matches.n, setup->threads, prove_one, &p);
    arena_free(&places);
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

enum { KNOWN_SAVINGS = 1024 }; /* by the last bits of their keys */

struct known_saving {
    struct known_place place;
    struct saving saving;
};

/* What takes longer saves nothing; of unknown sizes, too. What the compiler fuses as a whole is not taken apart. */
struct asked_savings {
    struct pricer *pricer;
    const uint64_t *alike; /* of the matches */
    struct matcher *query;
    struct known_saving *known;
    struct arena arena; /* freed after each match */
    struct arena kept;  /* of what is known */
};

static struct saving saving_of(void *context, const struct match *m) {
    struct asked_savings *s = context;
    struct match_detail detail;
    uint64_t key = place_key(s->alike, m);
    struct known_saving *known = &s->known[key % KNOWN_SAVINGS];
    struct saving saving = {0};
    if (known_place_is(&known->place, key, m))
        return known->saving;
    if (binding_query_run(s->query, m, &s->arena, &detail)) {
        struct price price = price_match(s->pricer, m, &detail);
        bool kept = m->pattern->status.pass.n && price_saves_launches(&price);
        saving = (struct saving){price_saved_us(&price), kept ? INFINITY : price_saved_at_best_us(&price),
                                 price_saved_launches(&price)};
        if (known_place_keep(&known->place, key, &detail, &s->kept))
            known->saving = saving;
    }
    arena_reset(&s->arena);
    return saving;
}

static void resolve(struct match_list *all, struct pricer *pricer, struct selection *out) {
    struct asked_savings asked = {.pricer = pricer, .alike = all->alike};
    out->gave_way.n = 0;
    if (pricer) {
        asked.query = binding_query_new(pricer->graph, NULL);
        asked.known = arena_alloc(&asked.kept, KNOWN_SAVINGS * sizeof *asked.known);
    }
    match_resolve(all, pricer ? &(struct savings){saving_of, &asked} : NULL, &out->gave_way);
    binding_query_free(asked.query);
    arena_free(&asked.arena);
    arena_free(&asked.kept);
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
