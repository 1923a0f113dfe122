/* Functions, of both forms, and the labels of blocks. */
#include "ir/mlir/parse.h"

uint32_t func_add(struct ir_parser *p, uint32_t op, struct str name) {
    struct mlir *m = p->m;
    m->funcs = grow(m->funcs, &m->funcs_cap, m->nfuncs + 1, sizeof *m->funcs);
    m->funcs[m->nfuncs] = (struct mlir_func){.name = name_add(m, name),
                                             .op = op,
                                             .first_op = m->nops,
                                             .end_op = m->nops,
                                             .first_arg = m->nvalues,
                                             .first_arg_attr = m->narg_attrs,
                                             .declaration = true,
                                             .complete = true,
                                             .in_cpu_module = p->in.in_cpu_module,
                                             .module = p->in.module};
    return m->nfuncs++;
}

static void arg_add(struct mlir *m, struct mlir_value v, struct span attrs) {
    value_add(m, v);
    m->arg_attrs = grow(m->arg_attrs, &m->arg_attrs_cap, m->narg_attrs + 1, sizeof *m->arg_attrs);
    m->arg_attrs[m->narg_attrs++] = attrs;
}

/* "(%a: type {attrs} loc(..), ...)", or without names. They are not bound yet. */
static bool read_args(struct ir_parser *p, uint32_t *n) {
    *n = 0;
    if (accept(p, ')'))
        return true;
    do {
        struct mlir_value v = {.def = NONE, .index = *n};
        struct span attrs = {0}, loc;
        uint32_t name;
        space(p);
        if (peek(p) == '%' && (!read_value_name(p, &v.name, &name) || !accept(p, ':')))
            return parse_fail(p, p->p, "expected ':' after the name of an argument");
        if (!read_type(p, &v.type) ||
            (at(p, '{') && !read_braces(p, &attrs, "attributes of an argument are not closed")) || !read_loc(p, &loc))
            return false;
        arg_add(p->m, v, attrs);
        ++*n;
    } while (accept(p, ','));
    return accept(p, ')') || parse_fail(p, p->p, "arguments are not closed");
}

static void bind_args(struct ir_parser *p, uint32_t first, uint32_t n) {
    for (uint32_t i = first; i < first + n; i++) {
        struct str name = mlir_span(p->m, p->m->values[i].name);
        if (name.n)
            name_define(p, sym_find(&p->m->tables->values, name), i, 1);
    }
}

bool func_body(struct ir_parser *p, uint32_t op, uint32_t func, bool generic) {
    struct mlir *m = p->m;
    struct ir_region r;
    region_enter(p, &r, true);
    p->in.func = func;
    p->in.args_wanted = generic;
    p->in.several_blocks = false;
    bind_args(p, m->funcs[func].first_arg, m->funcs[func].nargs);
    m->funcs[func].first_op = m->nops;
    bool closed = parse_region(p, op);
    region_leave(p, &r);
    m->funcs[func].end_op = m->nops;
    m->funcs[func].complete = closed;
    m->funcs[func].declaration = closed && generic && m->nops == m->funcs[func].first_op;
    return closed;
}

/* Of a generic func.func name, arguments and their attributes are attributes, which may stand behind the body. */
void func_attributes(struct ir_parser *p, uint32_t op, uint32_t func) {
    struct mlir *m = p->m;
    struct mlir_func *f = &m->funcs[func];
    struct str value, item;
    f->attributes = m->ops[op].attrs;
    if (mlir_attr(m, op, "sym_name", &value) && mlir_string(value, &item))
        f->name = name_add(m, item);
    if (f->declaration &&
        mlir_attr(m, op, "function_type", &value)) { /* no block has arguments that could be its own */
        const char *from = value.p + 1,
                   *end = value.n && *value.p == '(' ? scan_balanced(value.p, value.p + value.n) : NULL;
        f->first_arg = m->nvalues;
        f->first_arg_attr = m->narg_attrs;
        for (; end && scan_item(&from, end - 1, &item) && item.n; f->nargs++)
            arg_add(m, (struct mlir_value){.type = type_add(m, item), .def = NONE, .index = f->nargs},
                    (struct span){0});
    }
    if (!mlir_attr(m, op, "arg_attrs", &value) || value.n < 2 || *value.p != '[')
        return;
    const char *from = value.p + 1, *end = value.p + value.n - 1;
    for (uint32_t i = 0; i < f->nargs && scan_item(&from, end, &item); i++)
        if (item.n > 2 && *item.p == '{')
            m->arg_attrs[f->first_arg_attr + i] = span_of(p, item.p + 1, item.p + item.n - 1);
}

/* After "func.func". */
bool custom_func(struct ir_parser *p, uint32_t op, uint32_t names) {
    struct mlir *m = p->m;
    struct str name;
    uint32_t nargs, first_arg = m->nvalues, first_attr = m->narg_attrs;
    (void)(accept_word(p, "private") || accept_word(p, "nested") || accept_word(p, "public"));
    if (!read_symbol(p, &name) || !(accept(p, '(') || parse_fail(p, p->p, "expected the arguments of a function")) ||
        !read_args(p, &nargs))
        return false;
    if (accept_text(p, "->")) { /* the returned values have types of their own */
        space(p);
        const char *q = peek(p) == '(' ? scan_balanced(p->p, p->end) : scan_type(p->p, p->end);
        if (!q || q == p->p)
            return parse_fail(p, p->p, "expected the result types of a function");
        p->p = q;
    }
    uint32_t func = func_add(p, op, name);
    struct mlir_func *f = &m->funcs[func];
    f->first_arg = first_arg;
    f->nargs = nargs;
    f->first_arg_attr = first_attr;
    p->ntypes = 0;
    set_results(p, op, names, 0);
    if (accept_word(p, "attributes") && !read_attrs(p, op))
        return false;
    f->attributes = m->ops[op].attrs;
    const char *end = p->p;
    if (!at(p, '{'))
        return read_loc(p, &m->ops[op].loc);
    m->ops[op].text.end = (uint32_t)(end - p->begin);
    return !func_body(p, op, func, false) || read_loc(p, &m->ops[op].loc);
}

/* "^bb0(%x: t loc(..), ...):" */
bool parse_block_label(struct ir_parser *p) {
    struct mlir *m = p->m;
    uint32_t nargs = 0, first = m->nvalues, first_attr = m->narg_attrs;
    bool func_args = p->in.args_wanted;
    p->in.args_wanted = false;
    p->in.several_blocks |=
        m->nops > 0 && p->in.parent != m->nops - 1; /* the first of a region follows its op at once */
    p->p = scan_name(p->p + 1, p->end);
    if (accept(p, '(') && !read_args(p, &nargs))
        return false;
    if (!accept(p, ':'))
        return parse_fail(p, p->p, "expected ':' after the label of a block");
    bind_args(p, first, nargs);
    if (func_args && p->in.func != NONE) {
        struct mlir_func *f = &m->funcs[p->in.func];
        f->first_arg = first;
        f->nargs = nargs;
        f->first_arg_attr = first_attr;
    }
    return true;
}
