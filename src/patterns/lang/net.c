/* Hash-consing: operands first, so that equal parts have equal operands by address. */
#include "patterns/lang/net.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/lang/function.h"
#include "patterns/lang/number.h"

enum { FIRST_SIZE = 8192 /* the bundled patterns need no more */, NAME_WORDS = (MAX_SLOTS + 63) / 64 };

/* Names, a bit each: those of which some way through a part of a formula meets one or several occurrences. */
struct met_names {
    uint64_t once[NAME_WORDS], again[NAME_WORDS];
};

/* What is below each name of the formula. */
struct name_uses {
    const struct formula *of;
    bool some_again;       /* some name that is no op occurs again, on whatever ways */
    struct met_names all;  /* filled in only then, */
    uint32_t n[MAX_SLOTS]; /* occurrences; below later ones of a name nothing is counted, since it is bound there */
    struct met_names below[MAX_SLOTS]; /* as are these, of the names that are met */
};

static uint64_t hash_of(const struct subformula *s) {
    uint64_t h = hash_mix(s->kind, s->nargs);
    h = hash_mix(hash_mix(h, bits_of_double(s->value)), (uint64_t)s->literal << 1 | s->node->counts);
    for (uint32_t i = 0; i < s->nargs; i++)
        h = hash_mix(h, s->args[i] ? s->args[i]->id : 0);
    if (s->kind == SUB_OP)
        h = hash_mix(h, s->node->op);
    return h;
}

bool node_same_attributes(const struct node *a, const struct node *b) {
    bool same = a->nattrs == b->nattrs;
    for (uint32_t i = 0; same && i < a->nattrs; i++)
        same = a->attrs[i].test == b->attrs[i].test && strcmp(a->attrs[i].key, b->attrs[i].key) == 0 &&
               str_eq(a->attrs[i].value, b->attrs[i].value);
    return same;
}

/* That of an op by its name: how often functions are evaluated counts at start-up. `kept` has its values. */
static bool same_function(const struct subformula *kept, const struct node *n) {
    double values[FUNCTION_POINTS];
    enum op_kind op = function_op(n);
    if (n->within != kept->node->within || op != function_op(kept->node))
        return false;
    if (op != NO_OPERATOR || function_captures(n) || !kept->values)
        return op != NO_OPERATOR && !function_captures(n);
    function_values(n, values);
    return function_same(kept->values, values, 0);
}

static bool is_same(const struct subformula *a, const struct subformula *b) {
    const struct node *x = a->node, *y = b->node;
    if (a->kind != b->kind || a->nargs != b->nargs || a->literal != b->literal)
        return false;
    for (uint32_t i = 0; i < a->nargs; i++)
        if (a->args[i] != b->args[i])
            return false;
    if (a->kind == SUB_NUMBER)
        return x->counts == y->counts && bits_of_double(a->value) == bits_of_double(b->value);
    if (a->kind == SUB_RESULT)
        return x->result == y->result;
    if (a->kind == SUB_FUNCTION)
        return same_function(a, y);
    return a->kind == SUB_EITHER || a->kind == SUB_SAME || a->kind == SUB_CONSTANT ||
           (x->kind == y->kind && x->op == y->op && (x->dim.n > 0) == (y->dim.n > 0) && node_same_attributes(x, y));
}

static void make_room(struct net *net, struct arena *a) {
    net->size = net->size ? net->size * 2 : FIRST_SIZE;
    net->buckets = arena_alloc(a, net->size * sizeof(struct subformula *));
    for (uint32_t i = 0; i < net->n; i++) {
        struct subformula **bucket = &net->buckets[hash_of(net->items[i]) % net->size];
        net->items[i]->chained = *bucket;
        *bucket = net->items[i];
    }
}

/* The one that asks the same; `s` itself where it is the first. */
static const struct subformula *intern(struct net *net, struct arena *a, struct subformula *s) {
    if (net->n >= net->size)
        make_room(net, a);
    struct subformula **bucket = &net->buckets[hash_of(s) % net->size];
    for (const struct subformula *old = *bucket; old; old = old->chained)
        if (is_same(old, s))
            return old;
    struct subformula *kept = arena_alloc(a, sizeof *kept);
    net->items = arena_grow(a, net->items, &net->cap, net->n + 1, sizeof(struct subformula *));
    net->items[net->n] = kept;
    s->id = ++net->n;
    s->chained = *bucket;
    if (s->kind == SUB_FUNCTION && !function_captures(s->node)) {
        s->values = arena_alloc(a, FUNCTION_POINTS * sizeof *s->values);
        function_values(s->node, s->values);
    }
    *kept = *s;
    return *bucket = kept;
}

