/* Where the input is of many compiles, one audit after the other: each writes files of its own, and none stops the
 * others. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/audit.h"
#include "cli/names.h"
#include "cli/progress.h"
#include "cli/say.h"

struct many {
    const struct audit_args *args;
    struct arena arena;
    struct fa_library *library;
    struct fa_audit **audits;
    struct fa_table_row *rows; /* of the audits */
    const char **names;        /* of all compiles, without the ends of their files */
    size_t n, all;
    struct progress progress;
    enum fa_status status;
};

static const char *path_in(struct many *m, const char *directory, const char *name, const char *end) {
    return arena_printf(&m->arena, "%s/%s%s", directory, name, end).p;
}

/* Options that name a file where the input is one compile, and a directory with a file for each where it is several. */
static const struct {
    const char *option;
    size_t member; /* of struct audit_args */
    const char *end;
    bool may_lack; /* a compile without a file is audited without the option */
    bool written;  /* it is made */
} files_of_pairs[] = {{"--baseline", offsetof(struct audit_args, args.options.baseline), ".yml", true, false},
                      {"--write-baseline", offsetof(struct audit_args, write_baseline), ".yml", false, true},
                      {"--expect", offsetof(struct audit_args, args.options.expect), ".yml", false, false},
                      {"--write-expect", offsetof(struct audit_args, write_expect), ".yml", false, true},
                      {"--perf", offsetof(struct audit_args, args.options.perf), ".csv", true, false}};

static const char **option_at(struct audit_args *x, size_t member) {
    return (const char **)(void *)((char *)x + member);
}

/* Directories become the files of this pair. */
static void choose_files(struct many *m, struct audit_args *x, const char *name) {
    for (size_t i = 0; i < sizeof files_of_pairs / sizeof *files_of_pairs; i++) {
        const char **file = option_at(x, files_of_pairs[i].member);
        *file = *file ? path_in(m, *file, name, files_of_pairs[i].end) : NULL;
        if (*file && files_of_pairs[i].may_lack && access(*file, F_OK) != 0)
            *file = NULL;
    }
    x->args.options.strict_baseline = x->args.options.strict_baseline && x->args.options.baseline;
}

/* `name`: of one of several; or NULL. */
static struct fa_audit *audit(struct many *m, const struct audit_args *x, struct fa_pair pair, const char *name) {
    char before[48] = "";
    const char *files[2] = {pair.ttnn, pair.ttir};
    struct fa_audit_options options = x->args.options;
    options.inputs.files = files;
    options.inputs.nfiles = pair.ttir ? 2 : 1;
    options.patterns.library = m->library;
    if (name)
        snprintf(before, sizeof before, "%zu of %zu, %.24s: ", m->n + 1, m->all, name);
    options.progress = progress_of_call(&m->progress, before);
    struct fa_audit *a = fa_audit(&options);
    progress_hide(&m->progress);
    return a;
}

static void audit_pair(struct many *m, struct fa_pair pair) {
    struct audit_args x = *m->args;
    const char *name = m->names[m->n];
    x.quiet = true;
    for (size_t i = 0; i < x.noutputs; i++)
        x.outputs[i].path = path_in(m, x.output_dir, name, strrchr(fa_default_file(x.outputs[i].format), '.'));
    choose_files(m, &x, name);
    struct fa_audit *a = audit(m, &x, pair, name);
    enum fa_status status = audit_finish(a, &x, name);
    m->status = status > m->status ? status : m->status;
    m->rows[m->n] = (struct fa_table_row){.audit = a, .name = name};
    m->audits[m->n++] = a;
}

