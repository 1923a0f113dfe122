/* A match becomes a module of its own, which is the key of its verdict. All limits are counts of elements, not times,
 * so that the verdict is the same on every machine. */
#include "proof/prove/proofs.h"

#include "base/hash.h"

#include <pthread.h>
#include <stdlib.h>

#include "ir/mlir/print.h"
#include "proof/prove/prove.h"
#include "proof/reduce/resize.h"

/* ---- verdicts by text ---- */

struct stored_verdict {
    UT_hash_handle hh;
    struct str key;
    struct proved verdict;
};

struct proofs {
    const struct pattern_set *set;
    bool figures;
    pthread_mutex_t lock; /* of all below */
    struct arena arena;
    struct stored_verdict *verdicts; /* by the module of a match */
};

struct proofs *proofs_new(const struct pattern_set *set, bool figures) {
    struct proofs *p = xcalloc(1, sizeof *p);
    p->set = set;
    p->figures = figures;
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
    return HASH_COUNT(p->verdicts);
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
static void store(struct proofs *p, struct str key, struct proved *v) {
    struct stored_verdict *k = NULL;
    pthread_mutex_lock(&p->lock);
    HASH_FIND(hh, p->verdicts, key.p, key.n, k);
    if (!k) {
        k = arena_alloc(&p->arena, sizeof *k);
        *k = (struct stored_verdict){.key = arena_str(&p->arena, key), .verdict = *v};
        k->verdict.text = arena_str(&p->arena, v->text);
        struct proved_reading *reading = arena_alloc(&p->arena, sizeof *reading);
        *reading = *v->reading;
        k->verdict.reading = reading;
        HASH_ADD_KEYPTR(hh, p->verdicts, k->key.p, k->key.n, k);
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
    struct arena arena;
};

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

/* Of the module in the extents of the model, which layers that repeat have in common; empty: it has none. */
static struct str own_key(struct question *q) {
    struct extents *own = arena_alloc(&q->arena, sizeof *own);
    struct resize_options how = {.scaled = false};
    struct resized w = {0};
    struct reason why;
    bool made = subgraph_of_match(q->match, &q->subgraph, &why) && extents_unchanged(&q->subgraph, own, &why) &&
                subgraph_resize(&q->subgraph, own, &how, &q->arena, &w, &why);
    struct str key = made ? key_of(q, &w.ir) : STR("");
    mlir_free(&w.ir);
    return key;
}

/* A reason why not names values of this match, and may lie outside of it. */
struct proved proofs_ask(struct proofs *proofs, const struct match *m, bool blackhole) {
    struct question *q = xcalloc(1, sizeof *q);
    struct proved v;
    *q = (struct question){.proofs = proofs,
                           .match = m,
                           .figures = !proofs->figures ? FIGURES_NONE
                                      : blackhole      ? FIGURES_BLACKHOLE
                                                       : FIGURES_WORMHOLE};
    struct str key = own_key(q);
    if (!key.n || !look_up(proofs, key, &v)) {
        v = prove_match(proofs->set, m, q->figures, &q->arena);
        if (key.n && v.kind == VERDICT_SAME)
            store(proofs, key, &v);
        else
            v.reading = NULL;
    }
    v.text = keep_text(proofs, v.text);
    arena_free(&q->arena);
    free(q);
    return v;
}
