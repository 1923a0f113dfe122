#include "page/page.h"

#include <string.h>

/* Within a script element nothing begins with "<" but its end. */
static ssize_t write_data(void *out, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == '<')
            fputs("\\u003c", out);
        else
            putc(bytes[i], out);
    return ferror((FILE *)out) ? 0 : (ssize_t)n;
}

FILE *document_begin(const char *format, FILE *out) {
    if (strcmp(format, "json") == 0)
        return out;
    if (strcmp(format, "html") != 0)
        return NULL;
    fputs(page_head, out);
    return made(fopencookie(out, "w", (cookie_io_functions_t){.write = write_data}));
}

bool document_end(FILE *document, FILE *out) {
    bool good = document == out || fclose(document) == 0;
    if (document != out)
        fputs(page_tail, out);
    return good && !ferror(out);
}
