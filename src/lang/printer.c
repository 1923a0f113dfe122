/* Shared values get a line of their own, so the text has the size of the formula and not of all its
 * expansions. Parts that an idiom uses twice and that have no name there are called t1, t2 and so on. */
#include "lang/printer.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100 };

/* How tightly a piece of text holds together. */
enum binding_power { P_EITHER, P_COMPARISON, P_SUM, P_PRODUCT, P_WORD };

struct shared_value {
    const struct node *node;
    uint32_t uses;
    bool written;
};

struct writer {
    const struct formula *f;
    struct buf *out;
    uint32_t indent, ntemporaries;
    struct shared_value slots[MAX_SLOTS];
    uint32_t same_as[MAX_SLOTS];   /* the first slot that is known to say the same */
    uint32_t temporary[MAX_SLOTS]; /* number of a slot without a name; 0: none yet */
};

static const struct {
    enum op_kind op;
    enum number_op number;
    const char *sign;
    enum binding_power power;
} signs[] = {
    {K_ADD, NUM_ADD, "+", P_SUM},        {K_SUBTRACT, NUM_SUB, "-", P_SUM},      {K_MULTIPLY, NUM_MUL, "*", P_PRODUCT},
    {K_DIVIDE, NUM_DIV, "/", P_PRODUCT}, {K_REMAINDER, NUM_MOD, "%", P_PRODUCT}, {K_EQ, NUM_EQ, "==", P_COMPARISON},
    {K_NE, NUM_NE, "!=", P_COMPARISON},  {K_LT, NUM_LT, "<", P_COMPARISON},      {K_LE, NUM_LE, "<=", P_COMPARISON},
    {K_GT, NUM_GT, ">", P_COMPARISON},   {K_GE, NUM_GE, ">=", P_COMPARISON},
};

enum { NSIGNS = sizeof signs / sizeof *signs };

/* Index in `signs`; NSIGNS for what is written as a call. */
static int sign_of_node(const struct node *n) {
    int i = 0;
    while (i < NSIGNS && (n->kind != N_OP || n->nargs != 2 || n->nattrs || n->dim.given || signs[i].op != n->op))
        i++;
    return i;
}

static int sign_of_number(const struct number *n) {
    int i = 0;
    while (i < NSIGNS && signs[i].number != n->op)
        i++;
    return i;
}

/* ---- the same thing twice ---- */

static bool same_number(const struct number *a, const struct number *b) {
    if (!a || !b)
        return a == b;
    return a->op == b->op && a->value == b->value && a->slot == b->slot && a->axis == b->axis &&
           same_number(a->a, b->a) && same_number(a->b, b->b);
}

static bool same_node(struct writer *w, const struct node *a, const struct node *b);

/* Values without a name are the same when they say the same. */
static bool same_value(struct writer *w, const struct node *a, const struct node *b) {
    uint32_t *first = &w->same_as[a->slot], *second = &w->same_as[b->slot];
    bool nameless = !w->f->slot_name[a->slot].n && !w->f->slot_name[b->slot].n;
    if (*first == *second)
        return true;
    if (!nameless || !same_node(w, a->args[0], b->args[0]))
        return false;
    *second = *first;
    return true;
}

static bool same_node(struct writer *w, const struct node *a, const struct node *b) {
    if (a == b)
        return true;
    if (a->kind == N_NAMED && b->kind == N_NAMED)
        return same_value(w, a, b);
    if (a->kind != b->kind || a->op != b->op || a->nargs != b->nargs || a->nattrs || b->nattrs || a->slot != b->slot ||
        a->dim.given != b->dim.given || a->dim.axis != b->dim.axis || !same_number(a->number, b->number))
        return false;
    for (uint32_t i = 0; i < a->nargs; i++)
        if (!same_node(w, a->args[i], b->args[i]))
            return false;
    return true;
}

/* x + y | x - y | x, which is written x [+|- y]. */
static bool is_optional(struct writer *w, const struct node *n) {
    if (n->kind != N_EITHER || n->nargs < 2)
        return false;
    const struct node *without = n->args[n->nargs - 1], *first = n->args[0];
    for (uint32_t i = 0; i + 1 < n->nargs; i++) {
        const struct node *with = n->args[i];
        int sign = sign_of_node(with);
        if (sign == NSIGNS || signs[sign].power < P_SUM || signs[sign].power != signs[sign_of_node(first)].power ||
            !same_node(w, with->args[0], without) || !same_node(w, with->args[1], first->args[1]))
            return false;
    }
    return true;
}

