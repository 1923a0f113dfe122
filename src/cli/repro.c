/* A folder for each different finding and each entry of `verify`: its ops as modules of their own, the same with the
 * fused op in it, a test of the pass that would make it. The small module is audited itself, to see whether the fusion
 * is missed there, too. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/outputs.h"
#include "cli/say.h"

struct repro_args {
    struct args args;
    const char *dir, *assume;
    struct word_list values;
    bool shrink, force, quiet;
};

/* One finding. */
struct repro {
    const struct repro_args *x;
    struct fa_finding f;
    struct arena arena;
    const char *dir, *name;
    const char *fused; /* the module with the fused op; empty: */
    const char *left;  /* why there is none */
    const char *other; /* how the fusion is missed in the small module, where that is not how it is in the model; or
                          empty */
    char message[4352];
    int error; /* errno of what could not be written; 0: all was */
};

static void write_file(struct repro *r, const char *name, struct str text) {
    struct str path = arena_printf(&r->arena, "%s/%s", r->dir, name);
    if (!r->error && text.n && !file_write_text(text, path.p, r->message, sizeof r->message))
        r->error = errno ? errno : EIO;
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
            r->other = f.reason == r->f.reason ? "" : arena_strdup(&r->arena, str_of(f.todo));
    fa_free(a);
}

/* What is said of the finding that is left, behind "is left: ". */
static const char *reason_of(struct repro *r, const struct fa_diagnostics *d) {
    for (size_t i = 0; i < fa_count(d); i++) {
        const char *message = fa_diagnostic(d, i).message, *colon = strstr(message, ": ");
        if (colon)
            return arena_strdup(&r->arena, str_of(colon + 2));
    }
    return "no op of TTIR is it";
}

static const char *text_of(struct repro *r, const struct fa_application *a) {
    char *text = NULL;
    size_t n = 0;
    FILE *out = made(open_memstream(&text, &n));
    bool whole = fa_application_print(a, out);
    whole &= fclose(out) == 0;
    const char *copy = whole ? arena_strdup(&r->arena, (struct str){text, n}) : "";
    free(text);
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
        r->left = reason_of(r, fa_application_diagnostics(a));
    fa_application_free(a);
}

/* ---- the test ---- */

/* The next op of a text: its quoted name, and where it stands. */
static bool next_op(struct str *rest, struct str *name) {
    const char *at = str_find(*rest, STR("\"ttir.")), *other = str_find(*rest, STR("\"ttcore."));
    at = !at || (other && other < at) ? other : at;
    struct str text = at ? (struct str){at + 1, rest->n - (size_t)(at + 1 - rest->p)} : *rest;
    if (!at)
        return false;
    *name = str_part(&text, '"');
    *rest = text;
    return true;
}

static unsigned count_ops(struct str text, struct str op) {
    struct str name;
    unsigned n = 0;
    while (next_op(&text, &name))
        n += str_eq(name, op);
    return n;
}

/* Each op that the fused module has none of any more. */
static void forbid_ops(struct str before, struct str fused, struct buf *out) {
    struct str name, said = before;
    for (struct str rest = before; next_op(&rest, &name);) {
        struct str first = {said.p, (size_t)(name.p - said.p)};
        if (!count_ops(fused, name) && !count_ops(first, name))
            buf_printf(out, "// CHECK-NOT: \"%.*s\"(\n", (int)name.n, name.p);
    }
}

/* The op with its result, which the pass prints as it stands here. */
static void expect_op(struct str name, struct str rest, struct buf *out) {
    struct str line = str_line(&rest);
    const char *loc = str_find(line, STR(" loc("));
    line.n = loc ? (size_t)(loc - line.p) : line.n;
    while (str_find(line, STR("-> "))) {
        const char *arrow = str_find(line, STR("-> "));
        line = (struct str){arrow + 3, line.n - (size_t)(arrow + 3 - line.p)};
    }
    buf_printf(out, "// CHECK: \"%.*s\"({{.*}}-> %.*s\n", (int)name.n, name.p, (int)line.n, line.p);
}

