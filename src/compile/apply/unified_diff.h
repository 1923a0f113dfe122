#ifndef FA_UNIFIED_DIFF_H
#define FA_UNIFIED_DIFF_H

#include "compile/apply/text_edit.h"

/* The changes as `diff -u` prints them. Empty where there are none. In `a`. */
struct str unified_diff(struct str text, struct text_edits *e, const char *path, struct arena *a);

#endif
