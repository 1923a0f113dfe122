/* The TTIR ops that a set of TTNN ops descends from, with what lies between them. Ops that CSE would merge count as
 * one: TTNN has one op where TTIR may have several that make one value. */
#include "ir/pair/pair.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "ir/pair/merged.h"
#include "ir/pair/signature.h"

enum { SEED = 1, AFTER = 2, BEFORE = 4, MAX_BETWEEN = 4096 /* ops of a segment: no fused op is of more */ };

/* ---- equal ops ---- */

struct equal_op {
    const char *key; /* function, name, attributes, operands, types of results */
    size_t n;
    uint32_t op;
    UT_hash_handle hh;
};

static void put_id(struct buf *b, uint32_t id) {
    buf_add(b, (struct str){(const char *)&id, sizeof id});
}

/* What an op is a function of; an operand is told by the first of the ops that make it. */
static void put_key(const struct graph *g, const uint32_t *equal, uint32_t op, struct buf *b) {
    const struct mlir_op *o = &g->m->ops[op];
    put_id(b, o->func);
    put_id(b, o->name);
    put_id(b, o->noperands);
    for (uint32_t i = 0; i < o->noperands; i++) {
        uint32_t v = g->m->operands[o->first_operand + i], def = v == NONE ? NONE : g->m->values[v].def;
        bool made_before = def < op; /* text that is cut or damaged has uses in front of it */
        put_id(b, made_before ? g->m->ops[equal[def]].first_result + (v - g->m->ops[def].first_result) : v);
    }
    for (uint32_t i = 0; i < o->nresults; i++)
        put_id(b, g->m->values[o->first_result + i].type);
    buf_add(b, mlir_span(g->m, o->props));
    buf_add(b, mlir_span(g->m, o->attrs));
}

/* For each op the first one that makes the same value. */
static uint32_t *equal_ops(const struct graph *g) {
    uint32_t n = g->m->nops, *equal = xrealloc(NULL, (n + (size_t)1) * sizeof *equal);
    struct equal_op *table = NULL, *pool = xrealloc(NULL, (n + (size_t)1) * sizeof *pool);
    struct arena keys = {0};
    struct buf b = {0};
    for (uint32_t op = 0; op < n; op++) {
        struct equal_op *e = NULL;
        equal[op] = op;
        if (g->m->ops[op].nresults == 0 || op_generates((enum op_kind)g->kind[op]))
            continue;
        b.n = 0;
        put_key(g, equal, op, &b);
        HASH_FIND(hh, table, b.p, (unsigned)b.n, e);
        if (e) {
            equal[op] = e->op;
            continue;
        }
        e = &pool[op];
        *e = (struct equal_op){.key = arena_str(&keys, (struct str){b.p, b.n}).p, .n = b.n, .op = op};
        HASH_ADD_KEYPTR(hh, table, e->key, (unsigned)e->n, e);
    }
    HASH_CLEAR(hh, table);
    free(pool);
    buf_free(&b);
    arena_free(&keys);
    return equal;
}

void segment_scratch_free(struct segment_scratch *s) {
    free(s->marks);
    free(s->equal);
    free(s->seed_of);
    free(s->paired);
    memset(s, 0, sizeof *s);
}

void segment_scratch_build(struct segment_scratch *s, const struct graph *ttir, const struct graph *ttnn,
                           const uint32_t *ttir_of) {
    size_t n = ttir->m->nops + (size_t)1, others = ttnn->m->nops + (size_t)1;
    s->marks = xcalloc(n > others ? n : others, 1);
    s->equal = equal_ops(ttir);
    s->seed_of = xrealloc(NULL, n * sizeof *s->seed_of);
    memset(s->seed_of, 0xff, n * sizeof *s->seed_of);
    s->paired = xcalloc(n, 1);
    for (uint32_t op = 0; op < ttnn->m->nops; op++)
        if (ttir_of[op] != NONE)
            s->paired[s->equal[ttir_of[op]]] = 1;
}

/* ---- what lies between ---- */

/* Ops that are looked at for one segment: the seeds and what feeds them. */
struct segment_search {
    const struct graph *g;
    const struct segment_scratch *scratch;
    bool merges; /* equal ops are one */
    uint32_t *ops, n, cap;
    uint32_t first; /* nothing before this op is looked at */
};

static void see(struct segment_search *s, uint32_t op, unsigned mark) {
    uint8_t *marks = s->scratch->marks;
    if (!marks[op]) {
        s->ops = grow(s->ops, &s->cap, s->n + 1, sizeof *s->ops);
        s->ops[s->n++] = op;
    }
    marks[op] = (uint8_t)(marks[op] | mark);
}

static void add_seed(struct segment_search *s, uint32_t op) {
    see(s, op, SEED);
    s->first = op < s->first ? op : s->first;
    if (s->merges && s->scratch->seed_of[s->scratch->equal[op]] == NONE)
        s->scratch->seed_of[s->scratch->equal[op]] = op;
}

