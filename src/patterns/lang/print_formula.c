/* A formula as text. Values that are used several times get a line of their own, so that the text has the size of the
 * graph of nodes and not of the tree that it unfolds to. Those without a name, which come from idioms, are called t1,
 * t2 and so on. */
#include "patterns/lang/printer.h"

#include <stdlib.h>
#include <string.h>

#include "patterns/lang/infix.h"
#include "patterns/lang/rearrange.h"

enum { WIDTH = 100 }; /* from which on alternatives stand below each other */

struct shared_value {
    const struct node *node;
    uint32_t uses;
    bool printed;
};

struct formula_printer {
    const struct formula *f;
    struct buf *out;
    size_t enough; /* bytes of `out` behind which nothing more is needed */
    uint32_t indent, ntemporaries;
    struct shared_value slots[MAX_SLOTS];
    uint32_t temporary[MAX_SLOTS]; /* number of a slot without a name, counted from 1; 0: none yet */
};

/* The sign that a node is printed with; NULL for what is printed as a call. */
static const struct infix *infix_of_node(const struct node *n) {
    bool plain = n->kind == N_OP && n->nargs == 2 && !n->nattrs && n->dim.n == 0;
    return plain ? infix_of_op(n->op) : NULL;
}

/* x [+|- y], which is x + y | x - y | x of the same x and y. */
static bool is_optional(const struct node *n) {
    if (n->kind != N_EITHER || n->nargs < 2)
        return false;
    const struct node *without = n->args[n->nargs - 1], *first = n->args[0];
    for (uint32_t i = 0; i + 1 < n->nargs; i++) {
        const struct node *with = n->args[i];
        const struct infix *sign = infix_of_node(with);
        if (!sign || sign->power < P_SUM || with->args[0] != without || with->args[1] != first->args[1])
            return false;
    }
    return true;
}

/* The operands that are printed; of x [+|- y] they are x and y. */
static uint32_t printed_operands(const struct node *n, const struct node *const **out, const struct node *optional[2]) {
    *out = (const struct node *const *)n->args;
    if (!is_optional(n))
        return n->nargs;
    optional[0] = n->args[n->nargs - 1];
    optional[1] = n->args[0]->args[1];
    *out = optional;
    return 2;
}

/* ---- values that are used several times ---- */

static void count_uses(struct formula_printer *p, const struct node *n) {
    if (n->kind == N_NAMED) {
        struct shared_value *v = &p->slots[n->slot];
        v->node = n;
        if (v->uses++ > 0)
            return;
    }
    const struct node *const *all;
    const struct node *optional[2];
    uint32_t n_operands = printed_operands(n, &all, optional);
    for (uint32_t i = 0; i < n_operands; i++)
        count_uses(p, all[i]);
}

/* Others are printed where they are used. */
static bool has_line(const struct formula_printer *p, uint32_t slot) {
    return p->f->slots[slot].name.n || p->slots[slot].uses > 1;
}

/* ---- text ---- */

static void open_if(struct formula_printer *p, bool needed) {
    if (needed)
        buf_addc(p->out, '(');
}
static void close_if(struct formula_printer *p, bool needed) {
    if (needed)
        buf_addc(p->out, ')');
}

static void print_name(struct formula_printer *p, uint32_t slot) {
    struct str name = p->f->slots[slot].name;
    if (name.n) {
        buf_add(p->out, name);
        return;
    }
    if (!p->temporary[slot])
        p->temporary[slot] = ++p->ntemporaries;
    buf_printf(p->out, "t%u", p->temporary[slot]);
}

static void name_number(void *p, uint32_t slot) {
    print_name(p, slot);
}

static void print_node(struct formula_printer *p, const struct node *n, enum binding_power outer);

void axis_spec_print(const struct axis_spec *dim, struct buf *out) {
    for (uint32_t i = 0; i < dim->n; i++)
        buf_printf(out, "%s%d", i ? ", " : dim->n > 1 ? "[" : "", dim->axes[i]);
    if (dim->n > 1)
        buf_addc(out, ']');
}

static void print_call(struct formula_printer *p, const char *name, const struct node *n) {
    const char *separator = "";
    buf_printf(p->out, "%s(", name);
    for (uint32_t i = 0; i < n->nargs; i++) {
        buf_add(p->out, str_of(separator));
        print_node(p, n->args[i], P_EITHER);
        separator = ", ";
    }
    if (n->dim.n)
        buf_printf(p->out, "%sdim=", separator);
    axis_spec_print(&n->dim, p->out);
    for (uint32_t i = 0; i < n->nattrs; i++) {
        const struct attr_spec *a = &n->attrs[i];
        buf_printf(p->out, "%s%s=%.*s", n->dim.n || i ? ", " : separator, a->key, (int)a->value.n, a->value.p);
    }
    buf_addc(p->out, ')');
}

/* x[..., 2:32, :]; false where the slice has no bounds. */
static bool print_index(struct formula_printer *p, const struct node *n) {
    struct str begin = node_attribute(n, "begin"), end = node_attribute(n, "end"), step = node_attribute(n, "step");
    if (op_table[n->op].class != OP_SLICE || !(begin.n || end.n || step.n))
        return false;
    print_node(p, n->args[0], P_WORD);
    buf_printf(p->out, "[..., %.*s:%.*s%s%.*s", (int)begin.n, begin.p, (int)end.n, end.p, step.n ? ":" : "",
               (int)step.n, step.p);
    for (int after = -1 - n->dim.axes[0]; after > 0; after--)
        buf_add(p->out, STR(", :"));
    buf_addc(p->out, ']');
    return true;
}

