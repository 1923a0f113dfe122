/* The files beside those of patterns. Private to the folder. */
#ifndef FA_REWRITE_FILES_H
#define FA_REWRITE_FILES_H

#include "authoring/examples.h"
#include "compile/rewrite/rewrite.h"

/* A file of all patterns: a template that is filled with them. */
struct str files_of_all(const char *name, const struct pattern *const *list, uint32_t n, struct arena *a);
/* NAME.mlir: the examples of TTIR, each a module with RUN and CHECK lines for FileCheck. */
struct str files_test(const struct pattern_set *set, const struct pattern *p, bool pdll, struct arena *a);

/* operands.c: of each example "(%arg0, %arg1" that the fused op begins with, ")" where that is all; empty: not known;
 * no text at all: it is no test of a pass. */
void operands_of_examples(const struct pattern_set *set, const struct pattern *p, const struct formula *fused,
                          enum op_kind op, struct arena *a, struct str *out);

#endif
