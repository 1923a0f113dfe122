/* A folder for each different finding and each entry of `verify`: its ops as modules of their own, the same with the
 * fused op in it. The small module is audited itself, to see whether the fusion is missed there, too. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/outputs.h"
#include "cli/places.h"

struct repro_args {
    struct args args;
    const char *dir;
    struct place_patterns ops, patterns; /* by fused op; by name */
    bool force;
    size_t n; /* folders */
};

/* One folder. */
struct repro {
    struct repro_args *x;
    const struct fa_finding *f; /* NULL: of an entry of verify */
    const char *dir, *name;
    const char *left;  /* why there is no module with the fused op; NULL: there is one */
    bool absent;       /* the fusion is not missed in the small modules */
    const char *level; /* the only one at which it is missed there; or empty */
};

/* ---- files ---- */

static void write_file(struct repro *r, const char *name, const char *content) {
    if (*content)
        output_write(&r->x->args, r->dir, name, content);
}

/* ---- the small module, audited and applied ---- */

/* With the patterns of the fused op. */
static struct fa_audit_options options_of(const struct repro *r, const char *const *file, enum fa_levels levels) {
    struct fa_audit_options o = r->x->args.options;
    o.inputs.files = file;
    o.inputs.nfiles = 1;
    o.inputs.levels = levels;
    o.patterns = patterns_of_place(&r->x->args, &r->x->ops, r->f->fused_op, NULL);
    return o;
}

/* A module misses the fusion by itself. */
static bool is_missed_alone(struct repro *r, const char *name, enum fa_levels levels) {
    const char *file = text(&r->x->args, "%s/%s", r->dir, name);
    struct fa_audit_options o = options_of(r, &file, levels);
    struct fa_audit *a = fa_run_audit(&o);
    struct fa_finding f;
    bool missed = false;
    for (size_t i = 0; !missed && fa_get_finding(a, i, &f); i++)
        missed = strcmp(f.fused_op, r->f->fused_op) == 0;
    fa_free(a);
    return missed;
}

static void audit_small(struct repro *r) {
    bool ttir = *r->f->ttir_module && is_missed_alone(r, "ttir.mlir", FA_TTIR_ONLY);
    bool ttnn = !ttir && *r->f->ttnn_module && is_missed_alone(r, "ttnn.mlir", FA_TTNN_ONLY);
    r->absent = !ttir && !ttnn;
    r->level = ttnn ? "TTNN" : "";
}

/* Why the finding is left. */
static const char *reason_of(struct repro *r, const struct fa_application *a) {
    const struct fa_diagnostics *d = fa_application_diagnostics(a);
    for (size_t i = 0; i < fa_application_found(a); i++)
        if (fa_application_left(a, i))
            return text(&r->x->args, "%s", fa_application_left(a, i));
    if (fa_count(d))
        return text(&r->x->args, "%s", fa_get_diagnostic(d, 0).message);
    if (r->absent || *r->level)
        return "in its TTIR alone the pattern does not match";
    return text(&r->x->args, "TTIR has no %s",
                *r->f->lacks && strcmp(r->f->lacks, "the op") != 0 ? r->f->lacks : r->f->fused_op);
}

static struct fa_application *apply_with(struct repro *r, struct fa_patterns patterns) {
    const char *file = text(&r->x->args, "%s/ttir.mlir", r->dir);
    struct fa_apply_options how = writing_options(&r->x->args, patterns);
    how.inputs = options_of(r, &file, FA_TTIR_ONLY).inputs;
    return fa_apply(&how);
}

/* Where the pattern does not match in TTIR another one of its fused op may. */
static void apply_small(struct repro *r) {
    char message[4352];
    const char *fused = text(&r->x->args, "%s/fused.mlir", r->dir);
    struct fa_application *a = apply_with(r, patterns_of_place(&r->x->args, &r->x->patterns, r->f->pattern, NULL));
    if (fa_application_status(a) == FA_CLEAN && !fa_application_found(a)) {
        fa_application_free(a);
        a = apply_with(r, patterns_of_place(&r->x->args, &r->x->ops, r->f->fused_op, NULL));
    }
    if (fa_application_status(a) != FA_CLEAN || !fa_application_applied(a))
        r->left = reason_of(r, a);
    else if (output_check(&r->x->args, fused) && !fa_application_write(a, fused, message, sizeof message))
        fails(&r->x->args, FA_INPUT, "%s", message);
    fa_application_free(a);
}

