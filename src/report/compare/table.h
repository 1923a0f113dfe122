/* A table over many reports. */
#ifndef FA_TABLE_H
#define FA_TABLE_H

#include <stdio.h>

#include "report/compare/findings.h"

struct table_item {
    const char *name, *page;     /* page: a link to the report as a page; or NULL */
    const struct report *report; /* NULL: there is none any more */
    const struct report *before; /* an earlier one on the same; or NULL */
};

enum table_format { TABLE_TEXT, TABLE_JSON, TABLE_MARKDOWN };

/* Prints a row for each report with findings or changes, then one for each fused op and action over all of them; what
 * saves most first. Nothing where no report has any. With `before` the rows of reports say how many findings are new
 * and gone. Markdown is a comment with a row for each report and the sum above, of MARKDOWN_BYTES at most. */
enum { MARKDOWN_BYTES = 60000 };
bool table_print(const struct table_item *items, size_t n, enum table_format format, FILE *out);

#endif
