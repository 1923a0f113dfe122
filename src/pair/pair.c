/* Location names of TTIR ops are put in a table; each TTNN op looks its own names up, outermost
 * first (passes wrap locations as they rewrite). Ops that share a name are told apart by what feeds
 * them: the candidate whose producers are the pairs of the TTNN op's producers. Where the text has no
 * locations, that alone decides: the one op of the same kind that all producers agree on. */
#include "pair/pair.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum { MAX_NAMES = 16, MAX_CANDIDATES = 256, MAX_PRODUCERS = 16, MAX_STEPS = 64 };

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
    uint32_t *next; /* per TTIR op: the next one of that name */
};

static bool pairs_at_all(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return c != OP_STRUCTURE && c != OP_RETURN && c != OP_NO_USE && c != OP_CALL && g->m->ops[op].nresults > 0;
}

static bool in_audited_function(const struct graph *g, uint32_t op) {
    uint32_t f = g->m->ops[op].func;
    return f == NONE || g->func_kind[f] == FUNC_MAIN;
}

/* Names of an op's location. Without an alias table the alias itself is all there is; it cannot meet a resolved name
 * of the other side, since those never start with '#'. */
static int names_of(const struct graph *g, uint32_t op, struct str *out, int max) {
    int n = mlir_loc_names(g->m, op, out, max);
    struct str text = n < 1 ? mlir_loc_text(g->m, op) : STR(""), value;
    if (n > 0 || text.n < 2 || text.p[0] != '#' || mlir_alias(g->m, text, &value))
        return n;
    out[0] = text;
    return 1;
}

