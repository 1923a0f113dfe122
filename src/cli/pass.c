/* Each different finding as a rewrite pattern of the compiler, with its test. */
#include <stdarg.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/outputs.h"
#include "cli/say.h"

struct pass_args {
    struct args args;
    const char *dir, *assume;
    struct word_list values;
};

static void note(struct args *args, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(struct args *args, const char *format, ...) {
    char line[2048];
    va_list more;
    va_start(more, format);
    vsnprintf(line, sizeof line, format, more);
    va_end(more);
    if (args->quiet)
        return;
    say_clean(line);
    fputc('\n', stderr);
}

/* What was written: of each pattern its text, as if it were the first of its name. */
struct written_passes {
    const char *patterns[256], *code[256];
    size_t n;
};

/* 0: the text was written already, for another place. */
static unsigned number_of(struct written_passes *w, const char *pattern, const char *code) {
    unsigned number = 1;
    for (size_t i = 0; i < w->n; i++) {
        bool same = strcmp(w->patterns[i], pattern) == 0;
        if (same && strcmp(w->code[i], code) == 0)
            return 0;
        number += same;
    }
    if (w->n < sizeof w->patterns / sizeof *w->patterns) {
        w->patterns[w->n] = pattern;
        w->code[w->n++] = code;
    }
    return number;
}

/* What the compiler has for this fusion, and what is to be done here for it; NULL: it has nothing. */
static const char *made_by(struct args *args, const struct fa_finding *f) {
    const char *pattern = *f->existing_pattern ? f->existing_pattern : f->pass;
    if (!*pattern)
        return NULL;
    return text(args,
                "The compiler has %s%s%s%s for this fusion, and here: %s. `fusion-audit try` says what it makes of the "
                "model with other options.",
                pattern, *f->source_file ? " (" : "", f->source_file, *f->source_file ? ")" : "", f->todo);
}

/* What an op that has no class would need. */
static const char *without_class(struct args *args, const struct fa_finding *f, const char *left) {
    if (strcmp(f->source, "ttnn") != 0 || *f->lacks)
        return text(args,
                    "%s (%s): no class to create yet: %s wants a definition in TTNNOps.td, with these ops as its "
                    "decomposition: %s",
                    f->fused_op, f->pattern, f->fused_op, f->component_ops);
    return text(args, "%s (%s): no pass: %s", f->fused_op, f->pattern, left);
}

static void write_text(struct pass_args *x, const char *name, const char *end, const char *content) {
    char message[4352];
    const char *path = text(&x->args, "%s/%s%s", x->dir, name, end);
    if (output_check(&x->args, path) && !fa_write_text(content, strlen(content), path, message, sizeof message))
        fails(&x->args, FA_INPUT, "%s", message);
}

static void write_files(struct pass_args *x, const struct fa_finding *f, const struct fa_pass *p, const char *says,
                        FILE *out) {
    if (x->dir) {
        write_text(x, fa_pass_class(p), ".cpp", fa_pass_code(p));
        write_text(x, fa_pass_test_file(p), "", fa_pass_test(p));
        fprintf(out, "%s.cpp, %s: %s\n", fa_pass_class(p), fa_pass_test_file(p), f->fused_op);
    } else
        fprintf(out, "%s\n%s", fa_pass_code(p), fa_pass_test(p));
    if (says)
        note(&x->args, "%s: %s", fa_pass_class(p), says);
    if (*fa_pass_note(p))
        note(&x->args, "%s: %s", fa_pass_class(p), fa_pass_note(p));
}

/* False: there is none. */
static bool write_pass(struct pass_args *x, const struct fa_finding *f, struct written_passes *all, FILE *out) {
    const char *says = made_by(&x->args, f);
    struct fa_pass_options o = {.module = f->ttir_module,
                                .patterns = x->args.options.patterns,
                                .assume = x->assume,
                                .values = x->values.items,
                                .nvalues = x->values.n,
                                .says = says,
                                .pass = strncmp(f->pass, "ttir-", 5) == 0 ? f->pass : NULL,
                                .number = 1};
    o.patterns.only = f->pattern;
    o.patterns.skip = o.patterns.sources = NULL;
    struct fa_pass *p = fa_pass(&o);
    const char *left = fa_pass_left(p);
    if (left)
        note(&x->args, "%s", without_class(&x->args, f, *f->ttir_module ? left : "its ops in TTIR are not known"));
    else
        o.number = number_of(all, f->pattern, text(&x->args, "%s", fa_pass_code(p)));
    if (!left && o.number > 1) {
        fa_pass_free(p);
        p = fa_pass(&o);
    }
    if (!left && o.number)
        write_files(x, f, p, says, out);
    fa_pass_free(p);
    return !left;
}

static enum fa_status run(struct args *args, FILE *out) {
    struct pass_args *x = (struct pass_args *)args;
    struct fa_audit_options o = args->options;
    struct written_passes all = {.n = 0};
    struct fa_finding f;
    size_t n = 0, places = 0;
    o.modules = true;
    o.progress = progress_of_call(&args->progress, "");
    int error = x->dir ? fa_make_directory(x->dir) : 0;
    if (error)
        return fails(args, FA_INPUT, "cannot make %s: %s", x->dir, strerror(error));
    struct fa_audit *a = fa_audit(&o);
    progress_hide(&args->progress);
    enum fa_status status = say_diagnostics(fa_diagnostics(a), fa_get_status(a));
    for (size_t i = 0; status <= FA_MISSED && !args->error && fa_get_finding(a, i, &f); i++)
        if (!f.repeated) {
            places++;
            n += write_pass(x, &f, &all, out);
        }
    fa_free(a);
    return args->error || status > FA_MISSED ? status : places && n == 0 ? FA_MISSED : FA_CLEAN;
}

#define MEMBER(name) offsetof(struct pass_args, name)
static const struct option_row rows[] = {
    {"at", 0, TEXT, MEMBER(args.options.at), "PLACE", .help = "only what is found there, as in explain"},
    {"output", 'o', TEXT, MEMBER(dir), "DIR", .help = "write the files into DIR, which is made"},
    {"assume", 0, TEXT, MEMBER(assume), "GLOBS",
     .help = "take preconditions of these patterns and fused\n"
             "ops to hold, comma-separated (all)"},
    {"value", 0, LIST, MEMBER(values), "NAME=NUMBER", .help = "what an argument holds, as in apply"},
    {"quiet", 'q', FLAG, MEMBER(args.quiet), NULL, .help = "do not say what makes the fusion already"},
};
static const struct pass_args defaults = {.assume = "all"};

const struct command pass_command = {
    .name = "pass",
    .help = "a place as a rewrite pattern of the compiler",
    .usage = "Usage: fusion-audit pass [options] FILE... [--at=PLACE] [-o DIR]\n"
             "\n"
             "Writes a place as an OpRewritePattern for the spelling that stands there, and\n"
             "its test for FileCheck, with a function that must not fuse. Without --at: one\n"
             "for each different finding. Says first where the compiler makes it already.\n",
    .after = "Exit status: 0; 1 nothing can be written; 2 wrong usage; 3 unreadable input.\n"
             "\n"
             "Example:\n"
             "  fusion-audit pass --at=add.174 model.ttir.mlir model.ttnn.mlir\n",
    .own = {rows, sizeof rows / sizeof *rows},
    .shared = {&level_options, &pattern_options, &choice_options, &price_options, &jobs_options},
    .size = sizeof(struct pass_args),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .takes = "no input file",
    .run = run,
    .prints = true,
};
