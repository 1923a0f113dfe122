/* Compiles a model as it is and with the options that its findings ask for, and audits what comes out. An option that
 * is of use behind another one only is tried with it; what helped is tried together at last. */
#include "cli/try.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/outputs.h"
#include "cli/say.h"

enum { OPTIONS_MOST = 8, TRIALS_MOST = 16 };

/* One compile. */
struct try_compile {
    const char *options[OPTIONS_MOST]; /* beside those of --pipeline */
    size_t noptions;
    const char *needs;   /* what the last of them asks of the compiler; or empty */
    const char *failure; /* why there is nothing to audit; or NULL */
    double us;
    size_t left; /* places */
};

struct tries {
    struct try_args *x;
    struct fa_library *library;
    struct try_compile all[TRIALS_MOST]; /* as it is, then those that are tried */
    size_t n;
    struct user_compiler compiler;
};

/* ---- which ---- */

static bool has_option(const struct try_compile *t, const char *option) {
    for (size_t i = 0; i < t->noptions; i++)
        if (strcmp(t->options[i], option) == 0)
            return true;
    return false;
}

static void add_option(struct tries *r, struct try_compile *t, const char *option) {
    if (option && t->noptions < OPTIONS_MOST && !has_option(t, option))
        t->options[t->noptions++] = text(&r->x->args, "%s", option);
}

static bool same_options(const struct try_compile *a, const struct try_compile *b) {
    bool same = a->noptions == b->noptions;
    for (size_t i = 0; i < a->noptions && same; i++)
        same = has_option(b, a->options[i]);
    return same;
}

static void add_trial(struct tries *r, const struct try_compile *t) {
    bool there = r->n == TRIALS_MOST;
    for (size_t i = 0; i < r->n && !there; i++)
        there = same_options(&r->all[i], t);
    if (!there)
        r->all[r->n++] = *t;
}

/* What the findings of one compile ask for, beside its own options. */
static void add_settings(struct tries *r, struct fa_audit *a, const struct try_compile *from) {
    struct fa_setting s;
    for (size_t i = 0; fa_get_setting(a, i, &s); i++) {
        struct try_compile next = *from;
        next.needs = s.options[1] ? "" : text(&r->x->args, "%s", s.needs);
        add_option(r, &next, s.options[0]);
        add_trial(r, &next);
        if (!s.options[1])
            continue;
        next.needs = text(&r->x->args, "%s", s.needs);
        add_option(r, &next, s.options[1]);
        add_trial(r, &next);
    }
}

/* What is faster than the compile as it is, together. */
static void add_together(struct tries *r) {
    struct try_compile together = {.needs = ""};
    for (size_t i = 1; i < r->n; i++)
        for (size_t k = 0; !r->all[i].failure && r->all[i].us < r->all[0].us && k < r->all[i].noptions; k++)
            add_option(r, &together, r->all[i].options[k]);
    add_trial(r, &together);
}

/* ---- a compile ---- */

/* An error that keeps the audit from an answer. */
static const char *trouble_of(struct tries *r, const struct fa_audit *a) {
    const struct fa_diagnostics *d = fa_diagnostics(a);
    for (size_t i = 0; i < fa_count(d); i++)
        if (strcmp(fa_get_diagnostic(d, i).severity, "error") == 0)
            return text(&r->x->args, "%s", fa_get_diagnostic(d, i).message);
    return "it cannot be audited";
}

static void audit(struct tries *r, struct try_compile *t) {
    char ttnn[32];
    const char *files[2] = {r->x->args.options.inputs.files[0], ttnn};
    struct fa_audit_options options = r->x->args.options;
    snprintf(ttnn, sizeof ttnn, "/proc/self/fd/%d", r->compiler.out);
    options.inputs.files = files;
    options.inputs.nfiles = 2;
    options.patterns.library = r->library;
    options.inventory = true;
    struct fa_audit *a = fa_run_audit(&options);
    if (fa_get_status(a) <= FA_MISSED) {
        t->us = fa_time(a);
        t->left = fa_places(a);
        add_settings(r, a, t);
    } else {
        t->failure = trouble_of(r, a);
    }
    fa_free(a);
}

