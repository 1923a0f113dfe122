/* Operations in custom assembly: exact readers for the ones that matter, and one generic rule for
 * all others, which finds the end of the op, its operands, its regions and its result types. */
#include "mlir/parser.h"

#include <string.h>

static bool parse_uses_until_types(struct ir_parser *p, uint32_t op) {
    struct mlir *m = p->m;
    uint32_t first_forward = p->names.nforward;
    if (!read_attrs(p, op) || (parse_at(p, '%') && !read_uses(p)))
        return false;
    m->ops[op].noperands = m->noperands - m->ops[op].first_operand;
    p->ntypes = 0;
    if (m->ops[op].noperands && parse_accept(p, ':')) {
        if (!read_types(p))
            return false;
        set_operand_types(p, op, first_forward, p->ntypes);
    }
    return true;
}

static bool parse_return(struct ir_parser *p, uint32_t op) {
    if (!parse_uses_until_types(p, op))
        return false;
    p->ntypes = 0;
    set_results(p, op, 0);
    return read_loc(p, &p->m->ops[op].loc);
}

static bool parse_call_tail(struct ir_parser *p, uint32_t op, uint32_t first_forward) {
    if (!read_attrs(p, op))
        return false;
    if (!parse_accept(p, ':'))
        return parse_fail(p, p->p, "expected ':' and the type of a call");
    return read_signature(p, op, first_forward) && read_loc(p, &p->m->ops[op].loc);
}

static bool parse_call(struct ir_parser *p, uint32_t op) {
    struct str name;
    uint32_t first_forward = p->names.nforward;
    if (!read_symbol(p, &name))
        return false;
    p->m->ops[op].callee = parse_name(p, name);
    if (!parse_accept(p, '('))
        return parse_fail(p, p->p, "expected the operands of a call");
    return read_operands(p, op, ')') && parse_call_tail(p, op, first_forward);
}

/* "(@f, [%a, %b]) : (types) -> types" */
static bool parse_load_cached(struct ir_parser *p, uint32_t op) {
    struct str name;
    uint32_t first_forward = p->names.nforward;
    if (!parse_accept(p, '('))
        return parse_fail(p, p->p, "expected '('");
    if (!read_symbol(p, &name))
        return false;
    p->m->ops[op].callee = parse_name(p, name);
    if (!parse_accept(p, ',') || !parse_accept(p, '['))
        return parse_fail(p, p->p, "expected the operands in [ ]");
    if (!read_operands(p, op, ']'))
        return false;
    if (!parse_accept(p, ')'))
        return parse_fail(p, p->p, "expected ')'");
    return parse_call_tail(p, op, first_forward);
}

/* builtin.module and the modules of the ttcore dialect. */
static bool parse_module(struct ir_parser *p, uint32_t op) {
    struct mlir *m = p->m;
    struct str name;
    if (parse_at(p, '@') && !read_symbol(p, &name))
        return false;
    if (parse_word(p, "attributes") && !read_attrs(p, op))
        return false;
    const char *at = p->p;
    parse_space(p);
    if (parse_peek(p) != '{')
        return parse_fail(p, p->p, "expected '{' of a module");
    m->ops[op].text.end = (uint32_t)(at - p->begin);
    uint32_t module = p->module, func = p->func;
    bool in_cpu = p->in_cpu_module;
    p->module = op;
    p->func = NONE;
    p->in_cpu_module |= (p->name_flags[m->ops[op].name] & NF_CPU) != 0;
    p->ntypes = 0;
    set_results(p, op, 0);
    bool closed = parse_region(p, op, true);
    p->module = module;
    p->func = func;
    p->in_cpu_module = in_cpu;
    return !closed || read_loc(p, &m->ops[op].loc);
}

/* "ttcore.device @default_device = <...>" */
static bool parse_device(struct ir_parser *p, uint32_t op) {
    struct str name;
    if (!read_symbol(p, &name))
        return false;
    if (!parse_accept(p, '='))
        return parse_fail(p, p->p, "expected '='");
    parse_space(p);
    const char *q = parse_peek(p) == '<' ? scan_balanced(p->p, p->end) : scan_until(p->p, p->end, '\n');
    if (!q)
        return parse_fail(p, p->p, "brackets do not match");
    p->p = q;
    p->ntypes = 0;
    set_results(p, op, 0);
    return read_loc(p, &p->m->ops[op].loc);
}

