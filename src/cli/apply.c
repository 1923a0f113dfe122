#include <errno.h>

#include "cli/commands.h"
#include "cli/outputs.h"
#include "cli/say.h"

struct apply_args {
    struct args args;
    struct fa_apply_options options;
    const char *output;
};

static enum fa_status run(struct args *args, FILE *out) {
    struct apply_args *x = (struct apply_args *)args;
    char message[4352];
    (void)out;
    x->options.inputs = args->options.inputs;
    x->options.patterns = args->options.patterns;
    x->options.max_diagnostics = args->options.max_diagnostics;
    x->options.at = args->options.at;
    x->options.assume = args->assume;
    x->options.values = args->values.items;
    x->options.nvalues = args->values.n;
    struct fa_application *a = fa_apply(&x->options);
    enum fa_status status = say_diagnostics(fa_application_diagnostics(a), fa_application_status(a));
    if (status == FA_CLEAN && !fa_application_write(a, x->output, message, sizeof message))
        status = complain_of_output(message, errno);
    else if (status == FA_CLEAN && !args->quiet)
        fprintf(stderr, "%zu of %zu findings applied\n", fa_application_applied(a), fa_application_found(a));
    fa_application_free(a);
    return status;
}

static bool check(struct args *args) {
    return output_check(args, ((const struct apply_args *)args)->output);
}

#define MEMBER(name) offsetof(struct apply_args, name)
static const struct option_row rows[] = {
    {"output", 'o', TEXT, MEMBER(output), "FILE", .help = "write the module to FILE ('-', standard output)"},
    {"assumed", 0, FLAG, MEMBER(options.assumed), NULL,
     .help = "write the module as it was in place of it, with\n"
             "what is assumed of arguments: for verify"},
    {"graph", 0, COUNT, MEMBER(options.graph), "N", .help = "of several in a log the one that inspect numbers so",
     .least = 1, .most = 1000000},
    {"partial", 0, FLAG, MEMBER(options.partial), NULL,
     .help = "rewrite also where ops could not be read, and\n"
             "leave what is not proved"},
    {"quiet", 'q', FLAG, MEMBER(args.quiet), NULL, .help = "do not say how many were applied"},
};
static const struct apply_args defaults = {.output = "-"};

const struct command apply_command = {
    .name = "apply",
    .help = "the TTIR module with the fused ops in it",
    .usage = "Usage: fusion-audit apply [options] FILE... -o OUT.mlir\n"
             "\n"
             "Rewrites the TTIR module: each finding that TTIR can express is replaced by its\n"
             "fused op, and ops that nothing uses any more go. All other bytes stay. The\n"
             "result is proved to compute what the module did; else nothing is written.\n",
    .after = "Exit status: 0 written, the same bytes where nothing was applied; 2 wrong usage;\n"
             "3 refused: nothing was written.\n"
             "\n"
             "Examples:\n"
             "  fusion-audit apply model.ttir.mlir -o fused.ttir.mlir\n"
             "  fusion-audit apply --assume=all --value=eps=1e-05 model.ttir.mlir | diff model.ttir.mlir -\n",
    .own = {rows, sizeof rows / sizeof *rows},
    .shared = {&fused_options, &pattern_options, &choice_options},
    .size = sizeof(struct apply_args),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .takes = "no input file",
    .check = check,
    .run = run,
};
