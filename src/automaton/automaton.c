/* A key is all of an op that subformulas ask about; a hash table leads from it to the transition. */
#include "automaton/automaton.h"

#include <stdlib.h>
#include <string.h>

#include "automaton/ask.h"
#include "automaton/computation.h"
#include "automaton/view.h"

enum {
    MAX_KEY = 12,               /* operands; of an op with more nothing is known */
    MOST_TRANSITIONS = 1 << 15, /* then nothing is known of new ones, until the next function */
    FIRST_SIZE = 1 << 10,
    MOST_FUNCTIONS = 64, /* of more the automaton asks nothing: they match nowhere */
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
    uint32_t views[MAX_VIEWS];  /* transitions of what the op reads as, plus 1; or 0 */
    uint32_t operands[MAX_KEY]; /* states; NO_OPERAND */
};
static const uint32_t NO_OPERAND = UINT32_MAX;

/* Set of subformulas: of the value; and of those that the op is itself. */
struct transition {
    struct key key;
    uint32_t state;
    uint64_t *is, *roots; /* roots: as automaton_roots */
};

struct automaton {
    const struct pattern_set *set;
    uint32_t words; /* of a set */
    struct entry *entries;
    uint32_t nentries, entries_cap;
    uint32_t of_kind[OPERATORS]; /* lists: SUB_OP */
    uint32_t free[OPERATORS];    /* of these, those that ask nothing of their first two operands */
    uint32_t tests[OPERATORS];   /* of these, one for each list of attributes that is asked of the kind */
    uint32_t *asking;            /* lists by id: SUB_OP that ask it of an operand; each is in one list at most */
    uint32_t *above;             /* lists by id: others that follow from it */
    uint32_t numbers, sames;     /* lists: SUB_NUMBER, SUB_SAME */
    const struct subformula *functions[MOST_FUNCTIONS];
    uint32_t nfunctions;
    uint8_t *test; /* by id: number of its attributes in key.attributes; NO_TEST */
    uint64_t *number_set;
    struct arena arena;              /* of states and transitions */
    uint64_t **states;               /* state 0: anything may match */
    struct transition **transitions; /* transition 0: of an op of which nothing is known */
    uint32_t nstates, states_cap, ntransitions, transitions_cap;
    uint32_t *state_table, *transition_table, size; /* by hash; 0: empty */
};

struct automaton_run {
    struct automaton *a;
    const struct graph *g;
    uint32_t *state;      /* per value, plus 1; 0: not known yet */
    uint32_t *transition; /* per op */
    bool *neutral;        /* per value: an op that uses it changes nothing */
};

static uint64_t hash_of(const void *p, size_t n) {
    uint64_t h = n, word;
    for (size_t i = 0; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, (const char *)p + i, sizeof word);
        h = hash_mix(h, word);
    }
    if (n % sizeof word) {
        word = 0;
        memcpy(&word, (const char *)p + n / sizeof word * sizeof word, n % sizeof word);
        h = hash_mix(h, word);
    }
    return h;
}

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

/* The first kind from `k` on that an op of the node may be of; OPERATORS: there is none. */
static uint32_t next_kind(const struct node *n, uint32_t k) {
    for (; k < OPERATORS; k = (k / 64 + 1) * 64) {
        uint64_t left = n->kinds[k / 64] >> (k % 64);
        if (left)
            return k + (uint32_t)__builtin_ctzll(left);
    }
    return OPERATORS;
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
    for (uint32_t k = next_kind(s->node, 0); k < OPERATORS; k = next_kind(s->node, k + 1))
        n = ntests[k] > n ? ntests[k] : n;
    for (uint32_t k = next_kind(s->node, 0); k < OPERATORS && n < NO_TEST; k = next_kind(s->node, k + 1)) {
        ntests[k] = n + 1;
        add_entry(a, &a->tests[k], s);
    }
    a->test[s->id] = (uint8_t)n;
}

static void list_op(struct automaton *a, const struct subformula *s) {
    uint32_t asked = 0;
    while (asked < s->nargs && asked < 2 && !s->args[asked])
        asked++;
    bool asks = asked < s->nargs && asked < 2;
    if (asks)
        add_entry(a, &a->asking[s->args[asked]->id], s);
    for (uint32_t k = next_kind(s->node, 0); k < OPERATORS; k = next_kind(s->node, k + 1)) {
        add_entry(a, &a->of_kind[k], s);
        if (!asks)
            add_entry(a, &a->free[k], s);
    }
}

