/* Operations in generic form, and the pieces that all forms share: results, operands, types,
 * attribute dictionaries, locations. */
#include "mlir/parser.h"

#include <string.h>

uint32_t op_begin(struct parser *p, const char *start, uint32_t results, uint32_t name) {
    struct mlir *m = p->m;
    m->ops = grow(m->ops, &m->ops_cap, m->nops + 1, sizeof *m->ops);
    /* Until set_results, first_result is where the names of the results begin in p->results. */
    m->ops[m->nops] = (struct mlir_op){.name = name,
                                       .text = {(uint32_t)(start - p->begin), 0},
                                       .first_operand = m->noperands,
                                       .first_result = results,
                                       .callee = NONE,
                                       .func = p->func,
                                       .parent = p->parent};
    return m->nops++;
}

void op_end(struct parser *p, uint32_t op) {
    if (p->m->ops[op].text.end == 0)
        p->m->ops[op].text.end = (uint32_t)(p->p - p->begin);
}

static const char *value_end(const char *q, const char *end) {
    while (q < end && (scan_is(*q, CH_IDENT) || *q == '-'))
        q++;
    return q;
}

bool read_use(struct parser *p, struct span *name) {
    const char *from = p->p, *q;
    if (from >= p->end || *from != '%')
        return parse_fail(p, from, "expected a value");
    q = value_end(from + 1, p->end);
    if (q == from + 1)
        return parse_fail(p, from, "expected the name of a value after '%'");
    if (q < p->end && *q == '#')
        for (q++; q < p->end && scan_is(*q, CH_DIGIT);)
            q++;
    *name = parse_span(p, from, q);
    p->p = q;
    return true;
}

/* Operands up to `close`; the opening bracket is read already. */
bool read_operands(struct parser *p, uint32_t op, char close) {
    struct mlir *m = p->m;
    struct span name = {0};
    if (!parse_accept(p, close)) {
        do {
            parse_space(p);
            if (scope_use_bound(p))
                continue;
            if (!read_use(p, &name))
                return false;
            scope_use(p, name);
        } while (parse_accept(p, ','));
        if (!parse_accept(p, close))
            return parse_fail(p, p->p, "operands are not closed");
    }
    m->ops[op].noperands = m->noperands - m->ops[op].first_operand;
    return true;
}

bool read_type(struct parser *p, uint32_t *type) {
    const char *at = p->p;
    struct recent *r = NULL;
    parse_space(p);
    if (p->end - p->p >= RECENT_KEY) {
        r = recent_slot(p->m->tables->recent_types, recent_type_key(p->p));
        if (recent_is(r, p->p, p->end)) {
            *type = r->id;
            p->p += r->n;
            return true;
        }
    }
    const char *q = scan_type(p->p, p->end);
    if (q == p->p) {
        p->p = at; /* the next line is not part of the bad op */
        return parse_fail(p, at, "expected a type");
    }
    *type = type_add(p->m, (struct str){p->p, (size_t)(q - p->p)});
    if (r && q[-1] == '>' && *p->p != '(')
        *r = (struct recent){p->p, (uint32_t)(q - p->p), *type};
    p->p = q;
    return true;
}

/* Appends to p->list. */
bool read_types(struct parser *p) {
    uint32_t type = NONE;
    do {
        if (!read_type(p, &type))
            return false;
        p->list = grow(p->list, &p->list_cap, p->nlist + 1, sizeof *p->list);
        p->list[p->nlist++] = type;
    } while (parse_accept(p, ','));
    return true;
}

static bool read_type_group(struct parser *p) {
    if (!parse_accept(p, '('))
        return read_types(p);
    if (parse_accept(p, ')'))
        return true;
    if (!read_types(p))
        return false;
    return parse_accept(p, ')') || parse_fail(p, p->p, "types are not closed");
}

void set_operand_types(struct parser *p, uint32_t op, uint32_t first_pending, uint32_t ntypes) {
    const struct mlir_op *o = &p->m->ops[op];
    for (uint32_t i = first_pending; i < p->npendings; i++) {
        uint32_t k = p->pendings[i].operand - o->first_operand;
        if (k < ntypes && k < o->noperands)
            p->pendings[i].type = p->list[k];
    }
}

/* A signature seen lately: its types go to p->list. */
static bool known_signature(struct parser *p, const struct signature *s) {
    if (s->n == 0 || (size_t)(p->end - p->p) < s->n || memcmp(s->p, p->p, s->n) != 0)
        return false;
    const char *next = scan_space(p->p + s->n, p->end);
    if (next < p->end && *next == ',') /* one more result */
        return false;
    p->list = grow(p->list, &p->list_cap, s->ntypes, sizeof *p->list);
    memcpy(p->list, s->types, s->ntypes * sizeof *p->list);
    p->nlist = s->ntypes;
    p->p += s->n;
    return true;
}

