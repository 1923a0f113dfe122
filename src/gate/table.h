/* A table over many reports. */
#ifndef FA_TABLE_H
#define FA_TABLE_H

#include <stdio.h>

#include "gate/findings.h"

struct table_item {
    const char *name;
    const struct finding_list *findings;
};

/* Prints a row for each report with findings, then one for each fused op over all of them; what saves most first. */
void table_print(const struct table_item *items, size_t n, FILE *out);

#endif
