/* What a finished audit answers: see fusion_audit.h. */
#include <stdlib.h>
#include <string.h>

#include "audit.h"

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

bool fa_write_report(struct fa_audit *a, const char *path, char *error, size_t n) {
    if (a->status == FA_MISSED && !a->report.count_only)
        return report_write(&a->report, path, error, n);
    snprintf(error, n, "there is no report to write");
    return false;
}
bool fa_remove_stale_report(const struct fa_audit *a, const char *path) {
    return a->status == FA_CLEAN && !a->narrowed && !a->report.count_only && strcmp(path, "-") != 0 &&
           report_remove_stale(&a->report, path);
}

const char *fa_version(void) {
    return FA_VERSION;
}

void fa_print_summary(const struct fa_audit *a, const char *name, unsigned width, bool colour, FILE *out) {
    if (a->status == FA_MISSED)
        report_summary(&a->report, name, width, colour, out);
}

void fa_free(struct fa_audit *a) {
    report_free(&a->report);
    suppressions_free(&a->suppress);
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
