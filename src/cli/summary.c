#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/names.h"
#include "cli/say.h"

struct summary_args {
    struct args args;
    const char *format, *before;
    bool runs;
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

static bool is_directory(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Reports by name; of one in YAML and in JSON the latter, which says more. */
struct reports {
    const char **paths, **names;
    size_t n;
};

static void add_report(struct reports *r, const char *path, const char *name) {
    size_t i = 0;
    while (i < r->n && strcmp(r->names[i], name) != 0)
        i++;
    if (i == r->n)
        r->names[r->n++] = name;
    else if (!ends(path, ".json"))
        return;
    r->paths[i] = path;
}

/* Of a directory those below it. */
static struct reports reports_below(struct args *args, const char *directory) {
    struct reports r = {NULL, NULL, 0};
    size_t n = 0;
    const char **files = files_below(args, directory, ".yml|.json", &n);
    r.paths = kept(args, (n + 1) * sizeof *r.paths);
    r.names = kept(args, (n + 1) * sizeof *r.names);
    for (size_t i = 0; i < n; i++)
        add_report(&r, files[i], name_below(args, directory, files[i]));
    return r;
}

/* Files as they are given, and those below directories. */
static struct reports reports_of(struct args *args) {
    const struct fa_inputs *words = &args->options.inputs;
    struct reports below, all = {NULL, NULL, 0};
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        all.paths = pass ? kept(args, (n + 1) * sizeof *all.paths) : NULL;
        for (size_t i = 0; i < words->nfiles; i++) {
            bool directory = is_directory(words->files[i]);
            below = directory ? reports_below(args, words->files[i]) : (struct reports){NULL, NULL, 1};
            for (size_t k = 0; k < below.n && pass; k++)
                all.paths[all.n++] = directory ? below.paths[k] : words->files[i];
            n += pass ? 0 : below.n;
        }
    }
    all.names = names_of(args, all.paths, all.n);
    return all;
}

static struct fa_audit *read_one(const char *path, enum fa_status *status) {
    struct fa_audit *a = fa_read_report(path);
    if (fa_get_status(a) == FA_INPUT)
        *status = say_diagnostics(fa_diagnostics(a), FA_INPUT);
    return a;
}

static const char *path_named(const struct reports *r, const char *name) {
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->names[i], name) == 0)
            return r->paths[i];
    return NULL;
}

/* A report in YAML may be missing since nothing is missed; one in JSON is always written. */
static void say_gone(const char *path, const char *name, enum fa_status *status) {
    if (!ends(path, ".json"))
        return;
    say_clean(path);
    fputs(": error: no report is called ", stderr);
    say_clean(name);
    fputs(" any more: its model is gone\n", stderr);
    *status = *status == FA_CLEAN ? FA_MISSED : *status;
}

/* A word is a run: the reports below a directory by their names, or one report. Files alone are of one model. */
static enum fa_status run_runs(struct args *args, const char *format, FILE *out) {
    const struct fa_inputs *words = &args->options.inputs;
    enum fa_status status = FA_CLEAN;
    struct fa_table_row *rows = NULL;
    struct fa_audit **read = NULL;
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) { /* counts, then reads */
        rows = pass ? kept(args, (n + 1) * sizeof *rows) : NULL;
        read = pass ? kept(args, (n + 1) * sizeof *read) : NULL;
        n = 0;
        for (size_t i = 0; i < words->nfiles; i++) {
            const char *word = words->files[i], *model = "model";
            bool directory = is_directory(word);
            struct reports r = directory ? reports_below(args, word) : (struct reports){&word, &model, 1};
            for (size_t k = 0; k < r.n; k++, n++)
                if (pass) {
                    read[n] = read_one(r.paths[k], &status);
                    rows[n] = (struct fa_table_row){.audit = read[n], .name = r.names[k], .run = word};
                }
        }
    }
    args->lines = strcmp(format, "text") == 0;
    fa_print_table(rows, n, format, out);
    for (size_t i = 0; i < n; i++)
        fa_free(read[i]);
    return status;
}

static enum fa_status run(struct args *args, FILE *out) {
    const struct summary_args *x = (const struct summary_args *)args;
    if (x->runs)
        return run_runs(args, x->format, out);
    struct reports now = reports_of(args), none = {NULL, NULL, 0};
    struct reports before = x->before ? reports_below(args, x->before) : none;
    struct fa_table_row *rows = kept(args, (now.n + before.n + 1) * sizeof *rows);
    struct fa_audit **read = kept(args, 2 * (now.n + before.n + 1) * sizeof *read);
    enum fa_status status = FA_CLEAN;
    size_t n = 0;
    for (size_t i = 0; i < now.n; i++) {
        const char *earlier = path_named(&before, now.names[i]);
        read[2 * n] = read_one(now.paths[i], &status);
        read[2 * n + 1] = earlier ? read_one(earlier, &status) : NULL;
        rows[n] = (struct fa_table_row){read[2 * n], now.names[i], page_of(args, now.paths[i]), read[2 * n + 1], NULL};
        n++;
    }
    for (size_t i = 0; i < before.n; i++) {
        if (path_named(&now, before.names[i]))
            continue;
        say_gone(before.paths[i], before.names[i], &status);
        read[2 * n + 1] = read_one(before.paths[i], &status);
        rows[n] = (struct fa_table_row){NULL, before.names[i], NULL, read[2 * n + 1], NULL};
        n++;
    }
    args->lines = strcmp(x->format, "text") == 0;
    fa_print_table(rows, n, x->format, out);
    for (size_t i = 0; i < 2 * n; i++)
        fa_free(read[i]);
    return status;
}

static const struct option_row rows[] = {
    {"format", 0, WORD, offsetof(struct summary_args, format), "FORMAT",
     .help = "text, markdown, json or html, a page; of runs\ntext, csv, json or html",
     .words = "text|markdown|csv|json|html"},
    {"runs", 0, FLAG, offsetof(struct summary_args, runs), NULL,
     .help =
         "each REPORT or directory is a run, in order: time and\nfindings of each model, and what became worse when"},
    {"before", 0, TEXT, offsetof(struct summary_args, before), "DIR",
     .help = "say what is new and gone against reports of the\nsame names in DIR"},
};
static bool check(struct args *args) {
    const struct summary_args *x = (const struct summary_args *)args;
    const char *of_one = x->runs ? "markdown" : "csv";
    if (x->runs && x->before)
        return wrong(args, "--runs and --before exclude each other");
    return strcmp(x->format, of_one) != 0 ||
           wrong(args, "--format=%s is %s", of_one, x->runs ? "not one of --runs" : "one of --runs alone");
}

static const struct summary_args defaults = {.format = "text"};

const struct command summary_command = {
    .name = "summary",
    .help = "a table over many reports",
    .usage = "Usage: fusion-audit summary [options] REPORT...\n"
             "\n"
             "Prints a table over many reports, in YAML or JSON, the worst first. A directory\n"
             "stands for the reports below it.\n",
    .after = "Exit status: 0; 1 a model of --before is gone; 2 wrong usage; 3 a report that\n"
             "cannot be read.\n"
             "\n"
             "Examples:\n"
             "  fusion-audit summary reports\n"
             "  fusion-audit summary --runs --format=csv monday tuesday wednesday\n"
             "  fusion-audit summary --format=html --before=last reports > index.html\n",
    .own = {rows, sizeof rows / sizeof *rows},
    .size = sizeof(struct summary_args),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .takes = "summary needs a report",
    .check = check,
    .run = run,
    .prints = true,
};
