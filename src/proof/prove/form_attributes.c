/* Attributes are evaluated with the bindings of the match. An op of the form takes attributes that it does not state,
 * such as the stride of a convolution, from the matched op of its kind; numeric does that (formula_like). */
#include "proof/prove/form_attributes.h"

#include <math.h>
#include <string.h>

#include "ir/graph/movement.h"
#include "ir/ops/scalar.h"
#include "proof/value/lazy.h"
#include "search/match/evaluate.h"

/* The number that all elements of an input have in this run, if any are given: attributes of the form may use it. */
static double number_given(const struct form_run *run, uint32_t value) {
    for (uint32_t i = 0; run->given && i < run->ref->problem.ninputs; i++)
        if (run->given[i].value == value && run->given[i].tensor && lazy_is_number(run->given[i].tensor))
            return lazy_number(run->given[i].tensor);
    return NAN;
}

/* Evaluates numbers of the pattern on the match. */
static struct evaluation evaluation_of(const struct reference *r, const struct fused_form *f) {
    return (struct evaluation){.graph = reference_graph(r),
                               .formula = reference_formula(r),
                               .bindings = r->bound.slots,
                               .axes = f->root_axes,
                               .ops = r->match->ops,
                               .nops = r->match->nops,
                               .arena = r->arena};
}

bool form_excludes(const struct reference *r, const struct fused_form *f, enum outside what) {
    const struct pattern *pattern = r->match->pattern;
    struct evaluation e = evaluation_of(r, f);
    bool found = false;
    for (uint32_t i = 0; i < pattern->noutside && !found; i++)
        found = pattern->outside[i].what == what &&
                (!pattern->outside[i].when || evaluate(&e, pattern->outside[i].when) != 0);
    return found;
}

/* For formula_like.number. */
static bool number_of_match(const void *self, const struct number *n, double *out) {
    const struct form_run *run = self;
    struct evaluation e = evaluation_of(run->ref, run->form);
    double numbers[MAX_SLOTS];
    for (uint32_t slot = 0; slot < run->ref->bound.nslots; slot++) {
        const struct binding *b = &run->ref->bound.slots[slot];
        numbers[slot] = number_given(run, b->value);
    }
    e.numbers = numbers;
    *out = evaluate(&e, n);
    return !isnan(*out);
}

static const struct binding *matched_pad(const struct reference *r, struct str name) {
    uint32_t slot = name.n ? formula_slot(reference_formula(r), name) : NONE;
    const struct binding *b = reference_binds(r, slot) ? &r->bound.slots[slot] : NULL;
    return b && b->op != NONE && op_table[reference_graph(r)->kind[b->op]].shrink == SHRINK_PAD ? b : NULL;
}

static uint32_t op_of_kind(const struct reference *r, enum op_kind k) {
    for (uint32_t i = 0; i < r->match->nops; i++)
        if (reference_graph(r)->kind[r->match->ops[i]] == k)
            return r->match->ops[i];
    return NONE;
}

/* An activation as a fused op prints it, with its numbers: the slope of a leaky_relu, the bounds of a clamp. */
static const struct attr *activation_of_op(const struct reference *r, uint32_t op) {
    struct attr *x = arena_alloc(r->arena, sizeof *x);
    enum op_kind as = (enum op_kind)reference_graph(r)->kind[op];
    *x = (struct attr){.key = STR("activation"), .text = str_of(op_table[as].name), .n = -1};
    const char *before = ", params = [";
    for (const char *const *key = activation_numbers; *key; key++) {
        const struct attr *number = attrs_find(graph_attributes(reference_graph(r), op), *key);
        if (number)
            x->text = arena_printf(r->arena, "%.*s%s%.*s", (int)x->text.n, x->text.p, before, (int)number->text.n,
                                   number->text.p);
        before = number ? ", " : before;
    }
    if (before[2] == '\0')
        x->text = arena_printf(r->arena, "%.*s]", (int)x->text.n, x->text.p);
    return x;
}

