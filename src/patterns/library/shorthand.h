/* IR in short: what examples and tests are written in, expanded to generic MLIR.
 *
 *   p = matmul x:32x64 w:64x128 -> 32x128       %p = "ttir.matmul"(%x, %w) <{…}> : (tensor<32x64xbf16>, …) -> …
 *   o = ttnn.add p b:128 {k = 1 : i32} @mlp      names without '%'; a type where a value is first met
 *   q = multiply o 0.5:1x1                       a literal is a constant op of its own, here of that type
 *   return q
 *   func main x:32x64 w:64x128!parameter!mlp.weight    begins a function; kind and name of an argument may follow
 *
 * One line each, or between ';'; "#" begins a comment. An op is a spelling of a dialect or an operator of the table,
 * which `dialect` spells. Attributes that the table has defaults for (ops.def, `attributes`) are printed as the
 * compiler prints them; values may leave out what the table says of them: {dim = -1}, {permutation = [1, 0]}. A result
 * without a type has that of its operands, broadcast, or what a reduction, product, slice or permute makes of them.
 * Lines stay lines, so that places in the expansion are places in the text. */
#ifndef FA_SHORTHAND_H
#define FA_SHORTHAND_H

#include "ir/graph/graph.h"

struct shorthand_error {
    size_t at; /* byte of the text */
    struct str message;
};

/* Whether the text is generic MLIR already: its first op has its name in quotes or it is a whole function. */
bool shorthand_is_mlir(struct str text);
/* The ops as MLIR in `a`, in functions where the text has any. `dialect`: "ttir" or "ttnn". `element`: the element type
 * where none is written. False with an error. */
bool shorthand_expand(struct str text, const char *dialect, const char *element, struct arena *a, struct str *out,
                      struct shorthand_error *error);

#endif
