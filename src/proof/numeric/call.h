/* One op to be evaluated: its operands, its attributes, and what the text declares of its results.
 *
 * What is asked for here and is not there, or cannot be read, ends the evaluation (eval_attempt). */
#ifndef FA_CALL_H
#define FA_CALL_H

#include "ir/graph/graph.h"
#include "proof/value/tensor.h"

/* An op of a graph, or one that a formula writes. Everything is borrowed. */
struct call {
    enum op_kind kind;
    bool ttnn; /* the dialect, where operands, defaults or attributes differ */
    uint32_t noperands;
    const struct tensor *const *operands; /* by role (ops.def); NULL where absent. As printed where the roles are "*" */
    const enum dtype *operand_types;      /* NULL: all F64, so that nothing is rounded */
    uint32_t nresults;
    const struct shape *shapes;     /* of the results; NULL: they follow from the operands and attributes */
    const enum dtype *types;        /* of the results; NULL: all F64 */
    const struct attrs *attributes; /* NULL: it has none */
};

/* NULL: absent. */
static inline const struct tensor *operand(const struct call *c, uint32_t i) {
    return i < c->noperands ? c->operands[i] : NULL;
}
const struct tensor *operand_needed(struct eval_context *ctx, const struct call *c, uint32_t i);

/* Element type of a result; DT_F64 where none is declared. */
static inline enum dtype result_type(const struct call *c, uint32_t i) {
    return c->types && i < c->nresults ? c->types[i] : DT_F64;
}
/* Shape of a result as the text declares it, or NULL. */
static inline const struct shape *declared_shape(const struct call *c, uint32_t i) {
    return c->shapes && i < c->nresults ? &c->shapes[i] : NULL;
}
/* The tensor in the declared shape where the number of elements is the same (results that the text flattens), else as
 * it is. */
const struct tensor *as_declared(struct eval_context *ctx, const struct call *c, uint32_t result,
                                 const struct tensor *t);

/* The shape of the result by the rule of its class (ir/ops/infer.h). */
struct shape inferred_shape(struct eval_context *ctx, const struct call *c);

/* ---- attributes ---- */

const struct attr *attr_needed(struct eval_context *ctx, const struct call *c, const char *key);
int64_t attr_int(struct eval_context *ctx, const struct call *c, const char *key, int64_t otherwise);
int64_t attr_int_needed(struct eval_context *ctx, const struct call *c, const char *key);
double attr_number(struct eval_context *ctx, const struct call *c, const char *key, double otherwise);
double attr_number_needed(struct eval_context *ctx, const struct call *c, const char *key);
/* True, false, or a number that is 0 or not. */
bool attr_flag(struct eval_context *ctx, const struct call *c, const char *key, bool otherwise);
/* How many whole numbers it has, at most `max`; -1 when it is absent. */
int attr_list(struct eval_context *ctx, const struct call *c, const char *key, int64_t *out, int max);
int attr_list_needed(struct eval_context *ctx, const struct call *c, const char *key, int64_t *out, int max);
/* Index of the word among those of a list up to NULL that the text of an attribute has; 0 when it is absent. */
int attr_word(struct eval_context *ctx, const struct call *c, const char *key, const char *const *words);

/* Number of a dimension in a tensor of this rank; negative ones count from the end. */
uint32_t axis_in(struct eval_context *ctx, const struct call *c, int64_t axis, uint32_t rank);
/* The dimension that an attribute names; `otherwise` when it is absent. */
uint32_t axis_attr(struct eval_context *ctx, const struct call *c, const char *key, int64_t otherwise, uint32_t rank);
/* The dimension of operand 0 that an attribute names; neither may be absent. */
uint32_t axis_needed(struct eval_context *ctx, const struct call *c, const char *key);

#endif
