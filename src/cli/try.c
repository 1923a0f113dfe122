/* Compiles a model as it is and with the options that its findings ask for, and audits what comes out. An option that
 * is of use behind another one only is tried with it; what helped is tried together at last. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/outputs.h"
#include "cli/process.h"
#include "cli/say.h"

static const char usual_pipeline[] = "ttir-to-ttnn-backend-pipeline";

struct try_args {
    struct args args;
    const char *compiler, *pipeline, *output_dir;
    unsigned seconds;
};

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
    int out, err; /* what the compiler prints: without a name, or in --output-dir */
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

/* The end of an option of a pipeline: a blank outside of braces. */
static size_t option_length(const char *options) {
    size_t n = 0;
    for (int depth = 0; options[n] && (depth > 0 || options[n] != ' '); n++)
        depth += (options[n] == '{') - (options[n] == '}');
    return n;
}

static bool is_set(const struct try_compile *t, const char *option, size_t n) {
    size_t name = strcspn(option, "= ");
    bool set = false;
    for (size_t i = 0; i < t->noptions && name < n; i++)
        set |= strncmp(t->options[i], option, name + 1) == 0;
    return set;
}

/* "--ttir-to-ttnn-backend-pipeline=a=b c=d": what is given, but for what the compile sets, then that. */
static char *pipeline_of(struct tries *r, const struct try_compile *t) {
    struct args *args = &r->x->args;
    const char *given = r->x->pipeline ? r->x->pipeline : "", *between = "=";
    char *all = text(args, "--%s", usual_pipeline);
    if (begins(given, "--")) {
        size_t name = strcspn(given, "=");
        all = text(args, "%.*s", (int)name, given);
        given += name + (given[name] == '=');
    }
    for (size_t n; *(given += strspn(given, " ")); given += n) {
        n = option_length(given);
        if (is_set(t, given, n))
            continue;
        all = text(args, "%s%s%.*s", all, between, (int)n, given);
        between = " ";
    }
    for (size_t i = 0; i < t->noptions; i++, between = " ")
        all = text(args, "%s%s%s", all, between, t->options[i]);
    return all;
}

/* The file in --output-dir that is made anew; or one without a name. -1 with errno. */
static int open_output(struct tries *r, size_t number, const char *end) {
    if (!r->x->output_dir)
        return memfd_create("compile", MFD_CLOEXEC);
    const char *path = text(&r->x->args, "%s/%zu%s", r->x->output_dir, number, end);
    if (output_check(&r->x->args, path))
        return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    errno = EEXIST;
    return -1;
}

/* What a compiler that failed says of it: the text behind "error:", else its first line. */
static const char *reason_of(struct tries *r) {
    static const char crash[] = "PLEASE submit a bug report"; /* LLVM's lib/Support/PrettyStackTrace.cpp */
    enum { MOST = 1 << 16 };
    char *rest = kept(&r->x->args, MOST + 1), *line;
    const char *first = NULL;
    if (pread(r->err, rest, MOST, 0) < 0)
        return strerror(errno);
    while ((line = strtok_r(rest, "\r\n", &rest))) {
        const char *error = strstr(line, "error: ");
        if (error)
            return error + strlen("error: ");
        line += strspn(line, " \t");
        if (!first && begins(line, crash))
            first =
                r->x->output_dir ? "the compiler crashes" : "the compiler crashes: --output-dir keeps what it prints";
        if (!first && *line && !strstr(line, "warning:"))
            first = line;
    }
    return first ? first : "the compiler fails without a message";
}

static const char *compile(struct tries *r, const struct try_compile *t) {
    struct args *a = &r->x->args;
    char *const argv[] = {text(a, "%s", r->x->compiler), pipeline_of(r, t), text(a, "--mlir-print-debuginfo"),
                          text(a, "%s", a->options.inputs.files[0]), NULL};
    struct process p = {argv, r->out, r->err, r->x->seconds};
    switch (process_run(&p)) {
    case PROCESS_DONE:
        return NULL;
    case PROCESS_NOT_STARTED:
        return text(a, "cannot start %s: %s", r->x->compiler, strerror(errno));
    case PROCESS_LATE:
        return text(a, "not done after %u s", r->x->seconds);
    case PROCESS_FAILED:
        break;
    }
    return reason_of(r);
}

/* An error that keeps the audit from an answer. */
static const char *trouble_of(struct tries *r, const struct fa_audit *a) {
    const struct fa_diagnostics *d = fa_diagnostics(a);
    for (size_t i = 0; i < fa_count(d); i++)
        if (strcmp(fa_diagnostic(d, i).severity, "error") == 0)
            return text(&r->x->args, "%s", fa_diagnostic(d, i).message);
    return "it cannot be audited";
}

