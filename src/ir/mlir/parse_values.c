/* Names of values: what each stands for where it is used. A region that is isolated sees no name from outside; one that
 * is used before its definition becomes an operand at the end of the region. */
#include "ir/mlir/parse.h"

#include <string.h>

enum { NEST_MAX = 256, SPARE_RESULTS = 64 };

bool read_value_name(struct ir_parser *p, struct span *text, uint32_t *name) {
    const char *from = p->p, *q = peek(p) == '%' ? scan_name(from + 1, p->end) : from;
    if (q <= from + 1)
        return parse_fail(p, from, q == from ? "expected a value" : "expected the name of a value after '%'");
    *text = span_of(p, from, q);
    *name = sym_add(p->m->tables, &p->m->tables->values, (struct str){from, (size_t)(q - from)});
    uint32_t old = p->nbindings;
    if (*name >= old) {
        p->bindings = grow(p->bindings, &p->nbindings, *name + 1, sizeof *p->bindings);
        memset(p->bindings + old, 0, (p->nbindings - old) * sizeof *p->bindings);
    }
    p->p = q;
    return true;
}

uint32_t read_result_count(struct ir_parser *p) {
    uint32_t n = 0;
    for (p->p++; p->p < p->end && scan_is(*p->p, CH_DIGIT); p->p++)
        n = n < RESULT_MAX ? n * 10 + (uint32_t)(*p->p - '0') : n;
    return n;
}

bool read_use(struct ir_parser *p, struct value_use *use) {
    if (!read_value_name(p, &use->text, &use->name))
        return false;
    use->result = peek(p) == '#' ? read_result_count(p) : 0;
    return true;
}

const struct name_binding *name_binding_of(const struct ir_parser *p, const struct value_use *u) {
    const struct name_binding *b = &p->bindings[u->name];
    return b->stamp == p->in.stamp && u->result < b->count ? b : NULL;
}

/* What the op says of names is known: it is in a function, and neither it nor an op around it is unknown assembly. */
static bool is_strict(const struct ir_parser *p, uint32_t op) {
    const struct mlir *m = p->m;
    if (op >= m->nops || m->ops[op].func == NONE)
        return false;
    for (uint32_t o = op; o != m->funcs[m->ops[op].func].op && o != NONE; o = m->ops[o].parent)
        if (m->ops[o].custom)
            return false;
    return true;
}

static void bad_name(struct ir_parser *p, uint32_t op, struct span name, const char *fault) {
    p->m->ops[op].bad = true;
    if (fault && p->d && !diag_drop(p->d, SEV_ERROR))
        diag_add(p->d, SEV_ERROR, log_place(p->m->source, p->m->block, name.begin), NULL, "%.*s %s",
                 (int)(name.end - name.begin), p->begin + name.begin, fault);
}

void name_bind(struct ir_parser *p, uint32_t name, struct name_binding b) {
    p->shadowed = grow(p->shadowed, &p->shadowed_cap, p->nshadowed + 1, sizeof *p->shadowed);
    p->shadowed[p->nshadowed++] = (struct shadowed_binding){name, p->bindings[name]};
    b.stamp = p->in.stamp;
    p->bindings[name] = b;
}

void name_define(struct ir_parser *p, uint32_t name, uint32_t value, uint32_t count) {
    uint32_t op = p->m->values[value].def;
    if (p->bindings[name].stamp == p->in.stamp && op != NONE && is_strict(p, op))
        bad_name(p, op, p->m->values[value].name, "is defined twice");
    name_bind(p, name, (struct name_binding){.value = value, .count = count});
}

void add_operand(struct ir_parser *p, const struct value_use *u) {
    struct mlir *m = p->m;
    const struct name_binding *b = name_binding_of(p, u);
    m->operands = grow(m->operands, &m->operands_cap, m->noperands + 1, sizeof *m->operands);
    if (!b) {
        p->forward = grow(p->forward, &p->forward_cap, p->nforward + 1, sizeof *p->forward);
        p->forward[p->nforward++] = (struct forward_use){*u, m->noperands, m->nops - 1, NONE};
    }
    m->operands[m->noperands++] = b ? b->value + u->result : NONE;
}

/* At the end of an isolated region no definition can follow: what is not bound becomes an undefined value. */
static void resolve(struct ir_parser *p, uint32_t from, bool isolated) {
    uint32_t kept = from;
    for (uint32_t i = from; i < p->nforward; i++) {
        struct forward_use u = p->forward[i];
        struct name_binding b = p->bindings[u.use.name];
        bool named = b.stamp == p->in.stamp, found = named && u.use.result < b.count, strict = is_strict(p, u.op);
        if (!found && !isolated) {
            p->forward[kept++] = u;
            continue;
        }
        uint32_t v = b.value + u.use.result;
        if (!found) {
            p->m->undefined_values++;
            v = value_add(p->m, (struct mlir_value){.type = u.type == NONE ? p->no_type : u.type,
                                                    .def = NONE,
                                                    .index = u.use.result,
                                                    .name = u.use.text});
            if (!named)
                name_bind(p, u.use.name,
                          (struct name_binding){.value = v, .count = u.use.result == 0, .undefined = true});
        }
        p->m->operands[u.operand] = v;
        if (strict && ((found && b.undefined) || (named && !found && b.count == 0)))
            bad_name(p, u.op, u.use.text, NULL); /* it was said */
        else if (strict && (!found || !p->in.several_blocks))
            bad_name(p, u.op, u.use.text,
                     found   ? "is used before it is defined"
                     : named ? "has no result of this number"
                             : "is not defined");
    }
    p->nforward = kept;
}

