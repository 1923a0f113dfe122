/* Runs the command that the command line names, by calls of fusion_audit.h. Standard output gets only what was asked
 * for (a report with -o -, inspect, explain, help); everything else goes to standard error. Nothing of an input reaches
 * either that would drive a terminal. */
#include "cli/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/say.h"

static enum fa_status run_inspect(const struct options *o, FILE *out) {
    struct fa_options options = options_audit(o);
    return fa_inspect(&options, o->json, out);
}

/* A command whose text goes to standard output: all of it at the end, cleaned. */
static enum fa_status run_printing(const struct options *o) {
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        return complain(FA_INPUT, strerror(errno));
    enum fa_status status = o->command == CMD_EXPLAIN      ? run_explain(o, out)
                            : o->command == CMD_PATTERNS   ? run_patterns(o, out)
                            : o->command == CMD_LOWER      ? run_lower(o, out)
                            : o->command == CMD_COMPLETION ? run_completion(o, out)
                            : o->command == CMD_DIFF       ? run_diff(o, out)
                            : o->command == CMD_SUMMARY    ? run_summary(o, out)
                                                           : run_inspect(o, out);
    bool whole = !ferror(out);
    if (fclose(out) != 0 || !whole || !text) {
        free(text);
        return complain(FA_INPUT, "out of memory");
    }
    print_clean((struct str){text, n}, "\t\n", stdout);
    free(text);
    return flush_output(status);
}

static enum fa_status run(const struct options *o) {
    if (o->help)
        print_help(o, stdout);
    else if (o->version)
        printf("fusion-audit %s\n", fa_version());
    else if (o->command == CMD_AUDIT)
        return run_audit(o);
    else if (o->command == CMD_VERIFY)
        return flush_output(run_verify(o));
    else
        return run_printing(o);
    return flush_output(FA_CLEAN);
}

int cli_run(int argc, char **argv) {
    struct options options;
    bool good = options_parse(&options, argc, argv);
    enum fa_status status = good ? run(&options) : complain(FA_USAGE, options.error);
    options_free(&options);
    return (int)status;
}
