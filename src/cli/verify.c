#include "cli/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/say.h"

static void say_counts(const struct fa_verification *v, const struct options *o) {
    size_t n = fa_verification_differences(v);
    for (int after = 0; after < 2 && o->verbose; after++) {
        struct fa_compared c = fa_verification_compared(v, after);
        fprintf(stderr, "%s: %u compute ops: %u proved, %u different, %u not compared\n", after ? "after" : "before",
                c.ops, c.proved, c.different, c.not_compared);
    }
    if (n && !o->quiet) {
        say_clean(strcmp(o->output, "-") == 0 ? "standard output" : o->output);
        fprintf(stderr, ": %zu difference%s\n", n, n == 1 ? "" : "s");
    }
}

enum fa_status run_verify(const struct options *o) {
    struct fa_verify_options options = {.files = o->files,
                                        .nfiles = o->nfiles,
                                        .only = o->only,
                                        .details = o->details,
                                        .precision = o->precision,
                                        .at = o->at,
                                        .jobs = (unsigned)o->njobs,
                                        .min_compared = o->least_compared,
                                        .max_input = o->max_input};
    struct fa_verification *v = fa_verify(&options);
    enum fa_status status = fa_verification_status(v);
    bool usage = false;
    char message[4352];
    for (size_t i = 0; i < fa_verification_diagnostics(v); i++)
        say_diagnostic(fa_verification_diagnostic(v, i), &usage);
    say_rest(fa_verification_diagnostics_dropped(v), usage && status == FA_USAGE);
    if (o->at)
        print_clean(str_of(fa_verification_text(v)), "\n", stdout);
    else if (!fa_verification_write(v, o->output, message, sizeof message))
        status = complain_of_output(message, errno);
    else
        say_counts(v, o);
    if (!o->at && fa_verification_remove_stale(v, o->output) && o->verbose) {
        say_clean(o->output);
        fputs(": removed: nothing differs any more\n", stderr);
    }
    if (o->precision && !o->at)
        print_clean(str_of(fa_verification_text(v)), "\n", stdout);
    fa_verification_free(v);
    return status;
}
