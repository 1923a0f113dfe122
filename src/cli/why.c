/* try --why: the smallest module of each place, as it is and with one thing changed at a time, through the user's
 * compiler. What makes it fuse is an answer; a module that does not compile is none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/outputs.h"
#include "cli/places.h"
#include "cli/say.h"
#include "cli/try.h"

struct asking {
    struct user_compiler compiler;
    const char *name; /* of it */
    struct place_patterns patterns;
    struct fa_tried *answers;
    size_t n, room, ncompiles, nasked, nfailed;
    size_t nleft;        /* of the ops of the place, by name, those that are there when it is not fused */
    struct model *model; /* NULL: not compiled yet */
};

/* The first of the files as the compiler makes it. */
struct model {
    char *ttnn; /* NULL: it is no TTIR that compiles */
    struct missed {
        const char *fused_op, *lines;
    } * missed;
    size_t n;
};

/* What a compile made of a place; UNSURE: the fused op is there, and so is all that it is made of. */
enum made { FUSED, MISSED, UNSURE, NEITHER, FAILED };

/* ---- the module and what comes out ---- */

static bool write_all(int file, const char *text) {
    for (size_t n = strlen(text); n > 0;) {
        ssize_t k = write(file, text, n);
        if (k < 0)
            return false;
        text += k;
        n -= (size_t)k;
    }
    return true;
}

/* NUL-terminated, to be freed; empty where it cannot be read. */
static char *read_all(int file) {
    off_t size = lseek(file, 0, SEEK_END);
    char *all = calloc(1, (size_t)(size > 0 ? size : 0) + 1);
    if (all && size > 0 && pread(file, all, (size_t)size, 0) != size)
        *all = '\0';
    return all;
}

/* "ttnn.rms_norm" as the name of an op, or of its form for one token, as attention has one. */
static bool has_op(const char *text, const char *op) {
    bool found = false;
    while (!found && (text = strstr(text, op))) {
        text += strlen(op);
        text += begins(text, "_decode") ? strlen("_decode") : 0;
        found = *text == '"' || *text == ' ' || *text == '(';
    }
    return found;
}

/* How many of the different ops of a place, of those that are not the fused one, are in TTNN; NULL: all. */
static size_t ops_left(struct asking *q, const struct fa_finding *f, const char *ttnn) {
    char *rest = text(q->compiler.args, "%s", f->component_ops), *op;
    const char *seen = "";
    size_t n = 0;
    while ((op = strtok_r(rest, "\n", &rest))) {
        const char *name = text(q->compiler.args, "ttnn.%s", begins(op, "ttnn.") || begins(op, "ttir.") ? op + 5 : op);
        const char *word = text(q->compiler.args, "%s ", name);
        if (strstr(seen, word) || strcmp(name, f->fused_op) == 0)
            continue;
        seen = text(q->compiler.args, "%s%s", seen, word);
        n += !ttnn || has_op(ttnn, name);
    }
    return n;
}

static struct fa_patterns patterns_of(struct asking *q, const char *only) {
    return patterns_of_place(q->compiler.args, &q->patterns, only, "ttnn:dialect");
}

static enum made look(struct asking *q, const struct fa_finding *f) {
    char path[32];
    const char *files[1] = {path};
    struct fa_audit_options o = {.patterns = patterns_of(q, f->fused_op),
                                 .inputs = {.files = files, .nfiles = 1, .levels = FA_TTNN_ONLY},
                                 .no_validate = true,
                                 .jobs = q->compiler.args->options.jobs};
    snprintf(path, sizeof path, "/proc/self/fd/%d", q->compiler.out);
    struct fa_audit *a = fa_run_audit(&o);
    enum fa_status status = fa_get_status(a);
    char *ttnn = read_all(q->compiler.out);
    enum made made = NEITHER;
    if (status > FA_MISSED || !ttnn)
        made = FAILED;
    else if (fa_places(a))
        made = MISSED;
    else if (has_op(ttnn, f->fused_op))
        made = ops_left(q, f, ttnn) < q->nleft ? FUSED : UNSURE;
    if (made == MISSED)
        q->nleft = ops_left(q, f, ttnn);
    free(ttnn);
    fa_free(a);
    return made;
}

/* `option`: or empty. Where it fails, *why says so. */
static enum made compile(struct asking *q, const struct fa_finding *f, const char *module, const char *option,
                         const char **why) {
    struct user_compiler *c = &q->compiler;
    size_t number = q->ncompiles++;
    int file = compiler_file(c, number, ".ttir.mlir");
    enum made made = FAILED;
    if (file < 0 || !write_all(file, module)) {
        *why = text(c->args, "%s", strerror(errno));
    } else {
        const char *path = c->output_dir ? text(c->args, "%s/%zu.ttir.mlir", c->output_dir, number)
                                         : text(c->args, "/proc/%ld/fd/%d", (long)getpid(), file);
        *why = compiler_run(c, number, &option, *option ? 1 : 0, path);
        made = *why ? FAILED : look(q, f);
        if (!*why && made == FAILED)
            *why = "what it prints cannot be audited";
        compiler_close(c);
    }
    if (file >= 0)
        close(file);
    return made;
}

