/* Places as 64-bit numbers: first of each op alone, then in rounds with those of the ops before it. */
#include "match/cache.h"

#include "match/matcher.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_BEFORE = 24,      /* earlier uses of one argument that are told apart */
    MAX_OPERANDS = 64,    /* of one op that are looked through for an argument */
    MAX_LISTED = 400,     /* users of one value that are told apart: no match has room for as many */
    MAX_HITS = 64,        /* that are remembered of one place */
    FIRST_TABLE = 64,     /* entries at first */
    LAST_TABLE = 1 << 15, /* entries before all is forgotten */
    DICT_BITS = 10,
    FUNCTIONS = 256,      /* whose places are known, by the low bits of their number: the last one counts */
    LAST_PLACES = 1 << 22 /* of all of these together */
};

struct entry {
    uint64_t key; /* 0: empty */
    struct cache_bucket place;
};

/* A function that is alike from its first op to its last has the same places. */
struct known_function {
    uint64_t key; /* 0: none */
    uint32_t n;
    uint64_t *place;
};

struct match_cache {
    struct known_function functions[FUNCTIONS];
    size_t places; /* of these */
    struct entry *entries;
    uint32_t size, used;
    uint64_t graphs;    /* seen so far */
    struct arena arena; /* of hits */
};

/* What the text of attributes says. */
struct dict {
    struct span text; /* empty: none */
    uint64_t number;
};

struct hashes {
    const struct graph *g;
    struct match_cache *memory;
    bool own_memory;
    uint64_t unlike;       /* of this graph alone: for a place that is like no other */
    uint64_t aliases;      /* of what aliases in attributes mean */
    uint64_t *names;       /* per name: a number of its text; 0: not asked for yet */
    uint32_t first, end;   /* of the function at hand */
    uint64_t *own, *place; /* per op: of it and the movement before it alone; of all that comes before */
    uint32_t *before;      /* per operand slot: the op behind the movement; NONE: an argument or a constant. Later
                            * those of all slots that have one, counted from the function's first op */
    uint32_t *edges;       /* per op: where its own begin among those, one more at the end */
    uint32_t *through;     /* per op: of movement, the value that is looked through to; else NONE */
    uint32_t *source;      /* per op: of movement, the op before all of it */
    uint64_t *values;      /* per result: what is known of it; 0: not asked for yet */
    uint32_t first_value, nvalues;
    uint32_t cap, operand_cap, value_cap;
    struct dict dicts[1 << DICT_BITS];
    uint64_t *shapes; /* per type: a number of its shape; 0: not asked for yet */
};

static uint64_t mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * 0x9E3779B97F4A7C15ull;
    return h ^ h >> 31;
}

static uint64_t mix_text(uint64_t h, struct str t) {
    uint64_t word;
    h = mix(h, t.n);
    for (; t.n >= sizeof word; t.p += sizeof word, t.n -= sizeof word) {
        memcpy(&word, t.p, sizeof word);
        h = mix(h, word);
    }
    word = 0;
    if (t.n)
        memcpy(&word, t.p, t.n);
    return mix(h, word);
}

static uint64_t bits_of(double d) {
    uint64_t u;
    memcpy(&u, &d, sizeof u);
    return u;
}

static uint64_t shape_number(const struct graph *g, uint32_t v) {
    uint32_t rank;
    const int64_t *shape = graph_shape(g, v, &rank);
    uint64_t h = mix(0, shape ? rank : 99);
    for (uint32_t d = 0; shape && d < rank; d++)
        h = mix(h, (uint64_t)shape[d]);
    return h;
}

static uint64_t mix_shape(const struct hashes *a, uint64_t h, uint32_t v) {
    uint64_t *number = &a->shapes[a->g->m->values[v].type];
    if (*number == 0)
        *number = shape_number(a->g, v);
    return mix(h, *number);
}

static uint64_t mix_name(const struct hashes *a, uint64_t h, uint32_t name) {
    uint64_t *number = &a->names[name];
    if (*number == 0)
        *number = str_hash(a->g->m->names[name]);
    return mix(h, *number);
}

/* Aliases mean something else in another graph. */
static uint64_t dict_number(const struct hashes *a, struct str t) {
    uint64_t h = mix_text(0, t);
    return memchr(t.p, '#', t.n) ? mix(h, a->aliases) : h;
}

/* Equal attributes are mostly one text: few are looked at. */
static uint64_t mix_attributes(struct hashes *a, uint64_t h, struct span s) {
    if (s.begin == s.end)
        return mix(h, 0);
    struct dict *d = &a->dicts[(s.begin * 0x9E3779B1u) >> (32 - DICT_BITS)];
    if (d->text.begin != s.begin || d->text.end != s.end)
        *d = (struct dict){s, dict_number(a, mlir_span(a->g->m, s))};
    return mix(h, d->number);
}

