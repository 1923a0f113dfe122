/* Makes a module of a subgraph, in other extents: one function of its inputs that returns what no op of the subgraph
 * takes. Its inputs are %a0, %a1, ...
 *
 * A constant is made in f64 as the number that was meant before it was rounded to its element type, and cast to that
 * type: 1/768 stored in bf16 becomes 1/768, and 1/12 where the extent 768 becomes 12 (scale_constant.h). */
#ifndef FA_RESIZE_H
#define FA_RESIZE_H

#include "proof/reduce/payload.h"
#include "proof/reduce/scale_constant.h"
#include "proof/reduce/shrink.h"

struct resize_options {
    bool scaled; /* constants that are functions of an extent are those of the new one */
    /* Constants that are made with their elements, whose extents stay; NULL: they are arguments. */
    const struct payloads *payloads;
};

struct resized {
    struct mlir ir;
    uint32_t *ops;    /* by op of the subgraph: the op that it became */
    uint32_t *inputs; /* by input of the subgraph: the value that it became */
    uint32_t
        *arguments; /* by argument of the module: the input of the subgraph that it is, or is a slice of; or NONE */
};

/* The ids live in `a`. False with a reason where a type, attribute or constant has no equivalent in these extents. To
 * be freed, whatever it returns, by mlir_free(&out->ir). */
bool subgraph_resize(const struct subgraph *s, const struct extents *e, const struct resize_options *how,
                     struct arena *a, struct resized *out, struct reason *why);

#endif
