#include "cli/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/outputs.h"

static const char usual_pipeline[] = "ttir-to-ttnn-backend-pipeline";

/* The end of an option of a pipeline: a blank outside of braces. */
static size_t option_length(const char *options) {
    size_t n = 0;
    for (int depth = 0; options[n] && (depth > 0 || options[n] != ' '); n++)
        depth += (options[n] == '{') - (options[n] == '}');
    return n;
}

static bool is_set(const char *const *options, size_t noptions, const char *option, size_t n) {
    size_t name = strcspn(option, "= ");
    bool set = false;
    for (size_t i = 0; i < noptions && name < n; i++)
        set |= strncmp(options[i], option, name + 1) == 0;
    return set;
}

/* Of `ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>]>` near the begin of a module; without it the compiler takes one
 * device. */
static const char *mesh_of(struct user_compiler *c, const char *file) {
    static const char key[] = ".meshes<[<\"";
    enum { MOST = 1 << 20, DIGITS = 8 };
    char *head = calloc(1, MOST + 1), rows[DIGITS + 1], columns[DIGITS + 1];
    int in = open(file, O_RDONLY | O_CLOEXEC);
    bool read_it = head && in >= 0 && read(in, head, MOST) > 0;
    if (in >= 0)
        close(in);
    const char *at = read_it ? strstr(head, key) : NULL, *shape = at ? strstr(at, "\" = ") : NULL;
    bool two = shape && sscanf(shape, "\" = %8[0-9]x%8[0-9]>", rows, columns) == 2;
    bool one = two && strcmp(rows, "1") == 0 && strcmp(columns, "1") == 0;
    free(head);
    return two && !one ? text(c->args, "mesh-shape=%s,%s", rows, columns) : NULL;
}

/* "--ttir-to-ttnn-backend-pipeline=a=b c=d" */
char *compiler_pipeline(const struct user_compiler *c, const char *const *options, size_t noptions) {
    struct args *args = c->args;
    const char *given = c->pipeline ? c->pipeline : "", *between = "=";
    bool says_mesh = strstr(given, "mesh-shape=") != NULL;
    char *all = text(args, "--%s", usual_pipeline);
    if (begins(given, "--")) {
        size_t name = strcspn(given, "=");
        all = text(args, "%.*s", (int)name, given);
        given += name + (given[name] == '=');
    }
    for (size_t n; *(given += strspn(given, " ")); given += n) {
        n = option_length(given);
        if (is_set(options, noptions, given, n))
            continue;
        all = text(args, "%s%s%.*s", all, between, (int)n, given);
        between = " ";
    }
    for (size_t i = 0; i < noptions; i++, between = " ")
        all = text(args, "%s%s%s", all, between, options[i]);
    return c->mesh && !says_mesh ? text(args, "%s%s%s", all, between, c->mesh) : all;
}

int compiler_file(struct user_compiler *c, size_t number, const char *end) {
    if (!c->output_dir)
        return memfd_create("compile", MFD_CLOEXEC);
    const char *path = text(c->args, "%s/%zu%s", c->output_dir, number, end);
    if (output_check(c->args, path))
        return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    errno = EEXIST;
    return -1;
}

/* What a compiler that failed says of it: the text behind "error:", else its first line. */
static const char *reason_of(struct user_compiler *c) {
    static const char crash[] = "PLEASE submit a bug report"; /* LLVM's lib/Support/PrettyStackTrace.cpp */
    enum { MOST = 1 << 16 };
    char *rest = kept(c->args, MOST + 1), *line;
    const char *first = NULL;
    if (pread(c->err, rest, MOST, 0) < 0)
        return strerror(errno);
    while ((line = strtok_r(rest, "\r\n", &rest))) {
        const char *error = strstr(line, "error: ");
        if (error)
            return error + strlen("error: ");
        line += strspn(line, " \t");
        if (!first && begins(line, crash))
            first = c->output_dir ? "the compiler crashes" : "the compiler crashes: --output-dir keeps what it prints";
        if (!first && *line && !strstr(line, "warning:"))
            first = line;
    }
    return first ? first : "the compiler fails without a message";
}

const char *compiler_run(struct user_compiler *c, size_t number, const char *const *options, size_t n,
                         const char *file) {
    struct args *a = c->args;
    c->mesh = mesh_of(c, file);
    char *const argv[] = {text(a, "%s", c->program), compiler_pipeline(c, options, n),
                          text(a, "--mlir-print-debuginfo"), text(a, "%s", file), NULL};
    c->out = compiler_file(c, number, ".ttnn.mlir");
    c->err = c->out < 0 ? -1 : compiler_file(c, number, ".log");
    c->end = PROCESS_NOT_STARTED;
    if (c->out < 0 || c->err < 0)
        return text(a, "%s", strerror(errno));
    struct process p = {argv, c->out, c->err, c->seconds};
    c->end = process_run(&p);
    switch (c->end) {
    case PROCESS_DONE:
        return NULL;
    case PROCESS_NOT_STARTED:
        return text(a, "cannot start %s: %s", c->program, strerror(errno));
    case PROCESS_LATE:
        return text(a, "not done after %u s", c->seconds);
    case PROCESS_FAILED:
        break;
    }
    return reason_of(c);
}

void compiler_close(struct user_compiler *c) {
    if (c->out >= 0)
        close(c->out);
    if (c->err >= 0)
        close(c->err);
    c->out = c->err = -1;
}

/* The first line that speaks of a version: "LLVM version 22.0.0git". */
static const char *version_line(struct user_compiler *c, int out) {
    enum { MOST = 1 << 14, SHOWN = 200 };
    char *rest = kept(c->args, MOST + 1), *line;
    if (pread(out, rest, MOST, 0) < 0)
        return "of a version that it does not tell";
    while ((line = strtok_r(rest, "\r\n", &rest)))
        if (strstr(line, "version") && strlen(line) < SHOWN)
            return line + strspn(line, " \t");
    return "of a version that it does not tell";
}

const char *compiler_name(struct user_compiler *c) {
    enum { SECONDS = 60 };
    const char *slash = strrchr(c->program, '/');
    char *const argv[] = {text(c->args, "%s", c->program), text(c->args, "--version"), NULL};
    int out = memfd_create("version", MFD_CLOEXEC);
    struct process p = {argv, out, out, c->seconds < SECONDS ? c->seconds : SECONDS};
    const char *name = NULL;
    if (out < 0 || process_run(&p) == PROCESS_NOT_STARTED)
        fails(c->args, FA_INPUT, "cannot start %s: %s", c->program, strerror(errno));
    else
        name = text(c->args, "%s, %s", slash ? slash + 1 : c->program, version_line(c, out));
    if (out >= 0)
        close(out);
    return name;
}
