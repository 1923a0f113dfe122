/* Location names of TTIR ops are put in a table; each TTNN op looks its own names up, outermost
 * first (passes wrap locations as they rewrite). Ops that share a name are told apart by what feeds
 * them: the candidate whose producers are the pairs of the TTNN op's producers. Where the text has no
 * locations, that alone decides: the one op of the same kind that all producers agree on. */
#include "graph/pair.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum { MAX_NAMES = 16, MAX_CANDIDATES = 256, MAX_PRODUCERS = 16, MAX_STEPS = 64, MAX_JUDGED = 1024 };

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
    uint32_t *next;         /* per TTIR op: the next one of that name */
    uint32_t *func_of;      /* per TTNN function: the audited TTIR function of the same name, or NONE */
    uint32_t nsample;       /* ops that were judged, or not expected to have an origin */
    bool kinds[K_COUNT];    /* of the TTIR ops in audited functions, */
    uint8_t sizes[1 << 13]; /* and which sizes they have: bits by hash */
};

static bool pairs_at_all(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return c != OP_STRUCTURE && c != OP_RETURN && c != OP_NO_USE && c != OP_CALL && g->m->ops[op].nresults > 0;
}

static bool in_audited_function(const struct graph *g, uint32_t op) {
    uint32_t f = g->m->ops[op].func;
    return f == NONE || g->func_kind[f] == FUNC_MAIN;
}

/* Names of an op's location. Where the text defines no aliases, "#loc12" itself is the name; it can equal only the same
 * alias of the other module, since resolved names never begin with '#'. */
static int names_of(const struct graph *g, uint32_t op, struct str *out, int max) {
    int n = mlir_loc_names(g->m, op, out, max);
    struct str text = n < 1 ? mlir_loc_text(g->m, op) : STR(""), value;
    if (n > 0 || text.n < 2 || text.p[0] != '#' || mlir_alias(g->m, text, &value))
        return n;
    out[0] = text;
    return 1;
}

uint32_t *pair_functions(const struct graph *ttir, const struct graph *ttnn) {
    struct named *names = NULL, *pool = xrealloc(NULL, ((size_t)ttir->m->nfuncs + 1) * sizeof *pool), *e;
    uint32_t *same = xrealloc(NULL, ((size_t)ttnn->m->nfuncs + 1) * sizeof *same);
    for (uint32_t f = 0; f < ttir->m->nfuncs; f++) {
        struct str name = ttir->m->names[ttir->m->funcs[f].name];
        HASH_FIND(hh, names, name.p, (unsigned)name.n, e);
        if (e || ttir->func_kind[f] != FUNC_MAIN)
            continue;
        pool[f] = (struct named){.key = name.p, .len = name.n, .first = f};
        HASH_ADD_KEYPTR(hh, names, pool[f].key, (unsigned)pool[f].len, &pool[f]);
    }
    for (uint32_t f = 0; f < ttnn->m->nfuncs; f++) {
        struct str name = ttnn->m->names[ttnn->m->funcs[f].name];
        HASH_FIND(hh, names, name.p, (unsigned)name.n, e);
        same[f] = e ? e->first : NONE;
    }
    HASH_CLEAR(hh, names);
    free(pool);
    return same;
}

/* All products of matrices are one kind: which of them it is changes. */
static enum op_kind judged_kind(const struct graph *g, uint32_t op) {
    enum op_kind k = (enum op_kind)g->kind[op];
    return op_table[k].class == OP_CONTRACT ? K_MATMUL : k;
}

/* The bit of a kind and size among those of TTIR. */
static uint32_t size_bit(const struct graph *g, uint32_t op) {
    uint64_t n = (uint64_t)graph_numel(g, g->m->ops[op].first_result);
    return (uint32_t)((n * K_COUNT + judged_kind(g, op)) * 0x9E3779B97F4A7C15ull >> 48);
}

