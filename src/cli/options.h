/* The command line as a struct. Parsing prints nothing: wrong usage is a message in the struct. */
#ifndef FA_CLI_OPTIONS_H
#define FA_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "fusion_audit.h"

enum command {
    CMD_AUDIT = 1,
    CMD_INSPECT = 2,
    CMD_PATTERNS = 4,
    CMD_EXPLAIN = 8,
    CMD_LOWER = 16,
    CMD_COMPLETION = 32,
    CMD_VERIFY = 64,
    CMD_DIFF = 128,
    CMD_SUMMARY = 256
};

/* The first word after `patterns`. */
enum action { ACTION_LIST, ACTION_SHOW, ACTION_CHECK, ACTION_TEST, ACTION_NEW, ACTION_CONDITIONS };

struct word_list {
    const char **items;
    size_t n;
};

/* A file of this run. */
struct out_file {
    const char *format; /* as fa_write_report takes it */
    const char *path;   /* or "-" */
};

enum { MAX_OUTPUTS = 8 };

struct options {
    enum command command;
    bool help, version; /* given; nothing after it was parsed */
    bool ttir_only, ttnn_only, unpaired, no_default_patterns, quiet, verbose, json, dry_run, no_validate, classify,
        details, precision;
    const char *output, *only, *skip, *sources, *include, *device, *perf, *suppress, *sort, *from, *ops, *jobs, *limit,
        *at, *seed, *min_compared;
    unsigned long seed_number;
    double least_compared;                                           /* of min_compared */
    unsigned long max_steps, max_diagnostics, max_places, max_input; /* 0: the default of the library */
    unsigned long njobs;                                             /* 0: one for each processor */
    struct word_list patterns, formats;                              /* items freed by options_free */
    struct out_file outputs[MAX_OUTPUTS];                            /* the reports that are written */
    size_t noutputs;
    const char *baseline, *write_baseline, *expect, *write_expect, *output_dir;
    bool strict, strict_baseline;
    enum action action;       /* of CMD_PATTERNS */
    const char *const *files; /* part of argv */
    size_t nfiles;
    char *names;     /* what `only` points to where `patterns` was followed by names; freed by options_free */
    char error[512]; /* of options_parse */
};

/* Sets o->error; false. */
bool wrong(struct options *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* False with o->error for wrong usage. Reorders argv as getopt_long does; `o` is to be freed in either case. */
bool options_parse(struct options *o, int argc, char **argv);
void options_free(struct options *o);
/* Options of the library, which borrow from `o`. */
struct fa_options options_audit(const struct options *o);

#endif
