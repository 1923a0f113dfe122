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
    struct fa_library *library; /* the patterns of one fused op, */
    const char *library_of;     /* this one; or NULL */
    bool shrink, force;
};

/* One finding. */
struct repro {
    struct repro_args *x;
    struct fa_finding f;
    const char *dir, *name;
    const char *fused;    /* the module with the fused op; empty: */
    const char *left;     /* why there is none */
    const char *untested; /* why there is no test; empty: there is one */
    bool absent;          /* the fusion is not missed in the small modules */
    const char *level;    /* the only one at which it is missed there; or empty */
};

/* ---- files ---- */

/* In the folder; never an input: then, and where one before it failed, NULL. */
static const char *path_of(struct repro *r, const char *name) {
    struct args *args = &r->x->args;
    const char *path = text(args, "%s/%s", r->dir, name);
    return !args->error && output_check(args, path) ? path : NULL;
}

static void write_file(struct repro *r, const char *name, const char *content) {
    char message[4352];
    const char *path = *content ? path_of(r, name) : NULL;
    if (path && !fa_write_text(content, strlen(content), path, message, sizeof message))
        fails(&r->x->args, FA_INPUT, "%s", message);
}

/* What is printed becomes a file in the end. */
struct printing_file {
    FILE *out;
    char *text;
    size_t n;
};

static void begin_printing(struct printing_file *p) {
    p->out = open_memstream(&p->text, &p->n);
    if (!p->out)
        exit(complain(FA_INPUT, "out of memory"));
}

static void write_printed(struct repro *r, const char *name, struct printing_file *p) {
    if (fclose(p->out) != 0)
        exit(complain(FA_INPUT, "out of memory"));
    write_file(r, name, p->text);
    free(p->text);
}

/* ---- the small module, audited and applied ---- */

/* Entries of the report come one after the other, so that their patterns are read once. */
static const struct fa_library *library_of(struct repro_args *x, const struct fa_patterns *patterns) {
    if (x->library_of && strcmp(x->library_of, patterns->only) == 0)
        return x->library;
    fa_library_free(x->library);
    x->library_of = text(&x->args, "%s", patterns->only);
    x->library = fa_library_read(patterns, x->args.options.max_diagnostics);
    return x->library;
}

static struct fa_audit_options options_of(const struct repro *r, const char *const *file, enum fa_levels levels) {
    struct fa_audit_options o = r->x->args.options;
    o.inputs.files = file;
    o.inputs.nfiles = 1;
    o.inputs.levels = levels;
    o.patterns.only = r->f.fused_op;
    o.patterns.skip = o.patterns.sources = NULL;
    o.patterns.library = library_of(r->x, &o.patterns);
    return o;
}

/* A pass makes the fused op, and what runs behind it takes that apart. */
static bool is_undone(const struct fa_finding *f) {
    return strcmp(f->pass_status, "fused_and_undone") == 0;
}

/* A module misses the fusion by itself. */
static bool is_missed_alone(struct repro *r, const char *name, enum fa_levels levels) {
    const char *file = text(&r->x->args, "%s/%s", r->dir, name);
    struct fa_audit_options o = options_of(r, &file, levels);
    struct fa_audit *a = fa_audit(&o);
    struct fa_finding f;
    bool missed = false;
    for (size_t i = 0; !missed && fa_get_finding(a, i, &f); i++)
        missed = strcmp(f.fused_op, r->f.fused_op) == 0;
    fa_free(a);
    return missed;
}

static void audit_small(struct repro *r) {
    bool ttir = *r->f.ttir_module && is_missed_alone(r, "ttir.mlir", FA_TTIR_ONLY);
    bool ttnn = !ttir && *r->f.ttnn_module && is_missed_alone(r, "ttnn.mlir", FA_TTNN_ONLY);
    r->absent = !ttir && !ttnn;
    r->level = ttnn ? "TTNN" : "";
}

