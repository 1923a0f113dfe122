/* Counts one module: ops by name for each function, values, edges, and unresolved aliases. */
#include "report/inspect/inspect.h"

#include <stdlib.h>
#include <string.h>

/* Ops of one function so far. */
struct counter {
    const struct graph *g;
    struct arena *arena;
    struct op_count *list;
    uint32_t n, cap;
};

static void count_op(struct counter *c, uint32_t op) {
    c->list = grow(c->list, &c->cap, c->n + 1, sizeof *c->list);
    c->list[c->n++] = (struct op_count){mlir_op_name(c->g->m, op), (enum op_kind)c->g->kind[op], 1};
}

static int by_name(const void *a, const void *b) {
    const struct op_count *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

static int most_first(const void *a, const void *b) {
    const struct op_count *x = a, *y = b;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return str_cmp(x->name, y->name);
}

uint32_t inspect_merge(struct op_count *counts, uint32_t n) {
    uint32_t kept = 0;
    if (n)
        qsort(counts, n, sizeof *counts, by_name);
    for (uint32_t i = 0; i < n; i++)
        if (kept && str_eq(counts[kept - 1].name, counts[i].name)) {
            counts[kept - 1].n += counts[i].n;
            if (counts[i].kind != NO_OPERATOR) /* an op that is bad is of no kind */
                counts[kept - 1].kind = counts[i].kind;
        } else {
            counts[kept++] = counts[i];
        }
    if (kept)
        qsort(counts, kept, sizeof *counts, most_first);
    return kept;
}

/* Returns the counts and begins anew. */
static struct op_count *take_counts(struct counter *c, uint32_t *n) {
    *n = 0;
    if (!c->list)
        return NULL;
    *n = inspect_merge(c->list, c->n);
    c->n = 0;
    struct op_count *out = arena_alloc(c->arena, (*n + (size_t)1) * sizeof *out);
    memcpy(out, c->list, *n * sizeof *out);
    for (uint32_t i = 0; i < *n; i++)
        out[i].name = arena_str(c->arena, out[i].name);
    return out;
}

/* Number of operands that use a value. */
static uint32_t edges_of(const struct graph *g, uint32_t op) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph_noperands(g, op) && graph_class(g, op) != OP_NO_USE; i++)
        n += graph_operands(g, op)[i] != NONE;
    return n;
}

static void add_op(struct counter *c, struct func_facts *f, uint32_t op) {
    count_op(c, op);
    f->nops++;
    f->nvalues += c->g->m->ops[op].nresults;
    f->nedges += edges_of(c->g, op);
}

static struct func_facts function_facts(struct counter *c, uint32_t func) {
    const struct mlir *m = c->g->m;
    const struct mlir_func *mf = &m->funcs[func];
    struct func_facts f = {.name = arena_str(c->arena, m->names[mf->name]),
                           .kind = (enum func_kind)c->g->func_kind[func]};
    f.complete = mf->complete;
    f.nargs = f.nvalues = mf->nargs;
    for (uint32_t op = mf->first_op; op < mf->end_op; op++)
        if (m->ops[op].func == func)
            add_op(c, &f, op);
    f.counts = take_counts(c, &f.ncounts);
    return f;
}

static struct func_facts outside_facts(struct counter *c) {
    struct func_facts f = {.complete = true};
    for (uint32_t op = 0; op < c->g->m->nops; op++)
        if (c->g->m->ops[op].func == NONE && graph_is_audited(c->g, op))
            add_op(c, &f, op);
    f.counts = take_counts(c, &f.ncounts);
    return f;
}

static void count_unknown(struct counter *c, struct module_facts *out) {
    for (uint32_t op = 0; op < c->g->m->nops; op++)
        if (c->g->kind[op] == NO_OPERATOR && op_kind_of_spelling(mlir_op_name(c->g->m, op)) == NO_OPERATOR &&
            (c->g->m->ops[op].func != NONE || graph_is_audited(c->g, op)))
            count_op(c, op); /* of others an error says what is wrong */
    out->unknown = take_counts(c, &out->nunknown);
}

/* ---- aliases ---- */

struct alias_uses {
    struct str *p;
    uint32_t n, cap;
};

/* Those of attributes that nothing defines. */
static void read_aliases(const struct mlir *m, struct alias_uses *out) {
    struct str rest = m->text, name, value;
    while (mlir_next_alias(&rest, true, &name)) {
        if (*name.p != '#' || mlir_alias(m, name, &value))
            continue;
        out->p = grow(out->p, &out->cap, out->n + 1, sizeof *out->p);
        out->p[out->n++] = name;
    }
}

/* By length first, so that #loc9 comes before #loc10. */
static int by_length(const void *a, const void *b) {
    const struct str *x = a, *y = b;
    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    return memcmp(x->p, y->p, x->n);
}

static void find_unresolved(const struct mlir *m, struct arena *a, struct module_facts *out) {
    struct alias_uses found = {0};
    read_aliases(m, &found);
    out->unresolved_uses = found.n;
    out->unresolved = arena_alloc(a, ((size_t)found.n + 1) * sizeof *out->unresolved);
    if (found.n)
        qsort(found.p, found.n, sizeof *found.p, by_length);
    for (uint32_t i = 0; i < found.n; i++)
        if (i == 0 || !str_eq(found.p[i], found.p[i - 1]))
            out->unresolved[out->nunresolved++] = arena_str(a, found.p[i]);
    free(found.p);
}

struct module_facts *inspect_module(const struct graph *g, bool is_ttnn, const struct chips *chips,
                                    const struct compiler_facts *facts, struct arena *a) {
    const struct mlir *m = g->m;
    struct module_facts *out = arena_alloc(a, sizeof *out);
    struct counter c = {.g = g, .arena = a};
    *out = (struct module_facts){.device = inspect_device(g, chips, a),
                                 .is_ttnn = is_ttnn,
                                 .nfuncs = m->nfuncs,
                                 .nops = m->nops,
                                 .nvalues = m->nvalues,
                                 .ndestinations = g->ndestinations,
                                 .bad_ops = m->bad_ops,
                                 .custom_ops = m->custom_ops,
                                 .undefined_values = m->undefined_values};
    version_of(facts, g, a, &out->version);
    out->funcs = arena_alloc(a, ((size_t)m->nfuncs + 1) * sizeof *out->funcs);
    for (uint32_t f = 0; f < m->nfuncs; f++)
        out->funcs[f] = function_facts(&c, f);
    out->outside = outside_facts(&c);
    for (uint32_t op = 0; op < m->nops; op++)
        out->nedges += edges_of(g, op);
    count_unknown(&c, out);
    free(c.list);
    find_unresolved(m, a, out);
    return out;
}

const char *inspect_func_kind(enum func_kind kind) {
    static const char *const names[FUNC_KINDS] = {
        [FUNC_MAIN] = "main",           [FUNC_CONST_EVAL] = "const-eval", [FUNC_CPU] = "cpu",
        [FUNC_COMPOSITE] = "composite", [FUNC_TRACE] = "trace",           [FUNC_DECLARATION] = "declaration"};
    return names[kind];
}
