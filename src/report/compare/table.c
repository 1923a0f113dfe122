#include "report/compare/table.h"

#include <stdlib.h>

#include "base/units.h"
#include "report/compare/compare.h"

struct table_row {
    struct str name, action;     /* action: of a fused op */
    const struct report *report; /* or NULL */
    const char *page;
    double saved_us;
    uint32_t direct, library, theoretical, known; /* library: direct, but the dialect lacks something */
    uint32_t reports;                             /* of a fused op: that have it */
    size_t last;                                  /* the latest of these */
    /* against an earlier report, where there is one */
    double saved_before_us, total_us, total_before_us;
    const struct finding *worst;      /* that saves most of those of the dialect, else of all */
    bool vanished;                    /* there is no such report any more */
    struct findings_compared changes; /* to be freed; of a sum none */
    uint32_t added, gone;
    bool compared;
};

struct table_rows {
    struct table_row *items;
    uint32_t n, cap;
};

struct report_table {
    struct table_rows reports, ops, options;
    struct table_row all;
};

static int compare_rows(const void *pa, const void *pb) {
    const struct table_row *a = pa, *b = pb;
    int c = (a->saved_us < b->saved_us) - (a->saved_us > b->saved_us);
    uint32_t x = a->direct + a->library + a->theoretical, y = b->direct + b->library + b->theoretical;
    if (c == 0)
        c = (x < y) - (x > y);
    return c ? c : str_cmp(a->name, b->name);
}

/* A kernel is requested whatever its shapes are. */
static struct str action_of(const struct finding *f) {
    const char *shapes = str_find(f->action, STR(": ("));
    return (struct str){f->action.p, shapes ? (size_t)(shapes - f->action.p) : f->action.n};
}

/* What the compiler is to be called with, in either spelling; empty: it is no option that is asked for. */
static struct str option_of(struct str action) {
    const char *spelled = str_find(action, STR("_options")), *end = spelled ? str_find(action, STR("})")) : NULL;
    struct str rest = action, words = str_part(&rest, ',');
    const char *pipeline = str_find(words, STR(" in "));
    if (end)
        return (struct str){action.p, (size_t)(end - action.p) + 2};
    return !str_starts(words, STR("set ")) ? STR("")
           : pipeline                      ? (struct str){words.p, (size_t)(pipeline - words.p)}
                                           : words;
}

static void count(struct table_row *row, const struct finding *f) {
    row->direct += finding_is_of_dialect(f);
    row->library += f->lacks.n > 0;
    row->theoretical += !str_is(f->source, "ttnn");
    row->known += f->known.n > 0;
    row->saved_us += f->counts_us;
}

/* `number`: of the report that it is of. */
static void count_in(struct table_rows *r, struct str name, struct str action, const struct finding *f, size_t number) {
    uint32_t i = 0;
    while (i < r->n && !(str_eq(r->items[i].name, name) && str_eq(r->items[i].action, action)))
        i++;
    if (i == r->n) {
        r->items = grow(r->items, &r->cap, r->n + 1, sizeof *r->items);
        r->items[r->n++] = (struct table_row){.name = name, .action = action, .last = SIZE_MAX};
    }
    count(&r->items[i], f);
    r->items[i].reports += r->items[i].last != number;
    r->items[i].last = number;
}

static void sort_rows(struct table_rows *r) {
    if (r->n)
        qsort(r->items, r->n, sizeof *r->items, compare_rows);
}

/* Which findings are new and gone. */
static void compare(struct table_row *row, const struct finding_list *before, const struct finding_list *now) {
    struct table_row earlier = {.saved_us = 0};
    row->changes = findings_compare(before, now);
    row->compared = true;
    row->added = row->changes.counts[FINDING_NEW];
    row->gone = row->changes.counts[FINDING_GONE];
    for (uint32_t i = 0; i < before->n; i++)
        count(&earlier, before->items[i]);
    row->saved_before_us = earlier.saved_us;
}

/* What the dialect has comes before the rest. */
static bool is_worse(const struct finding *f, const struct finding *than) {
    bool direct = finding_is_of_dialect(f);
    return !than || (direct != finding_is_of_dialect(than) ? direct : f->saved_us > than->saved_us);
}

