/* Conditions and numbers as text: as they stand in the pattern, or with the numbers of a match filled in. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "patterns/lang/infix.h"
#include "patterns/lang/printer.h"

struct number_printer {
    const struct formula *f;
    const struct number_values *v;    /* or NULL */
    const struct number_names *names; /* NULL: those of the formula */
    struct buf *out;
};

static void print_slot(const struct number_printer *p, uint32_t slot) {
    if (p->names)
        p->names->print(p->names->self, slot);
    else
        buf_add(p->out, p->f->slots[slot].name.n ? p->f->slots[slot].name : STR("it"));
}

static void print_argument(const struct number_printer *p, const struct number *n, uint32_t i) {
    uint32_t slot = n->op == NUM_CALL ? n->args[i] : n->slot, bit = 1u << i;
    const char *view = n->sources & bit ? "source(" : n->printed & bit ? "printed(" : "";
    buf_printf(p->out, "%s%s", i ? ", " : "", view);
    print_slot(p, slot);
    buf_add(p->out, *view ? STR(")") : STR(""));
}

/* A condition, a measure or value(x). */
static void print_call(const struct number_printer *p, const struct number *n) {
    uint32_t nargs = n->op == NUM_CALL ? n->nargs : 1;
    buf_printf(p->out, "%.*s(", (int)n->text.n, n->text.p);
    for (uint32_t i = 0; i < nargs; i++)
        print_argument(p, n, i);
    for (uint32_t i = 0; i < n->ngiven; i++)
        buf_printf(p->out, ", %d", n->given[i]);
    if (n->key)
        buf_printf(p->out, "%s%s%s%s", nargs ? ", " : "", strchr(n->key, '"') ? "'" : "\"", n->key,
                   strchr(n->key, '"') ? "'" : "\"");
    buf_addc(p->out, ')');
}

static void print_extent(const struct number_printer *p, const struct number *n) {
    buf_add(p->out, STR("extent("));
    if (n->slot != NONE) {
        print_slot(p, n->slot);
        buf_add(p->out, STR(", "));
    }
    buf_printf(p->out, "%d)", n->axis);
}

static bool is_value(const struct number *n) {
    return n->op == NUM_EXTENT || n->op == NUM_VALUE_OF || n->op == NUM_MEASURE;
}

static void print(const struct number_printer *p, const struct number *n, enum binding_power outer);

static void print_function(const struct number_printer *p, const char *name, const struct number *n) {
    buf_printf(p->out, "%s(", name);
    print(p, n->a, P_EITHER);
    buf_addc(p->out, ')');
}

static void print_value(struct buf *out, double value) {
    if (isnan(value))
        buf_add(out, STR("unknown"));
    else
        buf_number(out, value);
}

/* Of a comparison of values both sides are numbers. */
static void print_side(const struct number_printer *p, const struct number *n, enum binding_power outer) {
    bool sum = n->op >= NUM_NEG && n->op <= NUM_FUNCTION;
    if (p->v && (outer == P_COMPARISON || outer == P_COMPARISON + 1) && (sum || n->op == NUM_MOD))
        print_value(p->out, p->v->value(p->v->self, n));
    else
        print(p, n, outer);
}

static void print_infix(const struct number_printer *p, const struct number *n, enum binding_power outer) {
    const struct infix *sign = infix_of_number(n->op);
    enum binding_power mine = sign->power;
    if (mine < outer)
        buf_addc(p->out, '(');
    print_side(p, n->a, mine);
    buf_printf(p->out, " %s ", sign->sign);
    print_side(p, n->b, mine + 1);
    if (mine < outer)
        buf_addc(p->out, ')');
}

static void print(const struct number_printer *p, const struct number *n, enum binding_power outer) {
    if (n->op == NUM_VALUE || (p->v && is_value(n)))
        print_value(p->out, p->v ? p->v->value(p->v->self, n) : n->value);
    else if (n->op == NUM_EXTENT)
        print_extent(p, n);
    else if (n->op == NUM_NEG) {
        buf_addc(p->out, '-');
        print(p, n->a, P_WORD);
    } else if (n->op == NUM_FUNCTION || n->op == NUM_NOT)
        print_function(p, n->op == NUM_NOT ? "not" : op_table[n->call].name, n);
    else if (infix_of_number(n->op))
        print_infix(p, n, outer);
    else
        print_call(p, n);
}

void number_print(const struct formula *f, const struct number_values *v, const struct number *n, struct buf *out) {
    struct number_printer p = {f, v, NULL, out};
    print(&p, n, P_EITHER);
}

void number_print_named(const struct number_names *names, const struct number *n, enum binding_power outer,
                        struct buf *out) {
    assert(names);
    struct number_printer p = {NULL, NULL, names, out};
    print(&p, n, outer);
}

bool number_has_values(const struct number *n) {
    return n && n->op != NUM_CALL && (is_value(n) || number_has_values(n->a) || number_has_values(n->b));
}
