/* Audits many files with one reading of the patterns, for tests that audit hundreds.
 *
 * usage: audits DIRECTORY [SOURCES [INCLUDE]] < LINES
 * A line is NAME LEVEL FILE [FILE], LEVEL one of both, ttir and ttnn. Writes DIRECTORY/NAME.yml where something is
 * missed, and prints the status and how many lines follow: one for each diagnostic. */
#include <stdio.h>
#include <string.h>

#include "fusion_audit.h"

static void audit(struct fa_audit_options *o, const char *directory, const char *name) {
    struct fa_audit *a = fa_run_audit(o);
    char path[4096], error[256];
    enum fa_status status = fa_get_status(a);
    snprintf(path, sizeof path, "%s/%s.yml", directory, name);
    const struct fa_diagnostics *d = fa_diagnostics(a);
    printf("%d %zu\n", (int)status, fa_count(d));
    for (size_t i = 0; i < fa_count(d); i++)
        printf("%s: %s\n", fa_get_diagnostic(d, i).severity, fa_get_diagnostic(d, i).message);
    if (status == FA_MISSED && !fa_write_report(a, "yaml", path, error, sizeof error))
        fprintf(stderr, "%s: %s\n", path, error);
    fflush(stdout);
    fa_free(a);
}

int main(int argc, char **argv) {
    char line[16384];
    struct fa_audit_options o = {
        .min_saving = "0us", /* what is found, whatever it saves */
        .patterns = {.sources = argc > 2 && *argv[2] ? argv[2] : NULL, .include = argc > 3 ? argv[3] : NULL}};
    struct fa_library *library = fa_library_read(&o.patterns, 0);
    o.patterns.library = library;
    while (argc > 1 && fgets(line, sizeof line, stdin)) {
        const char *files[2];
        const char *name = strtok(line, " \n"), *level = strtok(NULL, " \n");
        for (o.inputs.nfiles = 0; o.inputs.nfiles < 2 && (files[o.inputs.nfiles] = strtok(NULL, " \n"));
             o.inputs.nfiles++)
            ;
        o.inputs.files = files;
        o.inputs.levels = !level || strcmp(level, "both") == 0 ? FA_BOTH_LEVELS
                          : strcmp(level, "ttir") == 0         ? FA_TTIR_ONLY
                                                               : FA_TTNN_ONLY;
        audit(&o, argv[1], name ? name : "-");
    }
    enum fa_status status = fa_library_status(library);
    fa_library_free(library);
    return argc > 1 && status == FA_CLEAN ? 0 : 2;
}
