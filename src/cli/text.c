#include "cli/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/say.h"

struct keeping {
    struct keeping *next;
    max_align_t bytes[];
};

void *kept(struct args *args, size_t size) {
    struct keeping *k = calloc(1, sizeof *k + size);
    if (!k)
        exit(complain(FA_INPUT, "out of memory"));
    k->next = args->kept;
    args->kept = k;
    return k->bytes;
}

void kept_free(struct args *args) {
    for (struct keeping *k = args->kept, *next; k; k = next) {
        next = k->next;
        free(k);
    }
}

char *text_of_list(struct args *args, const char *format, va_list list) {
    va_list again;
    va_copy(again, list);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    size_t size = n < 0 ? 1 : (size_t)n + 1;
    char *to = kept(args, size);
    vsnprintf(to, size, format, list);
    return to;
}

char *text(struct args *args, const char *format, ...) {
    va_list list;
    va_start(list, format);
    char *to = text_of_list(args, format, list);
    va_end(list);
    return to;
}

const char *join(struct args *args, const char *const *words, size_t n, const char *last) {
    const char *list = n ? words[0] : "";
    for (size_t i = 1; i < n; i++)
        list = text(args, "%s%s%s", list, i + 1 < n ? ", " : last, words[i]);
    return list;
}

bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

bool ends(const char *text, const char *with) {
    size_t n = strlen(text), m = strlen(with);
    return n >= m && strcmp(text + n - m, with) == 0;
}
