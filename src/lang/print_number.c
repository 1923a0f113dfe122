/* Conditions and numbers as text: as they stand in the pattern, or with the numbers of a match filled in. */
#include <math.h>

#include "lang/infix.h"
#include "lang/printer.h"

struct number_printer {
    const struct formula *f;
    const struct number_values *v; /* or NULL */
    struct buf *out;
};

/* A call as it stands in the pattern, up to its closing parenthesis: `name` points into that text, which ends with a
 * NUL. */
static void print_call(struct buf *out, struct str name) {
    const char *p = name.p, *end = p + name.n;
    int depth = 0;
    char quote = 0;
    while (*end == ' ')
        end++;
    for (; *end; end++) {
        quote = quote ? (*end == quote ? 0 : quote) : *end == '"' ? '"' : 0;
        depth += !quote && *end == '(';
        depth -= !quote && *end == ')';
        if (depth == 0)
            break;
    }
    buf_add(out, (struct str){p, (size_t)(end - p) + (*end == ')')});
}

static void print_extent(const struct number_printer *p, const struct number *n) {
    buf_add(p->out, STR("extent("));
    if (n->slot != NONE) {
        buf_add(p->out, p->f->slot_name[n->slot].n ? p->f->slot_name[n->slot] : STR("it"));
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
        buf_printf(out, "%.10g", value);
}

/* Of a comparison of values both sides are numbers. */
static void print_side(const struct number_printer *p, const struct number *n, enum binding_power outer) {
    bool sum = n->op >= NUM_NEG && n->op <= NUM_SQRT;
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
    } else if (n->op == NUM_SQRT || n->op == NUM_NOT)
        print_function(p, n->op == NUM_SQRT ? "sqrt" : "not", n);
    else if (infix_of_number(n->op))
        print_infix(p, n, outer);
    else
        print_call(p->out, n->text);
}

void number_print(const struct formula *f, const struct number_values *v, const struct number *n, struct buf *out) {
    struct number_printer p = {f, v, out};
    print(&p, n, P_EITHER);
}

bool number_has_values(const struct number *n) {
    return n && n->op != NUM_CALL && (is_value(n) || number_has_values(n->a) || number_has_values(n->b));
}
