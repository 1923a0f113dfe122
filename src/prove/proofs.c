/* A match is printed as a module in its own extents, whose text is the key of its verdict, and evaluated in small
 * extents of several sizes, whose texts are keys too. All limits are counts of elements and operations, not times, so
 * that the verdict is the same on every machine. */
#include "prove/proofs.h"

#include "base/hash.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "prove/prove.h"
#include "prove/rematch.h"
#include "prove/variation.h"

/* Bounds of extents_cost, but for the numbers of elements. */
enum {
    MAX_OWN_COST = 1 << 18,      /* of an evaluation in the extents of the model */
    MAX_PAYLOAD = 1 << 16,       /* elements of constants that are read where they may decide */
    FEW_PAYLOAD = 1 << 10,       /* elements of constants that are read in any case */
    MAX_WHOLE_PAYLOAD = 1 << 13, /* elements of constants that are printed unshortened */
    FEW_PAYLOAD_COST = 1 << 14,  /* of an evaluation with them where the match is proved for any constants */
};

/* Choices of extents for one match: so many are tried, so many evaluated, and more where different extents became
 * equal, since others do in another choice. What one choice proves and another refutes is a relation that does not hold
 * in general: a number that happens to be that of the elements, a row as long as a column. */
enum { MAX_CHOICES_OF_EXTENTS = 8, MIN_SHAPES = 2, MAX_SHAPES = 4 };

/* ---- verdicts by text ---- */

struct stored_verdict {
    UT_hash_handle hh;
    struct str key;
    struct proved verdict;
};

struct proofs {
    const struct pattern_set *set;
    pthread_mutex_t lock; /* of all below */
    struct arena arena;
    struct stored_verdict *verdicts;
    uint32_t evaluated;
};

