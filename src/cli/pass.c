/* Each different finding as a rewrite pattern of the compiler, with its test. */
#include <stdarg.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/outputs.h"
#include "cli/places.h"
#include "cli/say.h"

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

struct pass_args {
    struct args args;
    const char *dir;
    struct place_patterns patterns;
    struct written_passes all;
    size_t places, left; /* of the places those without a pass */
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
    const char *has = text(args, "The compiler has %s%s%s%s for this fusion", pattern, *f->source_file ? " (" : "",
                           f->source_file, *f->source_file ? ")" : "");
    if (strcmp(f->action_kind, "write") == 0)
        return text(args, "%s, which does not take these ops.", has);
    return text(args, "%s, and here: %s. `fusion-audit try` says what it makes of the model with other options.", has,
                f->todo);
}

/* "a, b" of lines. */
static const char *in_one_line(struct args *args, const char *lines) {
    const char *all = "";
    for (const char *at = lines; *at; at += strspn(at, "\n")) {
        int n = (int)strcspn(at, "\n");
        all = text(args, "%s%s%.*s", all, *all ? ", " : "", n, at);
        at += n;
    }
    return all;
}

static void write_files(struct pass_args *x, const struct fa_finding *f, const struct fa_pass *p, const char *says,
                        FILE *out) {
    if (x->dir) {
        output_write(&x->args, x->dir, text(&x->args, "%s.cpp", fa_pass_class(p)), fa_pass_code(p));
        output_write(&x->args, x->dir, fa_pass_test_file(p), fa_pass_test(p));
        fprintf(out, "%s.cpp, %s: %s\n", fa_pass_class(p), fa_pass_test_file(p), f->fused_op);
    } else
        fprintf(out, "%s\n%s", fa_pass_code(p), fa_pass_test(p));
    if (says)
        note(&x->args, "%s: %s", fa_pass_class(p), says);
    if (*fa_pass_note(p))
        note(&x->args, "%s: %s", fa_pass_class(p), fa_pass_note(p));
}

static void write_pass(struct args *args, const struct fa_finding *f, FILE *out) {
    struct pass_args *x = (struct pass_args *)args;
    const char *says = made_by(args, f);
    struct fa_pass_options o = {.writing =
                                    writing_options(args, patterns_of_place(args, &x->patterns, f->pattern, NULL)),
                                .module = *f->ttir_module ? f->ttir_module : f->ttnn_module,
                                .says = says,
                                .pass = strncmp(f->pass, "ttir-", 5) == 0 ? f->pass : NULL,
                                .number = 1};
    struct fa_pass *p = fa_make_pass(&o);
    const char *left = fa_pass_left(p);
    if (left)
        note(args, "%s (%s): %s; in place of %s", f->fused_op, f->pattern, left, in_one_line(args, f->component_ops));
    else
        o.number = number_of(&x->all, f->pattern, text(args, "%s", fa_pass_code(p)));
    if (!left && o.number > 1) {
        fa_pass_free(p);
        p = fa_make_pass(&o);
    }
    if (!left && o.number)
        write_files(x, f, p, says, out);
    fa_pass_free(p);
    x->places++;
    x->left += left != NULL;
}

static enum fa_status run(struct args *args, FILE *out) {
    struct pass_args *x = (struct pass_args *)args;
    if (x->dir && !output_directory(args, x->dir))
        return args->refused;
    enum fa_status status = each_place(args, write_pass, out);
    fa_library_free(x->patterns.library);
    return status > FA_MISSED ? status : x->places && x->left == x->places ? FA_MISSED : FA_CLEAN;
}

#define MEMBER(name) offsetof(struct pass_args, name)
static const struct option_row rows[] = {
    {"output", 'o', TEXT, MEMBER(dir), "DIR", .help = "write the files into DIR, which is made"},
    {"quiet", 'q', FLAG, MEMBER(args.quiet), NULL, .help = "do not say what makes the fusion already"},
};
static const struct pass_args defaults = {.args = {.assume = "all"}};

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
    .shared = {&fused_options, &level_options, &pattern_options, &choice_options, &price_options, &jobs_options},
    .size = sizeof(struct pass_args),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .takes = "no input file",
    .run = run,
    .prints = true,
};
