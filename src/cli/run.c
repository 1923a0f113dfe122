/* Runs the command that the command line names, by calls of fusion_audit.h. Standard output gets only what was asked
 * for (a report with -o -, inspect, explain, help); everything else goes to standard error. Nothing of an input reaches
 * either that would drive a terminal. */
#include "cli/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/say.h"
#include "cli/try.h"

const struct command *const commands[] = {
    &audit_command,
    &inspect_command,
    &explain_command,
    &patterns_command,
    &diff_command,
    &summary_command,
    &lower_command,
    &verify_command,
    &apply_command,
    &repro_command,
    &pass_command,
    &try_command,
    &completion_command,
    &patterns_list_command,
    &patterns_show_command,
    &patterns_check_command,
    &patterns_test_command,
    &patterns_new_command,
    &patterns_conditions_command,
};
const size_t ncommands = sizeof commands / sizeof *commands;

static enum fa_status run_command(struct args *args, FILE *out) {
    args->options.tried = tried_file(args);
    return args->command->run(args, out);
}

/* A command whose text goes to standard output: all of it at the end, cleaned. */
static enum fa_status run_printing(struct args *args) {
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        return complain(FA_INPUT, strerror(errno));
    enum fa_status status = run_command(args, out);
    bool whole = !ferror(out);
    if (fclose(out) != 0 || !whole || !text) {
        free(text);
        return complain(FA_INPUT, "out of memory");
    }
    if (args->lines)
        print_for_people(text, n);
    else
        fa_print_clean(text, n, "\t\n", stdout);
    free(text);
    return status;
}

static enum fa_status run(struct args *args) {
    if (args->help)
        print_help(args->command, stdout);
    else if (args->version)
        printf("fusion-audit %s\n", fa_version());
    else
        return args->command->prints ? run_printing(args) : run_command(args, stdout);
    return FA_CLEAN;
}

int cli_run(int argc, char **argv) {
    struct args *args = args_read(argc, argv);
    enum fa_status status = args->error ? FA_USAGE : flush_output(run(args));
    if (args->error)
        status = complain(args->refused, args->error);
    if (args->error && status == FA_USAGE)
        fprintf(stderr, "Try 'fusion-audit%s%s --help' for more information.\n", *args->command->name ? " " : "",
                args->command->name);
    args_free(args);
    return (int)status;
}
