/* Conditions and numbers as text again, as they are written or with the numbers of a match in them. */
#include "lang/printer.h"

enum power { P_OR, P_AND, P_COMPARISON, P_SUM, P_PRODUCT, P_WORD };

static const struct {
    const char *text;
    enum power power;
} signs[] = {
    [NUM_OR] = {"|", P_OR},          [NUM_AND] = {"&", P_AND},        [NUM_EQ] = {"==", P_COMPARISON},
    [NUM_NE] = {"!=", P_COMPARISON}, [NUM_LT] = {"<", P_COMPARISON},  [NUM_LE] = {"<=", P_COMPARISON},
    [NUM_GT] = {">", P_COMPARISON},  [NUM_GE] = {">=", P_COMPARISON}, [NUM_ADD] = {"+", P_SUM},
    [NUM_SUB] = {"-", P_SUM},        [NUM_MUL] = {"*", P_PRODUCT},    [NUM_DIV] = {"/", P_PRODUCT},
    [NUM_MOD] = {"%", P_PRODUCT},    [NUM_CALL] = {NULL, P_WORD},
};

struct number_writer {
    const struct formula *f;
    const struct number_values *v; /* or NULL */
    struct buf *out;
};

/* From the name of a call to its closing parenthesis; the text that it was read from is still there. */
static void write_call(struct buf *out, struct str name) {
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

static void write_extent(const struct number_writer *w, const struct number *n) {
    buf_add(w->out, STR("extent("));
    if (n->slot != NONE) {
        buf_add(w->out, w->f->slot_name[n->slot].n ? w->f->slot_name[n->slot] : STR("it"));
        buf_add(w->out, STR(", "));
    }
    buf_printf(w->out, "%d)", n->axis);
}

static bool is_value(const struct number *n) {
    return n->op == NUM_EXTENT || n->op == NUM_VALUE_OF || n->op == NUM_MEASURE;
}

static void write(const struct number_writer *w, const struct number *n, enum power outer);

static void write_function(const struct number_writer *w, const char *name, const struct number *n) {
    buf_printf(w->out, "%s(", name);
    write(w, n->a, P_OR);
    buf_addc(w->out, ')');
}

static void write_infix(const struct number_writer *w, const struct number *n, enum power outer) {
    enum power mine = signs[n->op].power;
    if (mine < outer)
        buf_addc(w->out, '(');
    write(w, n->a, mine);
    buf_printf(w->out, " %s ", signs[n->op].text);
    write(w, n->b, mine + 1);
    if (mine < outer)
        buf_addc(w->out, ')');
}

static void write(const struct number_writer *w, const struct number *n, enum power outer) {
    if (n->op == NUM_VALUE || (w->v && is_value(n)))
        buf_printf(w->out, "%.10g", w->v ? w->v->value(w->v->self, n) : n->value);
    else if (n->op == NUM_EXTENT)
        write_extent(w, n);
    else if (n->op == NUM_NEG) {
        buf_addc(w->out, '-');
        write(w, n->a, P_WORD);
    } else if (n->op == NUM_SQRT || n->op == NUM_NOT)
        write_function(w, n->op == NUM_SQRT ? "sqrt" : "not", n);
    else if (signs[n->op].text)
        write_infix(w, n, outer);
    else
        write_call(w->out, n->text);
}

void number_print(const struct formula *f, const struct number_values *v, const struct number *n, struct buf *out) {
    struct number_writer w = {f, v, out};
    write(&w, n, P_OR);
}

bool number_has_values(const struct number *n) {
    return n && n->op != NUM_CALL && (is_value(n) || number_has_values(n->a) || number_has_values(n->b));
}