static void print_op(struct formula_printer *p, const struct node *n, enum binding_power outer) {
    const struct infix *sign = infix_of_node(n);
    if (!sign) {
        if (!print_index(p, n))
            print_call(p, op_table[n->op].name, n);
        return;
    }
    enum binding_power mine = sign->power;
    open_if(p, mine < outer);
    print_node(p, n->args[0], mine);
    buf_printf(p->out, " %s ", sign->sign);
    print_node(p, n->args[1], mine + 1);
    close_if(p, mine < outer);
}

static void print_optional(struct formula_printer *p, const struct node *n, enum binding_power outer) {
    enum binding_power mine = infix_of_node(n->args[0])->power;
    open_if(p, mine < outer);
    print_node(p, n->args[n->nargs - 1], mine);
    for (uint32_t i = 0; i + 1 < n->nargs; i++)
        buf_printf(p->out, "%s%s", i ? "|" : " [", infix_of_node(n->args[i])->sign);
    buf_addc(p->out, ' ');
    print_node(p, n->args[0]->args[1], mine + 1);
    buf_addc(p->out, ']');
    close_if(p, mine < outer);
}

static void print_either(struct formula_printer *p, const struct node *n, enum binding_power outer) {
    if (is_optional(n)) {
        print_optional(p, n, outer);
        return;
    }
    open_if(p, outer > P_EITHER);
    for (uint32_t i = 0; i < n->nargs; i++) {
        buf_add(p->out, i ? STR(" | ") : STR(""));
        print_node(p, n->args[i], P_EITHER);
    }
    close_if(p, outer > P_EITHER);
}

static void print_node(struct formula_printer *p, const struct node *n, enum binding_power outer) {
    if (p->out->n > p->enough)
        return;
    switch (n->kind) {
    case N_OP:
        print_op(p, n, outer);
        return;
    case N_EITHER:
        print_either(p, n, outer);
        return;
    case N_NUMBER:
        number_print_named(&(struct number_names){name_number, p}, n->number, outer, p->out);
        return;
    case N_TRANSPOSED:
        print_call(p, "transposed", n);
        return;
    case N_OUTER:
        print_call(p, "outer", n);
        return;
    case N_FUNCTION:
        buf_add(p->out, STR("function("));
        print_node(p, n->form, P_EITHER);
        buf_addc(p->out, ')');
        return;
    case N_REARRANGED:
        buf_add(p->out, STR("rearrange("));
        print_node(p, n->args[0], P_EITHER);
        buf_printf(p->out, ", \"%.*s\")", (int)n->order->text.n, n->order->text.p);
        return;
    case N_RESULT:
        buf_add(p->out, STR("result("));
        print_node(p, n->args[0], P_EITHER);
        buf_printf(p->out, ", %u)", n->result);
        return;
    case N_NAMED:
        if (!has_line(p, n->slot)) {
            print_node(p, n->args[0], outer);
            return;
        }
        print_name(p, n->slot);
        return;
    case N_VARIABLE:
        print_name(p, n->slot);
        return;
    }
}

/* A line and what it defines; alternatives that do not fit on one line stand below each other. */
static void print_line(struct formula_printer *p, const struct node *n) {
    const char *word = "";
    for (uint32_t i = 0; i < p->f->nsecondary; i++)
        if (p->f->also[i].node == n)
            word = p->f->also[i].optional ? "maybe " : "also ";
    const struct node *value = n->args[0];
    size_t begin = p->out->n;
    buf_printf(p->out, "%*s%s", (int)p->indent, "", word);
    print_name(p, n->slot);
    buf_add(p->out, STR(" = "));
    size_t head = p->out->n;
    print_node(p, value, P_EITHER);
    if (p->out->n - begin > WIDTH && value->kind == N_EITHER && !is_optional(value)) {
        p->out->n = head;
        for (uint32_t i = 0; i < value->nargs; i++) {
            if (i)
                buf_printf(p->out, "\n%*s| ", (int)(head - begin) - 2, "");
            print_node(p, value->args[i], P_EITHER);
        }
    }
    buf_addc(p->out, '\n');
}

/* The lines of all values that a node uses, in order of definition, then its own. */
static void print_with_uses(struct formula_printer *p, const struct node *n) {
    if (n->kind == N_NAMED && p->slots[n->slot].printed)
        return;
    if (n->kind == N_NAMED)
        p->slots[n->slot].printed = true;
    const struct node *const *all;
    const struct node *optional[2];
    uint32_t n_operands = printed_operands(n, &all, optional);
    for (uint32_t i = 0; i < n_operands; i++)
        print_with_uses(p, all[i]);
    if (n->kind == N_NAMED && has_line(p, n->slot))
        print_line(p, n);
}

static struct formula_printer *printer_new(const struct formula *f, struct buf *out) {
    struct formula_printer *p = xcalloc(1, sizeof *p);
    p->f = f;
    p->out = out;
    p->enough = SIZE_MAX;
    return p;
}

void formula_print(const struct formula *f, uint32_t indent, struct buf *out) {
    struct formula_printer *p = printer_new(f, out);
    p->indent = indent;
    count_uses(p, f->root);
    for (uint32_t i = 0; i < f->nsecondary; i++)
        count_uses(p, f->also[i].node);
    print_with_uses(p, f->root);
    for (uint32_t i = 0; i < f->nsecondary; i++)
        print_with_uses(p, f->also[i].node);
    free(p);
}

void formula_print_part(const struct formula *f, const struct node *part, size_t enough, struct buf *out) {
    struct formula_printer *p = printer_new(f, out);
    p->enough = enough;
    while (part->kind == N_NAMED && !f->slots[part->slot].name.n)
        part = part->args[0];
    print_node(p, part, P_EITHER);
    free(p);
}