/* The parts that are written; of an optional part what it is added to, and itself. */
static uint32_t parts(struct writer *w, const struct node *n, const struct node *const **out,
                      const struct node *optional[2]) {
    *out = (const struct node *const *)n->args;
    if (!is_optional(w, n))
        return n->nargs;
    optional[0] = n->args[n->nargs - 1];
    optional[1] = n->args[0]->args[1];
    *out = optional;
    return 2;
}

/* ---- which values are shared ---- */

static void count(struct writer *w, const struct node *n) {
    if (n->kind == N_NAMED) {
        struct shared_value *v = &w->slots[n->slot];
        v->node = n;
        if (v->uses++ > 0)
            return;
    }
    const struct node *const *all;
    const struct node *optional[2];
    uint32_t nparts = parts(w, n, &all, optional);
    for (uint32_t i = 0; i < nparts; i++)
        count(w, all[i]);
}

/* A named value that stands on a line of its own; the others are written where they are used. */
static bool has_line(const struct writer *w, uint32_t slot) {
    return w->f->slot_name[slot].n || w->slots[slot].uses > 1;
}

/* ---- text ---- */

static void open_if(struct writer *w, bool needed) {
    if (needed)
        buf_addc(w->out, '(');
}
static void close_if(struct writer *w, bool needed) {
    if (needed)
        buf_addc(w->out, ')');
}

static void write_name(struct writer *w, uint32_t slot) {
    struct str name = w->f->slot_name[slot];
    if (name.n) {
        buf_add(w->out, name);
        return;
    }
    if (!w->temporary[slot])
        w->temporary[slot] = ++w->ntemporaries;
    buf_printf(w->out, "t%u", w->temporary[slot]);
}

static void write_number(struct writer *w, const struct number *n, enum binding_power outer) {
    int sign = sign_of_number(n);
    if (sign < NSIGNS) {
        enum binding_power mine = signs[sign].power;
        open_if(w, mine < outer);
        write_number(w, n->a, mine);
        buf_printf(w->out, " %s ", signs[sign].sign);
        write_number(w, n->b, mine + 1);
        close_if(w, mine < outer);
    } else if (n->op == NUM_NEG) {
        buf_addc(w->out, '-');
        write_number(w, n->a, P_WORD);
    } else if (n->op == NUM_SQRT) {
        buf_add(w->out, STR("sqrt("));
        write_number(w, n->a, P_EITHER);
        buf_addc(w->out, ')');
    } else if (n->op == NUM_EXTENT) {
        buf_add(w->out, STR("extent("));
        if (n->slot != NONE) {
            write_name(w, n->slot);
            buf_add(w->out, STR(", "));
        }
        buf_printf(w->out, "%d)", n->axis);
    } else {
        buf_printf(w->out, "%.10g", n->value);
    }
}

static void write_node(struct writer *w, const struct node *n, enum binding_power outer);

static void write_call(struct writer *w, const char *name, const struct node *n) {
    const char *separator = "";
    buf_printf(w->out, "%s(", name);
    for (uint32_t i = 0; i < n->nargs; i++) {
        buf_add(w->out, str_of(separator));
        write_node(w, n->args[i], P_EITHER);
        separator = ", ";
    }
    if (n->dim.given)
        buf_printf(w->out, "%sdim=%d", separator, n->dim.axis);
    for (uint32_t i = 0; i < n->nattrs; i++) {
        const struct attr_spec *a = &n->attrs[i];
        buf_printf(w->out, "%s%s=%.*s", n->dim.given || i ? ", " : separator, a->key, (int)a->value.n, a->value.p);
    }
    buf_addc(w->out, ')');
}

static void write_op(struct writer *w, const struct node *n, enum binding_power outer) {
    int sign = sign_of_node(n);
    if (sign == NSIGNS) {
        write_call(w, op_table[n->op].name, n);
        return;
    }
    enum binding_power mine = signs[sign].power;
    open_if(w, mine < outer);
    write_node(w, n->args[0], mine);
    buf_printf(w->out, " %s ", signs[sign].sign);
    write_node(w, n->args[1], mine + 1);
    close_if(w, mine < outer);
}

