/* The commands `patterns ...` and `lower`: each reads the library first. */
#include <string.h>

#include "cli/commands.h"
#include "cli/say.h"

struct test_args {
    struct args args;
    struct fa_test_options options;
    struct fa_test_counts counts;
};

struct new_args {
    struct args args;
    const char *from, *ops;
};

/* Reads the library, asks it where it is whole, and says what is wrong. */
static enum fa_status ask_library(struct args *args, FILE *out) {
    struct fa_library *l = fa_library_read(&args->options.patterns, args->options.max_diagnostics);
    enum fa_status status = fa_library_status(l);
    if (status == FA_CLEAN)
        status = args->command->ask(l, args, out);
    say_diagnostics(fa_library_diagnostics(l), status);
    fa_library_free(l);
    return status;
}

static enum fa_status list(struct fa_library *l, struct args *args, FILE *out) {
    args->lines = true;
    fa_library_list(l, out);
    return FA_CLEAN;
}

static enum fa_status show(struct fa_library *l, struct args *args, FILE *out) {
    return fa_library_show(l, args->options.inputs.files, args->options.inputs.nfiles, out);
}

static enum fa_status check(struct fa_library *l, struct args *args, FILE *out) {
    (void)out;
    return fa_library_check(l, args->options.inputs.files, args->options.inputs.nfiles);
}

static enum fa_status draft(struct fa_library *l, struct args *args, FILE *out) {
    const struct new_args *x = (const struct new_args *)args;
    struct fa_inputs from = {.files = &x->from, .nfiles = 1, .levels = args->options.inputs.levels};
    return fa_library_new(l, &from, x->ops, out);
}

static enum fa_status conditions(struct fa_library *l, struct args *args, FILE *out) {
    args->lines = true;
    fa_library_conditions(l, out);
    return FA_CLEAN;
}

static enum fa_status lower(struct fa_library *l, struct args *args, FILE *out) {
    args->lines = true;
    return fa_library_lower(l, args->options.inputs.files, args->options.inputs.nfiles, out);
}

static void say_counts(const struct fa_test_counts *n) {
    fprintf(stderr, "%zu pattern%s, %zu test%s, %zu failed", n->patterns, n->patterns == 1 ? "" : "s", n->tests,
            n->tests == 1 ? "" : "s", n->failed);
    if (n->without)
        fprintf(stderr, "; %zu without tests", n->without);
    if (n->proved || n->unproved)
        fprintf(stderr, "; %zu proved%s, %zu not evaluated", n->proved,
                n->proved && n->by_formula == n->proved ? " against the formula" : "", n->unproved);
    fputc('\n', stderr);
}

static enum fa_status test(struct fa_library *l, struct args *args, FILE *out) {
    struct test_args *x = (struct test_args *)args;
    (void)out;
    return fa_library_test(l, &x->options, &x->counts);
}

static enum fa_status run_test(struct args *args, FILE *out) {
    const struct test_args *x = (const struct test_args *)args;
    enum fa_status status = ask_library(args, out);
    if (status != FA_USAGE && !args->quiet)
        say_counts(&x->counts);
    return status;
}

/* Names after the command are those of --only. */
static bool take_names(struct args *args) {
    struct fa_audit_options *o = &args->options;
    if (o->inputs.nfiles && o->patterns.only)
        return wrong(args, "names and --only exclude each other");
    for (size_t i = 0; i < o->inputs.nfiles; i++)
        o->patterns.only = i ? text(args, "%s,%s", o->patterns.only, o->inputs.files[i]) : o->inputs.files[i];
    return true;
}

static bool check_new(struct args *args) {
    const struct new_args *x = (const struct new_args *)args;
    return (x->from && x->ops) || wrong(args, "%s", args->command->takes);
}

static const struct option_row test_rows[] = {
    {"seed", 0, COUNT, offsetof(struct test_args, options.seed), "N", .help = "other numbers (0)", .least = 0,
     .most = NUMBER_MOST},
    {"quiet", 'q', FLAG, offsetof(struct args, quiet), NULL, .help = "do not print the counts"},
    {"verbose", 'v', FLAG, offsetof(struct test_args, options.say_unproved), NULL,
     .help = "what was not compared, and why; what `explains`\n"
             "of each miss could say"},
};
static const struct option_row new_rows[] = {
    {"from", 0, TEXT, offsetof(struct new_args, from), "FILE", .help = "take the ops from this file"},
    {"ops", 0, TEXT, offsetof(struct new_args, ops), "RESULTS", .help = "the ops with these results, %14,%17"},
};

