#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/say.h"

struct diff_args {
    struct args args;
    const char *format;
};

static bool is_nothing(const char *path) {
    return strcmp(path, "/dev/null") == 0;
}

/* YAML that begins so, or JSON with this key anywhere: IR in a string of JSON has its quotes escaped. */
static bool has_report(FILE *file) {
    char *word = NULL;
    size_t cap = 0;
    bool found = getdelim(&word, &cap, '"', file) > 0 && begins(word + strspn(word, " \t\r\n"), "input:");
    bool json = !found && word && word[strspn(word, " \t\r\n")] == '{';
    while (json && !found && getdelim(&word, &cap, '"', file) > 0)
        found = strcmp(word, "missed_fusions\"") == 0;
    free(word);
    return found;
}

/* A report, or /dev/null, which is one without findings. */
static bool is_report(const char *path) {
    struct stat st;
    if (is_nothing(path))
        return true;
    FILE *file = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
    bool report = file && has_report(file);
    if (file)
        fclose(file);
    return report;
}

static struct fa_audit *read_side(struct args *args, const char *const *files, size_t n, bool report) {
    struct fa_audit_options options = args->options;
    options.inputs.files = files;
    options.inputs.nfiles = n;
    options.inputs.levels = n == 2 ? FA_BOTH_LEVELS : FA_ANY_LEVEL;
    options.inventory = true;
    struct fa_audit *a = report ? fa_read_report(files[0]) : fa_run_audit(&options);
    if (!report || fa_get_status(a) == FA_INPUT)
        say_diagnostics(fa_diagnostics(a), fa_get_status(a));
    return a;
}

static enum fa_status run(struct args *args, FILE *out) {
    const struct diff_args *x = (const struct diff_args *)args;
    const char *const *files = args->options.inputs.files;
    size_t n = args->options.inputs.nfiles / 2;
    bool before = n == 1 && is_report(files[0]), now = n == 1 && is_report(files[n]);
    struct stat st;
    if (before != now && stat(files[before ? n : 0], &st) != 0)
        before = now = true; /* which says that it is missing */
    if (before != now && !is_nothing(files[before ? 0 : n]))
        return fails(args, FA_USAGE, "diff takes two compiles or two reports, not one of each");
    if (before != now)
        return fails(args, FA_USAGE, "/dev/null stands for a report: the other one is a compile");
    struct fa_audit *a = read_side(args, files, n, before), *b = read_side(args, files + n, n, now);
    enum fa_status old = fa_get_status(a), new = fa_get_status(b), status = old > new ? old : new;
    args->lines = strcmp(x->format, "text") == 0;
    if (old <= FA_MISSED && new <= FA_MISSED)
        status =
            fa_diff(a, b, &(struct fa_diff_options){x->format, args->options.min_saving, args->options.fail_on}, out);
    fa_free(a);
    fa_free(b);
    if (status == FA_USAGE && old <= FA_MISSED && new <= FA_MISSED)
        return fails(args, FA_USAGE,
                     "--min-saving takes a time such as 10us or a share such as 1%%, and --fail-on sources "
                     "as --source does");
    return status;
}

static bool check(struct args *args) {
    return args->options.inputs.nfiles != 3 || wrong(args, "%s", args->command->takes);
}

static const struct option_row rows[] = {
    {"format", 0, WORD, offsetof(struct diff_args, format), "FORMAT", .help = "text, json or html, a page",
     .words = "text|json|html"},
};

static const struct diff_args defaults = {.format = "text"};

const struct command diff_command = {
    .name = "diff",
    .help = "what two compiles fuse and miss, and what changed",
    .usage = "Usage: fusion-audit diff [options] OLD NEW\n"
             "       fusion-audit diff [options] OLD.ttir OLD.ttnn NEW.ttir NEW.ttnn\n"
             "\n"
             "Says which fused ops the compile NEW has lost, partly lost, gained or changed\n"
             "against OLD, each with its place, and which findings are new or gone. OLD and\n"
             "NEW are each a log or a TTNN file, or both are reports; /dev/null is a report\n"
             "without findings.\n",
    .after = "Exit status: 0; 1 a fused op was lost, or a new finding fails; 2 wrong usage;\n"
             "3 an input that cannot be read.\n",
    .own = {rows, sizeof rows / sizeof *rows},
    .shared = {&gate_options, &pattern_options, &choice_options, &price_options, &jobs_options},
    .size = sizeof(struct diff_args),
    .defaults = &defaults,
    .least = 2,
    .most = 4,
    .takes = "diff takes OLD NEW, or OLD.ttir OLD.ttnn NEW.ttir NEW.ttnn",
    .check = check,
    .run = run,
    .prints = true,
};
