/* A key is all of an op that subformulas ask about; a hash table leads from it to the transition. Of a state a key has
 * what ops of its kind ask of an operand only (Chase, An improvement to bottom-up tree pattern matching, 1987): what
 * stands far below an op is different at each and of no matter to most. */
#include "search/automaton/automaton.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "search/automaton/ask.h"
#include "search/automaton/computation.h"

enum {
    MAX_KEY = 12,               /* operands; of an op with more nothing is known */
    MOST_TRANSITIONS = 1 << 15, /* then nothing is known of new ones, until the next function */
    MOST_FUNCTIONS = 64,        /* of more the automaton asks nothing: they match nowhere */
    NO_TEST = 64,
    ARGUMENT = 0 /* the bit of an argument of the model, moved or not; others are those of the subformulas' ids */
};

/* Of a list of subformulas; 0 ends one. */
struct entry {
    const struct subformula *sub;
    uint32_t next;
};

struct key {
    uint64_t attributes; /* tests that hold */
    uint64_t functions;  /* of the list of them, that the op may be the last one of */
    double constant;
    int16_t bits;
    uint16_t kind;
    uint8_t result, known, argument, plain, neutral, counted, n;
    uint32_t through;           /* state of the value that is looked through to, plus 1; or 0 */
    uint32_t operands[MAX_KEY]; /* states; NO_OPERAND */
};
static const uint32_t NO_OPERAND = UINT32_MAX;

/* What a subformula asks of ops of a kind, beside each other in memory: of a new transition all of its kind are asked.
 */
struct ask {
    const struct subformula *sub;
    uint32_t id, of[2]; /* its own, and what it asks of its first operands; 0: nothing */
    uint16_t nargs;
    uint8_t test; /* number of its attributes in key.attributes; NO_TEST */
    bool outer;
};

struct asks {
    struct ask *items;
    uint32_t n, cap;
};

/* Of a pattern that begins with an op of some kind. */
struct root {
    uint32_t asks; /* asked_of_op */
    enum { NOT_KNOWN, SEARCHED, NOT_SEARCHED } is;
};

/* What ops of a kind see of a state. */
struct projection {
    struct {
        uint32_t kind, state;
    } of;
    uint32_t as;       /* the first of the states that are alike to them */
    uint64_t *fits[2]; /* of that one: of the asks of the kind, those that it fits as their first or second operand */
    UT_hash_handle hh;
};

/* A set of subformulas, hashed by `set`, and its number. Of a projection the set has but what ops of a kind ask, behind
 * the kind, and the number is that of the first state with it. */
struct state {
    uint64_t *set;
    uint32_t number;
    UT_hash_handle hh;
};

/* Sets of subformulas: of the value, its state; and of those that the op is itself. */
struct transition {
    struct key key;
    uint32_t number, state;
    uint64_t *is, *roots; /* roots: as automaton_roots */
    UT_hash_handle hh;
};

struct automaton {
    const struct pattern_set *set;
    uint32_t words; /* of a set */
    struct entry *entries;
    uint32_t nentries, entries_cap;
    struct asks of_kind[OPERATORS];
    struct root *roots;        /* as set->rooted */
    uint32_t tests[OPERATORS]; /* lists: SUB_OP, one for each list of attributes that is asked of the kind */
    uint32_t *above;           /* lists by id: others that follow from it */
    uint32_t numbers, sames;   /* lists: SUB_NUMBER, SUB_SAME */
    uint32_t constants;        /* the id of SUB_CONSTANT; 0: nothing asks it */
    const struct subformula *functions[MOST_FUNCTIONS];
    uint32_t nfunctions;
    uint8_t *test; /* by id: number of its attributes in key.attributes; NO_TEST */
    uint64_t *number_set;
    uint64_t *asked[OPERATORS];      /* sets: what ops of the kind ask of operands; NULL: nothing */
    struct arena arena;              /* of what is hashed */
    uint64_t **states;               /* state 0: anything may match */
    struct transition **transitions; /* transition 0: of an op of which nothing is known */
    uint32_t nstates, states_cap, ntransitions, transitions_cap;
    struct state *of_set, *of_projected;
    struct transition *of_key;
    struct projection *projections;
};

