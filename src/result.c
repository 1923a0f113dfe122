/* What a finished audit answers: see fusion_audit.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit.h"

#include "base/file.h"
#include "base/locale.h"
#include "base/units.h"
#include "patterns/library/choose.h"
#include "report/compare/diff.h"
#include "report/compare/fails.h"
#include "report/compare/runs.h"
#include "report/compare/table.h"
#include "report/page/page.h"

enum fa_status fa_get_status(const struct fa_audit *a) {
    return a->status;
}
size_t fa_fused_ops(const struct fa_audit *a) {
    return a->report.nentries;
}

size_t fa_places(const struct fa_audit *a) {
    return report_places(&a->report);
}

const struct fa_diagnostics *fa_diagnostics(const struct fa_audit *a) {
    return diagnostics_of(&a->diags);
}
size_t fa_remarks(const struct fa_audit *a) {
    return a->nremarks;
}
const char *fa_get_remark(const struct fa_audit *a, size_t i) {
    return a->remarks[i];
}

size_t fa_expectations_failed(const struct fa_audit *a) {
    return a->failed;
}

bool fa_is_several(const struct fa_audit *a) {
    return a->inputs.several;
}

size_t fa_known(const struct fa_audit *a) {
    return report_known(&a->report);
}

static bool has_report(const struct fa_audit *a) {
    return a->status != FA_USAGE && !a->is_read && !a->report.counted;
}

static const char *lines_of(struct arena *to, struct str_list list) {
    struct buf lines = {0};
    for (uint32_t i = 0; i < list.n; i++) {
        buf_add(&lines, str_of(i ? "\n" : ""));
        buf_add(&lines, list.items[i]);
    }
    return buf_take(&lines, to).p;
}

/* A finding as text, made once. */
struct shown_finding {
    struct fa_finding finding;
    struct fa_note *notes;
    uint32_t nnotes;
};

static void show_notes(const struct note_lines *lines, struct shown_finding *out, struct arena *to) {
    out->notes = arena_alloc(to, (lines->n + (size_t)1) * sizeof *out->notes);
    for (uint32_t i = 0; i < lines->n; i++) {
        const struct note_line *line = &lines->items[i];
        out->notes[i] = (struct fa_note){line->key, arena_strdup(to, (struct str){lines->text.p + line->at, line->n})};
    }
    out->nnotes = lines->n;
}

static void show_finding(const struct report *r, const struct report_entry *e, const struct finding *f,
                         struct shown_finding *out, struct arena *to) {
    struct buf todo = {0};
    struct note_lines notes = {0};
    struct classification c = f->notes.claim.set ? classify(&f->notes.claim)
                                                 : (struct classification){.owning_pass = f->pattern->status.pass};
    struct saved saved = price_saved(&f->price);
    todo_text(&f->todo, &todo);
    out->finding = (struct fa_finding){.entry = (size_t)(e - r->entries),
                                       .fused_op = arena_strdup(to, f->fused_op),
                                       .source = arena_strdup(to, f->source),
                                       .lacks = arena_strdup(to, f->lacks),
                                       .component_ops = lines_of(to, f->component_ops),
                                       .dialect_level = arena_strdup(to, c.dialect_level),
                                       .pass_status = arena_strdup(to, c.pass_status),
                                       .pass = arena_strdup(to, c.owning_pass),
                                       .existing_pattern = arena_strdup(to, c.existing_pattern),
                                       .source_file = arena_strdup(to, c.source_file),
                                       .action = arena_strdup(to, f->action),
                                       .pattern = arena_strdup(to, f->pattern->name),
                                       .location = arena_strdup(to, f->ir_loc),
                                       .place = arena_strdup(to, f->place),
                                       .layer = arena_strdup(to, f->layer),
                                       .names = lines_of(to, f->notes.names),
                                       .torch = arena_strdup(to, f->notes.torch),
                                       .ttir = arena_strdup(to, f->ttir.text),
                                       .ttnn = arena_strdup(to, f->ttnn.text),
                                       .ttir_lines = arena_strdup(to, f->ttir.lines),
                                       .ttnn_lines = arena_strdup(to, f->ttnn.lines),
                                       .ttir_module = arena_strdup(to, f->ttir.module),
                                       .ttnn_module = arena_strdup(to, f->ttnn.module),
                                       .kind = f->kind ? arena_printf(to, "%016" PRIx64, f->kind).p : "",
                                       .verdict = f->proof ? verdict_line(f->proof, to).p : "",
                                       .todo = arena_strdup(to, buf_str(&todo)),
                                       .action_kind = todo_word(f->todo.kind),
                                       .notes = arena_strdup(to, report_notes(r, e, f, &notes)),
                                       .us = f->price.without.estimated.us,
                                       .saved_us = f->saved_us,
                                       .launches = saved.launches,
                                       .dram_bytes = saved.dram_bytes,
                                       .l1_bytes = saved.l1_bytes,
                                       .known = f->known.n > 0,
                                       .repeated = f->same_as != NULL};
    show_notes(&notes, out, to);
    buf_free(&todo);
    note_lines_free(&notes);
}

