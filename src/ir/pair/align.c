#include "ir/pair/align.h"

#include <stdlib.h>
#include <string.h>

#include "ir/graph/functions.h"
#include "ir/graph/index.h"

enum {
    MAX_CONE = 64,     /* values of TTIR that are tried for one operand: what a fused op is made of */
    MAX_PAIRS = 24,    /* the same for two, whose pairs are tried */
    MAX_OPERANDS = 64, /* of an op: of more, none is looked for */
    MAX_STEPS = 64,    /* movement between an op and what it is made of */
    MAX_DEPTH = 16,    /* the same between a value and an op that moves it to the same places, */
    MAX_SEEN = 1024    /* and users that are looked at on the way */
};

bool align_has(const struct alignment *a, uint32_t v) {
    uint32_t first;
    return signature_find(&a->index, &a->ttnn.of[v], 1, &first) > 0;
}

/* Where a signature has to be looked for: a value that an op makes, of which TTIR has none, or that a function made
 * whose body is not shown. */
static bool is_open(const struct alignment *a, uint32_t v) {
    const struct graph *g = a->ttnn.g;
    uint32_t source = v == NONE ? NONE : signature_source(g, v), op = source == NONE ? NONE : g->m->values[source].def;
    if (op == NONE || a->ttnn.settled[source])
        return false;
    return signature_is_made(g, op) ? !align_has(a, source)
                                    : graph_class(g, op) == OP_CALL && !signature_known(&a->ttnn.of[source]);
}

/* Why a signature is given. */
enum { BY_VALUE = 1, BY_PLACE, BY_NAME };

static void settle(struct alignment *a, uint32_t v, const struct signature *i, uint8_t why) {
    uint32_t source = signature_source(a->ttnn.g, v);
    memcpy(a->ttnn.of[source].x, i->x, sizeof i->x);
    memcpy(a->ttnn.of[v].x, i->x, sizeof i->x);
    a->ttnn.settled[source] = why;
}

/* Values that others are made of, nearest first; each once. */
struct cone {
    uint32_t v[MAX_CONE], n;
};

static void add_to_cone(struct cone *c, uint32_t v, uint32_t most) {
    for (uint32_t i = 0; i < c->n; i++)
        if (c->v[i] == v)
            return;
    if (c->n < most)
        c->v[c->n++] = v;
}

/* What the values of TTIR with this signature are made of, themselves too. */
static void cone_of(const struct alignment *a, const struct signature *signature, struct cone *c, uint32_t most) {
    const struct graph *g = a->ttir.g;
    uint32_t first, n = signature_find(&a->index, signature, most, &first);
    c->n = 0;
    for (uint32_t i = 0; i < n; i++)
        add_to_cone(c, a->index.values[first + i], most);
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t op = g->m->values[c->v[i]].def;
        for (uint32_t k = 0; op != NONE && k < graph_noperands(g, op); k++)
            if (graph_operands(g, op)[k] != NONE)
                add_to_cone(c, signature_source(g, graph_operands(g, op)[k]), most);
    }
}

/* The operands of an op that are open, and on which its result depends: it does not on a semaphore, and a slice of a
 * product does not on the product as a whole. */
struct openings {
    uint32_t op, of[2], n; /* n is 3 where there are more than two */
};

static bool depends(struct alignment *a, uint32_t op, uint32_t v) {
    struct signature kept = a->ttnn.of[v], now, then;
    signature_of_op(&a->ttnn, op, 0, &now);
    for (int k = 0; k < SIGNATURE_NUMBERS; k++)
        a->ttnn.of[v].x[k] = 0.5 + 0.1 * k;
    signature_of_op(&a->ttnn, op, 0, &then);
    a->ttnn.of[v] = kept;
    return !signature_equal(&now, &then);
}

static struct openings openings_of(struct alignment *a, uint32_t op) {
    const struct graph *g = a->ttnn.g;
    struct openings o = {op, {NONE, NONE}, graph_noperands(g, op) > MAX_OPERANDS ? 3 : 0};
    for (uint32_t k = 0; o.n < 3 && k < graph_noperands(g, op); k++) {
        uint32_t v = graph_operands(g, op)[k];
        if (!is_open(a, v) || v == o.of[0] || v == o.of[1] || !depends(a, op, v))
            continue;
        if (o.n < 2)
            o.of[o.n] = v;
        o.n++;
    }
    return o;
}

