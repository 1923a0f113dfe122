/* Names of values and what they are bound to.
 *
 * A scope is a region. Leaving one restores the bindings that it has hidden. Uses that come before
 * the definition wait until their scope ends; those that stay open at the end of an isolated scope
 * (a function, a module, the text) become undefined values, one for each name. */
#include "mlir/parser.h"

#include <string.h>

/* Digits without a leading zero, small enough for a dense array that stays below the text in size. */
static bool dense_number(const struct parser *p, const char *s, const char *end, uint32_t *out) {
    uint32_t limit = (uint32_t)(p->end - p->begin) / 2 + 64, v = 0;
    if (s == end || end - s > 9 || (*s == '0' && end - s > 1))
        return false;
    for (; s < end; s++) {
        if (!scan_is(*s, CH_DIGIT))
            return false;
        v = v * 10 + (uint32_t)(*s - '0');
    }
    *out = v;
    return v < limit;
}

static struct name_ref name_of(struct parser *p, struct span name) {
    const char *s = p->begin + name.begin, *end = p->begin + name.end;
    struct name_ref r;
    if (dense_number(p, s + 1, end, &r.index))
        r.kind = NAME_NUMBER;
    else if (end - s > 4 && memcmp(s, "%arg", 4) == 0 && dense_number(p, s + 4, end, &r.index))
        r.kind = NAME_ARG;
    else
        r = (struct name_ref){NAME_OTHER,
                              sym_add(p->m->tables, &p->m->tables->values, (struct str){s, (size_t)(end - s)})};
    if (r.index >= p->nbindings[r.kind]) {
        uint32_t old = p->nbindings[r.kind];
        p->bindings[r.kind] = grow(p->bindings[r.kind], &p->bindings_cap[r.kind], r.index + 1, sizeof **p->bindings);
        p->nbindings[r.kind] = p->bindings_cap[r.kind];
        memset(p->bindings[r.kind] + old, 0, (p->nbindings[r.kind] - old) * sizeof **p->bindings);
    }
    return r;
}

static struct binding *slot(const struct parser *p, struct name_ref r) {
    return &p->bindings[r.kind][r.index];
}

static void bind(struct parser *p, struct name_ref r, uint32_t value, uint32_t count) {
    struct binding *b = slot(p, r);
    if (p->undo_on) {
        p->undos = grow(p->undos, &p->undos_cap, p->nundos + 1, sizeof *p->undos);
        p->undos[p->nundos++] = (struct undo){r, *b};
    }
    *b = (struct binding){p->stamp, value, count};
    p->bound = true;
}

void scope_enter(struct parser *p, struct scope *s, bool isolated) {
    *s = (struct scope){p->stamp, p->nundos, p->npendings, isolated, p->undo_on, p->bound};
    if (isolated) {
        p->stamp = ++p->last_stamp;
        p->undo_on = p->undo_on || p->bound;
    } else {
        p->undo_on = true;
    }
}

static uint32_t undefined(struct parser *p, const struct pending *u) {
    struct mlir_value v = {
        .type = u->type == NONE ? p->no_type : u->type, .def = NONE, .index = u->result, .name = u->name};
    p->m->undefined_values++;
    return value_add(p->m, v);
}

static void resolve(struct parser *p, uint32_t from, bool last) {
    uint32_t kept = from;
    for (uint32_t i = from; i < p->npendings; i++) {
        struct pending u = p->pendings[i];
        struct binding *b = slot(p, u.ref);
        bool found = b->stamp == p->stamp && u.result < b->count;
        if (!found && !last) {
            p->pendings[kept++] = u;
            continue;
        }
        if (!found && b->stamp == p->stamp) {
            p->m->operands[u.operand] = undefined(p, &u);
            continue;
        }
        if (!found) {
            bind(p, u.ref, undefined(p, &u), u.result == 0);
            p->m->operands[u.operand] = slot(p, u.ref)->value;
            continue;
        }
        p->m->operands[u.operand] = b->value + u.result;
    }
    p->npendings = kept;
}

void scope_leave(struct parser *p, const struct scope *s) {
    if (p->npendings > s->pending_mark)
        resolve(p, s->pending_mark, s->isolated);
    while (p->nundos > s->undo_mark) {
        struct undo u = p->undos[--p->nundos];
        *slot(p, u.ref) = u.old;
    }
    p->stamp = s->stamp;
    p->undo_on = s->undo_on;
    p->bound = s->bound;
}

void scope_define(struct parser *p, struct span name, uint32_t value, uint32_t count) {
    bind(p, name_of(p, name), value, count);
}

/* Splits "%5#1" into its name and number. */
static struct span split_use(const struct parser *p, struct span use, uint32_t *result) {
    const char *s = p->begin + use.begin, *end = p->begin + use.end;
    *result = 0;
    const char *hash = end; /* before the digits at the end, or nowhere */
    while (hash > s && scan_is(hash[-1], CH_DIGIT))
        hash--;
    if (hash == s || *--hash != '#')
        return use;
    for (const char *c = hash + 1; c < end && *result < RESULT_MAX; c++)
        *result = *result * 10 + (uint32_t)(*c - '0');
    use.end = (uint32_t)(hash - p->begin);
    return use;
}

bool scope_defined(struct parser *p, struct span use) {
    uint32_t result;
    struct name_ref r = name_of(p, split_use(p, use, &result));
    const struct binding *b = slot(p, r);
    return b->stamp == p->stamp && result < b->count;
}

bool scope_use_bound(struct parser *p) {
    enum { LONGEST = 16 };
    struct mlir *m = p->m;
    const char *s = p->p + 1, *first;
    enum name_kind kind = NAME_NUMBER;
    uint32_t v = 0;
    if (p->end - p->p < LONGEST || *p->p != '%')
        return false;
    if (memcmp(s, "arg", 3) == 0) {
        kind = NAME_ARG;
        s += 3;
    }
    for (first = s; *s >= '0' && *s <= '9' && s - first < 9; s++)
        v = v * 10 + (uint32_t)(*s - '0');
    if (s == first || (*first == '0' && s - first > 1) || (*s != ',' && *s != ')') || v >= p->nbindings[kind])
        return false;
    const struct binding *b = &p->bindings[kind][v];
    if (b->stamp != p->stamp || b->count == 0)
        return false;
    m->operands = grow(m->operands, &m->operands_cap, m->noperands + 1, sizeof *m->operands);
    m->operands[m->noperands++] = b->value;
    p->p = s;
    return true;
}

void scope_use(struct parser *p, struct span use) {
    struct mlir *m = p->m;
    uint32_t result;
    struct span name = split_use(p, use, &result);
    struct name_ref r = name_of(p, name);
    const struct binding *b = slot(p, r);
    m->operands = grow(m->operands, &m->operands_cap, m->noperands + 1, sizeof *m->operands);
    if (b->stamp == p->stamp && result < b->count) {
        m->operands[m->noperands++] = b->value + result;
        return;
    }
    p->pendings = grow(p->pendings, &p->pendings_cap, p->npendings + 1, sizeof *p->pendings);
    p->pendings[p->npendings++] = (struct pending){r, m->noperands, result, NONE, name};
    m->operands[m->noperands++] = NONE;
}
