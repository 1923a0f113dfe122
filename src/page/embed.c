/* A build step: prints the page as C. A line "{NAME}" of page.html stands for the file of that name beside it; what
 * comes before "{data}" and behind it are two texts.
 *
 * usage: embed OUTPUT DIRECTORY */
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

static void add_file(struct buf *out, const char *directory, struct str name) {
    struct buf path = {0};
    char chunk[4096];
    size_t n;
    buf_printf(&path, "%s/%.*s", directory, (int)name.n, name.p);
    buf_addc(&path, '\0');
    FILE *f = fopen(path.p, "r");
    if (!f) {
        perror(path.p);
        exit(EXIT_FAILURE);
    }
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_add(out, (struct str){chunk, n});
    fclose(f);
    buf_free(&path);
}

static void print_text(const char *name, struct str text, FILE *out) {
    fprintf(out, "const char %s[] = {", name);
    for (size_t i = 0; i < text.n; i++)
        fprintf(out, "%s%d,", i % 20 ? "" : "\n    ", text.p[i]);
    fprintf(out, "\n    0};\n");
}

int main(int argc, char **argv) {
    struct buf frame = {0}, page = {0};
    const struct str mark = STR("{data}");
    if (argc != 3)
        return EXIT_FAILURE;
    add_file(&frame, argv[2], STR("page.html"));
    for (struct str rest = buf_str(&frame); rest.n;) {
        struct str line = str_line(&rest), trimmed = str_trim(line);
        const char *end = str_starts(trimmed, STR("{")) ? str_find(trimmed, STR("}")) : NULL;
        if (end) {
            add_file(&page, argv[2], (struct str){trimmed.p + 1, (size_t)(end - trimmed.p) - 1});
            line = (struct str){end + 1, (size_t)(trimmed.p + trimmed.n - end) - 1};
        }
        buf_add(&page, line);
        buf_addc(&page, '\n');
    }
    FILE *out = fopen(argv[1], "w");
    struct str all = buf_str(&page);
    const char *found = str_find(all, mark);
    if (!out || !found)
        return EXIT_FAILURE;
    size_t at = (size_t)(found - all.p);
    fprintf(out, "#include \"page/page.h\"\n\n");
    print_text("page_head", (struct str){all.p, at}, out);
    print_text("page_tail", (struct str){all.p + at + mark.n, all.n - at - mark.n}, out);
    buf_free(&frame);
    buf_free(&page);
    return fclose(out) ? EXIT_FAILURE : EXIT_SUCCESS;
}
