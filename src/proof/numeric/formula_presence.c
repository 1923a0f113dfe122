/* Which parts of a formula are present. A pattern may leave operands out ([+ bias]); a name that is not bound is
 * absent, and with it every op that needs it. Nothing is evaluated here. */
#include "patterns/lang/condition.h"
#include "proof/numeric/formula_run.h"

static bool slot_present(struct formula_run *r, uint32_t slot) {
    const struct node *named = r->formula->slots[slot].named;
    if (r->values[slot][0] || r->present[slot] || !named || r->busy[slot])
        return r->values[slot][0] || r->present[slot];
    r->busy[slot] = true; /* an attribute may name the line that it is part of */
    r->present[slot] = formula_present(r, named->args[0]);
    r->busy[slot] = false;
    return r->present[slot];
}

bool number_present(struct formula_run *r, const struct number *n) {
    return !n || ((n->slot == NONE || n->op == NUM_VALUE || slot_present(r, n->slot)) && number_present(r, n->a) &&
                  number_present(r, n->b));
}

/* ---- attributes ---- */

/* The number needs the match in the graph: a measure that tensors do not have, or a line that has no value yet (which
 * may be the one that is being evaluated). */
static bool asks_match(const struct formula_run *r, const struct number *n) {
    static const char *const of_tensors[] = {"rank", "size", "numel"};
    bool about = n->slot != NONE && (n->op == NUM_EXTENT || n->op == NUM_VALUE_OF || n->op == NUM_MEASURE);
    bool known = n->op != NUM_MEASURE;
    for (size_t i = 0; i < 3 && !known; i++)
        known = strcmp(measure_table[n->call].name, of_tensors[i]) == 0;
    bool line = about && !r->formula->slots[n->slot].is_variable && !r->values[n->slot][0];
    return (about && !known) || line || (n->a && asks_match(r, n->a)) || (n->b && asks_match(r, n->b));
}

bool number_of_match(const struct formula_run *r, const struct attr_number *n, double *out) {
    return r->context && r->context->number && n->outer && (!n->own || asks_match(r, n->own)) &&
           r->context->number(r->context->self, n->outer, out);
}

bool attribute_present(struct formula_run *r, const struct attr_spec *a) {
    bool present = true;
    double x;
    for (uint32_t i = 0; i < a->nnumbers && present; i++)
        present = !a->numbers[i].own || number_of_match(r, &a->numbers[i], &x) || number_present(r, a->numbers[i].own);
    return present;
}

/* An attribute that is the name of something absent (epsilon=eps) is absent itself; one that computes with it makes the
 * whole op absent. */
static bool attributes_present(struct formula_run *r, const struct node *n) {
    for (uint32_t i = 0; i < n->nattrs; i++) {
        bool cut = op_table[n->op].class == OP_SLICE; /* its bounds are not optional */
        bool name = formula_slot(r->formula, n->attrs[i].value) != NONE;
        if ((cut || !name) && n->attrs[i].test == ATTR_IS && !attribute_present(r, &n->attrs[i]))
            return false;
    }
    return true;
}

const struct attr_spec *find_attribute(const struct node *n, const char *key) {
    for (uint32_t i = 0; i < n->nattrs; i++)
        if (n->attrs[i].test == ATTR_IS && strcmp(n->attrs[i].key, key) == 0)
            return &n->attrs[i];
    return NULL;
}

/* ---- ops ---- */

/* How many of its first operands the op needs. A concat of what is present needs no certain one. */
static uint32_t operands_required(enum op_kind k, uint32_t given) {
    const char *roles = op_table[k].roles;
    uint32_t n = *roles != '\0';
    if (*roles == '*')
        return op_table[k].class == OP_JOIN ? 0 : given;
    for (; *roles && *roles != '?'; roles++)
        n += *roles == ',';
    return *roles == '?' ? n - 1 : n;
}

bool is_determined(const struct formula_run *r, const struct node *n) {
    const char *const *key = op_table[n->op].says;
    if (!*key || (r->inside && r->inside->kind == n->op))
        return true;
    while (*key && !find_attribute(n, *key))
        key++;
    return *key != NULL;
}

bool op_present(struct formula_run *r, const struct node *n) {
    if (!is_determined(r, n))
        return false;
    uint32_t required = operands_required(n->op, n->nargs), there = 0;
    for (uint32_t i = 0; i < n->nargs; i++) {
        bool is = formula_present(r, n->args[i]);
        if (!is && i < required)
            return false;
        there += is;
    }
    return (n->nargs == 0 || there > 0) && attributes_present(r, n);
}

bool formula_present(struct formula_run *r, const struct node *n) {
    switch (n->kind) {
    case N_VARIABLE:
    case N_NAMED:
        return slot_present(r, n->slot);
    case N_NUMBER:
        return number_present(r, n->number);
    case N_OP:
        return op_present(r, n);
    case N_EITHER:
        for (uint32_t i = 0; i < n->nargs; i++)
            if (formula_present(r, n->args[i]))
                return true;
        return false;
    default:
        for (uint32_t i = 0; i < n->nargs; i++)
            if (!formula_present(r, n->args[i]))
                return false;
        return true;
    }
}

/* Of alternatives the last one, which needs least. Empty: it is no name, as an attribute. */
static struct str absent_name(struct formula_run *r, const struct node *n) {
    struct str name = {0};
    if (formula_present(r, n) || (n->kind == N_NAMED && r->busy[n->slot]))
        return name;
    if (n->kind == N_NAMED) {
        r->busy[n->slot] = true;
        name = absent_name(r, r->formula->slots[n->slot].named->args[0]);
        r->busy[n->slot] = false;
        return name;
    }
    if (n->kind == N_VARIABLE)
        return r->formula->slots[n->slot].name;
    uint32_t most = n->kind == N_OP ? operands_required(n->op, n->nargs) : n->nargs;
    for (uint32_t i = n->kind == N_EITHER ? n->nargs - 1 : 0; i < most && !name.n; i++)
        name = absent_name(r, n->args[i]);
    return name;
}

const char *formula_absent(struct formula_run *r, const struct node *n) {
    struct str name = absent_name(r, n);
    return name.n ? arena_strdup(r->eval->arena, name) : "an operand";
}
