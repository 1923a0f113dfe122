#include "ir/pair/belong.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/graph/functions.h"
#include "ir/graph/mesh.h"

/* One function at both levels. */
struct function_pair {
    const struct level_pair *levels;
    struct diags *d;
    uint32_t ttnn, ttir;
};

/* `ttnn` and `ttir`: offsets in the texts of the levels. */
static void say(const struct level_pair *l, struct diags *d, enum severity severity, uint32_t ttnn, uint32_t ttir,
                const char *what) {
    struct source_location there = mlir_place(&l->ttir->ir, ttir);
    char graph[32] = "";
    if (l->graph)
        snprintf(graph, sizeof graph, "graph %u: ", l->graph);
    diag_add(d, severity, mlir_place(&l->ttnn->ir, ttnn),
             "--ttnn-only audits TTNN alone; --unpaired does not ask whether the two are of one compile",
             "%s%snot of one compile: %s in %s:%llu", graph, severity == SEV_ERROR ? "" : "perhaps ", what, there.file,
             (unsigned long long)there.line);
}

/* "@main has 9 arguments, and 11"; returns false. */
__attribute__((format(printf, 2, 3))) static bool disagree(const struct function_pair *f, const char *format, ...) {
    const struct mlir *ttnn = &f->levels->ttnn->ir, *ttir = &f->levels->ttir->ir;
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    say(f->levels, f->d, SEV_ERROR, ttnn->ops[ttnn->funcs[f->ttnn].op].text.begin,
        ttir->ops[ttir->funcs[f->ttir].op].text.begin, what);
    return false;
}

/* A string view as "%.*s" takes it, cut. */
#define CUT(s) ((s).n < 100 ? (int)(s).n : 100), (s).p

static bool meshes_agree(const struct function_pair *f) {
    struct str here, there;
    const struct mlir *ttnn = &f->levels->ttnn->ir, *ttir = &f->levels->ttir->ir;
    if (!mesh_text(ttnn, ttnn->funcs[f->ttnn].module, &here) || !mesh_text(ttir, ttir->funcs[f->ttir].module, &there) ||
        str_eq(here, there))
        return true;
    return disagree(f, "the mesh is %.*s, and %.*s", CUT(here), CUT(there));
}

/* Arguments or results of a function without device handles. `known` is false where one is no tensor. To be freed. */
struct values {
    uint32_t *ids, n;
    bool known;
};

static struct values values_of(const struct graph *g, const uint32_t *ids, uint32_t first, uint32_t n) {
    struct values v = {.ids = xrealloc(NULL, (n + (size_t)1) * sizeof *v.ids), .known = true};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = ids ? ids[i] : first + i;
        enum type_kind kind = id == NONE ? TYPE_OTHER : g->m->types[g->m->values[id].type].kind;
        v.known &= kind != TYPE_OTHER;
        if (kind != TYPE_DEVICE)
            v.ids[v.n++] = id;
    }
    return v;
}

static struct values arguments_of(const struct graph *g, uint32_t f) {
    return values_of(g, NULL, g->m->funcs[f].first_arg, g->m->funcs[f].nargs);
}

static struct values results_of(const struct graph *g, uint32_t f) {
    const struct mlir_op *op = g->return_op[f] == NONE ? NULL : &g->m->ops[g->return_op[f]];
    return op ? values_of(g, g->m->operands + op->first_operand, 0, op->noperands) : (struct values){0};
}

/* Of TTIR's arguments those that passes have left, if these are all of TTNN's. */
static void leave_out_dropped(const struct function_pair *f, struct values ttnn, struct values *ttir) {
    uint32_t *same = pair_arguments(&f->levels->ttir->graph, f->ttir, &f->levels->ttnn->graph, f->ttnn), n = 0;
    while (n < ttnn.n && same[n] != NONE)
        n++;
    for (uint32_t i = 0; n == ttnn.n && i < n; i++)
        same[i] = ttir->ids[same[i]];
    if (n == ttnn.n && n < ttir->n) {
        memcpy(ttir->ids, same, n * sizeof *same);
        ttir->n = n;
    }
    free(same);
}

static bool same_extents(const struct graph *a, uint32_t va, const struct graph *b, uint32_t vb) {
    uint32_t na, nb;
    const int64_t *da = graph_shape(a, va, &na), *db = graph_shape(b, vb, &nb);
    if (!da || !db || (graph_numel(a, va) == 1 && graph_numel(b, vb) == 1))
        return true;
    for (uint32_t i = 0; na == nb && i < na; i++)
        if (da[i] != db[i] && da[i] != DIM_DYNAMIC && db[i] != DIM_DYNAMIC)
            return false;
    return na == nb;
}

/* "4096x4096" */
static const char *print_extents(const struct graph *g, uint32_t v, char *out, size_t size) {
    uint32_t rank;
    const int64_t *dims = graph_shape(g, v, &rank);
    int n = snprintf(out, size, "%s", rank ? "" : "a scalar");
    for (uint32_t i = 0; i < rank && (size_t)n < size; i++)
        n += dims[i] < 0 ? snprintf(out + n, size - (size_t)n, "%s?", i ? "x" : "")
                         : snprintf(out + n, size - (size_t)n, "%s%lld", i ? "x" : "", (long long)dims[i]);
    return out;
}

