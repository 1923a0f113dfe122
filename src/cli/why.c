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
    size_t nleft; /* of the ops of the place, by name, those that are there when it is not fused */
};

/* What a compile made of a place. */
enum made { FUSED, MISSED, NEITHER, FAILED };

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

/* "ttnn.rms_norm" as the name of an op. */
static bool has_op(const char *text, const char *op) {
    bool found = false;
    while (!found && (text = strstr(text, op))) {
        text += strlen(op);
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
    else if (has_op(ttnn, f->fused_op) && ops_left(q, f, ttnn) < q->nleft)
        made = FUSED;
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

/* ---- an answer ---- */

static const char *change(struct asking *q, const struct fa_finding *f) {
    enum { MOST = 32 };
    const char *helps[MOST], *why;
    size_t n = 0, tried = 0;
    struct args *args = q->compiler.args;
    struct fa_patterns patterns = patterns_of(q, f->pattern);
    struct fa_variants *all = fa_vary(f->ttir_module, &patterns);
    struct fa_variant v;
    for (size_t i = 0; fa_get_variant(all, i, &v); i++) {
        progress_say(&args->progress, "%s %s", f->fused_op, v.what);
        enum made made = compile(q, f, v.module, v.option, &why);
        tried += made != FAILED;
        if (made == FUSED && n < MOST)
            helps[n++] = text(args, "%s", v.what);
    }
    fa_variants_free(all);
    return n       ? text(args, "fuses %s", join(args, helps, n, " or "))
           : tried ? text(args, "fuses after none of %zu changes", tried)
                   : NULL;
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

/* NULL with *why: it cannot be told. */
static const char *ask(struct asking *q, const struct fa_finding *f, const char **why) {
    struct args *args = q->compiler.args;
    progress_say(&args->progress, "%s", f->fused_op);
    q->nleft = ops_left(q, f, NULL);
    enum made made = compile(q, f, f->ttir_module, "", why);
    q->nfailed += made == FAILED;
    if (made == FUSED)
        return "fuses alone: what stands around it in the model keeps it";
    if (made == NEITHER)
        *why = "what the compiler makes of it has neither the fused op nor what it is made of";
    if (made == FAILED && q->compiler.end != PROCESS_FAILED && q->compiler.end != PROCESS_DONE)
        fails(args, FA_INPUT, "%s", *why);
    if (made != MISSED)
        return NULL;
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
    progress_hide(&args->progress);
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
        (struct user_compiler){args, x->compiler, x->pipeline, x->output_dir, x->seconds, -1, -1, PROCESS_DONE};
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
