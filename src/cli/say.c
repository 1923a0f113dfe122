#include "cli/say.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void say_clean(const char *text) {
    fa_print_clean(text, strlen(text), "\t", stderr);
}

unsigned terminal_width(int fd) {
    const char *columns = getenv("COLUMNS");
    long asked = columns ? strtol(columns, NULL, 10) : 0;
    struct winsize size = {0};
    if (!isatty(fd))
        return 0;
    if (asked > 0 && asked <= USHRT_MAX)
        return (unsigned)asked;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void print_for_people(const char *text, size_t n) {
    unsigned width = terminal_width(STDOUT_FILENO);
    if (width)
        fa_print_lines(text, n, width, stdout);
    else
        fa_print_clean(text, n, "\t\n", stdout);
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