/* What the compiler keeps of an argument: its name in the model, the format given to a weight. */
static bool attributes_agree(const struct function_pair *f, uint32_t ttnn, uint32_t ttir) {
    static const char *const keys[] = {"ttir.name", "ttcore.weight_dtype"};
    const struct mlir *a = &f->levels->ttnn->ir, *b = &f->levels->ttir->ir;
    uint32_t i = ttnn - a->funcs[f->ttnn].first_arg, k = ttir - b->funcs[f->ttir].first_arg;
    struct str x = mlir_span(a, a->arg_attrs[a->funcs[f->ttnn].first_arg_attr + i]);
    struct str y = mlir_span(b, b->arg_attrs[b->funcs[f->ttir].first_arg_attr + k]);
    if (str_eq(x, y))
        return true;
    for (size_t n = 0; n < sizeof keys / sizeof *keys; n++)
        if (mlir_arg_attr(a, f->ttnn, i, keys[n], &x) && mlir_arg_attr(b, f->ttir, k, keys[n], &y) && !str_eq(x, y))
            return disagree(f, "%s of argument %u is %.*s, and %.*s", keys[n], i, CUT(x), CUT(y));
    return true;
}

static bool values_agree(const struct function_pair *f, struct values ttnn, struct values ttir, const char *word) {
    const struct graph *a = &f->levels->ttnn->graph, *b = &f->levels->ttir->graph;
    struct str name = a->m->names[a->m->funcs[f->ttnn].name];
    char x[80], y[80];
    if (!ttnn.known || !ttir.known)
        return true;
    if (ttnn.n != ttir.n)
        return disagree(f, "@%.*s has %u %s%s, and %u", CUT(name), ttnn.n, word, ttnn.n == 1 ? "" : "s", ttir.n);
    for (uint32_t i = 0; i < ttnn.n; i++)
        if (!same_extents(a, ttnn.ids[i], b, ttir.ids[i]))
            return disagree(f, "%s %u of @%.*s is %s, and %s", word, i, CUT(name),
                            print_extents(a, ttnn.ids[i], x, sizeof x), print_extents(b, ttir.ids[i], y, sizeof y));
    return true;
}

static bool function_agrees(const struct function_pair *f) {
    const struct graph *a = &f->levels->ttnn->graph, *b = &f->levels->ttir->graph;
    struct values ttnn = arguments_of(a, f->ttnn), ttir = arguments_of(b, f->ttir);
    struct values ttnn_results = results_of(a, f->ttnn), ttir_results = results_of(b, f->ttir);
    if (ttnn.known && ttir.known && ttnn.n < ttir.n)
        leave_out_dropped(f, ttnn, &ttir);
    bool agree = meshes_agree(f) && values_agree(f, ttnn, ttir, "argument") &&
                 values_agree(f, ttnn_results, ttir_results, "result");
    for (uint32_t i = 0; agree && i < ttnn.n && i < ttir.n; i++)
        agree = attributes_agree(f, ttnn.ids[i], ttir.ids[i]);
    free(ttnn.ids);
    free(ttir.ids);
    free(ttnn_results.ids);
    free(ttir_results.ids);
    return agree;
}

/* The first of the functions that a compile keeps; NONE: there is none. */
static uint32_t first_main(const struct graph *g) {
    uint32_t f = 0;
    while (f < g->m->nfuncs && g->func_kind[f] != FUNC_MAIN)
        f++;
    return f < g->m->nfuncs ? f : NONE;
}

bool signatures_agree(const struct level_pair *l, struct diags *d) {
    const struct graph *ttnn = &l->ttnn->graph, *ttir = &l->ttir->graph;
    uint32_t *same = pair_functions(ttir, ttnn), first = first_main(ttnn), other = first_main(ttir);
    bool agree = true, any = first == NONE || other == NONE;
    for (uint32_t f = 0; agree && f < ttnn->m->nfuncs; f++)
        if (ttnn->func_kind[f] == FUNC_MAIN && same[f] != NONE) {
            any = true;
            agree = function_agrees(&(struct function_pair){l, d, f, same[f]});
        }
    free(same);
    if (!any)
        say(l, d, SEV_ERROR, ttnn->m->ops[ttnn->m->funcs[first].op].text.begin,
            ttir->m->ops[ttir->m->funcs[other].op].text.begin, "none of its functions is among those");
    return agree && any;
}

bool origins_suffice(const struct level_pair *l, const struct pairing *p, struct diags *d) {
    bool none = p->norigins * 10ull < p->njudged;
    char what[80];
    snprintf(what, sizeof what, "%u of %u ops have an origin", p->norigins, p->njudged);
    if (p->norigins * 2ull < p->njudged)
        say(l, d, none ? SEV_ERROR : SEV_WARNING, 0, 0, what);
    return !none;
}

bool levels_belong(const struct level_pair *l, struct diags *d) {
    struct pairing p;
    if (!l->ttir->present || !l->ttnn->present)
        return true;
    if (!signatures_agree(l, d))
        return false;
    pair_build(&p, &l->ttir->graph, &l->ttnn->graph, false);
    bool suffice = origins_suffice(l, &p, d);
    pair_free(&p);
    return suffice;
}
