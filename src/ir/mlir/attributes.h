/* Attributes as trees, out of their text. */
#ifndef FA_MLIR_ATTRIBUTES_H
#define FA_MLIR_ATTRIBUTES_H

#include "ir/mlir/mlir.h"
#include "ir/ops/attributes.h"

/* What a text says; lists and entries are in the arena, texts are views. */
struct attr mlir_read_attr(struct str key, struct str text, struct arena *a);
/* All attributes of an op, those in its properties first, of equal keys the first. */
struct attrs mlir_read_attrs(const struct mlir *m, uint32_t op, struct arena *a);

#endif
