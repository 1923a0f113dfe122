#include "compile/pass/place.h"

#include <string.h>

#include "compile/pass/cpp.h"
#include "ir/mlir/print.h"

/* ---- which values are which ---- */

static uint32_t main_func(const struct graph *g) {
    for (uint32_t i = 0; i < g->m->nfuncs; i++)
        if (g->func_kind[i] == FUNC_MAIN)
            return i;
    return NONE;
}

static bool in_func(const struct graph *g, uint32_t op, uint32_t func) {
    return g->m->ops[op].func == func && g->m->ops[op].parent == g->m->funcs[func].op;
}

/* The value of `g` with this name in its function; or NONE. */
static uint32_t value_named(const struct pass_place *p, struct str name) {
    const struct mlir *m = p->g->m;
    const struct mlir_func *f = &m->funcs[p->func];
    for (uint32_t i = 0; i < f->nargs; i++)
        if (str_eq(mlir_value_text(m, f->first_arg + i, p->arena), name))
            return f->first_arg + i;
    for (uint32_t op = f->first_op; op < f->end_op; op++)
        for (uint32_t k = 0; k < m->ops[op].nresults; k++)
            if (str_eq(mlir_value_text(m, m->ops[op].first_result + k, p->arena), name))
                return m->ops[op].first_result + k;
    return NONE;
}

static bool same_operands(const struct pass_place *p, uint32_t new_op, uint32_t old) {
    const struct mlir_op *n = &p->f->m->ops[new_op], *o = &p->g->m->ops[old];
    bool same = n->noperands == o->noperands;
    for (uint32_t i = 0; i < n->noperands && same; i++)
        same = p->value_of[p->f->m->operands[n->first_operand + i]] == p->g->m->operands[o->first_operand + i];
    return same;
}

static struct str type_text(const struct graph *g, uint32_t value) {
    return g->m->types[g->m->values[value].type].text;
}

/* An op that is there already and computes what the new one does; or NONE. */
static uint32_t same_as(const struct pass_place *p, uint32_t op) {
    const struct mlir *n = p->f->m, *o = p->g->m;
    for (uint32_t i = o->funcs[p->func].first_op; i < o->funcs[p->func].end_op && n->ops[op].nresults == 1; i++)
        if (o->ops[i].nresults == 1 && p->g->kind[i] == p->f->kind[op] && same_operands(p, op, i) &&
            str_eq(type_text(p->f, n->ops[op].first_result), type_text(p->g, o->ops[i].first_result)) &&
            (place_leads_on(p->g, i) || str_eq(mlir_span(n, n->ops[op].props), mlir_span(o, o->ops[i].props))))
            return i;
    return NONE;
}

/* What of the fused function is new, and in the place of what. */
static void compare(struct pass_place *p) {
    const struct mlir *n = p->f->m, *o = p->g->m;
    const struct mlir_func *f = &n->funcs[p->fused_func];
    for (uint32_t i = 0; i < f->nargs; i++)
        p->value_of[f->first_arg + i] = value_named(p, mlir_value_text(n, f->first_arg + i, p->arena));
    for (uint32_t op = f->first_op; op < f->end_op; op++) {
        if (!in_func(p->f, op, p->fused_func) || n->ops[op].nresults == 0)
            continue;
        uint32_t first = n->ops[op].first_result, v = value_named(p, mlir_value_text(n, first, p->arena));
        uint32_t def = v == NONE ? NONE : o->values[v].def, same = NONE;
        bool kept = def != NONE && str_eq(mlir_op_spelling(n, op), mlir_op_spelling(o, def));
        p->is_new[op] = !kept;
        if (v == NONE)
            same = same_as(p, op);
        if (same != NONE) {
            p->is_new[op] = false;
            v = o->ops[same].first_result;
        }
        for (uint32_t k = 0; k < n->ops[op].nresults; k++)
            p->value_of[first + k] = k == 0      ? v
                                     : v == NONE ? NONE
                                                 : value_named(p, mlir_value_text(n, first + k, p->arena));
        for (uint32_t k = 0; k < n->ops[op].nresults && p->is_new[op] && v != NONE; k++) {
            uint32_t root = p->value_of[first + k] == NONE ? NONE : o->values[p->value_of[first + k]].def;
            if (root != NONE && p->nroots < MAX_ROOTS)
                p->roots[p->nroots++] = root;
        }
    }
    for (uint32_t op = f->first_op; op < f->end_op; op++)
        for (uint32_t k = 0; k < n->ops[op].noperands && p->is_new[op]; k++) {
            uint32_t v = n->operands[n->ops[op].first_operand + k];
            uint32_t by = n->values[v].def;
            if (p->value_of[v] != NONE && !(by != NONE && p->is_new[by]))
                p->read[p->value_of[v]] = true;
        }
}

