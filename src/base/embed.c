/* A build step, which links nothing of the library: prints files as C, the table of embedded.h.
 *
 * usage: embed OUTPUT FILE... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_bytes(FILE *out, int number, const char *path) {
    FILE *in = fopen(path, "r");
    unsigned column = 0;
    if (!in) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    fprintf(out, "static const char file_%d[] = {", number);
    for (int byte; (byte = getc(in)) != EOF;)
        fprintf(out, "%s%d,", column++ % 20 ? "" : "\n    ", (signed char)byte);
    fprintf(out, "\n    0};\n");
    fclose(in);
}

int main(int argc, char **argv) {
    FILE *out = argc > 2 ? fopen(argv[1], "w") : NULL;
    if (!out)
        return EXIT_FAILURE;
    fprintf(out, "#include \"base/embedded.h\"\n\n");
    for (int i = 2; i < argc; i++)
        put_bytes(out, i, argv[i]);
    fprintf(out, "const struct embedded embedded_files[] = {\n");
    for (int i = 2; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/');
        fprintf(out, "    {\"%s\", file_%d, sizeof file_%d - 1},\n", slash ? slash + 1 : argv[i], i, i);
    }
    fprintf(out, "    {0}};\n");
    return fclose(out) ? EXIT_FAILURE : EXIT_SUCCESS;
}
