#include "report/page/page.h"

#include <string.h>

#include "base/embedded.h"

/* Within a script element nothing begins with "<" but its end. */
static ssize_t write_data(void *out, const char *bytes, size_t n) {
    for (struct str rest = {bytes, n}; rest.n;) {
        const char *at = memchr(rest.p, '<', rest.n);
        size_t plain = at ? (size_t)(at - rest.p) : rest.n;
        fwrite(rest.p, 1, plain, out);
        if (at)
            fputs("\\u003c", out);
        plain += at != NULL;
        rest = (struct str){rest.p + plain, rest.n - plain};
    }
    return ferror((FILE *)out) ? 0 : (ssize_t)n;
}

/* What stands before "{data}" in the page, or behind it, with the files that it names. */
static void put_page(bool before, FILE *out) {
    struct str page = embedded_text("page.html"), data = STR("{data}");
    const char *at = str_find(page, data), *end = page.p + page.n;
    struct str css = embedded_text("page.css"), layers = embedded_text("layers.js"), js = embedded_text("page.js");
    const struct blank files[] = {
        {STR("{page.css}"), {&css, 1}}, {STR("{layers.js}"), {&layers, 1}}, {STR("{page.js}"), {&js, 1}}};
    struct buf text = {0};
    at = at ? at : end;
    struct str part = before     ? (struct str){page.p, (size_t)(at - page.p)}
                      : at < end ? (struct str){at + data.n, (size_t)(end - at) - data.n}
                                 : STR("");
    fill_lines(&text, part, files, sizeof files / sizeof *files);
    fwrite(text.p, 1, text.n, out);
    buf_free(&text);
}

FILE *document_begin(const char *format, FILE *out) {
    if (strcmp(format, "json") == 0)
        return out;
    if (strcmp(format, "html") != 0)
        return NULL;
    put_page(true, out);
    return made(fopencookie(out, "w", (cookie_io_functions_t){.write = write_data}));
}

bool document_end(FILE *document, FILE *out) {
    bool good = document == out || fclose(document) == 0;
    if (document != out)
        put_page(false, out);
    return good && !ferror(out);
}
