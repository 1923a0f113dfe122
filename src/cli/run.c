/* The commands of the program, thin over fusion_audit.h: the library audits and writes, this file
 * prints. Standard output carries only what was asked for: a report (-o -), inspect, help, version. */
#include "cli/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/help.h"
#include "cli/options.h"
#include "fusion_audit.h"

/* Text out of an input or a file name: control characters as \xNN, so that a line stays a line
 * and no log drives the terminal. */
static void put_clean(const char *text) {
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c < ' ' && c != '\t') || c == 0x7F)
            fprintf(stderr, "\\x%02X", (unsigned)c);
        else
            fputc(c, stderr);
    }
}

static enum fa_status complain(enum fa_status status, const char *message) {
    fputs("fusion-audit: error: ", stderr);
    put_clean(message);
    fputc('\n', stderr);
    if (status == FA_USAGE)
        fputs("Try 'fusion-audit --help' for more information.\n", stderr);
    return status;
}

/* `status`, or FA_INPUT when standard output could not take everything. */
static enum fa_status flush_output(enum fa_status status) {
    char message[256];
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    snprintf(message, sizeof message, "cannot write standard output: %s", strerror(errno));
    return complain(FA_INPUT, message);
}

static void print_diagnostic(const struct fa_diagnostic *d) {
    put_clean(d->file && d->file[0] ? d->file : "fusion-audit");
    if (d->line > 0)
        fprintf(stderr, ":%llu", (unsigned long long)d->line);
    if (d->line > 0 && d->column > 0)
        fprintf(stderr, ":%lu", (unsigned long)d->column);
    fprintf(stderr, ": %s: ", d->severity);
    put_clean(d->message);
    fputc('\n', stderr);
    if (d->hint) {
        fputs("  hint: ", stderr);
        put_clean(d->hint);
        fputc('\n', stderr);
    }
}

static void print_diagnostics(const struct fa_audit *a) {
    bool usage = false;
    for (size_t i = 0; i < fa_diagnostics(a); i++) {
        struct fa_diagnostic d = fa_get_diagnostic(a, i);
        print_diagnostic(&d);
        usage = usage || !d.file || !d.file[0];
    }
    if (fa_diagnostics_dropped(a) > 0)
        fprintf(stderr, "and %zu more\n", fa_diagnostics_dropped(a));
    if (usage && fa_get_status(a) == FA_USAGE)
        fputs("Try 'fusion-audit --help' for more information.\n", stderr);
}

static enum fa_status write_report(struct fa_audit *a, const struct options *o) {
    char message[4352];
    size_t ops = fa_fused_ops(a), places = fa_places(a);
    if (!o->dry_run && !fa_write_report(a, o->output, message, sizeof message))
        return complain(FA_INPUT, message);
    if (!o->quiet) {
        put_clean(o->dry_run ? "dry run" : strcmp(o->output, "-") == 0 ? "standard output" : o->output);
        fprintf(stderr, ": %zu fused op%s, %zu place%s\n", ops, ops == 1 ? "" : "s", places, places == 1 ? "" : "s");
    }
    return FA_MISSED;
}

static enum fa_status run_audit(const struct options *o) {
    struct fa_options options = options_audit(o);
    struct fa_audit *a = fa_audit(&options);
    enum fa_status status = fa_get_status(a);
    for (size_t i = 0; o->verbose && i < fa_remarks(a); i++) {
        put_clean(fa_get_remark(a, i));
        fputc('\n', stderr);
    }
    print_diagnostics(a);
    if (status == FA_MISSED)
        status = write_report(a, o);
    else if (status == FA_CLEAN && !o->dry_run && strcmp(o->output, "-") != 0 && fa_remove_stale_report(o->output) &&
             o->verbose)
        fprintf(stderr, "%s: removed: nothing is missed any more\n", o->output);
    fa_free(a);
    return status;
}

static enum fa_status run(const struct options *o) {
    if (o->help)
        fputs(help_text, stdout);
    else if (o->version)
        printf("fusion-audit %s\n", fa_version());
    else if (o->command == CMD_AUDIT)
        return run_audit(o);
    else {
        struct fa_options options = options_audit(o);
        return flush_output(fa_inspect(&options, o->json, stdout));
    }
    return flush_output(FA_CLEAN);
}

int cli_run(int argc, char **argv) {
    struct options options;
    bool good = options_parse(&options, argc, argv);
    enum fa_status status = good ? run(&options) : complain(FA_USAGE, options.error);
    options_free(&options);
    return (int)status;
}
