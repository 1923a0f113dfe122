/* The formats of a report. */
#include <string.h>

#include "base/file.h"
#include "page/page.h"
#include "report/report.h"

static bool report_print_html(const struct report *r, FILE *out) {
    FILE *document = document_begin("html", out);
    bool good = report_print_json(r, document);
    return document_end(document, out) && good;
}

const struct report_format report_formats[REPORT_FORMATS] = {
    {"yaml", "fusion_todo.yml", report_print, false},
    {"json", "fusion_todo.json", report_print_json, true},
    {"markdown", "fusion_todo.md", report_print_markdown, false},
    {"sarif", "fusion_todo.sarif", report_print_sarif, false},
    {"html", "fusion_todo.html", report_print_html, true},
};

const struct report_format *report_format_named(const char *name) {
    for (int i = 0; name && i < REPORT_FORMATS; i++)
        if (strcmp(report_formats[i].name, name) == 0)
            return &report_formats[i];
    return NULL;
}

struct formatted {
    const struct report *report;
    const struct report_format *format;
};

static bool print(void *what, FILE *out) {
    const struct formatted *f = what;
    return f->format->print(f->report, out);
}

bool report_write(const struct report *r, const struct report_format *format, const char *path, char *error, size_t n) {
    struct formatted f = {r, format};
    struct printing p = {print, &f};
    return file_write(&p, path, error, n);
}
