/* An op of TTNN is paired with the op of TTIR that makes the same value (align.h), wherever it says it comes from: one
 * location may stand for all ops of a composite. Location names of TTIR ops are put in a table, and each TTNN op looks
 * its own names up, outermost first (passes wrap locations as they rewrite): they choose among ops of one value, and
 * decide where TTIR does not make the value. */
#include "ir/pair/pair.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#include "ir/graph/functions.h"
#include "ir/graph/movement.h"
#include "ir/pair/align.h"
#include "ir/pair/merged.h"

enum {
    MAX_NAMES = 16,       /* in the location of an op that was made of several */
    MAX_CANDIDATES = 256, /* ops of one value, or of one name: of more, neither tells */
    MAX_JUDGED = 1024     /* ops that show whether two large modules are of one model */
};

struct named {
    const char *key; /* name bytes, with `len` */
    size_t len;
    uint32_t first, last; /* in next[] */
    uint32_t count;
    UT_hash_handle hh;
};

struct table {
    struct named *names;
    struct named *pool;
    uint32_t npool;
    uint32_t *next;    /* per TTIR op: the next one of that name */
    uint32_t *func_of; /* per TTNN function: the audited TTIR function of the same name, or NONE */
    struct alignment values;
    uint8_t *taken;        /* per TTIR op: an op of TTNN that makes the same value is paired with it */
    bool last;             /* what is left over is chosen from */
    uint32_t nsample;      /* ops that were judged, or not expected to have an origin */
    bool kinds[OPERATORS]; /* of the TTIR ops in audited functions */
};

static bool pairs_at_all(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return c != OP_STRUCTURE && c != OP_RETURN && c != OP_NO_USE && c != OP_CALL && g->m->ops[op].nresults > 0;
}

/* Names of an op's location. Where the text defines no aliases, "#loc12" itself is the name; it can equal only the same
 * alias of the other module, since resolved names never begin with '#'. */
static int names_of(const struct graph *g, uint32_t op, struct str *out, int max) {
    int n = mlir_loc_names(g->m, op, out, max);
    struct str text = n < 1 ? mlir_loc_text(g->m, op) : STR(""), value;
    if (n > 0 || !str_starts(text, STR("#")) || mlir_alias(g->m, text, &value))
        return n;
    out[0] = text;
    return 1;
}

/* Which of the products of matrices it is changes. */
static enum op_kind judged_kind(const struct graph *g, uint32_t op) {
    return op_as((enum op_kind)g->kind[op]);
}

/* Of the first `most` ops. */
static void table_build(struct table *t, const struct graph *g, uint32_t most) {
    const struct mlir *m = g->m;
    t->next = xrealloc(NULL, ((size_t)m->nops + 1) * sizeof *t->next);
    t->pool = xrealloc(NULL, ((size_t)m->nops + 1) * sizeof *t->pool);
    for (uint32_t op = 0; op < m->nops && most > 0; op++) {
        struct str name;
        t->next[op] = NONE;
        if (!pairs_at_all(g, op) || !graph_is_audited(g, op))
            continue;
        most--;
        t->kinds[judged_kind(g, op)] = true;
        if (names_of(g, op, &name, 1) < 1)
            continue;
        struct named *e = NULL;
        HASH_FIND(hh, t->names, name.p, (unsigned)name.n, e);
        if (e) {
            t->next[e->last] = op;
            e->last = op;
            e->count++;
            continue;
        }
        e = &t->pool[t->npool++];
        *e = (struct named){.key = name.p, .len = name.n, .first = op, .last = op, .count = 1};
        HASH_ADD_KEYPTR(hh, t->names, e->key, (unsigned)e->len, e);
    }
}

static void table_free(struct table *t) {
    HASH_CLEAR(hh, t->names);
    free(t->pool);
    free(t->next);
    free(t->func_of);
}

/* Candidates of a TTNN op: the TTIR ops of its outermost name that any TTIR op has. */
static const struct named *candidates(const struct pairing *p, const struct table *t, uint32_t op) {
    struct str names[MAX_NAMES];
    int n = names_of(p->ttnn, op, names, MAX_NAMES);
    for (int i = 0; i < n; i++) {
        struct named *e = NULL;
        HASH_FIND(hh, t->names, names[i].p, (unsigned)names[i].n, e);
        if (e)
            return e;
    }
    return NULL;
}

