/* A folder for each different finding and each entry of `verify`: its ops as modules of their own, the same with the
 * fused op in it, a test of the pass that would make it. The small module is audited itself, to see whether the fusion
 * is missed there, too. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/outputs.h"
#include "cli/say.h"

struct repro_args {
    struct args args;
    const char *dir, *assume;
    struct word_list values;
    bool shrink, force;
};

/* One finding. */
struct repro {
    struct repro_args *x;
    struct fa_finding f;
    const char *dir, *name;
    const char *fused; /* the module with the fused op; empty: */
    const char *left;  /* why there is none */
    const char *other; /* how the fusion is missed in the small module, where that is not how it is in the model; or
                          empty */
    const char *path;  /* of the file that is written */
};

/* NULL where it cannot be written, or one before it was not. */
static FILE *open_file(struct repro *r, const char *name) {
    struct args *args = &r->x->args;
    r->path = text(args, "%s/%s", r->dir, name);
    FILE *out = args->error ? NULL : fopen(r->path, "we");
    if (!out && !args->error)
        fails(args, FA_INPUT, "cannot write %s: %s", r->path, strerror(errno));
    return out;
}

/* A file is there whole, or not at all. */
static void close_file(struct repro *r, FILE *out) {
    bool whole = !ferror(out);
    if (fclose(out) == 0 && whole)
        return;
    fails(&r->x->args, FA_INPUT, "cannot write %s: %s", r->path, strerror(errno));
    remove(r->path);
}

static void write_file(struct repro *r, const char *name, const char *content) {
    FILE *out = *content ? open_file(r, name) : NULL;
    if (!out)
        return;
    fputs(content, out);
    close_file(r, out);
}

/* ---- the small module, audited and applied ---- */

static struct fa_audit_options options_of(const struct repro *r, const char *const *file) {
    struct fa_audit_options o = r->x->args.options;
    o.inputs.files = file;
    o.inputs.nfiles = 1;
    o.inputs.levels = FA_TTIR_ONLY;
    o.patterns.only = r->f.fused_op;
    o.patterns.skip = o.patterns.sources = NULL;
    return o;
}

static void audit_small(struct repro *r, const char *const *file) {
    struct fa_audit_options o = options_of(r, file);
    struct fa_audit *a = fa_audit(&o);
    struct fa_finding f;
    r->other = "the pattern does not match there";
    for (size_t i = 0; *r->other && fa_get_finding(a, i, &f); i++)
        if (strcmp(f.fused_op, r->f.fused_op) == 0)
            r->other = f.reason == r->f.reason ? "" : text(&r->x->args, "%s", f.todo);
    fa_free(a);
}

/* Why the finding is left. */
static const char *reason_of(struct repro *r, const struct fa_application *a) {
    const struct fa_diagnostics *d = fa_application_diagnostics(a);
    for (size_t i = 0; i < fa_application_found(a); i++)
        if (fa_application_left(a, i))
            return text(&r->x->args, "%s", fa_application_left(a, i));
    return fa_count(d) ? text(&r->x->args, "%s", fa_diagnostic(d, 0).message) : "no op of TTIR is it";
}

static const char *text_of(struct repro *r, const struct fa_application *a) {
    char *module = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&module, &n);
    bool whole = out && fa_application_print(a, out);
    whole &= out && fclose(out) == 0;
    const char *copy = text(&r->x->args, "%s", whole ? module : "");
    free(module);
    return copy;
}

static void apply_small(struct repro *r, const char *const *file) {
    struct fa_audit_options o = options_of(r, file);
    struct fa_apply_options how = {.inputs = o.inputs,
                                   .patterns = o.patterns,
                                   .assume = r->x->assume,
                                   .values = r->x->values.items,
                                   .nvalues = r->x->values.n};
    struct fa_application *a = fa_apply(&how);
    if (fa_application_status(a) == FA_CLEAN && fa_application_applied(a))
        r->fused = text_of(r, a);
    else
        r->left = reason_of(r, a);
    fa_application_free(a);
}

