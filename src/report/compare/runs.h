/* Models over several runs. */
#ifndef FA_RUNS_H
#define FA_RUNS_H

#include <stdio.h>

#include "report/compare/findings.h"

/* A report of one run. */
struct run_item {
    const char *run, *name; /* name: of the model */
    const struct report *report;
};

enum runs_format { RUNS_TEXT, RUNS_CSV, RUNS_JSON };

/* Prints time and findings of each model in each run, and what became worse against the run before in which it was.
 * Items come in the order of their runs. */
bool runs_print(const struct run_item *items, size_t n, enum runs_format format, FILE *out);

#endif