static void list_all(struct automaton *a) {
    uint32_t ntests[OPERATORS] = {0};
    for (uint32_t i = 0; i < a->set->net.n; i++) {
        const struct subformula *s = a->set->net.items[i];
        if (s->kind == SUB_OP) {
            list_op(a, s);
            number_tests(a, s, ntests);
        } else if (s->kind == SUB_NUMBER) {
            add_entry(a, &a->numbers, s);
            put(a->number_set, s->id);
        } else if (s->kind == SUB_SAME) {
            add_entry(a, &a->sames, s);
        } else if (s->kind == SUB_FUNCTION && a->nfunctions < MOST_FUNCTIONS) {
            a->functions[a->nfunctions++] = s;
        }
        for (uint32_t k = 0; s->kind != SUB_OP && k < s->nargs; k++)
            if (s->args[k])
                add_entry(a, &a->above[s->args[k]->id], s);
    }
}

/* ---- a new transition ---- */

static bool count_fits(const struct key *k, const struct subformula *s) {
    if (s->node->kind == N_OUTER)
        return k->n == 2;
    switch (op_table[k->kind].class) {
    case OP_ELTWISE:
    case OP_ALIKE:
    case OP_AXISWISE:
        return k->n <= s->nargs || k->counted <= s->nargs;
    case OP_CONTRACT:
    case OP_OPAQUE:
        return k->counted == s->nargs;
    case OP_JOIN:
        return k->n == s->nargs;
    default:
        return s->nargs == 1 && k->n > 0;
    }
}

/* What the op has as an attribute instead of an operand is left to the search. */
static bool operands_fit(const struct automaton *a, const struct key *k, const struct subformula *s, bool swapped) {
    for (uint32_t i = 0; i < s->nargs; i++) {
        uint32_t at = swapped && i < 2 ? 1 - i : i;
        if (at < k->n && (k->operands[at] == NO_OPERAND || !holds(a->states[k->operands[at]], s->args[i])))
            return false;
    }
    return true;
}

