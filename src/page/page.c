#include "page/page.h"

#include <stdlib.h>

/* Within a script element nothing begins with "<" but its end. */
static void print_data(struct str json, FILE *out) {
    for (size_t i = 0; i < json.n; i++)
        if (json.p[i] == '<')
            fputs("\\u003c", out);
        else
            putc(json.p[i], out);
}

bool page_print(bool (*print)(const void *what, FILE *out), const void *what, FILE *out) {
    char *json = NULL;
    size_t n = 0;
    FILE *stream = made(open_memstream(&json, &n));
    bool ok = print(what, stream);
    ok &= fclose(stream) == 0;
    made(json); /* the last allocation of a stream in memory is made here */
    if (ok) {
        fputs(page_head, out);
        print_data((struct str){json, n}, out);
        fputs(page_tail, out);
    }
    free(json);
    return ok && !ferror(out);
}