/* The operator of the first name of a list "a, b, c=silu" that was matched, or the one behind it; NULL: none was. */
static const struct attr *activation_named(const struct reference *r, struct str names) {
    while (names.n) {
        struct str as = str_part(&names, ','), name = str_trim(str_part(&as, '='));
        uint32_t slot = formula_slot(reference_formula(r), name);
        if (slot == NONE || r->bound.slots[slot].op == NONE)
            continue;
        struct attr *x = arena_alloc(r->arena, sizeof *x);
        *x = (struct attr){.key = STR("activation"), .text = str_trim(as), .n = -1};
        return as.n ? x : activation_of_op(r, r->bound.slots[slot].op);
    }
    return NULL;
}

/* For formula_like.attribute: padding="p" and activation="act" name matched ops. Where no such pad was matched the
 * padding is that of the op of the graph. */
static bool attribute_of_match(const void *self, const struct node *n, const char *key, const struct attr **out) {
    const struct reference *r = ((const struct form_run *)self)->ref;
    struct str text = node_attribute(n, key), list = node_attribute(n, "padding");
    const struct binding *pad = matched_pad(r, list);
    uint32_t op = pad || text.n ? op_of_kind(r, n->op) : NONE;
    if (strcmp(key, "activation") == 0 && text.n) {
        *out = activation_named(r, text);
        return true;
    }
    if (pad)
        return op != NONE && absorbed_attribute(r, op, pad, key, out);
    if (strcmp(key, "padding") != 0 || op == NONE || formula_slot(reference_formula(r), text) == NONE)
        return false;
    *out = attrs_find(graph_attributes(reference_graph(r), op), key);
    return true;
}

static bool takes(const struct graph *g, uint32_t op, uint32_t source) {
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        if (graph_operands(g, op)[i] != NONE && movement_source(g, graph_operands(g, op)[i]) == source)
            return true;
    return false;
}

/* For formula_like.likely: a matched op of this kind takes what a name among the operands is, perhaps moved. A form of
 * eight optional factors and summands has 256 alternatives, and mostly it does with each what the match does. */
static bool is_matched(const void *self, const struct node *n) {
    const struct form_run *run = self;
    const struct reference *r = run->ref;
    const struct graph *g = reference_graph(r);
    for (uint32_t k = 0; k < n->nargs && n->kind == N_OP; k++) {
        uint32_t slot = n->args[k]->kind == N_VARIABLE ? form_slot(run->form, r, n->args[k]->slot) : NONE;
        uint32_t source = reference_binds(r, slot) ? movement_source(g, r->bound.slots[slot].value) : NONE;
        for (uint32_t i = 0; i < r->match->nops && source != NONE; i++)
            if (g->kind[r->match->ops[i]] == n->op && takes(g, r->match->ops[i], source))
                return true;
    }
    return false;
}

struct padded_operand {
    const struct reference *ref;
    uint32_t slot;
};

/* The op whose first operand is this name and whose padding names a matched pad. */
static bool pads(const struct node *n, void *context) {
    const struct padded_operand *p = context;
    return n->kind == N_OP && n->nargs && n->args[0]->kind == N_VARIABLE && n->args[0]->slot == p->slot &&
           matched_pad(p->ref, node_attribute(n, "padding"));
}

static const struct node *padded_op(const struct form_run *run, uint32_t slot) {
    return formula_find(run->form->formula, pads, &(struct padded_operand){run->ref, slot});
}

bool form_absorbs_pad(const struct form_run *run, uint32_t slot) {
    return padded_op(run, slot) != NULL;
}

const struct tensor *form_unpadded(struct form_run *run, uint32_t slot) {
    const struct node *n = padded_op(run, slot); /* as form_absorbs_pad said */
    return operand_unpadded(run, op_of_kind(run->ref, n->op), matched_pad(run->ref, node_attribute(n, "padding")));
}

struct formula_context form_like(const struct form_run *run) {
    const struct match *m = run->ref->match;
    return (struct formula_context){m->graph, m->ops, m->nops, number_of_match, attribute_of_match, is_matched, run};
}
