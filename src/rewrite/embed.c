/* A build step, which links nothing of the library: prints files as C, `const char NAME[]` of NAME.h.
 *
 * usage: embed OUTPUT FILE... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_file(FILE *out, const char *path) {
    FILE *in = fopen(path, "r");
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    unsigned column = 0;
    if (!in) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    fprintf(out, "const char %.*s[] = {", (int)strcspn(name, "."), name);
    for (int byte; (byte = getc(in)) != EOF;)
        fprintf(out, "%s%d,", column++ % 20 ? "" : "\n    ", (signed char)byte);
    fprintf(out, "\n    0};\n");
    fclose(in);
}

int main(int argc, char **argv) {
    FILE *out = argc > 2 ? fopen(argv[1], "w") : NULL;
    if (!out)
        return EXIT_FAILURE;
    fprintf(out, "#include \"rewrite/files.h\"\n\n");
    for (int i = 2; i < argc; i++)
        put_file(out, argv[i]);
    return fclose(out) ? EXIT_FAILURE : EXIT_SUCCESS;
}
