/* A function of straight-line ops in the generic form, one op a line. */
#include "ir/mlir/print.h"

static void key_numbers(struct buf *out, const uint32_t *numbers, size_t n) {
    buf_add(out, (struct str){(const char *)numbers, n * sizeof *numbers});
}

static void key_text(struct buf *out, struct str text) {
    key_numbers(out, (const uint32_t[]){(uint32_t)text.n}, 1);
    buf_add(out, text);
}

struct str mlir_key(const struct mlir *m, struct arena *a) {
    struct buf out = {0};
    key_numbers(&out, (const uint32_t[]){m->funcs[0].nargs, m->nops, m->nvalues, m->ntypes}, 4);
    for (uint32_t i = 0; i < m->narg_attrs; i++)
        key_text(&out, mlir_span(m, m->arg_attrs[i]));
    for (uint32_t i = 0; i < m->nops; i++) {
        key_numbers(&out, (const uint32_t[]){m->ops[i].noperands, m->ops[i].nresults}, 2);
        key_text(&out, mlir_op_name(m, i));
        key_text(&out, mlir_span(m, m->ops[i].props));
    }
    key_numbers(&out, m->operands, m->noperands);
    for (uint32_t i = 0; i < m->nvalues; i++)
        key_numbers(&out, &m->values[i].type, 1);
    for (uint32_t i = 0; i < m->ntypes; i++)
        key_text(&out, m->types[i].text);
    return buf_take(&out, a);
}

/* How many results of its op have its name, and which of these it is. */
static uint32_t count_of_name(const struct mlir *m, uint32_t value, uint32_t *number) {
    const struct mlir_op *o = m->values[value].def == NONE ? NULL : &m->ops[m->values[value].def];
    uint32_t n = 0;
    for (uint32_t i = 0; o && i < o->nresults; i++) {
        if (o->first_result + i == value)
            *number = n;
        n += str_eq(mlir_span(m, m->values[o->first_result + i].name), mlir_span(m, m->values[value].name));
    }
    return n;
}

static void print_value(const struct mlir *m, uint32_t value, struct buf *out) {
    uint32_t number = 0;
    buf_add(out, mlir_span(m, m->values[value].name));
    if (count_of_name(m, value, &number) > 1)
        buf_printf(out, "#%u", number);
}

struct str mlir_value_text(const struct mlir *m, uint32_t value, struct arena *a) {
    struct buf text = {0};
    print_value(m, value, &text);
    return buf_take(&text, a);
}

static void print_values(const struct mlir *m, const uint32_t *values, uint32_t n, struct buf *out) {
    for (uint32_t i = 0; i < n; i++) {
        buf_add(out, i ? STR(", ") : STR(""));
        print_value(m, values[i], out);
    }
}

static void print_types(const struct mlir *m, const uint32_t *values, uint32_t n, struct buf *out) {
    for (uint32_t i = 0; i < n; i++) {
        buf_add(out, i ? STR(", ") : STR(""));
        buf_add(out, m->types[m->values[values[i]].type].text);
    }
}

static void print_arguments(const struct mlir *m, const struct mlir_func *f, struct buf *out) {
    for (uint32_t i = 0; i < f->nargs; i++) {
        uint32_t value = f->first_arg + i;
        struct str attributes = mlir_span(m, m->arg_attrs[f->first_arg_attr + i]);
        buf_add(out, i ? STR(", ") : STR(""));
        print_value(m, value, out);
        buf_add(out, STR(": "));
        print_types(m, &value, 1, out);
        if (attributes.n)
            buf_printf(out, " {%.*s}", (int)attributes.n, attributes.p);
    }
}

static void print_op(const struct mlir *m, uint32_t op, struct str location, struct buf *out) {
    const struct mlir_op *o = &m->ops[op];
    struct str name = mlir_op_name(m, op), props = mlir_span(m, o->props);
    const uint32_t *operands = m->operands + o->first_operand;
    buf_add(out, STR("  "));
    for (uint32_t i = 0, number = 0; i < o->nresults; i++) {
        uint32_t n = count_of_name(m, o->first_result + i, &number);
        if (number > 0)
            continue;
        buf_add(out, i ? STR(", ") : STR(""));
        buf_add(out, mlir_span(m, m->values[o->first_result + i].name));
        if (n > 1)
            buf_printf(out, ":%u", n);
    }
    buf_printf(out, "%s\"%.*s\"(", o->nresults ? " = " : "", (int)name.n, name.p);
    print_values(m, operands, o->noperands, out);
    buf_addc(out, ')');
    if (props.n)
        buf_printf(out, " <{%.*s}>", (int)props.n, props.p);
    buf_add(out, STR(" : ("));
    print_types(m, operands, o->noperands, out);
    buf_add(out, o->nresults == 1 ? STR(") -> ") : STR(") -> ("));
    for (uint32_t i = o->first_result; i < o->first_result + o->nresults; i++) {
        buf_add(out, i > o->first_result ? STR(", ") : STR(""));
        print_types(m, &i, 1, out);
    }
    buf_add(out, o->nresults == 1 ? STR("") : STR(")"));
    if (location.n)
        buf_printf(out, " loc(%.*s)", (int)location.n, location.p);
    buf_addc(out, '\n');
}

void mlir_print_func(const struct mlir *m, uint32_t func, struct str name, const struct str *locations,
                     struct buf *out) {
    const struct mlir_func *f = &m->funcs[func];
    const struct mlir_op *end = &m->ops[f->end_op - 1]; /* the return */
    const uint32_t *returned = m->operands + end->first_operand;
    buf_printf(out, "func.func @%.*s(", (int)name.n, name.p);
    print_arguments(m, f, out);
    buf_add(out, STR(") -> ("));
    print_types(m, returned, end->noperands, out);
    buf_add(out, STR(") {\n"));
    for (uint32_t op = f->first_op; op + 1 < f->end_op; op++)
        print_op(m, op, locations ? locations[op] : STR(""), out);
    buf_add(out, STR("  return "));
    print_values(m, returned, end->noperands, out);
    buf_add(out, STR(" : "));
    print_types(m, returned, end->noperands, out);
    buf_add(out, STR("\n}\n"));
}

void mlir_print(const struct mlir *m, const struct str *locations, struct buf *out) {
    mlir_print_func(m, 0, m->names[m->funcs[0].name], locations, out);
}
