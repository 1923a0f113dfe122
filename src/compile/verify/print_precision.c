/* The list of what a device loses, most first: equal regions are one row. */
#include <math.h>
#include <stdlib.h>

#include "compile/verify/verify.h"
#include "ir/mlir/print.h"
#include "proof/prove/verdict.h"

enum { MAX_ROWS = 20 };

struct loss_row {
    const struct proved_value *first;
    struct str key; /* of its miter */
    uint32_t places;
    struct device_error error;
};

static int by_key(const void *p, const void *q) {
    const struct loss_row *a = p, *b = q;
    int order = str_cmp(a->key, b->key);
    return order ? order : (a->first->op > b->first->op) - (a->first->op < b->first->op);
}

static int largest_first(const void *p, const void *q) {
    const struct loss_row *a = p, *b = q;
    double x = a->error.relative_l2[1], y = b->error.relative_l2[1];
    return x != y ? (x < y) - (x > y) : (a->first->op > b->first->op) - (a->first->op < b->first->op);
}

/* ---- what a region computes with ---- */

static void add_choice(struct buf *out, const char *choice) {
    buf_printf(out, "%s%s", out->n ? ", " : "", choice);
}

static bool is_configured(const struct graph *g, uint32_t op, const char *how) {
    const struct attr *config = attrs_find(graph_attributes(g, op), "compute_config");
    return config && str_find(config->text, str_of(how));
}

/* Formats of fewer bits than f32, fidelity and accumulator. */
static void list_choices(const struct graph *g, const struct proved_value *v, struct buf *out) {
    static const char *const configs[][2] = {{"= lofi", "lofi"},
                                             {"= hifi2", "hifi2"},
                                             {"= hifi3", "hifi3"},
                                             {"fp32_dest_acc_en = false", "16-bit accumulator"},
                                             {"math_approx_mode = true", "approximate mode (not computed)"}};
    for (enum dtype t = DT_BFP2; t >= DT_TF32; t--) { /* the narrowest first */
        bool found = false;
        for (uint32_t i = 0; i < v->nops; i++) {
            const struct mlir_op *o = &g->m->ops[v->ops[i]];
            found |= o->nresults && graph_dtype(g, o->first_result) == t;
            for (uint32_t k = 0; k < graph_noperands(g, v->ops[i]); k++)
                found |= is_tensor_operand(g, graph_operands(g, v->ops[i])[k]) &&
                         graph_dtype(g, graph_operands(g, v->ops[i])[k]) == t;
        }
        if (found)
            add_choice(out, dtype_table[t].name);
    }
    for (size_t k = 0; k < sizeof configs / sizeof *configs; k++) {
        bool found = false;
        for (uint32_t i = 0; i < v->nops && !found; i++)
            found = is_configured(g, v->ops[i], configs[k][0]);
        if (found)
            add_choice(out, configs[k][1]);
    }
}

/* ---- rows ---- */

static uint32_t make_rows(const struct module_comparison *m, bool blackhole, struct arena *keys,
                          struct loss_row *rows) {
    uint32_t n = 0, different = 0, kept = 0;
    for (uint32_t i = 0; i < m->nproved; i++)
        if (m->proved[i].own_types)
            rows[n++] =
                (struct loss_row){.first = &m->proved[i], .key = mlir_key(m->proved[i].own_types, keys), .places = 1};
    qsort(rows, n, sizeof *rows, by_key);
    for (uint32_t i = 0; i < n; i++) {
        if (different && str_eq(rows[different - 1].key, rows[i].key)) {
            rows[different - 1].places++;
            continue;
        }
        rows[different] = rows[i];
        rows[different++].error = miter_error(rows[i].first->own_types, m->lowerings, blackhole);
    }
    for (uint32_t i = 0; i < different; i++)
        if (rows[i].error.known && rows[i].error.relative_l2[1] > 0)
            rows[kept++] = rows[i];
    qsort(rows, kept, sizeof *rows, largest_first);
    return kept;
}

/* Of the columns that are not of one width. */
struct widths {
    int op, choices;
};

static struct widths widths_of(const struct level *after, const struct loss_row *rows, uint32_t n) {
    struct widths w = {.op = 2, .choices = 4};
    for (uint32_t i = 0; i < n; i++) {
        struct buf choices = {0};
        list_choices(&after->graph, rows[i].first, &choices);
        int op = (int)mlir_op_name(after->graph.m, rows[i].first->op).n;
        w.op = op > w.op ? op : w.op;
        w.choices = (int)choices.n > w.choices ? (int)choices.n : w.choices;
        buf_free(&choices);
    }
    return w;
}

static void print_row(struct buf *out, const struct level *after, const struct loss_row *r, struct widths w) {
    struct buf choices = {0};
    struct str name = mlir_op_name(after->graph.m, r->first->op), place = STR("");
    char pcc[16] = "-";
    list_choices(&after->graph, r->first, &choices);
    if (mlir_loc_names(after->graph.m, r->first->op, &place, 1) < 1 || !place.n)
        place = mlir_loc_text(after->graph.m, r->first->op);
    if (isfinite(r->error.pcc[1]))
        snprintf(pcc, sizeof pcc, "%.6f", r->error.pcc[1]);
    buf_printf(out, "%-8.2g %-9.2g %-9s %6u  %-*.*s  %-*.*s  %.*s\n", r->error.relative_l2[1], r->error.relative_l2[0],
               pcc, r->places, w.op, (int)name.n, name.p, w.choices, choices.n ? (int)choices.n : 3,
               choices.n ? choices.p : "f32", (int)place.n, place.p);
    buf_free(&choices);
}

void print_precision(struct stage_pair *p, const struct module_comparison *m, const struct level levels[SIDES],
                     const struct fa_verify_options *o) {
    struct loss_row *rows = xcalloc(m->nproved + (size_t)1, sizeof *rows);
    struct arena keys = {0};
    uint32_t n = make_rows(m, is_for_blackhole(levels[AFTER].graph.m), &keys, rows);
    uint32_t shown = o->details || n < MAX_ROWS ? n : MAX_ROWS;
    struct widths w = widths_of(&levels[AFTER], rows, shown);
    if (n)
        buf_printf(&p->answer, "%-8s %-9s %-9s %6s  %-*s  %-*s  %s\n", "loss", "by types", "PCC", "places", w.op, "op",
                   w.choices, "with", "first place");
    for (uint32_t i = 0; i < shown; i++)
        print_row(&p->answer, &levels[AFTER], &rows[i], w);
    if (shown < n)
        buf_printf(&p->answer, "and %u with less; --details lists all\n", n - shown);
    free(rows);
    arena_free(&keys);
}
