/* What each of many files is called by, whatever is beside it: its path. */
#ifndef FA_NAMES_H
#define FA_NAMES_H

#include "base/base.h"

/* The paths below what all words of the command line have in common, without what says which kind of file one is: of
 * "dumps/a/m.ttnn.mlir" and "dumps" it is "a/m". No two are the same. In the arena. */
const char **names_of(const char *const *paths, size_t n, const char *const *words, size_t nwords, struct arena *a);

#endif
