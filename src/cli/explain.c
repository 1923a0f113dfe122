/* The command `explain`. Its exit status does not tell what nearly matches. */
#include "cli/commands.h"

#include "cli/say.h"

enum fa_status run_explain(const struct options *o, FILE *out) {
    struct fa_options options = options_audit(o);
    struct fa_explanation *e = fa_explain(&options, o->at, o->max_places);
    enum fa_status status = fa_explanation_status(e);
    bool usage = false;
    for (size_t i = 0; i < fa_explanation_diagnostics(e); i++)
        say_diagnostic(fa_explanation_diagnostic(e, i), &usage);
    say_rest(fa_explanation_diagnostics_dropped(e), usage && status == FA_USAGE);
    if (status != FA_USAGE)
        fa_explanation_print(e, o->json, out);
    fa_explanation_free(e);
    return status;
}
