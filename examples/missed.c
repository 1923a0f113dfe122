/* Lists what a compile missed, what saves most first.
 *
 *     cc missed.c $(pkg-config --cflags --libs fusion-audit) -o missed
 *     ./missed model.ttir.mlir model.ttnn.mlir */
#include <fusion_audit.h>
#include <stdio.h>

static void say(const struct fa_diagnostics *all) {
    for (size_t i = 0; i < fa_count(all); i++) {
        struct fa_diagnostic d = fa_get_diagnostic(all, i);
        fprintf(stderr, "%s:%llu: %s: %s\n", d.file, (unsigned long long)d.line, d.severity, d.message);
    }
}

int main(int argc, char **argv) {
    struct fa_patterns patterns = {.only = "ttnn.*"};
    struct fa_library *library = fa_library_read(&patterns, 0); /* once, for any number of audits */
    struct fa_audit_options options = {.inputs = {.files = (const char *const *)argv + 1, .nfiles = (size_t)argc - 1},
                                       .patterns = {.library = library}};
    struct fa_audit *audit = fa_run_audit(&options);
    struct fa_finding f;
    say(fa_diagnostics(audit));
    for (size_t i = 0; fa_get_finding(audit, i, &f); i++)
        printf("%8.1f us  %s at %s, lines %s: %s\n", f.saved_us, f.fused_op, f.location, f.ttnn_lines, f.verdict);
    enum fa_status status = fa_get_status(audit);
    fa_free(audit);
    fa_library_free(library);
    return status;
}