/* Like no other place. */
static uint64_t mix_unlike(const struct hashes *a, uint64_t h, uint32_t op) {
    return mix(mix(h, a->unlike), (uint64_t)op << 32 | 1);
}

/* What is known of a value without its op. */
static uint64_t value_number(const struct hashes *a, uint32_t v) {
    const struct graph *g = a->g;
    struct constant c = graph_constant(g, v);
    uint64_t h = mix(0, (uint64_t)graph_dtype(g, v) | (uint64_t)graph_is_parameter(g, v) << 8 |
                            (uint64_t)graph_argument_is_input(g, v) << 9 | (uint64_t)c.known << 10 |
                            (uint64_t)(c.known ? c.bits : 0) << 16 | (uint64_t)graph_nuses(g, v) << 32);
    h = mix_shape(a, h, v);
    return c.known ? mix(h, bits_of(c.value)) : h;
}

/* Results of the function's ops are asked for by each op that uses them. */
static uint64_t mix_value(struct hashes *a, uint64_t h, uint32_t v) {
    if (v < a->first_value || v - a->first_value >= a->nvalues)
        return mix(h, value_number(a, v));
    uint64_t *number = &a->values[v - a->first_value];
    if (*number == 0)
        *number = value_number(a, v);
    return mix(h, *number);
}

/* Where and as which operands an op uses a value. False: among more operands than are looked through. */
static bool mix_use(const struct graph *g, uint64_t *h, uint32_t v, uint32_t user, uint32_t distance) {
    uint32_t n = graph_noperands(g, user);
    if (n > MAX_OPERANDS)
        return false;
    for (uint32_t slot = 0; slot < n; slot++)
        if (graph_operands(g, user)[slot] == v)
            *h = mix(*h, (uint64_t)distance << 32 | slot);
    return true;
}

/* Where an argument is used first tells it from others; where that is further away than HASH_SPAN, so that shared
 * arguments of layers look alike, all uses within the span do, those of the op itself too. Where those are too many,
 * the place is like no other. */
static uint64_t mix_argument(const struct hashes *a, uint64_t h, uint32_t v, uint32_t op) {
    const struct graph *g = a->g;
    uint32_t lo = g->first_use[v], hi = g->first_use[v + 1], begin = lo, n = 0;
    uint64_t other = mix_unlike(a, h, op);
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
    for (; lo > begin && op - g->uses[lo - 1] <= HASH_SPAN; lo--) {
        if (lo - begin > 1 && g->uses[lo - 2] == g->uses[lo - 1])
            continue; /* told with the next one */
        if (++n > MAX_BEFORE || !mix_use(g, &h, v, g->uses[lo - 1], op - g->uses[lo - 1]))
            return other;
    }
    return mix(h, n);
}

/* Nothing is looked for behind these; what a constant is was told with its value. */
static bool opaque_end(enum op_class c) {
    return c == OP_CONSTANT || c == OP_CALL || c == OP_RETURN || c == OP_STRUCTURE || c == OP_NO_USE;
}

bool hash_covers_users(const struct graph *g, uint32_t op) {
    return !opaque_end(graph_class(g, op));
}

/* The argument of the model that a value is, which a caller may know more of. */
static uint64_t mix_origin(const struct graph *g, uint64_t h, uint32_t v) {
    uint32_t argument = graph_argument(g, v);
    return mix(h, (argument != NONE) | (uint64_t)(argument != NONE && graph_argument_is_input(g, argument)) << 1);
}

static uint64_t mix_operand(struct hashes *a, uint64_t h, uint32_t op, uint32_t slot, uint32_t v) {
    const struct graph *g = a->g;
    uint32_t *before = &a->before[slot];
    *before = NONE;
    if (v == NONE)
        return mix(h, 1);
    uint32_t def = g->m->values[v].def;
    h = mix_value(a, h, v);
    if (def == NONE || def < a->first || def >= a->end)
        return mix_argument(a, mix_origin(g, h, v), v, op);
    h = mix(h, (uint64_t)(op - def) << 32 | (v - g->m->ops[def].first_result));
    if (opaque_end(graph_class(g, def))) {
        bool called = graph_class(g, def) == OP_CALL;
        h = mix(h, (uint64_t)g->kind[def] << 1 | (called && graph_callee_value(g, v) != NONE));
        return called ? mix_origin(g, h, v) : h;
    }
    bool moved = a->through[def - a->first] != NONE;
    if (moved && def >= op) /* used before it is made, in text that is wrong: like no other place */
        return mix_unlike(a, h, op);
    *before = moved ? a->source[def - a->first] : def;
    return moved ? mix(h, a->own[def - a->first]) : h;
}

