/* What a finished audit answers: see fusion_audit.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit.h"

#include "base/file.h"
#include "base/locale.h"
#include "base/watch.h"
#include "gate/diff.h"
#include "gate/table.h"
#include "page/page.h"

enum fa_status fa_get_status(const struct fa_audit *a) {
    return a->status;
}
size_t fa_fused_ops(const struct fa_audit *a) {
    return a->report.nentries;
}

size_t fa_places(const struct fa_audit *a) {
    return a->report.findings.n;
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
    return a->known;
}

static bool has_report(const struct fa_audit *a) {
    return a->status != FA_USAGE && !a->is_read && !watch_has_ended(a->watch);
}

static bool is_done(const struct fa_audit *a, char *error, size_t n) {
    if (has_report(a))
        return true;
    snprintf(error, n, "there is no report to write");
    errno = 0;
    return false;
}

static const char *lines_of(struct arena *to, struct str_list list) {
    struct buf lines = {0};
    for (uint32_t i = 0; i < list.n; i++) {
        buf_add(&lines, str_of(i ? "\n" : ""));
        buf_add(&lines, list.items[i]);
    }
    return buf_take(&lines, to).p;
}

static bool get_finding(struct fa_audit *a, const struct report_entry *e, const struct finding *f,
                        struct fa_finding *out) {
    struct buf action = {0}, notes = {0}, todo = {0};
    struct arena *to = &a->arena;
    report_action(&a->report, e, &action);
    todo_text(&f->todo, &todo);
    *out = (struct fa_finding){.fused_op = arena_strdup(to, f->fused_op),
                               .source = arena_strdup(to, f->source),
                               .lacks = arena_strdup(to, f->lacks),
                               .pattern = arena_strdup(to, f->pattern->name),
                               .location = arena_strdup(to, f->ir_loc),
                               .place = arena_strdup(to, f->place),
                               .ttir = arena_strdup(to, f->ttir.text),
                               .ttnn = arena_strdup(to, f->ttnn.text),
                               .ttir_lines = arena_strdup(to, f->ttir.lines),
                               .ttnn_lines = arena_strdup(to, f->ttnn.lines),
                               .verdict = f->proof ? verdict_line(f->proof, to).p : "",
                               .notes = arena_strdup(to, report_notes(&a->report, e, f, &notes)),
                               .action = arena_strdup(to, buf_str(&action)),
                               .todo = arena_strdup(to, buf_str(&todo)),
                               .pass = arena_strdup(to, f->pattern->status.pass),
                               .ttir_module = arena_strdup(to, f->ttir.module),
                               .ttnn_module = arena_strdup(to, f->ttnn.module),
                               .torch = arena_strdup(to, f->notes.torch),
                               .component_ops = lines_of(to, f->component_ops),
                               .preconditions = lines_of(to, f->notes.preconditions),
                               .names = lines_of(to, f->notes.names),
                               .entry = (size_t)(e - a->report.entries),
                               .saved_us = f->saved_us,
                               .known = f->known.n > 0,
                               .repeated = f->same_as != NULL,
                               .reason = hash_mix(f->notes.claim.refusal, (uint64_t)f->todo.kind)};
    buf_free(&action);
    buf_free(&todo);
    buf_free(&notes);
    return true;
}

bool fa_get_finding(struct fa_audit *a, size_t i, struct fa_finding *out) {
    IN_C_LOCALE;
    for (uint32_t e = 0; e < a->report.nentries; e++) {
        const struct report_entry *entry = &a->report.entries[e];
        if (i < entry->nfindings)
            return get_finding(a, entry, entry->findings[i], out);
        i -= entry->nfindings;
    }
    return false;
}

bool fa_print_report(const struct fa_audit *a, const char *format, FILE *out) {
    IN_C_LOCALE;
    const struct report_format *f = report_format_named(format);
    return f && has_report(a) && f->print(&a->report, out);
}

bool fa_write_report(struct fa_audit *a, const char *format, const char *path, char *error, size_t n) {
    IN_C_LOCALE;
    return is_done(a, error, n) && report_write(&a->report, report_format_named(format), path, error, n);
}

const char *fa_default_file(const char *format) {
    const struct report_format *f = report_format_named(format);
    return f ? f->file : NULL;
}

static bool print_baseline(void *what, FILE *out) {
    const struct fa_audit *a = what;
    return baseline_print(&a->report.findings, &a->baseline, out);
}

bool fa_write_baseline(struct fa_audit *a, const char *path, char *error, size_t n) {
    IN_C_LOCALE;
    struct printing p = {print_baseline, a};
    return is_done(a, error, n) && file_write(&p, path, error, n);
}

static bool print_expectations(void *what, FILE *out) {
    struct fa_audit *a = what;
    return fused_counts_print(&a->counts, out);
}

bool fa_write_expectations(struct fa_audit *a, const char *path, char *error, size_t n) {
    IN_C_LOCALE;
    struct printing p = {print_expectations, a};
    return is_done(a, error, n) && file_write(&p, path, error, n);
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
    a->status = findings_read(path, &a->arena, &a->diags, &a->report.findings) ? FA_CLEAN : FA_INPUT;
    return a;
}

enum fa_status fa_diff(const struct fa_audit *before, const struct fa_audit *now, bool strict, const char *format,
                       FILE *out) {
    IN_C_LOCALE;
    struct compile_summary x = {before->fused, &before->report.findings, before->report.total_us},
                           y = {now->fused, &now->report.findings, now->report.total_us};
    struct arena a = {0};
    FILE *document = document_begin(format, out);
    if (!document && strcmp(format, "text") != 0)
        return FA_USAGE;
    struct diff d = diff_make(&x, &y, &a);
    enum fa_status status = d.lost || d.counts[FINDING_NEW] || (strict && d.gained) ? FA_MISSED : FA_CLEAN;
    if (document) {
        diff_print_json(&d, document);
        document_end(document, out);
    } else {
        diff_print(&d, out);
    }
    diff_free(&d);
    arena_free(&a);
    return status;
}

bool fa_print_table(const struct fa_table_row *rows, size_t n, const char *format, FILE *out) {
    IN_C_LOCALE;
    FILE *document = document_begin(format, out);
    if (!document && strcmp(format, "text") != 0)
        return false;
    struct table_item *items = xcalloc(n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++)
        items[i] = (struct table_item){rows[i].name, rows[i].page, &rows[i].audit->report.findings,
                                       rows[i].before ? &rows[i].before->report.findings : NULL};
    if (document) {
        table_print_json(items, n, document);
        document_end(document, out);
    } else {
        table_print(items, n, out);
    }
    free(items);
    return !ferror(out);
}

const char *fa_version(void) {
    return FA_VERSION;
}

void fa_print_summary(const struct fa_audit *a, const char *name, unsigned width, bool colour, FILE *out) {
    IN_C_LOCALE;
    if (a->report.nentries)
        report_summary(&a->report, name, width, colour, out);
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
    suppressions_free(&a->suppress);
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
    watch_free(a->watch);
    arena_free(&a->arena);
    free(a);
}
