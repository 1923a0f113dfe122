/* Functions, their arguments and block labels. */
#include "mlir/parser.h"

#include <string.h>

/* A function with a body wins over a declaration of the same name, else the first one. */
void name_functions(struct mlir *m) {
    struct mlir_tables *t = m->tables;
    t->nfunc_of_name = m->nnames;
    t->func_of_name = xrealloc(t->func_of_name, (m->nnames + (size_t)1) * sizeof *t->func_of_name);
    memset(t->func_of_name, 0xff, (m->nnames + (size_t)1) * sizeof *t->func_of_name);
    for (uint32_t f = 0; f < m->nfuncs; f++) {
        uint32_t *known = &t->func_of_name[m->funcs[f].name];
        if (*known == NONE || (m->funcs[*known].declaration && !m->funcs[f].declaration))
            *known = f;
    }
}

uint32_t mlir_find_func(const struct mlir *m, uint32_t name) {
    return name < m->tables->nfunc_of_name ? m->tables->func_of_name[name] : NONE;
}

uint32_t func_begin(struct ir_parser *p, uint32_t op, struct str name) {
    struct mlir *m = p->m;
    uint32_t id = parse_name(p, name), func = m->nfuncs;
    m->funcs = grow(m->funcs, &m->funcs_cap, func + 1, sizeof *m->funcs);
    m->funcs[m->nfuncs++] = (struct mlir_func){.name = id,
                                               .op = op,
                                               .first_op = m->nops,
                                               .end_op = m->nops,
                                               .first_arg = m->nvalues,
                                               .first_arg_attr = m->narg_attrs,
                                               .declaration = true,
                                               .complete = true,
                                               .in_cpu_module = p->in_cpu_module,
                                               .module = p->module};
    return func;
}

static void define_args(struct ir_parser *p, uint32_t first, uint32_t n) {
    struct name_ref r;
    for (uint32_t i = first; i < first + n; i++) {
        struct span name = p->m->values[i].name;
        if (name.end > name.begin && scope_name(p, p->begin + name.begin, &r))
            scope_define(p, r, i, 1);
    }
}

bool func_body(struct ir_parser *p, uint32_t op, uint32_t func, bool generic) {
    struct mlir *m = p->m;
    uint32_t outer = p->func;
    bool outer_wanted = p->args_wanted, outer_blocks = p->several_blocks;
    struct name_scope s;
    scope_enter(p, &s, true);
    p->func = func;
    p->args_wanted = generic;
    p->several_blocks = false;
    define_args(p, m->funcs[func].first_arg, m->funcs[func].nargs);
    m->funcs[func].first_op = m->nops;
    bool closed = parse_body(p, op);
    scope_leave(p, &s);
    m->funcs[func].end_op = m->nops;
    m->funcs[func].complete = closed;
    m->funcs[func].declaration = closed && generic && m->nops == m->funcs[func].first_op;
    p->func = outer;
    p->args_wanted = outer_wanted;
    p->several_blocks = outer_blocks;
    return closed;
}

/* The next argument of a list, in mlir.arg_attrs beside mlir.values. */
static void add_arg(struct mlir *m, struct mlir_value v, struct span attrs) {
    value_add(m, v);
    m->arg_attrs = grow(m->arg_attrs, &m->arg_attrs_cap, m->narg_attrs + 1, sizeof *m->arg_attrs);
    m->arg_attrs[m->narg_attrs++] = attrs;
}

/* A function without a body has no block whose arguments could be its own. */
static void declared_args(struct ir_parser *p, struct mlir_func *f, struct str type) {
    const char *at = type.p + 1, *end = type.n && *type.p == '(' ? scan_balanced(type.p, type.p + type.n) : NULL;
    struct str item;
    f->first_arg = p->m->nvalues;
    f->first_arg_attr = p->m->narg_attrs;
    for (; end && scan_item(&at, end - 1, &item) && item.n; f->nargs++)
        add_arg(p->m, (struct mlir_value){.type = type_add(p->m, item), .def = NONE, .index = f->nargs},
                (struct span){0});
}

void func_attributes(struct ir_parser *p, uint32_t op, uint32_t func) {
    struct mlir *m = p->m;
    struct mlir_func *f = &m->funcs[func];
    struct str value, name, dict;
    f->attributes = m->ops[op].attrs;
    if (mlir_attr(m, op, "sym_name", &value) && mlir_string(value, &name))
        f->name = parse_name(p, name);
    if (f->declaration && mlir_attr(m, op, "function_type", &value))
        declared_args(p, f, value);
    if (!mlir_attr(m, op, "arg_attrs", &value) || value.n < 2 || *value.p != '[')
        return;
    const char *at = value.p + 1, *end = value.p + value.n - 1;
    for (uint32_t i = 0; i < f->nargs && scan_item(&at, end, &dict); i++)
        if (dict.n > 2 && *dict.p == '{')
            m->arg_attrs[f->first_arg_attr + i] = parse_span(p, dict.p + 1, dict.p + dict.n - 1);
}