/* Where the results are used and by what; behind movement, by what is behind that. Where that is too much to tell, or
 * comes before the op in text that is wrong, the place is like no other. */
static uint64_t mix_users(const struct hashes *a, uint64_t h, uint32_t op) {
    const struct graph *g = a->g;
    for (uint32_t r = 0; r < g->m->ops[op].nresults; r++) {
        uint32_t v = g->m->ops[op].first_result + r, n = graph_nuses(g, v);
        h = mix(n > MAX_LISTED ? mix_unlike(a, h, op) : h, n);
        for (uint32_t u = 0; u < n && n <= MAX_LISTED; u++) {
            uint32_t user = g->uses[g->first_use[v] + u];
            h = mix_name(a, mix(h, (uint64_t)(user - op) << 32 | g->kind[user]), g->m->ops[user].name);
            if (user <= op)
                h = mix_unlike(a, h, op);
            else if (user < a->end && a->through[user - a->first] != NONE)
                h = mix_shape(a, mix(h, a->place[user - a->first]), g->m->ops[user].first_result);
        }
    }
    return h;
}

/* What uses the results, from the last op up: the numbers of places come later. */
static void number_behind(struct hashes *a) {
    for (uint32_t op = a->first; op < a->end; op++)
        a->through[op - a->first] = graph_through(a->g, op);
    for (uint32_t op = a->end; op-- > a->first;)
        if (!opaque_end(graph_class(a->g, op)))
            a->place[op - a->first] = mix_users(a, 3, op);
}

static void number_op(struct hashes *a, uint32_t op) {
    const struct graph *g = a->g;
    const struct mlir_op *o = &g->m->ops[op];
    uint32_t n = graph_noperands(g, op), first = g->first_operand[op] - g->first_operand[a->first];
    uint64_t h = mix_name(a, mix(g->kind[op], (uint64_t)o->nresults << 32 | n), o->name);
    if (opaque_end(graph_class(g, op))) {
        for (uint32_t i = 0; i < n; i++)
            a->before[first + i] = NONE;
    } else {
        h = mix_attributes(a, mix_attributes(a, h, o->props), o->attrs);
        for (uint32_t i = 0; i < n; i++)
            h = mix_operand(a, h, op, first + i, graph_operands(g, op)[i]);
        for (uint32_t r = 0; r < o->nresults; r++)
            h = mix_value(a, h, o->first_result + r);
        h = mix(h, a->place[op - a->first]);
    }
    a->own[op - a->first] = h ? h : 1;
    uint32_t through = a->through[op - a->first];
    a->source[op - a->first] =
        through == NONE ? NONE : a->before[first + (n > 1 && through == graph_operands(g, op)[1])];
}

/* The slots without an op before them are of no use to the rounds. */
static void gather_edges(struct hashes *a) {
    const uint32_t *first = a->g->first_operand;
    uint32_t n = 0, base = first[a->first];
    for (uint32_t op = a->first; op < a->end; op++) {
        a->edges[op - a->first] = n;
        for (uint32_t k = first[op] - base; k < first[op + 1] - base; k++)
            if (a->before[k] != NONE)
                a->before[n++] = a->before[k] - a->first;
    }
    a->edges[a->end - a->first] = n;
}

/* One op deeper: an op that comes later in the text first, since those before it still have the last round's number. */
static void number_round(struct hashes *a, uint32_t n) {
    for (uint32_t op = n; op-- > 0;) {
        uint64_t h = a->own[op];
        for (uint32_t k = a->edges[op]; k < a->edges[op + 1]; k++)
            h = mix(h, a->place[a->before[k]]);
        a->place[op] = h ? h : 1;
    }
}

static void number_places(struct hashes *a, uint32_t n) {
    memcpy(a->place, a->own, n * sizeof *a->own);
    gather_edges(a);
    for (int round = 0; round < HASH_DEPTH; round++)
        number_round(a, n);
}

/* Of all that the numbers of the places are made of. */
static uint64_t function_number(const struct hashes *a, uint32_t n) {
    uint64_t h = mix(n, 5);
    for (uint32_t op = 0; op < n; op++)
        h = mix(mix(h, a->own[op]), a->source[op] == NONE ? NONE : a->source[op] - a->first);
    return h ? h : 1;
}