static void try_one(struct tries *r, size_t i) {
    struct try_compile t = r->all[i];
    if (!r->x->args.quiet && terminal_width(STDERR_FILENO))
        fprintf(stderr, "compile %zu of %zu\n", i + 1, r->n);
    t.failure = compiler_run(&r->compiler, i, t.options, t.noptions, r->x->args.options.inputs.files[0]);
    if (!t.failure)
        audit(r, &t);
    compiler_close(&r->compiler);
    r->all[i] = t;
}

/* ---- what is printed ---- */

static void print_time(const struct try_compile *t, FILE *out) {
    char text[FA_TIME_TEXT];
    fprintf(out, "%9s", fa_format_time(t->us, text));
}

static void print_trial(const struct tries *r, size_t i, FILE *out) {
    const struct try_compile *t = &r->all[i];
    fprintf(out, "%2zu", i);
    print_time(&r->all[0], out);
    if (t->failure)
        fprintf(out, "%9s%6s", "fails", "");
    else
        print_time(t, out), fprintf(out, "%6zu", t->left);
    for (size_t k = 0; k < t->noptions; k++)
        fprintf(out, "%s%s", k ? " " : "  ", t->options[k]);
    fputs(t->noptions ? "\n" : "  as it is\n", out);
    if (*t->needs)
        fprintf(out, "%28swants %s\n", "", t->needs);
    if (t->failure)
        fprintf(out, "%28s%s\n", "", t->failure);
}

/* A word of a shell's command line. */
static void print_word(const char *word, const char *end, FILE *out) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/=+:,%@";
    bool bare = *word && strspn(word, plain) == strlen(word);
    if (!bare)
        fputc('\'', out);
    for (; *word; word++)
        fprintf(out, *word == '\'' && !bare ? "'\\''" : "%c", *word);
    fprintf(out, "%s%s", bare ? "" : "'", end);
}

/* "models/m.ttir.mlir" becomes "m.ttnn.mlir". */
static const char *name_of_result(struct tries *r) {
    const char *path = r->x->args.options.inputs.files[0], *slash = strrchr(path, '/');
    char *file = text(&r->x->args, "%s", slash ? slash + 1 : path);
    const char *const kinds[] = {".mlir", ".ttir"};
    for (int i = 0; i < 2; i++)
        if (ends(file, kinds[i]))
            file[strlen(file) - strlen(kinds[i])] = '\0';
    return text(&r->x->args, "%s.ttnn.mlir", file);
}

static void print_best(struct tries *r, FILE *out) {
    const struct try_compile *best = &r->all[0];
    for (size_t i = 1; i < r->n; i++)
        if (!r->all[i].failure && r->all[i].us < best->us)
            best = &r->all[i];
    if (r->n == 1)
        fputs("no finding asks for an option of the compiler\n", out);
    else if (best == &r->all[0])
        fputs("nothing helped\n", out);
    if (best == &r->all[0])
        return;
    fputs("best:\n  ", out);
    print_word(r->x->compiler, " ", out);
    print_word(compiler_pipeline(&r->compiler, best->options, best->noptions), " --mlir-print-debuginfo ", out);
    print_word(r->x->args.options.inputs.files[0], " -o ", out);
    print_word(name_of_result(r), "\n", out);
}

/* Where the model is no TTIR the compiler is not to blame. */
static enum fa_status say_failure(struct tries *r) {
    struct fa_audit_options options = {.inputs = r->x->args.options.inputs, .patterns.library = r->library};
    options.inputs.levels = FA_TTIR_ONLY;
    options.no_validate = true;
    struct fa_audit *a = fa_run_audit(&options);
    bool read = fa_get_status(a) <= FA_MISSED;
    enum fa_status status =
        read ? fails(&r->x->args, FA_INPUT, "%s as it is: %s", options.inputs.files[0], r->all[0].failure)
             : say_diagnostics(fa_diagnostics(a), FA_INPUT);
    fa_free(a);
    return status;
}

static enum fa_status print_table(struct tries *r, FILE *out) {
    if (r->all[0].failure)
        return say_failure(r);
    fprintf(out, " n   before    after  left  options\n");
    for (size_t i = 0; i < r->n; i++)
        print_trial(r, i, out);
    print_best(r, out);
    return FA_CLEAN;
}