/* ---- the model ---- */

static void add_missed(struct args *args, struct fa_audit *a, struct model *m) {
    struct fa_finding f;
    while (fa_get_finding(a, m->n, &f))
        m->n++;
    m->missed = kept(args, (m->n + 1) * sizeof *m->missed);
    for (size_t i = 0; fa_get_finding(a, i, &f); i++)
        m->missed[i] = (struct missed){text(args, "%s", f.fused_op), text(args, "%s", f.ttir_lines)};
}

static struct model *compile_model(struct asking *q) {
    struct user_compiler *c = &q->compiler;
    char out[32];
    const char *files[2] = {c->args->options.inputs.files[0], out};
    struct fa_audit_options o = c->args->options;
    struct model *m = kept(c->args, sizeof *m);
    const char *failure = compiler_run(c, q->ncompiles++, NULL, 0, files[0]);
    *m = (struct model){.n = 0};
    snprintf(out, sizeof out, "/proc/self/fd/%d", c->out);
    o.inputs = (struct fa_inputs){.files = files, .nfiles = 2};
    o.no_validate = true;
    struct fa_audit *a = failure ? NULL : fa_run_audit(&o);
    if (a && fa_get_status(a) <= FA_MISSED) {
        char *ttnn = read_all(c->out);
        m->ttnn = ttnn ? text(c->args, "%s", ttnn) : NULL;
        free(ttnn);
        add_missed(c->args, a, m);
    }
    fa_free(a);
    compiler_close(c);
    return m;
}

/* The next of "3, 5-10, 12". */
static bool next_range(const char **lines, unsigned long range[2]) {
    char *end;
    range[0] = range[1] = strtoul(*lines, &end, 10);
    bool any = end > *lines;
    if (*end == '-')
        range[1] = strtoul(end + 1, &end, 10);
    *lines = end + strspn(end, ", ");
    return any;
}

static bool share_a_line(const char *a, const char *b) {
    unsigned long x[2], y[2];
    bool share = false;
    while (!share && next_range(&a, x))
        for (const char *rest = b; !share && next_range(&rest, y);)
            share = x[0] <= y[1] && y[0] <= x[1];
    return share;
}

enum in_model { KEPT_APART, MADE, NOT_TOLD };

/* What the compiler makes of the place where it stands. */
static enum in_model look_in_model(struct asking *q, const struct fa_finding *f) {
    const struct model *m = q->model = q->model ? q->model : compile_model(q);
    bool there = m->ttnn && has_op(m->ttnn, f->fused_op), missed = false;
    for (size_t i = 0; i < m->n; i++)
        missed |= strcmp(m->missed[i].fused_op, f->fused_op) == 0 && share_a_line(m->missed[i].lines, f->ttir_lines);
    return missed ? KEPT_APART : there ? MADE : NOT_TOLD;
}

/* ---- an answer ---- */

/* With the passes off that would fuse it, it is missed. */
static bool is_missed_without(struct asking *q, const struct fa_finding *f) {
    struct fa_patterns patterns = patterns_of(q, f->pattern);
    struct fa_variants *all = fa_vary(f->ttir_module, &patterns);
    struct fa_variant v;
    const char *why, *yes = "=true";
    bool missed = false;
    for (size_t i = 0; !missed && fa_get_variant(all, i, &v); i++)
        if (ends(v.option, yes)) {
            size_t n = strlen(v.option) - strlen(yes);
            missed =
                compile(q, f, f->ttir_module, text(q->compiler.args, "%.*s=false", (int)n, v.option), &why) == MISSED;
        }
    fa_variants_free(all);
    return missed;
}

static const char *change(struct asking *q, const struct fa_finding *f) {
    enum { MOST = 32 };
    const char *helps[MOST], *fails[MOST], *why;
    size_t n = 0, nfails = 0, tried = 0;
    struct args *args = q->compiler.args;
    struct fa_patterns patterns = patterns_of(q, f->pattern);
    struct fa_variants *all = fa_vary(f->ttir_module, &patterns);
    struct fa_variant v;
    for (size_t i = 0; fa_get_variant(all, i, &v); i++) {
        enum made made = compile(q, f, v.module, v.option, &why);
        tried += made != FAILED;
        if (made == FUSED && n < MOST)
            helps[n++] = text(args, "%s", v.what);
        if (made == FAILED && *v.option && nfails < MOST)
            fails[nfails++] = text(args, "%s", v.option);
    }
    fa_variants_free(all);
    return n        ? text(args, "fuses %s", join(args, helps, n, " or "))
           : !tried ? NULL
                    : text(args, "fuses after none of %zu change%s%s%s", tried, tried == 1 ? "" : "s",
                           nfails ? "; does not compile with " : "", join(args, fails, nfails, " or "));
}

