#include "report/time/times.h"

#include <stdlib.h>

#include "report/place/notes.h"
#include "search/match/evaluate.h"

/* An op, and what it has in common with others of its row. */
struct timed_op {
    uint64_t key;
    uint32_t op;
};

static int by_key(const void *pa, const void *pb) {
    const struct timed_op *a = pa, *b = pb;
    return a->key != b->key ? (a->key < b->key ? -1 : 1) : a->op < b->op ? -1 : a->op > b->op;
}

static int by_us(const void *pa, const void *pb) {
    const struct op_time *a = pa, *b = pb;
    return a->us != b->us ? (a->us < b->us ? 1 : -1) : str_cmp(a->op, b->op);
}

static struct op_time row_of(const struct timed_graph *t, const uint32_t *ops, uint32_t n, struct arena *a) {
    const struct graph *g = t->pricer->graph;
    struct segment all = {g->m, ops, n};
    struct buf type = {0}, lines = {0};
    struct cost cost = {0};
    if (g->m->ops[ops[0]].nresults)
        value_add_type(g, g->m->ops[ops[0]].first_result, &type);
    segment_lines(&all, &lines);
    (void)cost_add_op(t->pricer, ops[0], &cost);
    struct op_time row = {.op = arena_str(a, mlir_op_name(g->m, ops[0])),
                          .type = buf_take(&type, a),
                          .source = source_of(&(struct segment){g->m, ops, 1}, a),
                          .lines = buf_take(&lines, a),
                          .n = n,
                          .graph = t->number,
                          .bound = cost_bound(&cost.estimated),
                          .cores = cost.estimated.cores};
    for (uint32_t i = 0; i < n; i++)
        row.us += t->of_ops[ops[i]];
    return row;
}

/* Equal for ops of one row. */
static uint64_t key_of(const struct graph *g, uint32_t op, struct arena *a) {
    const struct mlir_op *o = &g->m->ops[op];
    struct buf type = {0};
    if (o->nresults)
        value_add_type(g, o->first_result, &type);
    uint64_t key = hash_mix(str_hash(mlir_op_name(g->m, op)), str_hash(buf_str(&type)));
    buf_free(&type);
    return hash_mix(key, str_hash(source_of(&(struct segment){g->m, &op, 1}, a)));
}

static void sort_rows(struct op_time *rows, uint32_t n) {
    if (n)
        qsort(rows, n, sizeof *rows, by_us);
}

void times_add(struct op_times *t, const struct timed_graph *g, struct arena *a) {
    const struct mlir *m = g->pricer->graph->m;
    struct timed_op *all = xcalloc(m->nops + (size_t)1, sizeof *all);
    uint32_t *ops = xcalloc(m->nops + (size_t)1, sizeof *ops), n = 0;
    struct arena scratch = {0};
    for (uint32_t op = 0; op < m->nops; op++) {
        if (g->of_ops[op] > 0)
            all[n++] = (struct timed_op){key_of(g->pricer->graph, op, &scratch), op};
        arena_reset(&scratch);
    }
    if (n)
        qsort(all, n, sizeof *all, by_key);
    for (uint32_t i = 0; i < n; i++)
        ops[i] = all[i].op;
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && all[end].key == all[i].key;)
            end++;
        t->rows = grow(t->rows, &t->rows_cap, t->nrows + 1, sizeof *t->rows);
        t->rows[t->nrows++] = row_of(g, ops + i, end - i, a);
    }
    sort_rows(t->rows, t->nrows);
    arena_free(&scratch);
    free(all);
    free(ops);
}

void times_free(struct op_times *t) {
    free(t->rows);
    free(t->needless.items);
}

struct op_time *times_by_kind(const struct op_times *t, uint32_t *n) {
    struct op_time *kinds = xcalloc(t->nrows + (size_t)1, sizeof *kinds);
    *n = 0;
    for (uint32_t i = 0; i < t->nrows; i++) {
        uint32_t k = 0;
        while (k < *n && !str_eq(kinds[k].op, t->rows[i].op))
            k++;
        if (k == *n) {
            kinds[(*n)++] = t->rows[i];
            continue;
        }
        kinds[k].us += t->rows[i].us;
        kinds[k].n += t->rows[i].n;
    }
    sort_rows(kinds, *n);
    return kinds;
}