static bool same_size(const struct pairing *p, uint32_t ttnn, uint32_t ttir) {
    int64_t a = graph_numel(p->ttnn, p->ttnn->m->ops[ttnn].first_result);
    int64_t b = graph_numel(p->ttir, p->ttir->m->ops[ttir].first_result);
    return a < 0 || b < 0 || a == b;
}

/* One location may stand for two unrelated ops when the files are of different models: an op of the same kind must
 * at least yield as many elements. What only moves an operand of a lowered op has its location, and is no part of it.
 */
static bool contradicts(const struct pairing *p, uint32_t ttnn, uint32_t ttir) {
    bool alike = p->ttnn->kind[ttnn] == p->ttir->kind[ttir] && p->ttnn->kind[ttnn] != NO_OPERATOR;
    return (alike && !same_size(p, ttnn, ttir)) ||
           (!signature_is_made(p->ttnn, ttnn) && signature_is_made(p->ttir, ttir));
}

static bool same_kind(const struct pairing *p, uint32_t ttnn, uint32_t ttir) {
    return p->ttnn->kind[ttnn] != NO_OPERATOR && judged_kind(p->ttnn, ttnn) == judged_kind(p->ttir, ttir);
}

/* ---- do the two belong together ---- */

static bool is_broadcast(const struct graph *g, uint32_t op) {
    return graph_movement(g, op) == MOVEMENT_BROADCAST || graph_movement(g, op) == MOVEMENT_REPEAT;
}

/* A broadcast stands right before or behind the op, which may be done on the other side of it: then it makes more or
 * fewer elements. */
static bool has_broadcast_beside(const struct graph *g, uint32_t op) {
    bool found = false;
    for (uint32_t k = 0; k < graph_noperands(g, op) && !found; k++) {
        uint32_t v = graph_operands(g, op)[k];
        for (int step = 0; step < MAX_BEHIND && v != NONE && !found; step++) {
            uint32_t def = g->m->values[v].def;
            bool moves = def != NONE && class_moves(graph_class(g, def)) && graph_noperands(g, def) > 0;
            found = def != NONE && is_broadcast(g, def);
            v = moves ? graph_operands(g, def)[0] : NONE;
        }
    }
    for (int step = 0; step < MAX_BEHIND && op != NONE && !found; step++) {
        uint32_t v = g->m->ops[op].first_result;
        for (uint32_t u = g->first_use[v]; u < g->first_use[v + 1] && !found; u++)
            found = is_broadcast(g, g->uses[u]);
        op = graph_nuses(g, v) == 1 ? g->uses[g->first_use[v]] : NONE;
        op = op != NONE && class_moves(graph_class(g, op)) ? op : NONE;
    }
    return found;
}

static void look_at_values(const struct pairing *p, struct table *t) {
    if (!t->values.identity)
        align_build(&t->values, p->ttir, p->ttnn, t->func_of);
}

/* Whether TTIR makes the value that this TTNN op makes, in as many elements; of an op that only moves data, whether
 * TTIR has the value that it moves. */
static bool ttir_has_result_of(const struct pairing *p, const struct table *t, uint32_t op) {
    if (!signature_is_made(p->ttnn, op))
        return align_has(&t->values, p->ttnn->m->ops[op].first_result);
    uint32_t ops[MAX_CANDIDATES], n = align_origins(&t->values, op, ops, MAX_CANDIDATES);
    if (align_told(&t->values, op) != TOLD_VALUE)
        return false;
    bool has = n > MAX_CANDIDATES;
    for (uint32_t i = 0; !has && i < n; i++)
        has = same_size(p, op, ops[i]);
    return has;
}

/* An op at the location of TTIR ops has its origin there if one of its kind is as large; where none is of its kind, if
 * any is as large, else it is a part of what that op was lowered to, of which nothing is known. Without locations TTIR
 * has to make the same value; where it has no op of the kind, nothing is known either, nor of one that several were
 * merged into, of a part of one that TTIR cuts up, or of one beside a broadcast. */
