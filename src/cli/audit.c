/* The audit. Where the input is of many compiles, one audit after the other: each writes files of its own, and none
 * stops the others. */
#include "cli/commands.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/say.h"

enum { WIDTH = 100 };

/* Of standard error; WIDTH where that is no terminal, or a wider one. */
static unsigned terminal_width(void) {
    struct winsize size = {0};
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known && size.ws_col < WIDTH ? size.ws_col : WIDTH;
}

/* no-color.org */
static bool terminal_has_colour(void) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDERR_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

/* Where the text of a long report is until it is written: in $TMPDIR, else beside the report if that will be a file and
 * can be. To be freed; NULL: where the system has temporary files. */
static char *temporary_directory(const char *output) {
    const char *directory = getenv("TMPDIR"), *slash = strrchr(output, '/');
    struct stat st;
    if (directory && *directory)
        return strdup(directory);
    if (strcmp(output, "-") == 0 || (stat(output, &st) == 0 && !S_ISREG(st.st_mode)))
        return NULL;
    char *beside = slash ? strndup(output, (size_t)(slash - output) + 1) : strdup(".");
    if (beside && access(beside, W_OK) == 0)
        return beside;
    free(beside);
    return NULL;
}

void say_audit(const struct fa_audit *a, const struct options *o) {
    bool usage = false;
    for (size_t i = 0; o->verbose && i < fa_remarks(a); i++) {
        say_clean(fa_get_remark(a, i));
        fputc('\n', stderr);
    }
    for (size_t i = 0; i < fa_diagnostics(a); i++)
        say_diagnostic(fa_get_diagnostic(a, i), &usage);
    say_rest(fa_diagnostics_dropped(a), usage && fa_get_status(a) == FA_USAGE);
}

/* ---- one compile ---- */

/* YAML without findings is no file; other formats are asked for by name, and say that there are none. */
static bool is_written(const struct fa_audit *a, const struct out_file *out) {
    return fa_places(a) > 0 || (strcmp(out->format, "yaml") != 0 && fa_get_status(a) != FA_INPUT);
}

static enum fa_status write_files(struct fa_audit *a, const struct options *o) {
    enum fa_status status = fa_get_status(a);
    char message[4352];
    for (size_t i = 0; i < o->noutputs && !o->dry_run; i++) {
        const struct out_file *out = &o->outputs[i];
        if (is_written(a, out) && !fa_write_report(a, out->format, out->path, message, sizeof message))
            return complain_of_output(message, errno);
        if (!is_written(a, out) && fa_remove_stale_report(a, out->path) && o->verbose) {
            say_clean(out->path);
            fputs(": removed: nothing is missed any more\n", stderr);
        }
    }
    if (o->write_expect && !fa_write_expectations(a, o->write_expect, message, sizeof message))
        return complain_of_output(message, errno);
    if (!o->write_baseline || status == FA_INPUT)
        return status;
    if (!fa_write_baseline(a, o->write_baseline, message, sizeof message))
        return complain_of_output(message, errno);
    return fa_expectations_failed(a) ? FA_MISSED : FA_CLEAN; /* all of it is known now */
}

static enum fa_status finish_audit(struct fa_audit *a, const struct options *o) {
    enum fa_status status = fa_get_status(a);
    say_audit(a, o);
    if (status == FA_USAGE)
        return status;
    status = write_files(a, o);
    const char *path = o->outputs[0].path;
    if (!o->quiet && fa_places(a) && (status != FA_INPUT || fa_get_status(a) == FA_INPUT))
        fa_print_summary(a,
                         o->dry_run               ? "dry run"
                         : strcmp(path, "-") == 0 ? "standard output"
                                                  : path,
                         terminal_width(), terminal_has_colour(), stderr);
    return status;
}

static struct fa_audit *audit(const struct options *o, const struct fa_library *library) {
    struct fa_options options = options_audit(o);
    char *temporary = temporary_directory(o->outputs[0].path);
    options.temporary = temporary;
    options.library = library;
    struct fa_audit *a = fa_audit(&options);
    free(temporary);
    return a;
}