/* Of the first `most` ops. */
static void table_build(struct table *t, const struct graph *g, uint32_t most) {
    const struct mlir *m = g->m;
    t->next = xrealloc(NULL, ((size_t)m->nops + 1) * sizeof *t->next);
    t->pool = xrealloc(NULL, ((size_t)m->nops + 1) * sizeof *t->pool);
    for (uint32_t op = 0; op < m->nops && most > 0; op++) {
        struct str name;
        t->next[op] = NONE;
        if (!pairs_at_all(g, op) || !in_audited_function(g, op))
            continue;
        most--;
        uint32_t bit = size_bit(g, op);
        t->kinds[judged_kind(g, op)] = true;
        t->sizes[bit / 8] = (uint8_t)(t->sizes[bit / 8] | 1u << bit % 8);
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
    for (int i = 0; i < n && i < MAX_NAMES; i++) {
        struct named *e = NULL;
        HASH_FIND(hh, t->names, names[i].p, (unsigned)names[i].n, e);
        if (e)
            return e;
    }
    return NULL;
}

/* What defines an operand behind movement and calls: an op; or op NONE and the number of an argument of the function;
 * or neither. */
struct producer {
    uint32_t op, argument;
};

static struct producer producer_of(const struct graph *g, uint32_t v) {
    for (int step = 0; v != NONE && step < MAX_STEPS; step++) {
        uint32_t op = g->m->values[v].def, f, number;
        if (op == NONE) {
            if (graph_argument_of(g, v, &f, &number) && g->func_kind[f] == FUNC_MAIN)
                return (struct producer){NONE, number};
            v = graph_caller_value(g, v);
            continue;
        }
        if (graph_class(g, op) == OP_CALL)
            v = graph_callee_value(g, v);
        else if (class_moves(graph_class(g, op)) && graph_noperands(g, op))
            v = graph_operands(g, op)[0];
        else
            return (struct producer){op, NONE};
    }
    return (struct producer){NONE, NONE};
}

static uint32_t producers(const struct graph *g, uint32_t op, struct producer *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph_noperands(g, op) && n < MAX_PRODUCERS; i++)
        if (graph_operands(g, op)[i] != NONE)
            out[n++] = producer_of(g, graph_operands(g, op)[i]);
    return n;
}

/* Agreement of a candidate: the same operator, and producers that are each other's pairs. */
static int agreement(const struct pairing *p, uint32_t ttnn, const struct producer *a, uint32_t n, uint32_t ttir) {
    struct producer b[MAX_PRODUCERS];
    uint32_t k = producers(p->ttir, ttir, b);
    int score = p->ttnn->kind[ttnn] == p->ttir->kind[ttir] && p->ttnn->kind[ttnn] != K_UNKNOWN;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < k; j++) {
            bool ops = a[i].op != NONE && b[j].op != NONE && p->ttir_of[a[i].op] == b[j].op;
            bool arguments =
                a[i].op == NONE && b[j].op == NONE && a[i].argument != NONE && a[i].argument == b[j].argument;
            if (ops || arguments) {
                score += 2;
                break;
            }
        }
    return score;
}

static uint32_t best_candidate(const struct pairing *p, const struct table *t, uint32_t op, const struct named *e) {
    struct producer fed_by[MAX_PRODUCERS];
    uint32_t best = NONE, n = producers(p->ttnn, op, fed_by);
    int top = 0;
    bool tie = false;
    if (e->count > MAX_CANDIDATES)
        return NONE; /* too many to look at all, and the pair may be any of them */
    for (uint32_t c = e->first; c != NONE; c = t->next[c]) {
        int score = agreement(p, op, fed_by, n, c);
        tie = score == top ? true : score > top ? false : tie;
        if (score > top) {
            top = score;
            best = c;
        }
    }
    return tie ? NONE : best;
}

/* One location may stand for two unrelated ops when the files are of different models: an op of the same kind must
 * at least yield as many elements. */
static bool contradicts(const struct pairing *p, uint32_t ttnn, uint32_t ttir) {
    if (p->ttnn->kind[ttnn] != p->ttir->kind[ttir] || p->ttnn->kind[ttnn] == K_UNKNOWN)
        return false;
    int64_t a = graph_numel(p->ttnn, p->ttnn->m->ops[ttnn].first_result);
    int64_t b = graph_numel(p->ttir, p->ttir->m->ops[ttir].first_result);
    return a >= 0 && b >= 0 && a != b;
}

/* ---- without locations ---- */

static bool same_kind(const struct pairing *p, uint32_t ttnn, uint32_t ttir) {
    enum op_kind a = (enum op_kind)p->ttnn->kind[ttnn], b = (enum op_kind)p->ttir->kind[ttir];
    return a != K_UNKNOWN && (a == b || (op_table[a].class == OP_CONTRACT && op_table[b].class == OP_CONTRACT));
}

static bool same_producer(const struct pairing *p, struct producer ttnn, struct producer ttir) {
    if (ttnn.op == NONE || ttir.op == NONE)
        return ttnn.op == ttir.op && ttnn.argument != NONE && ttnn.argument == ttir.argument;
    if (p->ttir_of[ttnn.op] != NONE)
        return p->ttir_of[ttnn.op] == ttir.op;
    struct constant a = graph_constant(p->ttnn, p->ttnn->m->ops[ttnn.op].first_result);
    struct constant b = graph_constant(p->ttir, p->ttir->m->ops[ttir.op].first_result);
    return a.known && b.known && a.value == b.value;
}