static void table_build(struct table *t, const struct graph *g) {
    const struct mlir *m = g->m;
    memset(t, 0, sizeof *t);
    t->next = xrealloc(NULL, ((size_t)m->nops + 1) * sizeof *t->next);
    t->pool = xrealloc(NULL, ((size_t)m->nops + 1) * sizeof *t->pool);
    for (uint32_t op = 0; op < m->nops; op++) {
        struct str name;
        t->next[op] = NONE;
        if (!pairs_at_all(g, op) || !in_audited_function(g, op) || names_of(g, op, &name, 1) < 1)
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

static bool moves(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return c == OP_MOVE || c == OP_CAST || c == OP_LAYOUT;
}

/* Source of an operand behind movement and calls: an op, or an argument as NONE with its number. */
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
        else if (moves(g, op) && graph_noperands(g, op))
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
static int agreement(const struct pairing *p, uint32_t ttnn, uint32_t ttir) {
    struct producer a[MAX_PRODUCERS], b[MAX_PRODUCERS];
    uint32_t n = producers(p->ttnn, ttnn, a), k = producers(p->ttir, ttir, b);
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
    uint32_t best = NONE, seen = 0;
    int top = 0;
    bool tie = false;
    for (uint32_t c = e->first; c != NONE && seen < MAX_CANDIDATES; c = t->next[c], seen++) {
        int score = agreement(p, op, c);
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
    return straight || (crossed && (op_table[p->ttnn->kind[ttnn]].flags & COMMUTES));
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
        if (moves(g, op) && depth < MAX_STEPS)
            search_users(s, g->m->ops[op].first_result, depth + 1);
        else if (op != s->found && same_kind(s->p, s->ttnn, op) && all_agree(s->p, s->ttnn, op)) {
            s->several |= s->found != NONE;
            s->found = op;
        }
    }
}

/* Argument `number` of the audited TTIR function of the same name. */
static uint32_t ttir_argument(const struct pairing *p, uint32_t ttnn, uint32_t number) {
    uint32_t f = p->ttnn->m->ops[ttnn].func;
    struct str name = f == NONE ? STR("") : p->ttnn->m->names[p->ttnn->m->funcs[f].name];
    for (uint32_t k = 0; k < p->ttir->m->nfuncs; k++) {
        const struct mlir_func *t = &p->ttir->m->funcs[k];
        if (p->ttir->func_kind[k] == FUNC_MAIN && str_eq(p->ttir->m->names[t->name], name))
            return number < t->nargs ? t->first_arg + number : NONE;
    }
    return NONE;
}

static uint32_t by_dataflow(const struct pairing *p, uint32_t op) {
    struct producer from[MAX_PRODUCERS];
    struct search s = {p, op, NONE, false, 0};
    uint32_t n = producers(p->ttnn, op, from);
    for (uint32_t i = 0; i < n && s.seen == 0; i++) {
        uint32_t value = NONE;
        if (from[i].op == NONE && from[i].argument != NONE)
            value = ttir_argument(p, op, from[i].argument);
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

static void pair_op(struct pairing *p, const struct table *t, uint32_t op) {
    const struct named *e = candidates(p, t, op);
    uint32_t found = NONE;
    if (!e && !has_location(p->ttnn, op)) {
        found = by_dataflow(p, op);
        p->ndataflow += found != NONE;
    } else if (e && e->count == 1) {
        found = contradicts(p, op, e->first) ? NONE : e->first;
        p->nlocation += found != NONE;
    } else if (e) {
        found = best_candidate(p, t, op, e);
        p->ndataflow += found != NONE;
    }
    p->nunpaired += found == NONE && !moves(p->ttnn, op) && graph_class(p->ttnn, op) != OP_CONSTANT;
    p->ttir_of[op] = found;
}

void pair_build(struct pairing *p, const struct graph *ttir, const struct graph *ttnn) {
    memset(p, 0, sizeof *p);
    p->ttir = ttir;
    p->ttnn = ttnn;
    p->ttir_of = xrealloc(NULL, ((size_t)ttnn->m->nops + 1) * sizeof *p->ttir_of);
    memset(p->ttir_of, 0xff, ((size_t)ttnn->m->nops + 1) * sizeof *p->ttir_of);
    struct table t;
    table_build(&t, ttir);
    for (uint32_t op = 0; op < ttnn->m->nops; op++)
        if (pairs_at_all(ttnn, op) && in_audited_function(ttnn, op))
            pair_op(p, &t, op);
    table_free(&t);
}

void pair_free(struct pairing *p) {
    free(p->ttir_of);
    memset(p, 0, sizeof *p);
}

/* ---- segments ---- */

static int by_id(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t sorted_unique(uint32_t *v, uint32_t n) {
    uint32_t k = 0;
    if (n)
        qsort(v, n, sizeof *v, by_id);
    for (uint32_t i = 0; i < n; i++)
        if (k == 0 || v[k - 1] != v[i])
            v[k++] = v[i];
    return k;
}

enum { SEED = 1, AFTER = 2, BEFORE = 4 };

/* Marks in [first, last] what depends on a seed and what a seed depends on. */
static void reach(const struct graph *g, uint32_t first, uint32_t last, uint8_t *marks) {
    for (uint32_t op = first; op <= last; op++)
        for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
            uint32_t v = graph_operands(g, op)[i], def = v == NONE ? NONE : g->m->values[v].def;
            if (def != NONE && def >= first && def <= last && (marks[def - first] & (SEED | AFTER)))
                marks[op - first] |= AFTER;
        }
    for (uint32_t op = last + 1; op-- > first;) {
        if (!(marks[op - first] & (SEED | BEFORE)))
            continue;
        for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
            uint32_t v = graph_operands(g, op)[i], def = v == NONE ? NONE : g->m->values[v].def;
            if (def != NONE && def >= first && def <= last)
                marks[def - first] |= BEFORE;
        }
    }
}

/* Every op but the last feeds a later one of the set. */
static bool hangs_together(const struct graph *g, const uint32_t *ops, uint32_t n, const uint8_t *marks,
                           uint32_t first) {
    uint32_t loose = 0;
    for (uint32_t i = 0; i < n; i++)
        loose += !(marks[ops[i] - first] & BEFORE);
    (void)g;
    return loose == 1;
}

bool pair_segment(const struct pairing *p, const uint32_t *ttnn_ops, uint32_t n, struct arena *a, uint32_t **out,
                  uint32_t *nout) {
    const struct graph *g = p->ttir;
    uint32_t *seeds = arena_alloc(a, (n + 1) * sizeof *seeds), k = 0;
    for (uint32_t i = 0; i < n; i++)
        if (p->ttir_of[ttnn_ops[i]] != NONE)
            seeds[k++] = p->ttir_of[ttnn_ops[i]];
    k = sorted_unique(seeds, k);
    if (k == 0)
        return false;
    uint32_t first = seeds[0], last = seeds[k - 1], span = last - first + 1;
    uint8_t *marks = xrealloc(NULL, span);
    memset(marks, 0, span);
    for (uint32_t i = 0; i < k; i++)
        marks[seeds[i] - first] = SEED;
    reach(g, first, last, marks);
    uint32_t total = 0;
    for (uint32_t i = 0; i < span; i++)
        total += (marks[i] & SEED) || (marks[i] & (AFTER | BEFORE)) == (AFTER | BEFORE);
    /* a fused op becomes a handful of primitives; more than that is another part of the model */
    bool ok = total <= 8 * n + 16;
    *out = arena_alloc(a, (total + 1) * sizeof **out);
    *nout = 0;
    for (uint32_t i = 0; ok && i < span; i++)
        if ((marks[i] & SEED) || (marks[i] & (AFTER | BEFORE)) == (AFTER | BEFORE))
            (*out)[(*nout)++] = first + i;
    ok = ok && hangs_together(g, *out, *nout, marks, first);
    free(marks);
    return ok;
}
