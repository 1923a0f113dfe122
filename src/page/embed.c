/* A build step, which links nothing of the library: prints the page as C. A line of page.html may begin with the name
 * of a file beside it, "{page.css}", which it stands for; what comes before "{data}" and behind it are two texts.
 *
 * usage: embed OUTPUT DIRECTORY */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct output {
    FILE *file;
    unsigned column;
};

static void put(struct output *o, int byte) {
    fprintf(o->file, "%s%d,", o->column++ % 20 ? "" : "\n    ", byte);
}

static FILE *open_beside(const char *directory, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    return f;
}

static void put_file(struct output *o, const char *directory, const char *name) {
    FILE *f = open_beside(directory, name);
    for (int c; (c = getc(f)) != EOF;)
        put(o, (signed char)c);
    fclose(f);
}

static void put_text(struct output *o, const char *text) {
    for (; *text; text++)
        put(o, (signed char)*text);
}

static void put_line(struct output *o, const char *directory, char *line) {
    char *end = line[0] == '{' ? strchr(line, '}') : NULL, *data = strstr(line, "{data}");
    if (end) {
        *end = '\0';
        put_file(o, directory, line + 1);
        line = end + 1;
    } else if (data) {
        *data = '\0';
        put_text(o, line);
        fprintf(o->file, "\n    0};\nconst char page_tail[] = {");
        o->column = 0;
        line = data + strlen("{data}");
    }
    put_text(o, line);
}

int main(int argc, char **argv) {
    char line[4096];
    struct output o = {argc == 3 ? fopen(argv[1], "w") : NULL, 0};
    if (!o.file)
        return EXIT_FAILURE;
    FILE *page = open_beside(argv[2], "page.html");
    fprintf(o.file, "#include \"page/page.h\"\n\nconst char page_head[] = {");
    while (fgets(line, sizeof line, page))
        put_line(&o, argv[2], line);
    fprintf(o.file, "\n    0};\n");
    fclose(page);
    return fclose(o.file) ? EXIT_FAILURE : EXIT_SUCCESS;
}