static bool is_directory(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static enum fa_status refuse_many(const struct audit_args *x, size_t ncompiles) {
    struct audit_args copy = *x;
    char message[256];
    if (!x->output_dir) {
        snprintf(message, sizeof message, "%zu compiles: --output-dir=DIR gives each a report of its own", ncompiles);
        return complain(FA_USAGE, message);
    }
    for (size_t i = 0; i < sizeof files_of_pairs / sizeof *files_of_pairs; i++) {
        const char *directory = *option_at(&copy, files_of_pairs[i].member);
        bool made = files_of_pairs[i].written && directory && access(directory, F_OK) != 0;
        if (!directory || made || is_directory(directory))
            continue;
        snprintf(message, sizeof message, "%s of several compiles is a directory", files_of_pairs[i].option);
        return complain(FA_USAGE, message);
    }
    int error = x->dry_run ? 0 : make_directory(x->output_dir);
    if (error) {
        snprintf(message, sizeof message, "--output-dir: %.200s cannot be made: %s", x->output_dir, strerror(error));
        return complain(FA_USAGE, message);
    }
    return FA_CLEAN;
}

static void name_pairs(struct many *m, const struct fa_pairs *pairs) {
    const struct fa_inputs *o = &m->args->args.options.inputs;
    size_t n = fa_pairs_count(pairs);
    const char **paths = arena_alloc(&m->arena, (n + 1) * sizeof *paths);
    for (size_t i = 0; i < n; i++)
        paths[i] = fa_get_pair(pairs, i).ttnn;
    m->names = names_of(paths, n, o->files, o->nfiles, &m->arena);
}

static void audit_pairs(struct many *m, const struct fa_pairs *pairs) {
    size_t n = fa_pairs_count(pairs);
    m->library = fa_library_read(&m->args->args.options.patterns, m->args->args.options.max_diagnostics);
    m->audits = xcalloc(n + 1, sizeof *m->audits);
    m->rows = xcalloc(n + 1, sizeof *m->rows);
    m->all = n;
    name_pairs(m, pairs);
    for (size_t i = 0; i < n && m->status != FA_USAGE; i++)
        audit_pair(m, fa_get_pair(pairs, i));
    if (!m->args->quiet && m->status != FA_USAGE)
        fa_print_table(m->rows, m->n, "text", stdout);
    for (size_t i = 0; i < m->n; i++)
        fa_free(m->audits[i]);
    fa_library_free(m->library);
    free(m->audits);
    free(m->rows);
}

/* All files were of one compile. */
static void audit_only_pair(struct many *m, struct fa_pair pair) {
    struct fa_audit *a = audit(m, m->args, pair, NULL);
    enum fa_status status = audit_finish(a, m->args, NULL);
    m->status = status > m->status ? status : m->status;
    fa_free(a);
}

bool audit_is_many(const struct audit_args *x) {
    bool many = x->args.options.inputs.nfiles > 2 || x->output_dir;
    for (size_t i = 0; i < x->args.options.inputs.nfiles; i++)
        many |= is_directory(x->args.options.inputs.files[i]);
    return many;
}

enum fa_status audit_many(const struct audit_args *x) {
    struct many m = {.args = x};
    if (x->output_dir && refuse_many(x, 0) != FA_CLEAN)
        return FA_USAGE;
    progress_begin(&m.progress, x->quiet);
    struct fa_pairs *pairs = fa_find_pairs(&x->args.options.inputs, x->args.options.max_diagnostics,
                                           progress_of_call(&m.progress, "finding what belongs together: "));
    progress_hide(&m.progress);
    m.status = say_diagnostics(fa_pairs_diagnostics(pairs), fa_pairs_failed(pairs) ? FA_INPUT : FA_CLEAN);
    if (x->output_dir)
        audit_pairs(&m, pairs);
    else if (fa_pairs_count(pairs) > 1)
        m.status = refuse_many(x, fa_pairs_count(pairs));
    else if (fa_pairs_count(pairs) == 1)
        audit_only_pair(&m, fa_get_pair(pairs, 0));
    progress_end(&m.progress);
    fa_pairs_free(pairs);
    arena_free(&m.arena);
    return m.status;
}