struct automaton_run {
    struct automaton *a;
    const struct graph *g;
    uint32_t *state;      /* per value, plus 1; 0: not known yet */
    uint32_t *transition; /* per op */
    bool *neutral;        /* per value: an op that uses it changes nothing */
};

static bool has(const uint64_t *set, uint32_t id) {
    return set[id / 64] >> (id % 64) & 1;
}

static void put(uint64_t *set, uint32_t id) {
    set[id / 64] |= 1ull << id % 64;
}

static bool holds(const uint64_t *set, const struct subformula *s) {
    return !s || has(set, s->id);
}

/* ---- what is asked ---- */

static void add_entry(struct automaton *a, uint32_t *list, const struct subformula *s) {
    a->entries = grow(a->entries, &a->entries_cap, a->nentries + 1, sizeof *a->entries);
    a->entries[a->nentries] = (struct entry){s, *list};
    *list = a->nentries++;
}

/* Ops of one kind have the attributes that are asked of it tested once. */
static void number_tests(struct automaton *a, const struct subformula *s, uint32_t *ntests) {
    uint32_t n = 0;
    a->test[s->id] = NO_TEST;
    if (s->node->nattrs == 0 || op_table[s->node->op].class == OP_SLICE) /* those of slices are no attributes */
        return;
    for (uint32_t l = a->tests[s->node->op]; l; l = a->entries[l].next)
        if (a->entries[l].sub->node->op == s->node->op && node_same_attributes(a->entries[l].sub->node, s->node)) {
            a->test[s->id] = a->test[a->entries[l].sub->id];
            return;
        }
    for (uint32_t k = node_next_kind(s->node, 0); k < OPERATORS; k = node_next_kind(s->node, k + 1))
        n = ntests[k] > n ? ntests[k] : n;
    for (uint32_t k = node_next_kind(s->node, 0); k < OPERATORS && n < NO_TEST; k = node_next_kind(s->node, k + 1)) {
        ntests[k] = n + 1;
        add_entry(a, &a->tests[k], s);
    }
    a->test[s->id] = (uint8_t)n;
}

static void add_ask(struct automaton *a, uint32_t kind, const struct ask *ask) {
    struct asks *all = &a->of_kind[kind];
    all->items = grow(all->items, &all->cap, all->n + 1, sizeof *all->items);
    all->items[all->n++] = *ask;
    if (!a->asked[kind])
        a->asked[kind] = xcalloc(a->words, sizeof *a->asked[kind]);
    for (uint32_t i = 0; i < ask->nargs; i++)
        if (ask->sub->args[i])
            put(a->asked[kind], ask->sub->args[i]->id);
    if (op_table[kind].class == OP_SLICE) /* fits() */
        put(a->asked[kind], ask->id);
}

static void list_op(struct automaton *a, const struct subformula *s) {
    struct ask ask = {.sub = s, .id = s->id, .nargs = (uint16_t)s->nargs, .test = a->test[s->id]};
    ask.outer = s->node->kind == N_OUTER;
    for (uint32_t i = 0; i < 2 && i < s->nargs; i++)
        ask.of[i] = s->args[i] ? s->args[i]->id : 0;
    for (uint32_t k = node_next_kind(s->node, 0); k < OPERATORS; k = node_next_kind(s->node, k + 1))
        add_ask(a, k, &ask);
}