/* ---- what is said of it ---- */

/* Lines of a list, without those that have nothing to say. */
static const char *list(struct args *args, const char *title, const char *const (*lines)[2], size_t n) {
    const char *all = title;
    for (size_t i = 0; i < n; i++)
        if (*lines[i][1])
            all = text(args, "%s- %s%s\n", all, lines[i][0], lines[i][1]);
    return all;
}

static void write_readme(struct repro *r) {
    const struct fa_finding *f = r->f;
    struct args *args = &r->x->args;
    const char *ttir = *f->ttir_module ? "`ttir.mlir`: its ops in TTIR" : "its ops in TTIR are not known",
               *ttnn = *f->ttnn_module ? "; `ttnn.mlir`: in TTNN" : "", *without = *f->lacks ? " without " : "";
    const char *const lines[][2] = {
        {"where: ", f->place},
        {"locations: ", f->location},
        {"lines of TTIR: ", f->ttir_lines},
        {"lines of TTNN: ", f->ttnn_lines},
        {"why it is missed, what to do: ", f->todo},
        {"saves: ", text(args, "%.1f us, estimated", f->saved_us)},
        {"", f->verdict},
        {"", text(args, "%s%s", ttir, ttnn)},
        {"", r->left ? text(args, "no module with the fused op: %s", r->left)
                     : text(args, "`fused.mlir`: with the fused op%s%s", without, f->lacks)},
        {"", r->absent   ? "does not reproduce: the pattern does not match there"
             : *r->level ? "reproduces in `ttnn.mlir` alone: in `ttir.mlir` the pattern does not match"
                         : ""},
    };
    write_file(r, "README.md",
               list(args, text(args, "# %s (%s)\n\n", f->fused_op, f->pattern), lines, sizeof lines / sizeof *lines));
}

static void write_folder(struct repro *r) {
    struct args *args = &r->x->args;
    r->level = "";
    r->left = *r->f->ttir_module ? NULL : "its ops in TTIR are not known";
    write_file(r, "ttir.mlir", r->f->ttir_module);
    write_file(r, "ttnn.mlir", r->f->ttnn_module);
    if (!args->error)
        audit_small(r);
    if (!args->error && !r->left)
        apply_small(r);
    if (!args->error)
        write_readme(r);
}

/* What an earlier run left in the folder. */
static void remove_old(struct repro *r) {
    static const char *const names[] = {"ttir.mlir",   "ttnn.mlir",  "fused.mlir",
                                        "before.mlir", "after.mlir", "README.md"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !r->x->args.error; i++) {
        const char *path = text(&r->x->args, "%s/%s", r->dir, names[i]);
        if (output_check(&r->x->args, path))
            remove(path);
    }
}

/* "03-layer_norm". */
static void begin_folder(struct repro *r, const char *what) {
    char *name = text(&r->x->args, "%02zu-%s", ++r->x->n, what);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
            *c = '_';
    r->name = name;
    r->dir = text(&r->x->args, "%s/%s", r->x->dir, name);
    if (output_directory(&r->x->args, r->dir))
        remove_old(r);
}

static void print_row(const struct repro *r, FILE *out) {
    const char *alone = r->absent   ? "; does not reproduce: the pattern does not match there"
                        : *r->level ? text(&r->x->args, "; reproduces in %s alone", r->level)
                                    : "";
    const char *row =
        text(&r->x->args, "%s: %s%s%s", r->name, r->left ? "not fused: " : "fused", r->left ? r->left : "", alone);
    fa_print_clean(row, strlen(row), "", out);
    fputc('\n', out);
}

static void write_finding(struct args *args, const struct fa_finding *f, FILE *out) {
    struct repro r = {.x = (struct repro_args *)args, .f = f};
    begin_folder(&r, f->pattern);
    write_folder(&r);
    if (!args->error && !args->quiet)
        print_row(&r, out);
}