static void keep(struct asking *q, const struct fa_finding *f, const char *answer) {
    if (q->n == q->room) {
        size_t room = 2 * q->room + 16;
        struct fa_tried *more = kept(q->compiler.args, room * sizeof *more);
        if (q->n)
            memcpy(more, q->answers, q->n * sizeof *more);
        q->answers = more;
        q->room = room;
    }
    q->answers[q->n++] = (struct fa_tried){text(q->compiler.args, "%s", f->kind), q->name, answer};
}

/* Of TTNN that was not fused where the compiler does it. */
static const char *told_of_made(struct asking *q, const struct fa_finding *f, const char *where) {
    const char *why = *f->ttnn_lines ? ": what is audited had other options, or another compiler" : "";
    return text(q->compiler.args, "fuses %s%s", where, why);
}

/* NULL with *why: it cannot be told. */
static const char *ask(struct asking *q, const struct fa_finding *f, const char **why) {
    struct args *args = q->compiler.args;
    q->nleft = ops_left(q, f, NULL);
    enum made made = compile(q, f, f->ttir_module, "", why);
    q->nfailed += made == FAILED;
    if (made == UNSURE)
        made = is_missed_without(q, f) ? FUSED : NEITHER;
    enum in_model there = made == FUSED || made == MISSED ? look_in_model(q, f) : NOT_TOLD;
    if (made == FUSED)
        return there == MADE         ? told_of_made(q, f, "alone and in its model")
               : there == KEPT_APART ? "fuses alone: what stands around it in the model keeps it"
                                     : "fuses alone";
    if (made == NEITHER)
        *why = "what the compiler makes of it has neither the fused op nor what it is made of";
    if (made == FAILED && q->compiler.end != PROCESS_FAILED && q->compiler.end != PROCESS_DONE)
        fails(args, FA_INPUT, "%s", *why);
    if (made != MISSED)
        return NULL;
    if (there == MADE)
        return told_of_made(q, f, "in its model, not alone");
    *why = "no change of it compiles";
    return change(q, f);
}

static void answer(struct args *args, const struct fa_finding *f, FILE *out) {
    struct asking *q = ((struct try_args *)args)->asking;
    if (!*f->ttir_module || strcmp(f->source, "ttnn") != 0 || *f->lacks)
        return;
    const char *why = NULL, *told = ask(q, f, &why);
    q->nasked++;
    if (told)
        keep(q, f, told);
    if (args->error)
        return;
    const char *row = text(args, "%s, line%s %s: %s", f->fused_op, strpbrk(f->ttir_lines, "-,") ? "s" : "",
                           f->ttir_lines, told ? told : why);
    fa_print_clean(row, strlen(row), "", out);
    fputc('\n', out);
}

/* ---- what is kept ---- */

const char *tried_file(struct args *args) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/')
        return text(args, "%s/fusion-audit/tried.tsv", cache);
    return home && *home == '/' ? text(args, "%s/.cache/fusion-audit/tried.tsv", home) : NULL;
}

static void keep_answers(const struct asking *q) {
    char message[4352] = "neither XDG_CACHE_HOME nor HOME names a directory";
    const char *path = tried_file(q->compiler.args);
    if (q->n == 0 || (path && fa_keep_tried(path, q->answers, q->n, message, sizeof message)))
        return;
    fputs("fusion-audit: warning: the answers are not kept: ", stderr);
    say_clean(message);
    fputc('\n', stderr);
}

enum fa_status try_why(struct try_args *x, FILE *out) {
    struct args *args = &x->args;
    struct asking *q = kept(args, sizeof *q);
    q->compiler =
        (struct user_compiler){args, x->compiler, x->pipeline, x->output_dir, x->seconds, NULL, -1, -1, PROCESS_DONE};
    if (x->output_dir && !output_directory(args, x->output_dir))
        return args->refused;
    q->name = compiler_name(&q->compiler);
    if (!q->name)
        return args->refused;
    x->asking = q;
    args->lines = true;
    args->options.tried = NULL; /* what was answered before is asked again */
    enum fa_status status = each_place(args, answer, out);
    keep_answers(q);
    fa_library_free(q->patterns.library);
    if (status > FA_MISSED)
        return status;
    if (q->nasked && q->nfailed == q->nasked)
        return fails(args, FA_INPUT, "%s compiles none of them", x->compiler);
    if (!q->nasked)
        fputs("nothing is missed that the compiler could make, and whose TTIR is known\n", out);
    return FA_CLEAN;
}