static void audit(struct tries *r, size_t i, struct try_compile *t) {
    char ttnn[32];
    const char *files[2] = {r->x->args.options.inputs.files[0], ttnn};
    struct fa_audit_options options = r->x->args.options;
    snprintf(ttnn, sizeof ttnn, "/proc/self/fd/%d", r->out);
    options.inputs.files = files;
    options.inputs.nfiles = 2;
    options.patterns.library = r->library;
    options.inventory = true;
    options.progress = progress_of_call(&r->x->args.progress, text(&r->x->args, "compile %zu of %zu: ", i + 1, r->n));
    struct fa_audit *a = fa_audit(&options);
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
    r->out = open_output(r, i, ".ttnn.mlir");
    r->err = r->out < 0 ? -1 : open_output(r, i, ".log");
    if (r->out < 0 || r->err < 0)
        t.failure = strerror(errno);
    progress_say(&r->x->args.progress, "compile %zu of %zu", i + 1, r->n);
    if (!t.failure)
        t.failure = compile(r, &t);
    if (!t.failure)
        audit(r, i, &t);
    if (r->out >= 0)
        close(r->out);
    if (r->err >= 0)
        close(r->err);
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
    fputs("best:\n  ", out);
    print_word(r->x->compiler, " ", out);
    print_word(pipeline_of(r, best), " --mlir-print-debuginfo ", out);
    print_word(r->x->args.options.inputs.files[0], " -o ", out);
    print_word(name_of_result(r), "\n", out);
}

/* Where the model is no TTIR the compiler is not to blame. */
static enum fa_status say_failure(struct tries *r) {
    struct fa_audit_options options = {.inputs = r->x->args.options.inputs, .patterns.library = r->library};
    options.inputs.levels = FA_TTIR_ONLY;
    options.no_validate = true;
    struct fa_audit *a = fa_audit(&options);
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
    struct tries r = {.x = (struct try_args *)args, .n = 1, .all = {{.needs = ""}}};
    const char *dir = r.x->output_dir;
    if (dir && !output_directory(args, dir))
        return args->refused;
    r.library = fa_library_read(&args->options.patterns, args->options.max_diagnostics);
    enum fa_status status = say_diagnostics(fa_library_diagnostics(r.library), fa_library_status(r.library));
    for (size_t i = 0; i < r.n && !r.all[0].failure && status == FA_CLEAN; i++) {
        try_one(&r, i);
        if (i + 1 == r.n)
            add_together(&r);
    }
    progress_hide(&args->progress);
    if (status == FA_CLEAN)
        status = print_table(&r, out);
    fa_library_free(r.library);
    return status;
}

static bool check(struct args *args) {
    if (!((const struct try_args *)args)->compiler)
        return wrong(args, "try needs --compiler=PROGRAM");
    return strcmp(args->options.inputs.files[0], "-") != 0 || wrong(args, "try takes a file: each compile reads it");
}

#define MEMBER(name) offsetof(struct try_args, name)
static const struct option_row rows[] = {
    {"compiler", 0, TEXT, MEMBER(compiler), "PROGRAM", .help = "the ttmlir-opt to run"},
    {"pipeline", 0, TEXT, MEMBER(pipeline), "OPTIONS",
     .help = "what its pipeline is given, or --NAME=OPTIONS of\n"
             "another one"},
    {"output-dir", 0, TEXT, MEMBER(output_dir), "DIR", .help = "keep what it prints in DIR"},
    {"quiet", 'q', FLAG, MEMBER(args.quiet), NULL, .help = "no progress on standard error"},
    {"seconds", 0, COUNT, MEMBER(seconds), "N", .help = "time for each compile (600)", .least = 1, .most = 1000000},
};
static const struct try_args defaults = {.seconds = 600};

const struct command try_command = {
    .name = "try",
    .help = "compile with the options that findings ask for",
    .usage = "Usage: fusion-audit try [options] --compiler=PROGRAM MODEL.ttir.mlir\n"
             "\n"
             "Compiles the model as it is, with each option of the compiler that its findings\n"
             "ask for, and with all that helped; audits each, and says what it brings and\n"
             "which command line is the best.\n",
    .after = "Exit status: 0; 2 wrong usage or bad pattern; 3 the compile as it is fails, or\n"
             "cannot be audited.\n"
             "\n"
             "Example:\n"
             "  fusion-audit try --compiler=ttmlir-opt --pipeline=optimization-level=0 \\\n"
             "      model.ttir.mlir\n",
    .own = {rows, sizeof rows / sizeof *rows},
    .shared = {&pattern_options, &choice_options, &price_options, &jobs_options},
    .size = sizeof(struct try_args),
    .defaults = &defaults,
    .least = 1,
    .most = 1,
    .takes = "try takes one model, in TTIR",
    .check = check,
    .run = run,
    .prints = true,
};
