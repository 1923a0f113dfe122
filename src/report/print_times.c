/* Where the time goes, as part of the report in JSON and as tables. */
#include <math.h>
#include <stdlib.h>

#include "report/report.h"

enum { MOST_ROWS = 25 /* by place, in a table */, MOST_LINES = 60 /* characters */ };

static void put_time(struct writer *w, double us, const struct report *r) {
    write_pair_real(w, "us", us);
    double share = r->total_us > 0 ? 100 * us / r->total_us : 0;
    write_pair_real(w, "percent", share >= 9.95 ? round(share) : round(10 * share) / 10);
}

static void put_bound(struct writer *w, const struct op_time *t) {
    write_pair(w, "bound", str_of(bound_name(t->bound)), TEXT_NAME);
    write_pair_number(w, "cores", (uint64_t)t->cores);
}

/* "12-14, 20, ..." in a table. */
static void put_lines(struct writer *w, struct str lines) {
    struct buf out = {0};
    size_t n = lines.n;
    if (w->markup == MARKUP_TEXT && n > MOST_LINES)
        for (n = MOST_LINES; n > 0 && lines.p[n] != ',';)
            n--;
    buf_add(&out, (struct str){lines.p, n});
    buf_add(&out, n < lines.n ? STR(", ...") : STR(""));
    write_pair_if_any(w, "lines", buf_str(&out), TEXT_QUOTED);
    buf_free(&out);
}

static void put_kinds(struct writer *w, const struct report *r, const struct op_time *kinds, uint32_t n) {
    write_list_at(w, "kinds");
    for (uint32_t i = 0; i < n; i++) {
        write_map(w);
        put_time(w, kinds[i].us, r);
        write_pair_number(w, "ops", kinds[i].n);
        put_bound(w, &kinds[i]);
        write_pair(w, "op", kinds[i].op, TEXT_NAME);
        write_close(w);
    }
    write_close(w);
}

static void put_places(struct writer *w, const struct report *r) {
    uint32_t n = r->times.nrows, most = w->markup == MARKUP_TEXT && !r->details ? MOST_ROWS : n;
    write_list_at(w, "places");
    for (uint32_t i = 0; i < n && i < most; i++) {
        const struct op_time *t = &r->times.rows[i];
        write_map(w);
        put_time(w, t->us, r);
        write_pair_number(w, "ops", t->n);
        write_pair_real(w, "each_us", t->us / t->n);
        put_bound(w, t);
        write_pair(w, "op", t->op, TEXT_NAME);
        write_pair_if_any(w, "type", t->type, TEXT_NAME);
        write_pair_if_any(w, "source", t->source, TEXT_QUOTED);
        put_lines(w, t->lines);
        write_pair_number(w, "graph", t->graph);
        write_close(w);
    }
    write_close(w);
    if (n > most)
        write_pair_number(w, "more", n - most);
}

/* What of the fused op is there; of one that is made of such ops that tells nothing. */
static void put_fused(struct writer *w, const struct finding *f, const struct op_time *kinds, uint32_t n) {
    for (uint32_t i = 0; i < f->component_ops.n; i++)
        if (str_eq(f->component_ops.items[i], f->fused_op))
            return;
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(kinds[i].op, f->fused_op)) {
            write_pair_number(w, "fused", kinds[i].n);
            write_pair_real(w, "fused_us", kinds[i].us);
        }
}

/* What is fused already, beside what is not. */
static void put_forms(struct writer *w, const struct report *r, const struct op_time *kinds, uint32_t nkinds) {
    write_list_at(w, "forms");
    for (uint32_t i = 0; i < r->nentries; i++) {
        const struct report_entry *e = &r->entries[i];
        double now = 0, fused = 0;
        for (uint32_t k = 0; k < e->nfindings; k++) {
            now += e->findings[k]->price.without.estimated.us * e->findings[k]->places;
            fused += e->findings[k]->price.with.estimated.us * e->findings[k]->places;
        }
        write_map(w);
        write_pair(w, "fused_op", e->findings[0]->fused_op, TEXT_NAME);
        put_fused(w, e->findings[0], kinds, nkinds);
        write_pair_number(w, "unfused", e->nplaces);
        write_pair_real(w, "unfused_us", now);
        write_pair_real(w, "if_fused_us", fused);
        write_names(w, "instead_of", e->findings[0]->component_ops);
        write_close(w);
    }
    write_close(w);
}

