/* What the evaluators of this room share. Private to the room. */
#ifndef FA_EVALUATORS_H
#define FA_EVALUATORS_H

#include "numeric/interpret.h"

typedef bool evaluator(struct bench *b, const struct call *c, const struct tensor **out);

/* Functions of one and two numbers by operator; NULL for others (elementwise.c). */
typedef double unary_function(double x);
typedef double binary_function(double x, double y);
unary_function *unary_of(enum op_kind k);
binary_function *binary_of(enum op_kind k);
/* The function that an activation is called by ("relu", "gelu"); NULL when there is none. */
unary_function *activation_of(struct str name);

/* ---- attributes ---- (interpret.c) The first group is false with a reason when the text is not of that form; an
 * absent attribute leaves *out as it is. */
bool attr_int(struct bench *b, const struct call *c, const char *key, int64_t *out);
bool attr_number(struct bench *b, const struct call *c, const char *key, double *out);
bool attr_flag(struct bench *b, const struct call *c, const char *key, bool *out);
/* At most `max` whole numbers; *n as it is when absent. */
bool attr_list(struct bench *b, const struct call *c, const char *key, int64_t *out, int max, int *n);
bool attr_text(const struct call *c, const char *key, struct str *out);
/* A number inside the text of an attribute: `key = 12`; false when it is not there. */
bool text_int(struct str text, const char *key, int64_t *out);
/* The same as a reason in the bench when the attribute is absent. */
bool attr_needed(struct bench *b, const struct call *c, const char *key);

/* Dimension number of a tensor of this rank, negative ones from the end. */
bool axis_in(struct bench *b, const struct call *c, int64_t axis, uint32_t rank, uint32_t *out);
/* The dimension that an attribute names; `otherwise` when it is absent. */
bool axis_attr(struct bench *b, const struct call *c, const char *key, int64_t otherwise, uint32_t rank, uint32_t *out);

/* ---- operands and results ---- */
static inline const struct tensor *operand(const struct call *c, uint32_t i) {
    return i < c->noperands ? c->operands[i] : NULL;
}
/* False with a reason unless the first n operands are there. */
static inline bool operands_needed(struct bench *b, const struct call *c, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (!operand(c, i)) {
            bench_fail(b, "%s lacks operand %u", op_table[c->kind].name, i);
            return false;
        }
    return true;
}
/* Type of a result; DT_F64 when it is not told. */
static inline enum dtype result_type(const struct call *c, uint32_t i) {
    return c->types && i < c->nresults ? c->types[i] : DT_F64;
}
/* The told shape of a result, or NULL. */
static inline const struct shape *result_shape(const struct call *c, uint32_t i) {
    return c->shapes && i < c->nresults ? &c->shapes[i] : NULL;
}
/* In the told shape where that has as many elements (flattened forms), else as it is. */
const struct tensor *as_told(struct bench *b, const struct call *c, uint32_t result, const struct tensor *t);

/* `op` evaluated on operands of its own, with no attributes, as a part of another op. */
const struct tensor *apply_unary(struct bench *b, unary_function *f, const struct tensor *x);
const struct tensor *apply_binary(struct bench *b, binary_function *f, const struct tensor *x, const struct tensor *y);
/* The activation that is folded into an op, by any of the ways it is printed; x itself when there is none. */
const struct tensor *apply_activation(struct bench *b, const struct call *c, const struct tensor *x);
/* matmul of NumPy (product.c), with the last two dimensions of an operand exchanged where asked. */
const struct tensor *multiply_matrices(struct bench *b, const struct tensor *x, bool turn_x, const struct tensor *y,
                                       bool turn_y);
/* Some kernels want a row of weights folded into several rows: it as a row of x again (norm.c). NULL stays NULL. */
const struct tensor *unfolded_row(struct bench *b, const struct tensor *p, const struct shape *x);
/* Input, mean, variance, and weight and bias or NULL, in whichever order the dialect has them (norm.c). */
bool batch_norm_operands(struct bench *b, const struct call *c, const struct tensor *p[5]);
/* softmax along a dimension (norm.c); with the maximum subtracted first when `stable`. */
const struct tensor *softmax_along(struct bench *b, const struct tensor *x, uint32_t axis, bool stable);

evaluator evaluate_elementwise, evaluate_clamp, evaluate_where, evaluate_selu, evaluate_leaky_relu, evaluate_gelu_bw,
    evaluate_divide, evaluate_quantize, evaluate_dequantize;
evaluator evaluate_reduction, evaluate_argmax, evaluate_running, evaluate_global_avg_pool;
evaluator evaluate_matmul, evaluate_dot_general;
evaluator evaluate_softmax, evaluate_layer_norm, evaluate_group_norm, evaluate_batch_norm, evaluate_distributed_norm,
    evaluate_dit_norm;
evaluator evaluate_reshape, evaluate_permute, evaluate_transpose, evaluate_broadcast, evaluate_repeat,
    evaluate_repeat_interleave, evaluate_same, evaluate_concat, evaluate_slice, evaluate_slice_dynamic, evaluate_pad,
    evaluate_reverse, evaluate_index, evaluate_index_select;
evaluator evaluate_full, evaluate_zeros, evaluate_ones, evaluate_constant, evaluate_arange, evaluate_dimension_size;
evaluator evaluate_convolution, evaluate_max_pool, evaluate_avg_pool, evaluate_upsample;
evaluator evaluate_embedding, evaluate_gather, evaluate_scatter, evaluate_sort, evaluate_topk;
evaluator evaluate_attention, evaluate_attention_decode, evaluate_rotary, evaluate_rotary_llama;
evaluator evaluate_all_reduce, evaluate_reduce_scatter, evaluate_all_gather, evaluate_mesh_partition,
    evaluate_all_to_all, evaluate_collective_broadcast, evaluate_collective_permute;
evaluator evaluate_concatenate_heads, evaluate_nlp_concat_heads, evaluate_nlp_concat_heads_decode, evaluate_split_heads,
    evaluate_create_heads_decode;

#endif