static void list_all(struct automaton *a) {
    uint32_t ntests[OPERATORS] = {0};
    for (uint32_t i = 0; i < a->set->net.n; i++) {
        const struct subformula *s = a->set->net.items[i];
        if (s->kind == SUB_OP) {
            number_tests(a, s, ntests);
            list_op(a, s);
        } else if (s->kind == SUB_NUMBER) {
            add_entry(a, &a->numbers, s);
            put(a->number_set, s->id);
        } else if (s->kind == SUB_SAME) {
            add_entry(a, &a->sames, s);
        } else if (s->kind == SUB_CONSTANT) {
            a->constants = s->id;
        } else if (s->kind == SUB_FUNCTION && a->nfunctions < MOST_FUNCTIONS) {
            a->functions[a->nfunctions++] = s;
        }
        for (uint32_t k = 0; s->kind != SUB_OP && k < s->nargs; k++)
            if (s->args[k])
                add_entry(a, &a->above[s->args[k]->id], s);
    }
}

/* What a root asks of the op itself: a subformula's id; 0: nothing. */
static uint32_t asked_of_op(const struct subformula *s) {
    return s && s->kind != SUB_RESULT && s->kind != SUB_SAME ? s->id : 0;
}

static void list_roots(struct automaton *a) {
    uint32_t n = a->set->first_rooted[OPERATORS];
    a->roots = xcalloc(n + (size_t)1, sizeof *a->roots);
    for (uint32_t i = 0; i < n; i++)
        a->roots[i].asks = asked_of_op(a->set->rooted[i]->formula.root->sub);
}

/* ---- what is seen of a state ---- */

/* The first state that is like this one to ops of the kind. */
static uint32_t first_alike(struct automaton *a, uint32_t kind, uint32_t state) {
    size_t size = (a->words + 1) * sizeof(uint64_t);
    uint64_t *seen = arena_alloc(&a->arena, size);
    struct state *first;
    seen[0] = kind;
    for (uint32_t w = 0; w < a->words && a->asked[kind]; w++)
        seen[w + 1] = a->states[state][w] & a->asked[kind][w];
    HASH_FIND(hh, a->of_projected, seen, size, first);
    if (!first) {
        first = arena_alloc(&a->arena, sizeof *first);
        first->set = seen;
        first->number = state;
        HASH_ADD_KEYPTR(hh, a->of_projected, first->set, size, first);
    }
    return first->number;
}

static void find_fitting(struct automaton *a, struct projection *p) {
    const struct asks *all = &a->of_kind[p->of.kind];
    for (uint32_t at = 0; at < 2; at++) {
        p->fits[at] = arena_alloc(&a->arena, (all->n / 64 + 1) * sizeof *p->fits[at]);
        for (uint32_t i = 0; i < all->n; i++)
            if (all->items[i].of[at] == 0 || has(a->states[p->of.state], all->items[i].of[at]))
                put(p->fits[at], i);
    }
}

/* What ops of the kind see of a state of an operand. */
static const struct projection *projection_of(struct automaton *a, uint32_t kind, uint32_t state) {
    struct projection *p, of = {.of = {kind, state}};
    HASH_FIND(hh, a->projections, &of.of, sizeof of.of, p);
    if (p)
        return p;
    p = arena_alloc(&a->arena, sizeof *p);
    p->of = of.of;
    p->as = first_alike(a, kind, state);
    if (p->as == state)
        find_fitting(a, p);
    HASH_ADD(hh, a->projections, of, sizeof p->of, p);
    return p;
}

/* ---- a new transition ---- */

static bool count_fits(const struct key *k, const struct ask *ask) {
    if (ask->outer)
        return k->n == 2;
    switch (op_table[k->kind].class) {
    case OP_ELTWISE:
    case OP_ALIKE:
    case OP_AXISWISE:
        return k->n <= ask->nargs || k->counted <= ask->nargs;
    case OP_CONTRACT:
    case OP_OPAQUE:
        return k->counted == ask->nargs;
    case OP_JOIN:
        return k->n == ask->nargs;
    default:
        return ask->nargs == 1 && k->n > 0;
    }
}

/* What the op has as an attribute instead of an operand is left to the search. */
static bool operand_fits(const struct automaton *a, const struct key *k, uint32_t at, uint32_t id) {
    return at >= k->n || (k->operands[at] != NO_OPERAND && (id == 0 || has(a->states[k->operands[at]], id)));
}

