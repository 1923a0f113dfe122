/* Groups blocks into graphs, one for each compile, and chooses which block of a graph is audited at each level: the
 * last TTIR before fusion and the final TTNN. Headers that name stages are trusted more than pass dumps, and these more
 * than bare modules. A graph number is 1-based; 0 is none. */
#include "base/hash.h"
#include "input/log/scan.h"

#include <stdlib.h>

/* How much two blocks have to have in common: what wrote them, their thread, the name of the module. */
enum likeness { OF_PROCESS, OF_MODULE, OF_THREAD_AND_MODULE, OF_THREAD, LIKENESSES };

/* Graphs of blocks that are alike, the latest first. */
struct alike {
    uint64_t key;
    uint32_t *graphs, n, cap;
    UT_hash_handle hh;
};

struct grouping {
    const struct source *s;
    struct found_list *list;
    uint32_t n;
    uint32_t *ttir, *ttnn; /* by graph number: index of the chosen block, or NONE */
    uint32_t cap_ttir, cap_ttnn;
    struct alike *alike;
};

static uint32_t new_graph(struct grouping *g) {
    uint32_t id = ++g->n;
    g->ttir = grow(g->ttir, &g->cap_ttir, id + 1, sizeof *g->ttir);
    g->ttnn = grow(g->ttnn, &g->cap_ttnn, id + 1, sizeof *g->ttnn);
    g->ttir[id] = g->ttnn[id] = NONE;
    return id;
}

static struct found_block *at(struct grouping *g, uint32_t i) {
    return &g->list->v[i];
}

static void choose(struct grouping *g, uint32_t *slot, uint32_t i) {
    if (*slot != NONE)
        at(g, *slot)->block.chosen = false;
    *slot = i;
    at(g, i)->block.chosen = true;
}

static struct alike *alike_of(struct grouping *g, const struct found_block *f, enum likeness by) {
    uint64_t key = hash_mix(f->process, by);
    struct alike *e;
    if (by >= OF_THREAD_AND_MODULE)
        key = hash_mix(key, str_hash(f->header.thread));
    if (by == OF_MODULE || by == OF_THREAD_AND_MODULE)
        key = hash_mix(key, str_hash(f->block.module));
    HASH_FIND(hh, g->alike, (const char *)&key, sizeof key, e);
    if (!e) {
        e = xcalloc(1, sizeof *e);
        e->key = key;
        HASH_ADD_KEYPTR(hh, g->alike, (const char *)&e->key, sizeof e->key, e);
    }
    return e;
}

static void note_graph(struct grouping *g, uint32_t i, enum likeness by) {
    struct alike *e = alike_of(g, at(g, i), by);
    e->graphs = grow(e->graphs, &e->cap, e->n + 1, sizeof *e->graphs);
    e->graphs[e->n++] = at(g, i)->block.graph;
}

/* Notes a graph whose TTIR is block i: a TTNN block may belong to it. */
static void await_ttnn(struct grouping *g, uint32_t i) {
    for (int by = OF_PROCESS; by <= OF_THREAD_AND_MODULE; by++)
        note_graph(g, i, (enum likeness)by);
}

static void forget_alike(struct grouping *g) {
    struct alike *e, *next;
    HASH_ITER(hh, g->alike, e, next) {
        HASH_DEL(g->alike, e);
        free(e->graphs);
        free(e);
    }
}

/* The latest graph of the same process that a TTNN block can belong to: first one of the same thread and module name,
 * then of the same module name, then any. tt-xla prints module names, so that its blocks need an equal one. */
static uint32_t partner(struct grouping *g, const struct found_block *f) {
    int least = f->header.kind == HEADER_XLA ? OF_MODULE : OF_PROCESS;
    for (int by = OF_THREAD_AND_MODULE; by >= least; by--) {
        struct alike *e = alike_of(g, f, (enum likeness)by);
        while (e->n && g->ttnn[e->graphs[e->n - 1]] != NONE)
            e->n--;
        if (e->n)
            return e->graphs[e->n - 1];
    }
    return 0;
}

static bool has_locations(struct grouping *g, const struct found_block *f) {
    struct buf b = {0};
    bool has = str_find(found_text(g->s, f, &b), STR("loc(")) != NULL;
    buf_free(&b);
    return has;
}

