#include "compile/apply/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "ir/mlir/scan.h"

/* ---- what nothing uses any more ---- */

struct sweeping {
    const struct graph *g;
    uint32_t *uses;  /* per value: operands of ops that stay, and reads of replacements */
    bool *goes;      /* per op */
    bool *candidate; /* per op: something that went used it */
};

static bool may_go(const struct graph *g, uint32_t op) {
    enum op_class class = graph_class(g, op);
    return g->m->ops[op].nresults > 0 && class != OP_CALL && class != OP_RETURN && class != OP_STRUCTURE &&
           g->kind[op] != NO_OPERATOR;
}

static void remove_op(struct sweeping *s, uint32_t op) {
    const struct mlir *m = s->g->m;
    s->goes[op] = true;
    for (uint32_t k = 0; k < m->ops[op].noperands; k++) {
        uint32_t v = m->operands[m->ops[op].first_operand + k], def = v == NONE ? NONE : m->values[v].def;
        if (v == NONE)
            continue;
        s->uses[v]--;
        if (def != NONE)
            s->candidate[def] = true;
    }
}

/* Users stand behind what they use, so that one pass from the end is enough. */
static void sweep_unused(struct sweeping *s) {
    const struct mlir *m = s->g->m;
    for (uint32_t op = m->nops; op-- > 0;) {
        bool used = s->goes[op] || !s->candidate[op] || !may_go(s->g, op);
        for (uint32_t k = 0; k < m->ops[op].nresults && !used; k++)
            used = s->uses[m->ops[op].first_result + k] > 0;
        if (!used)
            remove_op(s, op);
    }
}

/* By op: the op that it has to stand before; NONE: it stays. */
static uint32_t *places_of(const struct mlir *m, const struct replacement *all, uint32_t n, struct arena *a) {
    uint32_t *before = arena_alloc(a, (m->nops + (size_t)1) * sizeof *before);
    memset(before, 0xFF, m->nops * sizeof *before);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; all[i].written && k < all[i].nmoved; k++) {
            uint32_t *place = &before[all[i].moved[k]];
            *place = all[i].place < *place ? all[i].place : *place;
        }
    return before;
}

/* The text with the ops that are moved in front of it. */
static struct str with_moved(const struct mlir *m, const struct replacement *r, const uint32_t *before,
                             struct arena *a) {
    struct buf b = {0};
    for (uint32_t k = 0; k < r->nmoved; k++) {
        struct str op = mlir_span(m, m->ops[r->moved[k]].text);
        if (before[r->moved[k]] == r->place)
            buf_printf(&b, "%.*s\n%.*s", (int)op.n, op.p, (int)r->indent.n, r->indent.p);
    }
    buf_add(&b, r->text);
    return buf_take(&b, a);
}

struct span function_text(const struct mlir *m, uint32_t func) {
    const struct mlir_func *f = &m->funcs[func];
    struct span s = m->ops[f->op].text;
    if (f->first_op == f->end_op)
        return s;
    const char *end = m->text.p + m->text.n, *p = m->text.p + m->ops[f->end_op - 1].text.end;
    while (p < end && *p++ != '}') {
    }
    s.end = (uint32_t)(p - m->text.p);
    p = scan_space(p, end);
    if (str_starts((struct str){p, (size_t)(end - p)}, STR("loc(")) && (p = scan_balanced(p + 3, end)))
        s.end = (uint32_t)(p - m->text.p);
    return s;
}

/* Behind the function of the op, and its line. */
static uint32_t end_of_function(const struct mlir *m, uint32_t op) {
    uint32_t end = function_text(m, m->ops[op].func).end, at = end;
    while (at < m->text.n && (m->text.p[at] == ' ' || m->text.p[at] == '\r'))
        at++;
    return at < m->text.n && m->text.p[at] == '\n' ? at + 1 : end;
}