static void add_report(struct report_table *t, const struct table_item *item, size_t number) {
    const struct finding_list none = {.n = 0}, *l = item->report ? &item->report->findings : &none;
    struct table_row row = {.name = str_of(item->name),
                            .page = item->page,
                            .report = item->report,
                            .total_us = item->report ? item->report->total_us : 0,
                            .total_before_us = item->before ? item->before->total_us : 0,
                            .vanished = !item->report};
    for (uint32_t k = 0; k < l->n; k++) {
        const struct finding *f = l->items[k];
        struct str option = option_of(f->action);
        count(&row, f);
        count(&t->all, f);
        count_in(&t->ops, f->fused_op, action_of(f), f, number);
        if (option.n)
            count_in(&t->options, option, STR(""), f, number);
        if (is_worse(f, row.worst))
            row.worst = f;
    }
    if (item->before)
        compare(&row, &item->before->findings, l);
    t->all.added += row.added;
    t->all.gone += row.gone;
    t->all.saved_before_us += row.saved_before_us;
    t->all.compared |= row.compared;
    t->all.total_us += row.total_us;
    t->all.total_before_us += row.total_before_us;
    if (!l->n && !row.gone && !row.vanished && !(row.total_us > 0)) {
        findings_compared_free(&row.changes);
        return;
    }
    t->reports.items = grow(t->reports.items, &t->reports.cap, t->reports.n + 1, sizeof *t->reports.items);
    t->reports.items[t->reports.n++] = row;
}

static struct report_table table_make(const struct table_item *items, size_t n) {
    struct report_table t = {.all = {.name = STR("all")}};
    for (size_t i = 0; i < n; i++)
        add_report(&t, &items[i], i);
    sort_rows(&t.reports);
    sort_rows(&t.ops);
    sort_rows(&t.options);
    return t;
}

static void table_free(struct report_table *t) {
    for (uint32_t i = 0; i < t->reports.n; i++)
        findings_compared_free(&t->reports.items[i].changes);
    free(t->reports.items);
    free(t->ops.items);
    free(t->options.items);
}

static void write_worst(struct writer *w, const struct finding *f) {
    write_map_at(w, "worst");
    write_pair(w, "fused_op", f->fused_op, TEXT_NAME);
    write_pair_if_any(w, "place", f->place, TEXT_QUOTED);
    write_pair_if_any(w, "source", f->notes.source, TEXT_QUOTED);
    write_pair_real(w, "saved_us", f->saved_us);
    write_close(w);
}

/* "from 2026-01-21, before 2026-04-03": without what tells it, and as of when passes are described. */
static void write_compiler(struct writer *w, struct str version) {
    const char *passes = str_find(version, STR("passes are described"));
    struct str rest = {version.p, passes ? (size_t)(passes - version.p) : version.n};
    struct buf days = {0};
    for (rest = str_part(&rest, ';'); rest.n; (void)str_part(&rest, ')')) {
        struct str words = str_part(&rest, '(');
        buf_printf(&days, "%s%.*s", days.n && !str_starts(words, STR(",")) ? " " : "", (int)str_trim(words).n,
                   str_trim(words).p);
    }
    write_pair_if_any(w, "compiler", buf_str(&days), TEXT_NAME);
    buf_free(&days);
}

static void write_row(struct writer *w, const char *key, const struct table_row *r, bool of_op) {
    write_map(w);
    write_pair(w, key, r->name, TEXT_NAME);
    write_pair_if_any(w, "action", r->action, TEXT_QUOTED);
    if (r->report) {
        write_pair_if_any(w, "device", r->report->device, TEXT_NAME);
        write_compiler(w, r->report->version);
    }
    if (r->page)
        write_pair(w, "page", str_of(r->page), TEXT_NAME);
    write_pair_real(w, "saved_us", r->saved_us);
    write_pair_number(w, "direct", r->direct);
    write_pair_number(w, "library", r->library);
    write_pair_number(w, "theoretical", r->theoretical);
    write_pair_number(w, "known", r->known);
    write_pair_number(w, "places", r->direct + r->library + r->theoretical);
    if (of_op)
        write_pair_number(w, "reports", r->reports);
    if (r->compared) {
        write_pair_real(w, "saved_before_us", r->saved_before_us);
        write_pair_number(w, "new", r->added);
        write_pair_number(w, "gone", r->gone);
    }
    write_pair_positive(w, "total_us", r->total_us);
    write_pair_positive(w, "total_before_us", r->total_before_us);
    if (r->vanished)
        write_pair_bool(w, "vanished", true);
    if (r->worst)
        write_worst(w, r->worst);
    if (r->changes.before_of) {
        write_key(w, STR("changes"));
        findings_compared_write(&r->changes, w);
    }
    write_close(w);
}

static void write_rows(struct writer *w, const char *list, const char *key, const struct table_rows *r, bool of_op) {
    write_list_at(w, list);
    for (uint32_t i = 0; i < r->n; i++)
        write_row(w, key, &r->items[i], of_op);
    write_close(w);
}

