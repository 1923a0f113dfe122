/* The command line as a struct. Parsing prints nothing: wrong usage comes back as a message. */
#ifndef FA_CLI_OPTIONS_H
#define FA_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "fusion_audit.h"

enum command { CMD_AUDIT = 1, CMD_INSPECT = 2, CMD_PATTERNS = 4, CMD_EXPLAIN = 8, CMD_LOWER = 16 };

/* Of `patterns`. */
enum action { ACTION_LIST, ACTION_SHOW, ACTION_CHECK, ACTION_TEST, ACTION_NEW };

struct options {
    enum command command;
    bool help, version; /* seen first: nothing after it was looked at */
    bool ttir_only, ttnn_only, no_default_patterns, quiet, verbose, json, dry_run, no_validate, classify, details;
    const char *output, *only, *skip, *sources, *include, *from, *ops, *jobs, *limit, *at, *seed;
    unsigned long seed_number;
    unsigned long max_steps, max_diagnostics, max_places; /* 0: as the library has it */
    unsigned long njobs;                                  /* 0: one for each processor */
    const char **patterns;                                /* npatterns of them and a NULL; freed by options_free */
    size_t npatterns;
    enum action action;
    const char *const *files; /* part of argv */
    size_t nfiles;
    char *names;     /* of patterns, comma-separated: `only` of `patterns`; freed by options_free */
    char error[512]; /* what is wrong with the usage */
};

/* False for wrong usage. Reorders argv as getopt_long does; `o` is to be freed in either case. */
bool options_parse(struct options *o, int argc, char **argv);
void options_free(struct options *o);
/* The same for the library; borrows from `o`. */
struct fa_options options_audit(const struct options *o);

#endif