static void put_needless(struct writer *w, const struct report *r) {
    write_list_at(w, "needless");
    for (uint32_t i = 0; i < r->times.needless.n; i++) {
        const struct needless_work *n = &r->times.needless.items[i];
        write_map(w);
        put_time(w, n->us, r);
        write_pair_number(w, "places", n->n);
        write_pair(w, "kind", str_of(n->kind), TEXT_NAME);
        write_pair(w, "change", str_of(n->change), TEXT_NAME);
        write_pair_if_any(w, "source", n->source, TEXT_QUOTED);
        put_lines(w, n->lines);
        write_pair_number(w, "graph", n->graph);
        write_close(w);
    }
    write_close(w);
}

void report_write_times(struct writer *w, const struct report *r) {
    uint32_t n;
    struct op_time *kinds = times_by_kind(&r->times, &n);
    if (n) {
        write_map_at(w, "times");
        put_kinds(w, r, kinds, n);
        put_places(w, r);
        put_forms(w, r, kinds, n);
        put_needless(w, r);
        write_close(w);
    }
    free(kinds);
}

/* ---- as text ---- */

static const struct column kind_columns[] = {{"time", "{us:us}"},  {"share", "{percent}%"}, {"ops", "{ops}"},
                                             {"bound", "{bound}"}, {"cores", "{cores}"},    {"op", "{op}"},
                                             {NULL, NULL}};
static const struct column place_columns[] = {
    {"time", "{us:us}"},   {"share", "{percent}%"},
    {"ops", "{ops}"},      {"each", "{each_us:us}"},
    {"bound", "{bound}"},  {"cores", "{cores}"},
    {"op", "{op} {type}"}, {"place", "{source?{source}|{lines?line {lines}|}}"},
    {NULL, NULL}};
static const struct column form_columns[] = {{"fused", "{fused}"},
                                             {"time", "{fused?{fused_us:us}|}"},
                                             {"not fused", "{unfused}"},
                                             {"time", "{unfused_us:us}"},
                                             {"if fused", "{if_fused_us:us}"},
                                             {"op", "{fused_op}"},
                                             {"instead of", "{instead_of*{}}"},
                                             {NULL, NULL}};
static const struct template time_text[] = {
    {.text = TIMES_BEGIN "{times?{total_us:us}, as they are{device? ({device})|}|not known}\n\n"},
    {.of = "times.kinds", .columns = kind_columns},
    {.of = "times", .text = "\nby place\n"},
    {.of = "times.places", .columns = place_columns, .indent = 2},
    {.of = "times", .where = "more", .text = "  and {more row} that take less: --details lists all\n"},
    {.of = "times", .where = "forms", .text = "\nfused beside not fused\n"},
    {.of = "times.forms", .columns = form_columns, .indent = 2},
    {.of = "times", .where = "needless", .text = "\nneedless, without any fused op\n"},
    {.of = "times.needless",
     .text = "  {us:us}, {percent}%: {kind} at {places place}, {source?{source}|line {lines}}\n      {change}\n"},
    {.text = NULL}};

bool report_print_times(const struct report *r, FILE *out) {
    struct writer w;
    write_as_text(&w, time_text, out);
    write_pair_if_any(&w, "device", r->device, TEXT_NAME);
    write_pair_real(&w, "total_us", r->total_us);
    report_write_times(&w, r);
    write_close(&w);
    return write_end(&w);
}