static void keep_signature(const struct parser *p, struct signature *s, const char *from, uint32_t noperands) {
    if (p->nlist != noperands + 1 || p->nlist > SIGNATURE_TYPES || p->p[-1] != '>')
        return;
    *s = (struct signature){from, (uint32_t)(p->p - from), p->nlist, {0}};
    memcpy(s->types, p->list, p->nlist * sizeof *p->list);
}

bool read_signature(struct parser *p, uint32_t op, uint32_t first_pending) {
    const char *at = p->p;
    struct signature *s = NULL;
    p->nlist = 0;
    parse_space(p);
    const char *from = p->p;
    if (parse_peek(p) != '(')
        return parse_fail(p, p->p, "expected '(' of a function type");
    if (p->end - p->p >= RECENT_KEY)
        s = signature_slot(p->m->tables, p->p, p->m->ops[op].name);
    if (s && s->ntypes == p->m->ops[op].noperands + 1 && known_signature(p, s)) {
        set_operand_types(p, op, first_pending, s->ntypes - 1);
        set_results(p, op, s->ntypes - 1);
        return true;
    }
    if (!read_type_group(p))
        return false;
    uint32_t n = p->nlist;
    parse_space(p);
    if (p->end - p->p < 2 || p->p[0] != '-' || p->p[1] != '>')
        return parse_fail(p, p->p, "expected '->'");
    p->p += 2;
    if (!read_type_group(p))
        return false;
    if (s)
        keep_signature(p, s, from, n);
    if (n != p->m->ops[op].noperands)
        parse_warn(p, at, "the number of operand types differs from the number of operands");
    set_operand_types(p, op, first_pending, n);
    set_results(p, op, n);
    return true;
}

/* Values for the results, with the types from p->list[first_type] on; then their names. */
void set_results(struct parser *p, uint32_t op, uint32_t first_type) {
    struct mlir *m = p->m;
    uint32_t names = m->ops[op].first_result, first = m->nvalues, n = 0;
    uint32_t ntypes = p->nlist > first_type ? p->nlist - first_type : 0;
    if (ntypes == 1 && p->nresults == names + 1 && p->results[names].count == 1) { /* as almost always */
        struct span name = p->results[names].name;
        value_add(m, (struct mlir_value){.type = p->list[first_type], .def = op, .name = name});
        m->ops[op].first_result = first;
        m->ops[op].nresults = 1;
        scope_define(p, name, first, 1);
        return;
    }
    /* Every result has a type somewhere in the text: "%0:65535" of a damaged text is not believed. */
    uint32_t most = ntypes + 64;
    for (uint32_t i = names; i < p->nresults; i++)
        for (uint32_t k = 0; k < p->results[i].count && n < most; k++, n++)
            value_add(m, (struct mlir_value){.type = n < ntypes ? p->list[first_type + n] : p->no_type,
                                             .def = op,
                                             .index = n,
                                             .name = p->results[i].name});
    if (names == p->nresults) /* results that nobody uses may go without names */
        for (; n < ntypes; n++)
            value_add(m, (struct mlir_value){.type = p->list[first_type + n], .def = op, .index = n});
    else if (ntypes && ntypes != n)
        parse_warn(p, p->begin + m->ops[op].text.begin,
                   "the number of result types differs from the number of results");
    m->ops[op].first_result = first;
    m->ops[op].nresults = n;
    for (uint32_t i = names; i < p->nresults && n > 0; i++) {
        uint32_t count = p->results[i].count < n ? p->results[i].count : n;
        scope_define(p, p->results[i].name, first, count);
        first += count;
        n -= count;
    }
}

uint32_t end_before(const struct parser *p, const char *at) {
    while (at > p->begin && strchr(" \t\r\n", at[-1]))
        at--;
    return (uint32_t)(at - p->begin);
}

/* From '{' to behind its '}', or NULL. `*inside` is the same text where it was met first, lately. */
static const char *scan_dict(struct parser *p, const char *at, uint32_t op, struct span *inside) {
    struct recent *r = NULL;
    if (p->end - at >= RECENT_DICT) {
        r = recent_slot(p->m->tables->recent_dicts, recent_dict_key(at, p->m->ops[op].name));
        if (recent_is(r, at, p->end)) {
            *inside = parse_span(p, r->p + 1, r->p + r->n - 1);
            return at + r->n;
        }
    }
    const char *q = scan_balanced(at, p->end);
    if (!q)
        return NULL;
    *inside = parse_span(p, at + 1, q - 1);
    if (r && q - at <= LONG_DICT_TEXT)
        *r = (struct recent){at, (uint32_t)(q - at), 0};
    return q;
}

