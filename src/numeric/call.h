/* One op to be evaluated: its operands, its attributes, and what the text declares of its results. */
#ifndef FA_CALL_H
#define FA_CALL_H

#include "graph/graph.h"
#include "numeric/tensor.h"

/* An op of a graph, or one that a formula writes. Everything is borrowed. */
struct call {
    enum op_kind kind;
    bool ttnn; /* the dialect, where operands, defaults or attributes differ */
    uint32_t noperands;
    const struct tensor *const *operands; /* by role (ops.def); NULL where absent. As printed where the roles are "*" */
    const enum dtype *operand_types;      /* NULL: all F64, so that nothing is rounded */
    uint32_t nresults;
    const struct shape *shapes; /* of the results; NULL: they follow from the operands and attributes */
    const enum dtype *types;    /* of the results; NULL: all F64 */
    /* Text of an attribute; false when it is absent. */
    bool (*attribute)(const void *self, const char *key, struct str *text);
    const void *self;
};

/* NULL: absent. Evaluators ask operands_needed first, through which gcc 12's -fanalyzer does not see: what it says of
 * NULL operands is refuted by that. */
static inline const struct tensor *operand(const struct call *c, uint32_t i) {
    return i < c->noperands ? c->operands[i] : NULL;
}
/* False with a reason unless the first n operands are there. */
bool operands_needed(struct eval_context *b, const struct call *c, uint32_t n);

/* Element type of a result; DT_F64 where none is declared. */
static inline enum dtype result_type(const struct call *c, uint32_t i) {
    return c->types && i < c->nresults ? c->types[i] : DT_F64;
}
/* Shape of a result as the text declares it, or NULL. */
static inline const struct shape *declared_shape(const struct call *c, uint32_t i) {
    return c->shapes && i < c->nresults ? &c->shapes[i] : NULL;
}
/* The tensor in the declared shape where the number of elements is the same (results that the text flattens), else as
 * it is. NULL stays NULL. */
const struct tensor *as_declared(struct eval_context *b, const struct call *c, uint32_t result, const struct tensor *t);

/* ---- attributes ---- An absent attribute leaves *out as it is and is no failure, except for *_needed. False with a
 * reason in the context where the text cannot be read. */
bool attr_int(struct eval_context *b, const struct call *c, const char *key, int64_t *out);
bool attr_int_needed(struct eval_context *b, const struct call *c, const char *key, int64_t *out);
bool attr_number(struct eval_context *b, const struct call *c, const char *key, double *out);
/* True, false, or a number that is 0 or not; a unit attribute, which has no text, is true. */
bool attr_flag(struct eval_context *b, const struct call *c, const char *key, bool *out);
/* At most `max` whole numbers. */
bool attr_list(struct eval_context *b, const struct call *c, const char *key, int64_t *out, int max, int *n);
bool attr_list_needed(struct eval_context *b, const struct call *c, const char *key, int64_t *out, int max, int *n);
/* False with a reason in the context when the attribute is absent. */
bool attr_needed(struct eval_context *b, const struct call *c, const char *key);
/* False when it is absent, without a reason. */
bool attr_text(const struct call *c, const char *key, struct str *out);
/* Index of the word among those of a list up to NULL that the text of an attribute has; 0 when it is absent. False with
 * a reason where it has none of them. */
bool attr_word(struct eval_context *b, const struct call *c, const char *key, const char *const *words, int *out);
/* The number in "key = 12" inside the text of an attribute; false when there is none. */
bool text_int(struct str text, const char *key, int64_t *out);

/* Number of a dimension in a tensor of this rank; negative ones count from the end. */
bool axis_in(struct eval_context *b, const struct call *c, int64_t axis, uint32_t rank, uint32_t *out);
/* The dimension that an attribute names; `otherwise` when it is absent. */
bool axis_attr(struct eval_context *b, const struct call *c, const char *key, int64_t otherwise, uint32_t rank,
               uint32_t *out);
/* The dimension of operand 0 that an attribute names; neither may be absent. */
bool axis_needed(struct eval_context *b, const struct call *c, const char *key, uint32_t *out);

#endif