const struct command patterns_command = {
    .name = "patterns",
    .help = "list, show, check, test and draft patterns",
    .usage = "Usage: fusion-audit patterns list [NAME]...    name, fused op, source, summary\n"
             "       fusion-audit patterns show NAME...      as written, and what is searched\n"
             "       fusion-audit patterns check FILE...     mistakes; silent without any\n"
             "       fusion-audit patterns test [NAME]...    run the examples of the patterns\n"
             "       fusion-audit patterns new --from=FILE --ops=%14,%17\n"
             "                                               draft a pattern of these ops\n"
             "       fusion-audit patterns conditions        what a pattern may ask of a match\n"
             "\n"
             "Each has a --help of its own. NAME is a glob over names and fused ops, FILE a\n"
             "pattern file or a directory.\n",
    .after = "See fusion-patterns(5).\n",
    .size = sizeof(struct args),
};

const struct command patterns_list_command = {
    .name = "patterns list",
    .usage = "Usage: fusion-audit patterns list [options] [NAME]...\n"
             "\n"
             "Prints the name, fused op and source of each pattern, or of those that NAMEs are,\n"
             "globs over names and fused ops, and below them the summary.\n",
    .after = "Exit status: 0; 2 wrong usage or bad pattern.\n",
    .shared = {&pattern_options, &choice_options},
    .size = sizeof(struct args),
    .most = SIZE_MAX,
    .check = take_names,
    .run = ask_library,
    .ask = list,
    .prints = true,
};

const struct command patterns_show_command = {
    .name = "patterns show",
    .usage = "Usage: fusion-audit patterns show [options] NAME...\n"
             "\n"
             "Prints patterns and idioms as their files have them, and the formulas that are\n"
             "searched.\n",
    .after = "Exit status: 0; 2 wrong usage, bad pattern, or a NAME that is none.\n",
    .shared = {&pattern_options},
    .size = sizeof(struct args),
    .least = 1,
    .most = SIZE_MAX,
    .takes = "patterns show needs the name of a pattern",
    .run = ask_library,
    .ask = show,
    .prints = true,
};

const struct command patterns_check_command = {
    .name = "patterns check",
    .usage = "Usage: fusion-audit patterns check [options] FILE...\n"
             "\n"
             "Says what is wrong with pattern files, or with those of directories. Without\n"
             "mistakes nothing is printed.\n",
    .after = "Exit status: 0; 2 wrong usage or bad pattern.\n",
    .shared = {&pattern_options},
    .size = sizeof(struct args),
    .least = 1,
    .most = SIZE_MAX,
    .takes = "patterns check needs a file or a directory",
    .run = ask_library,
    .ask = check,
};

const struct command patterns_test_command = {
    .name = "patterns test",
    .usage = "Usage: fusion-audit patterns test [options] [NAME]...\n"
             "\n"
             "Runs the examples of the patterns: each is to match or not as it says, and what\n"
             "matches is proved on numbers.\n",
    .after = "Exit status: 0; 1 an example fails; 2 wrong usage or bad pattern.\n",
    .own = {test_rows, sizeof test_rows / sizeof *test_rows},
    .shared = {&pattern_options, &choice_options},
    .size = sizeof(struct test_args),
    .most = SIZE_MAX,
    .check = take_names,
    .run = run_test,
    .ask = test,
};

const struct command patterns_new_command = {
    .name = "patterns new",
    .usage = "Usage: fusion-audit patterns new [options] --from=FILE --ops=%14,%17\n"
             "\n"
             "Drafts a pattern of these ops, with an example that matches.\n",
    .after = "Exit status: 0; 2 wrong usage or bad pattern; 3 FILE unreadable, or its ops\n"
             "make no pattern.\n",
    .own = {new_rows, sizeof new_rows / sizeof *new_rows},
    .shared = {&level_options, &pattern_options},
    .size = sizeof(struct new_args),
    .takes = "patterns new takes --from=FILE and --ops=%14,%17",
    .check = check_new,
    .run = ask_library,
    .ask = draft,
    .prints = true,
};

const struct command patterns_conditions_command = {
    .name = "patterns conditions",
    .usage = "Usage: fusion-audit patterns conditions [options]\n"
             "\n"
             "Lists what a pattern may ask of a match.\n",
    .after = "Exit status: 0; 2 wrong usage or bad pattern.\n",
    .shared = {&pattern_options},
    .size = sizeof(struct args),
    .takes = "patterns conditions takes no names",
    .run = ask_library,
    .ask = conditions,
    .prints = true,
};

const struct command lower_command = {
    .name = "lower",
    .help = "what a fused op computes",
    .usage = "Usage: fusion-audit lower [options] [OP]...\n"
             "\n"
             "Says what each fused op computes, as formulas over simpler ops, and the source\n"
             "of that. Without OP it lists the fused ops of which this is known.\n",
    .after = "Exit status: 0; 2 wrong usage, a bad pattern file, or an OP that is not known.\n"
             "\n"
             "Example:\n"
             "  fusion-audit lower ttnn.rms_norm\n",
    .shared = {&pattern_options},
    .size = sizeof(struct args),
    .most = SIZE_MAX,
    .run = ask_library,
    .ask = lower,
    .prints = true,
};