/* Finding i of the report; NULL beyond the last. */
static const struct shown_finding *shown_finding(struct fa_audit *a, size_t i) {
    if (a->report.nentries == 0 || a->report.counted)
        return NULL;
    const struct report_entry *e = a->report.entries, *end = e + a->report.nentries;
    if (!a->shown)
        a->shown = arena_alloc(&a->arena, (a->report.findings.n + (size_t)1) * sizeof(struct shown_finding *));
    while (e < end && i >= e->nfindings)
        i -= e++->nfindings;
    if (e == end)
        return NULL;
    struct shown_finding **shown = &a->shown[e->findings[i]->number];
    if (!*shown) {
        *shown = arena_alloc(&a->arena, sizeof **shown);
        show_finding(&a->report, e, e->findings[i], *shown, &a->arena);
    }
    return *shown;
}

bool fa_get_finding(struct fa_audit *a, size_t i, struct fa_finding *out) {
    IN_C_LOCALE;
    const struct shown_finding *shown = shown_finding(a, i);
    if (shown)
        *out = shown->finding;
    return shown;
}

bool fa_get_note(struct fa_audit *a, size_t finding, size_t i, struct fa_note *out) {
    IN_C_LOCALE;
    const struct shown_finding *shown = shown_finding(a, finding);
    bool any = shown && i < shown->nnotes;
    if (any)
        *out = shown->notes[i];
    return any;
}

/* False: there is no such format, or the stream failed. */
static bool print_as(const struct fa_audit *a, const char *format, FILE *out) {
    const struct report_format *f = report_format_named(format);
    if (f)
        return f->print(&a->report, out);
    if (strcmp(format, "baseline") == 0)
        return baseline_print(&a->report, &a->baseline, out);
    return strcmp(format, "expectations") == 0 && fused_counts_print(&a->counts, out);
}

bool fa_print_report(const struct fa_audit *a, const char *format, FILE *out) {
    IN_C_LOCALE;
    return has_report(a) && print_as(a, format, out);
}

struct printed {
    const struct fa_audit *audit;
    const char *format;
};

static bool print(void *what, FILE *out) {
    const struct printed *p = what;
    return print_as(p->audit, p->format, out);
}

static bool is_format(const char *format) {
    return report_format_named(format) || strcmp(format, "baseline") == 0 || strcmp(format, "expectations") == 0;
}

bool fa_write_report(const struct fa_audit *a, const char *format, const char *path, char *error, size_t n) {
    IN_C_LOCALE;
    struct printed what = {a, format};
    struct printing p = {print, &what};
    bool known = is_format(format);
    if (known && has_report(a))
        return file_write(&p, path, error, n);
    snprintf(error, n, known ? "there is no report to write" : "there is no format %s", format);
    errno = 0;
    return false;
}

bool fa_keep_tried(const char *path, const struct fa_tried *all, size_t n, char *error, size_t nerror) {
    IN_C_LOCALE;
    struct arena a = {0};
    struct diags nowhere = {.arena = &a};
    struct tried t = {.n = 0};
    struct buf out = {0};
    char day[DAY_TEXT];
    tried_read(&t, path, &a, &nowhere);
    for (size_t i = 0; i < n; i++)
        tried_add(&t, &(struct tried_answer){strtoull(all[i].kind, NULL, 16), str_of(today(day)),
                                             str_of(all[i].compiler), str_of(all[i].answer)});
    tried_print(&t, &out);
    bool written = file_write_text(buf_str(&out), path, error, nerror);
    buf_free(&out);
    tried_free(&t);
    diags_free(&nowhere);
    arena_free(&a);
    return written;
}

const char *fa_default_file(const char *format) {
    const struct report_format *f = report_format_named(format);
    return f ? f->file : NULL;
}

bool fa_remove_stale_report(const struct fa_audit *a, const char *path) {
    return a->status == FA_CLEAN && !a->report.nentries && !a->narrowed && !a->is_read && strcmp(path, "-") != 0 &&
           report_remove_stale(&a->report, path);
}

struct fa_audit *fa_read_report(const char *path) {
    IN_C_LOCALE;
    struct fa_audit *a = xcalloc(1, sizeof *a);
    a->diags.arena = &a->arena;
    a->is_read = true;
    a->status = report_read(path, &a->arena, &a->diags, &a->report) ? FA_CLEAN : FA_INPUT;
    a->report.ttnn_path = arena_strdup(&a->arena, str_of(path));
    return a;
}

static struct compile_summary summary_of(const struct fa_audit *a) {
    const struct report *r = &a->report;
    return (struct compile_summary){.files = {r->ttir_path, r->ttnn_path},
                                    .fused = a->fused,
                                    .missed = &r->findings,
                                    .total_us = r->total_us,
                                    .saved_us = r->saved_us};
}

