/* Ops in generic form: "ttir.add"(%0, %1) <{...}> ({...}) {...} : (...) -> ... */
#include "ir/mlir/parse.h"

#include <string.h>

/* "({ops}, {ops})" */
static bool generic_regions(struct ir_parser *p, uint32_t op, unsigned flags) {
    const char *from = p->p;
    if (!at(p, '('))
        return true;
    const char *open = p->p++;
    if (!at(p, '{')) {
        p->p = from;
        return true;
    }
    p->m->ops[op].text.end = end_before(p, open);
    bool is_func = flags & OP_FUNC;
    do {
        if (!at(p, '{'))
            return parse_fail(p, p->p, "expected '{' of a region");
        struct ir_region r;
        bool closed;
        if (is_func)
            closed = func_body(p, op, func_add(p, op, STR("")), true);
        else {
            region_enter(p, &r, flags & OP_ISOLATED);
            closed = parse_region(p, op);
            region_leave(p, &r);
        }
        if (!closed)
            return true; /* reported; the op itself is kept */
        is_func = false;
    } while (accept(p, ','));
    return accept(p, ')') || parse_fail(p, p->p, "regions are not closed");
}

static void read_callee(struct ir_parser *p, uint32_t op) {
    static const char *const keys[] = {"callee", "decomposition", "callees", "call_target_name"};
    struct str value;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (mlir_attr(p->m, op, keys[i], &value) && value.n > 1 && *value.p == '@') {
            bool quoted = value.p[1] == '"';
            const char *from = value.p + 1 + quoted, *end = value.p + value.n;
            size_t n = quoted ? (value.n > 3 ? value.n - 3 : 0) : (size_t)(scan_name(from, end) - from);
            p->m->ops[op].callee = name_add(p->m, (struct str){from, n});
            return;
        }
}

/* "(types) -> types" */
static bool read_types_of_op(struct ir_parser *p, uint32_t *noperands) {
    p->ntypes = 0;
    if (!at(p, '('))
        return parse_fail(p, scan_space(p->p, p->end), "expected '(' of a function type");
    if (!read_type_group(p))
        return false;
    *noperands = p->ntypes;
    if (!accept_text(p, "->"))
        return parse_fail(p, scan_space(p->p, p->end), "expected '->'");
    return read_type_group(p);
}

bool read_signature(struct ir_parser *p, uint32_t op, uint32_t names, uint32_t first_forward) {
    const char *from = p->p;
    uint32_t n = 0;
    if (!read_types_of_op(p, &n))
        return false;
    if (n != p->m->ops[op].noperands)
        parse_say_bad(p, op, from, "the number of operand types differs from the number of operands");
    type_operands(p, op, first_forward, n);
    set_results(p, op, names, n);
    return true;
}

bool generic_op(struct ir_parser *p, uint32_t op, uint32_t names) {
    struct mlir *m = p->m;
    unsigned flags = p->flags[m->ops[op].name];
    uint32_t first_forward = p->nforward, func = m->nfuncs;
    if (!accept(p, '('))
        return parse_fail(p, p->p, "expected '(' after the name of an operation");
    if (!read_operands(p, op, ')'))
        return false;
    struct span skipped;
    if (at(p, '[') && !read_braces(p, &skipped, "successors are not closed"))
        return false;
    const char *from = p->p, *open = scan_space(p->p, p->end);
    if (!accept(p, '<') || !at(p, '{'))
        p->p = from;
    else if (!read_dict(p, op, &m->ops[op].props, "properties are not closed") || !accept(p, '>')) {
        p->wrong_at = p->wrong ? open : p->wrong_at;
        return parse_fail(p, open, "properties are not closed");
    }
    struct ir_context outer = p->in;
    p->in.module = flags & OP_MODULE ? op : outer.module;
    p->in.in_cpu_module |= (flags & OP_CPU) != 0;
    bool ok = generic_regions(p, op, flags);
    p->in.module = outer.module;
    p->in.in_cpu_module = outer.in_cpu_module;
    ok = ok && read_attrs(p, op);
    if (flags & OP_FUNC && func < m->nfuncs && m->funcs[func].op == op)
        func_attributes(p, op, func);
    if (!ok)
        return false;
    if (flags & OP_CALLS)
        read_callee(p, op);
    if (accept(p, ':'))
        return read_signature(p, op, names, first_forward) && read_loc(p, &m->ops[op].loc);
    if (!p->truncated)
        parse_say_bad(p, op, p->begin + m->ops[op].text.begin, "an operation without a type");
    p->ntypes = 0;
    set_results(p, op, names, 0);
    return read_loc(p, &m->ops[op].loc);
}