static void write_optional(struct writer *w, const struct node *n, enum binding_power outer) {
    enum binding_power mine = signs[sign_of_node(n->args[0])].power;
    open_if(w, mine < outer);
    write_node(w, n->args[n->nargs - 1], mine);
    for (uint32_t i = 0; i + 1 < n->nargs; i++)
        buf_printf(w->out, "%s%s", i ? "|" : " [", signs[sign_of_node(n->args[i])].sign);
    buf_addc(w->out, ' ');
    write_node(w, n->args[0]->args[1], mine + 1);
    buf_addc(w->out, ']');
    close_if(w, mine < outer);
}

static void write_either(struct writer *w, const struct node *n, enum binding_power outer) {
    if (is_optional(w, n)) {
        write_optional(w, n, outer);
        return;
    }
    open_if(w, outer > P_EITHER);
    for (uint32_t i = 0; i < n->nargs; i++) {
        buf_add(w->out, i ? STR(" | ") : STR(""));
        write_node(w, n->args[i], P_EITHER);
    }
    close_if(w, outer > P_EITHER);
}

static void write_node(struct writer *w, const struct node *n, enum binding_power outer) {
    switch (n->kind) {
    case N_OP:
        write_op(w, n, outer);
        return;
    case N_EITHER:
        write_either(w, n, outer);
        return;
    case N_NUMBER:
        buf_add(w->out, n->given ? STR("given(") : STR(""));
        write_number(w, n->number, n->given ? P_EITHER : outer);
        close_if(w, n->given);
        return;
    case N_TRANSPOSED:
        write_call(w, "transposed", n);
        return;
    case N_OUTER:
        write_call(w, "outer", n);
        return;
    case N_RESULT:
        buf_add(w->out, STR("result("));
        write_node(w, n->args[0], P_EITHER);
        buf_printf(w->out, ", %u)", n->result);
        return;
    case N_NAMED:
        if (!has_line(w, n->slot)) {
            write_node(w, n->args[0], outer);
            return;
        }
        write_name(w, n->slot);
        return;
    case N_VARIABLE:
        write_name(w, n->slot);
        return;
    }
}

/* Alternatives that do not fit on one line stand below each other. */
static void write_line(struct writer *w, const struct node *n) {
    const char *word = "";
    for (uint32_t i = 0; i < w->f->nsecondary; i++)
        if (w->f->also[i].node == n)
            word = w->f->also[i].optional ? "maybe " : "also ";
    const struct node *value = n->args[0];
    size_t begin = w->out->n;
    buf_printf(w->out, "%*s%s", (int)w->indent, "", word);
    write_name(w, n->slot);
    buf_add(w->out, STR(" = "));
    size_t head = w->out->n;
    write_node(w, value, P_EITHER);
    if (w->out->n - begin > WIDTH && value->kind == N_EITHER && !is_optional(w, value)) {
        w->out->n = head;
        for (uint32_t i = 0; i < value->nargs; i++) {
            if (i)
                buf_printf(w->out, "\n%*s| ", (int)(head - begin) - 2, "");
            write_node(w, value->args[i], P_EITHER);
        }
    }
    buf_addc(w->out, '\n');
}

/* What a line needs stands before it. */
static void write_lines(struct writer *w, const struct node *n) {
    if (n->kind == N_NAMED && w->slots[n->slot].written)
        return;
    if (n->kind == N_NAMED)
        w->slots[n->slot].written = true;
    const struct node *const *all;
    const struct node *optional[2];
    uint32_t nparts = parts(w, n, &all, optional);
    for (uint32_t i = 0; i < nparts; i++)
        write_lines(w, all[i]);
    if (n->kind == N_NAMED && has_line(w, n->slot))
        write_line(w, n);
}

static struct writer *writer_new(const struct formula *f, struct buf *out) {
    struct writer *w = xcalloc(1, sizeof *w);
    w->f = f;
    w->out = out;
    for (uint32_t i = 0; i < MAX_SLOTS; i++)
        w->same_as[i] = i;
    return w;
}

void formula_print(const struct formula *f, uint32_t indent, struct buf *out) {
    struct writer *w = writer_new(f, out);
    w->indent = indent;
    count(w, f->root);
    for (uint32_t i = 0; i < f->nsecondary; i++)
        count(w, f->also[i].node);
    write_lines(w, f->root);
    for (uint32_t i = 0; i < f->nsecondary; i++)
        write_lines(w, f->also[i].node);
    free(w);
}

void formula_print_part(const struct formula *f, const struct node *part, struct buf *out) {
    struct writer *w = writer_new(f, out);
    while (part->kind == N_NAMED && !f->slot_name[part->slot].n)
        part = part->args[0];
    write_node(w, part, P_EITHER);
    free(w);
}