struct text_edits rewrite_module(const struct graph *g, const struct replacement *all, uint32_t n, struct arena *a) {
    const struct mlir *m = g->m;
    struct text_edits edits = {0};
    struct buf aliases = {0};
    uint32_t end = (uint32_t)m->text.n;
    if (end && m->text.p[end - 1] != '\n')
        buf_addc(&aliases, '\n');
    uint32_t *before = places_of(m, all, n, a);
    bool *replaced = arena_alloc(a, m->nops + (size_t)1);
    struct sweeping s = {g, arena_alloc(a, (m->nvalues + (size_t)1) * sizeof *s.uses),
                         arena_alloc(a, m->nops + (size_t)1), arena_alloc(a, m->nops + (size_t)1)};
    for (uint32_t i = 0; i < m->noperands; i++)
        if (m->operands[i] != NONE)
            s.uses[m->operands[i]]++;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; all[i].written && k < all[i].nreads; k++)
            s.uses[all[i].reads[k]]++;
    for (uint32_t i = 0; i < n; i++)
        if (all[i].written) {
            replaced[all[i].place] = true;
            for (uint32_t k = 0; k < all[i].nroots; k++)
                remove_op(&s, all[i].roots[k]);
            text_edits_add(&edits, m->ops[all[i].place].text, with_moved(m, &all[i], before, a));
            if (all[i].functions.n) {
                uint32_t at = end_of_function(m, all[i].place);
                text_edits_add(&edits, (struct span){at, at}, all[i].functions);
            }
            buf_add(&aliases, all[i].alias);
        }
    sweep_unused(&s);
    for (uint32_t op = 0; op < m->nops; op++)
        if ((s.goes[op] || before[op] != NONE) && !replaced[op])
            text_edits_add(&edits, whole_lines(m->text, m->ops[op].text), STR(""));
    struct str lines = buf_take(&aliases, a);
    if (lines.n > 1)
        text_edits_add(&edits, (struct span){end, end}, lines);
    return edits;
}

/* ---- arguments that hold a number ---- */

static void add_number(struct taken_numbers *t, struct taken_number x) {
    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i].argument == x.argument)
            return;
    t->items[t->n++] = x;
}

struct taken_numbers take_numbers(const struct replacement *all, uint32_t n, struct arena *a) {
    size_t most = 1;
    for (uint32_t i = 0; i < n; i++)
        most += all[i].written ? all[i].ntaken : 0;
    struct taken_numbers t = {arena_alloc(a, most * sizeof *t.items), 0};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; all[i].written && k < all[i].ntaken; k++)
            add_number(&t, all[i].taken[k]);
    return t;
}

static const struct mlir_func *function_of(const struct mlir *m, uint32_t argument) {
    const struct mlir_func *f = NULL;
    for (uint32_t i = 0; i < m->nfuncs && !f; i++)
        if (argument >= m->funcs[i].first_arg && argument < m->funcs[i].first_arg + m->funcs[i].nargs)
            f = &m->funcs[i];
    return f;
}

void add_numbers(struct taken_numbers *t, const struct mlir *to, struct taken_numbers more, const struct mlir *from,
                 struct arena *a) {
    struct taken_number *items = arena_alloc(a, (t->n + more.n + (size_t)1) * sizeof *items);
    if (t->n)
        memcpy(items, t->items, t->n * sizeof *items);
    t->items = items;
    for (uint32_t i = 0; i < more.n; i++) {
        struct taken_number x = more.items[i];
        const struct mlir_func *f = function_of(from, x.argument);
        for (uint32_t k = 0; f && k < to->nfuncs; k++)
            if (str_eq(to->names[to->funcs[k].name], from->names[f->name]) && to->funcs[k].nargs == f->nargs)
                add_number(t, (struct taken_number){to->funcs[k].first_arg + (x.argument - f->first_arg), x.number});
    }
}

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '.' || c == '-';
}

