/* The evaluators: one function for each kind of op, or for several that differ little. The table is in interpret.c.
 * Private to the room. */
#ifndef FA_EVALUATORS_H
#define FA_EVALUATORS_H

#include "numeric/interpret.h"

/* Puts the results of an op into `out`, which has room for MAX_RESULTS and is zeroed. False with a reason. */
typedef bool evaluator(struct eval_context *b, const struct call *c, const struct tensor **out);

evaluator evaluate_elementwise, evaluate_clamp, evaluate_where, evaluate_selu, evaluate_leaky_relu, evaluate_gelu_bw,
    evaluate_divide, evaluate_quantize, evaluate_dequantize;
evaluator evaluate_reduction, evaluate_argmax, evaluate_cumulative, evaluate_global_avg_pool;
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

/* ---- shared by evaluators and lowerings ---- */

/* The product of two matrices, exact in every arithmetic (product.c): matmul of NumPy, with the last two dimensions of
 * an operand exchanged first where asked. NULL with a reason. */
const struct tensor *multiply_matrices(struct eval_context *b, const struct tensor *x, bool transpose_x,
                                       const struct tensor *y, bool transpose_y);
/* Kernels of distributed norms take a row of weights as several rows of a tile's width: as one row again, which
 * broadcasts to x (norm.c). NULL stays NULL. */
const struct tensor *weights_as_row(struct eval_context *b, const struct tensor *p, const struct shape *x);
/* Input, mean, variance, and weight and bias or NULL, in whichever order the dialect has them (norm.c). */
bool batch_norm_operands(struct eval_context *b, const struct call *c, const struct tensor *p[5]);

#endif