/* Whether the op makes `want` of the values `v` of TTIR, put for what is open. */
static bool makes(struct alignment *a, const struct openings *o, const uint32_t *v, const struct signature *want) {
    struct signature kept[2] = {{.parts = 0}}, got;
    for (uint32_t i = 0; i < o->n; i++) {
        kept[i] = a->ttnn.of[o->of[i]];
        a->ttnn.of[o->of[i]] = a->ttir.of[v[i]];
        a->ttnn.of[o->of[i]].parts = 0; /* they are listed in TTIR */
    }
    signature_of_op(&a->ttnn, o->op, 0, &got);
    for (uint32_t i = 0; i < o->n; i++)
        a->ttnn.of[o->of[i]] = kept[i];
    return signature_equal(&got, want);
}

/* How much speaks for a value of TTIR being that of TTNN: ops of one kind, or an op that can make it. */
static int likeness(struct alignment *a, uint32_t ttnn, uint32_t ttir) {
    uint32_t op = a->ttnn.g->m->values[signature_source(a->ttnn.g, ttnn)].def, origin = a->ttir.g->m->values[ttir].def;
    if (op == NONE || origin == NONE)
        return 0;
    enum op_class c = graph_class(a->ttnn.g, op), d = graph_class(a->ttir.g, origin);
    if (a->ttnn.g->kind[op] == a->ttir.g->kind[origin] || (c == OP_CONTRACT && d == c))
        return 2;
    struct openings o = openings_of(a, op);
    struct cone cone = {.n = 0};
    if (o.n == 1)
        cone_of(a, &a->ttir.of[ttir], &cone, MAX_CONE);
    for (uint32_t i = 0; i < cone.n; i++)
        if (makes(a, &o, &cone.v[i], &a->ttir.of[ttir]))
            return 1;
    return 0;
}

/* Finds the values for what is open of an op whose result is known: one of which the result is made, for two the pair
 * that is most alike. */
static void settle_operands(struct alignment *a, uint32_t op) {
    uint32_t result = a->ttnn.g->m->ops[op].first_result, best[2] = {NONE, NONE};
    struct openings o = openings_of(a, op);
    struct signature want = a->ttnn.of[result];
    struct cone c;
    bool several = false;
    int most = 0;
    if (o.n == 0 || o.n > 2 || !align_has(a, result))
        return;
    cone_of(a, &want, &c, o.n == 1 ? MAX_CONE : MAX_PAIRS);
    for (uint32_t i = 0; i < c.n * (o.n == 1 ? 1 : c.n); i++) {
        uint32_t v[2] = {c.v[i % c.n], c.v[i / c.n]};
        if (!makes(a, &o, v, &want))
            continue;
        int like = likeness(a, o.of[0], v[0]) + (o.n == 2 ? likeness(a, o.of[1], v[1]) : 0);
        if (like < most || (o.n == 2 && like == 0))
            continue;
        bool same = best[0] != NONE && signature_equal(&a->ttir.of[best[0]], &a->ttir.of[v[0]]) &&
                    signature_equal(&a->ttir.of[best[1]], &a->ttir.of[v[1]]);
        several = like == most && best[0] != NONE && (several || !same);
        most = like;
        memcpy(best, v, sizeof best);
    }
    for (uint32_t i = 0; i < o.n && best[0] != NONE && !several; i++)
        settle(a, o.of[i], &a->ttir.of[best[i]], BY_VALUE);
}

/* Results of functions at both levels are one by one the same. */
static void settle_results(struct alignment *a, uint32_t ttnn, uint32_t ttir) {
    const struct graph *g = a->ttnn.g, *h = a->ttir.g;
    uint32_t from = g->return_op[ttnn], to = h->return_op[ttir];
    if (from == NONE || to == NONE || graph_noperands(g, from) != graph_noperands(h, to))
        return;
    for (uint32_t i = 0; i < graph_noperands(g, from); i++) {
        uint32_t v = graph_operands(g, from)[i], w = graph_operands(h, to)[i];
        if (is_open(a, v) && w != NONE && signature_known(&a->ttir.of[w]) && graph_numel(g, v) == graph_numel(h, w))
            settle(a, v, &a->ttir.of[w], BY_PLACE);
    }
}

