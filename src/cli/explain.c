#include "cli/commands.h"
#include "cli/say.h"

struct explain_args {
    struct args args;
    struct fa_explain_options options;
    bool json;
};

/* The exit status does not tell what nearly matches. */
static enum fa_status run(struct args *args, FILE *out) {
    struct explain_args *x = (struct explain_args *)args;
    x->options.inputs = args->options.inputs;
    x->options.patterns = args->options.patterns;
    x->options.max_diagnostics = args->options.max_diagnostics;
    struct fa_explanation *e = fa_explain(&x->options);
    enum fa_status status = say_diagnostics(fa_explanation_diagnostics(e), fa_explanation_status(e));
    args->lines = !x->json;
    if (status != FA_USAGE)
        fa_explanation_print(e, x->json, out);
    fa_explanation_free(e);
    return status;
}

static const struct option_row rows[] = {
    {"at", 0, TEXT, offsetof(struct explain_args, options.at), "PLACE",
     .help = "only there, matches too: a value (%12, ttir:%12),\n"
             "a line (812, FILE:812, model.py:188), an op\n"
             "(ttnn.add, or ttnn.add 812 of a line), a name\n"
             "(layer.0.dense), a location (add.174), an alias\n"
             "(#loc12)"},
    {"include", 0, TEXT, offsetof(struct args, options.patterns.include), "LIST",
     .help = "search also what is hidden: blocked, decomposed,\n"
             "slower, elementwise, elementwise-reduction",
     .words = "blocked|decomposed|slower|elementwise|elementwise-reduction"},
    {"json", 0, FLAG, offsetof(struct explain_args, json), NULL, .help = "print one JSON document instead"},
    {"most", 0, COUNT, offsetof(struct explain_args, options.most), "N",
     .help = "places that are printed (10; with --at 5)", .least = 1, .most = NUMBER_MOST},
};

const struct command explain_command = {
    .name = "explain",
    .help = "what nearly matches, and what differs",
    .usage = "Usage: fusion-audit explain [options] FILE...\n"
             "\n"
             "Says where patterns nearly match and what is different there. The files are\n"
             "those of an audit.\n",
    .after = "Exit status: 0 whatever was found; 2 wrong usage or bad pattern; 3 an error\n"
             "in the input, or nothing is at PLACE.\n"
             "\n"
             "Example:\n"
             "  fusion-audit explain --at=add.174 --only=linear --ttnn-only model.ttnn.mlir\n",
    .own = {rows, sizeof rows / sizeof *rows},
    .shared = {&level_options, &unpaired_options, &pattern_options, &choice_options},
    .size = sizeof(struct explain_args),
    .least = 1,
    .most = SIZE_MAX,
    .takes = "no input file",
    .run = run,
    .prints = true,
};
