#include "gate/table.h"

#include <stdlib.h>

#include "base/utf8.h"

struct table_row {
    struct str name;
    double saved_us;
    uint32_t direct, library, theoretical, known; /* library: direct, but the dialect lacks something */
    uint32_t reports;                             /* of a fused op: that have it */
    size_t last;                                  /* the latest of these */
};

struct table_rows {
    struct table_row *items;
    uint32_t n, cap;
};

static int compare_rows(const void *pa, const void *pb) {
    const struct table_row *a = pa, *b = pb;
    int c = (a->saved_us < b->saved_us) - (a->saved_us > b->saved_us);
    uint32_t x = a->direct + a->library + a->theoretical, y = b->direct + b->library + b->theoretical;
    if (c == 0)
        c = (x < y) - (x > y);
    return c ? c : str_cmp(a->name, b->name);
}

static struct table_row *row_named(struct table_rows *r, struct str name) {
    for (uint32_t i = 0; i < r->n; i++)
        if (str_eq(r->items[i].name, name))
            return &r->items[i];
    r->items = grow(r->items, &r->cap, r->n + 1, sizeof *r->items);
    r->items[r->n] = (struct table_row){.name = name, .last = SIZE_MAX};
    return &r->items[r->n++];
}

/* As the notes of a report say it, so that the table is the same whether findings come from there or not. */
static double in_digits(double us) {
    char text[64];
    snprintf(text, sizeof text, us < 9.95 ? "%.1f" : "%.0f", us);
    return strtod(text, NULL);
}

/* What others save overlaps with what the dialect has: it counts for their own ops only. */
static void count(struct table_row *row, const struct finding *f, bool of_op) {
    bool direct = str_is(f->source, "ttnn") && !f->lacks.n;
    row->direct += direct;
    row->library += f->lacks.n > 0;
    row->theoretical += !str_is(f->source, "ttnn");
    row->known += f->known.n > 0;
    row->saved_us += (direct || of_op) && f->saved_us > 0 ? in_digits(f->saved_us) : 0;
}

static void print_time(double us, FILE *out) {
    char text[32];
    snprintf(text, sizeof text, us >= 999.5 ? "%.1f ms" : "%.1f us", us >= 999.5 ? us / 1000 : us);
    fprintf(out, "%10s", text);
}

static void print_row(const struct table_row *r, bool of_op, FILE *out) {
    print_time(r->saved_us, out);
    fprintf(out, "%8u%9u%13u%7u  ", r->direct, r->library, r->theoretical, r->known);
    if (of_op)
        fprintf(out, "%7u  ", r->reports);
    print_clean(r->name, "", out);
    fputc('\n', out);
}

static void print_rows(struct table_rows *r, bool of_op, FILE *out) {
    if (r->n)
        qsort(r->items, r->n, sizeof *r->items, compare_rows);
    fprintf(out, "     saves  direct  library  theoretical  known  %s\n", of_op ? "reports  fused op" : "report");
    for (uint32_t i = 0; i < r->n; i++)
        print_row(&r->items[i], of_op, out);
}

void table_print(const struct table_item *items, size_t n, FILE *out) {
    struct table_rows reports = {0}, ops = {0};
    struct table_row all = {.name = STR("all")};
    for (size_t i = 0; i < n; i++) {
        const struct finding_list *l = items[i].findings;
        struct table_row row = {.name = str_of(items[i].name)};
        for (uint32_t k = 0; k < l->n; k++) {
            struct table_row *op = row_named(&ops, l->items[k]->fused_op);
            count(&row, l->items[k], false);
            count(&all, l->items[k], false);
            count(op, l->items[k], true);
            op->reports += op->last != i;
            op->last = i;
        }
        if (!l->n)
            continue;
        reports.items = grow(reports.items, &reports.cap, reports.n + 1, sizeof *reports.items);
        reports.items[reports.n++] = row;
    }
    if (!reports.n)
        return;
    print_rows(&reports, false, out);
    print_row(&all, false, out);
    fputc('\n', out);
    print_rows(&ops, true, out);
    free(reports.items);
    free(ops.items);
}