static bool all_agree(const struct pairing *p, uint32_t ttnn, uint32_t ttir) {
    struct producer a[MAX_PRODUCERS], b[MAX_PRODUCERS];
    uint32_t n = producers(p->ttnn, ttnn, a), k = producers(p->ttir, ttir, b);
    bool straight = n == k && n > 0, crossed = n == 2 && k == 2;
    for (uint32_t i = 0; straight && i < n; i++)
        straight = same_producer(p, a[i], b[i]);
    for (uint32_t i = 0; crossed && i < 2; i++)
        crossed = same_producer(p, a[i], b[1 - i]);
    return straight || (crossed && op_is((enum op_kind)p->ttnn->kind[ttnn], COMMUTES));
}

struct search {
    const struct pairing *p;
    uint32_t ttnn, found;
    bool several;
    uint32_t seen; /* values looked at: a value with very many users decides nothing */
};

/* TTIR ops that read `value`, behind movement too. */
static void search_users(struct search *s, uint32_t value, uint32_t depth) {
    const struct graph *g = s->p->ttir;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && s->seen < MAX_CANDIDATES; u++) {
        uint32_t op = g->uses[u];
        s->seen++;
        if (class_moves(graph_class(g, op)) && depth < MAX_STEPS)
            search_users(s, g->m->ops[op].first_result, depth + 1);
        else if (op != s->found && same_kind(s->p, s->ttnn, op) && all_agree(s->p, s->ttnn, op)) {
            s->several |= s->found != NONE;
            s->found = op;
        }
    }
}

/* Argument `number` of the audited TTIR function of the same name. */
static uint32_t ttir_argument(const struct pairing *p, const struct table *t, uint32_t ttnn, uint32_t number) {
    uint32_t f = p->ttnn->m->ops[ttnn].func, k = f == NONE ? NONE : t->func_of[f];
    return k != NONE && number < p->ttir->m->funcs[k].nargs ? p->ttir->m->funcs[k].first_arg + number : NONE;
}

static uint32_t by_dataflow(const struct pairing *p, const struct table *t, uint32_t op) {
    struct producer from[MAX_PRODUCERS];
    struct search s = {p, op, NONE, false, 0};
    uint32_t n = producers(p->ttnn, op, from);
    for (uint32_t i = 0; i < n && s.seen == 0; i++) {
        uint32_t value = NONE;
        if (from[i].op == NONE && from[i].argument != NONE)
            value = ttir_argument(p, t, op, from[i].argument);
        else if (from[i].op != NONE && p->ttir_of[from[i].op] != NONE)
            value = p->ttir->m->ops[p->ttir_of[from[i].op]].first_result;
        if (value != NONE)
            search_users(&s, value, 0);
    }
    return s.several || s.seen >= MAX_CANDIDATES ? NONE : s.found;
}

static bool has_location(const struct graph *g, uint32_t op) {
    struct str name;
    return names_of(g, op, &name, 1) > 0;
}

/* ---- do the two belong together ---- */

static bool computes(const struct graph *g, uint32_t op) {
    enum op_kind k = (enum op_kind)g->kind[op];
    enum op_class c = graph_class(g, op);
    return k != K_UNKNOWN && !class_moves(c) && c != OP_CONSTANT && c != OP_SLICE && c != OP_JOIN && !op_generates(k);
}

static bool same_size(const struct pairing *p, uint32_t ttnn, uint32_t ttir) {
    int64_t a = graph_numel(p->ttnn, p->ttnn->m->ops[ttnn].first_result);
    int64_t b = graph_numel(p->ttir, p->ttir->m->ops[ttir].first_result);
    return a < 0 || b < 0 || a == b;
}

/* An op at the location of TTIR ops has its origin there if one of its kind is as large; where none is of its kind, if
 * any is as large, else it is a part of what that op was lowered to, of which nothing is known. Without locations any
 * op of its kind and size will do, and where TTIR has none of its kind, nothing is known either. */
static void judge(struct pairing *p, const struct table *t, uint32_t op, const struct named *e) {
    struct str name;
    enum op_kind k = judged_kind(p->ttnn, op);
    uint32_t bit = size_bit(p->ttnn, op);
    bool located = t->npool && names_of(p->ttnn, op, &name, 1) > 0 && name.p[0] != '#';
    bool kind = !located && t->kinds[k], size = kind && t->sizes[bit / 8] >> bit % 8 & 1, both = kind && size;
    uint32_t c = located && e ? e->first : NONE;
    for (uint32_t n = 0; !both && c != NONE && n < MAX_CANDIDATES; n++, c = t->next[c]) {
        bool same = judged_kind(p->ttir, c) == k, large = same_size(p, op, c);
        kind |= same;
        size |= large;
        both = same && large;
    }
    bool has = both || (size && !kind);
    p->norigins += has;
    p->njudged += has || kind || (located && !e);
}