struct proofs *proofs_new(const struct pattern_set *set) {
    struct proofs *p = xcalloc(1, sizeof *p);
    p->set = set;
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

void proofs_free(struct proofs *p) {
    if (!p)
        return;
    HASH_CLEAR(hh, p->verdicts);
    pthread_mutex_destroy(&p->lock);
    arena_free(&p->arena);
    free(p);
}

uint32_t proofs_count(const struct proofs *p) {
    return p->evaluated;
}

static bool look_up(struct proofs *p, struct str key, struct proved *out) {
    struct stored_verdict *k = NULL;
    pthread_mutex_lock(&p->lock);
    HASH_FIND(hh, p->verdicts, key.p, key.n, k);
    if (k)
        *out = k->verdict;
    pthread_mutex_unlock(&p->lock);
    return k != NULL;
}

/* Another thread may have stored the key in the meantime: its verdict is the same, and `v` becomes the stored one,
 * whose texts live as long as the proofs. */
static void store(struct proofs *p, struct str key, struct proved *v, bool evaluated) {
    struct stored_verdict *k = NULL;
    pthread_mutex_lock(&p->lock);
    HASH_FIND(hh, p->verdicts, key.p, key.n, k);
    if (!k) {
        k = arena_alloc(&p->arena, sizeof *k);
        *k = (struct stored_verdict){.key = arena_str(&p->arena, key), .verdict = *v};
        k->verdict.text = arena_str(&p->arena, v->text);
        k->verdict.needless = arena_str(&p->arena, v->needless);
        HASH_ADD_KEYPTR(hh, p->verdicts, k->key.p, k->key.n, k);
        p->evaluated += evaluated;
    }
    *v = k->verdict;
    pthread_mutex_unlock(&p->lock);
}

static struct str keep_text(struct proofs *p, struct str text) {
    pthread_mutex_lock(&p->lock);
    struct str kept = arena_str(&p->arena, text);
    pthread_mutex_unlock(&p->lock);
    return kept;
}

/* ---- one match ---- */

static const struct str not_found = {"the match is not found again by itself", 38};

struct question {
    struct proofs *proofs;
    const struct match *match;
    enum device_figures device, figures; /* of the chip of the graph; wanted of the extents at hand */
    bool further;                        /* other extents were evaluated before those at hand */
    struct subgraph subgraph;
    struct extents own; /* of the model */
    struct payloads payloads;
    bool with_payloads; /* constants are printed with their elements */
    struct shrink_options shrinking;
    bool merged, given_up; /* different extents, other relations of extents, in some choice */
    struct arena arena;
    struct str texts[MAX_CHOICES_OF_EXTENTS + 1]; /* modules that were evaluated; one more where it becomes strict */
    uint32_t ntexts;
};

static struct proved no_verdict(struct str why) {
    return (struct proved){.kind = VERDICT_NONE, .text = why};
}

static bool print(struct question *q, const struct extents *e, bool scale, struct printed_module *w, struct str *why) {
    struct print_options how = {
        .pattern = q->match->pattern, .scale_constants = scale, .payloads = q->with_payloads ? &q->payloads : NULL};
    return subgraph_print(&q->subgraph, e, &how, &q->arena, w, why);
}

/* False where the match is not found in the module. */
static bool prove_text(struct question *q, const struct printed_module *w, struct proved *out) {
    struct rematch *r = arena_alloc(&q->arena, sizeof *r);
    bool found = rematch_find(r, q->proofs->set, q->match, &q->subgraph, w, NULL, &q->arena);
    if (found)
        *out = prove_match(q->proofs->set, &r->match, q->figures, q->further, &q->arena);
    rematch_free(r);
    return found;
}

/* `w`: what is printed in these extents. A constant may have been taken for a function of an extent and not be one:
 * then the pattern, which may state it, does not match, and constants are left as they are. */
static struct proved prove_in(struct question *q, const struct extents *e, struct printed_module *w) {
    struct proved v;
    struct str why = STR("");
    if (prove_text(q, w, &v))
        return v;
    if (!print(q, e, false, w, &why))
        return no_verdict(why);
    return prove_text(q, w, &v) ? v : no_verdict(not_found);
}

/* By op of the subgraph: 'r' the root, 'm' matched, '-' looked through. An op that the formula makes optional may be
 * either; places of the same ops may have several roots. */
static struct str matched_ops(struct question *q) {
    const struct match *m = q->match;
    char *text = arena_alloc(&q->arena, q->subgraph.nops + 1);
    for (uint32_t i = 0; i < q->subgraph.nops; i++) {
        text[i] = '-';
        for (uint32_t k = 0; k < m->nops; k++)
            if (m->ops[k] == q->subgraph.ops[i])
                text[i] = m->ops[k] == m->root ? 'r' : 'm';
    }
    return (struct str){text, q->subgraph.nops};
}

/* `final`: of the verdict on the match, in whichever extents it was evaluated; else of that in these extents. */
static struct str key_of(struct question *q, struct str text, bool final) {
    struct str matched = matched_ops(q);
    return arena_printf(&q->arena, "%p %d %d %d %.*s\n%.*s", (const void *)q->match->pattern, q->figures, q->further,
                        final, (int)matched.n, matched.p, (int)text.n, text.p);
}

static bool was_evaluated(const struct question *q, struct str text) {
    for (uint32_t i = 0; i < q->ntexts; i++)
        if (str_eq(q->texts[i], text))
            return true;
    return false;
}

/* What became of one choice of extents: there is none, with the reason in the verdict; it gives the text of an earlier
 * one; or the verdict is that of its module. */
enum choice_state { CHOICE_NONE, CHOICE_REPEATED, CHOICE_PROVED };

/* Small extents number `which`, up to a cost. */
static enum choice_state prove_small(struct question *q, uint32_t which, double max_cost, struct proved *v) {
    struct extents small;
    struct printed_module w;
    struct str why = STR("");
    q->shrinking.which = which;
    bool there = extents_shrink(&q->subgraph, &q->shrinking, &small, &why);
    if (there && extents_cost(&q->subgraph, &small) > max_cost) {
        why = STR("no shapes that are small enough keep all relations");
        there = false;
    }
    if (!there || !print(q, &small, true, &w, &why)) {
        *v = no_verdict(why);
        return CHOICE_NONE;
    }
    q->merged |= extents_merged(&small);
    q->given_up |= small.given_up;
    if (was_evaluated(q, w.text))
        return CHOICE_REPEATED;
    q->texts[q->ntexts++] = w.text;
    struct str key = key_of(q, w.text, false);
    if (!look_up(q->proofs, key, v)) {
        *v = prove_in(q, &small, &w);
        store(q->proofs, key, v, true);
    }
    if (q->shrinking.strict || !str_eq(v->text, not_found))
        return CHOICE_PROVED;
    q->shrinking.strict = true; /* a condition of the pattern may need a multiple that was given up */
    return prove_small(q, which, max_cost, v);
}

/* Adds the verdict of further extents to that of the first, whose device figures stay. */
static void add_shape(struct proved *all, const struct proved *v) {
    if (all->shapes)
        all->device.steady = (all->device.steady || all->shapes == 1) && device_errors_agree(&all->device, &v->device);
    all->shapes++;
    all->bound = fmax(all->bound, v->bound);
    if (v->needed > all->needed) {
        all->needed = v->needed;
        all->needless = v->needless;
    }
}

/* In small extents of several sizes. Its own extents, `w`, decide where these are not evaluated, or refute the match
 * where a relation was given up, which may be what the fused form needs. */
static struct proved prove_in_shapes(struct question *q, struct printed_module *w) {
    struct proved all = no_verdict(STR("")), v;
    bool evaluated = false;
    uint32_t shapes = 0;
    for (uint32_t which = 0; which < MAX_CHOICES_OF_EXTENTS && shapes < (q->merged ? MAX_SHAPES : MIN_SHAPES);
         which++) {
        q->further = which > 0;
        enum choice_state state = prove_small(q, which, MAX_SMALL_COST, &v);
        bool proved = state == CHOICE_PROVED, lost = proved && str_eq(v.text, not_found);
        evaluated |= proved && !lost;
        if (which == 0 || (proved && v.kind == VERDICT_DIFFERENT))
            all = v;
        if (which > 0 && (state == CHOICE_REPEATED || lost))
            continue;
        if (!proved || v.kind != VERDICT_SAME)
            break;
        shapes++;
        add_shape(&all, &v);
    }
    bool final = all.kind == VERDICT_DIFFERENT ? !q->given_up : evaluated;
    if (final || extents_cost(&q->subgraph, &q->own) > MAX_OWN_COST)
        return all;
    q->further = false;
    v = prove_in(q, &q->own, w);
    v.shapes = 1;
    v.device.steady = true;
    return v.kind != VERDICT_NONE || !evaluated ? v : all;
}

/* ---- with the elements of constants ---- */

/* In extents in which constants keep theirs. False where that costs too much or is not evaluated. */
static bool prove_whole_payloads(struct question *q, double max_cost, struct proved *v) {
    if (q->payloads.elements > MAX_WHOLE_PAYLOAD)
        return false;
    for (uint32_t i = 0; i < q->subgraph.ninputs; i++)
        q->shrinking.keep[i] = q->payloads.of[i] != NULL;
    bool proved = prove_small(q, 0, max_cost, v) == CHOICE_PROVED && v->kind != VERDICT_NONE;
    memset(q->shrinking.keep, 0, sizeof q->shrinking.keep);
    return proved;
}

/* With the first elements of each constant. Where these do not represent the rest (payloads.regular) that they agree
 * says nothing; that they differ refutes the match, since it was refuted for arbitrary elements as well. */
static struct proved prove_first_elements(struct question *q, struct proved any) {
    static const struct str depends = {"it depends on what a constant holds, which is too large", 55};
    struct proved v;
    bool proved = prove_small(q, 0, MAX_SMALL_COST, &v) == CHOICE_PROVED && v.kind != VERDICT_NONE;
    if (proved && (q->payloads.regular || v.kind == VERDICT_DIFFERENT))
        return v;
    return any.kind == VERDICT_DIFFERENT ? no_verdict(depends) : any;
}

/* `any`: the verdict with constants as arguments. Where it is the same function for any elements it is for these,
 * unless a small evaluation with them shows that it is not. Else the elements decide. */
static struct proved prove_with_payloads(struct question *q, struct proved any) {
    bool same = any.kind == VERDICT_SAME;
    struct proved v;
    if (!q->match->pattern->fused.n ||
        !payload_read(&q->subgraph, same ? FEW_PAYLOAD : MAX_PAYLOAD, &q->arena, &q->payloads))
        return any;
    q->figures = same ? FIGURES_NONE : q->device;
    q->further = same;
    q->with_payloads = true;
    q->shrinking.strict = false;
    q->ntexts = 0;
    bool whole = prove_whole_payloads(q, same ? FEW_PAYLOAD_COST : MAX_OWN_COST, &v);
    if (same && (!whole || v.kind == VERDICT_SAME)) {
        any.shapes += whole;
        return any;
    }
    if (!whole)
        v = prove_first_elements(q, any);
    if (v.kind == VERDICT_SAME) {
        v.shapes = 1;
        v.for_constants = true;
    }
    return v;
}

/* ---- answers ---- */

struct proved proofs_ask(struct proofs *proofs, const struct match *m, bool blackhole) {
    struct question *q = xcalloc(1, sizeof *q);
    struct printed_module w;
    struct str why = STR(""), key;
    struct proved v;
    q->proofs = proofs;
    q->match = m;
    q->device = q->figures = blackhole ? FIGURES_BLACKHOLE : FIGURES_WORMHOLE;
    bool good = subgraph_of_match(m, &q->subgraph, &why) && extents_unchanged(&q->subgraph, &q->own, &why) &&
                print(q, &q->own, true, &w, &why);
    key = good ? key_of(q, w.text, true) : arena_printf(&q->arena, "why %.*s", (int)why.n, why.p);
    if (!look_up(proofs, key, &v)) {
        v = good ? prove_in_shapes(q, &w) : no_verdict(why);
        store(proofs, key, &v, false);
    }
    if (good)
        v = prove_with_payloads(q, v);
    if (v.kind == VERDICT_DIFFERENT)
        v.text = keep_text(proofs, original_names(&q->subgraph, v.text, &q->arena));
    if (v.needless.n)
        v.needless = keep_text(proofs, original_names(&q->subgraph, v.needless, &q->arena));
    arena_free(&q->arena);
    free(q);
    return v;
}