static void settle_function(struct alignment *a, uint32_t f, uint32_t ttir) {
    const struct mlir_func *func = &a->ttnn.g->m->funcs[f];
    settle_results(a, f, ttir);
    for (uint32_t op = func->end_op; op-- > func->first_op;)
        if (signature_is_made(a->ttnn.g, op))
            settle_operands(a, op);
}

/* One that TTIR has not gets a number that none of TTIR has. */
static void number_arguments(struct alignment *a, const struct graph *ttir, const struct graph *ttnn,
                             const uint32_t *func_of) {
    a->numbers = xcalloc(ttnn->m->nvalues + (size_t)1, sizeof *a->numbers);
    for (uint32_t f = 0; f < ttnn->m->nfuncs; f++) {
        const struct mlir_func *func = &ttnn->m->funcs[f];
        uint32_t *same = func_of[f] == NONE ? NULL : pair_arguments(ttir, func_of[f], ttnn, f), n = 0;
        for (uint32_t v = func->first_arg; v < func->first_arg + func->nargs; v++) {
            if (!is_model_argument(ttnn, v))
                continue;
            a->numbers[v] = same && same[n] != NONE ? same[n] : same ? ttir->m->funcs[func_of[f]].nargs + n : n;
            n++;
        }
        free(same);
    }
}

void align_build(struct alignment *a, const struct graph *ttir, const struct graph *ttnn, const uint32_t *func_of) {
    *a = (struct alignment){.identity = xrealloc(NULL, (ttir->m->nfuncs + (size_t)1) * sizeof *a->identity)};
    for (uint32_t f = 0; f < ttir->m->nfuncs; f++)
        a->identity[f] = f;
    signatures_begin(&a->ttir, ttir, a->identity, NULL, NULL);
    signatures_look(&a->ttir);
    signature_index_build(&a->index, &a->ttir);
    number_arguments(a, ttir, ttnn, func_of);
    signatures_begin(&a->ttnn, ttnn, func_of, a->numbers, &a->index);
    signatures_look(&a->ttnn);
    for (uint32_t f = 0; f < ttnn->m->nfuncs; f++)
        if (ttnn->func_kind[f] == FUNC_MAIN && func_of[f] != NONE)
            settle_function(a, f, func_of[f]);
    signatures_look(&a->ttnn);
}

void align_free(struct alignment *a) {
    signatures_free(&a->ttir);
    signatures_free(&a->ttnn);
    signature_index_free(&a->index);
    free(a->identity);
    free(a->numbers);
}

void align_settle(struct alignment *a, uint32_t ttnn, uint32_t ttir) {
    if (signature_known(&a->ttir.of[ttir]))
        settle(a, ttnn, &a->ttir.of[ttir], BY_NAME);
}

void align_look(struct alignment *a) {
    signatures_look(&a->ttnn);
}

uint32_t align_origins(const struct alignment *a, uint32_t ttnn_op, uint32_t *out, uint32_t max) {
    uint32_t first,
        n = signature_find(&a->index, &a->ttnn.of[a->ttnn.g->m->ops[ttnn_op].first_result], max + 1, &first), count = 0;
    if (n > max)
        return n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t op = a->ttir.g->m->values[a->index.values[first + i]].def;
        if (op == NONE) /* an argument */
            continue;
        out[count++] = op;
    }
    return count;
}

/* From the elements of a value to those of its signature_source, which movement made it of. False where some of that
 * movement is not understood. */
static bool map_to_source(const struct graph *g, uint32_t v, struct imap *map) {
    struct imap next;
    uint32_t op;
    imap_identity(map, 0, graph_numel(g, v));
    for (int step = 0; step < MAX_STEPS && (op = g->m->values[v].def) != NONE && graph_looks_through(g, op); step++) {
        if (!imap_through(g, op, map, &next))
            return false;
        imap_copy(map, &next);
        v = graph_through(g, op);
    }
    return signature_source(g, v) == v;
}

