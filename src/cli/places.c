#include "cli/places.h"

#include <string.h>

#include "cli/say.h"

enum fa_status each_place(struct args *args, each_finding *each, FILE *out) {
    struct fa_audit_options o = args->options;
    struct fa_finding f;
    o.modules = true;
    struct fa_audit *a = fa_run_audit(&o);
    enum fa_status status = say_diagnostics(fa_diagnostics(a), fa_get_status(a));
    for (size_t i = 0; status <= FA_MISSED && !args->error && fa_get_finding(a, i, &f); i++)
        if (!f.repeated)
            each(args, &f, out);
    fa_free(a);
    return args->error ? args->refused : status;
}

struct fa_patterns patterns_of_place(struct args *args, struct place_patterns *kept, const char *only,
                                     const char *sources) {
    struct fa_patterns p = args->options.patterns;
    p.only = only;
    p.skip = NULL;
    p.sources = sources;
    if (!kept->of || strcmp(kept->of, only) != 0) {
        fa_library_free(kept->library);
        kept->of = text(args, "%s", only);
        kept->library = fa_library_read(&p, args->options.max_diagnostics);
    }
    p.library = kept->library;
    return p;
}

struct fa_apply_options writing_options(const struct args *args, struct fa_patterns patterns) {
    return (struct fa_apply_options){
        .patterns = patterns, .assume = args->assume, .values = args->values.items, .nvalues = args->values.n};
}
