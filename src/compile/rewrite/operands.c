/* Which arguments of an example's function the fused op takes as they are. */
#include "compile/rewrite/files.h"

#include <string.h>

#include "search/match/match.h"

struct example_operands {
    struct arena *arena; /* of the texts */
    const struct formula *fused;
    enum op_kind op;  /* the fused one */
    struct str *list; /* by example */
};

/* The binding of what a node names; NULL: it names nothing. */
static const struct binding *binding_of(const struct example_operands *x, const struct match_detail *d,
                                        const struct match *m, const struct node *n) {
    uint32_t slot = formula_slot(&m->pattern->formula, x->fused->slot_name[n->slot]);
    return slot < d->nslots ? &d->slots[slot] : NULL;
}

/* How many names a part of the form has that the match has; NONE: it lacks one that has to be there. */
static uint32_t count_names(const struct example_operands *x, const struct match_detail *d, const struct match *m,
                            const struct node *n) {
    uint32_t count = n->kind == N_VARIABLE;
    const struct binding *b = count ? binding_of(x, d, m, n) : NULL;
    if (count && (!b || b->value == NONE))
        return NONE;
    uint32_t most = NONE;
    for (uint32_t i = 0; i < n->nargs; i++) {
        uint32_t one = count_names(x, d, m, n->args[i]);
        if (n->kind == N_EITHER)
            most = most == NONE || (one != NONE && one > most) ? one : most;
        else if (one != NONE)
            count += one;
        else if (n->kind != N_OP || n->op != x->op) /* which may lack an operand */
            return NONE;
    }
    return n->kind == N_EITHER ? most : count;
}

/* The part that is written of alternatives: the first with most names. NULL: the match has none of them. */
static const struct node *written_of(const struct example_operands *x, const struct match_detail *d,
                                     const struct match *m, const struct node *n) {
    while (n && (n->kind == N_NAMED || n->kind == N_EITHER)) {
        uint32_t most = count_names(x, d, m, n), i = 0;
        while (n->kind == N_EITHER && i < n->nargs && count_names(x, d, m, n->args[i]) != most)
            i++;
        n = most == NONE || i >= n->nargs ? NULL : n->args[i];
    }
    return n && count_names(x, d, m, n) != NONE ? n : NULL;
}

static const struct node *fused_node(const struct example_operands *x, const struct match_detail *d,
                                     const struct match *m, const struct node *n) {
    n = n->kind == N_NAMED || n->kind == N_EITHER ? written_of(x, d, m, n) : n;
    if (!n || (n->kind == N_OP && n->op == x->op))
        return n;
    const struct node *found = NULL;
    for (uint32_t i = 0; i < n->nargs && !found; i++)
        found = fused_node(x, d, m, n->args[i]);
    return found;
}

/* The extents of the formula's axes where a value is: its own, or those of the root. */
static uint32_t extents_of(const struct binding *b, const struct mlir *m, uint32_t root, int64_t *out) {
    const struct mlir_type *t = &m->types[m->values[root].type];
    uint32_t n = b->axes ? b->axes->n : t->rank;
    for (uint32_t i = 0, k = 0; i < n; i++) {
        out[i] = b->axes ? 1 : m->dims[t->first_dim + i];
        for (; b->axes && k < b->axes->end[i]; k++)
            out[i] *= b->axes->t[k].size;
    }
    return n;
}

/* The dimensions of a value are the last axes of the formula there, or of an operand of a product in the other order,
 * which its flags say: the form takes it without a reshape. */
static bool lies_so(const struct binding *b, const struct mlir *m, uint32_t root, enum op_class class) {
    const struct mlir_type *t = &m->types[m->values[b->value].type];
    const int64_t *dims = &m->dims[t->first_dim];
    int64_t axes[MAX_RANK];
    uint32_t n = extents_of(b, m, root, axes);
    bool straight = t->ranked && t->rank > 0 && t->rank <= n, turned = straight && class == OP_CONTRACT && t->rank > 1;
    for (uint32_t i = 0; i < t->rank && straight + turned; i++) {
        uint32_t last = t->rank - 2;
        straight &= dims[i] == axes[n - t->rank + i];
        turned &= i < last || dims[i] == axes[i == last ? n - 1 : n - 2];
    }
    return (straight || turned) && (t->rank == 1 || dims[0] > 1 || class == OP_OPAQUE);
}

/* Whether a reduction of the match leaves the last dimension: then it is moved there before a norm. */
static bool leaves_last(const struct match *m) {
    const struct mlir *ir = m->graph->m;
    for (uint32_t i = 0; i < m->nops; i++) {
        const struct mlir_op *op = &ir->ops[m->ops[i]];
        if (op_table[m->graph->kind[m->ops[i]]].class != OP_REDUCE || op->noperands == 0)
            continue;
        const struct mlir_type *from = &ir->types[ir->values[ir->operands[op->first_operand]].type];
        const struct mlir_type *to = &ir->types[ir->values[op->first_result].type];
        uint32_t last = from->rank - 1;
        bool same = true;
        for (uint32_t d = 0; d < last && d < to->rank; d++)
            same &= ir->dims[from->first_dim + d] == ir->dims[to->first_dim + d];
        if (!from->rank || !same)
            return true;
    }
    return false;
}

