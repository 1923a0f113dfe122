/* Runs the examples of a pattern: each is made a module and searched for the pattern alone. */
#ifndef FA_EXAMPLES_H
#define FA_EXAMPLES_H

#include "pattern/pattern.h"

struct example_counts {
    uint32_t run, failed;
};

/* Adds to the counts. What fails is an error at the example's place. */
void examples_run(const struct pattern_set *set, const struct pattern *p, struct diags *d, struct example_counts *out);

#endif
