/* Names of SSA values and what they are bound to.
 *
 * A scope is a region. Leaving one restores the bindings that it has shadowed. Uses that come before the definition are
 * resolved when their scope ends; those that no definition of an isolated scope (a function, a module, the text) meets
 * become undefined values, one for each name.
 *
 * In a function each of these is an error, and so is a second definition: the op that uses or repeats the name is bad.
 * Op lines outside of functions are a fragment, whose undefined names are arguments. Unknown custom assembly has names
 * of its own (arguments of regions among them), so nothing is said about it and what is inside. */
#include "mlir/parser.h"

#include <string.h>

const char *scope_name(struct ir_parser *p, const char *at, struct name_ref *r) {
    /* an index of an array: at most half the bytes of the text, so that a huge number in a small text allocates no huge
     * array */
    uint32_t limit = (uint32_t)(p->end - p->begin) / 2 + 64;
    struct name_table *t = &p->names;
    const char *s = at + 1, *end = p->end;
    *r = (struct name_ref){NAME_NUMBER, 0};
    if (end - s > 3 && memcmp(s, "arg", 3) == 0) {
        r->kind = NAME_ARG;
        s += 3;
    }
    const char *digits = s;
    for (uint32_t d; s < end && (d = (uint32_t)(*s - '0')) <= 9; s++)
        r->index = r->index * 10 + d;
    const char *stop = scan_name(s, end);
    if (stop > s || s == digits || s - digits > 9 || (*digits == '0' && s - digits > 1) || r->index >= limit)
        *r = (struct name_ref){NAME_OTHER,
                               sym_add(p->m->tables, &p->m->tables->values, (struct str){at, (size_t)(stop - at)})};
    uint32_t old = t->nbindings[r->kind];
    if (r->index >= old) {
        t->bindings[r->kind] = grow(t->bindings[r->kind], &t->nbindings[r->kind], r->index + 1, sizeof **t->bindings);
        memset(t->bindings[r->kind] + old, 0, (t->nbindings[r->kind] - old) * sizeof **t->bindings);
    }
    return stop;
}

static struct name_binding *slot(const struct ir_parser *p, struct name_ref r) {
    return &p->names.bindings[r.kind][r.index];
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

/* The op does not mean what its name says. */
static void bad_name(struct ir_parser *p, uint32_t op, struct span name, const char *fault) {
    struct mlir *m = p->m;
    m->ops[op].bad = true;
    if (fault && p->d && !diag_drop(p->d, SEV_ERROR))
        diag_add(p->d, SEV_ERROR, log_place(m->source, m->block, name.begin), NULL, "%.*s %s",
                 (int)(name.end - name.begin), p->begin + name.begin, fault);
}

static void bind(struct ir_parser *p, struct name_ref r, uint32_t value, uint32_t count) {
    struct name_table *t = &p->names;
    struct name_binding *b = slot(p, r);
    if (t->keeps_shadowed) {
        t->shadowed = grow(t->shadowed, &t->shadowed_cap, t->nshadowed + 1, sizeof *t->shadowed);
        t->shadowed[t->nshadowed++] = (struct shadowed_binding){r, *b};
    }
    *b = (struct name_binding){.stamp = t->stamp, .value = value, .count = count};
    t->bound = true;
}

void scope_enter(struct ir_parser *p, struct name_scope *s, bool isolated) {
    struct name_table *t = &p->names;
    *s = (struct name_scope){.stamp = t->stamp,
                             .first_shadowed = t->nshadowed,
                             .first_forward = t->nforward,
                             .isolated = isolated,
                             .keeps_shadowed = t->keeps_shadowed,
                             .bound = t->bound};
    if (isolated) {
        t->stamp = ++t->last_stamp;
        t->keeps_shadowed = t->keeps_shadowed || t->bound;
    } else {
        t->keeps_shadowed = true;
    }
}

static uint32_t undefined(struct ir_parser *p, const struct forward_use *u) {
    struct mlir_value v = {
        .type = u->type == NONE ? p->no_type : u->type, .def = NONE, .index = u->use.result, .name = u->use.name};
    p->m->undefined_values++;
    return value_add(p->m, v);
}

/* Gives operands their values where the names are bound by now. At the end of an isolated scope no more definitions can
 * follow: what is not bound then becomes an undefined value. */
static void resolve(struct ir_parser *p, uint32_t from, bool isolated) {
    struct name_table *t = &p->names;
    uint32_t kept = from;
    for (uint32_t i = from; i < t->nforward; i++) {
        struct forward_use u = t->forward[i];
        const struct name_binding *b = slot(p, u.use.ref);
        bool named = b->stamp == t->stamp, found = named && u.use.result < b->count;
        if (!found && !isolated) {
            t->forward[kept++] = u;
            continue;
        }
        bool undefined_before = found && b->undefined, strict = is_strict(p, u.op);
        uint32_t v = found ? b->value + u.use.result : undefined(p, &u);
        p->m->operands[u.operand] = v;
        if (!found && !named) {
            bind(p, u.use.ref, v, u.use.result == 0);
            slot(p, u.use.ref)->undefined = true;
        }
        if (strict && (undefined_before || (named && !found && b->count == 0)))
            bad_name(p, u.op, u.use.name, NULL); /* it was said */
        else if (strict && (!found || !p->several_blocks))
            bad_name(p, u.op, u.use.name,
                     found   ? "is used before it is defined"
                     : named ? "has no result of this number"
                             : "is not defined");
    }
    t->nforward = kept;
}

void scope_leave(struct ir_parser *p, const struct name_scope *s) {
    struct name_table *t = &p->names;
    if (t->nforward > s->first_forward)
        resolve(p, s->first_forward, s->isolated);
    while (t->nshadowed > s->first_shadowed) {
        struct shadowed_binding u = t->shadowed[--t->nshadowed];
        *slot(p, u.ref) = u.old;
    }
    t->stamp = s->stamp;
    t->keeps_shadowed = s->keeps_shadowed;
    t->bound = s->bound;
}

void scope_define(struct ir_parser *p, struct name_ref r, uint32_t value, uint32_t count) {
    uint32_t op = p->m->values[value].def;
    if (slot(p, r)->stamp == p->names.stamp && op != NONE && is_strict(p, op))
        bad_name(p, op, p->m->values[value].name, "is defined twice");
    bind(p, r, value, count);
}

bool scope_defined(const struct ir_parser *p, const struct value_use *use) {
    const struct name_binding *b = slot(p, use->ref);
    return b->stamp == p->names.stamp && use->result < b->count;
}

void scope_use(struct ir_parser *p, const struct value_use *use) {
    struct mlir *m = p->m;
    struct name_table *t = &p->names;
    bool defined = scope_defined(p, use);
    m->operands = grow(m->operands, &m->operands_cap, m->noperands + 1, sizeof *m->operands);
    if (!defined) {
        t->forward = grow(t->forward, &t->forward_cap, t->nforward + 1, sizeof *t->forward);
        t->forward[t->nforward++] =
            (struct forward_use){.use = *use, .operand = m->noperands, .op = m->nops - 1, .type = NONE};
    }
    m->operands[m->noperands++] = defined ? slot(p, use->ref)->value + use->result : NONE;
}

void scope_lose(struct ir_parser *p, struct name_ref r) {
    if (!scope_defined(p, &(struct value_use){.ref = r}))
        bind(p, r, NONE, 0);
}