/* "%a: type {attrs} loc(..)", or without the name. */
static bool read_arg(struct ir_parser *p, struct mlir_value *v, struct span *attrs) {
    struct span loc;
    struct value_use arg = {0};
    parse_space(p);
    if (parse_peek(p) == '%' && (!read_use(p, &arg) || !parse_accept(p, ':')))
        return parse_fail(p, p->p, "expected ':' after the name of an argument");
    v->name = arg.name;
    if (!read_type(p, &v->type))
        return false;
    if (parse_at(p, '{')) {
        const char *q = scan_balanced(p->p, p->end);
        if (!q)
            return parse_fail(p, p->p, "attributes of an argument are not closed");
        *attrs = parse_span(p, p->p + 1, q - 1);
        p->p = q;
    }
    return read_loc(p, &loc);
}

/* Arguments up to ')'. Values are added, names are not defined yet. */
static bool read_args(struct ir_parser *p, uint32_t *nargs) {
    struct mlir *m = p->m;
    *nargs = 0;
    if (parse_accept(p, ')'))
        return true;
    do {
        struct mlir_value v = {.def = NONE, .index = *nargs};
        struct span attrs = {0};
        if (!read_arg(p, &v, &attrs))
            return false;
        add_arg(m, v, attrs);
        ++*nargs;
    } while (parse_accept(p, ','));
    return parse_accept(p, ')') || parse_fail(p, p->p, "arguments are not closed");
}

/* "-> type" or "-> (types with attributes)": of no use here, the returned values have their own types. */
static bool skip_result_types(struct ir_parser *p) {
    parse_space(p);
    if (p->end - p->p < 2 || p->p[0] != '-' || p->p[1] != '>')
        return true;
    p->p = scan_space(p->p + 2, p->end);
    const char *q = parse_peek(p) == '(' ? scan_balanced(p->p, p->end) : scan_type(p->p, p->end);
    if (!q || q == p->p)
        return parse_fail(p, p->p, "expected the result types of a function");
    p->p = q;
    return true;
}

static bool read_func_attributes(struct ir_parser *p, uint32_t op, uint32_t func) {
    if (!parse_word(p, "attributes"))
        return true;
    if (!read_attrs(p, op))
        return false;
    p->m->funcs[func].attributes = p->m->ops[op].attrs;
    return true;
}

/* After "func.func". */
bool parse_func(struct ir_parser *p, uint32_t op) {
    struct mlir *m = p->m;
    struct str name;
    uint32_t nargs, first_arg = m->nvalues, first_attr = m->narg_attrs;
    (void)(parse_word(p, "private") || parse_word(p, "nested") || parse_word(p, "public"));
    if (!read_symbol(p, &name))
        return false;
    if (!parse_accept(p, '('))
        return parse_fail(p, p->p, "expected the arguments of a function");
    if (!read_args(p, &nargs) || !skip_result_types(p))
        return false;
    uint32_t func = func_begin(p, op, name);
    m->funcs[func].first_arg = first_arg;
    m->funcs[func].nargs = nargs;
    m->funcs[func].first_arg_attr = first_attr;
    p->ntypes = 0;
    set_results(p, op, 0);
    if (!read_func_attributes(p, op, func))
        return false;
    const char *at = p->p;
    if (!parse_at(p, '{'))
        return read_loc(p, &m->ops[op].loc);
    m->ops[op].text.end = (uint32_t)(at - p->begin);
    return !func_body(p, op, func, false) || read_loc(p, &m->ops[op].loc);
}

/* "^bb0(%x: t loc(..), ...):" */
bool parse_block_label(struct ir_parser *p) {
    struct mlir *m = p->m;
    uint32_t nargs = 0, first = m->nvalues, first_attr = m->narg_attrs;
    bool func_args = p->args_wanted;
    p->args_wanted = false;
    p->several_blocks |= m->nops > 0 && p->parent != m->nops - 1; /* the first of a region follows its op at once */
    p->p = scan_name(p->p + 1, p->end);
    if (parse_accept(p, '(') && !read_args(p, &nargs))
        return false;
    if (!parse_accept(p, ':'))
        return parse_fail(p, p->p, "expected ':' after the label of a block");
    define_args(p, first, nargs);
    if (func_args && p->func != NONE) {
        m->funcs[p->func].first_arg = first;
        m->funcs[p->func].nargs = nargs;
        m->funcs[p->func].first_arg_attr = first_attr;
    }
    return true;
}