static bool moved_alike(const struct alignment *a, uint32_t ttnn_op, uint32_t ttir_op) {
    const struct graph *g = a->ttnn.g, *h = a->ttir.g;
    uint32_t v = g->m->ops[ttnn_op].first_result, w = h->m->ops[ttir_op].first_result, rank, rank_there;
    const int64_t *shape = graph_shape(g, v, &rank), *there = graph_shape(h, w, &rank_there);
    struct imap map, map_there;
    bool alike = g->kind[ttnn_op] == h->kind[ttir_op];
    if (alike && !class_moves(graph_class(g, ttnn_op))) /* a collective, along another dimension of another shape */
        return graph_numel(g, v) == graph_numel(h, w);
    if (!shape || !there || rank != rank_there || memcmp(shape, there, rank * sizeof *shape) != 0)
        return false;
    if (alike)
        return true;
    return map_to_source(g, v, &map) && map_to_source(h, w, &map_there) && imap_equal(&map, &map_there);
}

struct moved_search {
    const struct alignment *a;
    uint32_t op, *out, n, max, seen;
};

/* Ops that move a value of TTIR, also behind others that do. */
static void search_moved(struct moved_search *s, uint32_t value, int depth) {
    const struct graph *g = s->a->ttir.g;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1] && s->seen < MAX_SEEN; u++) {
        uint32_t op = g->uses[u], result = g->m->ops[op].first_result;
        s->seen++;
        if (g->m->ops[op].nresults != 1 || signature_source(g, result) == result)
            continue;
        if (moved_alike(s->a, s->op, op) && s->n < s->max)
            s->out[s->n++] = op;
        if (depth > 0)
            search_moved(s, result, depth - 1);
    }
}

uint32_t align_moved(const struct alignment *a, uint32_t ttnn_op, uint32_t *out, uint32_t max) {
    const struct graph *g = a->ttnn.g;
    uint32_t v = signature_source(g, g->m->ops[ttnn_op].first_result), first,
             n = signature_find(&a->index, &a->ttnn.of[v], MAX_SEEN, &first);
    struct moved_search s = {a, ttnn_op, out, 0, max, 0};
    if (v == g->m->ops[ttnn_op].first_result)
        return 0; /* a constant, a call */
    for (uint32_t i = 0; i < n; i++)
        search_moved(&s, a->index.values[first + i], MAX_DEPTH);
    return s.seen < MAX_SEEN ? s.n : 0; /* a value with very many users decides nothing */
}

enum align_told align_told(const struct alignment *a, uint32_t ttnn_op) {
    uint32_t v = a->ttnn.g->m->ops[ttnn_op].first_result;
    struct signature made;
    if (a->ttnn.settled[v] && a->ttnn.settled[v] != BY_PLACE)
        return TOLD_VALUE;
    signature_of_op(&a->ttnn, ttnn_op, 0, &made);
    return !signature_known(&made) ? TOLD_NOTHING : signature_equal(&made, &a->ttnn.of[v]) ? TOLD_VALUE : TOLD_PLACE;
}

bool align_fed_alike(const struct alignment *a, uint32_t ttnn_op, uint32_t ttir_op) {
    const struct graph *g = a->ttnn.g, *h = a->ttir.g;
    uint32_t n = graph_noperands(h, ttir_op), fed = 0;
    for (uint32_t i = 0; i < n && n <= MAX_OPERANDS; i++) { /* an op with more is fed by none */
        bool in = false;
        for (uint32_t k = 0; k < graph_noperands(g, ttnn_op) && k < MAX_OPERANDS && !in; k++)
            in =
                graph_operands(h, ttir_op)[i] != NONE && graph_operands(g, ttnn_op)[k] != NONE &&
                signature_equal(&a->ttir.of[graph_operands(h, ttir_op)[i]], &a->ttnn.of[graph_operands(g, ttnn_op)[k]]);
        fed += in;
    }
    return fed == n;
}