/* Op that makes operand i, when it may lie between seeds, or the seed that makes the same; else NONE. */
static uint32_t feeder(const struct segment_search *s, uint32_t op, uint32_t i) {
    uint32_t v = graph_operands(s->g, op)[i], def = v == NONE ? NONE : s->g->m->values[v].def;
    if (def == NONE)
        return NONE;
    uint32_t seed = s->merges ? s->scratch->seed_of[s->scratch->equal[def]] : NONE;
    if (seed != NONE && seed != op)
        return seed;
    return def < s->first ? NONE : def;
}

/* Marks what the seeds depend on, then what of that depends on a seed. */
static bool reach(struct segment_search *s) {
    const uint8_t *marks = s->scratch->marks;
    for (uint32_t i = 0; i < s->n; i++) { /* the list grows */
        if (s->n > MAX_BETWEEN)
            return false;
        for (uint32_t k = 0; k < graph_noperands(s->g, s->ops[i]); k++)
            if (feeder(s, s->ops[i], k) != NONE)
                see(s, feeder(s, s->ops[i], k), BEFORE);
    }
    if (s->n)
        sort_ids(s->ops, s->n);
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < graph_noperands(s->g, s->ops[i]); k++) {
            uint32_t def = feeder(s, s->ops[i], k);
            if (def != NONE && marks[def] & (SEED | AFTER))
                see(s, s->ops[i], AFTER);
        }
    return true;
}

/* How many ops of a segment depend on no other, and how many feed no other. */
struct ends {
    uint32_t first, last;
};

/* Keeps the seeds and what lies between them. */
static struct ends cut_segment(struct segment_search *s) {
    uint8_t *marks = s->scratch->marks;
    struct ends ends = {0, 0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t op = s->ops[i];
        bool in = marks[op] & (SEED | AFTER);
        ends.first += in && !(marks[op] & AFTER);
        ends.last += in && !(marks[op] & BEFORE);
        marks[op] = 0;
        if (s->merges)
            s->scratch->seed_of[s->scratch->equal[op]] = NONE;
        if (in)
            s->ops[n++] = op;
    }
    s->n = n;
    return ends;
}

static struct ends ends_of(const struct graph *g, const struct segment_scratch *scratch, const uint32_t *ops,
                           uint32_t n) {
    struct segment_search s = {.g = g, .scratch = scratch, .first = NONE};
    for (uint32_t i = 0; i < n; i++)
        add_seed(&s, ops[i]);
    (void)reach(&s);
    struct ends ends = cut_segment(&s);
    free(s.ops);
    return ends;
}

/* Products of one value may be one product in TTNN, cut into parts. */
static bool hang_together(const struct pairing *p, struct ends ttir, const uint32_t *ttnn_ops, uint32_t n) {
    if (ttir.last <= 1)
        return ttir.last == 1;
    struct ends ttnn = ends_of(p->ttnn, &p->segments, ttnn_ops, n);
    uint32_t parts = ttnn.last > ttnn.first ? ttnn.last : ttnn.first;
    return ttir.first <= parts && ttir.last <= ttnn.last;
}

/* Adds what feeds the seeds and has no op in TTNN: it was merged into one of theirs. */
static void add_merged(struct segment_search *s) {
    const struct segment_scratch *scratch = s->scratch;
    for (uint32_t i = 0; i < s->n && s->n <= MAX_BETWEEN; i++) /* the list grows */
        for (uint32_t k = 0; k < graph_noperands(s->g, s->ops[i]); k++) {
            uint32_t v = graph_operands(s->g, s->ops[i])[k];
            uint32_t def = v == NONE ? NONE : s->g->m->values[signature_source(s->g, v)].def;
            if (def != NONE && pair_computes(s->g, def) && graph_class(s->g, def) != OP_OPAQUE &&
                !scratch->paired[scratch->equal[def]])
                add_seed(s, def);
        }
}

/* Seeds, in the search, become the segment. */
static bool lay_out(struct segment_search *s, uint32_t most, struct ends *ends) {
    bool complete = reach(s);
    *ends = cut_segment(s);
    return complete && s->n <= most;
}

bool pair_segment(const struct pairing *p, const uint32_t *ttnn_ops, uint32_t n, struct arena *a, uint32_t **out,
                  uint32_t *nout) {
    struct segment_search s = {.g = p->ttir, .scratch = &p->segments, .merges = true, .first = NONE}, whole = s;
    uint32_t most = 8 * n + 16; /* a fused op becomes a handful of primitives; more is another part of the model */
    struct ends ends, whole_ends;
    bool merged = false;
    for (uint32_t i = 0; i < n; i++) {
        merged |= pair_is_merged(p->ttnn, ttnn_ops[i]);
        if (p->ttir_of[ttnn_ops[i]] != NONE)
            add_seed(&s, p->ttir_of[ttnn_ops[i]]);
    }
    bool ok = lay_out(&s, most, &ends) && hang_together(p, ends, ttnn_ops, n);
    for (uint32_t i = 0; ok && merged && i < s.n; i++)
        add_seed(&whole, s.ops[i]);
    add_merged(&whole);
    const struct segment_search *found = lay_out(&whole, most, &whole_ends) && whole.n ? &whole : &s;
    *nout = ok ? found->n : 0;
    *out = arena_alloc(a, (*nout + 1) * sizeof **out);
    if (*nout)
        memcpy(*out, found->ops, *nout * sizeof **out);
    free(s.ops);
    free(whole.ops);
    return ok;
}
