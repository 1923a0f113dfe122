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

/* The reports of each word, a file by itself or those below a directory; how many they are in `all`. A file alone has
 * no name among others: "model". */
static struct reports *reports_by_word(struct args *args, size_t *all) {
    static const char *model = "model";
    const struct fa_inputs *words = &args->options.inputs;
    struct reports *of = kept(args, (words->nfiles + 1) * sizeof *of);
    *all = 0;
    for (size_t i = 0; i < words->nfiles; i++) {
        const char **path = kept(args, sizeof *path);
        *path = words->files[i];
        of[i] = is_directory(*path) ? reports_below(args, *path) : (struct reports){path, &model, 1};
        *all += of[i].n;
    }
    return of;
}

/* Files as they are given, and those below directories. */
static struct reports reports_of(struct args *args) {
    size_t n;
    const struct reports *of = reports_by_word(args, &n);
    struct reports all = {kept(args, (n + 1) * sizeof *all.paths), NULL, 0};
    for (size_t i = 0; i < args->options.inputs.nfiles; i++)
        for (size_t k = 0; k < of[i].n; k++)
            all.paths[all.n++] = of[i].paths[k];
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

/* A word is a run. */
static enum fa_status run_runs(struct args *args, const char *format, FILE *out) {
    enum fa_status status = FA_CLEAN;
    size_t all, n = 0;
    const struct reports *runs = reports_by_word(args, &all);
    struct fa_table_row *rows = kept(args, (all + 1) * sizeof *rows);
    struct fa_audit **read = kept(args, (all + 1) * sizeof *read);
    for (size_t i = 0; i < args->options.inputs.nfiles; i++)
        for (size_t k = 0; k < runs[i].n; k++, n++) {
            read[n] = read_one(runs[i].paths[k], &status);
            rows[n] =
                (struct fa_table_row){.audit = read[n], .name = runs[i].names[k], .run = args->options.inputs.files[i]};
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
