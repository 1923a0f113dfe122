/* Parses a printed module and searches it for one pattern. Conditions that the match met in its model (require, unless)
 * are left out: with other extents or locations they may be false, which says nothing of the function. A mutation was
 * never asked for them, so there they count. */
#include "prove/rematch.h"

#include <stdlib.h>

static struct pattern pattern_alone(const struct pattern *p, bool conditions) {
    struct pattern one = *p;
    if (p->is_variant)
        one.formula = p->variant_of->formula;
    one.variant = one.variant_of = NULL;
    one.is_variant = one.replaced = false;
    one.selected = one.show_decomposed = true;
    one.show_blocked = !conditions;
    if (!conditions)
        one.nrequire = one.nunless = 0;
    return one;
}

/* The op of the module that an op of the subgraph became; NONE: it went. */
static uint32_t op_in(const struct rematch *r, const struct subgraph *s, const struct printed_module *w, uint32_t op) {
    for (uint32_t i = 0; i < s->nops; i++)
        if (s->ops[i] == op)
            return w->line[i] == NONE ? NONE : r->module.ir.funcs[0].first_op + w->line[i];
    return NONE;
}

static bool is_same(const struct rematch *r, const struct subgraph *s, const struct printed_module *w,
                    const struct match *m, const struct match *found) {
    if (m->nops != found->nops)
        return false;
    for (uint32_t i = 0; i < m->nops; i++)
        if (op_in(r, s, w, m->ops[i]) != found->ops[i])
            return false;
    return true;
}

/* All ops that are left, the added one, and no others. */
static bool is_mutated(const struct rematch *r, const struct subgraph *s, const struct printed_module *w,
                       const struct match *m, const struct match *found, const struct mutation *mu) {
    uint32_t left = 0, first = r->module.ir.funcs[0].first_op;
    bool added = mu->added == NONE;
    for (uint32_t i = 0; i < found->nops; i++) {
        bool known = mu->added != NONE && found->ops[i] == first + mu->added;
        added |= known;
        for (uint32_t k = 0; k < m->nops && !known; k++)
            known = op_in(r, s, w, m->ops[k]) == found->ops[i];
        if (!known)
            return false;
    }
    for (uint32_t k = 0; k < m->nops; k++)
        left += op_in(r, s, w, m->ops[k]) != NONE;
    return added && found->nops == left + (mu->added != NONE);
}

bool rematch_find(struct rematch *r, const struct pattern_set *set, const struct match *m, const struct subgraph *s,
                  const struct printed_module *w, const struct mutation *mu, struct arena *a) {
    struct pattern *one = &r->pattern;
    struct pattern_set only = {.max_steps = set->max_steps, .items = &one, .n = 1};
    struct match_list list = {0};
    bool found = false;
    r->pattern = pattern_alone(m->pattern, mu != NULL);
    if (!parsed_module_read(&r->module, w->text, a))
        return false;
    patterns_index(&only);
    match_function(&only, &r->module.graph, 0, a, &list);
    for (uint32_t i = 0; i < list.n && !found; i++)
        if (mu ? is_mutated(r, s, w, m, &list.items[i], mu) : is_same(r, s, w, m, &list.items[i])) {
            r->match = list.items[i];
            found = true;
        }
    free(only.rooted);
    free(list.items);
    return found;
}

void rematch_free(struct rematch *r) {
    parsed_module_free(&r->module);
}

struct str original_names(const struct subgraph *s, struct str text, struct arena *a) {
    const struct mlir *m = s->graph->m;
    struct buf out = {0};
    for (size_t i = 0; i < text.n;) {
        size_t end = i + 2;
        uint32_t number = 0;
        for (; text.n - i > 2 && text.p[i] == '%' && text.p[i + 1] == 'a' && end < text.n && text.p[end] >= '0' &&
               text.p[end] <= '9' && number < MAX_SUBGRAPH_INPUTS;
             end++)
            number = number * 10 + (uint32_t)(text.p[end] - '0');
        if (end > i + 2 && number < s->ninputs) {
            buf_add(&out, mlir_span(m, m->values[s->inputs[number]].name));
            i = end;
        } else {
            buf_addc(&out, text.p[i++]);
        }
    }
    return buf_take(&out, a);
}
