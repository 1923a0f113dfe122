/* The formats of a report. */
#include <string.h>

#include "report/page/page.h"
#include "report/report.h"

static bool report_print_html(const struct report *r, FILE *out) {
    FILE *document = document_begin("html", out);
    bool good = report_print_json(r, document);
    return document_end(document, out) && good;
}

const struct report_format report_formats[] = {
    {"yaml", "fusion_todo.yml", "input:\n", report_print},
    {"json", "fusion_todo.json", "{\n  \"version\": ", report_print_json},
    {"markdown", "fusion_todo.md", "<!-- fusion-audit", report_print_markdown},
    {"sarif", "fusion_todo.sarif", "{\n  \"$schema\": \"https://json.schemastore.org/sarif", report_print_sarif},
    {"github", "fusion_todo.github", "::", report_print_github},
    {"gitlab", "fusion_todo.gitlab.json", "[\n  {\n    \"description\": ", report_print_gitlab},
    {"time", "fusion_time.txt", TIMES_BEGIN, report_print_times},
    {"html", "fusion_todo.html", "<!DOCTYPE html>", report_print_html},
    {NULL, NULL, NULL, NULL},
};

const struct report_format *report_format_named(const char *name) {
    const struct report_format *f = report_formats;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    return f->name ? f : NULL;
}