/* Why the finding is left. */
static const char *reason_of(struct repro *r, const struct fa_application *a) {
    const struct fa_diagnostics *d = fa_application_diagnostics(a);
    for (size_t i = 0; i < fa_application_found(a); i++)
        if (fa_application_left(a, i))
            return text(&r->x->args, "%s", fa_application_left(a, i));
    return fa_count(d) ? text(&r->x->args, "%s", fa_diagnostic(d, 0).message) : "TTIR has no such op";
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

static void apply_small(struct repro *r) {
    const char *file = text(&r->x->args, "%s/ttir.mlir", r->dir);
    struct fa_audit_options o = options_of(r, &file, FA_TTIR_ONLY);
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

/* An op of a text: its name with its quotes, and the types of its operands and results. */
struct printed_op {
    const char *name, *types;
    size_t nname, ntypes;
};

/* What stands behind the last `what` in n bytes; their begin where it is not there. */
static const char *text_behind(const char *from, size_t n, const char *what) {
    size_t length = strlen(what);
    for (size_t i = n; i >= length; i--)
        if (memcmp(from + i - length, what, length) == 0)
            return from + i;
    return from;
}

/* The next op of a text, from *rest on. False: there is none. */
static bool next_op(const char **rest, struct printed_op *op) {
    const char *at = strstr(*rest, "\"ttir."), *other = strstr(*rest, "\"ttcore.");
    at = !at || (other && other < at) ? other : at;
    if (!at)
        return false;
    const char *end = at + strcspn(at, "\n"), *location = strstr(at, " loc(");
    *rest = end;
    end = location && location < end ? location : end;
    *op = (struct printed_op){.name = at, .nname = strcspn(at + 1, "\"") + 2};
    op->types = text_behind(at, (size_t)(end - at), " : ");
    op->ntypes = (size_t)(end - op->types);
    return true;
}

static bool computes(const struct printed_op *op) {
    return fa_op_computes(op->name + 1, op->nname - 2);
}

static bool same_op(const struct printed_op *a, const struct printed_op *b, bool types) {
    return a->nname == b->nname && memcmp(a->name, b->name, a->nname) == 0 &&
           (!types || (a->ntypes == b->ntypes && memcmp(a->types, b->types, a->ntypes) == 0));
}

/* How often an op is in a text, up to `end` or as a whole; `types`: with those. */
static unsigned count_ops(const char *rest, const char *end, const struct printed_op *op, bool types) {
    struct printed_op one;
    unsigned n = 0;
    while (next_op(&rest, &one) && (!end || one.name < end))
        n += same_op(&one, op, types);
    return n;
}

/* Each op that the fused module has none of any more, without movement and constants unless `all`. False: none. */
static bool forbid_ops(const char *before, const char *fused, bool all, FILE *out) {
    struct printed_op op;
    bool any = false;
    for (const char *rest = before; next_op(&rest, &op);)
        if ((all || computes(&op)) && !count_ops(fused, NULL, &op, false) && !count_ops(before, op.name, &op, false)) {
            fprintf(out, "// CHECK-NOT: %.*s(\n", (int)op.nname, op.name);
            any = true;
        }
    return any;
}

/* What the fused module has more of, with the types of its results; of its operands where that alone is new. Movement
 * and constants are left to the pass unless `all`. False: nothing. */
static bool expect_ops(const char *before, const char *fused, bool all, FILE *out) {
    struct printed_op op;
    bool any = false;
    for (const char *rest = fused; next_op(&rest, &op);) {
        if (!(all || computes(&op)) || count_ops(fused, NULL, &op, true) <= count_ops(before, NULL, &op, true))
            continue;
        bool more = count_ops(fused, NULL, &op, false) > count_ops(before, NULL, &op, false);
        const char *types = text_behind(op.types, op.ntypes, "-> ");
        size_t skipped = more ? (size_t)(types - op.types) : 0;
        fprintf(out, "// CHECK: %.*s({{.*}}%s%.*s\n", (int)op.nname, op.name, more ? "-> " : " : ",
                (int)(op.ntypes - skipped), op.types + skipped);
        any = true;
    }
    return any;
}

static const char *pass_of(const struct repro *r) {
    bool fusing = strncmp(r->f.pass, "ttir-", 5) == 0;
    return fusing ? r->f.pass : "ttir-fusing";
}

/* Why a test would pass as it is, or show another fusion; empty: neither. */
static const char *why_untested(struct repro *r) {
    if (is_undone(&r->f))
        return text(&r->x->args, "`%s` makes it, and what runs behind takes it apart", pass_of(r));
    if (r->absent)
        return "it does not reproduce";
    return strcmp(r->f.dialect_level, "ttnn") == 0 && !*r->f.pass ? "the pass would be one of TTNN" : "";
}

static void write_test(struct repro *r) {
    const char *before = r->f.ttir_module, *decomposition = strstr(r->fused, "func.func private @");
    size_t n = decomposition ? (size_t)(decomposition - r->fused) : strlen(r->fused);
    const char *fused = text(&r->x->args, "%.*s", (int)n, r->fused);
    struct printing_file p = {0};
    r->untested = why_untested(r);
    begin_printing(&p);
    fprintf(p.out, "// RUN: ttmlir-opt --%s %%s | FileCheck %%s\n// %s: %s\n\n// CHECK-LABEL: func.func\n", pass_of(r),
            r->f.fused_op, r->f.todo);
    bool all = !forbid_ops(before, fused, false, p.out) && forbid_ops(before, fused, true, p.out);
    if (!expect_ops(before, fused, false, p.out) && !expect_ops(before, fused, true, p.out))
        r->untested = "no op is new in it";
    forbid_ops(before, fused, all, p.out);
    fprintf(p.out, "// CHECK: return\n\n%s", before);
    if (*r->untested) {
        fclose(p.out);
        free(p.text);
    } else
        write_printed(r, "test.mlir", &p);
}

/* ---- what is said of it ---- */

static void say_files(const struct repro *r, FILE *out) {
    fputs(*r->f.ttir_module ? "- `ttir.mlir`: its ops in TTIR" : "- its ops in TTIR are not known", out);
    fputs(*r->f.ttnn_module ? "; `ttnn.mlir`: in TTNN\n" : "\n", out);
    const char *without = *r->f.lacks ? text(&r->x->args, " without %s", r->f.lacks) : "";
    if (!*r->fused)
        fprintf(out, "- no module with the fused op: %s\n", r->left);
    else if (*r->untested)
        fprintf(out, "- `fused.mlir`: with the fused op%s; no test: %s\n", without, r->untested);
    else
        fprintf(out, "- `fused.mlir`: with the fused op%s; `test.mlir`: fails until `%s` makes it\n", without,
                pass_of(r));
    if (r->absent)
        fprintf(out, "- does not reproduce: the pattern does not match there\n");
    else if (*r->level)
        fprintf(out, "- reproduces in `ttnn.mlir` alone: in `ttir.mlir` the pattern does not match\n");
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
    struct printing_file p = {0};
    begin_printing(&p);
    fprintf(p.out, "# %s (%s)\n\n", f->fused_op, f->pattern);
    say_lines(lines, sizeof lines / sizeof *lines, p.out);
    say_files(r, p.out);
    write_printed(r, "README.md", &p);
}

static void write_folder(struct repro *r) {
    r->fused = r->level = r->untested = "";
    r->left = "its ops in TTIR are not known";
    write_file(r, "ttir.mlir", r->f.ttir_module);
    write_file(r, "ttnn.mlir", r->f.ttnn_module);
    if (!r->x->args.error)
        audit_small(r);
    if (!r->x->args.error && *r->f.ttir_module)
        apply_small(r);
    write_file(r, "fused.mlir", r->fused);
    if (*r->fused)
        write_test(r);
    write_readme(r);
}

/* What an earlier run left in the folder. */
static void remove_old(struct repro *r) {
    static const char *const names[] = {"ttir.mlir",   "ttnn.mlir",  "fused.mlir", "test.mlir",
                                        "before.mlir", "after.mlir", "README.md"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = path_of(r, names[i]);
        if (path)
            remove(path);
    }
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
    remove_old(r);
}

static void print_row(const struct repro *r, FILE *out) {
    struct args *args = &r->x->args;
    const char *test = *r->fused && *r->untested && !r->absent ? text(args, "; no test: %s", r->untested) : "";
    const char *alone = r->absent   ? "; does not reproduce: the pattern does not match there"
                        : *r->level ? text(args, "; reproduces in %s alone", r->level)
                                    : "";
    const char *row =
        text(args, "%s: %s%s%s%s", r->name, *r->fused ? "fused" : "not fused: ", *r->fused ? "" : r->left, test, alone);
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
    struct printing_file p = {0};
    begin_printing(&p);
    fprintf(p.out, "# %s: %s\n\n", c->kind, c->fused_op);
    fputs("- `before.mlir`, `after.mlir`: ops of both modules that do not compute the same\n", p.out);
    say_lines(lines, sizeof lines / sizeof *lines, p.out);
    if (*c->counterexample)
        fprintf(p.out, "\n```\n%s```\n", c->counterexample);
    write_printed(r, "README.md", &p);
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
    args->lines = true;
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
    fa_library_free(x->library);
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
             "TTIR and in TTNN, the same with the fused op in it, and a test for the tree of\n"
             "the compiler, which fails until the pass makes the fusion; and one for each\n"
             "entry of verify. Lists them, and says which do not reproduce.\n",
    .after = "Exit status: 0; 2 wrong usage; 3 unreadable input, or DIR is not empty.\n"
             "\n"
             "Example:\n"
             "  fusion-audit repro --shrink model.ttir.mlir model.ttnn.mlir -d repro\n",
    .own = {rows, sizeof rows / sizeof *rows},
    .shared = {&level_options, &pattern_options, &choice_options, &price_options, &jobs_options},
    .size = sizeof(struct repro_args),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .takes = "no input file",
    .check = check,
    .run = run,
    .prints = true,
};