static void pair_op(struct pairing *p, struct table *t, uint32_t op) {
    const struct named *e = candidates(p, t, op);
    uint32_t found = NONE;
    if (!e && !has_location(p->ttnn, op)) {
        found = by_dataflow(p, t, op);
        p->ndataflow += found != NONE;
    } else if (e && e->count == 1) {
        found = contradicts(p, op, e->first) ? NONE : e->first;
        p->nlocation += found != NONE;
    } else if (e) {
        found = best_candidate(p, t, op, e);
        p->ndataflow += found != NONE;
    }
    p->nunpaired += found == NONE && !class_moves(graph_class(p->ttnn, op)) && graph_class(p->ttnn, op) != OP_CONSTANT;
    p->ttir_of[op] = found;
    if (t->nsample < MAX_JUDGED && computes(p->ttnn, op)) {
        judge(p, t, op, e);
        t->nsample++;
    }
}

void pair_build(struct pairing *p, const struct graph *ttir, const struct graph *ttnn, bool whole) {
    memset(p, 0, sizeof *p);
    p->ttir = ttir;
    p->ttnn = ttnn;
    p->ttir_of = xrealloc(NULL, ((size_t)ttnn->m->nops + 1) * sizeof *p->ttir_of);
    memset(p->ttir_of, 0xff, ((size_t)ttnn->m->nops + 1) * sizeof *p->ttir_of);
    p->marks = xcalloc(ttir->m->nops + (size_t)1, 1);
    struct table t = {.func_of = pair_functions(ttir, ttnn)};
    table_build(&t, ttir, whole ? NONE : 8 * MAX_JUDGED);
    for (uint32_t op = 0; op < ttnn->m->nops && (whole || t.nsample < MAX_JUDGED); op++)
        if (pairs_at_all(ttnn, op) && in_audited_function(ttnn, op))
            pair_op(p, &t, op);
    table_free(&t);
    if (!whole && p->norigins * 2ull < p->njudged) { /* their origins may be further behind */
        pair_free(p);
        pair_build(p, ttir, ttnn, true);
    }
}

void pair_free(struct pairing *p) {
    free(p->ttir_of);
    free(p->marks);
    memset(p, 0, sizeof *p);
}

/* ---- segments ---- */

enum { SEED = 1, AFTER = 2, BEFORE = 4, MAX_BETWEEN = 4096 };

/* Ops that are looked at for one segment: the seeds and what feeds them. */
struct segment_search {
    const struct graph *g;
    uint8_t *marks;
    uint32_t *ops, n, cap;
    uint32_t first; /* nothing before this op is looked at */
};

static void see(struct segment_search *s, uint32_t op, unsigned mark) {
    if (!s->marks[op]) {
        s->ops = grow(s->ops, &s->cap, s->n + 1, sizeof *s->ops);
        s->ops[s->n++] = op;
    }
    s->marks[op] = (uint8_t)(s->marks[op] | mark);
}

/* Op that makes operand i, when it may lie between seeds; else NONE. */
static uint32_t feeder(const struct segment_search *s, uint32_t op, uint32_t i) {
    uint32_t v = graph_operands(s->g, op)[i], def = v == NONE ? NONE : s->g->m->values[v].def;
    return def == NONE || def < s->first ? NONE : def;
}

/* Marks what the seeds depend on, then what of that depends on a seed. */
static bool reach(struct segment_search *s) {
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
            if (def != NONE && s->marks[def] & (SEED | AFTER))
                see(s, s->ops[i], AFTER);
        }
    return true;
}

/* Keeps the seeds and what lies between them. False when they are too many, or more than one of them feeds no other. */
static bool cut_segment(struct segment_search *s, uint32_t most) {
    uint32_t loose = 0, n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t op = s->ops[i];
        bool in = s->marks[op] & (SEED | AFTER);
        loose += in && !(s->marks[op] & BEFORE);
        s->marks[op] = 0;
        if (in)
            s->ops[n++] = op;
    }
    s->n = n;
    return loose == 1 && n <= most;
}

bool pair_segment(const struct pairing *p, const uint32_t *ttnn_ops, uint32_t n, struct arena *a, uint32_t **out,
                  uint32_t *nout) {
    struct segment_search s = {.g = p->ttir, .marks = p->marks, .first = NONE};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t op = p->ttir_of[ttnn_ops[i]];
        if (op == NONE)
            continue;
        see(&s, op, SEED);
        s.first = op < s.first ? op : s.first;
    }
    bool complete = reach(&s);
    /* a fused op becomes a handful of primitives; more than that is another part of the model */
    bool ok = cut_segment(&s, 8 * n + 16) && complete;
    *nout = ok ? s.n : 0;
    *out = arena_alloc(a, (*nout + 1) * sizeof **out);
    if (*nout)
        memcpy(*out, s.ops, *nout * sizeof **out);
    free(s.ops);
    return ok;
}