void region_enter(struct ir_parser *p, struct ir_region *r, bool isolated) {
    *r = (struct ir_region){p->in, p->nshadowed, p->nforward, isolated};
    if (isolated)
        p->in.stamp = ++p->last_stamp;
}

void region_leave(struct ir_parser *p, const struct ir_region *r) {
    resolve(p, r->forward, r->isolated);
    for (; p->nshadowed > r->shadowed; p->nshadowed--)
        p->bindings[p->shadowed[p->nshadowed - 1].name] = p->shadowed[p->nshadowed - 1].old;
    bool blocks = p->in.several_blocks; /* of the function */
    uint32_t func = p->in.func;
    p->in = r->outer;
    p->in.several_blocks = func == r->outer.func ? blocks : r->outer.several_blocks;
}

/* From '{' to behind '}'; false when the text ends first. */
bool parse_region(struct ir_parser *p, uint32_t op) {
    const char *open = p->p++;
    if (p->depth >= NEST_MAX) {
        const char *close = scan_balanced(open, p->end);
        parse_say(p, SEV_ERROR, open, "regions are nested too deeply; this one is skipped");
        p->m->bad_ops++;
        p->p = close ? close : p->end;
        return close != NULL;
    }
    p->in.parent = op;
    p->depth++;
    bool closed = p->read_ops(p);
    p->depth--;
    return closed;
}

void type_operands(struct ir_parser *p, uint32_t op, uint32_t first_forward, uint32_t n) {
    const struct mlir_op *o = &p->m->ops[op];
    for (uint32_t i = first_forward; i < p->nforward; i++) {
        uint32_t k = p->forward[i].operand - o->first_operand;
        if (k < n && k < o->noperands)
            p->forward[i].type = p->types[k];
    }
}

void bind_results(struct ir_parser *p, uint32_t names, uint32_t op) {
    uint32_t first = p->m->ops[op].first_result, n = p->m->ops[op].nresults;
    for (uint32_t i = names; i < p->nresults && n > 0; i++) {
        uint32_t count = p->results[i].count < n ? p->results[i].count : n;
        name_define(p, p->results[i].name, first, count);
        first += count;
        n -= count;
    }
}

/* Values of the results from `names` on, at most `most`: "%0:65535" of a damaged text is not believed. */
void add_results(struct ir_parser *p, uint32_t op, uint32_t names, uint32_t most) {
    struct mlir_op *o = &p->m->ops[op];
    o->first_result = p->m->nvalues;
    o->nresults = 0;
    for (uint32_t i = names; i < p->nresults; i++)
        for (uint32_t k = 0; k < p->results[i].count && o->nresults < most; k++)
            value_add(p->m, (struct mlir_value){
                                .type = p->no_type, .def = op, .index = o->nresults++, .name = p->results[i].text});
}

/* The types from p->types[from] on. */
void set_results(struct ir_parser *p, uint32_t op, uint32_t names, uint32_t from) {
    uint32_t n = p->ntypes > from ? p->ntypes - from : 0;
    add_results(p, op, names, n + SPARE_RESULTS);
    struct mlir_op *o = &p->m->ops[op];
    if (names == p->nresults) /* results that nobody uses may go without names */
        for (; o->nresults < n; o->nresults++)
            value_add(p->m, (struct mlir_value){.def = op, .index = o->nresults});
    else if (n && n != o->nresults)
        parse_say_bad(p, op, p->begin + o->text.begin, "the number of result types differs from the number of results");
    for (uint32_t i = 0; i < n && i < o->nresults; i++)
        p->m->values[o->first_result + i].type = p->types[from + i];
    if (o->nresults == 0 && from > 0 && p->flags[o->name] & OP_WRITES) /* what is in the operand then, without a name */
        value_add(p->m, (struct mlir_value){.type = p->types[0], .def = op, .index = o->nresults++});
    bind_results(p, names, op);
}

/* Up to `close`. */
bool read_operands(struct ir_parser *p, uint32_t op, char close) {
    struct value_use use;
    bool more = !accept(p, close);
    while (more) {
        space(p);
        if (!read_use(p, &use))
            return false;
        add_operand(p, &use);
        more = accept(p, ',');
        if (!more && !accept(p, close))
            return parse_fail(p, p->p, "operands are not closed");
    }
    p->m->ops[op].noperands = p->m->noperands - p->m->ops[op].first_operand;
    return true;
}