/* ---- the test ---- */

/* The next op of a text: its name, of n bytes, which ends with a quote. NULL: there is none. */
static const char *next_op(const char *rest, size_t *n) {
    const char *at = strstr(rest, "\"ttir."), *other = strstr(rest, "\"ttcore.");
    at = !at || (other && other < at) ? other : at;
    *n = at ? strcspn(at + 1, "\"") : 0;
    return at ? at + 1 : NULL;
}

/* How often the op `name` is in a text, up to `end`. */
static unsigned count_ops(const char *rest, const char *end, const char *name, size_t length) {
    unsigned n = 0;
    size_t m;
    for (const char *op; (op = next_op(rest, &m)) && op < end; rest = op + m)
        n += m == length && memcmp(op, name, m) == 0;
    return n;
}

/* Each op that the fused module has none of any more. */
static void forbid_ops(const char *before, const char *fused, FILE *out) {
    const char *end = fused + strlen(fused), *op;
    size_t n;
    for (const char *rest = before; (op = next_op(rest, &n)); rest = op + n)
        if (!count_ops(fused, end, op, n) && !count_ops(before, op, op, n))
            fprintf(out, "// CHECK-NOT: \"%.*s\"(\n", (int)n, op);
}

/* The op with the type of its result, which the pass prints as it stands here. */
static void expect_op(struct repro *r, const char *op, size_t n, FILE *out) {
    char *line = text(&r->x->args, "%.*s", (int)strcspn(op, "\n"), op), *location = strstr(line, " loc("), *type = line;
    if (location)
        *location = '\0';
    for (char *arrow; (arrow = strstr(type, "-> "));)
        type = arrow + strlen("-> ");
    fprintf(out, "// CHECK: \"%.*s\"({{.*}}-> %s\n", (int)n, op, type);
}

/* What the fused module has more of than the other one, without movement and constants unless `all`: they are left to
 * the pass. False: nothing. */
static bool expect_ops(struct repro *r, const char *fused, bool all, FILE *out) {
    const char *before = r->f.ttir_module, *op;
    bool any = false;
    size_t n;
    for (const char *rest = fused; (op = next_op(rest, &n)); rest = op + n)
        if ((all || fa_op_computes(op, n)) &&
            count_ops(fused, fused + strlen(fused), op, n) > count_ops(before, before + strlen(before), op, n)) {
            expect_op(r, op, n, out);
            any = true;
        }
    return any;
}

static const char *pass_of(const struct repro *r) {
    bool fusing = strncmp(r->f.pass, "ttir-", 5) == 0;
    return fusing ? r->f.pass : "ttir-fusing";
}

/* Removed again where there is nothing to expect. */
static void write_test(struct repro *r) {
    const char *before = r->f.ttir_module, *decomposition = strstr(r->fused, "func.func private @");
    size_t n = decomposition ? (size_t)(decomposition - r->fused) : strlen(r->fused);
    const char *fused = text(&r->x->args, "%.*s", (int)n, r->fused);
    FILE *out = open_file(r, "test.mlir");
    if (!out)
        return;
    fprintf(out, "// RUN: ttmlir-opt --%s %%s | FileCheck %%s\n// %s: %s\n\n// CHECK-LABEL: func.func\n", pass_of(r),
            r->f.fused_op, r->f.todo);
    forbid_ops(before, fused, out);
    bool good = expect_ops(r, fused, false, out) || expect_ops(r, fused, true, out);
    forbid_ops(before, fused, out);
    fprintf(out, "// CHECK: return\n\n%s", before);
    close_file(r, out);
    if (!good)
        remove(r->path);
}

/* ---- what is said of it ---- */

