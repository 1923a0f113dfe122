/* Messages on standard error. Lines have the form that editors and CI systems recognise: file:line:column: severity:
 * text. */
#include "cli/say.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static const char try_help[] = "Try 'fusion-audit --help' for more information.\n";

void say_clean(const char *text) {
    print_clean(str_of(text), "\t", stderr);
}

enum fa_status complain(enum fa_status status, const char *message) {
    fputs("fusion-audit: error: ", stderr);
    say_clean(message);
    fputc('\n', stderr);
    if (status == FA_USAGE)
        fputs(try_help, stderr);
    return status;
}

enum fa_status complain_of_output(const char *message, int reason) {
    if (reason != EPIPE)
        return complain(FA_INPUT, message);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)raise(SIGPIPE);
    return FA_INPUT;
}

enum fa_status flush_output(enum fa_status status) {
    char message[256];
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    int reason = errno;
    snprintf(message, sizeof message, "cannot write standard output: %s", strerror(reason));
    return complain_of_output(message, reason);
}

static void say_diagnostic(struct fa_diagnostic d) {
    say_clean(d.file && d.file[0] ? d.file : "fusion-audit");
    if (d.line > 0)
        fprintf(stderr, ":%llu", (unsigned long long)d.line);
    if (d.line > 0 && d.column > 0)
        fprintf(stderr, ":%lu", (unsigned long)d.column);
    fprintf(stderr, ": %s: ", d.severity);
    say_clean(d.message);
    fputc('\n', stderr);
    if (d.hint) {
        fputs("  hint: ", stderr);
        say_clean(d.hint);
        fputc('\n', stderr);
    }
}

enum fa_status say_diagnostics(const struct fa_diagnostics *d, enum fa_status status) {
    bool of_options = false;
    for (size_t i = 0; i < fa_count(d); i++) {
        struct fa_diagnostic one = fa_diagnostic(d, i);
        say_diagnostic(one);
        of_options |= !one.file || !one.file[0];
    }
    if (fa_dropped(d) > 0)
        fprintf(stderr, "and %zu more\n", fa_dropped(d));
    if (of_options && status == FA_USAGE)
        fputs(try_help, stderr);
    return status;
}