/* ---- many compiles ---- */

struct many {
    const struct options *options;
    struct arena arena;
    struct fa_library *library;
    struct fa_audit **audits;
    const char **names; /* of the reports */
    size_t n;
    enum fa_status status;
};

/* The last part of a path without what says which kind of file it is: of "run.tar:a/m.ttnn.mlir" it is "m". */
static struct str stem_of(const char *path) {
    static const char *const kinds[] = {".mlir", ".ttnn", ".ttir", ".log", ".txt", ".gz", ".bz2", ".xz", ".zst"};
    struct str s = str_of(path);
    for (size_t i = s.n; i-- > 0;)
        if (path[i] == '/' || path[i] == ':') {
            s = (struct str){path + i + 1, s.n - i - 1};
            break;
        }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (s.n > strlen(kinds[i]) && str_ends(s, str_of(kinds[i]))) {
            s.n -= strlen(kinds[i]);
            i = SIZE_MAX; /* again from the first one */
        }
    return s;
}

/* A name that no earlier pair has: "m", "m-2". */
static struct str unused_stem(struct many *m, const char *path) {
    struct str stem = stem_of(path), name = stem;
    for (size_t i = 0, k = 1; i < m->n; i++)
        if (str_is(name, m->names[i])) {
            name = arena_printf(&m->arena, "%.*s-%zu", (int)stem.n, stem.p, ++k);
            i = SIZE_MAX;
        }
    return arena_str(&m->arena, name);
}

static const char *path_in(struct many *m, const char *directory, struct str stem, const char *end) {
    return arena_printf(&m->arena, "%s/%.*s%s", directory, (int)stem.n, stem.p, end).p;
}

/* Options that name a file where the input is one compile, and a directory with a file for each where it is several. */
static const struct {
    const char *option;
    size_t field; /* of struct options */
    const char *end;
    bool may_lack; /* a compile without a file is audited without the option */
} files_of_pairs[] = {{"--baseline", offsetof(struct options, baseline), ".yml", true},
                      {"--write-baseline", offsetof(struct options, write_baseline), ".yml", false},
                      {"--expect", offsetof(struct options, expect), ".yml", false},
                      {"--write-expect", offsetof(struct options, write_expect), ".yml", false},
                      {"--perf", offsetof(struct options, perf), ".csv", true}};

static const char **option_at(struct options *o, size_t field) {
    return (const char **)((char *)o + field);
}

/* Directories become the files of this pair. */
static void choose_files(struct many *m, struct options *o, struct str stem) {
    for (size_t i = 0; i < sizeof files_of_pairs / sizeof *files_of_pairs; i++) {
        const char **file = option_at(o, files_of_pairs[i].field);
        *file = *file ? path_in(m, *file, stem, files_of_pairs[i].end) : NULL;
        if (*file && files_of_pairs[i].may_lack && access(*file, F_OK) != 0)
            *file = NULL;
    }
    o->strict_baseline = o->strict_baseline && o->baseline;
}

static void audit_pair(struct many *m, struct fa_pair pair) {
    struct options o = *m->options;
    struct str stem = unused_stem(m, pair.ttnn);
    const char *files[2] = {pair.ttnn, pair.ttir};
    o.files = files;
    o.nfiles = pair.ttir ? 2 : 1;
    o.quiet = true;
    for (size_t i = 0; i < o.noutputs; i++)
        o.outputs[i].path = path_in(m, o.output_dir, stem, strrchr(fa_default_file(o.outputs[i].format), '.'));
    choose_files(m, &o, stem);
    struct fa_audit *a = audit(&o, m->library);
    enum fa_status status = finish_audit(a, &o);
    m->status = status > m->status ? status : m->status;
    m->names[m->n] = stem.p;
    m->audits[m->n++] = a;
}

