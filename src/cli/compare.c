#include "cli/commands.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "cli/say.h"

static bool is_nothing(const char *path) {
    return strcmp(path, "/dev/null") == 0;
}

/* A report, or /dev/null, which is one without findings: YAML or JSON that says so in its first bytes. */
static bool is_report(const char *path) {
    char head[4096] = "";
    struct stat st;
    if (is_nothing(path))
        return true;
    FILE *file = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
    size_t n = file ? fread(head, 1, sizeof head - 1, file) : 0;
    if (file)
        fclose(file);
    struct str text = str_trim((struct str){head, n});
    return str_starts(text, STR("input:")) || (str_starts(text, STR("{")) && str_find(text, STR("\"missed_fusions\"")));
}

static struct fa_audit *read_side(const struct options *o, const char *const *files, size_t n, bool report) {
    struct fa_options options = options_audit(o);
    options.files = files;
    options.nfiles = n;
    options.levels = n == 2 ? FA_BOTH_LEVELS : FA_ANY_LEVEL;
    options.inventory = true;
    struct fa_audit *a = report ? fa_read_report(files[0]) : fa_audit(&options);
    if (!report || fa_get_status(a) == FA_INPUT)
        say_audit(a, o);
    return a;
}

enum fa_status run_diff(const struct options *o, FILE *out) {
    size_t n = o->nfiles / 2;
    bool before = n == 1 && is_report(o->files[0]), now = n == 1 && is_report(o->files[n]);
    struct stat st;
    if (before != now && stat(o->files[before ? n : 0], &st) != 0)
        before = now = true; /* which says that it is missing */
    if (before != now && !is_nothing(o->files[before ? 0 : n]))
        return complain(FA_USAGE, "diff takes two compiles or two reports, not one of each");
    if (before != now)
        return complain(FA_USAGE, "/dev/null stands for a report: the other one is a compile");
    struct fa_audit *a = read_side(o, o->files, n, before), *b = read_side(o, o->files + n, n, now);
    enum fa_status x = fa_get_status(a), y = fa_get_status(b), status = x > y ? x : y;
    if (x <= FA_MISSED && y <= FA_MISSED)
        status = fa_diff(a, b, o->strict, out);
    fa_free(a);
    fa_free(b);
    return status;
}

/* The name of a report without its directory and its end. */
static const char *name_of(const char *path, struct arena *a) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return arena_strdup(a, (struct str){name, dot && dot > name ? (size_t)(dot - name) : strlen(name)});
}

enum fa_status run_summary(const struct options *o, FILE *out) {
    struct fa_audit **reports = xcalloc(o->nfiles + 1, sizeof *reports);
    const char **names = xcalloc(o->nfiles + 1, sizeof *names);
    struct arena arena = {0};
    enum fa_status status = FA_CLEAN;
    for (size_t i = 0; i < o->nfiles; i++) {
        reports[i] = fa_read_report(o->files[i]);
        names[i] = name_of(o->files[i], &arena);
        if (fa_get_status(reports[i]) == FA_INPUT) {
            say_audit(reports[i], o);
            status = FA_INPUT;
        }
    }
    fa_print_table(reports, names, o->nfiles, out);
    for (size_t i = 0; i < o->nfiles; i++)
        fa_free(reports[i]);
    free(reports);
    free(names);
    arena_free(&arena);
    return status;
}
