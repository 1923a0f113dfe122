/* The IR parser and the graph: every id is in range, every span in the text, and every accessor can be called on
 * every op. */
#include "fuzz.h"
#include "ir/graph/graph.h"

#include <stdlib.h>

static const char *const attributes[] = {"dim",        "dim_arg",  "value",       "permutation", "shape",
                                         "fill_value", "keep_dim", "transpose_b", "epsilon",     "operandSegmentSizes",
                                         "sym_name",   "dtype"};

static void check_span(const struct mlir *m, struct span s) {
    FUZZ_PROMISE(s.begin <= s.end && s.end <= m->text.n);
    fuzz_touch(mlir_span(m, s));
}

static void check_attributes(const struct mlir *m, uint32_t op) {
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        struct str v, s;
        int64_t integer, list[8];
        double number;
        if (!mlir_attr(m, op, attributes[i], &v))
            continue;
        fuzz_touch(v);
        mlir_int(v, &integer);
        mlir_float(v, &number);
        if (mlir_string(v, &s))
            fuzz_touch(s);
        FUZZ_PROMISE(mlir_ints(v, list, 8) >= -1);
        mlir_splat(v, &number);
    }
}

static void check_op(const struct mlir *m, uint32_t op) {
    const struct mlir_op *o = &m->ops[op];
    struct str names[16];
    FUZZ_PROMISE(o->name < m->nnames && (o->callee == NONE || o->callee < m->nnames));
    FUZZ_PROMISE(o->func == NONE || o->func < m->nfuncs);
    FUZZ_PROMISE(o->parent == NONE || o->parent < op);
    FUZZ_PROMISE((uint64_t)o->first_operand + o->noperands <= m->noperands);
    FUZZ_PROMISE((uint64_t)o->first_result + o->nresults <= m->nvalues);
    FUZZ_PROMISE(op == 0 || m->ops[op - 1].text.begin <= o->text.begin);
    for (uint32_t i = 0; i < o->noperands; i++)
        FUZZ_PROMISE(m->operands[o->first_operand + i] < m->nvalues);
    for (uint32_t i = 0; i < o->nresults; i++)
        FUZZ_PROMISE(m->values[o->first_result + i].def == op && m->values[o->first_result + i].index == i);
    check_span(m, o->text);
    check_span(m, o->props);
    check_span(m, o->attrs);
    check_span(m, o->loc);
    check_attributes(m, op);
    fuzz_touch(mlir_op_name(m, op));
    fuzz_touch(mlir_loc_text(m, op));
    int n = mlir_loc_names(m, op, names, 16);
    FUZZ_PROMISE(n >= 0 && n <= 16);
    for (int i = 0; i < n; i++)
        fuzz_touch(names[i]);
    FUZZ_PROMISE(mlir_place(m, o->text.begin).line >= 1);
}

static void check_func(const struct mlir *m, uint32_t func) {
    const struct mlir_func *f = &m->funcs[func];
    struct str v;
    FUZZ_PROMISE(f->name < m->nnames && f->op < m->nops && (f->module == NONE || f->module < m->nops));
    FUZZ_PROMISE(f->first_op <= f->end_op && f->end_op <= m->nops);
    FUZZ_PROMISE((uint64_t)f->first_arg + f->nargs <= m->nvalues);
    check_span(m, f->attributes);
    uint32_t found = mlir_find_func(m, f->name);
    FUZZ_PROMISE(found < m->nfuncs && m->funcs[found].name == f->name);
    for (uint32_t i = 0; i < f->nargs; i++)
        if (mlir_arg_attr(m, func, i, "ttir.name", &v))
            fuzz_touch(v);
}

static void check_type(const struct mlir *m, const struct mlir_type *t) {
    fuzz_touch(t->text);
    FUZZ_PROMISE(!t->ranked || (uint64_t)t->first_dim + t->rank <= m->ndims);
}

static void check_value(const struct graph *g, uint32_t v) {
    const struct mlir *m = g->m;
    uint32_t rank, func, number;
    check_span(m, m->values[v].name);
    FUZZ_PROMISE(m->values[v].type < m->ntypes && (m->values[v].def == NONE || m->values[v].def < m->nops));
    const int64_t *dims = graph_shape(g, v, &rank);
    for (uint32_t i = 0; dims && i < rank; i++)
        FUZZ_PROMISE(dims[i] >= DIM_DYNAMIC);
    FUZZ_PROMISE(graph_numel(g, v) >= -1);
    FUZZ_PROMISE(g->first_use[v] <= g->first_use[v + 1] && g->first_use[v + 1] <= g->nedges);
    for (uint32_t i = 0; i < graph_nuses(g, v); i++)
        FUZZ_PROMISE(g->uses[g->first_use[v] + i] < m->nops);
    graph_constant(g, v);
    graph_is_parameter(g, v);
    uint32_t argument = graph_argument(g, v), inner = graph_callee_value(g, v), outer = graph_caller_value(g, v);
    FUZZ_PROMISE(argument == NONE || argument < m->nvalues);
    FUZZ_PROMISE(inner == NONE || inner < m->nvalues);
    FUZZ_PROMISE(outer == NONE || outer < m->nvalues);
    if (graph_argument_of(g, v, &func, &number))
        FUZZ_PROMISE(func < m->nfuncs && number < m->funcs[func].nargs);
    fuzz_touch(graph_argument_type(g, v));
    fuzz_touch(graph_argument_name(g, v));
}

static void check_graph(const struct mlir *m) {
    struct graph g;
    graph_build(&g, m, NULL);
    for (uint32_t op = 0; op < m->nops; op++) {
        FUZZ_PROMISE(g.kind[op] < OPERATORS);
        for (uint32_t i = 0; i < graph_noperands(&g, op); i++)
            FUZZ_PROMISE(graph_operands(&g, op)[i] == NONE || graph_operands(&g, op)[i] < m->nvalues);
        graph_plain(&g, op);
    }
    for (uint32_t v = 0; v < m->nvalues; v++)
        check_value(&g, v);
    graph_free(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct source source = fuzz_source(data, size);
    struct log_scan scan;
    log_scan(&source, &arena, &scan);
    for (uint32_t i = 0; i < scan.nblocks; i++) {
        struct mlir m;
        mlir_parse(&m, &source, &scan.blocks[i], &diags);
        for (uint32_t op = 0; op < m.nops; op++)
            check_op(&m, op);
        for (uint32_t f = 0; f < m.nfuncs; f++)
            check_func(&m, f);
        for (uint32_t t = 0; t < m.ntypes; t++)
            check_type(&m, &m.types[t]);
        check_graph(&m);
        mlir_free(&m);
    }
    diags_free(&diags);
    arena_free(&arena);
    return 0;
}