static bool operands_fit(const struct automaton *a, const struct key *k, const struct ask *ask, bool swapped) {
    bool fit = (ask->nargs < 1 || operand_fits(a, k, swapped, ask->of[0])) &&
               (ask->nargs < 2 || operand_fits(a, k, !swapped, ask->of[1]));
    for (uint32_t i = 2; i < ask->nargs && fit; i++)
        fit = operand_fits(a, k, i, ask->sub->args[i] ? ask->sub->args[i]->id : 0);
    return fit;
}

static bool fits(const struct automaton *a, const struct key *k, const struct ask *ask) {
    enum op_class class = op_table[k->kind].class;
    if (!k->plain && !node_says_folded(ask->sub->node))
        return false;
    if (!count_fits(k, ask) || (ask->test != NO_TEST && !(k->attributes >> ask->test & 1)))
        return false;
    if (operands_fit(a, k, ask, false))
        return true;
    if (class == OP_SLICE) /* it may be one with the slice before it: match_slice */
        return k->operands[0] != NO_OPERAND && has(a->states[k->operands[0]], ask->id);
    bool swaps = op_is((enum op_kind)k->kind, COMMUTES) || ask->outer || class == OP_CONTRACT;
    return swaps && ask->nargs >= 2 && k->n >= 2 && operands_fit(a, k, ask, true);
}

/* With those that follow from it. */
static void put_closed(const struct automaton *a, uint64_t *set, uint32_t id) {
    if (has(set, id))
        return;
    put(set, id);
    for (uint32_t l = a->above[id]; l; l = a->entries[l].next) {
        const struct subformula *s = a->entries[l].sub;
        if (s->kind != SUB_RESULT || s->node->result == 0)
            put_closed(a, set, s->id);
    }
}

/* Of each 64 asks of the kind those that the first two operands fit, perhaps the other way round. */
static uint64_t fitting(const struct projection *x, const struct projection *y, uint32_t w) {
    uint64_t straight = (x ? x->fits[0][w] : ~0ull) & (y ? y->fits[1][w] : ~0ull);
    return x && y ? straight | (x->fits[1][w] & y->fits[0][w]) : straight;
}

/* What the op itself is. */
static void put_ops(struct automaton *a, const struct key *k, uint64_t *set) {
    const struct asks *all = &a->of_kind[k->kind];
    const struct projection *of[2] = {NULL};
    for (uint32_t i = 0; i < 2 && i < k->n && op_table[k->kind].class != OP_SLICE; i++)
        if (k->operands[i] != NO_OPERAND)
            of[i] = projection_of(a, k->kind, k->operands[i]);
    for (uint32_t w = 0; w * 64 < all->n; w++) {
        uint64_t left = fitting(of[0], of[1], w);
        for (; left && w * 64 + (uint32_t)__builtin_ctzll(left) < all->n; left &= left - 1) {
            const struct ask *ask = &all->items[w * 64 + (uint32_t)__builtin_ctzll(left)];
            if (fits(a, k, ask))
                put_closed(a, set, ask->id);
        }
    }
    for (uint64_t left = k->functions; left; left &= left - 1)
        put_closed(a, set, a->functions[__builtin_ctzll(left)]->id);
}

/* What follows from the value, whatever op it is of. */
static void put_values(const struct automaton *a, const struct key *k, uint64_t *set) {
    struct constant c = {k->known, k->constant, k->bits};
    bool argument = has(set, ARGUMENT);
    if (k->known && a->constants)
        put_closed(a, set, a->constants);
    for (uint32_t l = k->known || argument ? a->numbers : 0; l; l = a->entries[l].next) {
        const struct subformula *s = a->entries[l].sub;
        if (k->known ? !s->literal || node_number_is(s->node, c, s->value) : s->node->counts)
            put_closed(a, set, s->id);
    }
    for (uint32_t l = k->neutral ? a->sames : 0; l; l = a->entries[l].next)
        put_closed(a, set, a->entries[l].sub->id);
    for (uint32_t i = 0; k->result && i < a->set->net.n; i++) {
        const struct subformula *s = a->set->net.items[i];
        if (s->kind == SUB_RESULT && s->node->result == k->result && holds(a->states[k->operands[0]], s->args[0]))
            put_closed(a, set, s->id);
    }
}

