/* The files beside those of patterns. Private to the folder. */
#ifndef FA_REWRITE_FILES_H
#define FA_REWRITE_FILES_H

#include "author/examples.h"
#include "rewrite/rewrite.h"

extern const char FusionMatch[], FusionForm[]; /* FusionMatch.h, FusionForm.h */

/* FusionPasses.cpp, CMakeLists.txt and README.md of these patterns. */
struct str files_passes(const struct pattern *const *list, uint32_t n, struct arena *a);
struct str files_cmake(const struct pattern *const *list, uint32_t n, struct arena *a);
struct str files_readme(const struct pattern *const *list, uint32_t n, struct arena *a);
/* NAME.mlir: the examples of TTIR, each a module with RUN and CHECK lines for FileCheck. */
struct str files_test(const struct pattern *p, struct arena *a);
/* The argument of the pass: "fuse-rms-norm". */
struct str files_argument(const struct pattern *p, struct arena *a);

#endif