static void judge(struct pairing *p, struct table *t, uint32_t op) {
    struct str name;
    enum op_kind k = judged_kind(p->ttnn, op);
    const struct named *e = candidates(p, t, op);
    bool located = t->npool && names_of(p->ttnn, op, &name, 1) > 0 && name.p[0] != '#';
    if (!located)
        look_at_values(p, t);
    bool both = !located && ttir_has_result_of(p, t, op), kind = both || (!located && t->kinds[k]), size = both,
         part = false;
    uint32_t c = located && e ? e->first : NONE;
    for (uint32_t n = 0; !both && c != NONE && n < MAX_CANDIDATES; n++, c = t->next[c]) {
        bool same = judged_kind(p->ttir, c) == k, large = same_size(p, op, c);
        kind |= same;
        size |= large;
        both = same && large;
        part |= same && (pair_cut_up(p->ttir, c) != NONE || has_broadcast_beside(p->ttir, c));
    }
    bool has = both || (size && !kind);
    p->norigins += has;
    bool merged = pair_is_merged(p->ttnn, op);
    bool untold = !located && align_told(&t->values, op) == TOLD_NOTHING;
    bool open = !has && (merged || part || untold);
    p->njudged += !open && (has || kind || (located && !e));
}

/* ---- which of several ---- */

struct choice {
    const struct pairing *p;
    const struct table *t;
    const struct named *named;
    uint32_t ttnn, ops[MAX_CANDIDATES], n;
};

typedef bool choice_test(const struct choice *c, uint32_t ttir);

static bool at_location(const struct choice *c, uint32_t ttir) {
    uint32_t i = c->named && c->named->count <= MAX_CANDIDATES ? c->named->first : NONE;
    while (i != NONE && i != ttir)
        i = c->t->next[i];
    return i != NONE;
}

static bool fed_alike(const struct choice *c, uint32_t ttir) {
    return align_fed_alike(&c->t->values, c->ttnn, ttir);
}

static bool like_kind(const struct choice *c, uint32_t ttir) {
    return same_kind(c->p, c->ttnn, ttir);
}

static bool like_size(const struct choice *c, uint32_t ttir) {
    return same_size(c->p, c->ttnn, ttir);
}

static bool same_axes(const struct choice *c, uint32_t ttir) {
    const struct attr *a = graph_axes(c->p->ttnn, c->ttnn), *b = graph_axes(c->p->ttir, ttir);
    return a && b && str_eq(a->text, b->text);
}

static bool not_taken(const struct choice *c, uint32_t ttir) {
    return !c->t->taken[ttir];
}

/* Where some of the choice pass, the others are dropped. */
static bool narrow(struct choice *c, choice_test *test) {
    uint32_t n = 0, kept[MAX_CANDIDATES];
    for (uint32_t i = 0; c->n > 1 && i < c->n; i++)
        if (test(c, c->ops[i]))
            kept[n++] = c->ops[i];
    if (n) {
        memcpy(c->ops, kept, n * sizeof *kept);
        c->n = n;
    }
    return c->n == 1;
}

/* The same op several times over: the compiler keeps the first one. */
static bool are_one(const struct choice *c) {
    const struct graph *g = c->p->ttir;
    for (uint32_t i = 0; i < c->n; i++)
        if (!fed_alike(c, c->ops[i]) || !like_kind(c, c->ops[i]) || !like_size(c, c->ops[i]) ||
            !str_eq(mlir_span(g->m, g->m->ops[c->ops[i]].props), mlir_span(g->m, g->m->ops[c->ops[0]].props)))
            return false;
    return c->n > 0;
}

static uint32_t chosen(struct choice *c) {
    static choice_test *const tests[] = {at_location, fed_alike, like_kind, like_size, same_axes};
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        narrow(c, tests[i]);
    if (c->t->last)
        narrow(c, not_taken);
    return c->n == 1 || (c->t->last && are_one(c)) ? c->ops[0] : NONE;
}

/* ---- the op that an op was made of ---- */

