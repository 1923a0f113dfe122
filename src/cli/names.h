/* What each of many files is called by, whatever is beside it: its path. */
#ifndef FA_CLI_NAMES_H
#define FA_CLI_NAMES_H

#include "cli/options.h"

/* The paths below what all words of the command line have in common, without what says which kind of file one is: of
 * "dumps/a/m.ttnn.mlir" and "dumps" it is "a/m". No two are the same. */
const char **names_of(struct args *args, const char *const *paths, size_t n);
/* The files below a directory whose names have one of these ends (".yml|.json"), in order. */
const char **files_below(struct args *args, const char *directory, const char *end, size_t *n);
/* The path of one of them below the directory, without what says which kind it is. */
const char *name_below(struct args *args, const char *directory, const char *path);

#endif
