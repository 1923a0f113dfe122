#include "page/page.h"

/* Within a script element nothing begins with "<" but its end. */
static ssize_t write_data(void *out, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == '<')
            fputs("\\u003c", out);
        else
            putc(bytes[i], out);
    return ferror((FILE *)out) ? 0 : (ssize_t)n;
}

bool page_print(bool (*print)(const void *what, FILE *out), const void *what, FILE *out) {
    FILE *data = made(fopencookie(out, "w", (cookie_io_functions_t){.write = write_data}));
    fputs(page_head, out);
    bool ok = print(what, data);
    ok &= fclose(data) == 0;
    fputs(page_tail, out);
    return ok && !ferror(out);
}
