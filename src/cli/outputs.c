/* The files that an audit writes: reports in one format or several, baselines, expectations. None may be an input. */
#include "cli/outputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/audit.h"

/* Both exist and are the same regular file. */
static bool same_file(const char *a, const char *b) {
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino;
}

/* "run.tar:m.mlir" is in run.tar; "-" may be a file, too. */
static bool lies_in(const char *input, const char *file) {
    bool same = same_file(file, strcmp(input, "-") == 0 ? "/dev/stdin" : input);
    for (const char *colon = strchr(input, ':'); !same && colon; colon = strchr(colon + 1, ':')) {
        char *archive = strndup(input, (size_t)(colon - input));
        same = archive && same_file(file, archive);
        free(archive);
    }
    return same;
}

bool output_check(struct args *args, const char *path) {
    const struct fa_audit_options *o = &args->options;
    if (strcmp(path, "-") == 0)
        return true;
    for (size_t i = 0; i < o->inputs.nfiles; i++)
        if (lies_in(o->inputs.files[i], path))
            return wrong(args, "the output '%s' is also an input", path);
    for (size_t i = 0; i < o->patterns.nfiles; i++)
        if (same_file(path, o->patterns.files[i]))
            return wrong(args, "the output '%s' is also a pattern file", path);
    const char *const others[][2] = {{"--expect", o->expect}, {"--perf", o->perf}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i][1] && same_file(path, others[i][1]))
            return wrong(args, "the output '%s' is also the file of %s", path, others[i][0]);
    return true;
}

bool output_directory(struct args *args, const char *path) {
    int error = fa_make_directory(path);
    if (error)
        fails(args, FA_INPUT, "cannot make %s: %s", path, strerror(error));
    return !error;
}

void output_write(struct args *args, const char *directory, const char *name, const char *content) {
    char message[4352];
    const char *path = text(args, "%s/%s", directory, name);
    if (!args->error && output_check(args, path) &&
        !fa_write_text(content, strlen(content), path, message, sizeof message))
        fails(args, FA_INPUT, "%s", message);
}

static bool add_output(struct audit_args *x, const char *format, const char *path) {
    for (size_t i = 0; i < x->noutputs; i++)
        if (strcmp(x->outputs[i].path, path) == 0)
            return wrong(&x->args, "%s and %s would both go to %s", x->outputs[i].format, format,
                         strcmp(path, "-") == 0 ? "standard output" : path);
    if (x->noutputs == OUTPUTS_MOST)
        return wrong(&x->args, "more than %d formats", OUTPUTS_MOST);
    x->outputs[x->noutputs++] = (struct out_file){format, path};
    return output_check(&x->args, path);
}

/* "json:report.json", "json": where no file is named, that of --output or one of its own. */
static bool add_format(struct audit_args *x, const char *given) {
    const char *colon = strchr(given, ':'), *format = text(&x->args, "%.*s", (int)strcspn(given, ":"), given);
    const char *file = fa_default_file(format);
    if (!file)
        return no_such_word(&x->args, find_option(x->args.command, "format", 6), ", each with :FILE or without");
    if (colon && !colon[1])
        return wrong(&x->args, "--format=%s needs the name of a file", given);
    if (colon && x->output_dir)
        return wrong(&x->args, "--output-dir and a file of --format exclude each other");
    return add_output(x, format, colon ? colon + 1 : x->output ? x->output : file);
}

/* Of the two a file each; for several compiles in directories. */
static bool check_written(struct audit_args *x, const char *option, const char *path) {
    for (size_t i = 0; path && i < x->noutputs; i++)
        if (strcmp(x->outputs[i].path, path) == 0)
            return wrong(&x->args, "%s and the report would both go to %s", option, path);
    return !path || output_check(&x->args, path);
}

bool audit_check(struct args *args) {
    struct audit_args *x = (struct audit_args *)args;
    struct fa_audit_options *o = &args->options;
    bool unused = x->output || (!x->formats.n && !x->time); /* --output, by the formats */
    if (x->output_dir && o->inputs.levels != FA_BOTH_LEVELS)
        return wrong(args, "--output-dir is for compiles with both levels");
    if (x->output_dir && x->output)
        return wrong(args, "--output-dir and --output exclude each other");
    for (size_t i = 0; i < x->formats.n; i++) {
        if (!add_format(x, x->formats.items[i]))
            return false;
        unused = unused && strchr(x->formats.items[i], ':');
    }
    if (x->time && !add_output(x, "time", x->output_dir ? fa_default_file("time") : "-"))
        return false;
    if (unused && !add_output(x, "yaml", x->output ? x->output : fa_default_file("yaml")))
        return false;
    if (o->strict_baseline && !o->baseline)
        return wrong(args, "--strict-baseline says how --baseline=FILE is read");
    o->count_only = x->dry_run && !x->output_dir;
    o->times = x->noutputs > 1 || strcmp(x->outputs[0].format, "yaml") != 0;
    o->inventory = x->write_baseline || x->write_expect;
    return check_written(x, "--write-baseline", x->write_baseline) &&
           check_written(x, "--write-expect", x->write_expect);
}
