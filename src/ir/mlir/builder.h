/* Makes functions of straight-line ops in memory, as mlir_parse gives them of text. Types, names and attributes are
 * copied; values are those that the functions here return.
 *
 * build_begin, build_argument for each argument, build_op for each op, build_return, build_end; then the module is like
 * a parsed one, without source, block, aliases and locations. mlir_free ends it at any time. build_function in place of
 * build_begin adds to a parsed module. */
#ifndef FA_MLIR_BUILDER_H
#define FA_MLIR_BUILDER_H

#include "ir/mlir/mlir.h"

void build_begin(struct mlir *m, struct str function);
void build_function(struct mlir *m, struct str function);
/* A tensor; NONE where the element type has no spelling. */
uint32_t build_tensor(struct mlir *m, const int64_t *dims, uint32_t rank, enum dtype element);
/* Of the function, before any op. `attributes`: what stands inside of { }. */
uint32_t build_argument(struct mlir *m, struct str name, uint32_t type, struct str attributes);

struct new_op {
    struct str name;  /* "ttir.add" */
    struct str props; /* inside of <{ }> */
    const uint32_t *operands, *types;
    uint32_t noperands, nresults;
};
/* The id of the op, whose results are mlir_op.first_result and on, named by their number. */
uint32_t build_op(struct mlir *m, const struct new_op *op);
/* An op of one result; the value. */
uint32_t build_value(struct mlir *m, const char *op, struct str props, const uint32_t *operands, uint32_t n,
                     uint32_t type);
uint32_t build_cast(struct mlir *m, uint32_t x, uint32_t type);
void build_return(struct mlir *m, const uint32_t *values, uint32_t n);
void build_end(struct mlir *m);

/* A list as text of an attribute, in the form of another one: "[1 : i32, 2 : i32]", "array<i64: 1, 2>",
 * "#ttnn.shape<1x2>"; one number where that is one. */
struct str ints_like(struct str like, const int64_t *list, uint32_t n, struct arena *a);

#endif
