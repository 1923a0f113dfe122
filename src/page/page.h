/* The page of --format=html: a template, compiled in, around one of the JSON documents (a report, a check, a diff, a
 * table of reports), which it shows by its keys. */
#ifndef FA_PAGE_H
#define FA_PAGE_H

#include <stdio.h>

#include "base/base.h"

extern const char page_head[], page_tail[]; /* made by embed.c */

/* Prints the page around the document that `print` makes. False where that or the stream fails. */
bool page_print(bool (*print)(const void *what, FILE *out), const void *what, FILE *out);

#endif