/* ---- what verify finds ---- */

static void write_check(struct repro *r, const struct fa_check *c) {
    struct args *args = &r->x->args;
    const char *const lines[][2] = {
        {"", "`before.mlir`, `after.mlir`: ops of both modules that do not compute the same"},
        {"pass: ", c->pass},
        {"locations: ", c->location},
        {"nobody checked: ", c->unchecked},
        {"it matters for: ", c->matters_for},
        {"on the device: ", c->on_device}};
    const char *title = text(args, "# %s: %s\n\n", c->kind, c->fused_op);
    const char *readme = list(args, title, lines, sizeof lines / sizeof *lines);
    write_file(r, "before.mlir", c->before_module);
    write_file(r, "after.mlir", c->after_module);
    write_file(r, "README.md", *c->counterexample ? text(args, "%s\n```\n%s```\n", readme, c->counterexample) : readme);
}

/* Where the files are two modules, or one log of several. */
static void write_checks(struct repro_args *x, FILE *out) {
    struct fa_verify_options o = {.inputs = x->args.options.inputs,
                                  .data = x->args.options.patterns.data,
                                  .jobs = x->args.options.jobs,
                                  .modules = true};
    struct fa_verification *v = fa_verify(&o);
    struct fa_check c;
    for (size_t i = 0; !x->args.error && fa_get_check(v, i, &c); i++) {
        struct repro r = {.x = x};
        begin_folder(&r, c.kind);
        write_check(&r, &c);
        if (!x->args.error && !x->args.quiet)
            fprintf(out, "%s: %s\n", r.name, c.fused_op);
    }
    fa_verification_free(v);
}

static bool is_empty(const char *path) {
    DIR *d = opendir(path);
    bool empty = true;
    for (struct dirent *e = d ? readdir(d) : NULL; e && empty; e = readdir(d))
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    if (d)
        closedir(d);
    return empty;
}

static enum fa_status run(struct args *args, FILE *out) {
    struct repro_args *x = (struct repro_args *)args;
    if (!x->force && !is_empty(x->dir))
        return fails(args, FA_INPUT, "%s is not empty (--force writes into it)", x->dir);
    args->lines = true;
    enum fa_status status = each_place(args, write_finding, out);
    if (status <= FA_MISSED) {
        status = FA_CLEAN;
        if (args->options.inputs.levels == FA_BOTH_LEVELS && !args->options.at)
            write_checks(x, out);
    }
    fa_library_free(x->ops.library);
    fa_library_free(x->patterns.library);
    return status;
}

static bool check(struct args *args) {
    return ((const struct repro_args *)args)->dir || wrong(args, "repro needs -d DIR");
}

#define MEMBER(name) offsetof(struct repro_args, name)
static const struct option_row rows[] = {
    {"dir", 'd', TEXT, MEMBER(dir), "DIR", .help = "write the folders into DIR"},
    {"force", 0, FLAG, MEMBER(force), NULL, .help = "also where DIR is not empty"},
    {"quiet", 'q', FLAG, MEMBER(args.quiet), NULL, .help = "do not list the folders"},
};
static const struct repro_args defaults = {.args = {.assume = "all"}};

const struct command repro_command = {
    .name = "repro",
    .help = "the smallest modules that show what is missed",
    .usage = "Usage: fusion-audit repro [options] FILE... -d DIR\n"
             "\n"
             "Writes a folder for each different finding: its ops as a module of their own in\n"
             "TTIR and in TTNN, and the same with the fused op in it; and one for each entry\n"
             "of verify. Lists them, and says which do not reproduce.\n",
    .after = "Exit status: 0; 2 wrong usage; 3 unreadable input, or DIR is not empty.\n"
             "\n"
             "Example:\n"
             "  fusion-audit repro model.ttir.mlir model.ttnn.mlir -d repro\n",
    .own = {rows, sizeof rows / sizeof *rows},
    .shared = {&fused_options, &level_options, &pattern_options, &choice_options, &price_options, &jobs_options},
    .size = sizeof(struct repro_args),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .takes = "no input file",
    .check = check,
    .run = run,
    .prints = true,
};