bool read_attrs(struct parser *p, uint32_t op) {
    const char *at = p->p;
    parse_space(p);
    if (parse_peek(p) != '{') {
        p->p = at;
        return true;
    }
    const char *q = scan_dict(p, p->p, op, &p->m->ops[op].attrs);
    if (!q)
        return parse_fail(p, p->p, "attributes are not closed");
    p->p = q;
    return true;
}

static bool read_props(struct parser *p, uint32_t op) {
    const char *at = p->p;
    parse_space(p);
    if (p->end - p->p < 2 || p->p[0] != '<' || p->p[1] != '{') {
        p->p = at;
        return true;
    }
    struct span inside;
    const char *q = scan_dict(p, p->p + 1, op, &inside);
    if (!q || q >= p->end || *q != '>')
        return parse_fail(p, p->p, "properties are not closed");
    p->m->ops[op].props = inside;
    p->p = q + 1;
    return true;
}

bool read_loc(struct parser *p, struct span *loc) {
    const char *at = p->p;
    parse_space(p);
    if (p->end - p->p < 4 || memcmp(p->p, "loc(", 4) != 0) {
        p->p = at;
        return true;
    }
    const char *from = p->p + 4, *q;
    if (from < p->end && *from == '#' && (q = scan_ident(from + 1, p->end)) < p->end && *q == ')')
        q++;
    else
        q = scan_balanced(p->p + 3, p->end);
    if (!q)
        return parse_fail(p, p->p, "a location is not closed");
    *loc = parse_span(p, from, q - 1);
    p->p = q;
    return true;
}

bool read_symbol(struct parser *p, struct str *name) {
    parse_space(p);
    const char *from = p->p + 1, *q;
    if (parse_peek(p) != '@')
        return parse_fail(p, p->p, "expected a symbol");
    if (from < p->end && *from == '"') {
        if (!(q = scan_string(from, p->end)))
            return parse_fail(p, p->p, "a symbol is not closed");
        *name = (struct str){from + 1, (size_t)(q - from - 2)};
    } else {
        q = value_end(from, p->end);
        if (q == from)
            return parse_fail(p, p->p, "expected the name of a symbol after '@'");
        *name = (struct str){from, (size_t)(q - from)};
    }
    p->p = q;
    return true;
}

static bool read_regions(struct parser *p, uint32_t op, struct str *func_name) {
    const char *at = p->p;
    parse_space(p);
    const char *open = p->p;
    if (parse_peek(p) != '(' || (p->p = scan_space(p->p + 1, p->end)) >= p->end || *p->p != '{') {
        p->p = at;
        return true;
    }
    p->m->ops[op].text.end = end_before(p, open);
    bool isolated = p->name_flags[p->m->ops[op].name] & NF_ISOLATED;
    do {
        parse_space(p);
        if (parse_peek(p) != '{')
            return parse_fail(p, p->p, "expected '{' of a region");
        bool closed =
            func_name->p ? func_body(p, op, func_begin(p, op, *func_name), true) : parse_region(p, op, isolated);
        if (!closed)
            return true; /* reported; the op itself is kept */
        *func_name = (struct str){0};
    } while (parse_accept(p, ','));
    return parse_accept(p, ')') || parse_fail(p, p->p, "regions are not closed");
}

/* The symbol in `callee = @f`, for the few ops that have one. */
static void read_callee(struct parser *p, uint32_t op) {
    static const char *const keys[] = {"callee", "decomposition", "callees", "call_target_name"};
    struct str value;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!mlir_attr(p->m, op, keys[i], &value) || value.n < 2)
            continue;
        if (value.p[0] != '@')
            continue;
        const char *from = value.p + 1, *end = value.p + value.n;
        struct str name = {from, (size_t)(value_end(from, end) - from)};
        if (*from == '"')
            name = (struct str){from + 1, value.n > 3 ? value.n - 3 : 0};
        p->m->ops[op].callee = parse_name(p, name);
        return;
    }
}

/* The name of a generic func.func is a property. */
static struct str generic_func_name(struct parser *p, uint32_t op) {
    struct str value, name;
    if (!(p->name_flags[p->m->ops[op].name] & NF_FUNC) || !mlir_attr(p->m, op, "sym_name", &value))
        return (struct str){0};
    return mlir_string(value, &name) ? name : (struct str){0};
}