/* State of the generic rule. */
struct unknown_op {
    uint32_t op, uses; /* uses: first of this op in p->uses */
    uint32_t depth;    /* of ( and [ */
    bool in_scope;     /* a region has been met: the scope of its arguments is open */
    const char *last;  /* end of what belongs to the op for sure: not the blanks behind it */
    struct name_scope scope;
};

static void note_use(struct ir_parser *p, const struct unknown_op *u, const struct value_use *use) {
    uint32_t type = NONE;
    const char *at = p->p;
    /* "%x: type" in brackets may be an argument of a region that follows */
    if (u->depth > 0 && parse_accept(p, ':')) {
        parse_space(p);
        const char *q = scan_type(p->p, p->end);
        if (q > p->p) {
            type = type_add(p->m, (struct str){p->p, (size_t)(q - p->p)});
            at = q;
        }
    }
    p->p = at;
    p->uses = grow(p->uses, &p->uses_cap, p->nuses + 1, sizeof *p->uses);
    p->uses[p->nuses++] = (struct typed_use){*use, type};
}

/* Turns the names met so far into operands. With a region, unknown names are its arguments. */
static void resolve_uses(struct ir_parser *p, struct unknown_op *u, bool region) {
    struct mlir *m = p->m;
    struct mlir_op *o = &m->ops[u->op];
    o->first_operand = m->noperands;
    for (uint32_t i = u->uses; i < p->nuses; i++)
        if (!region || scope_defined(p, &p->uses[i].use)) {
            scope_use(p, &p->uses[i].use);
            p->uses[i].use.name.end = p->uses[i].use.name.begin;
        }
    o->noperands = m->noperands - o->first_operand;
    if (!region)
        return;
    scope_enter(p, &u->scope, (p->name_flags[o->name] & NF_ISOLATED) != 0);
    u->in_scope = true;
    uint32_t index = 0;
    for (uint32_t i = u->uses; i < p->nuses; i++) {
        struct typed_use s = p->uses[i];
        struct span name = s.use.name;
        if (name.end == name.begin)
            continue;
        uint32_t v =
            value_add(m, (struct mlir_value){
                             .type = s.type == NONE ? p->no_type : s.type, .def = NONE, .index = index, .name = name});
        index++;
        scope_define(p, s.use.ref, v, 1);
    }
}

static bool looks_like_region(const char *p, const char *end) {
    p = scan_space(p, end);
    if (p >= end)
        return false;
    if (*p == '^' || scan_starts_op(p, end))
        return true;
    if (!scan_op_word(p, end))
        return false;
    p = scan_space(scan_ident(p, end), end);
    return p < end && *p != '=' && *p != ',' && *p != '}';
}

static bool unknown_braces(struct ir_parser *p, struct unknown_op *u) {
    const char *open = p->p;
    struct mlir_op *o = &p->m->ops[u->op];
    if (u->depth == 0 && looks_like_region(open + 1, p->end)) {
        if (o->text.end == 0)
            o->text.end = end_before(p, open);
        if (!u->in_scope)
            resolve_uses(p, u, true);
        (void)parse_region(p, u->op, false);
        u->last = p->p; /* one that is not closed takes all the rest with it: nothing is read twice */
        return true;
    }
    const char *q = scan_balanced(open, p->end);
    if (!q)
        return parse_fail(p, open, "brackets do not match");
    if (o->attrs.end == 0)
        o->attrs = parse_span(p, open + 1, q - 1);
    p->p = q;
    return true;
}

/* The results exist from the start; here they get the types from p->types[from] on. */
static void type_results(struct ir_parser *p, uint32_t op, uint32_t from) {
    struct mlir *m = p->m;
    const struct mlir_op *o = &m->ops[op];
    uint32_t n = p->ntypes - from;
    if (n > 0 && n != o->nresults && o->nresults == 1)
        from = p->ntypes - 1; /* "x to y", "cond, then, else": the last one is the nearest guess */
    else if (n != o->nresults)
        return;
    for (uint32_t i = 0; i < o->nresults; i++)
        m->values[o->first_result + i].type = p->types[from + i];
}

