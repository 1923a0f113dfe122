/* Where the input is of many compiles, one audit after the other: each writes files of its own, and none stops the
 * others. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/audit.h"
#include "cli/names.h"
#include "cli/outputs.h"
#include "cli/say.h"

struct many {
    struct audit_args *args;
    struct fa_library *library;
    struct fa_audit **audits;
    struct fa_table_row *rows; /* of the audits */
    const char **names;        /* of all compiles, without the ends of their files */
    size_t n, all;
    enum fa_status status;
};

static const char *path_in(struct many *m, const char *directory, const char *name, const char *end) {
    return text(&m->args->args, "%s/%s%s", directory, name, end);
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

static struct fa_audit *audit(struct many *m, const struct audit_args *x, struct fa_pair pair) {
    const char *files[2] = {pair.ttnn, pair.ttir};
    struct fa_audit_options options = x->args.options;
    options.inputs.files = files;
    options.inputs.nfiles = pair.ttir ? 2 : 1;
    options.patterns.library = m->library;
    return fa_run_audit(&options);
}

static void audit_pair(struct many *m, struct fa_pair pair) {
    struct audit_args x = *m->args;
    const char *name = m->names[m->n];
    x.args.quiet = true;
    for (size_t i = 0; i < x.noutputs; i++)
        x.outputs[i].path = path_in(m, x.output_dir, name, strrchr(fa_default_file(x.outputs[i].format), '.'));
    choose_files(m, &x, name);
    struct fa_audit *a = audit(m, &x, pair);
    enum fa_status status = audit_finish(a, &x, name);
    m->status = status > m->status ? status : m->status;
    m->rows[m->n] = (struct fa_table_row){.audit = a, .name = name};
    m->audits[m->n++] = a;
}

static bool is_directory(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static enum fa_status refuse_many(struct audit_args *x, size_t ncompiles) {
    struct args *args = &x->args;
    if (!x->output_dir)
        return fails(args, FA_USAGE, "%zu compiles: --output-dir=DIR gives each a report of its own", ncompiles);
    for (size_t i = 0; i < sizeof files_of_pairs / sizeof *files_of_pairs; i++) {
        const char *directory = *option_at(x, files_of_pairs[i].member);
        bool made = files_of_pairs[i].written && directory && access(directory, F_OK) != 0;
        if (directory && !made && !is_directory(directory))
            return fails(args, FA_USAGE, "%s of several compiles is a directory", files_of_pairs[i].option);
    }
    return x->dry_run || output_directory(args, x->output_dir) ? FA_CLEAN : args->refused;
}

/* A file of known findings or expectations whose compile is not among the inputs: what it guards is not looked at. */
static bool is_orphan(struct many *m, const char *directory, const char *path) {
    const char *name = name_below(&m->args->args, directory, path);
    for (size_t i = 0; i < m->all; i++)
        if (strcmp(m->names[i], name) == 0)
            return false;
    say_clean(path);
    fputs(": error: no input is called ", stderr);
    say_clean(name);
    fputs(": its model is gone\n  hint: remove the file if it is no longer compiled\n", stderr);
    return true;
}

/* Those that are written anew are not looked into. */
static void find_orphans(struct many *m) {
    const struct audit_args *x = m->args;
    const char *directories[] = {x->write_baseline ? NULL : x->args.options.baseline,
                                 x->write_expect ? NULL : x->args.options.expect};
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        size_t n = 0;
        const char **files = directories[i] ? files_below(&m->args->args, directories[i], ".yml", &n) : NULL;
        for (size_t k = 0; k < n; k++)
            if (is_orphan(m, directories[i], files[k]) && m->status == FA_CLEAN)
                m->status = FA_MISSED;
    }
}

static void name_pairs(struct many *m, const struct fa_pairs *pairs) {
    size_t n = fa_pairs_count(pairs);
    const char **paths = kept(&m->args->args, (n + 1) * sizeof *paths);
    for (size_t i = 0; i < n; i++)
        paths[i] = fa_get_pair(pairs, i).ttnn;
    m->names = names_of(&m->args->args, paths, n);
}

static void audit_pairs(struct many *m, const struct fa_pairs *pairs, FILE *out) {
    size_t n = fa_pairs_count(pairs);
    struct args *args = &m->args->args;
    m->library = fa_library_read(&args->options.patterns, args->options.max_diagnostics);
    m->audits = kept(args, (n + 1) * sizeof *m->audits);
    m->rows = kept(args, (n + 1) * sizeof *m->rows);
    m->all = n;
    name_pairs(m, pairs);
    for (size_t i = 0; i < n && m->status != FA_USAGE; i++)
        audit_pair(m, fa_get_pair(pairs, i));
    if (m->status != FA_USAGE)
        find_orphans(m);
    if (!m->args->args.quiet && m->status != FA_USAGE)
        fa_print_table(m->rows, m->n, "text", out);
    for (size_t i = 0; i < m->n; i++)
        fa_free(m->audits[i]);
    fa_library_free(m->library);
}

/* All files were of one compile. */
static void audit_only_pair(struct many *m, struct fa_pair pair) {
    struct fa_audit *a = audit(m, m->args, pair);
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

enum fa_status audit_many(struct audit_args *x, FILE *out) {
    struct many m = {.args = x};
    if (x->output_dir && refuse_many(x, 0) != FA_CLEAN)
        return FA_USAGE;
    struct fa_pairs *pairs =
        fa_find_pairs(&(struct fa_pairs_options){x->args.options.inputs, x->args.options.max_diagnostics});
    m.status = say_diagnostics(fa_pairs_diagnostics(pairs), fa_pairs_failed(pairs) ? FA_INPUT : FA_CLEAN);
    if (x->output_dir)
        audit_pairs(&m, pairs, out);
    else if (fa_pairs_count(pairs) > 1)
        m.status = refuse_many(x, fa_pairs_count(pairs));
    else if (fa_pairs_count(pairs) == 1)
        audit_only_pair(&m, fa_get_pair(pairs, 0));
    fa_pairs_free(pairs);
    return m.status;
}
