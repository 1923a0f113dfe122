/* The files that an audit writes: reports in one format or several, baselines, expectations. None may be an input. */
#include "cli/outputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Both exist and are the same regular file. */
static bool same_file(const char *a, const char *b) {
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev &&
           sa.st_ino == sb.st_ino;
}

/* "run.tar:m.mlir" is in run.tar. */
static bool lies_in(const char *input, const char *file) {
    bool same = same_file(file, input);
    for (const char *colon = strchr(input, ':'); !same && colon; colon = strchr(colon + 1, ':')) {
        char *archive = strndup(input, (size_t)(colon - input));
        same = archive && same_file(file, archive);
        free(archive);
    }
    return same;
}

static bool check_output(struct options *o, const char *path) {
    if (path[0] == '\0')
        return wrong(o, "the name of the output file is empty");
    if (strcmp(path, "-") == 0)
        return true;
    for (size_t i = 0; i < o->nfiles; i++)
        if (strcmp(o->files[i], "-") != 0 && lies_in(o->files[i], path))
            return wrong(o, "the output '%s' is also an input", path);
    for (size_t i = 0; i < o->patterns.n; i++)
        if (same_file(path, o->patterns.items[i]))
            return wrong(o, "the output '%s' is also a pattern file", path);
    if (o->suppress && same_file(path, o->suppress))
        return wrong(o, "the output '%s' is also the file of --suppress", path);
    if (o->expect && same_file(path, o->expect))
        return wrong(o, "the output '%s' is also the file of --expect", path);
    return true;
}

static bool add_output(struct options *o, const char *format, const char *path) {
    for (size_t i = 0; i < o->noutputs; i++)
        if (strcmp(o->outputs[i].path, path) == 0)
            return wrong(o, "%s and %s would both go to %s", o->outputs[i].format, format,
                         strcmp(path, "-") == 0 ? "standard output" : path);
    if (o->noutputs == MAX_OUTPUTS)
        return wrong(o, "more than %d formats", MAX_OUTPUTS);
    o->outputs[o->noutputs++] = (struct out_file){format, path};
    return check_output(o, path);
}

/* The name of the format that a text begins with, up to a colon; or NULL. */
static const char *format_of(const char *text) {
    static const char *const names[] = {"yaml", "json", "markdown", "sarif"};
    size_t n = strcspn(text, ":");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(text, names[i], n) == 0 && names[i][n] == '\0')
            return names[i];
    return NULL;
}

/* "json:report.json", "json": where no file is named, that of --output or one of its own. */
static bool add_format(struct options *o, const char *text) {
    const char *colon = strchr(text, ':'), *format = format_of(text), *file = format ? fa_default_file(format) : NULL;
    if (!file)
        return wrong(o, "--format takes yaml, json, markdown or sarif, each with :FILE or without");
    if (colon && o->output_dir)
        return wrong(o, "--output-dir and a file of --format exclude each other");
    return add_output(o, format, colon ? colon + 1 : o->output ? o->output : file);
}

/* Of the two a file each; for several compiles in directories. */
static bool check_written(struct options *o, const char *option, const char *path) {
    for (size_t i = 0; path && i < o->noutputs; i++)
        if (strcmp(o->outputs[i].path, path) == 0)
            return wrong(o, "%s and the report would both go to %s", option, path);
    return !path || check_output(o, path);
}

static bool check_gates(struct options *o) {
    const struct {
        const char *name, *path;
    } files[] = {{"--baseline", o->baseline},
                 {"--write-baseline", o->write_baseline},
                 {"--expect", o->expect},
                 {"--write-expect", o->write_expect},
                 {"--output-dir", o->output_dir}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i].path && !*files[i].path)
            return wrong(o, "the name of the file of %s is empty", files[i].name);
    if (o->strict_baseline && !o->baseline)
        return wrong(o, "--strict-baseline says how --baseline=FILE is read");
    if (o->dry_run && (o->baseline || o->write_baseline))
        return wrong(o, "--dry-run and baselines exclude each other: it counts findings without describing them");
    return check_written(o, "--write-baseline", o->write_baseline) &&
           check_written(o, "--write-expect", o->write_expect);
}

bool outputs_check(struct options *o) {
    if (o->command == CMD_VERIFY && o->precision && o->at)
        return wrong(o, "--precision and --at both print to standard output");
    if (o->command == CMD_VERIFY && o->precision && strcmp(o->output, "-") == 0)
        return wrong(o, "--precision and -o - both print to standard output");
    if (o->command == CMD_VERIFY)
        return check_output(o, o->output);
    bool unused = o->output || !o->formats.n; /* --output, by the formats */
    for (size_t i = 0; i < o->formats.n; i++) {
        if (!add_format(o, o->formats.items[i]))
            return false;
        unused = unused && strchr(o->formats.items[i], ':');
    }
    if (unused && !add_output(o, "yaml", o->output ? o->output : fa_default_file("yaml")))
        return false;
    return check_gates(o);
}