static uint32_t by_value(const struct pairing *p, const struct table *t, uint32_t op) {
    struct choice c = {.p = p, .t = t, .ttnn = op, .named = candidates(p, t, op)};
    c.n = signature_is_made(p->ttnn, op) ? align_origins(&t->values, op, c.ops, MAX_CANDIDATES)
                                         : align_moved(&t->values, op, c.ops, MAX_CANDIDATES);
    return c.n <= MAX_CANDIDATES ? chosen(&c) : NONE;
}

/* A location of one op decides; of several, the op that is fed alike, or is alike. */
static uint32_t by_location(const struct pairing *p, const struct table *t, uint32_t op) {
    struct choice c = {.p = p, .t = t, .ttnn = op, .named = candidates(p, t, op)};
    if (!c.named || c.named->count > MAX_CANDIDATES)
        return NONE; /* too many to look at all, and the pair may be any of them */
    for (uint32_t i = c.named->first; i != NONE; i = t->next[i])
        c.ops[c.n++] = i;
    bool one = c.n == 1 || narrow(&c, fed_alike) || narrow(&c, like_kind);
    return one && !contradicts(p, op, c.ops[0]) ? c.ops[0] : NONE;
}

/* The first of the ops of TTIR that the parts of a value are; NONE: TTIR cuts it up, too, or a part has no origin. */
static uint32_t first_part(const struct pairing *p, uint32_t value) {
    const struct graph *g = p->ttnn;
    uint32_t first = NONE;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1]; u++) {
        uint32_t part = p->ttir_of[g->uses[u]];
        if (part == NONE || graph_class(p->ttir, part) == OP_SLICE)
            return NONE;
        first = part < first ? part : first;
    }
    return first;
}

/* Of a TTNN op that several of TTIR were merged into, so that its result is cut up again: the first of these in TTIR,
 * of the kind of `op` where there is one; NONE: it is no such op. */
static uint32_t first_of_merged(const struct pairing *p, uint32_t op) {
    uint32_t cut = pair_cut_up(p->ttnn, op),
             first = cut == NONE ? NONE : first_part(p, p->ttnn->m->ops[cut].first_result);
    if (first == NONE || cut == op || same_kind(p, op, first))
        return first;
    for (uint32_t i = 0; i < graph_noperands(p->ttir, first); i++) {
        uint32_t v = graph_operands(p->ttir, first)[i],
                 def = v == NONE ? NONE : p->ttir->m->values[signature_source(p->ttir, v)].def;
        if (def != NONE && same_kind(p, op, def))
            return def;
    }
    return NONE;
}

static bool pairs(const struct graph *g, uint32_t op) {
    return pairs_at_all(g, op) && graph_is_audited(g, op);
}

static void pair_by_value(struct pairing *p, struct table *t) {
    for (uint32_t op = 0; op < p->ttnn->m->nops; op++)
        if (p->ttir_of[op] == NONE && pairs(p->ttnn, op) && (p->ttir_of[op] = by_value(p, t, op)) != NONE)
            t->taken[p->ttir_of[op]] = 1;
}

static bool same_slice(const struct graph *g, uint32_t a, uint32_t b) {
    return graph_operands(g, a)[0] == graph_operands(g, b)[0] &&
           str_eq(mlir_span(g->m, g->m->ops[a].props), mlir_span(g->m, g->m->ops[b].props));
}

/* Different slices are not the one of TTIR that has their location: they are parts of an op that was taken apart. */
static void drop_parts(struct pairing *p) {
    uint32_t *first = xrealloc(NULL, (p->ttir->m->nops + (size_t)1) * sizeof *first);
    bool *differ = xcalloc(p->ttir->m->nops + (size_t)1, sizeof *differ);
    memset(first, 0xff, (p->ttir->m->nops + (size_t)1) * sizeof *first);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t op = 0; op < p->ttnn->m->nops; op++) {
            uint32_t of = p->ttir_of[op];
            if (of == NONE || graph_class(p->ttnn, op) != OP_SLICE || graph_class(p->ttir, of) != OP_SLICE)
                continue;
            first[of] = first[of] == NONE ? op : first[of];
            differ[of] |= !same_slice(p->ttnn, first[of], op);
            p->ttir_of[op] = pass == 1 && differ[of] ? NONE : of;
        }
    free(first);
    free(differ);
}