static bool is_directory(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static enum fa_status refuse_many(const struct options *o, size_t ncompiles) {
    struct options copy = *o;
    char message[256];
    if (!o->output_dir) {
        snprintf(message, sizeof message, "%zu compiles: --output-dir=DIR gives each a report of its own", ncompiles);
        return complain(FA_USAGE, message);
    }
    if (!is_directory(o->output_dir)) {
        snprintf(message, sizeof message, "--output-dir: %.200s is no directory", o->output_dir);
        return complain(FA_USAGE, message);
    }
    for (size_t i = 0; i < sizeof files_of_pairs / sizeof *files_of_pairs; i++) {
        const char *directory = *option_at(&copy, files_of_pairs[i].field);
        if (!directory || is_directory(directory))
            continue;
        snprintf(message, sizeof message, "%s of several compiles is a directory", files_of_pairs[i].option);
        return complain(FA_USAGE, message);
    }
    return FA_CLEAN;
}

static enum fa_status say_pairs(const struct fa_pairs *p) {
    bool usage = false;
    for (size_t i = 0; i < fa_pairs_diagnostics(p); i++)
        say_diagnostic(fa_pairs_diagnostic(p, i), &usage);
    return fa_pairs_failed(p) ? FA_INPUT : FA_CLEAN;
}

static void audit_pairs(struct many *m, const struct fa_pairs *pairs) {
    struct fa_options options = options_audit(m->options);
    size_t n = fa_pairs_count(pairs);
    m->library = fa_library_read(&options);
    m->audits = xcalloc(n + 1, sizeof *m->audits);
    m->names = xcalloc(n + 1, sizeof *m->names);
    for (size_t i = 0; i < n && m->status != FA_USAGE; i++)
        audit_pair(m, fa_get_pair(pairs, i));
    if (!m->options->quiet && m->status != FA_USAGE)
        fa_print_table(m->audits, m->names, n, stdout);
    for (size_t i = 0; i < m->n; i++)
        fa_free(m->audits[i]);
    fa_library_free(m->library);
    free(m->audits);
    free(m->names);
}

/* All files were of one compile. */
static void audit_only_pair(struct many *m, struct fa_pair pair) {
    struct options o = *m->options;
    const char *files[2] = {pair.ttnn, pair.ttir};
    o.files = files;
    o.nfiles = pair.ttir ? 2 : 1;
    struct fa_audit *a = audit(&o, NULL);
    enum fa_status status = finish_audit(a, &o);
    m->status = status > m->status ? status : m->status;
    fa_free(a);
}

static enum fa_status run_many(const struct options *o) {
    struct fa_options options = options_audit(o);
    struct many m = {.options = o};
    if (o->output_dir && refuse_many(o, 0) != FA_CLEAN)
        return FA_USAGE;
    struct fa_pairs *pairs = fa_find_pairs(&options);
    m.status = say_pairs(pairs);
    if (o->output_dir)
        audit_pairs(&m, pairs);
    else if (fa_pairs_count(pairs) > 1)
        m.status = refuse_many(o, fa_pairs_count(pairs));
    else if (fa_pairs_count(pairs) == 1)
        audit_only_pair(&m, fa_get_pair(pairs, 0));
    fa_pairs_free(pairs);
    arena_free(&m.arena);
    return flush_output(m.status);
}

enum fa_status run_audit(const struct options *o) {
    bool one_level = o->ttir_only || o->ttnn_only, many = o->nfiles > 2 || o->output_dir;
    for (size_t i = 0; i < o->nfiles; i++)
        many |= is_directory(o->files[i]);
    if (one_level && o->output_dir)
        return complain(FA_USAGE, "--output-dir is for compiles with both levels");
    if (many && !one_level)
        return run_many(o);
    struct fa_audit *a = audit(o, NULL);
    many = fa_is_several(a);
    enum fa_status status = many ? run_many(o) : finish_audit(a, o);
    fa_free(a);
    return status;
}
