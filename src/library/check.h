/* What is not wrong with a pattern file but looks like a mistake. */
#ifndef FA_PATTERN_CHECK_H
#define FA_PATTERN_CHECK_H

#include "library/pattern.h"

/* Warnings for what was read from a file or a directory, once all of it is there: what it replaces, which names of
 * texts stand for nothing, which idioms nobody uses. */
void patterns_check(const struct pattern_set *set, const char *path, struct diags *d);

#endif
