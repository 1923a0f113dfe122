/* What can be asked of a formula: its names, the operators that its nodes may match. */
#include "patterns/lang/formula.h"

#include "patterns/lang/build.h"
#include "patterns/lang/function.h"

uint32_t formula_slot(const struct formula *f, struct str name) {
    for (uint32_t i = 0; i < f->nslots; i++)
        if (f->slots[i].name.n && str_eq(f->slots[i].name, name))
            return i;
    return NONE;
}

uint32_t formula_add_slot(struct formula *f, struct arena *a, struct slot slot) {
    f->slots = arena_grow(a, f->slots, &f->slots_cap, f->nslots + 1, sizeof *f->slots);
    f->slots[f->nslots] = slot;
    return f->nslots++;
}

struct node_search {
    node_test *is;
    void *context;
    bool visited[MAX_SLOTS];
};

static const struct node *find_below(struct node_search *s, const struct node *n) {
    if (n->kind == N_NAMED && s->visited[n->slot])
        return NULL;
    if (n->kind == N_NAMED)
        s->visited[n->slot] = true;
    if (s->is(n, s->context))
        return n;
    const struct node *found = NULL;
    for (uint32_t i = 0; i < n->nargs && !found; i++)
        found = find_below(s, n->args[i]);
    return found;
}

struct str node_attribute(const struct node *n, const char *key) {
    for (uint32_t i = 0; i < n->nattrs; i++)
        if (strcmp(n->attrs[i].key, key) == 0)
            return n->attrs[i].value;
    return STR("");
}

const struct node *formula_find(const struct formula *f, node_test *is, void *context) {
    struct node_search s = {.is = is, .context = context};
    const struct node *found = find_below(&s, f->root);
    for (uint32_t i = 0; i < f->nsecondary && !found; i++)
        found = find_below(&s, f->also[i].node);
    return found;
}

struct bound_slots {
    const struct formula *formula;
    bool is[MAX_SLOTS];
};

/* A value, or the bound of a slice. */
static bool binds(const struct node *n, void *context) {
    struct bound_slots *bound = context;
    if (n->kind == N_VARIABLE)
        bound->is[n->slot] = true;
    for (uint32_t i = 0; i < n->nattrs; i++) {
        uint32_t slot = n->attrs[i].word ? formula_slot(bound->formula, n->attrs[i].value) : NONE;
        if (slot != NONE)
            bound->is[slot] = true;
    }
    return false;
}

uint32_t formula_unbound(const struct formula *f) {
    struct bound_slots bound = {f, {false}};
    formula_find(f, binds, &bound);
    for (uint32_t i = 0; i < f->nslots; i++)
        if (f->slots[i].is_variable && !bound.is[i])
            return i;
    return NONE;
}

/* ---- operators that a node may match ---- */

static void add_kind(struct node *n, enum op_kind k) {
    n->kinds[k / 64] |= 1ull << (k % 64);
}

static bool has_kinds(const struct node *n) {
    for (size_t k = 0; k < sizeof n->kinds / sizeof *n->kinds; k++)
        if (n->kinds[k])
            return true;
    return false;
}

void node_set_kinds(struct node *n) {
    if (n->any || has_kinds(n))
        return;
    for (uint32_t i = 0; i < n->nargs; i++)
        node_set_kinds(n->args[i]);
    switch (n->kind) {
    case N_OP:
        n->any = class_moves(op_table[n->op].class);
        /* fall through */
    case N_OUTER:
        for (int k = n->op; k == (int)n->op || (k < OPERATORS && op_table[k].as == n->op); k++)
            add_kind(n, (enum op_kind)k);
        return;
    case N_NAMED:
    case N_EITHER:
    case N_RESULT:
    case N_TRANSPOSED:
        for (uint32_t i = 0; i < n->nargs; i++) {
            n->any |= n->args[i]->any;
            for (size_t k = 0; k < sizeof n->kinds / sizeof *n->kinds; k++)
                n->kinds[k] |= n->args[i]->kinds[k];
        }
        return;
    case N_REARRANGED:
        for (int k = 0; k < OPERATORS; k++)
            if (op_table[k].class == OP_MOVE)
                add_kind(n, (enum op_kind)k);
        n->any = true;
        return;
    case N_FUNCTION:
        for (int k = 0; k < OPERATORS; k++)
            if (function_operator((enum op_kind)k))
                add_kind(n, (enum op_kind)k);
        return;
    case N_VARIABLE:
    case N_NUMBER:
        n->any = true;
    }
}
