#include "cli/audit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/say.h"

enum { MOST_WIDTH = 100 };

/* Of the summary: that of the terminal, and no more than MOST_WIDTH. */
static unsigned summary_width(void) {
    unsigned width = terminal_width(STDERR_FILENO);
    return width && width < MOST_WIDTH ? width : MOST_WIDTH;
}

/* What --verbose prints, each line with the name before it. */
static void say_remarks(const struct fa_audit *a, const char *name) {
    for (size_t i = 0; i < fa_remarks(a); i++) {
        if (name)
            say_clean(name);
        if (name)
            fputs(": ", stderr);
        say_clean(fa_get_remark(a, i));
        fputc('\n', stderr);
    }
}

/* YAML without findings is no file; other formats are asked for by name, and say that there are none. */
static bool is_written(const struct fa_audit *a, const struct out_file *out) {
    return fa_places(a) > 0 || (strcmp(out->format, "yaml") != 0 && fa_get_status(a) != FA_INPUT);
}

static enum fa_status write_files(struct fa_audit *a, const struct audit_args *x) {
    enum fa_status status = fa_get_status(a);
    char message[4352];
    for (size_t i = 0; i < x->noutputs; i++) {
        const struct out_file *out = &x->outputs[i];
        if (is_written(a, out) && !fa_write_report(a, out->format, out->path, message, sizeof message))
            return complain_of_output(message, errno);
        if (!is_written(a, out) && fa_remove_stale_report(a, out->path) && x->verbose) {
            say_clean(out->path);
            fputs(": removed: nothing is missed any more\n", stderr);
        }
    }
    if (x->write_expect && !fa_write_report(a, "expectations", x->write_expect, message, sizeof message))
        return complain_of_output(message, errno);
    if ((!x->write_baseline && !x->write_expect) || status == FA_INPUT)
        return status;
    if (x->write_baseline && !fa_write_report(a, "baseline", x->write_baseline, message, sizeof message))
        return complain_of_output(message, errno);
    return fa_expectations_failed(a) ? FA_MISSED : FA_CLEAN; /* what there is was accepted */
}

enum fa_status audit_finish(struct fa_audit *a, const struct audit_args *x, const char *name) {
    enum fa_status found = fa_get_status(a), status = found;
    if (x->verbose)
        say_remarks(a, name);
    if (say_diagnostics(fa_diagnostics(a), found) == FA_USAGE)
        return FA_USAGE;
    if (!x->dry_run)
        status = write_files(a, x);
    const char *path = x->outputs[0].path;
    if (!x->args.quiet && fa_places(a) && (status != FA_INPUT || found == FA_INPUT))
        fa_print_summary(a,
                         x->dry_run               ? "dry run"
                         : strcmp(path, "-") == 0 ? "standard output"
                                                  : path,
                         summary_width(), stderr);
    return status;
}

static enum fa_status run(struct args *args, FILE *out) {
    struct audit_args *x = (struct audit_args *)args;
    struct fa_audit_options options = args->options;
    args->lines = true;
    if (audit_is_many(x) && options.inputs.levels == FA_BOTH_LEVELS)
        return audit_many(x, out);
    struct fa_audit *a = fa_run_audit(&options);
    enum fa_status status = fa_is_several(a) ? audit_many(x, out) : audit_finish(a, x, NULL);
    fa_free(a);
    return status;
}

#define MEMBER(name) offsetof(struct audit_args, name)
static const struct option_row rows[] = {
    {"output", 'o', TEXT, MEMBER(output), "FILE", .help = "write the report to FILE, '-' for standard output"},
    {"format", 0, LIST, MEMBER(formats), "F[:FILE]",
     .help = "yaml, json, markdown, sarif, github, gitlab,\ntime or html; repeatable",
     .words = "yaml|json|markdown|sarif|github|gitlab|time|html"},
    {"output-dir", 0, TEXT, MEMBER(output_dir), "DIR", .help = "many inputs: write a report for each pair to DIR"},
    {"baseline", 0, TEXT, MEMBER(args.options.baseline), "FILE",
     .help = "exit 1 only for findings that are not in FILE"},
    {"write-baseline", 0, TEXT, MEMBER(write_baseline), "FILE", .help = "write all findings to FILE, as known ones"},
    {"strict-baseline", 0, FLAG, MEMBER(args.options.strict_baseline), NULL,
     .help = "exit 1 also for entries that expired or are gone"},
    {"expect", 0, TEXT, MEMBER(args.options.expect), "FILE", .help = "exit 1 if the counts of ops in FILE do not hold"},
    {"write-expect", 0, TEXT, MEMBER(write_expect), "FILE", .help = "write the counts of fused ops to FILE"},
    {"include", 0, TEXT, MEMBER(args.options.patterns.include), "LIST",
     .help = "report also what is hidden: blocked, decomposed,\n"
             "slower, elementwise, elementwise-reduction",
     .words = "blocked|decomposed|slower|elementwise|elementwise-reduction"},
    {"perf", 0, TEXT, MEMBER(args.options.perf), "FILE", .help = "take times from a profile, ops_perf_results*.csv"},
    {"classify", 0, FLAG, MEMBER(args.options.classify), NULL, .help = "say how far the compiler is with each fusion"},
    {"time", 0, FLAG, MEMBER(time), NULL,
     .help = "print the time of all ops by kind and place, and\nwhat of it is needless"},
    {"details", 0, FLAG, MEMBER(args.options.details), NULL, .help = "all figures of proofs and prices"},
    {"dry-run", 'n', FLAG, MEMBER(dry_run), NULL, .help = "write nothing, count only"},
    {"quiet", 'q', FLAG, MEMBER(args.quiet), NULL, .help = "no summary on standard error"},
    {"verbose", 'v', FLAG, MEMBER(verbose), NULL, .help = "say what was audited and what was refuted"},
};

const struct command audit_command = {
    .name = "",
    .usage = "Usage: fusion-audit [options] FILE...\n"
             "       fusion-audit COMMAND [options] ...      each has a --help of its own\n"
             "\n"
             "Finds op fusions that a Tenstorrent compile missed. Give the TTIR and the TTNN\n"
             "of one model, as .mlir files in either order or as one log that holds both;\n"
             "'-' is standard input. Missed fusions are written to fusion_todo.yml. When\n"
             "nothing is missed, nothing is written and nothing is printed.\n",
    .after = "Exit status: 0 nothing missed; 1 missed fusions reported; 2 wrong usage or bad\n"
             "pattern; 3 input unreadable, not what was asked for, or partly skipped with\n"
             "nothing found.\n"
             "\n"
             "Examples:\n"
             "  fusion-audit model.ttir.mlir model.ttnn.mlir\n"
             "  fusion-audit -o - --only='ttnn.linear' run.log\n"
             "\n"
             "See fusion-audit(1), fusion-todo(5), fusion-patterns(5).\n",
    .own = {rows, sizeof rows / sizeof *rows},
    .shared = {&level_options, &unpaired_options, &pattern_options, &choice_options, &price_options, &gate_options,
               &jobs_options},
    .size = sizeof(struct audit_args),
    .least = 1,
    .most = SIZE_MAX,
    .takes = "no input file",
    .check = audit_check,
    .run = run,
    .prints = true,
};
