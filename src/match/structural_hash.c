/* Hashes of roots: first of each op alone, with the movement before its operands; then HASH_DEPTH rounds, each of which
 * mixes in the hashes that the ops before it had in the round before. What cannot be told apart from other places
 * within these limits gets a hash that no other op has (mix_unique): then nothing is shared. */
#include "match/structural_hash.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_BEFORE = 24,   /* earlier uses of one argument that are told apart */
    MAX_OPERANDS = 64, /* of one op that are looked through for an argument */
    MAX_LISTED = 400,  /* users of one value that are told apart: no match has room for as many */
    ATTRIBUTE_BITS = 10
};

struct attribute_hash {
    uint32_t begin; /* of its text; 0: none */
    uint32_t graph; /* `unique` of its graph */
    uint64_t hash;
};

/* By the low bits of its hash; a later function takes the place of an earlier one. */
enum { KNOWN_FUNCTIONS = 256, MOST_KNOWN_ROOTS = 1 << 20 };

struct known_function {
    uint64_t hash; /* 0: none */
    uint32_t n;
    uint64_t *root; /* hashes of its n ops */
};

struct known_functions {
    struct known_function at[KNOWN_FUNCTIONS];
    size_t nroots;                                         /* of all of them */
    struct attribute_hash attributes[1 << ATTRIBUTE_BITS]; /* by text; equal attributes are mostly one text */
};

struct hashes {
    const struct graph *g;
    struct known_functions *known;
    uint64_t unique;     /* of this graph */
    uint64_t aliases;    /* hash of what aliases in attributes mean in this module */
    uint32_t first, end; /* ops of the function at hand; the arrays per op begin with the first one */
    uint64_t *own;       /* per op: of it and the movement before its operands */
    uint64_t *root;      /* per op: of all that comes before it */
    uint32_t *before;    /* per operand slot: the op behind the movement; NONE: an argument or a constant. After
                          * gather_edges those of the slots that have one, counted from the first op */
    uint32_t *edges;     /* per op: where its own begin in `before`; one more at the end */
    uint32_t *through;   /* per op: of movement, the value that is looked through to; else NONE */
    uint32_t *source;    /* per op: of movement, the op before all of it */
    uint32_t cap, operand_cap;
    uint64_t *names;  /* per name of an op, 0: not known yet */
    uint64_t *shapes; /* per type, 0: not known yet */
    uint64_t *values; /* per result of the function, 0: not known yet */
    uint32_t first_value, nvalues, value_cap;
};

static uint64_t shape_hash(const struct graph *g, uint32_t v) {
    uint32_t rank;
    const int64_t *shape = graph_shape(g, v, &rank);
    uint64_t h = hash_mix(0, shape ? rank : 99);
    for (uint32_t d = 0; shape && d < rank; d++)
        h = hash_mix(h, (uint64_t)shape[d]);
    return h;
}

static uint64_t mix_shape(const struct hashes *all, uint64_t h, uint32_t v) {
    uint64_t *known = &all->shapes[all->g->m->values[v].type];
    if (*known == 0)
        *known = shape_hash(all->g, v);
    return hash_mix(h, *known);
}

static uint64_t mix_name(const struct hashes *all, uint64_t h, uint32_t name) {
    uint64_t *known = &all->names[name];
    if (*known == 0)
        *known = str_hash(all->g->m->names[name]);
    return hash_mix(h, *known);
}

/* An alias may mean something else in another module. */
static uint64_t attribute_hash_of(const struct hashes *all, struct str t) {
    uint64_t h = str_hash(t);
    return memchr(t.p, '#', t.n) ? hash_mix(h, all->aliases) : h;
}

static uint64_t mix_attributes(const struct hashes *all, uint64_t h, struct span s) {
    if (s.begin == s.end)
        return hash_mix(h, 0);
    struct attribute_hash *d = &all->known->attributes[(s.begin * 0x9E3779B1u) >> (32 - ATTRIBUTE_BITS)];
    uint32_t graph = (uint32_t)all->unique;
    if (d->begin != s.begin || d->graph != graph)
        *d = (struct attribute_hash){s.begin, graph, attribute_hash_of(all, mlir_span(all->g->m, s))};
    return hash_mix(h, d->hash);
}

/* A hash that no other op has, in this graph or another. */
static uint64_t mix_unique(const struct hashes *all, uint64_t h, uint32_t op) {
    return hash_mix(hash_mix(h, all->unique), (uint64_t)op << 32 | 1);
}