/* What the fused module has more of than the other one, without movement and constants unless `all`: they are left to
 * the pass. False: nothing. */
static bool expect_ops(struct str before, struct str fused, bool all, struct buf *out) {
    struct str name;
    bool any = false;
    for (struct str rest = fused; next_op(&rest, &name);)
        if (count_ops(fused, name) > count_ops(before, name) && (all || fa_op_computes(name.p, name.n))) {
            expect_op(name, rest, out);
            any = true;
        }
    return any;
}

static const char *pass_of(const struct repro *r) {
    bool fusing = strncmp(r->f.pass, "ttir-", 5) == 0;
    return fusing ? r->f.pass : "ttir-fusing";
}

static void write_test(struct repro *r) {
    struct str before = str_of(r->f.ttir_module), fused = str_of(r->fused);
    const char *decomposition = str_find(fused, STR("func.func private @"));
    fused.n = decomposition ? (size_t)(decomposition - fused.p) : fused.n;
    struct buf b = {0};
    buf_printf(&b, "// RUN: ttmlir-opt --%s %%s | FileCheck %%s\n// %s: %s\n\n// CHECK-LABEL: func.func\n", pass_of(r),
               r->f.fused_op, r->f.todo);
    forbid_ops(before, fused, &b);
    bool good = expect_ops(before, fused, false, &b) || expect_ops(before, fused, true, &b);
    forbid_ops(before, fused, &b);
    buf_printf(&b, "// CHECK: return\n\n%s", r->f.ttir_module);
    if (good)
        write_file(r, "test.mlir", buf_str(&b));
    buf_free(&b);
}

/* ---- what is said of it ---- */

static void say_files(const struct repro *r, struct buf *b) {
    buf_add(b, *r->f.ttir_module ? STR("- `ttir.mlir`: its ops in TTIR") : STR("- its ops in TTIR are not known"));
    buf_add(b, *r->f.ttnn_module ? STR("; `ttnn.mlir`: in TTNN\n") : STR("\n"));
    if (*r->fused)
        buf_printf(b, "- `fused.mlir`: with the fused op; `test.mlir`: fails until `%s` makes it\n", pass_of(r));
    else
        buf_printf(b, "- no module with the fused op: %s\n", r->left);
    if (*r->other)
        buf_printf(b, "- does not reproduce: in `ttir.mlir` alone: %s\n", r->other);
}

static void write_readme(struct repro *r) {
    const struct fa_finding *f = &r->f;
    struct buf b = {0};
    buf_printf(&b, "# %s (%s)\n\n", f->fused_op, f->pattern);
    if (*f->place)
        buf_printf(&b, "- where: %s\n", f->place);
    if (*f->location)
        buf_printf(&b, "- locations: %s\n", f->location);
    if (*f->ttir_lines)
        buf_printf(&b, "- lines of TTIR: %s\n", f->ttir_lines);
    if (*f->ttnn_lines)
        buf_printf(&b, "- lines of TTNN: %s\n", f->ttnn_lines);
    buf_printf(&b, "- why it is missed, what to do: %s\n", f->todo);
    buf_printf(&b, "- saves: %.1f us, estimated\n", f->saved_us);
    if (*f->verdict)
        buf_printf(&b, "- %s\n", f->verdict);
    say_files(r, &b);
    write_file(r, "README.md", buf_str(&b));
    buf_free(&b);
}

static void write_folder(struct repro *r) {
    const char *const file = arena_printf(&r->arena, "%s/ttir.mlir", r->dir).p;
    r->fused = r->other = "";
    r->left = "its ops in TTIR are not known";
    write_file(r, "ttir.mlir", str_of(r->f.ttir_module));
    write_file(r, "ttnn.mlir", str_of(r->f.ttnn_module));
    if (*r->f.ttir_module && !r->error) {
        audit_small(r, &file);
        apply_small(r, &file);
    }
    write_file(r, "fused.mlir", str_of(r->fused));
    if (*r->fused)
        write_test(r);
    write_readme(r);
}

