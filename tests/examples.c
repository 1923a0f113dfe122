/* The examples of a pattern directory as the modules that they are tested as. `examples print DIR` writes them, for
 * examples_vs_mlir_opt.py; `examples check DIR` says which ops cannot have the results that they declare. */
#include <stdio.h>
#include <string.h>

#include "authoring/examples.h"
#include "ir/mlir/print.h"
#include "parsed_module.h"
#include "proof/numeric/interpret_graph.h"
#include "proof/value/lazy.h"

/* Zeros, so that indices are within any bounds, or ones. */
static const struct tensor *filled_like(struct eval_context *b, const struct graph *g, uint32_t value, double x) {
    struct shape s = {0};
    const int64_t *dims = value == NONE ? NULL : graph_shape(g, value, &s.rank);
    if (!dims || s.rank > MAX_RANK)
        return NULL;
    memcpy(s.dim, dims, s.rank * sizeof *dims);
    struct tensor *t = tensor_new(b, &s);
    for (int64_t i = 0; t && i < t->n; i++)
        t->x[i] = x;
    return t;
}

/* What the interpreter has no numbers for: a constant in a resource, a padding that crops. */
static bool is_beyond(const struct graph *g, uint32_t op) {
    struct str text;
    return (g->kind[op] == K_CONSTANT && mlir_attr(g->m, op, "value", &text) &&
            str_find(text, STR("dense_resource"))) ||
           (g->kind[op] == K_PAD && mlir_attr(g->m, op, "padding", &text) && str_find(text, STR("-")));
}

/* What tt-mlir refuses of TTIR and the interpreter takes, since it evaluates TTNN by the same code. */
static struct str refused_in_ttir(const struct graph *g, uint32_t op) {
    struct str name = mlir_op_name(g->m, op), text;
    if ((str_is(name, "ttir.quantize") || str_is(name, "ttir.dequantize")) && graph_noperands(g, op) > 1)
        return STR("scale and zero point are operands in TTNN only");
    if (str_is(name, "ttir.all_reduce") &&
        !(mlir_attr(g->m, op, "reduce_type", &text) && str_find(text, STR("<sum>")) &&
          mlir_attr(g->m, op, "cluster_axis", &text)))
        return STR("all_reduce of TTIR is a sum over a cluster_axis");
    return STR("");
}

/* Evaluates each op on operands of the shapes that the text declares. Empty: its results have theirs, too. */
static struct str what_is_wrong(const struct graph *g, struct arena *a) {
    for (uint32_t op = 0; op < g->m->nops; op++) {
        struct lazies nodes = {0};
        struct eval_context eval = {.arena = a, .nodes = &nodes, .max_elements = 1 << 18};
        struct given operands[64];
        struct program alone = {.graph = g, .given = operands};
        uint32_t results[MAX_RESULTS], n = 0;
        const struct tensor *tensors[MAX_RESULTS];
        for (uint32_t i = 0; i < graph_noperands(g, op) && alone.ngiven < 64; i++) {
            uint32_t v = graph_operands(g, op)[i];
            const struct tensor *t = filled_like(&eval, g, v, g->kind[op] == K_DIVIDE);
            if (t)
                operands[alone.ngiven++] = (struct given){v, t};
        }
        for (; n < g->m->ops[op].nresults && n < MAX_RESULTS; n++)
            results[n] = g->m->ops[op].first_result + n;
        struct str refused = refused_in_ttir(g, op);
        if (refused.n)
            return refused;
        bool wrong = interpretable((enum op_kind)g->kind[op]) && !is_beyond(g, op) &&
                     !interpret_values(&eval, &alone, results, n, tensors) && eval.why == REASON_OTHER;
        lazies_free(&nodes);
        if (wrong)
            return eval.error;
    }
    return STR("");
}

static bool show(const struct pattern *p, uint32_t number, struct diags *d, bool print) {
    const struct example *e = &p->examples[number];
    struct arena arena = {0};
    struct parsed_module m;
    struct str text = example_module(p, e, &arena, d);
    bool good = parsed_module_read(&m, text, &arena);
    struct str wrong = good ? what_is_wrong(&m.graph, &arena) : STR("is no function of well-formed ops");
    const char *head = arena_printf(&arena, "%s:%llu: %s, test %u (%s)", e->origin.file->path,
                                    (unsigned long long)e->line, p->name.p, number, e->hit ? "hit" : "miss")
                           .p;
    if (print)
        printf("// %s\n%.*s// -----\n", head, (int)text.n, text.p);
    else if (wrong.n)
        fprintf(stderr, "%s: %.*s\n", head, (int)wrong.n, wrong.p);
    parsed_module_free(&m);
    arena_free(&arena);
    return !wrong.n;
}

int main(int argc, char **argv) {
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct pattern_set set = {0};
    bool good = argc == 3 && patterns_load(&set, argv[2], &diags);
    for (uint32_t i = 0; i < set.n; i++)
        good &= patterns_load_tests(&set, set.items[i], &diags);
    for (uint32_t i = 0; i < set.n; i++)
        for (uint32_t k = 0; k < set.items[i]->nexamples; k++)
            good &= show(set.items[i], k, &diags, argv[1][0] == 'p');
    for (uint32_t i = 0; i < diags.n; i++)
        fprintf(stderr, "%s\n", diags.items[i].message);
    good &= diags.n == 0 && set.n > 0;
    patterns_free(&set);
    diags_free(&diags);
    arena_free(&arena);
    return good ? 0 : 1;
}
