#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/names.h"
#include "cli/say.h"

struct summary_args {
    struct args args;
    const char *format, *before;
};

/* Where the end of a file's name begins: ".yml". */
static const char *end_of(const char *path) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash + 1 : path, '.');
    return dot ? dot : path + strlen(path);
}

/* The page of the report beside it: of a.yml it is a.html. NULL: there is none. */
static const char *page_of(struct args *args, const char *path) {
    const char *page = text(args, "%.*s.html", (int)(end_of(path) - path), path);
    return access(page, R_OK) == 0 ? page : NULL;
}

/* The report of that name in the directory of earlier ones; NULL: there is none. */
static const char *earlier(struct summary_args *x, const char *name, const char *path) {
    const char *before = x->before ? text(&x->args, "%s/%s%s", x->before, name, end_of(path)) : NULL;
    return before && access(before, R_OK) == 0 ? before : NULL;
}

static struct fa_audit *read_one(const char *path, enum fa_status *status) {
    struct fa_audit *a = fa_read_report(path);
    if (fa_get_status(a) == FA_INPUT)
        *status = say_diagnostics(fa_diagnostics(a), FA_INPUT);
    return a;
}

static enum fa_status run(struct args *args, FILE *out) {
    struct summary_args *x = (struct summary_args *)args;
    const struct fa_inputs *inputs = &args->options.inputs;
    size_t n = inputs->nfiles;
    struct fa_audit **audits = kept(args, (2 * n + 1) * sizeof *audits);
    struct fa_table_row *rows = kept(args, (n + 1) * sizeof *rows);
    const char **names = names_of(args, inputs->files, n);
    enum fa_status status = FA_CLEAN;
    for (size_t i = 0; i < n; i++) {
        const char *path = inputs->files[i], *before = earlier(x, names[i], path);
        audits[i] = read_one(path, &status);
        audits[n + i] = before ? read_one(before, &status) : NULL;
        rows[i] = (struct fa_table_row){audits[i], names[i], page_of(args, path), audits[n + i]};
    }
    args->lines = strcmp(x->format, "text") == 0;
    fa_print_table(rows, n, x->format, out);
    for (size_t i = 0; i < 2 * n; i++)
        fa_free(audits[i]);
    return status;
}

static const struct option_row rows[] = {
    {"format", 0, WORD, offsetof(struct summary_args, format), "FORMAT", .help = "text, json or html, a page",
     .words = "text|json|html"},
    {"before", 0, TEXT, offsetof(struct summary_args, before), "DIR",
     .help = "say what is new and gone against reports of the\nsame names in DIR"},
};
static const struct summary_args defaults = {.format = "text"};

const struct command summary_command = {
    .name = "summary",
    .help = "a table over many reports",
    .usage = "Usage: fusion-audit summary [options] REPORT...\n"
             "\n"
             "Prints a table over many reports, in YAML or JSON, the worst first.\n",
    .after = "Exit status: 0; 2 wrong usage; 3 a report that cannot be read.\n"
             "\n"
             "Examples:\n"
             "  fusion-audit summary reports/*.yml\n"
             "  fusion-audit summary --format=html --before=last reports/*.json > index.html\n",
    .own = {rows, sizeof rows / sizeof *rows},
    .size = sizeof(struct summary_args),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .takes = "summary needs a report",
    .run = run,
    .prints = true,
};