static double unknown(void *self, const struct number *n) {
    bool *literal = self;
    (void)n;
    *literal = false;
    return NAN;
}

/* Where a name is used again, the search goes on to the op that the name stands for. One that stands for no op of its
 * own may also be the value before that op, where the op changes nothing (search/match/values.c, same_value). */
static bool is_op(const struct node *n) {
    return n->kind == N_OP || n->kind == N_OUTER;
}

static bool occurs_again(const struct name_uses *uses, uint32_t slot) {
    return uses->n[slot] > 1 && uses->all.again[slot / 64] >> slot % 64 & 1;
}

static const struct subformula *add(struct net *net, struct node *n, const struct name_uses *uses, struct arena *a) {
    if (n->netted || (n->kind == N_VARIABLE && !uses->of->slots[n->slot].is_constant))
        return n->sub;
    struct subformula s = {.node = n, .nargs = n->kind == N_FUNCTION ? 0 : n->nargs}; /* whatever it is of */
    bool anything = false;
    n->netted = true;
    s.args = arena_alloc(a, (n->nargs + 1) * sizeof *s.args);
    for (uint32_t i = 0; i < n->nargs; i++)
        s.args[i] = add(net, n->args[i], uses, a);
    if (n->kind == N_TRANSPOSED || (n->kind == N_NAMED && (is_op(n->args[0]) || !occurs_again(uses, n->slot))))
        return n->sub = s.args[0];
    if (n->kind == N_VARIABLE) {
        s.kind = SUB_CONSTANT;
    } else if (n->kind == N_NUMBER) {
        s.literal = true;
        s.kind = SUB_NUMBER;
        s.value = number_evaluate(n->number, unknown, &s.literal);
        s.value = s.literal ? s.value : 0;
    } else {
        s.kind = n->kind == N_EITHER     ? SUB_EITHER
                 : n->kind == N_RESULT   ? SUB_RESULT
                 : n->kind == N_NAMED    ? SUB_SAME
                 : n->kind == N_FUNCTION ? SUB_FUNCTION
                                         : SUB_OP;
    }
    anything = n->kind == N_REARRANGED;
    for (uint32_t i = 0; (n->kind == N_EITHER || n->kind == N_NAMED) && i < n->nargs; i++)
        anything |= !s.args[i];
    if (!anything)
        n->sub = intern(net, a, &s);
    return n->sub;
}

static void count_uses(struct node *n, struct name_uses *uses) {
    if (n->kind == N_NAMED && ++uses->n[n->slot] > 1) {
        uses->some_again |= !is_op(n->args[0]);
        return;
    }
    for (uint32_t i = 0; i < n->nargs; i++)
        count_uses(n->args[i], uses);
}

/* Of two parts the search takes both, of alternatives one. */
static void add_names(struct met_names *to, const struct met_names *part, bool both) {
    for (uint32_t w = 0; w < NAME_WORDS; w++) {
        to->again[w] |= part->again[w] | (both ? to->once[w] & part->once[w] : 0);
        to->once[w] |= part->once[w];
    }
}

static struct met_names names_in(const struct node *n, struct name_uses *uses, uint64_t *done) {
    struct met_names all = {{0}, {0}};
    if (n->kind == N_NAMED && done[n->slot / 64] >> n->slot % 64 & 1)
        return uses->below[n->slot];
    for (uint32_t i = 0; i < n->nargs; i++) {
        struct met_names part = names_in(n->args[i], uses, done);
        add_names(&all, &part, n->kind != N_EITHER);
    }
    if (n->kind == N_NAMED) {
        all.once[n->slot / 64] |= 1ull << n->slot % 64;
        done[n->slot / 64] |= 1ull << n->slot % 64;
        uses->below[n->slot] = all;
    }
    return all;
}

void net_add(struct net *net, const struct formula *f, struct arena *a) {
    struct name_uses uses;
    uint64_t done[NAME_WORDS] = {0};
    memset(&uses, 0, offsetof(struct name_uses, below));
    uses.of = f;
    for (uint32_t i = 0; i <= f->nsecondary; i++)
        count_uses(i ? f->also[i - 1].node : f->root, &uses);
    for (uint32_t i = 0; uses.some_again && i <= f->nsecondary; i++) {
        struct met_names names = names_in(i ? f->also[i - 1].node : f->root, &uses, done);
        add_names(&uses.all, &names, true);
    }
    add(net, f->root, &uses, a);
    for (uint32_t i = 0; i < f->nsecondary; i++)
        add(net, f->also[i].node, &uses, a);
}