static const struct column report_columns[] = {{"all ops", "{total_us?{total_us:us}|}"},
                                               {"saves", "{saved_us:us}"},
                                               {"direct", "{direct}"},
                                               {"library", "{library}"},
                                               {"theoretical", "{theoretical}"},
                                               {"known", "{known}"},
                                               {"new", "{new}"},
                                               {"gone", "{gone}"},
                                               {"report", "{report}{vanished? (no report any more)|}"
                                                          "{device? ({device}{compiler?, {compiler}|})|}"},
                                               {NULL, NULL}},
                           op_columns[] = {{"saves", "{saved_us?{saved_us:us}|}"},
                                           {"places", "{places}"},
                                           {"reports", "{reports}"},
                                           {"fused op: what to do", "{fused_op}{action?: {action}|}"},
                                           {NULL, NULL}};
static const struct template table_text[] = {
    {.of = "reports|all", .columns = report_columns},
    {.text = "{reports?\n|}"},
    {.of = "fused_ops", .columns = op_columns},
    {.of = "options", .text = "{option}: about {saved_us:us} at {places place} of {reports report}\n"},
    {.text = NULL},
};

/* The first line, which is not shown, tells this comment from others. */
#define MARKDOWN_ROW                                                                                                   \
    "| {report:md}{vanished? (no report any more)|} | {total_before_us?{total_before_us:us} → |}"                    \
    "{total_us?{total_us:us}|} | {saved_before_us?{saved_before_us:us} → |}{saved_us:us} | "                         \
    "{places}{new? +{new}|}{gone? −{gone}|} | {worst?{worst.saved_us:us}, {worst.fused_op:md}, "                     \
    "{worst.place:md}{worst.source?, {worst.source:md}|}|} | {device:md} | {compiler:md} |\n"
static const struct template table_markdown[] = {
    {.text = "<!-- fusion-audit: summary -->\n**fusion-audit**, {date}: {models model}\n\n"
             "| model | all ops | to save | findings | worst place | device | compiler |\n"
             "|---|---:|---:|---:|---|---|---|\n"},
    {.of = "all", .text = MARKDOWN_ROW},
    {.of = "reports", .text = MARKDOWN_ROW},
    {.text = "{more?\n{more model} more.\n|}\n| to save | places | models | fused op | what to do |\n"
             "|---:|---:|---:|---|---|\n"},
    {.of = "fused_ops",
     .text = "| {saved_us?{saved_us:us}|–} | {places} | {reports} | {fused_op:md} | {action:md} |\n"},
    {.of = "options", .text = "\n{option:md}: about {saved_us:us} at {places place} of {reports model}\n"},
    {.text = NULL},
};

/* With the first `most` rows. */
static bool print_rows(const struct report_table *t, enum table_format format, uint32_t most, FILE *out) {
    struct table_rows reports = t->reports, ops = t->ops;
    char day[DAY_TEXT];
    struct writer w;
    if (format == TABLE_JSON)
        write_document(&w, MARKUP_JSON, out);
    else
        write_as_text(&w, format == TABLE_TEXT ? table_text : table_markdown, out);
    write_pair(&w, "date", str_of(today(day)), TEXT_NAME);
    reports.n = reports.n < most ? reports.n : most;
    ops.n = ops.n < most ? ops.n : most;
    write_rows(&w, "reports", "report", &reports, false);
    write_rows(&w, "fused_ops", "fused_op", &ops, true);
    write_rows(&w, "options", "option", &t->options, true);
    write_key(&w, STR("all"));
    if (t->reports.n > 1)
        write_row(&w, "report", &t->all, false);
    else
        write_null(&w);
    if (format == TABLE_MARKDOWN)
        write_pair_number(&w, "models", t->reports.n);
    if (reports.n < t->reports.n)
        write_pair_number(&w, "more", t->reports.n - reports.n);
    write_close(&w);
    return write_end(&w);
}

/* As many rows as fit. */
static bool print_markdown(const struct report_table *t, FILE *out) {
    bool good = true, fits = false;
    for (uint32_t most = 256; good && !fits; most /= 2) {
        char *text = NULL;
        size_t n = 0;
        FILE *memory = open_memstream(&text, &n);
        good = memory && print_rows(t, TABLE_MARKDOWN, most, memory);
        good = memory && fclose(memory) == 0 && good;
        fits = n <= MARKDOWN_BYTES || most == 0;
        if (good && fits)
            fwrite(text, 1, n, out);
        free(text);
    }
    return good;
}

bool table_print(const struct table_item *items, size_t n, enum table_format format, FILE *out) {
    struct report_table t = table_make(items, n);
    bool good = format == TABLE_MARKDOWN ? print_markdown(&t, out) : print_rows(&t, format, UINT32_MAX, out);
    table_free(&t);
    return good;
}