/* Not of a pattern that is blocked wherever it is found, unless blocked ones are asked for. */
static bool is_searched(const struct pattern *p) {
    for (bool blocked; p; p = p->variant) {
        blocked = false;
        for (uint32_t i = 0; !p->show_blocked && i < p->nblock; i++)
            blocked |= !p->block[i].when;
        if (!blocked)
            return true;
    }
    return false;
}

/* Of the pattern in set->rooted. */
static bool root_is_searched(struct automaton *a, uint32_t i) {
    if (a->roots[i].is == NOT_KNOWN)
        a->roots[i].is = is_searched(a->set->rooted[i]) ? SEARCHED : NOT_SEARCHED;
    return a->roots[i].is == SEARCHED;
}

static void find_roots(struct automaton *a, struct transition *t) {
    uint32_t first = a->set->first_rooted[t->key.kind], n = a->set->first_rooted[t->key.kind + 1] - first;
    t->roots = arena_alloc(&a->arena, (n / 64 + 1) * sizeof *t->roots);
    for (uint32_t i = 0; i < n && t->key.result == 0; i++) {
        uint32_t asks = a->roots[first + i].asks;
        if ((asks == 0 || has(t->is, asks)) && root_is_searched(a, first + i))
            put(t->roots, i);
    }
}

static size_t key_size(const struct key *k) {
    return offsetof(struct key, operands) + k->n * sizeof *k->operands;
}

/* The state of this set; `set` becomes its own where it is new. */
static uint32_t state_of_set(struct automaton *a, uint64_t *set) {
    size_t size = a->words * sizeof *set;
    struct state *state;
    HASH_FIND(hh, a->of_set, set, size, state);
    if (state)
        return state->number;
    state = arena_alloc(&a->arena, sizeof *state);
    state->set = set;
    state->number = a->nstates++;
    HASH_ADD_KEYPTR(hh, a->of_set, state->set, size, state);
    a->states = grow(a->states, &a->states_cap, a->nstates, sizeof *a->states);
    a->states[state->number] = set;
    return state->number;
}

static struct transition *add_transition(struct automaton *a, const struct key *k) {
    struct transition *t = arena_alloc(&a->arena, sizeof *t);
    uint64_t *set = arena_alloc(&a->arena, a->words * sizeof *set);
    t->key = *k;
    t->is = arena_alloc(&a->arena, a->words * sizeof *t->is);
    if (k->result == 0)
        put_ops(a, k, t->is);
    memcpy(set, t->is, a->words * sizeof *set);
    for (uint32_t i = 0; k->through && i < a->words; i++)
        set[i] |= a->states[k->through - 1][i] & ~a->number_set[i];
    if (k->argument)
        put(set, ARGUMENT);
    put_values(a, k, set);
    find_roots(a, t);
    t->state = state_of_set(a, set);
    return t;
}

static uint32_t transition_of(struct automaton *a, const struct key *k) {
    struct transition *t;
    HASH_FIND(hh, a->of_key, k, key_size(k), t);
    if (t)
        return t->number;
    if (a->ntransitions == MOST_TRANSITIONS)
        return 0;
    t = add_transition(a, k);
    t->number = a->ntransitions++;
    HASH_ADD_KEYPTR(hh, a->of_key, &t->key, key_size(k), t);
    a->transitions = grow(a->transitions, &a->transitions_cap, a->ntransitions, sizeof *a->transitions);
    a->transitions[t->number] = t;
    return t->number;
}

static uint32_t state_of_key(struct automaton *a, const struct key *k) {
    uint32_t t = transition_of(a, k);
    return a->transitions[t]->state;
}

