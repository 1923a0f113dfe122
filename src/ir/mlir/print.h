/* What a built module (builder.h) says, for machines and for people. */
#ifndef FA_MLIR_PRINT_H
#define FA_MLIR_PRINT_H

#include "ir/mlir/mlir.h"

/* Bytes, in `a`, that are equal for modules that differ in names of values only: the key of what is remembered of a
 * module. */
struct str mlir_key(const struct mlir *m, struct arena *a);
/* "%5", "%5#1" of an op with several results. */
struct str mlir_value_text(const struct mlir *m, uint32_t value, struct arena *a);
/* Text that MLIR reads. `locations`: what stands inside of loc( ) of each op, or empty; NULL: no op has one. */
void mlir_print(const struct mlir *m, const struct str *locations, struct buf *out);
/* One of its functions, by another name. */
void mlir_print_func(const struct mlir *m, uint32_t func, struct str name, const struct str *locations,
                     struct buf *out);

#endif