/* Marks the new findings that fail; whether any does. */
static bool new_ones_fail(const struct findings_compared *c, const struct gate *gate) {
    struct finding **new = xcalloc(c->nchanges + (size_t)1, sizeof *new);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->nchanges; i++)
        if (c->changes[i].kind == FINDING_NEW)
            new[n++] = c->changes[i].finding;
    bool fail = findings_fail(new, n, gate) > 0;
    free(new);
    return fail;
}

static bool read_gate(const struct fa_diff_options *o, double total_us, struct gate *out) {
    struct report r = {.total_us = total_us, .least.given = o->min_saving};
    struct arena a = {0};
    struct diags d = {.arena = &a};
    bool good = sources_check(o->fail_on, "--fail-on", &a, &d) &&
                (!o->min_saving || read_time_or_share(str_of(o->min_saving), &r.least.us, &r.least.share));
    diags_free(&d);
    arena_free(&a);
    *out = (struct gate){o->fail_on, report_least_us(&r)};
    return good;
}

enum fa_status fa_diff(const struct fa_audit *before, const struct fa_audit *now, const struct fa_diff_options *o,
                       FILE *out) {
    IN_C_LOCALE;
    struct compile_summary x = summary_of(before), y = summary_of(now);
    struct arena a = {0};
    struct gate gate;
    FILE *document = document_begin(o->format, out);
    if ((!document && strcmp(o->format, "text") != 0) || !read_gate(o, y.total_us, &gate))
        return FA_USAGE;
    struct diff d = diff_make(&x, &y, &a);
    enum fa_status status = new_ones_fail(&d.findings, &gate) || d.lost ? FA_MISSED : FA_CLEAN;
    if (document) {
        diff_print(&d, true, document);
        document_end(document, out);
    } else if (d.nops || d.findings.nchanges) {
        diff_print(&d, false, out);
    }
    diff_free(&d);
    arena_free(&a);
    return status;
}

static bool print_runs(const struct fa_table_row *rows, size_t n, const char *format, FILE *document, FILE *out) {
    bool csv = strcmp(format, "csv") == 0;
    struct run_item *items = xcalloc(n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct run_item){rows[i].run, rows[i].name, &rows[i].audit->report};
    bool good = (document || csv || strcmp(format, "text") == 0) && runs_print(items, n,
                                                                               document ? RUNS_JSON
                                                                               : csv    ? RUNS_CSV
                                                                                        : RUNS_TEXT,
                                                                               document ? document : out);
    free(items);
    return (!document || document_end(document, out)) && good;
}

bool fa_print_table(const struct fa_table_row *rows, size_t n, const char *format, FILE *out) {
    IN_C_LOCALE;
    FILE *document = document_begin(format, out);
    bool markdown = strcmp(format, "markdown") == 0;
    if (n && rows->run)
        return print_runs(rows, n, format, document, out);
    if (!document && !markdown && strcmp(format, "text") != 0)
        return false;
    struct table_item *items = xcalloc(n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct table_item){rows[i].name, rows[i].page, rows[i].audit ? &rows[i].audit->report : NULL,
                                       rows[i].before ? &rows[i].before->report : NULL};
    table_print(items, n, document ? TABLE_JSON : markdown ? TABLE_MARKDOWN : TABLE_TEXT, document ? document : out);
    if (document)
        document_end(document, out);
    free(items);
    return !ferror(out);
}

const char *fa_version(void) {
    return FA_VERSION;
}

void fa_print_summary(const struct fa_audit *a, const char *name, unsigned width, FILE *out) {
    IN_C_LOCALE;
    if (a->report.nentries)
        report_summary(&a->report, name, width, out);
}

double fa_time(const struct fa_audit *a) {
    return a->report.total_us;
}

bool fa_get_setting(struct fa_audit *a, size_t i, struct fa_setting *out) {
    const struct todo *t = report_setting(&a->report, i);
    if (!t)
        return false;
    *out = (struct fa_setting){{arena_strdup(&a->arena, t->what), t->then.n ? arena_strdup(&a->arena, t->then) : NULL},
                               arena_strdup(&a->arena, t->needs)};
    return true;
}

void fa_free(struct fa_audit *a) {
    if (!a)
        return;
    report_free(&a->report);
    tried_free(&a->tried);
    baseline_free(&a->baseline);
    expectations_free(&a->expect);
    free(a->counts.items);
    free(a->fused.items);
    proofs_free(a->proofs);
    inputs_free(&a->inputs);
    chips_free(&a->chips);
    region_rules_free(&a->rules);
    perf_free(&a->perf);
    patterns_free(&a->own);
    diags_free(&a->diags);
    free(a->remarks);
    arena_free(&a->arena);
    free(a);
}
