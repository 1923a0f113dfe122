/* Evaluates values of a graph, from values whose tensors are given. */
#ifndef FA_INTERPRET_GRAPH_H
#define FA_INTERPRET_GRAPH_H

#include "proof/numeric/interpret.h"

struct given {
    uint32_t value;
    const struct tensor *tensor;
};

/* What may be evaluated. Zeroed but for the graph: every op, in the shapes of the text, starting from constants. */
struct program {
    const struct graph *graph;
    const struct given *given; /* the ops that define these values are not evaluated */
    uint32_t ngiven;
    const uint32_t *ops; /* the only ops that may be evaluated, besides constants and calls of const-eval functions */
    uint32_t nops;       /* 0: any op */
    /* For an evaluation in other shapes than those of the text; NULL: in those. Where `shape` returns false the shape
     * of the value is not checked: the op infers it where it can. */
    bool (*shape)(const void *self, uint32_t value, struct shape *out);
    const void *self;
};

/* The shape in which the value is evaluated; false where it is not known before. */
bool program_shape(const struct program *p, uint32_t value, struct shape *s);
/* Its elements are whole numbers, whatever type holds them. */
bool holds_whole(const struct graph *g, uint32_t value);
/* Numbers between floats are not rounded, but whole ones that become integers, or rows of a table, again, or are
 * compared, are: the float type that the op rounds such numbers to; DT_NONE: it does not. */
enum dtype rounds_whole(const struct graph *g, uint32_t op);
/* The tensors of `n` values; each op is evaluated once. In device arithmetic each result is rounded to its element
 * type, given tensors are not. False with a reason in the context that names the op. */
bool interpret_values(struct eval_context *b, const struct program *p, const uint32_t *values, uint32_t n,
                      const struct tensor **out);

#endif