static void keep_places(struct match_cache *m, struct known_function *f, uint64_t key, const struct hashes *a,
                        uint32_t n) {
    m->places -= f->n;
    if (m->places + n > LAST_PLACES) {
        free(f->place);
        *f = (struct known_function){0};
        return;
    }
    m->places += n;
    f->key = key;
    f->n = n;
    f->place = xrealloc(f->place, n * sizeof *f->place);
    memcpy(f->place, a->place, n * sizeof *f->place);
}

/* Values are numbered in the order of the ops. */
static void begin_values(struct hashes *a) {
    const struct mlir_op *ops = a->g->m->ops;
    uint32_t begin = a->end > a->first ? ops[a->first].first_result : 0, end = begin;
    for (uint32_t op = a->first; op < a->end; op++)
        if (ops[op].nresults > 0 && ops[op].first_result + ops[op].nresults > end)
            end = ops[op].first_result + ops[op].nresults;
    a->first_value = begin;
    a->nvalues = end - begin;
    a->values = grow(a->values, &a->value_cap, a->nvalues, sizeof *a->values);
    if (a->nvalues)
        memset(a->values, 0, a->nvalues * sizeof *a->values);
}

void hashes_function(struct hashes *a, uint32_t first, uint32_t end) {
    uint32_t n = end - first, noperands = a->g->first_operand[end] - a->g->first_operand[first];
    a->first = first;
    a->end = end;
    if (n > a->cap) {
        a->own = xrealloc(a->own, n * sizeof *a->own);
        a->place = xrealloc(a->place, n * sizeof *a->place);
        a->source = xrealloc(a->source, n * sizeof *a->source);
        a->through = xrealloc(a->through, n * sizeof *a->through);
        a->edges = xrealloc(a->edges, (n + (size_t)1) * sizeof *a->edges);
        a->cap = n;
    }
    if (noperands > a->operand_cap) {
        a->before = xrealloc(a->before, noperands * sizeof *a->before);
        a->operand_cap = noperands;
    }
    begin_values(a);
    number_behind(a);
    for (uint32_t op = first; op < end; op++)
        number_op(a, op);
    if (n == 0)
        return;
    uint64_t key = function_number(a, n);
    struct known_function *f = &a->memory->functions[key % FUNCTIONS];
    if (f->key == key && f->n == n) {
        memcpy(a->place, f->place, n * sizeof *f->place);
        return;
    }
    number_places(a, n);
    keep_places(a->memory, f, key, a, n);
}

static struct entry *find(struct entry *entries, uint32_t size, uint64_t key) {
    uint32_t at = (uint32_t)(key >> 20) & (size - 1);
    while (entries[at].key && entries[at].key != key)
        at = (at + 1) & (size - 1);
    return &entries[at];
}

static void make_room(struct match_cache *a) {
    bool keep = a->size < LAST_TABLE;
    uint32_t size = a->size == 0 ? FIRST_TABLE : keep ? a->size * 2 : a->size;
    struct entry *entries = xrealloc(NULL, size * sizeof *entries);
    memset(entries, 0, size * sizeof *entries);
    for (uint32_t i = 0; keep && i < a->size; i++)
        if (a->entries[i].key)
            *find(entries, size, a->entries[i].key) = a->entries[i];
    if (!keep) {
        a->used = 0;
        arena_free(&a->arena);
    }
    free(a->entries);
    a->entries = entries;
    a->size = size;
}

struct cache_bucket *cache_bucket(struct hashes *a, uint32_t op) {
    uint64_t key = a->place[op - a->first];
    struct match_cache *m = a->memory;
    if (m->used * 4 >= m->size * 3)
        make_room(m);
    struct entry *e = find(m->entries, m->size, key);
    m->used += e->key == 0;
    e->key = key;
    return &e->place;
}

/* Ops as they are counted from the root. */
static int32_t *from_root(struct arena *arena, const uint32_t *ops, uint32_t n, uint32_t root) {
    int32_t *out = arena_alloc(arena, (n + 1) * sizeof *out);
    for (uint32_t i = 0; i < n; i++)
        out[i] = (int32_t)(ops[i] - root);
    return out;
}

/* Who uses a value and where, counted from the root. */
static uint64_t users_number(const struct hashes *a, uint32_t value, uint32_t root) {
    const struct graph *g = a->g;
    uint64_t h = mix(7, graph_nuses(g, value));
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1]; u++)
        h = mix_name(a, mix(h, (uint64_t)(g->uses[u] - root) << 32 | g->kind[g->uses[u]]), g->m->ops[g->uses[u]].name);
    return h;
}