static void free_tables(struct automaton *a) {
    HASH_CLEAR(hh, a->of_set);
    HASH_CLEAR(hh, a->of_projected);
    HASH_CLEAR(hh, a->of_key);
    HASH_CLEAR(hh, a->projections);
}

/* Forgets all but state and transition 0. */
static void begin(struct automaton *a) {
    free_tables(a);
    arena_free(&a->arena);
    struct transition *t = arena_alloc(&a->arena, sizeof *t);
    t->is = arena_alloc(&a->arena, a->words * sizeof *t->is);
    for (uint32_t id = 0; id <= a->set->net.n; id++) /* values that move one of state 0 have its bits */
        put(t->is, id);
    a->states = grow(a->states, &a->states_cap, 1, sizeof *a->states);
    a->transitions = grow(a->transitions, &a->transitions_cap, 1, sizeof *a->transitions);
    a->states[0] = t->is;
    a->transitions[0] = t;
    a->nstates = a->ntransitions = 1;
}

struct automaton *automaton_new(const struct pattern_set *set) {
    struct automaton *a = xcalloc(1, sizeof *a);
    uint32_t n = set->net.n + 1;
    a->set = set;
    a->words = (n + 63) / 64;
    a->nentries = 1;
    a->above = xcalloc(n, sizeof *a->above);
    a->test = xcalloc(n, sizeof *a->test);
    a->number_set = xcalloc(a->words, sizeof *a->number_set);
    list_all(a);
    list_roots(a);
    begin(a);
    return a;
}

void automaton_free(struct automaton *a) {
    if (!a)
        return;
    free(a->entries);
    free(a->roots);
    free(a->above);
    free(a->test);
    free(a->number_set);
    free(a->states);
    free(a->transitions);
    for (uint32_t k = 0; k < OPERATORS; k++) {
        free(a->asked[k]);
        free(a->of_kind[k].items);
    }
    free_tables(a);
    arena_free(&a->arena);
    free(a);
}

/* ---- a function ---- */

static uint32_t state_of_value(struct automaton_run *r, uint32_t value);

/* False: it has too many operands. */
static bool key_of_op(struct automaton_run *r, uint32_t op, struct key *k) {
    const struct graph *g = r->g;
    const uint32_t *v = graph_operands(g, op);
    uint32_t n = graph_noperands(g, op), through = graph_through(g, op);
    struct automaton *a = r->a;
    if (n > MAX_KEY)
        return false;
    k->kind = g->kind[op];
    k->n = (uint8_t)n;
    k->plain = graph_plain(g, op);
    k->counted = (uint8_t)graph_count_operands(g, op);
    k->through = through == NONE ? 0 : state_of_value(r, through) + 1;
    for (uint32_t i = n; i-- > 0;)
        k->operands[i] = v[i] == NONE ? NO_OPERAND : projection_of(a, k->kind, state_of_value(r, v[i]))->as;
    for (uint32_t l = a->tests[k->kind]; l; l = a->entries[l].next)
        if (!node_wrong_attribute(a->entries[l].sub->node, g, op))
            k->attributes |= 1ull << a->test[a->entries[l].sub->id];
    return true;
}

/* Which functions end in the op, of whatever their value is made. */
static uint64_t functions_at(const struct automaton_run *r, uint32_t op) {
    struct computation c;
    uint64_t found = 0;
    computation_begin(&c, r->g, r->g->m->ops[op].first_result, NULL);
    while (r->a->nfunctions && computation_next(&c))
        found |= computation_finds(&c, r->a->functions, r->a->nfunctions);
    return found;
}

static void key_of_value(const struct automaton_run *r, uint32_t value, struct key *k) {
    const struct graph *g = r->g;
    struct constant c = graph_constant(g, value);
    k->known = c.known;
    k->constant = c.known ? c.value : 0;
    k->bits = (int16_t)(c.known ? c.bits : 0);
    k->neutral = r->neutral[value];
    k->argument = !k->through && !c.known && graph_argument(g, value) != NONE;
}

