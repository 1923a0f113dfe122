/* Prints a module with one change. Attributes that number dimensions, or list something for each, follow a change of
 * rank; the result of an inserted op is %new, its second operand %other. */
#include <string.h>

#include "reduce/mutator.h"

enum { MAX_KEYS = 24, MAX_LIST = 16 };

uint32_t mutator_rank(const struct mutator *x, uint32_t value) {
    uint32_t rank;
    return graph_shape(x->g, value, &rank) ? rank : 0;
}

const char *mutator_dialect(const struct mutator *x) {
    return str_starts(mlir_op_name(x->m, x->f->end_op - 2), STR("ttnn.")) ? "ttnn" : "ttir";
}

/* ---- attributes ---- */

static void print_list(struct mutator *x, const int64_t *list, int n) {
    buf_addc(&x->out, '[');
    for (int i = 0; i < n; i++)
        buf_printf(&x->out, "%s%lld", i ? ", " : "", (long long)list[i]);
    buf_addc(&x->out, ']');
}

/* Dimensions are renumbered where they count from the front; negative ones count from the end. */
static void shift_dims(struct mutator *x, int64_t *list, int n, bool less) {
    for (int i = 0; i < n; i++) {
        x->impossible |= less && list[i] == 0;
        list[i] += list[i] < 0 ? 0 : less ? -1 : 1;
    }
}

/* Numbers of dimensions, all of them permuted, or a list with an entry for each, of which that of a new leading
 * dimension is 0, 1 or its extent. False: the attribute says nothing of the kind. */
static bool print_attr(struct mutator *x, uint32_t value, enum dims_role role, struct str text) {
    bool less = x->mu->change == CHANGE_NO_LEAD, axes = role == DIMS_AXIS, order = role == DIMS_ORDER;
    bool ones = role == DIMS_STEPS || role == DIMS_FACTORS, extents = role == DIMS_ENDS || role == DIMS_SHAPE;
    int64_t list[MAX_LIST + 1], one;
    int n = mlir_ints(text, list + 1, MAX_LIST);
    if (!axes && !order && !ones && !extents && role != DIMS_BEGINS)
        return false;
    if (axes && mlir_int(text, &one)) {
        shift_dims(x, &one, 1, less);
        buf_printf(&x->out, "%lld : i32", (long long)one);
        return true;
    }
    x->impossible |= n < 0 || n > MAX_LIST || (n == 0 && less);
    if (x->impossible)
        return true;
    if (order)
        x->impossible |= less && list[1] != 0;
    if (axes || order)
        shift_dims(x, list + 1 + (order && less), n - (order && less), less);
    list[0] = ones ? 1 : extents ? x->extent[value] : 0;
    int skipped = axes ? 1 : less ? 2 : 0;
    print_list(x, list + skipped, n + 1 - skipped);
    return true;
}

static void print_attrs(struct mutator *x, uint32_t op) {
    struct str keys[MAX_KEYS], values[MAX_KEYS];
    int n = mlir_attrs(x->m, op, keys, values, MAX_KEYS);
    uint32_t result = x->m->ops[op].first_result;
    x->impossible |= n > MAX_KEYS || (graph_class(x->g, op) == OP_REDUCE && n == 0);
    for (int i = 0; i < n && i < MAX_KEYS; i++) {
        const char *equals = values[i].n ? " = " : "";
        buf_printf(&x->out, "%s%.*s%s", i ? ", " : "", (int)keys[i].n, keys[i].p, equals);
        if (!print_attr(x, result, op_dims_role((enum op_kind)x->g->kind[op], keys[i]), values[i]))
            buf_add(&x->out, values[i]);
    }
}

/* ---- printing ---- */

static void print_type(struct mutator *x, uint32_t value) {
    struct str text = x->m->types[x->m->values[value].type].text, tensor = STR("tensor<");
    if (!x->leads[value] || !str_starts(text, tensor)) {
        buf_add(&x->out, text);
        return;
    }
    struct str rest = {text.p + tensor.n, text.n - tensor.n};
    buf_add(&x->out, tensor);
    if (x->mu->change != CHANGE_NO_LEAD)
        buf_printf(&x->out, "%lldx", (long long)x->extent[value]);
    else
        rest = (struct str){rest.p + 2, rest.n - 2}; /* "1x" */
    buf_add(&x->out, rest);
}

/* `replace`: users of the value at which an op is inserted take that op's result. */
static void print_name(struct mutator *x, uint32_t value, bool replace) {
    while (x->dropped != NONE && x->m->values[value].def == x->dropped)
        value = x->stand_in;
    const struct mlir_value *v = &x->m->values[value];
    struct str name = mlir_span(x->m, v->name);
    if (replace && value == x->at) {
        buf_add(&x->out, STR("%new"));
        return;
    }
    buf_add(&x->out, name);
    if (v->def != NONE && x->m->ops[v->def].nresults > 1)
        buf_printf(&x->out, "#%u", v->index);
}

static void print_new_type(struct mutator *x) {
    uint32_t rank;
    const int64_t *dims = graph_shape(x->g, x->at, &rank);
    buf_add(&x->out, STR("tensor<"));
    for (uint32_t d = 0; d < rank; d++) {
        bool kept = x->second == SECOND_FULL || (x->second == SECOND_ROW && d + 1 == rank);
        buf_printf(&x->out, "%lldx", (long long)(kept ? dims[d] : 1));
    }
    buf_printf(&x->out, "%s>", dtype_name(graph_dtype(x->g, x->at)));
}

