/* The audit: of one compile, or of each of many. */
#ifndef FA_CLI_AUDIT_H
#define FA_CLI_AUDIT_H

#include "cli/options.h"

/* A report of this run. */
struct out_file {
    const char *format; /* as fa_write_report takes it */
    const char *path;   /* or "-" */
};

enum { OUTPUTS_MOST = 8 };

struct audit_args {
    struct args args;
    const char *output, *output_dir, *write_baseline, *write_expect;
    struct word_list formats;
    bool dry_run, verbose, time;
    struct out_file outputs[OUTPUTS_MOST]; /* what --output and --format say together */
    size_t noutputs;
};

/* Fills `outputs`. False with the error. */
bool audit_check(struct args *args);
/* Says what an audit found, and writes its files. `name`: of one of several; or NULL. */
enum fa_status audit_finish(struct fa_audit *a, const struct audit_args *x, const char *name);
/* More files than one compile has, or directories, or an --output-dir. */
bool audit_is_many(const struct audit_args *x);
/* Of each compile in files, directories and archives; prints a table of them. */
enum fa_status audit_many(struct audit_args *x, FILE *out);

#endif
