#include "cli/places.h"

#include "cli/say.h"

enum fa_status each_place(struct args *args, each_finding *each, FILE *out) {
    struct fa_audit_options o = args->options;
    struct fa_finding f;
    o.modules = true;
    o.progress = progress_of_call(&args->progress, "");
    struct fa_audit *a = fa_run_audit(&o);
    progress_hide(&args->progress);
    enum fa_status status = say_diagnostics(fa_diagnostics(a), fa_get_status(a));
    for (size_t i = 0; status <= FA_MISSED && !args->error && fa_get_finding(a, i, &f); i++)
        if (!f.repeated)
            each(args, &f, out);
    fa_free(a);
    return args->error ? args->refused : status;
}