/* A constant of 0.5. */
static void print_second_constant(struct mutator *x, const char *dialect) {
    buf_printf(&x->out, "  %%other = \"%s.full\"() <{fill_value = 0.5 : f32, shape = [", dialect);
    for (uint32_t d = 0; d < mutator_rank(x, x->at); d++)
        buf_printf(&x->out, "%s1", d ? ", " : "");
    buf_add(&x->out, STR("]}> : () -> "));
    print_new_type(x);
    buf_addc(&x->out, '\n');
}

static void print_new_op(struct mutator *x) {
    buf_printf(&x->out, "  %%new = \"%.*s\"(", (int)x->insert.n, x->insert.p);
    print_name(x, x->at, false);
    buf_add(&x->out, x->unary ? STR(") : (") : STR(", %other) : ("));
    print_type(x, x->at);
    if (!x->unary) {
        buf_add(&x->out, STR(", "));
        print_new_type(x);
    }
    buf_add(&x->out, STR(") -> "));
    print_type(x, x->at);
    buf_addc(&x->out, '\n');
}

static void print_types(struct mutator *x, const uint32_t *values, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        buf_add(&x->out, i ? STR(", ") : STR(""));
        print_type(x, values[i]);
    }
}

static void print_operands(struct mutator *x, uint32_t op) {
    const struct mlir_op *o = &x->m->ops[op];
    for (uint32_t i = 0; i < o->noperands; i++) {
        buf_add(&x->out, i ? STR(", ") : STR(""));
        print_name(x, x->m->operands[o->first_operand + i], true);
    }
}

static void print_op(struct mutator *x, uint32_t op) {
    const struct mlir_op *o = &x->m->ops[op];
    struct str name = mlir_op_name(x->m, op);
    const uint32_t *operands = x->m->operands + o->first_operand;
    if (graph_class(x->g, op) == OP_RETURN) {
        buf_add(&x->out, STR("  return "));
        print_operands(x, op);
        buf_add(&x->out, STR(" : "));
        print_types(x, operands, o->noperands);
        buf_addc(&x->out, '\n');
        return;
    }
    struct str result = mlir_span(x->m, x->m->values[o->first_result].name);
    buf_printf(&x->out, "  %.*s", (int)result.n, result.p);
    if (o->nresults > 1)
        buf_printf(&x->out, ":%u", o->nresults);
    buf_printf(&x->out, " = \"%.*s\"(", (int)name.n, name.p);
    print_operands(x, op);
    buf_add(&x->out, STR(") <{"));
    if (x->leads[o->first_result])
        print_attrs(x, op);
    else
        buf_add(&x->out, mlir_span(x->m, o->props));
    buf_add(&x->out, STR("}> : ("));
    print_types(x, operands, o->noperands);
    buf_add(&x->out, o->nresults > 1 ? STR(") -> (") : STR(") -> "));
    for (uint32_t r = 0; r < o->nresults; r++) {
        buf_add(&x->out, r ? STR(", ") : STR(""));
        print_type(x, o->first_result + r);
    }
    buf_add(&x->out, o->nresults > 1 ? STR(")\n") : STR("\n"));
}

static void print_arguments(struct mutator *x) {
    for (uint32_t i = 0; i < x->f->nargs; i++) {
        struct str attr = mlir_span(x->m, x->m->arg_attrs[x->f->first_arg_attr + i]);
        buf_add(&x->out, i ? STR(", ") : STR(""));
        buf_add(&x->out, mlir_span(x->m, x->m->values[x->f->first_arg + i].name));
        buf_add(&x->out, STR(": "));
        print_type(x, x->f->first_arg + i);
        if (attr.n)
            buf_printf(&x->out, " {%.*s}", (int)attr.n, attr.p);
    }
    if (x->at == NONE || x->unary || x->second == SECOND_CONSTANT)
        return;
    buf_add(&x->out, x->f->nargs ? STR(", %other: ") : STR("%other: "));
    print_new_type(x);
    if (x->parameter)
        buf_add(&x->out, STR(" {ttcore.argument_type = #ttcore.argument_type<parameter>}"));
}

/* Moves the lines from one on. */
static void move_lines(struct printed_module *w, uint32_t n, uint32_t from, int by) {
    for (uint32_t i = 0; i < n; i++)
        if (w->line[i] != NONE && w->line[i] >= from)
            w->line[i] = (uint32_t)((int)w->line[i] + by);
}

static void note_lines(struct mutator *x, const struct subgraph *s, struct printed_module *w, bool constant) {
    uint32_t put = x->at == NONE ? NONE : x->m->values[x->at].def, gone = x->dropped - x->f->first_op;
    if (x->at != NONE) {
        x->mu->added = (put == NONE ? 0 : put + 1 - x->f->first_op) + constant;
        move_lines(w, s->nops, 0, constant);
        move_lines(w, s->nops, x->mu->added, 1);
    }
    for (uint32_t i = 0; i < s->nops && x->dropped != NONE; i++)
        w->line[i] = w->line[i] == gone ? NONE : w->line[i];
    if (x->dropped != NONE)
        move_lines(w, s->nops, gone, -1);
}

void mutator_print(struct mutator *x, const struct subgraph *s, struct printed_module *w) {
    uint32_t put = x->at == NONE ? NONE : x->m->values[x->at].def;
    bool constant = x->at != NONE && !x->unary && x->second == SECOND_CONSTANT;
    note_lines(x, s, w, constant);
    buf_add(&x->out, STR("func.func @part("));
    print_arguments(x);
    buf_add(&x->out, STR(") {\n"));
    if (constant)
        print_second_constant(x, mutator_dialect(x));
    if (x->at != NONE && put == NONE)
        print_new_op(x);
    for (uint32_t op = x->f->first_op; op < x->f->end_op; op++) {
        if (op != x->dropped)
            print_op(x, op);
        if (op == put && x->at != NONE)
            print_new_op(x);
    }
    buf_add(&x->out, STR("}\n"));
}
