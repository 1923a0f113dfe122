#include "cli/say.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

void say_clean(const char *text) {
    fa_print_clean(text, strlen(text), "\t", stderr);
}

enum fa_status complain(enum fa_status status, const char *message) {
    fputs("fusion-audit: error: ", stderr);
    say_clean(message);
    fputc('\n', stderr);
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

enum fa_status say_diagnostics(const struct fa_diagnostics *d, enum fa_status status) {
    fa_print_diagnostics(d, stderr);
    return status;
}
