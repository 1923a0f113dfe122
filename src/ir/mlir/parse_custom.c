/* Ops in custom form, which only their dialect could read for sure. The walk over tokens takes what it can tell:
 * operands, symbol, attributes, regions, types, location. Calls and func.func have readers of their own. */
#include "ir/mlir/parse.h"

#include <string.h>

struct custom_op {
    uint32_t op, uses, depth; /* uses: the first of this op in p->uses; depth: of ( and [ */
    uint32_t first_result_type;
    unsigned flags;
    bool in_region;   /* one has been met: the names of its arguments are bound */
    bool attributes;  /* the word stands before */
    const char *last; /* end of what belongs to the op for sure: not the blanks behind it */
    struct ir_region region;
};

static bool is_module(const struct custom_op *c) {
    return c->flags & OP_MODULE && c->flags & OP_READ;
}

/* Names met so far become operands. With a region, unknown names are its arguments. */
static void custom_operands(struct ir_parser *p, struct custom_op *c, bool region) {
    struct mlir *m = p->m;
    uint32_t index = 0;
    m->ops[c->op].first_operand = m->noperands;
    for (uint32_t i = c->uses; i < p->nuses; i++)
        if (!region || name_binding_of(p, &p->uses[i].use)) {
            add_operand(p, &p->uses[i].use);
            p->uses[i].use.text.end = 0;
        }
    m->ops[c->op].noperands = m->noperands - m->ops[c->op].first_operand;
    if (!region)
        return;
    region_enter(p, &c->region, c->flags & OP_ISOLATED);
    c->in_region = true;
    if (is_module(c)) {
        p->in.module = c->op;
        p->in.func = NONE;
        p->in.in_cpu_module |= (c->flags & OP_CPU) != 0;
    }
    for (uint32_t i = c->uses; i < p->nuses; i++) {
        struct typed_use u = p->uses[i];
        if (!u.use.text.end)
            continue;
        uint32_t type = u.type == NONE ? p->no_type : u.type;
        uint32_t v = value_add(m, (struct mlir_value){.type = type, .def = NONE, .index = index, .name = u.use.text});
        index++;
        name_define(p, u.use.name, v, 1);
    }
}

static bool looks_like_region(const char *p, const char *end) {
    p = scan_space(p, end);
    if (p < end && (*p == '^' || scan_starts_op(p, end)))
        return true;
    if (p >= end || !scan_op_word(p, end))
        return false;
    p = scan_space(scan_ident(p, end), end);
    return p < end && !strchr("=,}", *p);
}

static bool custom_braces(struct ir_parser *p, struct custom_op *c) {
    struct mlir_op *o = &p->m->ops[c->op];
    bool module = is_module(c) && !c->attributes;
    struct span inside;
    c->attributes = false;
    if (c->depth == 0 && (module || looks_like_region(p->p + 1, p->end))) {
        o->text.end = o->text.end ? o->text.end : end_before(p, p->p);
        if (!c->in_region)
            custom_operands(p, c, true);
        struct ir_region nested;
        region_enter(p, &nested, false);
        (void)parse_region(p, c->op); /* one that is not closed takes all the rest with it: nothing is read twice */
        region_leave(p, &nested);
        c->last = p->p;
        return true;
    }
    if (!read_braces(p, &inside, "brackets do not match"))
        return false;
    if (o->attrs.end == 0)
        o->attrs = inside;
    return true;
}

static void custom_use(struct ir_parser *p, const struct custom_op *c, struct typed_use u) {
    const char *from = p->p;
    if (c->depth > 0 && accept(p, ':')) { /* "%x: type" in brackets may be an argument of a region that follows */
        space(p);
        const char *q = scan_type(p->p, p->end);
        if (q > p->p) {
            u.type = type_add(p->m, (struct str){p->p, (size_t)(q - p->p)});
            from = q;
        }
    }
    p->p = from;
    p->uses = grow(p->uses, &p->uses_cap, p->nuses + 1, sizeof *p->uses);
    p->uses[p->nuses++] = u;
}

/* After ':' or '->'. What does not read as types is left to the walk. */
static void custom_types(struct ir_parser *p, struct custom_op *c) {
    const char *from = p->p, *inner;
    p->ntypes = c->first_result_type = 0;
    for (;;) {
        bool group = accept(p, '(');
        inner = p->p;
        uint32_t before = p->ntypes, type;
        if (group ? !accept(p, ')') && !(read_types(p) && accept(p, ')')) : !read_type(p, &type)) {
            p->wrong = NULL;
            p->p = group ? inner - 1 : from;
            break;
        }
        if (!group) {
            p->types = grow(p->types, &p->types_cap, before + 1, sizeof *p->types);
            p->types[p->ntypes++] = type;
        }
        from = p->p;
        if (accept_text(p, "->") || accept_word(p, "to") || accept_word(p, "into"))
            c->first_result_type = p->ntypes;
        else if (!accept(p, ',')) {
            p->p = from;
            break;
        }
    }
    const struct mlir_op *o = &p->m->ops[c->op];
    uint32_t n = p->ntypes - c->first_result_type, first = c->first_result_type;
    if (n > 0 && n != o->nresults && o->nresults == 1)
        first = p->ntypes - 1; /* "x to y", "cond, then, else": the last one is the nearest guess */
    else if (n != o->nresults)
        return;
    for (uint32_t i = 0; i < o->nresults; i++)
        p->m->values[o->first_result + i].type = p->types[first + i];
}

