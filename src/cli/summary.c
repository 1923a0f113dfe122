#include <stdlib.h>

#include "cli/commands.h"
#include "cli/names.h"
#include "cli/say.h"

static enum fa_status run(struct args *args, FILE *out) {
    const struct fa_inputs *o = &args->options.inputs;
    struct fa_audit **reports = xcalloc(o->nfiles + 1, sizeof *reports);
    const char **names = names_of(o->files, o->nfiles, o->files, o->nfiles, &args->arena);
    enum fa_status status = FA_CLEAN;
    for (size_t i = 0; i < o->nfiles; i++) {
        reports[i] = fa_read_report(o->files[i]);
        if (fa_get_status(reports[i]) == FA_INPUT)
            status = say_diagnostics(fa_diagnostics(reports[i]), FA_INPUT);
    }
    fa_print_table(reports, names, o->nfiles, out);
    for (size_t i = 0; i < o->nfiles; i++)
        fa_free(reports[i]);
    free(reports);
    return status;
}

const struct command summary_command = {
    .name = "summary",
    .help = "a table over many reports",
    .usage = "Usage: fusion-audit summary REPORT...\n"
             "\n"
             "Prints a table over many reports, in YAML or JSON, the worst first.\n",
    .after = "Exit status: 0; 2 wrong usage; 3 a report that cannot be read.\n"
             "\n"
             "Example:\n"
             "  fusion-audit summary reports/*.yml\n",
    .size = sizeof(struct args),
    .least = 1,
    .most = SIZE_MAX,
    .takes = "summary needs a report",
    .run = run,
    .prints = true,
};