/* After ':' or '->'. What does not read as types is left to the scan. */
static void unknown_types(struct ir_parser *p, uint32_t op) {
    const char *at = p->p;
    p->ntypes = 0;
    uint32_t from = 0, type = NONE;
    for (;;) {
        bool group = parse_accept(p, '(');
        const char *inner = p->p;
        bool empty = group && parse_accept(p, ')');
        if (!empty && (group ? !read_types(p) || !parse_accept(p, ')') : !read_type(p, &type))) {
            p->error.message = NULL;
            p->p = group ? inner - 1 : at;
            break;
        }
        if (!group) {
            p->types = grow(p->types, &p->types_cap, p->ntypes + 1, sizeof *p->types);
            p->types[p->ntypes++] = type;
        }
        at = p->p;
        parse_space(p);
        if (p->end - p->p > 2 && p->p[0] == '-' && p->p[1] == '>') {
            from = p->ntypes;
            p->p += 2;
        } else if (parse_word(p, "to") || parse_word(p, "into")) {
            from = p->ntypes;
        } else if (parse_peek(p) == ',') {
            p->p++;
        } else {
            p->p = at;
            break;
        }
    }
    type_results(p, op, from);
}

/* Does the op go on after the newline at p->p? */
static bool continues(struct ir_parser *p) {
    const char *before = p->p;
    while (before > p->begin && scan_is(before[-1], CH_BLANK))
        before--;
    char last = before > p->begin ? before[-1] : 0;
    const char *next = scan_space(p->p, p->end);
    if (next >= p->end)
        return false;
    if (last && strchr(",:=(", last))
        return !scan_starts_op(next, p->end);
    if (strchr("%}^#!@", *next) || scan_starts_op(next, p->end) || scan_op_word(next, p->end))
        return false;
    return !(*next == '{' && next + 2 < p->end && next[1] == '-' && next[2] == '#');
}

enum step { STEP_ON, STEP_END, STEP_BAD };

static enum step over(struct ir_parser *p, const char *q) {
    if (!q)
        return parse_fail(p, p->p, "brackets do not match"), STEP_BAD;
    p->p = q;
    return STEP_ON;
}

static enum step unknown_word(struct ir_parser *p, struct unknown_op *u) {
    if (u->depth == 0 && p->end - p->p > 4 && memcmp(p->p, "loc(", 4) == 0)
        return read_loc(p, &p->m->ops[u->op].loc) ? STEP_END : STEP_BAD;
    return over(p, scan_ident(p->p, p->end));
}

static enum step unknown_newline(struct ir_parser *p, struct unknown_op *u) {
    if (u->depth == 0 && !continues(p))
        return STEP_END;
    const char *next = scan_space(p->p, p->end);
    return over(p, u->depth > 0 && scan_starts_op(next, p->end) ? NULL : next);
}

static enum step unknown_close(struct ir_parser *p, struct unknown_op *u) {
    if (u->depth == 0)
        return over(p, NULL);
    u->depth--;
    return over(p, p->p + 1);
}

static enum step unknown_symbol(struct ir_parser *p, struct unknown_op *u) {
    struct str name;
    struct mlir_op *o = &p->m->ops[u->op];
    if (!read_symbol(p, &name))
        return STEP_BAD;
    if (o->callee == NONE && p->name_flags[o->name] & NF_CALLS) {
        uint32_t id = parse_name(p, name);
        p->m->ops[u->op].callee = id;
    }
    return STEP_ON;
}