static void say_files(const struct repro *r, FILE *out) {
    fputs(*r->f.ttir_module ? "- `ttir.mlir`: its ops in TTIR" : "- its ops in TTIR are not known", out);
    fputs(*r->f.ttnn_module ? "; `ttnn.mlir`: in TTNN\n" : "\n", out);
    if (*r->fused)
        fprintf(out, "- `fused.mlir`: with the fused op; `test.mlir`: fails until `%s` makes it\n", pass_of(r));
    else
        fprintf(out, "- no module with the fused op: %s\n", r->left);
    if (*r->other)
        fprintf(out, "- does not reproduce: in `ttir.mlir` alone: %s\n", r->other);
}

/* Lines of a list, without those that have nothing to say. */
static void say_lines(const char *const (*lines)[2], size_t n, FILE *out) {
    for (size_t i = 0; i < n; i++)
        if (*lines[i][1])
            fprintf(out, "- %s%s\n", lines[i][0], lines[i][1]);
}

static void write_readme(struct repro *r) {
    const struct fa_finding *f = &r->f;
    const char *const lines[][2] = {
        {"where: ", f->place},
        {"locations: ", f->location},
        {"lines of TTIR: ", f->ttir_lines},
        {"lines of TTNN: ", f->ttnn_lines},
        {"why it is missed, what to do: ", f->todo},
        {"saves: ", text(&r->x->args, "%.1f us, estimated", f->saved_us)},
        {"", f->verdict},
    };
    FILE *out = open_file(r, "README.md");
    if (!out)
        return;
    fprintf(out, "# %s (%s)\n\n", f->fused_op, f->pattern);
    say_lines(lines, sizeof lines / sizeof *lines, out);
    say_files(r, out);
    close_file(r, out);
}

static void write_folder(struct repro *r) {
    const char *const file = text(&r->x->args, "%s/ttir.mlir", r->dir);
    r->fused = r->other = "";
    r->left = "its ops in TTIR are not known";
    write_file(r, "ttir.mlir", r->f.ttir_module);
    write_file(r, "ttnn.mlir", r->f.ttnn_module);
    if (*r->f.ttir_module && !r->x->args.error) {
        audit_small(r, &file);
        apply_small(r, &file);
    }
    write_file(r, "fused.mlir", r->fused);
    if (*r->fused)
        write_test(r);
    write_readme(r);
}

/* "03-layer_norm". */
static void begin_folder(struct repro *r, size_t number, const char *what) {
    char *name = text(&r->x->args, "%02zu-%s", number, what);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
            *c = '_';
    r->name = name;
    r->dir = text(&r->x->args, "%s/%s", r->x->dir, name);
    int error = fa_make_directory(r->dir);
    if (error)
        fails(&r->x->args, FA_INPUT, "cannot make %s: %s", r->dir, strerror(error));
}

static void print_row(const struct repro *r, FILE *out) {
    struct args *args = &r->x->args;
    const char *row = text(args, "%s: %s%s%s%s", r->name, *r->fused ? "fused" : "not fused: ", *r->fused ? "" : r->left,
                           *r->other ? "; does not reproduce: " : "", r->other);
    fa_print_clean(row, strlen(row), "", out);
    fputc('\n', out);
}

static void write_findings(struct repro_args *x, struct fa_audit *a, size_t *n, FILE *out) {
    struct fa_finding f;
    for (size_t i = 0; !x->args.error && fa_get_finding(a, i, &f); i++) {
        struct repro r = {.x = x, .f = f};
        if (f.repeated)
            continue;
        begin_folder(&r, ++*n, f.pattern);
        progress_say(&x->args.progress, "%s", r.name);
        write_folder(&r);
        progress_hide(&x->args.progress);
        if (!x->args.error && !x->args.quiet)
            print_row(&r, out);
    }
}

/* ---- what verify finds ---- */

static void write_check(struct repro *r, const struct fa_check *c) {
    const char *const lines[][2] = {{"pass: ", c->pass},
                                    {"locations: ", c->location},
                                    {"nobody checked: ", c->unchecked},
                                    {"it matters for: ", c->matters_for},
                                    {"on the device: ", c->on_device}};
    write_file(r, "before.mlir", c->before_module);
    write_file(r, "after.mlir", c->after_module);
    FILE *out = open_file(r, "README.md");
    if (!out)
        return;
    fprintf(out, "# %s: %s\n\n", c->kind, c->fused_op);
    fputs("- `before.mlir`, `after.mlir`: ops of both modules that do not compute the same\n", out);
    say_lines(lines, sizeof lines / sizeof *lines, out);
    if (*c->counterexample)
        fprintf(out, "\n```\n%s```\n", c->counterexample);
    close_file(r, out);
}

