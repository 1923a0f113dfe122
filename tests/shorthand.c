/* Expands IR in short (patterns/library/shorthand.h): texts on standard input, each up to a line `----` of its own.
 *
 * usage: shorthand DIRECTORY < TEXTS
 * The first line of a text is "NAME LEVEL", LEVEL ttir or ttnn; the module is written to DIRECTORY/NAME.LEVEL.mlir. */
#include <stdio.h>
#include <string.h>

#include "patterns/library/shorthand.h"

static bool expand(const char *directory, struct str head, struct str text, struct arena *a) {
    const char *blank = memchr(head.p, ' ', head.n);
    size_t name = blank ? (size_t)(blank - head.p) : head.n;
    struct str level = blank ? (struct str){blank + 1, head.n - name - 1} : STR("ttir"), out;
    struct shorthand_error error = {0};
    if (!shorthand_expand(text, arena_str(a, level).p, "f32", a, &out, &error)) {
        fprintf(stderr, "%.*s: %.*s near \"%.40s\"\n", (int)name, head.p, (int)error.message.n, error.message.p,
                text.p + (error.at < text.n ? error.at : text.n));
        return false;
    }
    struct str path = arena_printf(a, "%s/%.*s.%.*s.mlir", directory, (int)name, head.p, (int)level.n, level.p);
    FILE *f = fopen(path.p, "w");
    bool good = f && fwrite(out.p, 1, out.n, f) == out.n;
    return (f ? fclose(f) == 0 : false) && good;
}

int main(int argc, char **argv) {
    struct arena arena = {0};
    struct buf text = {0};
    char line[4096], head[256] = "";
    bool good = argc == 2;
    while (good && fgets(line, sizeof line, stdin)) {
        if (strcmp(line, "----\n") == 0) {
            good = expand(argv[1], str_of(head), arena_str(&arena, buf_str(&text)), &arena);
            text.n = 0;
            head[0] = '\0';
        } else if (!head[0]) {
            snprintf(head, sizeof head, "%.*s", (int)strcspn(line, "\n"), line);
        } else {
            buf_add(&text, str_of(line));
        }
    }
    buf_free(&text);
    arena_free(&arena);
    return good ? 0 : 1;
}