/* Does the op go on after the newline at p->p? */
static bool goes_on(const struct ir_parser *p) {
    const char *before = p->p, *next = scan_space(p->p, p->end);
    while (before > p->begin && scan_is(before[-1], CH_BLANK))
        before--;
    if (next >= p->end)
        return false;
    if (before > p->begin && strchr(",:=(", before[-1]))
        return !scan_starts_op(next, p->end);
    return !strchr("}^#!@", *next) && !scan_starts_op(next, p->end) && !scan_op_word(next, p->end) &&
           !(p->end - next > 2 && memcmp(next, "{-#", 3) == 0);
}

enum step { STEP_ON, STEP_END, STEP_BAD };

static enum step over(struct ir_parser *p, const char *q) {
    if (!q)
        return parse_fail(p, p->p, "brackets do not match"), STEP_BAD;
    p->p = q;
    return STEP_ON;
}

/* One token. */
static enum step custom_step(struct ir_parser *p, struct custom_op *c) {
    struct typed_use u = {.type = NONE};
    struct str name;
    const char *next;
    char ch = *p->p;
    if (ch == '%') {
        if (!read_use(p, &u.use))
            return STEP_BAD;
        if (!c->in_region)
            custom_use(p, c, u);
        return STEP_ON;
    }
    if (ch == '(' || ch == '[')
        return c->depth++, over(p, p->p + 1);
    if (ch == ')' || ch == ']')
        return over(p, c->depth && c->depth-- ? p->p + 1 : NULL);
    if (ch == '<')
        return over(p, p->end - p->p > 1 && p->p[1] == '=' ? p->p + 1 : scan_balanced(p->p, p->end));
    if (ch == '"')
        return over(p, scan_string(p->p, p->end));
    if (ch == '{')
        return custom_braces(p, c) ? STEP_ON : STEP_BAD;
    if (ch == '}')
        return c->depth ? over(p, NULL) : STEP_END;
    if (ch == '@') {
        if (!read_symbol(p, &name))
            return STEP_BAD;
        if (c->flags & OP_CALLS && p->m->ops[c->op].callee == NONE)
            p->m->ops[c->op].callee = name_add(p->m, name);
        return STEP_ON;
    }
    if (ch == '\n') {
        next = scan_space(p->p, p->end);
        return c->depth == 0 && !goes_on(p) ? STEP_END
                                            : over(p, c->depth && scan_starts_op(next, p->end) ? NULL : next);
    }
    if (c->depth == 0 && (ch == ':' || (ch == '-' && p->end - p->p > 1 && p->p[1] == '>'))) {
        p->p += ch == ':' ? 1 : 2;
        custom_types(p, c);
        return STEP_ON;
    }
    if (ch == '/' && p->end - p->p > 1 && p->p[1] == '/')
        return over(p, line_end(p->p, p->end));
    if (!scan_is(ch, CH_IDENT))
        return over(p, p->p + 1);
    if (c->depth == 0 && p->end - p->p > 4 && memcmp(p->p, "loc(", 4) == 0)
        return read_loc(p, &p->m->ops[c->op].loc) ? STEP_END : STEP_BAD;
    next = scan_ident(p->p, p->end);
    c->attributes = str_is((struct str){p->p, (size_t)(next - p->p)}, "attributes");
    return over(p, next);
}

/* "@f(%a, %b) : (types) -> types", or "(@f, [%a, %b]) : ..." of what is cached. */
static bool custom_call(struct ir_parser *p, uint32_t op, uint32_t names, bool cached) {
    struct str name;
    uint32_t first_forward = p->nforward;
    if (cached && !accept(p, '('))
        return parse_fail(p, p->p, "expected '('");
    if (!read_symbol(p, &name))
        return false;
    p->m->ops[op].callee = name_add(p->m, name);
    if ((cached && !accept(p, ',')) || !accept(p, cached ? '[' : '('))
        return parse_fail(p, p->p, "expected the operands of a call");
    if (!read_operands(p, op, cached ? ']' : ')'))
        return false;
    if (cached && !accept(p, ')'))
        return parse_fail(p, p->p, "expected ')'");
    if (!read_attrs(p, op))
        return false;
    if (!accept(p, ':'))
        return parse_fail(p, p->p, "expected ':' and the type of a call");
    return read_signature(p, op, names, first_forward) && read_loc(p, &p->m->ops[op].loc);
}

bool custom_op(struct ir_parser *p, uint32_t op, uint32_t names) {
    struct mlir *m = p->m;
    struct custom_op c = {.op = op, .uses = p->nuses, .last = p->p, .flags = p->flags[m->ops[op].name]};
    if (c.flags & OP_FUNC)
        return custom_func(p, op, names);
    if (c.flags & OP_CALLS && c.flags & OP_READ)
        return custom_call(p, op, names, str_ends(mlir_op_name(m, op), STR("load_cached")));
    enum step step = STEP_ON;
    uint32_t first_forward = p->nforward;
    p->ntypes = 0;
    add_results(p, op, names, 256);
    m->ops[op].custom = !(c.flags & OP_READ);
    while (step == STEP_ON && p->p < p->end) {
        step = custom_step(p, &c);
        if (step == STEP_ON && !scan_is(p->p[-1], CH_BLANK))
            c.last = p->p;
    }
    if (c.in_region)
        region_leave(p, &c.region);
    else if (step != STEP_BAD) {
        custom_operands(p, &c, false);
        if (c.flags & OP_READ)
            type_operands(p, op, first_forward, c.first_result_type ? c.first_result_type : p->ntypes);
    }
    p->nuses = c.uses;
    if (step == STEP_BAD)
        return false;
    if (is_module(&c) && !c.in_region)
        return parse_fail(p, c.last, "expected '{' of a module");
    if (c.depth > 0)
        return parse_fail(p, c.last, "brackets do not match");
    if (m->ops[op].loc.end == 0)
        p->p = c.last;
    bind_results(p, names, op);
    m->custom_ops += !(c.flags & OP_USUAL);
    return true;
}