static enum step unknown_step(struct ir_parser *p, struct unknown_op *u) {
    struct value_use use;
    char c = *p->p;
    switch (c) {
    case '%':
        if (!read_use(p, &use))
            return STEP_BAD;
        if (!u->in_scope)
            note_use(p, u, &use);
        return STEP_ON;
    case '(':
    case '[':
        u->depth++;
        return over(p, p->p + 1);
    case ')':
    case ']':
        return unknown_close(p, u);
    case '<':
        return over(p, p->end - p->p > 1 && p->p[1] == '=' ? p->p + 1 : scan_balanced(p->p, p->end));
    case '"':
        return over(p, scan_string(p->p, p->end));
    case '{':
        return unknown_braces(p, u) ? STEP_ON : STEP_BAD;
    case '}':
        return u->depth == 0 ? STEP_END : over(p, NULL);
    case '@':
        return unknown_symbol(p, u);
    case '\n':
        return unknown_newline(p, u);
    default:
        break;
    }
    bool arrow = c == '-' && p->end - p->p > 1 && p->p[1] == '>';
    if (u->depth == 0 && (c == ':' || arrow)) {
        p->p += arrow ? 2 : 1;
        unknown_types(p, u->op);
        return STEP_ON;
    }
    if (c == '/' && p->end - p->p > 1 && p->p[1] == '/') {
        const char *line = memchr(p->p, '\n', (size_t)(p->end - p->p));
        return over(p, line ? line : p->end);
    }
    return scan_is(c, CH_IDENT) ? unknown_word(p, u) : over(p, p->p + 1);
}

static bool parse_unknown(struct ir_parser *p, uint32_t op) {
    struct mlir *m = p->m;
    struct unknown_op u = {.op = op, .uses = p->nuses, .last = p->p};
    enum step step = STEP_ON;
    uint32_t names = m->ops[op].first_result, first_value = m->nvalues;
    p->ntypes = 0;
    for (uint32_t i = names; i < p->nresults && m->nvalues - first_value < 256; i++)
        for (uint32_t k = 0; k < p->results[i].count && m->nvalues - first_value < 256; k++)
            value_add(
                m, (struct mlir_value){
                       .type = p->no_type, .def = op, .index = m->nvalues - first_value, .name = p->results[i].name});
    m->ops[op].first_result = first_value;
    m->ops[op].nresults = m->nvalues - first_value;
    m->ops[op].custom = true;
    while (step == STEP_ON && p->p < p->end) {
        step = unknown_step(p, &u);
        if (step == STEP_ON && !scan_is(p->p[-1], CH_BLANK))
            u.last = p->p;
    }
    if (u.in_scope)
        scope_leave(p, &u.scope);
    else if (step != STEP_BAD)
        resolve_uses(p, &u, false);
    p->nuses = u.uses;
    if (step == STEP_BAD)
        return false;
    if (u.depth > 0)
        return parse_fail(p, u.last, "brackets do not match");
    if (m->ops[op].loc.end == 0)
        p->p = u.last;
    bind_results(p, names, first_value, m->ops[op].nresults);
    if (!(p->name_flags[m->ops[op].name] & NF_KNOWN))
        m->custom_ops++;
    return true;
}

static const struct {
    const char *name;
    bool (*read)(struct ir_parser *p, uint32_t op);
} readers[] = {
    {"func.func", parse_func},
    {"func.return", parse_return},
    {"func.call", parse_call},
    {"builtin.module", parse_module},
    {"ttcore.device_module", parse_module},
    {"ttcore.cpu_module", parse_module},
    {"tt.device_module", parse_module},
    {"tt.cpu_module", parse_module},
    {"ttcore.load_cached", parse_load_cached},
    {"tt.load_cached", parse_load_cached},
    {"ttcore.device", parse_device},
    {"tt.device", parse_device},
};

/* Names that are printed without their dialect. */
static const struct {
    const char *word, *name;
} short_names[] = {
    {"return", "func.return"},     {"call", "func.call"},
    {"func", "func.func"},         {"module", "builtin.module"},
    {"constant", "func.constant"}, {"unrealized_conversion_cast", "builtin.unrealized_conversion_cast"},
};

bool parse_custom(struct ir_parser *p, const char *start, uint32_t results) {
    const char *q = scan_ident(p->p, p->end);
    struct str name = {p->p, (size_t)(q - p->p)};
    bool file = p->end - q > 1 && *q == ':' && scan_is(q[1], CH_DIGIT); /* "f.py:1:2" */
    if (file || !scan_op_word(p->p, p->end))
        return parse_fail(p, p->p, "expected an operation");
    for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++)
        if (str_is(name, short_names[i].word))
            name = str_of(short_names[i].name);
    p->p = q;
    uint32_t op = op_begin(p, start, results, parse_name(p, name));
    bool (*read)(struct ir_parser *, uint32_t) = parse_unknown;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (str_is(name, readers[i].name))
            read = readers[i].read;
    if (!read(p, op))
        return false;
    op_end(p, op);
    return true;
}
