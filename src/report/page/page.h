/* The page of --format=html: a template, compiled in, around one of the JSON documents (a report, a check, a diff, a
 * table of reports), which it shows by its keys. */
#ifndef FA_PAGE_H
#define FA_PAGE_H

#include <stdio.h>

#include "base/base.h"

/* Where a JSON document is to be printed: `out` for "json", into a page there for "html"; NULL for another format. */
FILE *document_begin(const char *format, FILE *out);
/* Ends it. False: the stream failed. */
bool document_end(FILE *document, FILE *out);

#endif