/* ---- which ops go ---- */

static void walk(struct pass_place *p, uint32_t value, bool *met) {
    uint32_t op = place_def(p, value);
    bool first = !met[value];
    met[value] = true;
    if (!first || op == NONE || place_constant(p, value) || p->read[value])
        return;
    p->matched[op] = true;
    for (uint32_t k = 0; k < p->g->m->ops[op].noperands; k++)
        walk(p, p->g->m->operands[p->g->m->ops[op].first_operand + k], met);
}

/* All that the form reads is met on the way. */
static bool walk_all(struct pass_place *p) {
    const struct mlir *m = p->g->m;
    bool *met = arena_alloc(p->arena, m->nvalues + (size_t)1), good = true;
    memset(p->matched, 0, m->nops * sizeof *p->matched);
    for (uint32_t i = 0; i < p->nroots; i++) {
        p->matched[p->roots[i]] = true;
        for (uint32_t k = 0; k < m->ops[p->roots[i]].noperands; k++)
            walk(p, m->operands[m->ops[p->roots[i]].first_operand + k], met);
    }
    for (uint32_t v = 0; v < m->nvalues && good; v++)
        good = !p->read[v] || met[v];
    return good;
}

static bool is_step(const struct pass_place *p, uint32_t op) {
    const struct graph *g = p->g;
    uint32_t result = g->m->ops[op].nresults ? g->m->ops[op].first_result : NONE;
    for (uint32_t i = 0; i < p->nroots; i++)
        if (p->roots[i] == op)
            return true;
    return result == NONE || !place_leads_on(g, op) || p->inside[result] != 1 || place_escapes(p, result) ||
           p->read[result];
}

uint32_t place_behind(const struct pass_place *p, uint32_t value) {
    while (place_inner(p, value) && !p->step[place_def(p, value)])
        value = graph_operands(p->g, place_def(p, value))[0];
    return value;
}

bool pass_place_read(struct pass_place *p, const struct graph *before, const struct graph *fused, struct arena *a,
                     struct str *why) {
    const struct mlir *m = before->m;
    *p = (struct pass_place){.arena = a, .g = before, .f = fused};
    p->func = main_func(before);
    p->fused_func = main_func(fused);
    if (p->func == NONE || p->fused_func == NONE) {
        *why = STR("the place is in no function");
        return false;
    }
    p->value_of = arena_alloc(a, (fused->m->nvalues + (size_t)1) * sizeof *p->value_of);
    p->is_new = arena_alloc(a, fused->m->nops + (size_t)1);
    p->read = arena_alloc(a, m->nvalues + (size_t)1);
    p->matched = arena_alloc(a, m->nops + (size_t)1);
    p->step = arena_alloc(a, m->nops + (size_t)1);
    p->inside = arena_alloc(a, (m->nvalues + (size_t)1) * sizeof *p->inside);
    memset(p->value_of, 0xff, (fused->m->nvalues + (size_t)1) * sizeof *p->value_of);
    compare(p);
    if (p->nroots == 0 || !walk_all(p)) {
        *why = STR("the fused form reads a value that does not lead to the ops that it replaces");
        return false;
    }
    for (uint32_t op = 0; op < m->nops; op++)
        for (uint32_t k = 0; k < m->ops[op].noperands && p->matched[op]; k++)
            p->inside[m->operands[m->ops[op].first_operand + k]]++;
    for (uint32_t op = 0; op < m->nops; op++)
        p->step[op] = p->matched[op] && is_step(p, op);
    return true;
}
