/* What authors are told of pattern files that are read well, and are or look like a mistake. */
#ifndef FA_LINT_H
#define FA_LINT_H

#include "patterns/library/pattern.h"

/* What is wrong with a file or a directory that the set has read. Errors, after which it is false: fused ops that TTNN
 * does not have. Warnings: patterns and idioms that replace others, {names} in texts and in `fused` that the formula
 * lacks, idioms that no pattern uses. */
bool patterns_check(const struct pattern_set *set, const char *path, struct diags *d);

/* It is this file, or one of this directory. */
bool pattern_file_is_of(const char *file, const char *path);

#endif