/* Where the files are two modules, or one log of several. */
static void write_checks(struct repro_args *x, size_t *n, FILE *out) {
    struct fa_verify_options o = {.inputs = x->args.options.inputs,
                                  .data = x->args.options.patterns.data,
                                  .jobs = x->args.options.jobs,
                                  .modules = true,
                                  .progress = progress_of_call(&x->args.progress, "")};
    struct fa_verification *v = fa_verify(&o);
    progress_hide(&x->args.progress);
    struct fa_check c;
    for (size_t i = 0; !x->args.error && fa_get_check(v, i, &c); i++) {
        struct repro r = {.x = x};
        begin_folder(&r, ++*n, c.kind);
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
    struct fa_audit_options o = args->options;
    if (!x->force && !is_empty(x->dir))
        return fails(args, FA_INPUT, "%s is not empty (--force writes into it)", x->dir);
    o.modules = true;
    o.small_modules = x->shrink;
    o.progress = progress_of_call(&args->progress, "");
    struct fa_audit *a = fa_audit(&o);
    progress_hide(&args->progress);
    enum fa_status status = say_diagnostics(fa_diagnostics(a), fa_get_status(a));
    size_t n = 0;
    if (status <= FA_MISSED) {
        status = FA_CLEAN;
        write_findings(x, a, &n, out);
        if (o.inputs.levels == FA_BOTH_LEVELS)
            write_checks(x, &n, out);
    }
    fa_free(a);
    return status;
}

static bool check(struct args *args) {
    return ((const struct repro_args *)args)->dir || wrong(args, "repro needs -d DIR");
}

#define MEMBER(name) offsetof(struct repro_args, name)
static const struct option_row rows[] = {
    {"dir", 'd', TEXT, MEMBER(dir), "DIR", .help = "write the folders into DIR"},
    {"shrink", 0, FLAG, MEMBER(shrink), NULL, .help = "make the shapes of TTIR small"},
    {"assume", 0, TEXT, MEMBER(assume), "GLOBS",
     .help = "take preconditions of these patterns and fused\n"
             "ops to hold, comma-separated (all)"},
    {"value", 0, LIST, MEMBER(values), "NAME=NUMBER", .help = "what an argument holds, as in apply"},
    {"force", 0, FLAG, MEMBER(force), NULL, .help = "also where DIR is not empty"},
    {"quiet", 'q', FLAG, MEMBER(args.quiet), NULL, .help = "do not list the folders"},
};
static const struct repro_args defaults = {.assume = "all"};

const struct command repro_command = {
    .name = "repro",
    .help = "the smallest modules that show what is missed",
    .usage = "Usage: fusion-audit repro [options] FILE... -d DIR\n"
             "\n"
             "Writes a folder for each different finding: its ops as a module of their own in\n"
             "TTIR and in TTNN, the same with the fused op in it, and a test for the tree of the\n"
             "compiler, which fails until the pass makes the fusion; and one for each entry of\n"
             "verify. Lists them, and says which do not reproduce.\n",
    .after = "Exit status: 0; 2 wrong usage; 3 unreadable input, or DIR is not empty.\n"
             "\n"
             "Example:\n"
             "  fusion-audit repro --shrink model.ttir.mlir model.ttnn.mlir -d repro\n",
    .own = {rows, sizeof rows / sizeof *rows},
    .shared = {&level_options, &pattern_options, &choice_options, &price_options, &jobs_options, &search_limits,
               &input_limits},
    .size = sizeof(struct repro_args),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .takes = "no input file",
    .check = check,
    .run = run,
    .prints = true,
};
