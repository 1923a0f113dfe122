/* What a finished audit answers: see fusion_audit.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit.h"

#include "gate/table.h"
#include "report/file.h"

enum fa_status fa_get_status(const struct fa_audit *a) {
    return a->status;
}
size_t fa_fused_ops(const struct fa_audit *a) {
    return a->report.nentries;
}

size_t fa_places(const struct fa_audit *a) {
    size_t n = 0;
    for (uint32_t i = 0; i < a->report.nentries; i++)
        n += a->report.entries[i].ninstances;
    return n;
}

size_t fa_diagnostics(const struct fa_audit *a) {
    return a->diags.n;
}
size_t fa_diagnostics_dropped(const struct fa_audit *a) {
    return a->diags.dropped;
}
struct fa_diagnostic fa_get_diagnostic(const struct fa_audit *a, size_t i) {
    return diagnostic_of(&a->diags.items[i]);
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

static bool is_done(const struct fa_audit *a, char *error, size_t n) {
    if (a->status != FA_USAGE && !a->report.count_only)
        return true;
    snprintf(error, n, "there is no report to write");
    errno = 0;
    return false;
}

bool fa_write_report(struct fa_audit *a, const char *format, const char *path, char *error, size_t n) {
    return is_done(a, error, n) && report_write(&a->report, report_format_named(format), path, error, n);
}

const char *fa_default_file(const char *format) {
    const struct report_format *f = report_format_named(format);
    return f ? f->file : NULL;
}

static bool print_baseline(void *what, FILE *out) {
    const struct fa_audit *a = what;
    return baseline_print(&a->summary.missed, &a->baseline, out);
}

bool fa_write_baseline(struct fa_audit *a, const char *path, char *error, size_t n) {
    struct printing p = {print_baseline, a, &a->report.spool};
    return is_done(a, error, n) && file_write(&p, path, error, n);
}

static bool print_expectations(void *what, FILE *out) {
    struct fa_audit *a = what;
    return fused_counts_print(&a->counts, out);
}

bool fa_write_expectations(struct fa_audit *a, const char *path, char *error, size_t n) {
    struct printing p = {print_expectations, a, NULL};
    return is_done(a, error, n) && file_write(&p, path, error, n);
}

bool fa_remove_stale_report(const struct fa_audit *a, const char *path) {
    return a->status == FA_CLEAN && !a->report.nentries && !a->narrowed && !a->report.count_only &&
           strcmp(path, "-") != 0 && report_remove_stale(&a->report, path);
}

struct fa_audit *fa_read_report(const char *path) {
    struct fa_audit *a = xcalloc(1, sizeof *a);
    a->diags.arena = &a->arena;
    a->report.count_only = true;
    a->status = findings_read(path, &a->arena, &a->diags, &a->summary.missed) ? FA_CLEAN : FA_INPUT;
    return a;
}

enum fa_status fa_diff(const struct fa_audit *before, const struct fa_audit *now, bool strict, FILE *out) {
    struct diff_total d = diff_print(&before->summary, &now->summary, out);
    return d.lost || d.new_findings || (strict && d.gained) ? FA_MISSED : FA_CLEAN;
}

void fa_print_table(struct fa_audit *const *audits, const char *const *names, size_t n, FILE *out) {
    struct table_item *items = xcalloc(n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++) {
        struct fa_audit *a = audits[i];
        if (!a->summary.missed.n && !a->report.count_only)
            findings_of_report(&a->report, &a->arena, &a->summary.missed);
        items[i] = (struct table_item){names[i], &a->summary.missed};
    }
    table_print(items, n, out);
    free(items);
}

const char *fa_version(void) {
    return FA_VERSION;
}

void fa_print_summary(const struct fa_audit *a, const char *name, unsigned width, bool colour, FILE *out) {
    if (a->report.nentries)
        report_summary(&a->report, name, width, colour, out);
}

void fa_free(struct fa_audit *a) {
    report_free(&a->report);
    suppressions_free(&a->suppress);
    baseline_free(&a->baseline);
    expectations_free(&a->expect);
    free(a->counts.items);
    free(a->summary.fused.items);
    free(a->summary.missed.items);
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
