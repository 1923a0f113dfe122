/* The commands `patterns`, with a table of its actions, and `lower`. */
#include "cli/commands.h"

#include "cli/say.h"

static void say_diagnostics(const struct fa_library *l, enum fa_status status) {
    bool usage = false;
    for (size_t i = 0; i < fa_library_diagnostics(l); i++)
        say_diagnostic(fa_library_diagnostic(l, i), &usage);
    say_rest(fa_library_diagnostics_dropped(l), usage && status == FA_USAGE);
}

static enum fa_status test_patterns(const struct options *o, struct fa_library *l, FILE *out) {
    struct fa_test_counts n;
    (void)out;
    enum fa_status status = fa_library_test(l, &n);
    say_diagnostics(l, status);
    if (o->quiet || status == FA_USAGE)
        return status;
    fprintf(stderr, "%zu pattern%s, %zu test%s, %zu failed", n.patterns, n.patterns == 1 ? "" : "s", n.tests,
            n.tests == 1 ? "" : "s", n.failed);
    if (n.without)
        fprintf(stderr, "; %zu without tests", n.without);
    if (n.proved || n.unproved > n.formless)
        fprintf(stderr, "; %zu proved (%zu variations), %zu not evaluated", n.proved, n.varied,
                n.unproved - n.formless);
    else if (n.formless)
        fputs("; 0 proved", stderr);
    if (n.formless)
        fprintf(stderr, ", %zu without a fused form", n.formless);
    fputc('\n', stderr);
    return status;
}

static enum fa_status list_patterns(const struct options *o, struct fa_library *l, FILE *out) {
    (void)o;
    fa_library_list(l, out);
    return FA_CLEAN;
}

static enum fa_status show_patterns(const struct options *o, struct fa_library *l, FILE *out) {
    enum fa_status status = fa_library_show(l, o->files, o->nfiles, out);
    say_diagnostics(l, status);
    return status;
}

static enum fa_status check_patterns(const struct options *o, struct fa_library *l, FILE *out) {
    (void)out;
    enum fa_status status = fa_library_check(l, o->files, o->nfiles);
    say_diagnostics(l, status);
    return status;
}

static enum fa_status new_pattern(const struct options *o, struct fa_library *l, FILE *out) {
    enum fa_status status = fa_library_new(l, o->from, o->ops, options_audit(o).levels, out);
    say_diagnostics(l, status);
    return status;
}

static enum fa_status list_conditions(const struct options *o, struct fa_library *l, FILE *out) {
    (void)o;
    fa_library_conditions(l, out);
    return FA_CLEAN;
}

static enum fa_status (*const actions[])(const struct options *o, struct fa_library *l, FILE *out) = {
    [ACTION_LIST] = list_patterns, [ACTION_SHOW] = show_patterns, [ACTION_CHECK] = check_patterns,
    [ACTION_TEST] = test_patterns, [ACTION_NEW] = new_pattern,    [ACTION_CONDITIONS] = list_conditions,
};

enum fa_status run_patterns(const struct options *o, FILE *out) {
    struct fa_options options = options_audit(o);
    struct fa_library *l = fa_library_read(&options);
    enum fa_status status = fa_library_status(l);
    if (status == FA_CLEAN)
        status = actions[o->action](o, l, out);
    else
        say_diagnostics(l, status);
    fa_library_free(l);
    return status;
}

enum fa_status run_lower(const struct options *o, FILE *out) {
    struct fa_options options = options_audit(o);
    struct fa_library *l = fa_library_read(&options);
    enum fa_status status = fa_library_status(l);
    if (status == FA_CLEAN)
        status = fa_library_lower(l, o->files, o->nfiles, out);
    say_diagnostics(l, status);
    fa_library_free(l);
    return status;
}
