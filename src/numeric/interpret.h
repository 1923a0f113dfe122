/* Evaluates one op on tensors.
 *
 * Semantics: the TTIR and TTNN op definitions of tt-mlir (August 2026) and the golden functions of its builder, where
 * the two differ from NumPy. What has no evaluator ends with the reason "no evaluator for X". */
#ifndef FA_INTERPRET_H
#define FA_INTERPRET_H

#include "graph/graph.h"
#include "numeric/tensor.h"

enum { MAX_RESULTS = 4 };

/* One op, wherever it was written: in a graph or in a formula. */
struct call {
    enum op_kind kind;
    bool ttnn; /* the dialect, where operands, defaults or attributes differ */
    uint32_t noperands;
    const struct tensor *const *operands; /* by role (ops.def); NULL where absent. As printed where the roles are "*" */
    const enum dtype *operand_types;      /* NULL: floats without limit */
    uint32_t nresults;
    const struct shape *shapes; /* of the results; NULL: they follow from the operands and attributes */
    const enum dtype *types;    /* of the results; NULL: floats without limit */
    /* Text of an attribute; false when it is absent. */
    bool (*attribute)(const void *self, const char *key, struct str *text);
    const void *self;
};

bool interpretable(enum op_kind k);
/* Results in the arena of the bench; operands may be shared with them. False with a reason in the bench.
 *
 * Constants are what their element type holds, rounded to even, in both kinds of arithmetic. A result whose shape is
 * not the one that is told is an error, except that of a layout change. */
bool interpret(struct bench *b, const struct call *c, const struct tensor *results[MAX_RESULTS]);

#endif
