/* A match becomes a module in its own extents, which is the key of its verdict, and is evaluated in small extents of
 * several sizes, whose modules are keys too. All limits are counts of elements and operations, not times, so that the
 * verdict is the same on every machine. */
#include "proof/prove/proofs.h"

#include "base/hash.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "ir/mlir/print.h"
#include "proof/equal/shapes.h"
#include "proof/prove/prove.h"
#include "proof/prove/rebind.h"

enum {
    MAX_OWN_COST = 1 << 18 /* extents_cost of an evaluation in the extents of the model */
};

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
    struct stored_verdict *verdicts; /* of a module in one choice of extents */
    struct stored_verdict *answers;  /* of a match, by its module in the extents of the model */
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
    HASH_CLEAR(hh, p->answers);
    pthread_mutex_destroy(&p->lock);
    arena_free(&p->arena);
    free(p);
}

uint32_t proofs_count(const struct proofs *p) {
    return HASH_COUNT(p->verdicts);
}

static bool look_up(struct proofs *p, struct stored_verdict *const *in, struct str key, struct proved *out) {
    struct stored_verdict *k = NULL;
    pthread_mutex_lock(&p->lock);
    HASH_FIND(hh, *in, key.p, key.n, k);
    if (k)
        *out = k->verdict;
    pthread_mutex_unlock(&p->lock);
    return k != NULL;
}

/* Another thread may have stored the key in the meantime: its verdict is the same, and `v` becomes the stored one,
 * whose texts live as long as the proofs. */
static void store(struct proofs *p, struct stored_verdict **in, struct str key, struct proved *v) {
    struct stored_verdict *k = NULL;
    pthread_mutex_lock(&p->lock);
    HASH_FIND(hh, *in, key.p, key.n, k);
    if (!k) {
        k = arena_alloc(&p->arena, sizeof *k);
        *k = (struct stored_verdict){.key = arena_str(&p->arena, key), .verdict = *v};
        k->verdict.text = arena_str(&p->arena, v->text);
        HASH_ADD_KEYPTR(hh, *in, k->key.p, k->key.n, k);
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

struct question {
    struct proofs *proofs;
    const struct match *match;
    enum device_figures figures;
    struct subgraph subgraph;
    struct proved all; /* of the extents in which it is the same function */
    uint32_t shapes;   /* how many */
    bool lost;         /* in some extents the match was not found again */
    struct arena arena;
};

static bool resize(struct question *q, const struct sized *at, struct resized *w, struct reason *why) {
    struct resize_options how = {.pattern = q->match->pattern, .scaled = at->scaled};
    return subgraph_resize(&q->subgraph, &at->extents, &how, &q->arena, w, why);
}

static struct proved prove_module(struct question *q, const struct resized *w) {
    struct rebound *r = arena_alloc(&q->arena, sizeof *r);
    match_rebind(q->match, &q->subgraph, w, &q->arena, r);
    struct proved v = prove_match(q->proofs->set, &r->match, q->figures, &q->arena);
    graph_free(&r->graph);
    return v;
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

static struct str key_of(struct question *q, const struct mlir *module) {
    struct buf key = {0};
    buf_printf(&key, "%p %d ", (const void *)q->match->pattern, q->figures);
    buf_add(&key, matched_ops(q));
    buf_add(&key, mlir_key(module, &q->arena));
    return buf_take(&key, &q->arena);
}

/* Adds the verdict of further extents to that of the first, whose device figures stay. */
static void add_shape(struct question *q, const struct proved *v) {
    struct proved *all = &q->all;
    if (q->shapes++ == 0) {
        *all = *v;
        return;
    }
    all->device.steady = (all->device.steady || q->shapes == 2) && device_errors_agree(&all->device, &v->device);
    all->bound = fmax(all->bound, v->bound);
}

static struct proved prove_sized(struct question *q, const struct sized *at) {
    struct resized w = {0};
    struct reason why;
    struct proved v = {.kind = VERDICT_NONE};
    if (resize(q, at, &w, &why)) {
        struct str key = key_of(q, &w.ir);
        if (!look_up(q->proofs, &q->proofs->verdicts, key, &v)) {
            v = prove_module(q, &w);
            store(q->proofs, &q->proofs->verdicts, key, &v);
        }
    } else {
        v.text = why.text;
    }
    mlir_free(&w.ir);
    return v;
}

/* For shapes_question.ask. */
static struct verdict ask(void *self, const struct sized *at) {
    struct question *q = self;
    struct proved v = prove_sized(q, at);
    q->lost |= v.lost;
    if (v.kind == VERDICT_SAME)
        add_shape(q, &v);
    return (struct verdict){.kind = v.kind, .why.text = v.text, .misfit = v.misfit};
}

static struct proved prove_in_shapes(struct question *q) {
    struct shapes_question shapes = {
        .subgraph = &q->subgraph, .small_cost = MAX_SMALL_COST, .own_cost = MAX_OWN_COST, .ask = ask, .self = q};
    q->shapes = 0;
    struct shapes_answer answer = equal_in_shapes(&shapes);
    if (answer.verdict.kind != VERDICT_SAME)
        return (struct proved){
            .kind = answer.verdict.kind, .text = answer.verdict.why.text, .misfit = answer.verdict.misfit};
    q->all.shapes = answer.shapes;
    return q->all;
}

/* ---- answers ---- */

/* Of the module in the extents of the model, which layers that repeat have in common; empty: it has none. */
static struct str own_key(struct question *q) {
    struct sized *own = arena_alloc(&q->arena, sizeof *own);
    struct resized w = {0};
    struct reason why;
    bool made = extents_unchanged(&q->subgraph, &own->extents, &why) && resize(q, own, &w, &why);
    struct str key = made ? key_of(q, &w.ir) : STR("");
    mlir_free(&w.ir);
    return key;
}

/* A reason why not names values of this match, and may lie outside of it. */
static struct proved prove_once(struct question *q) {
    struct proved v;
    struct str key = own_key(q);
    if (key.n && look_up(q->proofs, &q->proofs->answers, key, &v))
        return v;
    v = prove_in_shapes(q);
    if (key.n && v.kind == VERDICT_SAME)
        store(q->proofs, &q->proofs->answers, key, &v);
    return v;
}

struct proved proofs_ask(struct proofs *proofs, const struct match *m, bool blackhole) {
    struct question *q = xcalloc(1, sizeof *q);
    struct proved v = {.kind = VERDICT_NONE};
    q->proofs = proofs;
    q->match = m;
    q->figures = blackhole ? FIGURES_BLACKHOLE : FIGURES_WORMHOLE;
    struct reason why;
    if (subgraph_of_match(m, &q->subgraph, &why))
        v = prove_once(q);
    else
        v.text = why.text;
    if (q->lost && v.kind == VERDICT_NONE && subgraph_add_sources(&q->subgraph, &why))
        v = prove_in_shapes(q);
    v.text = keep_text(proofs, v.kind == VERDICT_DIFFERENT ? original_names(&q->subgraph, v.text, &q->arena) : v.text);
    arena_free(&q->arena);
    free(q);
    return v;
}
