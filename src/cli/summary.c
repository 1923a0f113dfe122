#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/say.h"

/* The name of a report without its directory and its end. */
static const char *name_of(const char *path, struct arena *a) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return arena_strdup(a, (struct str){name, dot && dot > name ? (size_t)(dot - name) : strlen(name)});
}

static enum fa_status run(struct args *args, FILE *out) {
    const struct fa_audit_options *o = &args->options;
    struct fa_audit **reports = xcalloc(o->inputs.nfiles + 1, sizeof *reports);
    const char **names = xcalloc(o->inputs.nfiles + 1, sizeof *names);
    enum fa_status status = FA_CLEAN;
    for (size_t i = 0; i < o->inputs.nfiles; i++) {
        reports[i] = fa_read_report(o->inputs.files[i]);
        names[i] = name_of(o->inputs.files[i], &args->arena);
        if (fa_get_status(reports[i]) == FA_INPUT)
            status = say_diagnostics(fa_diagnostics(reports[i]), FA_INPUT);
    }
    fa_print_table(reports, names, o->inputs.nfiles, out);
    for (size_t i = 0; i < o->inputs.nfiles; i++)
        fa_free(reports[i]);
    free(reports);
    free(names);
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
