/* Texts of a report that are made of lines. */
#ifndef FA_REPORT_LINES_H
#define FA_REPORT_LINES_H

#include "base/base.h"

/* Takes the next of lines of `key: value`; false at their end. */
bool next_pair(struct str *lines, struct str *key, struct str *value);
/* What stands behind `key` in the notes; empty: there is no such line. */
struct str notes_line(struct str notes, const char *key);

#endif
