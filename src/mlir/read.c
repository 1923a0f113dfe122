/* The pieces that generic and custom assembly share: results, operands, types, signatures, attribute dictionaries,
 * locations, symbols. */
#include "mlir/parser.h"

#include <string.h>

uint32_t op_begin(struct ir_parser *p, const char *start, uint32_t results, uint32_t name) {
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

void op_end(struct ir_parser *p, uint32_t op) {
    if (p->m->ops[op].text.end == 0)
        p->m->ops[op].text.end = (uint32_t)(p->p - p->begin);
}

bool read_use(struct ir_parser *p, struct value_use *use) {
    const char *from = p->p;
    if (from >= p->end || *from != '%')
        return parse_fail(p, from, "expected a value");
    const char *q = scope_name(p, from, &use->ref);
    if (q == from + 1)
        return parse_fail(p, from, "expected the name of a value after '%'");
    use->name = parse_span(p, from, q);
    use->result = 0;
    if (q < p->end && *q == '#')
        for (q++; q < p->end && scan_is(*q, CH_DIGIT); q++)
            use->result = use->result < RESULT_MAX ? use->result * 10 + (uint32_t)(*q - '0') : use->result;
    p->p = q;
    return true;
}

bool read_uses(struct ir_parser *p) {
    struct value_use use;
    do {
        parse_space(p);
        if (!read_use(p, &use))
            return false;
        scope_use(p, &use);
    } while (parse_accept(p, ','));
    return true;
}

bool read_operands(struct ir_parser *p, uint32_t op, char close) {
    struct mlir *m = p->m;
    if (!parse_accept(p, close)) {
        if (!read_uses(p))
            return false;
        if (!parse_accept(p, close))
            return parse_fail(p, p->p, "operands are not closed");
    }
    m->ops[op].noperands = m->noperands - m->ops[op].first_operand;
    return true;
}

bool read_type(struct ir_parser *p, uint32_t *type) {
    const char *at = p->p;
    parse_space(p);
    struct recent_text *recent = recent_type(p->recent, p->p, p->end);
    if (recent_is(recent, p->p, p->end)) {
        *type = recent->id;
        p->p += recent->n;
        return true;
    }
    const char *q = scan_type(p->p, p->end);
    if (q == p->p) {
        p->p = at; /* the next line is not part of the bad op */
        return parse_fail(p, at, "expected a type");
    }
    *type = type_add(p->m, (struct str){p->p, (size_t)(q - p->p)});
    if (q[-1] == '>' && *p->p != '(')
        recent_keep(recent, p->p, q, *type);
    p->p = q;
    return true;
}

bool read_types(struct ir_parser *p) {
    uint32_t type = NONE;
    do {
        if (!read_type(p, &type))
            return false;
        p->types = grow(p->types, &p->types_cap, p->ntypes + 1, sizeof *p->types);
        p->types[p->ntypes++] = type;
    } while (parse_accept(p, ','));
    return true;
}

static bool read_type_group(struct ir_parser *p) {
    if (!parse_accept(p, '('))
        return read_types(p);
    if (parse_accept(p, ')'))
        return true;
    if (!read_types(p))
        return false;
    return parse_accept(p, ')') || parse_fail(p, p->p, "types are not closed");
}

void set_operand_types(struct ir_parser *p, uint32_t op, uint32_t first_forward, uint32_t ntypes) {
    const struct mlir_op *o = &p->m->ops[op];
    for (uint32_t i = first_forward; i < p->names.nforward; i++) {
        uint32_t k = p->names.forward[i].operand - o->first_operand;
        if (k < ntypes && k < o->noperands)
            p->names.forward[i].type = p->types[k];
    }
}

/* Takes the signature if it stands here: its types go to p->types. */
static bool take_signature(struct ir_parser *p, const struct recent_signature *s) {
    if (s->n == 0 || (size_t)(p->end - p->p) < s->n || memcmp(s->p, p->p, s->n) != 0)
        return false;
    const char *next = scan_space(p->p + s->n, p->end);
    if (next < p->end && *next == ',') /* one more result */
        return false;
    p->types = grow(p->types, &p->types_cap, s->ntypes, sizeof *p->types);
    memcpy(p->types, s->types, s->ntypes * sizeof *p->types);
    p->ntypes = s->ntypes;
    p->p += s->n;
    return true;
}

static void keep_signature(const struct ir_parser *p, struct recent_signature *s, const char *from,
                           uint32_t noperands) {
    if (p->ntypes != noperands + 1 || p->ntypes > RECENT_SIGNATURE_TYPES || p->p[-1] != '>')
        return;
    *s = (struct recent_signature){from, (uint32_t)(p->p - from), p->ntypes, {0}};
    memcpy(s->types, p->types, p->ntypes * sizeof *p->types);
}

bool read_signature(struct ir_parser *p, uint32_t op, uint32_t first_forward) {
    const char *at = p->p;
    p->ntypes = 0;
    parse_space(p);
    const char *from = p->p;
    if (parse_peek(p) != '(')
        return parse_fail(p, p->p, "expected '(' of a function type");
    struct recent_signature *recent = recent_signature(p->recent, p->p, p->end, p->m->ops[op].name);
    if (recent && recent->ntypes == p->m->ops[op].noperands + 1 && take_signature(p, recent)) {
        set_operand_types(p, op, first_forward, recent->ntypes - 1);
        set_results(p, op, recent->ntypes - 1);
        return true;
    }
    if (!read_type_group(p))
        return false;
    uint32_t n = p->ntypes;
    parse_space(p);
    if (p->end - p->p < 2 || p->p[0] != '-' || p->p[1] != '>')
        return parse_fail(p, p->p, "expected '->'");
    p->p += 2;
    if (!read_type_group(p))
        return false;
    if (recent)
        keep_signature(p, recent, from, n);
    if (n != p->m->ops[op].noperands)
        parse_say_bad(p, op, at, "the number of operand types differs from the number of operands");
    set_operand_types(p, op, first_forward, n);
    set_results(p, op, n);
    return true;
}

void bind_results(struct ir_parser *p, uint32_t names, uint32_t first, uint32_t n) {
    for (uint32_t i = names; i < p->nresults && n > 0; i++) {
        uint32_t count = p->results[i].count < n ? p->results[i].count : n;
        scope_define(p, p->results[i].ref, first, count);
        first += count;
        n -= count;
    }
}

void set_results(struct ir_parser *p, uint32_t op, uint32_t first_type) {
    struct mlir *m = p->m;
    uint32_t names = m->ops[op].first_result, first = m->nvalues, n = 0;
    uint32_t ntypes = p->ntypes > first_type ? p->ntypes - first_type : 0;
    if (ntypes == 1 && p->nresults == names + 1 && p->results[names].count == 1) {
        /* as almost always: saves 2 of 345 million instructions for 10 MB (callgrind) */
        value_add(m, (struct mlir_value){.type = p->types[first_type], .def = op, .name = p->results[names].name});
        m->ops[op].first_result = first;
        m->ops[op].nresults = 1;
        scope_define(p, p->results[names].ref, first, 1);
        return;
    }
    /* Every result has a type somewhere in the text: "%0:65535" of a damaged text is not believed. */
    uint32_t most = ntypes + 64;
    for (uint32_t i = names; i < p->nresults; i++)
        for (uint32_t k = 0; k < p->results[i].count && n < most; k++, n++)
            value_add(m, (struct mlir_value){.type = n < ntypes ? p->types[first_type + n] : p->no_type,
                                             .def = op,
                                             .index = n,
                                             .name = p->results[i].name});
    if (names == p->nresults) /* results that nobody uses may go without names */
        for (; n < ntypes; n++)
            value_add(m, (struct mlir_value){.type = p->types[first_type + n], .def = op, .index = n});
    else if (ntypes && ntypes != n)
        parse_say_bad(p, op, p->begin + m->ops[op].text.begin,
                      "the number of result types differs from the number of results");
    m->ops[op].first_result = first;
    m->ops[op].nresults = n;
    bind_results(p, names, first, n);
}

const char *read_dict(struct ir_parser *p, const char *at, uint32_t op, struct span *inside) {
    struct recent_text *recent = recent_dict(p->recent, at, p->end, p->m->ops[op].name);
    if (recent_is(recent, at, p->end)) {
        *inside = parse_span(p, recent->p + 1, recent->p + recent->n - 1);
        return at + recent->n;
    }
    const char *q = scan_balanced(at, p->end);
    if (!q)
        return NULL;
    *inside = parse_span(p, at + 1, q - 1);
    recent_keep(recent, at, q, 0);
    return q;
}

bool read_attrs(struct ir_parser *p, uint32_t op) {
    if (!parse_at(p, '{'))
        return true;
    const char *q = read_dict(p, p->p, op, &p->m->ops[op].attrs);
    if (!q)
        return parse_fail(p, p->p, "attributes are not closed");
    p->p = q;
    return true;
}

bool read_loc(struct ir_parser *p, struct span *loc) {
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

bool read_symbol(struct ir_parser *p, struct str *name) {
    parse_space(p);
    const char *from = p->p + 1, *q;
    if (parse_peek(p) != '@')
        return parse_fail(p, p->p, "expected a symbol");
    if (from < p->end && *from == '"') {
        if (!(q = scan_string(from, p->end)))
            return parse_fail(p, p->p, "a symbol is not closed");
        *name = (struct str){from + 1, (size_t)(q - from - 2)};
    } else {
        q = scan_name(from, p->end);
        if (q == from)
            return parse_fail(p, p->p, "expected the name of a symbol after '@'");
        *name = (struct str){from, (size_t)(q - from)};
    }
    p->p = q;
    return true;
}