/* Whether something stands between a pad, whose amounts the op takes, and what it is the operand of: then the operand
 * is moved, too. */
static bool is_behind_pad(const struct match_detail *d, const struct match *m, const struct node *op) {
    const struct mlir *ir = m->graph->m;
    bool moved = false;
    for (uint32_t i = 0; i < op->nattrs; i++) {
        uint32_t slot =
            strcmp(op->attrs[i].key, "padding") == 0 ? formula_slot(&m->pattern->formula, op->attrs[i].value) : NONE;
        if (slot >= d->nslots || d->slots[slot].value == NONE)
            continue;
        moved = true;
        for (uint32_t k = 0; k < m->nops; k++) {
            const struct mlir_op *of = &ir->ops[m->ops[k]];
            moved &= m->graph->kind[m->ops[k]] != op->op || !of->noperands ||
                     ir->operands[of->first_operand] != d->slots[slot].value;
        }
    }
    return moved;
}

/* Whether all that the form takes has the element type of the result: else it casts. */
static bool is_of_one_type(const struct example_operands *x, const struct match_detail *d, const struct match *m) {
    const struct mlir *ir = m->graph->m;
    uint32_t type = ir->values[ir->ops[m->root].first_result].type;
    bool one = true;
    for (uint32_t i = 0; i < x->fused->nslots; i++) {
        uint32_t slot = formula_slot(&m->pattern->formula, x->fused->slot_name[i]);
        uint32_t value = slot < d->nslots ? d->slots[slot].value : NONE;
        one &= value == NONE || ir->types[ir->values[value].type].dtype == ir->types[type].dtype;
    }
    return one;
}

/* "(%arg0, %arg1" of the first operands that are arguments as they are; ")" where all are. */
static struct str operands_text(const struct example_operands *x, const struct match_detail *d, const struct match *m,
                                const struct node *op, struct arena *a) {
    const struct mlir *ir = m->graph->m;
    uint32_t result = ir->ops[m->root].first_result;
    struct str text = STR("(");
    if ((op_table[op->op].class == OP_AXISWISE && leaves_last(m)) || is_behind_pad(d, m, op) ||
        !is_of_one_type(x, d, m))
        return text;
    for (uint32_t i = 0; i < op->nargs; i++) {
        const struct node *n = written_of(x, d, m, op->args[i]), *said = op->args[i];
        while (said->kind == N_NAMED)
            said = said->args[0];
        if (!n && said->kind != N_OP)
            continue; /* it is absent */
        const struct binding *b = n && n->kind == N_VARIABLE ? binding_of(x, d, m, n) : NULL;
        if (!b || ir->values[b->value].def != NONE || !lies_so(b, ir, result, op_table[op->op].class))
            return text;
        text = arena_printf(a, "%s%s%%arg%u", text.p, text.n > 1 ? ", " : "", ir->values[b->value].index);
    }
    return arena_printf(a, "%s)", text.p);
}

/* Whether the example is one of what the compiler takes and a pass can tell: no argument is assumed to hold a number,
 * no function is known by its values alone, and no broadcast has a dimension more than its operand. */
static bool is_test(const struct match *m, const struct match_detail *d) {
    const struct mlir *ir = m->graph->m;
    bool is = !m->by_values;
    for (uint32_t i = 0; i < d->nconstants; i++)
        is &= !d->constants[i].stated;
    for (uint32_t i = 0; i < ir->nops; i++) {
        const struct mlir_op *op = &ir->ops[i];
        if (graph_movement(m->graph, i) == MOVEMENT_BROADCAST && op->noperands)
            is &= ir->types[ir->values[ir->operands[op->first_operand]].type].rank ==
                  ir->types[ir->values[op->first_result].type].rank;
    }
    return is;
}

static struct str expect(void *self, const struct match *own, const struct example *e, struct arena *a) {
    struct example_operands *x = self;
    struct match_detail d;
    if (!match_details(own, a, &d))
        return STR("");
    const struct node *op = fused_node(x, &d, own, x->fused->root);
    struct str text = op ? operands_text(x, &d, own, op, x->arena) : STR("");
    if (!is_test(own, &d))
        text = (struct str){0};
    x->list[e - own->pattern->examples] = text;
    return STR("");
}

void operands_of_examples(const struct pattern_set *set, const struct pattern *p, const struct formula *fused,
                          enum op_kind op, struct arena *a, struct str *out) {
    struct example_operands x = {.fused = fused, .op = op, .list = out, .arena = a};
    struct example_judge judge = {.judge = expect, .self = &x};
    struct example_counts counts = {0};
    struct diags none = {.arena = a};
    for (uint32_t i = 0; i < p->nexamples; i++)
        out[i] = STR("");
    examples_run(set, p, &none, &judge, &counts);
    diags_free(&none);
}