/* What a search can ask of a value without looking at its op. */
static uint64_t value_hash(const struct hashes *all, uint32_t v) {
    const struct graph *g = all->g;
    struct constant c = graph_constant(g, v);
    uint64_t h = hash_mix(0, (uint64_t)graph_dtype(g, v) | (uint64_t)graph_is_parameter(g, v) << 8 |
                                 (uint64_t)graph_argument_is_input(g, v) << 9 | (uint64_t)c.known << 10 |
                                 (uint64_t)(c.known ? c.bits : 0) << 16 | (uint64_t)graph_nuses(g, v) << 32);
    h = hash_mix(mix_shape(all, h, v), g->varies[v]);
    return c.known ? hash_mix(h, bits_of_double(c.value)) : h;
}

static uint64_t mix_value(struct hashes *all, uint64_t h, uint32_t v) {
    if (v < all->first_value || v - all->first_value >= all->nvalues)
        return hash_mix(h, value_hash(all, v));
    uint64_t *known = &all->values[v - all->first_value];
    if (*known == 0)
        *known = value_hash(all, v);
    return hash_mix(h, *known);
}

/* How far away the op is that uses the value, and as which operands. False: it has too many to look through. */
static bool mix_use(const struct graph *g, uint64_t *h, uint32_t v, uint32_t user, uint32_t distance) {
    uint32_t n = graph_noperands(g, user);
    if (n > MAX_OPERANDS)
        return false;
    for (uint32_t slot = 0; slot < n; slot++)
        if (graph_operands(g, user)[slot] == v)
            *h = hash_mix(*h, (uint64_t)distance << 32 | slot);
    return true;
}

/* Which argument it is, in terms that hold in another layer too: where it is used first tells it from others. Where
 * that is further away than HASH_SPAN, as for an argument that all layers share, all its uses within the span do. */
static uint64_t mix_argument(const struct hashes *all, uint64_t h, uint32_t v, uint32_t op) {
    const struct graph *g = all->g;
    uint32_t lo = g->first_use[v], hi = g->first_use[v + 1], begin = lo, n = 0;
    uint64_t other = mix_unique(all, h, op);
    if (lo == hi || g->uses[lo] > op)
        return other;
    if (op - g->uses[lo] <= HASH_SPAN)
        return mix_use(g, &h, v, g->uses[lo], op - g->uses[lo]) ? h : other;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (g->uses[mid] <= op)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo > begin && op - g->uses[lo - 1] <= HASH_SPAN; lo--)
        if (++n > MAX_BEFORE || !mix_use(g, &h, v, g->uses[lo - 1], op - g->uses[lo - 1]))
            return other;
    return hash_mix(h, n);
}

/* No search looks before these; the number of a constant is in the hash of its value. */
static bool ends_the_hash(enum op_class c) {
    return c == OP_CONSTANT || c == OP_CALL || c == OP_RETURN || c == OP_STRUCTURE || c == OP_NO_USE;
}

bool hash_covers_users(const struct graph *g, uint32_t op) {
    return !ends_the_hash(graph_class(g, op));
}

/* Whether the value is an argument of the model, and an input of it. */
static uint64_t mix_origin(const struct graph *g, uint64_t h, uint32_t v) {
    uint32_t argument = graph_argument(g, v);
    return hash_mix(h, (argument != NONE) | (uint64_t)(argument != NONE && graph_argument_is_input(g, argument)) << 1);
}

static uint64_t mix_operand(struct hashes *all, uint64_t h, uint32_t op, uint32_t slot, uint32_t v) {
    const struct graph *g = all->g;
    uint32_t *before = &all->before[slot];
    *before = NONE;
    if (v == NONE)
        return hash_mix(h, 1);
    uint32_t def = g->m->values[v].def;
    h = mix_value(all, h, v);
    if (def != NONE && (def < all->first || def >= all->end))
        return mix_unique(all, h, op); /* a search goes on in another function */
    if (def == NONE)
        return mix_argument(all, mix_origin(g, h, v), v, op);
    h = hash_mix(h, (uint64_t)(op - def) << 32 | (v - g->m->ops[def].first_result));
    if (ends_the_hash(graph_class(g, def))) {
        bool called = graph_class(g, def) == OP_CALL;
        h = hash_mix(h, (uint64_t)g->kind[def] << 1 | (called && graph_callee_value(g, v) != NONE));
        return called ? mix_origin(g, h, v) : h;
    }
    bool moved = all->through[def - all->first] != NONE;
    if (moved && def >= op) /* used before it is defined: a module that is not valid */
        return mix_unique(all, h, op);
    *before = moved ? all->source[def - all->first] : def;
    return moved ? hash_mix(h, all->own[def - all->first]) : h;
}

