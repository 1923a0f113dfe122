/* Operations in generic form, and the pieces that all forms share: results, operands, types,
 * attribute dictionaries, locations. */
#include "mlir/parser.h"

#include <string.h>

static bool read_props(struct ir_parser *p, uint32_t op) {
    const char *at = p->p;
    parse_space(p);
    const char *open = p->p;
    if (parse_peek(p) != '<' || (p->p = scan_space(open + 1, p->end)) >= p->end || *p->p != '{') {
        p->p = at;
        return true;
    }
    struct span inside;
    const char *q = read_dict(p, p->p, op, &inside);
    if (!q || (q = scan_space(q, p->end)) >= p->end || *q != '>')
        return parse_fail(p, open, "properties are not closed");
    p->m->ops[op].props = inside;
    p->p = q + 1;
    return true;
}

/* The first region of a function is its body. */
static bool read_regions(struct ir_parser *p, uint32_t op, bool is_func) {
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
        bool closed = is_func ? func_body(p, op, func_begin(p, op, STR("")), true) : parse_region(p, op, isolated);
        if (!closed)
            return true; /* reported; the op itself is kept */
        is_func = false;
    } while (parse_accept(p, ','));
    return parse_accept(p, ')') || parse_fail(p, p->p, "regions are not closed");
}

/* The symbol in `callee = @f`, for the few ops that have one. */
static void read_callee(struct ir_parser *p, uint32_t op) {
    static const char *const keys[] = {"callee", "decomposition", "callees", "call_target_name"};
    struct str value;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!mlir_attr(p->m, op, keys[i], &value) || value.n < 2)
            continue;
        if (value.p[0] != '@')
            continue;
        const char *from = value.p + 1, *end = value.p + value.n;
        struct str name = {from, (size_t)(scan_name(from, end) - from)};
        if (*from == '"')
            name = (struct str){from + 1, value.n > 3 ? value.n - 3 : 0};
        p->m->ops[op].callee = parse_name(p, name);
        return;
    }
}

static bool read_generic_tail(struct ir_parser *p, uint32_t op, uint32_t first_forward) {
    uint8_t flags = p->name_flags[p->m->ops[op].name];
    uint32_t module = p->module, func = p->m->nfuncs;
    bool in_cpu = p->in_cpu_module;
    if (parse_accept(p, '[')) {
        const char *q = scan_balanced(p->p - 1, p->end);
        if (!q)
            return parse_fail(p, p->p, "successors are not closed");
        p->p = q;
    }
    if (!read_props(p, op))
        return false;
    if (flags & NF_MODULE)
        p->module = op;
    if (flags & NF_CPU)
        p->in_cpu_module = true;
    bool ok = read_regions(p, op, flags & NF_FUNC);
    p->module = module;
    p->in_cpu_module = in_cpu;
    ok = ok && read_attrs(p, op);
    if (flags & NF_FUNC && func < p->m->nfuncs && p->m->funcs[func].op == op)
        func_attributes(p, op, func);
    if (!ok)
        return false;
    if (flags & NF_CALLS)
        read_callee(p, op);
    if (parse_accept(p, ':'))
        return read_signature(p, op, first_forward) && read_loc(p, &p->m->ops[op].loc);
    if (!p->truncated)
        parse_say_bad(p, op, p->begin + p->m->ops[op].text.begin, "an operation without a type");
    p->ntypes = 0;
    set_results(p, op, 0);
    return read_loc(p, &p->m->ops[op].loc);
}

/* The name in quotes and the '(' after it. */
static bool read_op_name(struct ir_parser *p, uint32_t *name) {
    struct recent_text *recent = recent_name(p->recent, p->p, p->end);
    if (recent_is(recent, p->p, p->end)) {
        *name = recent->id;
        p->p += recent->n;
    } else {
        const char *close = scan_string(p->p, p->end);
        if (!close)
            return parse_fail(p, p->p, "the name of an operation is not closed");
        *name = parse_name(p, (struct str){p->p + 1, (size_t)(close - p->p - 2)});
        recent_keep(recent, p->p, close, *name);
        p->p = close;
    }
    return parse_accept(p, '(') || parse_fail(p, p->p, "expected '(' after the name of an operation");
}

static bool parse_generic(struct ir_parser *p, const char *start, uint32_t results) {
    uint32_t first_forward = p->names.nforward, name = NONE;
    if (!read_op_name(p, &name))
        return false;
    uint32_t op = op_begin(p, start, results, name);
    if (!read_operands(p, op, ')') || !read_generic_tail(p, op, first_forward))
        return false;
    op_end(p, op);
    return true;
}

static bool read_result_names(struct ir_parser *p) {
    do {
        struct result_name r = {.count = 1};
        parse_space(p);
        const char *from = p->p, *q;
        if (parse_peek(p) != '%' || (q = scope_name(p, from, &r.ref)) == from + 1)
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
static void drop_op(struct ir_parser *p, uint32_t op, uint32_t noperands, uint32_t nforward) {
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
    p->names.nforward = nforward < p->names.nforward ? nforward : p->names.nforward;
}

bool parse_op(struct ir_parser *p) {
    const char *start = p->p;
    uint32_t results = p->nresults, op = p->m->nops, noperands = p->m->noperands, nforward = p->names.nforward;
    bool ok = *p->p != '%' || read_result_names(p);
    if (ok) {
        parse_space(p);
        ok = parse_peek(p) == '"' ? parse_generic(p, start, results) : parse_custom(p, start, results);
    }
    if (!ok) {
        drop_op(p, op, noperands, nforward);
        for (uint32_t i = results; i < p->nresults; i++)
            scope_lose(p, p->results[i].ref);
    }
    p->nresults = results;
    return ok;
}