/* Movement, constants and the like come and go between the levels: they tell nothing, paired or not. */
static void count_pair(struct pairing *p, const struct table *t, uint32_t op) {
    struct choice c = {.p = p, .t = t, .ttnn = op, .named = candidates(p, t, op)};
    if (p->ttnn->kind[op] != NO_OPERATOR && !pair_computes(p->ttnn, op))
        return;
    if (p->ttir_of[op] == NONE)
        p->nunpaired++;
    else if (c.named && c.named->count == 1 && c.named->first == p->ttir_of[op])
        p->nlocation++;
    else
        p->ndataflow++;
}

/* The only op of TTIR at the location of an op that is of its kind and as large. */
static uint32_t namesake(const struct pairing *p, const struct table *t, uint32_t op) {
    const struct named *e = candidates(p, t, op);
    uint32_t found = NONE, c = e && e->count <= MAX_CANDIDATES ? e->first : NONE;
    for (; c != NONE; c = t->next[c]) {
        if (!same_kind(p, op, c) || !same_size(p, op, c))
            continue;
        if (found != NONE)
            return NONE;
        found = c;
    }
    return found;
}

/* Where TTIR does not make a value, since what it is made of is not shown or was made in another way, its location
 * tells what it is; what comes of it is told by value again. False: there is none. */
static bool settle_by_name(struct pairing *p, struct table *t) {
    bool any = false;
    for (uint32_t op = 0; op < p->ttnn->m->nops; op++) {
        if (p->ttir_of[op] != NONE || !pairs(p->ttnn, op) || !signature_is_made(p->ttnn, op) ||
            align_has(&t->values, p->ttnn->m->ops[op].first_result))
            continue;
        uint32_t ttir = namesake(p, t, op);
        if (ttir != NONE)
            align_settle(&t->values, p->ttnn->m->ops[op].first_result, p->ttir->m->ops[ttir].first_result);
        any |= ttir != NONE;
    }
    return any;
}

static void pair_by_values(struct pairing *p, struct table *t) {
    t->last = false;
    pair_by_value(p, t);
    t->last = true;
    pair_by_value(p, t);
}

static void pair_ops(struct pairing *p, struct table *t) {
    look_at_values(p, t);
    t->taken = xcalloc(p->ttir->m->nops + (size_t)1, 1);
    pair_by_values(p, t);
    if (settle_by_name(p, t)) {
        align_look(&t->values);
        pair_by_values(p, t);
    }
    for (uint32_t op = 0; op < p->ttnn->m->nops; op++) {
        uint32_t *found = &p->ttir_of[op];
        if (!pairs(p->ttnn, op))
            continue;
        *found = *found == NONE ? by_location(p, t, op) : *found;
        *found = *found == NONE ? first_of_merged(p, op) : *found;
        count_pair(p, t, op);
    }
    drop_parts(p);
}

void pair_build(struct pairing *p, const struct graph *ttir, const struct graph *ttnn, bool whole) {
    memset(p, 0, sizeof *p);
    p->ttir = ttir;
    p->ttnn = ttnn;
    p->ttir_of = xrealloc(NULL, ((size_t)ttnn->m->nops + 1) * sizeof *p->ttir_of);
    memset(p->ttir_of, 0xff, ((size_t)ttnn->m->nops + 1) * sizeof *p->ttir_of);
    struct table t = {.func_of = pair_functions(ttir, ttnn)};
    table_build(&t, ttir, whole ? NONE : 8 * MAX_JUDGED);
    if (whole) {
        pair_ops(p, &t);
        segment_scratch_build(&p->segments, ttir, ttnn, p->ttir_of);
    }
    for (uint32_t op = 0; op < ttnn->m->nops && t.nsample < MAX_JUDGED; op++)
        if (pairs(ttnn, op) && pair_computes(ttnn, op)) {
            judge(p, &t, op);
            t.nsample++;
        }
    align_free(&t.values);
    free(t.taken);
    table_free(&t);
    if (!whole && p->norigins * 2ull < p->njudged) { /* their origins may be further behind */
        pair_free(p);
        pair_build(p, ttir, ttnn, true);
    }
}

void pair_free(struct pairing *p) {
    free(p->ttir_of);
    segment_scratch_free(&p->segments);
    memset(p, 0, sizeof *p);
}