static bool read_generic_tail(struct parser *p, uint32_t op, uint32_t first_pending) {
    struct str func_name = {0};
    uint8_t flags = p->name_flags[p->m->ops[op].name];
    uint32_t module = p->module;
    bool in_cpu = p->in_cpu_module;
    if (parse_accept(p, '[')) {
        const char *q = scan_balanced(p->p - 1, p->end);
        if (!q)
            return parse_fail(p, p->p, "successors are not closed");
        p->p = q;
    }
    if (!read_props(p, op))
        return false;
    if (flags & NF_FUNC)
        func_name = generic_func_name(p, op);
    if (flags & NF_MODULE)
        p->module = op;
    if (flags & NF_CPU)
        p->in_cpu_module = true;
    bool ok = read_regions(p, op, &func_name);
    p->module = module;
    p->in_cpu_module = in_cpu;
    if (!ok || !read_attrs(p, op))
        return false;
    if (flags & NF_CALLS)
        read_callee(p, op);
    if (parse_accept(p, ':'))
        return read_signature(p, op, first_pending) && read_loc(p, &p->m->ops[op].loc);
    if (!p->truncated)
        parse_warn(p, p->begin + p->m->ops[op].text.begin, "an operation without a type");
    p->nlist = 0;
    set_results(p, op, 0);
    return read_loc(p, &p->m->ops[op].loc);
}

/* The name in quotes and the '(' after it. */
static bool read_op_name(struct parser *p, uint32_t *name) {
    struct recent *r = NULL;
    if (p->end - p->p >= RECENT_KEY)
        r = recent_slot(p->m->tables->recent_names, recent_name_key(p->p));
    if (r && recent_is(r, p->p, p->end)) {
        *name = r->id;
        p->p += r->n;
    } else {
        const char *close = scan_string(p->p, p->end);
        if (!close)
            return parse_fail(p, p->p, "the name of an operation is not closed");
        *name = parse_name(p, (struct str){p->p + 1, (size_t)(close - p->p - 2)});
        if (r)
            *r = (struct recent){p->p, (uint32_t)(close - p->p), *name};
        p->p = close;
    }
    if (parse_peek(p) != '(')
        return parse_fail(p, p->p, "expected '(' after the name of an operation");
    p->p++;
    return true;
}

static bool parse_generic(struct parser *p, const char *start, uint32_t results) {
    uint32_t first_pending = p->npendings, name = NONE;
    if (!read_op_name(p, &name))
        return false;
    uint32_t op = op_begin(p, start, results, name);
    if (!read_operands(p, op, ')') || !read_generic_tail(p, op, first_pending))
        return false;
    op_end(p, op);
    return true;
}

static bool read_result_names(struct parser *p) {
    do {
        struct result_name r = {.count = 1};
        parse_space(p);
        const char *from = p->p, *q;
        if (parse_peek(p) != '%' || (q = value_end(from + 1, p->end)) == from + 1)
            return parse_fail(p, from, "expected the name of a result");
        r.name = parse_span(p, from, q);
        if (q < p->end && *q == ':') {
            r.count = 0;
            for (q++; q < p->end && scan_is(*q, CH_DIGIT) && r.count < RESULT_MAX; q++)
                r.count = r.count * 10 + (uint32_t)(*q - '0');
            if (r.count == 0 || r.count >= RESULT_MAX)
                return parse_fail(p, from, "bad number of results");
        }
        p->p = q;
        p->results = grow(p->results, &p->results_cap, p->nresults + 1, sizeof *p->results);
        p->results[p->nresults++] = r;
    } while (parse_accept(p, ','));
    return parse_accept(p, '=') || parse_fail(p, p->p, "expected '=' after the results of an operation");
}

/* A bad op leaves nothing behind, unless something refers to it already: the ops of its regions,
 * its results, its function. */
static void drop_op(struct parser *p, uint32_t op, uint32_t noperands, uint32_t npendings) {
    struct mlir *m = p->m;
    if (m->nops <= op)
        return;
    bool is_func = m->nfuncs > 0 && m->funcs[m->nfuncs - 1].op >= op;
    if (m->nops > op + 1 || m->ops[op].nresults > 0 || is_func) {
        op_end(p, op);
        if (m->ops[op].nresults == 0)
            m->ops[op].first_result = m->nvalues;
        return;
    }
    m->nops = op;
    m->noperands = noperands;
    p->npendings = npendings < p->npendings ? npendings : p->npendings;
}

bool parse_op(struct parser *p) {
    const char *start = p->p;
    uint32_t results = p->nresults, op = p->m->nops, noperands = p->m->noperands, npendings = p->npendings;
    bool ok = *p->p != '%' || read_result_names(p);
    if (ok) {
        parse_space(p);
        ok = parse_peek(p) == '"' ? parse_generic(p, start, results) : parse_custom(p, start, results);
    }
    if (!ok)
        drop_op(p, op, noperands, npendings);
    p->nresults = results;
    return ok;
}
