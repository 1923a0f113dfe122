/* Diagnostics: added, passed on, freed. */
#include "base/utf8.h"
#include "fusion_audit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most diagnostics of one list name the same file: its copy is shared. */
static const char *file_of(struct diags *d, const char *file) {
    if (!file)
        return "";
    if (d->n > 0 && strcmp(d->items[d->n - 1].file, file) == 0)
        return d->items[d->n - 1].file;
    return arena_strdup(d->arena, str_of(file));
}

static const char *message_of(struct arena *a, const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *p = arena_alloc(a, n < 0 ? 1 : (size_t)n + 1);
    if (n >= 0)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

bool diag_drop(struct diags *d, enum severity sev) {
    if (d->n < (d->limit ? d->limit : 100))
        return false;
    d->errors += sev == SEV_ERROR;
    d->dropped++;
    return true;
}

void diag_add(struct diags *d, enum severity sev, struct source_location at, const char *hint, const char *fmt, ...) {
    if (diag_drop(d, sev))
        return;
    d->errors += sev == SEV_ERROR;
    va_list ap;
    va_start(ap, fmt);
    const char *message = message_of(d->arena, fmt, ap);
    va_end(ap);
    struct diag item = {.severity = sev,
                        .file = file_of(d, at.file),
                        .line = at.line,
                        .column = at.column,
                        .message = message,
                        .hint = hint ? arena_strdup(d->arena, str_of(hint)) : NULL};
    d->items = grow(d->items, &d->cap, d->n + 1, sizeof *d->items);
    d->items[d->n++] = item;
}

void diags_take(struct diags *to, const struct diags *from) {
    uint32_t errors = 0;
    for (uint32_t i = 0; i < from->n; i++) {
        const struct diag *d = &from->items[i];
        diag_add(to, d->severity, (struct source_location){d->file, d->line, d->column}, d->hint, "%s", d->message);
        errors += d->severity == SEV_ERROR;
    }
    to->dropped += from->dropped;
    to->errors += from->errors - errors; /* of those dropped */
}

void diags_free(struct diags *d) {
    free(d->items);
    *d = (struct diags){.arena = d->arena, .limit = d->limit};
}

const char *severity_name(enum severity s) {
    static const char *const names[] = {"note", "warning", "error"};
    return names[s];
}

const struct fa_diagnostics *diagnostics_of(const struct diags *d) {
    return (const void *)d;
}

static const struct diags *diags_of(const struct fa_diagnostics *d) {
    return (const void *)d;
}

size_t fa_count(const struct fa_diagnostics *d) {
    return diags_of(d)->n;
}

size_t fa_dropped(const struct fa_diagnostics *d) {
    return diags_of(d)->dropped;
}

struct fa_diagnostic fa_get_diagnostic(const struct fa_diagnostics *d, size_t i) {
    const struct diag *x = &diags_of(d)->items[i];
    return (struct fa_diagnostic){severity_name(x->severity), x->file, x->line, x->column, x->message, x->hint};
}

static bool has_hint_of(const struct diag *d, const struct diag *other) {
    return d->hint && other->hint && strcmp(d->hint, other->hint) == 0 && strcmp(d->file, other->file) == 0;
}

static void print_diagnostic(const struct diag *d, bool hint, FILE *out) {
    print_clean(str_of(*d->file ? d->file : "fusion-audit"), "\t", out);
    if (d->line)
        fprintf(out, ":%" PRIu64, d->line);
    if (d->line && d->column)
        fprintf(out, ":%" PRIu32, d->column);
    fprintf(out, ": %s: ", severity_name(d->severity));
    print_clean(str_of(d->message), "\t", out);
    fputc('\n', out);
    if (!d->hint || !hint)
        return;
    fputs("  hint: ", out);
    print_clean(str_of(d->hint), "\t", out);
    fputc('\n', out);
}

void fa_print_diagnostics(const struct fa_diagnostics *d, FILE *out) {
    const struct diag *items = diags_of(d)->items;
    uint32_t n = diags_of(d)->n;
    for (uint32_t i = 0; i < n; i++) /* one hint behind several that share it */
        print_diagnostic(&items[i], i + 1 == n || !has_hint_of(&items[i], &items[i + 1]), out);
    if (diags_of(d)->dropped)
        fprintf(out, "and %" PRIu32 " more\n", diags_of(d)->dropped);
}
