/* A block becomes a module: sets the parser up, runs it, frees what only it needs. */
#include "mlir/mlir.h"
#include "mlir/parser.h"

#include <stdlib.h>

static void parser_free(struct ir_parser *p) {
    for (int i = 0; i < NAME_KINDS; i++)
        free(p->names.bindings[i]);
    free(p->names.shadowed);
    free(p->names.forward);
    free(p->results);
    free(p->types);
    free(p->uses);
    free(p->name_flags);
    sym_free(&p->m->tables->values);
}

/* Arrays have grown by doubling: what they did not fill goes back. */
static void shrink(struct mlir *m) {
    m->ops_cap = m->nops;
    m->ops = xrealloc(m->ops, m->nops * sizeof *m->ops);
    m->values_cap = m->nvalues;
    m->values = xrealloc(m->values, m->nvalues * sizeof *m->values);
    m->operands_cap = m->noperands;
    m->operands = xrealloc(m->operands, m->noperands * sizeof *m->operands);
}

void mlir_parse_with(struct mlir *m, const struct source *s, const struct log_block *block, struct recent_texts *recent,
                     struct diags *d) {
    *m = (struct mlir){.source = s, .block = block};
    m->tables = tables_new();
    m->text = log_text(s, block, &m->tables->text);
    struct ir_parser p = {.m = m,
                          .d = d,
                          .p = m->text.p,
                          .begin = m->text.p,
                          .end = m->text.p + m->text.n,
                          .parse_ops = parse_ops,
                          .func = NONE,
                          .parent = NONE,
                          .module = NONE,
                          .names = {.stamp = 1, .last_stamp = 1},
                          .recent = recent};
    struct name_scope top;
    p.no_type = type_add(m, STR(""));
    scope_enter(&p, &top, true);
    (void)parse_ops(&p);
    scope_leave(&p, &top);
    types_resolve(m);
    name_functions(m);
    look_through_tuples(m);
    look_through_traces(m);
    look_through_host(m);
    shrink(m);
    parser_free(&p);
}

void mlir_parse(struct mlir *m, const struct source *s, const struct log_block *block, struct diags *d) {
    enum { SHORT = 1 << 12 }; /* repeats less than the tables cost */
    struct recent_texts *recent = block->text.n < SHORT ? NULL : xcalloc(1, sizeof *recent);
    mlir_parse_with(m, s, block, recent, d);
    free(recent);
}

void mlir_free(struct mlir *m) {
    struct mlir_tables *t = m->tables;
    free(m->ops);
    free(m->values);
    free(m->operands);
    free(m->types);
    free(m->dims);
    free(m->names);
    free(m->funcs);
    free(m->arg_attrs);
    if (t) {
        sym_free(&t->names);
        sym_free(&t->types);
        sym_free(&t->values);
        sym_free(&t->alias_names);
        sym_free(&t->files);
        free(t->aliases);
        free(t->locs);
        free(t->file_names);
        free(t->func_of_name);
        buf_free(&t->text);
        buf_free(&t->built);
        arena_free(&t->arena);
        pthread_mutex_destroy(&t->files_lock);
        free(t);
    }
    *m = (struct mlir){0};
}

struct source_location mlir_place(const struct mlir *m, uint32_t text_offset) {
    struct source_location nowhere = {0};
    return m->source ? log_place(m->source, m->block, text_offset) : nowhere;
}