/* Each use of a name as an operand of an op. */
static void rename_uses(const struct mlir *m, uint32_t op, struct str name, struct str to, struct text_edits *edits) {
    struct span s = m->ops[op].text;
    for (uint32_t at = s.begin; at + name.n <= s.end; at++) {
        bool ends = at + name.n == m->text.n || !is_name_char(m->text.p[at + name.n]);
        if (ends && memcmp(m->text.p + at, name.p, name.n) == 0)
            text_edits_add(edits, (struct span){at, at + (uint32_t)name.n}, to);
    }
}

static bool takes_value(const struct mlir *m, uint32_t op, uint32_t value) {
    bool found = false;
    for (uint32_t k = 0; k < m->ops[op].noperands && !found; k++)
        found = m->operands[m->ops[op].first_operand + k] == value;
    return found;
}

struct text_edits results_in_place(const struct graph *g) {
    const struct mlir *m = g->m;
    struct text_edits edits = {0};
    for (uint32_t op = 0; op < m->nops; op++) {
        if (!op_is((enum op_kind)g->kind[op], IN_PLACE) || mlir_result_name(m, op).n == 0)
            continue;
        uint32_t v = m->ops[op].first_result, into = m->operands[m->ops[op].first_operand];
        struct str text = mlir_span(m, m->ops[op].text), to = mlir_span(m, m->values[into].name);
        const char *quote = str_find(text, STR("\"")), *arrow = str_find(text, STR(") -> "));
        if (!quote || !arrow)
            continue;
        uint32_t begin = m->ops[op].text.begin, type = begin + (uint32_t)(arrow - text.p) + 5;
        struct str result = m->types[m->values[v].type].text;
        text_edits_add(&edits, (struct span){begin, begin + (uint32_t)(quote - text.p)}, STR(""));
        text_edits_add(&edits, (struct span){type, type + (uint32_t)result.n}, STR("()"));
        for (uint32_t u = g->first_use[v]; u < g->first_use[v + 1]; u++)
            rename_uses(m, g->uses[u], mlir_span(m, m->values[v].name), to, &edits);
    }
    return edits;
}

/* A constant at the beginning of the function, and its name in place of the argument's. */
static void put_number(const struct mlir *m, const struct taken_number *t, uint32_t number, struct text_edits *edits,
                       struct arena *a) {
    struct eval_context ctx = {.arena = a};
    const struct mlir_type *type = &m->types[m->values[t->argument].type];
    const struct mlir_func *f = function_of(m, t->argument);
    struct str name = mlir_span(m, m->values[t->argument].name);
    if (!f || f->first_op >= f->end_op)
        return;
    struct str to = arena_printf(a, "%%taken_number_%u", number);
    struct shape s = {.rank = type->rank};
    memcpy(s.dim, m->dims + type->first_dim, type->rank * sizeof *s.dim);
    struct buf dims = {0};
    for (uint32_t d = 0; d < s.rank; d++)
        buf_printf(&dims, "%s%lld", d ? ", " : ": ", (long long)s.dim[d]);
    struct str list = buf_take(&dims, a), value = float_property(ctx.arena, t->number);
    text_edits_add(
        edits, (struct span){m->ops[f->first_op].text.begin, m->ops[f->first_op].text.begin},
        arena_printf(a, "%.*s = \"ttir.full\"() <{fill_value = %.*s : f32, shape = array<i32%.*s>}> : () -> %.*s\n",
                     (int)to.n, to.p, (int)value.n, value.p, (int)list.n, list.p, (int)type->text.n, type->text.p));
    for (uint32_t op = f->first_op; op < f->end_op; op++)
        if (takes_value(m, op, t->argument))
            rename_uses(m, op, name, to, edits);
}

struct text_edits put_numbers(const struct mlir *m, struct taken_numbers taken, struct arena *a) {
    struct text_edits edits = {0};
    for (uint32_t i = 0; i < taken.n; i++)
        put_number(m, &taken.items[i], i, &edits, a);
    return edits;
}

struct str with_numbers(const struct mlir *m, struct taken_numbers taken, struct arena *a) {
    struct text_edits edits = put_numbers(m, taken, a);
    struct str out = text_edited(m->text, &edits, a);
    text_edits_free(&edits);
    return out;
}