static bool fits(const struct automaton *a, const struct key *k, const struct subformula *s) {
    enum op_class class = op_table[k->kind].class;
    if (!node_is(s->node, (enum op_kind)k->kind) || !count_fits(k, s) ||
        (a->test[s->id] != NO_TEST && !(k->attributes >> a->test[s->id] & 1)))
        return false;
    if (operands_fit(a, k, s, false))
        return true;
    if (class == OP_SLICE) /* it may be one with the slice before it: match_slice */
        return k->operands[0] != NO_OPERAND && has(a->states[k->operands[0]], s->id);
    bool swaps = op_is((enum op_kind)k->kind, COMMUTES) || s->node->kind == N_OUTER || class == OP_CONTRACT;
    return swaps && s->nargs >= 2 && k->n >= 2 && operands_fit(a, k, s, true);
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

static void put_fitting(const struct automaton *a, const struct key *k, uint32_t list, uint64_t *set) {
    for (uint32_t l = list; l; l = a->entries[l].next)
        if (fits(a, k, a->entries[l].sub))
            put_closed(a, set, a->entries[l].sub->id);
}

/* What the op itself is. Of two operands one leads to all that ask something of them. */
static void put_ops(const struct automaton *a, const struct key *k, uint64_t *set) {
    bool leads = k->n >= 2;
    for (uint32_t i = 0; i < 2 && leads; i++)
        leads = k->operands[i] != 0; /* state 0 is in all lists */
    put_fitting(a, k, leads ? a->free[k->kind] : a->of_kind[k->kind], set);
    for (uint64_t left = k->functions; left; left &= left - 1)
        put_closed(a, set, a->functions[__builtin_ctzll(left)]->id);
    for (uint32_t i = 0; i < 2 && leads; i++) {
        const uint64_t *of = k->operands[i] == NO_OPERAND ? NULL : a->states[k->operands[i]];
        for (uint32_t w = 0; of && w < a->words; w++)
            for (uint64_t left = of[w]; left; left &= left - 1)
                put_fitting(a, k, a->asking[w * 64 + (uint32_t)__builtin_ctzll(left)], set);
    }
}

/* What follows from the value, whatever op it is of. */
static void put_values(const struct automaton *a, const struct key *k, uint64_t *set) {
    struct constant c = {k->known, k->constant, k->bits};
    bool argument = has(set, ARGUMENT);
    for (uint32_t l = k->known || argument ? a->numbers : 0; l; l = a->entries[l].next) {
        const struct subformula *s = a->entries[l].sub;
        if (k->known ? !s->literal || node_number_is(s->node, c, s->value) : s->node->given)
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

static bool root_is(const uint64_t *is, const struct subformula *s) {
    return !s || s->kind == SUB_RESULT || s->kind == SUB_SAME || has(is, s->id);
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

static void find_roots(struct automaton *a, struct transition *t) {
    const struct pattern_set *set = a->set;
    uint32_t first = set->first_rooted[t->key.kind], n = set->first_rooted[t->key.kind + 1] - first;
    t->roots = arena_alloc(&a->arena, (n / 64 + 1) * sizeof *t->roots);
    for (uint32_t i = 0; i < n && t->key.result == 0; i++) {
        struct pattern *p = set->rooted[first + i];
        if (!root_is(t->is, p->formula.root->sub))
            continue;
        pattern_complete(set, p);
        if (is_searched(p))
            put(t->roots, i);
    }
}

static size_t key_size(const struct key *k) {
    return offsetof(struct key, operands) + k->n * sizeof *k->operands;
}

static uint32_t state_hash(const struct automaton *a, uint32_t state) {
    return (uint32_t)hash_of(a->states[state], a->words * sizeof(uint64_t));
}

static uint32_t transition_hash(const struct automaton *a, uint32_t t) {
    return (uint32_t)hash_of(&a->transitions[t]->key, key_size(&a->transitions[t]->key));
}

static void make_room(struct automaton *a) {
    if ((a->ntransitions + 1) * 2 < a->size)
        return;
    a->size = a->size ? a->size * 2 : FIRST_SIZE;
    free(a->state_table);
    free(a->transition_table);
    a->state_table = xcalloc(a->size, sizeof *a->state_table);
    a->transition_table = xcalloc(a->size, sizeof *a->transition_table);
    for (uint32_t i = 1, at; i < a->nstates; i++) {
        for (at = state_hash(a, i) & (a->size - 1); a->state_table[at]; at = (at + 1) & (a->size - 1))
            ;
        a->state_table[at] = i;
    }
    for (uint32_t i = 1, at; i < a->ntransitions; i++) {
        for (at = transition_hash(a, i) & (a->size - 1); a->transition_table[at]; at = (at + 1) & (a->size - 1))
            ;
        a->transition_table[at] = i;
    }
}

/* The state of this set; `set` becomes its own where it is new. */
static uint32_t state_of_set(struct automaton *a, uint64_t *set) {
    uint32_t at = (uint32_t)hash_of(set, a->words * sizeof *set) & (a->size - 1);
    for (; a->state_table[at]; at = (at + 1) & (a->size - 1))
        if (memcmp(a->states[a->state_table[at]], set, a->words * sizeof *set) == 0)
            return a->state_table[at];
    a->states = grow(a->states, &a->states_cap, a->nstates + 1, sizeof *a->states);
    a->states[a->nstates] = set;
    return a->state_table[at] = a->nstates++;
}

static struct transition *add_transition(struct automaton *a, const struct key *k) {
    struct transition *t = arena_alloc(&a->arena, sizeof *t);
    uint64_t *set = arena_alloc(&a->arena, a->words * sizeof *set);
    t->key = *k;
    t->is = arena_alloc(&a->arena, a->words * sizeof *t->is);
    if (k->plain && k->result == 0)
        put_ops(a, k, t->is);
    memcpy(set, t->is, a->words * sizeof *set);
    for (uint32_t v = 0; v < MAX_VIEWS && k->views[v]; v++)
        for (uint32_t i = 0; i < a->words; i++)
            set[i] |= a->transitions[k->views[v] - 1]->is[i];
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
    make_room(a);
    uint32_t at = (uint32_t)hash_of(k, key_size(k)) & (a->size - 1);
    for (; a->transition_table[at]; at = (at + 1) & (a->size - 1)) {
        const struct key *old = &a->transitions[a->transition_table[at]]->key;
        if (old->n == k->n && memcmp(old, k, key_size(k)) == 0)
            return a->transition_table[at];
    }
    if (a->ntransitions == MOST_TRANSITIONS)
        return 0;
    a->transitions = grow(a->transitions, &a->transitions_cap, a->ntransitions + 1, sizeof *a->transitions);
    struct transition *t = add_transition(a, k);
    a->transitions[a->ntransitions] = t;
    return a->transition_table[at] = a->ntransitions++;
}

static uint32_t state_of_key(struct automaton *a, const struct key *k) {
    uint32_t t = transition_of(a, k);
    return a->transitions[t]->state;
}

/* Forgets all but state and transition 0. */
static void begin(struct automaton *a) {
    arena_free(&a->arena);
    free(a->state_table);
    free(a->transition_table);
    a->state_table = a->transition_table = NULL;
    a->size = 0;
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
    a->asking = xcalloc(n, sizeof *a->asking);
    a->above = xcalloc(n, sizeof *a->above);
    a->test = xcalloc(n, sizeof *a->test);
    a->number_set = xcalloc(a->words, sizeof *a->number_set);
    list_all(a);
    begin(a);
    return a;
}

void automaton_free(struct automaton *a) {
    if (!a)
        return;
    free(a->entries);
    free(a->asking);
    free(a->above);
    free(a->test);
    free(a->number_set);
    free(a->states);
    free(a->transitions);
    free(a->state_table);
    free(a->transition_table);
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
    if (n > MAX_KEY)
        return false;
    k->kind = g->kind[op];
    k->n = (uint8_t)n;
    k->plain = graph_plain(g, op);
    k->counted = (uint8_t)graph_count_operands(g, op);
    k->through = through == NONE ? 0 : state_of_value(r, through) + 1;
    for (uint32_t i = n; i-- > 0;)
        k->operands[i] = v[i] == NONE ? NO_OPERAND : state_of_value(r, v[i]);
    const struct automaton *a = r->a;
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

/* The operand of a view; of a constant that it changes, as if that number were printed. */
static uint32_t state_of_viewed(struct automaton_run *r, const struct viewed_operand *v) {
    uint32_t value = graph_operands(r->g, v->op)[v->k];
    struct constant c = graph_constant(r->g, value);
    if (v->change == NUMBER_AS_IS || !c.known)
        return value == NONE ? 0 : state_of_value(r, value);
    struct key k = {.kind = NO_OPERATOR, .known = true, .constant = number_changed(c.value, v->change)};
    k.bits = (int16_t)c.bits;
    return state_of_key(r->a, &k);
}

static void read_views(struct automaton_run *r, uint32_t op, struct key *k) {
    struct op_view views[MAX_VIEWS];
    uint32_t n = op_views(r->g, op, views);
    for (uint32_t i = 0; i < n; i++) {
        struct key v = {.kind = (uint16_t)views[i].kind, .plain = true};
        v.n = v.counted = (uint8_t)views[i].n;
        for (uint32_t j = 0; j < views[i].n; j++)
            v.operands[j] = state_of_viewed(r, &views[i].operands[j]);
        k->views[i] = transition_of(r->a, &v) + 1;
    }
}

static void read_op(struct automaton_run *r, uint32_t op) {
    const struct mlir_op *o = &r->g->m->ops[op];
    struct key k = {.kind = 0};
    if (o->nresults == 0 || !key_of_op(r, op, &k))
        return;
    key_of_value(r, o->first_result, &k);
    if (!k.known && computation_ends(r->g, op))
        k.functions = functions_at(r, op);
    if (!k.known)
        read_views(r, op, &k);
    r->transition[op] = transition_of(r->a, &k);
    r->state[o->first_result] = r->a->transitions[r->transition[op]]->state + 1;
    for (uint32_t i = 1; i < o->nresults && i < UINT8_MAX; i++) {
        struct key other = {.kind = k.kind, .result = (uint8_t)i, .n = 1};
        other.operands[0] = r->state[o->first_result] - 1;
        key_of_value(r, o->first_result + i, &other);
        r->state[o->first_result + i] = state_of_key(r->a, &other) + 1;
    }
}

/* What an operand is made of in a function that runs once, where the graph sees through that one (graph/build.c). */
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
    return root_is(r->a->transitions[r->transition[op]]->is, s);
}

bool automaton_plain(const struct automaton_run *r, uint32_t op) {
    return r->a->transitions[r->transition[op]]->key.plain;
}

const uint64_t *automaton_roots(const struct automaton_run *r, uint32_t op) {
    return r->a->transitions[r->transition[op]]->roots;
}

const uint64_t *automaton_view_roots(const struct automaton_run *r, uint32_t op, uint32_t view) {
    uint32_t t = r->a->transitions[r->transition[op]]->key.views[view];
    return t ? r->a->transitions[t - 1]->roots : NULL;
}