static void staged_ttir(struct grouping *g, uint32_t i) {
    struct found_block *f = at(g, i);
    uint32_t last = g->n;
    /* forge prints one graph twice, without and with locations */
    bool twin = last && f->header.kind == HEADER_FORGE && g->ttir[last] != NONE && g->ttnn[last] == NONE &&
                str_eq(at(g, g->ttir[last])->block.module, f->block.module);
    f->block.graph = twin ? last : new_graph(g);
    if (!twin)
        await_ttnn(g, i);
    if (!twin || !has_locations(g, at(g, g->ttir[last])))
        choose(g, &g->ttir[f->block.graph], i);
}

static void staged_ttnn(struct grouping *g, uint32_t i) {
    struct found_block *f = at(g, i);
    bool again = f->header.kind != HEADER_XLA && g->n && g->ttnn[g->n] != NONE &&
                 str_eq(at(g, g->ttnn[g->n])->block.module, f->block.module);
    uint32_t id = again ? g->n : partner(g, f);
    f->block.graph = id ? id : new_graph(g);
    choose(g, &g->ttnn[f->block.graph], i);
}

/* Blocks of other stages. Without TTNN ops they belong to the next TTIR (earlier stages of the same compile); with TTNN
 * ops to the graph before. A runtime module or another TTNN print is chosen where the final TTNN is missing. */
static void staged_rest(struct grouping *g) {
    uint32_t next = 0, *following = xrealloc(NULL, (g->list->n + 1) * sizeof *following);
    for (uint32_t i = g->list->n; i-- > 0; following[i] = next)
        if (at(g, i)->block.stage == LOG_TTIR)
            next = at(g, i)->block.graph;
    for (uint32_t i = 0; i < g->list->n; i++) {
        struct found_block *f = at(g, i);
        struct alike *before = alike_of(g, f, OF_THREAD);
        if (f->block.graph) {
            note_graph(g, i, OF_THREAD);
            continue;
        }
        bool ttnn = f->block.stage == LOG_TTNN_RUNTIME || f->block.has_ttnn;
        uint32_t id = !ttnn && following[i] ? following[i] : before->n ? before->graphs[before->n - 1] : 0;
        f->block.graph = id ? id : g->n ? g->n : new_graph(g);
        note_graph(g, i, OF_THREAD);
        bool stands_in = f->block.stage == LOG_TTNN_RUNTIME || f->block.stage == LOG_OTHER;
        if (stands_in && f->block.has_ttnn && g->ttnn[f->block.graph] == NONE)
            choose(g, &g->ttnn[f->block.graph], i);
    }
    free(following);
}

static void staged(struct grouping *g) {
    for (uint32_t i = 0; i < g->list->n; i++) {
        enum log_stage stage = at(g, i)->block.stage;
        if (stage == LOG_TTIR)
            staged_ttir(g, i);
        else if (stage == LOG_TTNN)
            staged_ttnn(g, i);
    }
    staged_rest(g);
}

static bool runs_several_times(struct str label) {
    static const char *const often[] = {
        "Canonicalizer",           "CSE",       "TTIRFusing", "TTIRImplicitBroadcastFold",
        "ConstEvalHoistTransform", "SymbolDCE", "Inliner"};
    for (size_t i = 0; i < sizeof often / sizeof *often; i++)
        if (str_is(label, often[i]))
            return true;
    return false;
}

static bool is_dump(const struct found_block *f) {
    return f->block.stage == LOG_PASS_BEFORE || f->block.stage == LOG_PASS_AFTER;
}

/* Whether a new compile begins at the pass dump `cur`. */
static bool restarts(const struct found_block *first, const struct found_block *prev, const struct found_block *cur,
                     bool seen_ttnn) {
    if (seen_ttnn && cur->block.has_ttir && !cur->block.has_ttnn)
        return true;
    if (cur->block.module.n && prev->block.module.n && !str_eq(cur->block.module, prev->block.module))
        return true;
    return cur != first && cur->block.stage == first->block.stage && str_eq(cur->header.label, first->header.label) &&
           !runs_several_times(cur->header.label);
}