/* The users of the results; behind movement, also the users of what was moved. A user before the op is in a module that
 * is not valid. */
static uint64_t mix_users(const struct hashes *all, uint64_t h, uint32_t op) {
    const struct graph *g = all->g;
    for (uint32_t r = 0; r < g->m->ops[op].nresults; r++) {
        uint32_t v = g->m->ops[op].first_result + r, n = graph_nuses(g, v);
        h = hash_mix(n > MAX_LISTED ? mix_unique(all, h, op) : h, n);
        for (uint32_t u = 0; u < n && n <= MAX_LISTED; u++) {
            uint32_t user = g->uses[g->first_use[v] + u];
            h = mix_name(all, hash_mix(h, (uint64_t)(user - op) << 32 | g->kind[user]), g->m->ops[user].name);
            if (user <= op)
                h = mix_unique(all, h, op);
            else if (user < all->end && all->through[user - all->first] != NONE)
                h = mix_shape(all, hash_mix(h, all->root[user - all->first]), g->m->ops[user].first_result);
        }
    }
    return h;
}

/* Leaves the hashes of users in `root`, which the rounds overwrite. From the last op up, since users come later. */
static void hash_users(struct hashes *all) {
    for (uint32_t op = all->first; op < all->end; op++)
        all->through[op - all->first] = graph_through(all->g, op);
    for (uint32_t op = all->end; op-- > all->first;)
        if (!ends_the_hash(graph_class(all->g, op)))
            all->root[op - all->first] = mix_users(all, 3, op);
}

static void hash_op(struct hashes *all, uint32_t op) {
    const struct graph *g = all->g;
    const struct mlir_op *o = &g->m->ops[op];
    uint32_t n = graph_noperands(g, op), first = g->first_operand[op] - g->first_operand[all->first];
    uint64_t h = mix_name(all, hash_mix(g->kind[op], (uint64_t)o->nresults << 32 | n), o->name);
    if (ends_the_hash(graph_class(g, op))) {
        for (uint32_t i = 0; i < n; i++)
            all->before[first + i] = NONE;
    } else {
        h = mix_attributes(all, mix_attributes(all, h, o->props), o->attrs);
        for (uint32_t i = 0; i < n; i++)
            h = mix_operand(all, h, op, first + i, graph_operands(g, op)[i]);
        for (uint32_t r = 0; r < o->nresults; r++)
            h = mix_value(all, h, o->first_result + r);
        h = hash_mix(h, all->root[op - all->first]);
    }
    uint32_t through = all->through[op - all->first];
    uint32_t slot = through != NONE && n > 1 && through == graph_operands(g, op)[1];
    h = hash_mix(h, through == NONE ? 2 : slot);
    all->own[op - all->first] = h ? h : 1;
    all->source[op - all->first] = through == NONE ? NONE : all->before[first + slot];
}

/* Leaves out operand slots with no op before them, for the rounds. */
static void gather_edges(struct hashes *all) {
    const uint32_t *first = all->g->first_operand;
    uint32_t n = 0, base = first[all->first];
    for (uint32_t op = all->first; op < all->end; op++) {
        all->edges[op - all->first] = n;
        for (uint32_t k = first[op] - base; k < first[op + 1] - base; k++)
            if (all->before[k] != NONE)
                all->before[n++] = all->before[k] - all->first;
    }
    all->edges[all->end - all->first] = n;
}

/* One op deeper. From the last op up: those before an op still have their hashes of the round before. */
static void hash_round(struct hashes *all, uint32_t n) {
    for (uint32_t op = n; op-- > 0;) {
        uint64_t h = all->own[op];
        for (uint32_t k = all->edges[op]; k < all->edges[op + 1]; k++)
            h = hash_mix(h, all->root[all->before[k]]);
        all->root[op] = h ? h : 1;
    }
}

static void hash_roots(struct hashes *all, uint32_t n) {
    memcpy(all->root, all->own, n * sizeof *all->own);
    gather_edges(all);
    for (int round = 0; round < HASH_DEPTH; round++)
        hash_round(all, n);
}

/* Of all that the rounds start from. */
static uint64_t hash_of_function(const struct hashes *all, uint32_t n) {
    uint64_t h = hash_mix(n, 5);
    for (uint32_t op = 0; op < n; op++)
        h = hash_mix(hash_mix(h, all->own[op]), all->source[op] == NONE ? NONE : all->source[op] - all->first);
    return h ? h : 1;
}