/* What is seen there; 0: nothing that can be told. */
static uint64_t number_seen(const struct hashes *a, uint32_t op, uint32_t slot, uint32_t root) {
    if (op < a->first || op >= a->end)
        return 0;
    if (slot == NONE)
        return a->place[op - a->first];
    bool there = slot < graph_noperands(a->g, op) && graph_operands(a->g, op)[slot] != NONE;
    return there ? users_number(a, graph_operands(a->g, op)[slot], root) : 0;
}

static bool sees_the_same(const struct hashes *a, const struct cache_entry *h, uint32_t root) {
    for (uint32_t i = 0; i < h->nseen; i++)
        if (number_seen(a, root + (uint32_t)h->seen[i].op, h->seen[i].slot, root) != h->seen[i].number)
            return false;
    return true;
}

void cache_store(struct hashes *a, struct cache_bucket *place, const struct search_result *search) {
    const struct match *m = search->found;
    struct arena *arena = &a->memory->arena;
    if (place->nhits == MAX_HITS)
        return;
    struct cache_entry *hit = arena_alloc(arena, sizeof *hit);
    *hit = (struct cache_entry){.next = place->hits, .index = search->index, .told = *search->told};
    if (m) {
        hit->pattern = m->pattern;
        hit->nops = m->nops;
        hit->nthrough = m->nthrough;
        hit->names = m->names;
        hit->ops = from_root(arena, m->ops, m->nops, search->root);
        hit->through = from_root(arena, m->through, m->nthrough, search->root);
    }
    hit->nseen = search->nseen;
    hit->seen = arena_alloc(arena, (search->nseen + 1) * sizeof *hit->seen);
    for (uint32_t i = 0; i < search->nseen; i++) {
        const struct seen *s = &search->seen[i];
        uint64_t number = number_seen(a, s->op, s->slot, search->root);
        if (number == 0)
            return;
        hit->seen[i] = (struct cached_dependency){(int32_t)(s->op - search->root), s->slot, number};
    }
    place->hits = hit;
    place->nhits++;
}

static uint32_t *at_root(struct arena *arena, const int32_t *ops, uint32_t n, uint32_t root) {
    uint32_t *out = arena_alloc(arena, (n + 1) * sizeof *out);
    for (uint32_t i = 0; i < n; i++)
        out[i] = root + (uint32_t)ops[i];
    return out;
}

/* The conditions on locations tell the same here. */
static bool tells_the_same(const struct cache_entry *h, const struct match *here) {
    struct evaluation e = {.graph = here->graph, .ops = here->ops, .nops = here->nops};
    for (uint32_t i = 0; i < h->told.n; i++)
        if ((evaluate(&e, h->told.condition[i]) != 0) != h->told.holds[i])
            return false;
    return true;
}

enum cache_answer cache_lookup(const struct hashes *a, const struct cache_bucket *place, uint32_t index, uint32_t op,
                               struct arena *arena, struct match *out) {
    for (const struct cache_entry *h = place->hits; h; h = h->next) {
        if (h->index != index || !sees_the_same(a, h, op))
            continue;
        out->pattern = h->pattern;
        out->root = op;
        out->nops = h->nops;
        out->nthrough = h->nthrough;
        out->names = h->names;
        out->ops = at_root(arena, h->ops, h->nops, op);
        out->through = at_root(arena, h->through, h->nthrough, op);
        if (tells_the_same(h, out))
            return h->pattern ? CACHE_FOUND : CACHE_FAILED;
    }
    return CACHE_UNKNOWN;
}

struct match_cache *match_cache_new(void) {
    return xcalloc(1, sizeof(struct match_cache));
}

void match_cache_free(struct match_cache *memory) {
    if (!memory)
        return;
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        free(memory->functions[i].place);
    free(memory->entries);
    arena_free(&memory->arena);
    free(memory);
}

struct hashes *hashes_new(const struct graph *g, struct match_cache *memory) {
    struct hashes *a = xcalloc(1, sizeof *a);
    a->g = g;
    a->own_memory = !memory;
    a->memory = memory ? memory : match_cache_new();
    a->unlike = ++a->memory->graphs;
    a->aliases = mlir_aliases_hash(g->m);
    a->shapes = xcalloc((size_t)g->m->ntypes + 1, sizeof *a->shapes);
    a->names = xcalloc((size_t)g->m->nnames + 1, sizeof *a->names);
    return a;
}

void hashes_free(struct hashes *a) {
    if (!a)
        return;
    free(a->own);
    free(a->place);
    free(a->before);
    free(a->source);
    free(a->through);
    free(a->values);
    free(a->edges);
    free(a->shapes);
    free(a->names);
    if (a->own_memory)
        match_cache_free(a->memory);
    free(a);
}