static enum fa_status run(struct args *args, FILE *out) {
    struct try_args *x = (struct try_args *)args;
    struct tries r = {
        .x = x,
        .n = 1,
        .all = {{.needs = ""}},
        .compiler = {args, x->compiler, x->pipeline, x->output_dir, x->seconds, NULL, -1, -1, PROCESS_DONE}};
    const char *dir = x->output_dir;
    if (x->why)
        return try_why(x, out);
    if (dir && !output_directory(args, dir))
        return args->refused;
    r.library = fa_library_read(&args->options.patterns, args->options.max_diagnostics);
    enum fa_status status = say_diagnostics(fa_library_diagnostics(r.library), fa_library_status(r.library));
    for (size_t i = 0; i < r.n && !r.all[0].failure && status == FA_CLEAN; i++) {
        try_one(&r, i);
        if (i + 1 == r.n)
            add_together(&r);
    }
    if (status == FA_CLEAN)
        status = print_table(&r, out);
    fa_library_free(r.library);
    return status;
}

static bool check(struct args *args) {
    const struct try_args *x = (const struct try_args *)args;
    if (!x->compiler)
        return wrong(args, "try needs --compiler=PROGRAM");
    if (x->why)
        return true;
    if (args->options.inputs.nfiles > 1)
        return wrong(args, "try takes one model, in TTIR");
    if (args->options.at || args->options.inputs.levels != FA_BOTH_LEVELS)
        return wrong(args, "%s is for try --why", args->options.at ? "--at" : "a level");
    return strcmp(args->options.inputs.files[0], "-") != 0 || wrong(args, "try takes a file: each compile reads it");
}

#define MEMBER(name) offsetof(struct try_args, name)
static const struct option_row rows[] = {
    {"compiler", 0, TEXT, MEMBER(compiler), "PROGRAM", .help = "the ttmlir-opt to run"},
    {"pipeline", 0, TEXT, MEMBER(pipeline), "OPTIONS",
     .help = "what its pipeline is given, or --NAME=OPTIONS of\n"
             "another one"},
    {"output-dir", 0, TEXT, MEMBER(output_dir), "DIR", .help = "keep what it prints in DIR"},
    {"why", 0, FLAG, MEMBER(why), NULL, .help = "say what keeps it from fusing each place"},
    {"at", 0, TEXT, MEMBER(args.options.at), "PLACE", .help = "with --why: only what is found there, as in explain"},
    {"quiet", 'q', FLAG, MEMBER(args.quiet), NULL, .help = "do not say on standard error what is compiled"},
    {"seconds", 0, COUNT, MEMBER(seconds), "N", .help = "time for each compile (600)", .least = 1, .most = 1000000},
};
static const struct try_args defaults = {.seconds = 600};

const struct command try_command = {
    .name = "try",
    .help = "compile with the options that findings ask for",
    .usage = "Usage: fusion-audit try [options] --compiler=PROGRAM MODEL.ttir.mlir\n"
             "       fusion-audit try --why [options] --compiler=PROGRAM FILE...\n"
             "\n"
             "Compiles the model as it is, with each option of the compiler that its findings\n"
             "ask for, and with all that helped; audits each, and says what it brings and\n"
             "which command line is the best.\n"
             "\n"
             "With --why it audits FILE... as `fusion-audit` does, compiles the ops of each\n"
             "place alone, as they are and with one thing changed at a time, and says which\n"
             "change makes them fuse. Reports of later audits say so, too.\n",
    .after = "Exit status: 0; 2 wrong usage or bad pattern; 3 the compile as it is fails, or\n"
             "cannot be audited.\n"
             "\n"
             "Example:\n"
             "  fusion-audit try --compiler=ttmlir-opt --pipeline=optimization-level=0 \\\n"
             "      model.ttir.mlir\n",
    .own = {rows, sizeof rows / sizeof *rows},
    .shared = {&level_options, &pattern_options, &choice_options, &price_options, &jobs_options},
    .size = sizeof(struct try_args),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .takes = "no input file",
    .check = check,
    .run = run,
    .prints = true,
};
