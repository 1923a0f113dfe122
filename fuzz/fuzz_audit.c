/* A whole audit with the bundled patterns, and its report. A line `---` in the input starts a second file. The
 * length decides which levels are asked for. */
#include "fusion_audit.h"
#include "fuzz.h"

static void audit(const struct fa_audit_options *options) {
    char error[512];
    struct fa_audit *a = fa_run_audit(options);
    enum fa_status status = fa_get_status(a);
    FUZZ_PROMISE(status != FA_CLEAN || fa_fused_ops(a) == 0);
    FUZZ_PROMISE(status != FA_MISSED || (fa_fused_ops(a) > 0 && fa_places(a) >= fa_fused_ops(a)));
    FUZZ_PROMISE(status == FA_CLEAN || status == FA_MISSED || fa_count(fa_diagnostics(a)) > 0);
    for (size_t i = 0; i < fa_count(fa_diagnostics(a)); i++) {
        struct fa_diagnostic d = fa_get_diagnostic(fa_diagnostics(a), i);
        FUZZ_PROMISE(d.message && d.severity);
        fuzz_touch(str_of(d.message));
        fuzz_touch(str_of(d.hint));
    }
    for (size_t i = 0; i < fa_remarks(a); i++)
        fuzz_touch(str_of(fa_get_remark(a, i)));
    if (status == FA_MISSED)
        FUZZ_PROMISE(fa_write_report(a, "yaml", "/dev/null", error, sizeof error));
    fa_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static FILE *nowhere;
    struct str first = {(const char *)data, size}, second = fuzz_cut(&first);
    const char *files[] = {fuzz_file(0, first), fuzz_file(1, second)};
    struct fa_audit_options options = {.inputs = {.files = files,
                                                  .nfiles = second.n ? 2 : 1,
                                                  .levels = second.n ? FA_BOTH_LEVELS : (enum fa_levels)(size % 3)},
                                       .jobs = 1};
    audit(&options);
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    if (nowhere)
        fa_inspect(&(struct fa_inspect_options){.inputs = options.inputs, .json = size & 1}, nowhere);
    return 0;
}
