/* Evaluates a part of a graph: the values asked for, from values that are given. */
#ifndef FA_SUBGRAPH_H
#define FA_SUBGRAPH_H

#include "numeric/interpret.h"

struct given {
    uint32_t value;
    const struct tensor *tensor;
};

/* What is evaluated. Zeroed but for the graph: the text as it is, from constants alone. */
struct program {
    const struct graph *graph;
    const struct given *given; /* leaves: their own ops are not looked at */
    uint32_t ngiven;
    const uint32_t *ops; /* the only ops that may be evaluated, besides constants and calls of const-eval functions */
    uint32_t nops;       /* 0: any op */
    /* For an evaluation in other shapes than the text's; NULL: the text's own. `shape` says false where it does not
     * know one, which then is not checked and follows from the op where it can. */
    bool (*shape)(const void *self, uint32_t value, struct shape *out);
    bool (*attribute)(const void *self, uint32_t op, const char *key, struct str *text);
    const void *self;
};

/* One op of the graph on tensors by role (NULL where absent). */
bool interpret_op(struct bench *b, const struct program *p, uint32_t op, const struct tensor *const *operands,
                  const struct tensor *results[MAX_RESULTS]);
/* The tensors of `n` values, op by op; each op is evaluated once. In DEVICE arithmetic every result is rounded to its
 * element type; what is given is taken as it is. False with a reason that names the op. */
bool interpret_values(struct bench *b, const struct program *p, const uint32_t *values, uint32_t n,
                      const struct tensor **out);

#endif