static void dumps(struct grouping *g) {
    uint32_t first = NONE, prev = NONE, id = 0;
    bool seen_ttnn = false, fused = false;
    for (uint32_t i = 0; i < g->list->n; i++) {
        struct found_block *f = at(g, i);
        if (!is_dump(f) || f->cpu_only)
            continue;
        if (first == NONE || restarts(at(g, first), at(g, prev), f, seen_ttnn)) {
            id = new_graph(g);
            first = i;
            seen_ttnn = fused = false;
        }
        prev = i;
        f->block.graph = id;
        seen_ttnn |= f->block.has_ttnn;
        bool pure_ttir = f->block.has_ttir && !f->block.has_ttnn;
        if (f->block.has_ttnn)
            choose(g, &g->ttnn[id], i);
        /* the last TTIR before the fusing pass; a dump after it only where there is no other */
        bool after_fusing = f->header.fusing && f->block.stage == LOG_PASS_AFTER;
        if (pure_ttir && !fused && (!after_fusing || g->ttir[id] == NONE))
            choose(g, &g->ttir[id], i);
        fused |= f->header.fusing;
    }
    if (!g->n)
        new_graph(g);
    for (uint32_t i = 0, last = 1; i < g->list->n; i++) {
        if (at(g, i)->block.graph)
            last = at(g, i)->block.graph;
        else
            at(g, i)->block.graph = last;
    }
}

static void plain(struct grouping *g) {
    bool ttir = false, ttnn = false;
    for (uint32_t i = 0; i < g->list->n; i++) {
        ttir |= at(g, i)->block.has_ttir && !at(g, i)->block.has_ttnn;
        ttnn |= at(g, i)->block.has_ttnn;
    }
    for (uint32_t i = 0; i < g->list->n; i++) {
        struct found_block *f = at(g, i);
        uint32_t id = 0;
        if (ttir && ttnn && f->block.has_ttnn)
            id = partner(g, f);
        f->block.graph = id ? id : new_graph(g);
        f->block.chosen = f->block.has_ops;
        uint32_t *slot = f->block.has_ttnn ? &g->ttnn[f->block.graph] : &g->ttir[f->block.graph];
        if (f->block.has_ops) {
            *slot = i;
            if (!f->block.has_ttnn)
                await_ttnn(g, i);
        }
    }
}

/* A compile has failed where a pass says so, or where an error follows its last block and that is not the final TTNN
 * by a header of its stage. What a pass has left then is no TTNN level. */
static void mark_failed(struct grouping *g) {
    bool *seen = xcalloc(g->n + (size_t)1, sizeof *seen);
    for (uint32_t i = g->ttnn ? g->list->n : 0; i-- > 0;) {
        struct log_block *b = &at(g, i)->block;
        uint32_t *ttnn = &g->ttnn[b->graph];
        bool open_end = *ttnn == NONE || is_dump(at(g, *ttnn));
        b->failed |= open_end && b->error_line && !seen[b->graph];
        seen[b->graph] = true;
        if (b->failed && open_end && *ttnn != NONE) {
            at(g, *ttnn)->block.chosen = false;
            *ttnn = NONE;
        }
    }
    free(seen);
}

uint32_t block_graphs(const struct source *s, struct found_list *list) {
    struct grouping g = {.s = s, .list = list};
    bool stages = false, others = false, passes = false;
    for (uint32_t i = 0; i < list->n; i++) {
        enum log_stage stage = list->v[i].block.stage;
        stages |= stage == LOG_TTIR || stage == LOG_TTNN || stage == LOG_TTNN_RUNTIME;
        others |= stage == LOG_OTHER;
        passes |= is_dump(&list->v[i]);
    }
    if (stages || (others && !passes))
        staged(&g);
    else if (passes)
        dumps(&g);
    else
        plain(&g);
    if (stages || others || passes)
        mark_failed(&g);
    for (uint32_t i = 0; i < list->n; i++)
        list->v[i].block.copies = list->v[i].block.chosen;
    if (g.n > 1)
        block_copies(s, list, g.ttir, g.ttnn, g.n);
    forget_alike(&g);
    free(g.ttir);
    free(g.ttnn);
    return g.n;
}