static uint32_t state_of_value(struct automaton_run *r, uint32_t value) {
    if (r->state[value] == 0 && r->g->m->values[value].def == NONE) {
        struct key k = {.kind = NO_OPERATOR};
        key_of_value(r, value, &k);
        r->state[value] = state_of_key(r->a, &k) + 1;
    }
    return r->state[value] ? r->state[value] - 1 : 0; /* used before it is defined: of a module that is not valid */
}

static void read_op(struct automaton_run *r, uint32_t op) {
    const struct mlir_op *o = &r->g->m->ops[op];
    struct key k = {.kind = 0};
    if (o->nresults == 0 || !key_of_op(r, op, &k))
        return;
    key_of_value(r, o->first_result, &k);
    if (!k.known && computation_ends(r->g, op))
        k.functions = functions_at(r, op);
    r->transition[op] = transition_of(r->a, &k);
    r->state[o->first_result] = r->a->transitions[r->transition[op]]->state + 1;
    for (uint32_t i = 1; i < o->nresults && i < UINT8_MAX; i++) {
        struct key other = {.kind = k.kind, .result = (uint8_t)i, .n = 1};
        other.operands[0] = r->state[o->first_result] - 1;
        key_of_value(r, o->first_result + i, &other);
        r->state[o->first_result + i] = state_of_key(r->a, &other) + 1;
    }
}

/* What an operand is made of in a function that runs once, where the graph sees through that one (ir/graph/build.c). */
static void read_elsewhere(struct automaton_run *r, uint32_t op, uint32_t first, uint32_t end) {
    const struct graph *g = r->g;
    for (uint32_t k = 0; k < graph_noperands(g, op); k++) {
        uint32_t v = graph_operands(g, op)[k], def = v == NONE ? NONE : g->m->values[v].def;
        if (def == NONE || (def >= first && def < end) || r->state[v] || g->m->ops[def].func == NONE)
            continue;
        const struct mlir_func *f = &g->m->funcs[g->m->ops[def].func];
        for (uint32_t other = f->first_op; other < f->end_op; other++)
            read_op(r, other);
    }
}

void automaton_run(struct automaton_run *r, uint32_t first, uint32_t end) {
    const struct graph *g = r->g;
    if (r->a->ntransitions == MOST_TRANSITIONS)
        begin(r->a);
    for (uint32_t op = first; op < end; op++)
        if (graph_looks_through(g, op) && !class_moves(graph_class(g, op)))
            r->neutral[graph_through(g, op)] = true;
    for (uint32_t op = first; op < end; op++) {
        read_elsewhere(r, op, first, end);
        read_op(r, op);
    }
}

struct automaton_run *automaton_run_new(struct automaton *a, const struct graph *g) {
    struct automaton_run *r = xcalloc(1, sizeof *r);
    r->a = a;
    r->g = g;
    r->state = xcalloc(g->m->nvalues + (size_t)1, sizeof *r->state);
    r->transition = xcalloc(g->m->nops + (size_t)1, sizeof *r->transition);
    r->neutral = xcalloc(g->m->nvalues + (size_t)1, sizeof *r->neutral);
    return r;
}

void automaton_run_free(struct automaton_run *r) {
    if (!r)
        return;
    free(r->state);
    free(r->transition);
    free(r->neutral);
    free(r);
}

bool automaton_finds(const struct automaton_run *r, const struct subformula *s, uint32_t value) {
    return r->state[value] == 0 || holds(r->a->states[r->state[value] - 1], s);
}

bool automaton_finds_root(const struct automaton_run *r, const struct subformula *s, uint32_t op) {
    uint32_t id = asked_of_op(s);
    return id == 0 || has(r->a->transitions[r->transition[op]]->is, id);
}

bool automaton_plain(const struct automaton_run *r, uint32_t op) {
    return r->a->transitions[r->transition[op]]->key.plain;
}

const uint64_t *automaton_roots(const struct automaton_run *r, uint32_t op) {
    return r->a->transitions[r->transition[op]]->roots;
}
