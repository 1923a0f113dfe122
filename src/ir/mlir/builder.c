/* Fills the arrays of a module. The text of the module is that of names and ops: spans are of it, so that attributes
 * are read as those of a parsed module are. */
#include "ir/mlir/builder.h"

#include "ir/mlir/scan.h"
#include "ir/mlir/tables.h"

#include <string.h>

/* ---- pieces ---- */

static struct span add_text(struct mlir *m, struct str text) {
    struct buf *out = &m->tables->built;
    uint32_t begin = (uint32_t)out->n;
    buf_add(out, text);
    return (struct span){begin, (uint32_t)out->n};
}

static uint32_t add_name(struct mlir *m, struct str text) {
    uint32_t id = sym_find(&m->tables->names, text);
    return id == NONE ? name_add(m, arena_str(&m->tables->arena, text)) : id;
}

uint32_t build_tensor(struct mlir *m, const int64_t *dims, uint32_t rank, enum dtype element) {
    const char *name = dtype_table[element].spelling;
    struct buf text = {0};
    if (!name)
        return NONE;
    buf_add(&text, STR("tensor<"));
    for (uint32_t d = 0; d < rank; d++) {
        buf_int(&text, dims[d]);
        buf_addc(&text, 'x');
    }
    buf_add(&text, str_of(name));
    buf_addc(&text, '>');
    uint32_t type = sym_find(&m->tables->types, buf_str(&text));
    if (type == NONE)
        type = type_add(m, arena_str(&m->tables->arena, buf_str(&text)));
    buf_free(&text);
    return type;
}

/* ---- the function ---- */

static struct mlir_func *built(struct mlir *m) {
    return &m->funcs[m->nfuncs - 1];
}

static uint32_t add_op(struct mlir *m, struct str name, uint32_t func) {
    uint32_t id = add_name(m, name);
    m->ops = grow(m->ops, &m->ops_cap, m->nops + 1, sizeof *m->ops);
    m->ops[m->nops] = (struct mlir_op){.name = id,
                                       .first_operand = m->noperands,
                                       .first_result = m->nvalues,
                                       .callee = NONE,
                                       .func = func,
                                       .parent = func == NONE ? NONE : m->funcs[func].op};
    return m->nops++;
}

void build_function(struct mlir *m, struct str function) {
    if (m->tables->built.n == 0)
        add_text(m, m->text);
    uint32_t op = add_op(m, STR("func.func"), NONE);
    m->funcs = grow(m->funcs, &m->funcs_cap, m->nfuncs + 1, sizeof *m->funcs);
    m->funcs[m->nfuncs++] = (struct mlir_func){.name = add_name(m, function),
                                               .op = op,
                                               .first_op = m->nops,
                                               .first_arg = m->nvalues,
                                               .first_arg_attr = m->narg_attrs,
                                               .complete = true,
                                               .module = NONE};
}

void build_begin(struct mlir *m, struct str function) {
    *m = (struct mlir){0};
    m->tables = tables_new();
    build_function(m, function);
}

uint32_t build_argument(struct mlir *m, struct str name, uint32_t type, struct str attributes) {
    struct span text = add_text(m, name);
    m->arg_attrs = grow(m->arg_attrs, &m->arg_attrs_cap, m->narg_attrs + 1, sizeof *m->arg_attrs);
    m->arg_attrs[m->narg_attrs++] = add_text(m, attributes);
    return value_add(m, (struct mlir_value){.type = type, .def = NONE, .index = built(m)->nargs++, .name = text});
}

static void add_operands(struct mlir *m, uint32_t op, const uint32_t *operands, uint32_t n) {
    m->operands = grow(m->operands, &m->operands_cap, m->noperands + n, sizeof *m->operands);
    if (n)
        memcpy(m->operands + m->noperands, operands, n * sizeof *operands);
    m->noperands += n;
    m->ops[op].noperands = n;
}

/* "%12": the value that comes next. */
static struct span add_number(struct mlir *m) {
    uint32_t begin = (uint32_t)m->tables->built.n;
    buf_addc(&m->tables->built, '%');
    buf_int(&m->tables->built, m->nvalues);
    return (struct span){begin, (uint32_t)m->tables->built.n};
}

uint32_t build_op(struct mlir *m, const struct new_op *new) {
    uint32_t id = add_op(m, new->name, m->nfuncs - 1);
    struct mlir_op *op = &m->ops[id];
    add_operands(m, id, new->operands, new->noperands);
    struct span name = add_number(m);
    op->text.begin = add_text(m, new->name).begin;
    add_text(m, STR(" <{"));
    op->props = add_text(m, new->props);
    op->text.end = add_text(m, STR("}>")).end;
    for (op->nresults = 0; op->nresults < new->nresults; op->nresults++)
        value_add(
            m, (struct mlir_value){.type = new->types[op->nresults], .def = id, .index = op->nresults, .name = name});
    return id;
}

uint32_t build_value(struct mlir *m, const char *op, struct str props, const uint32_t *operands, uint32_t n,
                     uint32_t type) {
    struct new_op new = {
        .name = str_of(op), .props = props, .operands = operands, .noperands = n, .types = &type, .nresults = 1};
    uint32_t made = build_op(m, &new); /* which may move the ops */
    return m->ops[made].first_result;
}

uint32_t build_cast(struct mlir *m, uint32_t x, uint32_t type) {
    return build_value(m, "ttir.typecast", STR(""), &x, 1, type);
}

void build_return(struct mlir *m, const uint32_t *values, uint32_t n) {
    add_operands(m, add_op(m, STR("func.return"), m->nfuncs - 1), values, n);
}

void build_end(struct mlir *m) {
    struct mlir_func *f = built(m);
    f->end_op = m->nops;
    m->ops[f->op].first_result = f->first_arg + f->nargs;
    m->text = buf_str(&m->tables->built);
    name_functions(m);
}

/* From the start of a text to behind the first of a character; all of it where there is none. */
static struct str to_first(struct str text, char c) {
    const char *at = text.n ? memchr(text.p, c, text.n) : NULL;
    return at ? (struct str){text.p, (size_t)(at - text.p) + 1} : text;
}

/* " : i32" behind the first number of a list, or behind a number. */
static struct str type_of_item(struct str text) {
    size_t from = 0, end;
    while (from < text.n && text.p[from] != ' ' && text.p[from] != ',' && text.p[from] != ']')
        from++;
    for (end = from; end < text.n && text.p[end] != ',' && text.p[end] != ']';)
        end++;
    return (struct str){text.p + from, end - from};
}

struct str ints_like(struct str like, const int64_t *list, uint32_t n, struct arena *a) {
    bool bracket = str_starts(like, STR("[")), shape = str_starts(like, STR("#"));
    bool number = n == 1 && !bracket && !shape && !str_starts(like, STR("array<"));
    struct str begin = STR("array<i64: "), between = STR(", "), type = STR(""), end = STR(">");
    struct buf out = {0};
    if (bracket || number) {
        begin = bracket ? STR("[") : STR("");
        end = bracket ? STR("]") : STR("");
        type = type_of_item(like);
    } else if (shape) {
        begin = to_first(like, '<');
        between = STR("x");
    } else if (n == 0) {
        begin = STR("array<i64");
    } else if (str_starts(like, STR("array<i32"))) {
        begin = STR("array<i32: ");
    }
    buf_add(&out, begin);
    for (uint32_t i = 0; i < n; i++) {
        buf_add(&out, i ? between : STR(""));
        buf_int(&out, list[i]);
        buf_add(&out, type);
    }
    buf_add(&out, end);
    return buf_take(&out, a);
}