static void remember_function(struct known_functions *k, struct known_function *f, uint64_t hash, const uint64_t *root,
                              uint32_t n) {
    k->nroots -= f->n;
    f->hash = f->n = 0;
    if (k->nroots + n > MOST_KNOWN_ROOTS)
        return;
    f->root = xrealloc(f->root, n * sizeof *root);
    memcpy(f->root, root, n * sizeof *root);
    f->hash = hash;
    f->n = n;
    k->nroots += n;
}

static void hash_roots_once(struct hashes *all, uint32_t n) {
    uint64_t hash = hash_of_function(all, n);
    struct known_function *f = &all->known->at[hash % KNOWN_FUNCTIONS];
    if (f->hash == hash && f->n == n) {
        memcpy(all->root, f->root, n * sizeof *f->root);
        return;
    }
    hash_roots(all, n);
    remember_function(all->known, f, hash, all->root, n);
}

struct known_functions *known_functions_new(void) {
    return xcalloc(1, sizeof(struct known_functions));
}

void known_functions_free(struct known_functions *k) {
    for (uint32_t i = 0; i < KNOWN_FUNCTIONS; i++)
        free(k->at[i].root);
    free(k);
}

/* Values are numbered in the order of the ops: those of a function are one range. */
static void begin_values(struct hashes *all) {
    const struct mlir_op *ops = all->g->m->ops;
    uint32_t begin = all->end > all->first ? ops[all->first].first_result : 0, end = begin;
    for (uint32_t op = all->first; op < all->end; op++)
        if (ops[op].nresults > 0 && ops[op].first_result + ops[op].nresults > end)
            end = ops[op].first_result + ops[op].nresults;
    all->first_value = begin;
    all->nvalues = end - begin;
    all->values = grow(all->values, &all->value_cap, all->nvalues, sizeof *all->values);
    if (all->nvalues)
        memset(all->values, 0, all->nvalues * sizeof *all->values);
}

void hashes_function(struct hashes *all, uint32_t first, uint32_t end) {
    uint32_t n = end - first, noperands = all->g->first_operand[end] - all->g->first_operand[first];
    all->first = first;
    all->end = end;
    if (n > all->cap) {
        all->own = xrealloc(all->own, n * sizeof *all->own);
        all->root = xrealloc(all->root, n * sizeof *all->root);
        all->source = xrealloc(all->source, n * sizeof *all->source);
        all->through = xrealloc(all->through, n * sizeof *all->through);
        all->edges = xrealloc(all->edges, (n + (size_t)1) * sizeof *all->edges);
        all->cap = n;
    }
    if (noperands > all->operand_cap) {
        all->before = xrealloc(all->before, noperands * sizeof *all->before);
        all->operand_cap = noperands;
    }
    begin_values(all);
    hash_users(all);
    for (uint32_t op = first; op < end; op++)
        hash_op(all, op);
    if (n > 0)
        hash_roots_once(all, n);
}

uint64_t hash_of_root(const struct hashes *h, uint32_t op) {
    return h->root[op - h->first];
}

/* Who uses a value, and how far from the root. */
static uint64_t hash_of_users(const struct hashes *all, uint32_t value, uint32_t root) {
    const struct graph *g = all->g;
    uint64_t h = hash_mix(7, graph_nuses(g, value));
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1]; u++)
        h = mix_name(all, hash_mix(h, (uint64_t)(g->uses[u] - root) << 32 | g->kind[g->uses[u]]),
                     g->m->ops[g->uses[u]].name);
    return h;
}

uint64_t hash_of_dependency(const struct hashes *h, struct dependency d, uint32_t root) {
    if (d.op < h->first || d.op >= h->end)
        return 0;
    if (d.operand == NONE)
        return hash_of_root(h, d.op);
    bool there = d.operand < graph_noperands(h->g, d.op) && graph_operands(h->g, d.op)[d.operand] != NONE;
    return there ? hash_of_users(h, graph_operands(h->g, d.op)[d.operand], root) : 0;
}

struct hashes *hashes_new(const struct graph *g, uint64_t unique, struct known_functions *known) {
    struct hashes *h = xcalloc(1, sizeof *h);
    h->g = g;
    h->unique = unique;
    h->known = known;
    h->aliases = mlir_aliases_hash(g->m);
    h->shapes = xcalloc((size_t)g->m->ntypes + 1, sizeof *h->shapes);
    h->names = xcalloc((size_t)g->m->nnames + 1, sizeof *h->names);
    return h;
}

void hashes_free(struct hashes *h) {
    if (!h)
        return;
    free(h->own);
    free(h->root);
    free(h->before);
    free(h->source);
    free(h->through);
    free(h->values);
    free(h->edges);
    free(h->shapes);
    free(h->names);
    free(h);
}
