/* Runs the command that the command line names, by calls of fusion_audit.h. Standard output gets only what was asked
 * for (a report with -o -, inspect, explain, help); everything else goes to standard error. Nothing of an input reaches
 * either that would drive a terminal. */
#include "cli/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/completion.h"
#include "cli/explain.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/patterns.h"
#include "cli/say.h"
#include "cli/verify.h"
#include "fusion_audit.h"

enum { WIDTH = 100 };

/* Of standard error; WIDTH where that is no terminal, or a wider one. */
static unsigned terminal_width(void) {
    struct winsize size = {0};
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known && size.ws_col < WIDTH ? size.ws_col : WIDTH;
}

/* no-color.org */
static bool terminal_has_colour(void) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDERR_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

static enum fa_status write_report(struct fa_audit *a, const struct options *o) {
    char message[4352];
    if (!o->dry_run && !fa_write_report(a, o->output, message, sizeof message))
        return complain_of_output(message, errno);
    if (!o->quiet)
        fa_print_summary(a,
                         o->dry_run                    ? "dry run"
                         : strcmp(o->output, "-") == 0 ? "standard output"
                                                       : o->output,
                         terminal_width(), terminal_has_colour(), stderr);
    return FA_MISSED;
}

/* Where the text of a long report is until it is written: in $TMPDIR, else beside the report if that will be a file and
 * can be. To be freed; NULL: where the system has temporary files. */
static char *temporary_directory(const struct options *o) {
    const char *directory = getenv("TMPDIR"), *slash = strrchr(o->output, '/');
    struct stat st;
    if (directory && *directory)
        return strdup(directory);
    if (strcmp(o->output, "-") == 0 || (stat(o->output, &st) == 0 && !S_ISREG(st.st_mode)))
        return NULL;
    char *beside = slash ? strndup(o->output, (size_t)(slash - o->output) + 1) : strdup(".");
    if (beside && access(beside, W_OK) == 0)
        return beside;
    free(beside);
    return NULL;
}

static enum fa_status run_audit(const struct options *o) {
    struct fa_options options = options_audit(o);
    char *temporary = temporary_directory(o);
    options.temporary = temporary;
    struct fa_audit *a = fa_audit(&options);
    free(temporary);
    enum fa_status status = fa_get_status(a);
    bool usage = false;
    for (size_t i = 0; o->verbose && i < fa_remarks(a); i++) {
        say_clean(fa_get_remark(a, i));
        fputc('\n', stderr);
    }
    for (size_t i = 0; i < fa_diagnostics(a); i++)
        say_diagnostic(fa_get_diagnostic(a, i), &usage);
    say_rest(fa_diagnostics_dropped(a), usage && status == FA_USAGE);
    if (status == FA_MISSED)
        status = write_report(a, o);
    else if (fa_remove_stale_report(a, o->output) && o->verbose) {
        say_clean(o->output);
        fputs(": removed: nothing is missed any more\n", stderr);
    }
    fa_free(a);
    return status;
}

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