/* "03-layer_norm". */
static void begin_folder(struct repro *r, size_t number, const char *what) {
    char *name = arena_strdup(&r->arena, arena_printf(&r->arena, "%02zu-%s", number, what));
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
            *c = '_';
    r->name = name;
    r->dir = arena_printf(&r->arena, "%s/%s", r->x->dir, name).p;
}

static void print_row(const struct repro *r, FILE *out) {
    fprintf(out, "%s: %s", r->name, *r->fused ? "fused" : "not fused: ");
    print_clean(str_of(*r->fused ? "" : r->left), "", out);
    fputs(*r->other ? "; does not reproduce: " : "", out);
    print_clean(str_of(r->other), "", out);
    fputc('\n', out);
}

static enum fa_status end_folder(struct repro *r) {
    enum fa_status status = r->error ? complain_of_output(r->message, r->error) : FA_CLEAN;
    arena_free(&r->arena);
    return status;
}

static enum fa_status write_findings(const struct repro_args *x, struct fa_audit *a, size_t *n, FILE *out) {
    enum fa_status status = FA_CLEAN;
    struct fa_finding f;
    for (size_t i = 0; status == FA_CLEAN && fa_get_finding(a, i, &f); i++) {
        struct repro r = {.x = x, .f = f};
        if (f.repeated)
            continue;
        begin_folder(&r, ++*n, f.pattern);
        write_folder(&r);
        if (!r.error && !x->quiet)
            print_row(&r, out);
        status = end_folder(&r);
    }
    return status;
}

/* ---- what verify finds ---- */

static void write_check(struct repro *r, const struct fa_check *c) {
    struct buf b = {0};
    buf_printf(&b, "# %s: %s\n\n", c->kind, c->fused_op);
    buf_printf(&b, "- `before.mlir`, `after.mlir`: ops of both modules that do not compute the same\n");
    const char *const lines[][2] = {{"pass", c->pass},
                                    {"locations", c->location},
                                    {"nobody checked", c->unchecked},
                                    {"it matters for", c->matters_for},
                                    {"on the device", c->on_device}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (*lines[i][1])
            buf_printf(&b, "- %s: %s\n", lines[i][0], lines[i][1]);
    if (*c->counterexample)
        buf_printf(&b, "\n```\n%s```\n", c->counterexample);
    write_file(r, "before.mlir", str_of(c->before_module));
    write_file(r, "after.mlir", str_of(c->after_module));
    write_file(r, "README.md", buf_str(&b));
    buf_free(&b);
}

/* Where the files are two modules, or one log of several. */
static enum fa_status write_checks(const struct repro_args *x, size_t *n, FILE *out) {
    struct fa_verify_options o = {.inputs = x->args.options.inputs,
                                  .data = x->args.options.patterns.data,
                                  .jobs = x->args.options.jobs,
                                  .modules = true};
    struct fa_verification *v = fa_verify(&o);
    enum fa_status status = FA_CLEAN;
    struct fa_check c;
    for (size_t i = 0; status == FA_CLEAN && fa_get_check(v, i, &c); i++) {
        struct repro r = {.x = x};
        begin_folder(&r, ++*n, c.kind);
        write_check(&r, &c);
        if (!r.error && !x->quiet)
            fprintf(out, "%s: %s\n", r.name, c.fused_op);
        status = end_folder(&r);
    }
    fa_verification_free(v);
    return status;
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
    const struct repro_args *x = (const struct repro_args *)args;
    struct fa_audit_options o = args->options;
    if (!x->force && !is_empty(x->dir))
        return complain(FA_INPUT, arena_printf(&args->arena, "%s is not empty (--force writes into it)", x->dir).p);
    o.modules = true;
    o.small_modules = x->shrink;
    struct fa_audit *a = fa_audit(&o);
    enum fa_status status = say_diagnostics(fa_diagnostics(a), fa_get_status(a));
    size_t n = 0;
    if (status <= FA_MISSED)
        status = write_findings(x, a, &n, out);
    if (status == FA_CLEAN && o.inputs.levels == FA_BOTH_LEVELS)
        status = write_checks(x, &n, out);
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
    {"quiet", 'q', FLAG, MEMBER(quiet), NULL, .help = "do not list the folders"},
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
