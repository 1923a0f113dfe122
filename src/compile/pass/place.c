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

static struct str type_text(const struct graph *g, uint32_t value) {
    return g->m->types[g->m->values[value].type].text;
}

/* What an op of one operand makes already that is as the new one; or NONE. */
static uint32_t same_as(const struct pass_place *p, uint32_t op) {
    const struct mlir *n = p->f->m, *o = p->g->m;
    uint32_t from = n->ops[op].noperands == 1 ? p->value_of[n->operands[n->ops[op].first_operand]] : NONE;
    for (uint32_t u = from == NONE ? 0 : p->g->first_use[from]; from != NONE && u < p->g->first_use[from + 1]; u++) {
        uint32_t user = p->g->uses[u], out = o->ops[user].first_result;
        if (p->g->kind[user] == p->f->kind[op] && o->ops[user].nresults == 1 && n->ops[op].nresults == 1 &&
            str_eq(type_text(p->f, n->ops[op].first_result), type_text(p->g, out)) &&
            (place_leads_on(p->f, op) || str_eq(mlir_span(n, n->ops[op].props), mlir_span(o, o->ops[user].props))))
            return out;
    }
    return NONE;
}

/* What of the fused function is new, and in the place of what. */
static void compare(struct pass_place *p) {
    const struct mlir *n = p->f->m, *o = p->g->m;
    const struct mlir_func *f = &n->funcs[p->fused_func];
    for (uint32_t i = 0; i < f->nargs; i++)
        p->value_of[f->first_arg + i] = value_named(p, mlir_value_text(n, f->first_arg + i, p->arena));
    for (uint32_t op = f->first_op; op < f->end_op; op++) {
        uint32_t first = n->ops[op].first_result, body = mlir_find_func(n, n->ops[op].callee);
        if (!in_func(p->f, op, p->fused_func) || n->ops[op].nresults == 0)
            continue;
        for (uint32_t k = 0; body != NONE && k < n->ops[op].noperands; k++) /* of a composite */
            p->value_of[n->funcs[body].first_arg + k] = p->value_of[n->operands[n->ops[op].first_operand + k]];
        p->is_new[op] = true;
        for (uint32_t k = 0; k < n->ops[op].nresults; k++) {
            uint32_t v = value_named(p, mlir_value_text(n, first + k, p->arena));
            uint32_t same = v == NONE ? same_as(p, op) : NONE, def = v == NONE ? NONE : o->values[v].def;
            p->value_of[first + k] = same != NONE ? same : v;
            p->is_new[op] = same == NONE && (def == NONE || !str_eq(mlir_op_spelling(n, op), mlir_op_spelling(o, def)));
            if (p->is_new[op] && def != NONE && p->nroots < MAX_ROOTS)
                p->roots[p->nroots++] = def;
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
