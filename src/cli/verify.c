#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/outputs.h"
#include "cli/say.h"

struct verify_args {
    struct args args;
    struct fa_verify_options options;
    const char *output, *format;
    bool verbose;
};

static void say_counts(const struct fa_verification *v, const struct verify_args *x) {
    size_t n = fa_verification_differences(v);
    for (int after = 0; after < 2 && x->verbose; after++) {
        struct fa_compared c = fa_verification_compared(v, after);
        fprintf(stderr, "%s: %u compute ops: %u proved, %u different, %u not compared\n", after ? "after" : "before",
                c.ops, c.proved, c.different, c.not_compared);
    }
    if (!n && !x->verbose && !x->args.quiet && !x->options.at && fa_verification_status(v) == FA_CLEAN &&
        terminal_width(STDERR_FILENO)) {
        struct fa_compared c = fa_verification_compared(v, true);
        fprintf(stderr, "nothing differs: %u of %u compute ops proved the same\n", c.proved, c.ops);
    }
    if (n && !x->args.quiet) {
        say_clean(strcmp(x->output, "-") == 0 ? "standard output" : x->output);
        fprintf(stderr, ": %zu difference%s\n", n, n == 1 ? "" : "s");
    }
}

static enum fa_status write_report(struct fa_verification *v, const struct verify_args *x, enum fa_status status) {
    char message[4352];
    if (!fa_verification_write(v, x->format, x->output, message, sizeof message))
        return complain_of_output(message, errno);
    say_counts(v, x);
    if (fa_verification_remove_stale(v, x->output) && x->verbose) {
        say_clean(x->output);
        fputs(": removed: nothing differs any more\n", stderr);
    }
    return status;
}

static enum fa_status run(struct args *args, FILE *out) {
    struct verify_args *x = (struct verify_args *)args;
    x->options.inputs = args->options.inputs;
    x->options.jobs = args->options.jobs;
    struct fa_verification *v = fa_verify(&x->options);
    enum fa_status status = say_diagnostics(fa_verification_diagnostics(v), fa_verification_status(v));
    if (!x->options.at)
        status = write_report(v, x, status);
    const char *text = fa_verification_text(v);
    fa_print_clean(text, strlen(text), "\n", out);
    fa_verification_free(v);
    return status;
}

static bool check(struct args *args) {
    struct verify_args *x = (struct verify_args *)args;
    if (!x->output)
        x->output = strcmp(x->format, "yaml") == 0   ? "fusion_check.yml"
                    : strcmp(x->format, "json") == 0 ? "fusion_check.json"
                                                     : "fusion_check.html";
    return output_check(args, x->output);
}

#define MEMBER(name) offsetof(struct verify_args, name)
static const struct option_row rows[] = {
    {"output", 'o', TEXT, MEMBER(output), "FILE", .help = "write the report to FILE, '-' for standard output"},
    {"format", 0, WORD, MEMBER(format), "FORMAT", .help = "yaml, json or html, a page", .words = "yaml|json|html"},
    {"only", 0, TEXT, MEMBER(options.only), "GLOBS", .help = "only these fused ops, comma-separated"},
    {"details", 0, FLAG, MEMBER(options.details), NULL, .help = "report what was not compared, too"},
    {"strict", 0, FLAG, MEMBER(options.strict), NULL, .help = "exit 3 for any op that was not compared"},
    {"min-compared", 0, SHARE, MEMBER(options.min_compared), "SHARE",
     .help = "least share of compute ops to compare (0.9)"},
    {"seed", 0, COUNT, MEMBER(options.seed), "N", .help = "other random numbers (0)", .least = 0, .most = NUMBER_MOST},
    {"at", 0, TEXT, MEMBER(options.at), "PLACE", .help = "say what was found there, in place of a report"},
    {"quiet", 'q', FLAG, MEMBER(args.quiet), NULL, .help = "no summary on standard error"},
    {"verbose", 'v', FLAG, MEMBER(verbose), NULL, .help = "say how many ops were compared"},
};
static const struct verify_args defaults = {.format = "yaml", .options = {.min_compared = 0.9}};

const struct command verify_command = {
    .name = "verify",
    .help = "whether what the compiler did fuse is right",
    .usage = "Usage: fusion-audit verify [options] BEFORE AFTER\n"
             "       fusion-audit verify [options] LOG\n"
             "\n"
             "Says whether two modules of one compile compute the same: TTIR and TTNN, or two\n"
             "stages of one of them. Regions between values that both modules have are\n"
             "evaluated on numbers. Of a log each stage is compared with the one before. What\n"
             "differs is written to fusion_check.yml, with the inputs that show it. When\n"
             "nothing differs, nothing is written, and no more is printed than a note of what\n"
             "was not compared.\n",
    .after = "Exit status: 0 nothing differs; 1 something does; 2 wrong usage; 3 unreadable,\n"
             "no pair, or too little compared.\n"
             "\n"
             "Examples:\n"
             "  fusion-audit verify model.ttir.mlir model.ttnn.mlir\n"
             "  fusion-audit verify --only='*.mean' -o - passes.log\n",
    .own = {rows, sizeof rows / sizeof *rows},
    .shared = {&jobs_options},
    .size = sizeof(struct verify_args),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .takes = "no input file",
    .check = check,
    .run = run,
};
