/* One op on tensors: finds its evaluator, checks the shape of what comes out and rounds it as it is stored. */
#include "numeric/evaluators.h"
#include "numeric/scalar.h"

static evaluator *const evaluators[K_COUNT] = {
    [K_MATMUL] = evaluate_matmul,
    [K_LINEAR] = evaluate_matmul,
    [K_DOT_GENERAL] = evaluate_dot_general,
    [K_DIVIDE] = evaluate_divide,
    [K_WHERE] = evaluate_where,
    [K_CLAMP] = evaluate_clamp,
    [K_LEAKY_RELU] = evaluate_leaky_relu,
    [K_SELU] = evaluate_selu,
    [K_GELU_BW] = evaluate_gelu_bw,
    [K_SUM] = evaluate_reduction,
    [K_MEAN] = evaluate_reduction,
    [K_MAX] = evaluate_reduction,
    [K_MIN] = evaluate_reduction,
    [K_PROD] = evaluate_reduction,
    [K_REDUCE_OR] = evaluate_reduction,
    [K_REDUCE_AND] = evaluate_reduction,
    [K_ARGMAX] = evaluate_argmax,
    [K_CUMSUM] = evaluate_cumulative,
    [K_CUMPROD] = evaluate_cumulative,
    [K_MOREH_CUMSUM] = evaluate_cumulative,
    [K_SOFTMAX] = evaluate_softmax,
    [K_LAYER_NORM] = evaluate_layer_norm,
    [K_RMS_NORM] = evaluate_layer_norm,
    [K_DISTRIBUTED_LAYER_NORM] = evaluate_distributed_norm,
    [K_DISTRIBUTED_RMS_NORM] = evaluate_distributed_norm,
    [K_DIT_RMS_NORM_UNARY_FUSED] = evaluate_dit_norm,
    [K_GROUP_NORM] = evaluate_group_norm,
    [K_BATCH_NORM_INFERENCE] = evaluate_batch_norm,
    [K_RESHAPE] = evaluate_reshape,
    [K_PERMUTE] = evaluate_permute,
    [K_TRANSPOSE] = evaluate_transpose,
    [K_BROADCAST] = evaluate_broadcast,
    [K_REPEAT] = evaluate_repeat,
    [K_REPEAT_INTERLEAVE] = evaluate_repeat_interleave,
    [K_QUANTIZE] = evaluate_quantize,
    [K_QUANTIZE_UNROLLED] = evaluate_quantize,
    [K_DEQUANTIZE] = evaluate_dequantize,
    [K_DEQUANTIZE_UNROLLED] = evaluate_dequantize,
    [K_TYPECAST] = evaluate_same,
    [K_TO_LAYOUT] = evaluate_same,
    [K_TO_MEMORY_CONFIG] = evaluate_same,
    [K_TO_DEVICE] = evaluate_same,
    [K_PREPARE_CONV2D_WEIGHTS] = evaluate_same,
    [K_PREPARE_CONV2D_BIAS] = evaluate_same,
    [K_PREPARE_CONV3D_WEIGHTS] = evaluate_same,
    [K_PREPARE_CONV_TRANSPOSE2D_WEIGHTS] = evaluate_same,
    [K_PREPARE_CONV_TRANSPOSE2D_BIAS] = evaluate_same,
    [K_FULL] = evaluate_full,
    [K_ZEROS] = evaluate_zeros,
    [K_ONES] = evaluate_ones,
    [K_CONSTANT] = evaluate_constant,
    [K_ARANGE] = evaluate_arange,
    [K_GET_DIMENSION_SIZE] = evaluate_dimension_size,
    [K_CONCAT] = evaluate_concat,
    [K_SLICE] = evaluate_slice,
    [K_SLICE_DYNAMIC] = evaluate_slice_dynamic,
    [K_PAD] = evaluate_pad,
    [K_REVERSE] = evaluate_reverse,
    [K_INDEX] = evaluate_index,
    [K_INDEX_SELECT] = evaluate_index_select,
    [K_SELECT] = evaluate_index_select,
    [K_EMBEDDING] = evaluate_embedding,
    [K_GATHER] = evaluate_gather,
    [K_SCATTER] = evaluate_scatter,
    [K_SCATTER_IN_DIM] = evaluate_scatter,
    [K_SORT] = evaluate_sort,
    [K_TOPK] = evaluate_topk,
    [K_CONV1D] = evaluate_convolution,
    [K_CONV2D] = evaluate_convolution,
    [K_CONV3D] = evaluate_convolution,
    [K_CONV_TRANSPOSE2D] = evaluate_convolution,
    [K_MAX_POOL2D] = evaluate_max_pool,
    [K_MAX_POOL2D_WITH_INDICES] = evaluate_max_pool,
    [K_AVG_POOL2D] = evaluate_avg_pool,
    [K_GLOBAL_AVG_POOL2D] = evaluate_global_avg_pool,
    [K_UPSAMPLE] = evaluate_upsample,
    [K_UPSAMPLE2D] = evaluate_upsample,
    [K_ALL_REDUCE] = evaluate_all_reduce,
    [K_ALL_REDUCE_ASYNC] = evaluate_all_reduce,
    [K_REDUCE_SCATTER] = evaluate_reduce_scatter,
    [K_ALL_GATHER] = evaluate_all_gather,
    [K_MESH_PARTITION] = evaluate_mesh_partition,
    [K_ALL_TO_ALL] = evaluate_all_to_all,
    [K_COLLECTIVE_BROADCAST] = evaluate_collective_broadcast,
    [K_COLLECTIVE_PERMUTE] = evaluate_collective_permute,
    [K_SDPA] = evaluate_attention,
    [K_SDPA_DECODE] = evaluate_attention_decode,
    [K_ROTARY_EMBEDDING] = evaluate_rotary,
    [K_ROTARY_EMBEDDING_LLAMA] = evaluate_rotary_llama,
    [K_CONCATENATE_HEADS] = evaluate_concatenate_heads,
    [K_NLP_CONCAT_HEADS] = evaluate_nlp_concat_heads,
    [K_NLP_CONCAT_HEADS_DECODE] = evaluate_nlp_concat_heads_decode,
    [K_SPLIT_QUERY_KEY_VALUE_AND_SPLIT_HEADS] = evaluate_split_heads,
    [K_NLP_CREATE_QKV_HEADS_DECODE] = evaluate_create_heads_decode,
};

static evaluator *evaluator_of(enum op_kind k) {
    return evaluators[k] ? evaluators[k] : unary_of(k) || binary_of(k) ? evaluate_elementwise : NULL;
}

bool interpretable(enum op_kind k) {
    return evaluator_of(k) != NULL;
}

/* The op may keep the shape of its operand although the text declares another one: weights that are prepared for a
 * convolution of the device are not laid out anew here, and evaluate_convolution takes either form. */
static bool shape_is_free(enum op_kind k) {
    return evaluators[k] == evaluate_same;
}

static bool check_shape(struct eval_context *b, const struct call *c, uint32_t i, const struct tensor *t) {
    const struct shape *declared = declared_shape(c, i);
    if (!declared || shape_is_free(c->kind) || shape_eq(declared, &t->shape))
        return true;
    return eval_fail(b, "%s makes %s where the text says %s", op_table[c->kind].name, shape_text(b->arena, &t->shape).p,
                     shape_text(b->arena, declared).p);
}

static bool stores_exactly(enum dtype t) {
    return t == DT_F64 || t == DT_NONE || t == DT_OTHER;
}

/* The result as its element type holds it. Constants are made by the host, all else by the packer. */
static const struct tensor *stored(struct eval_context *b, const struct call *c, const struct tensor *t,
                                   enum dtype type) {
    enum op_class class = op_table[c->kind].class;
    bool constant = class == OP_CONSTANT || c->kind == K_ARANGE;
    if (stores_exactly(type) || (b->arithmetic != ARITHMETIC_DEVICE && !constant && !format_is_integer(type)))
        return t;
    struct tensor *copy = tensor_copy(b, t);
    if (copy)
        tensor_round(copy, type, constant ? ROUND_EVEN : ROUND_PACKER);
    return copy;
}

bool interpret(struct eval_context *b, const struct call *c, const struct tensor *results[MAX_RESULTS]) {
    evaluator *f = evaluator_of(c->kind);
    for (uint32_t i = 0; i < MAX_RESULTS; i++)
        results[i] = NULL;
    if (!f)
        return eval_beyond(b, "no evaluator for %s", c->kind == K_UNKNOWN ? "an unknown op" : op_table[c->kind].name);
    if (c->nresults > MAX_RESULTS)
        return eval_fail(b, "%s has more than %d results", op_table[c->kind].name, MAX_RESULTS);
    if (!f(b, c, results))
        return eval_fail(b, "%s cannot be evaluated", op_table[c->kind].name);
    for (uint32_t i = 0; i < MAX_RESULTS; i++) {
        if (!results[i] && i < c->nresults)
            return eval_fail(b, "%s has no result %u", op_table[c->kind].name, i);
        if (results[i] && !check_shape(b, c, i, results[i]))
            return false;
        if (results[i] && !(results[i] = stored(b, c, results[i], result_type(c, i))))
            return false;
    }
    return true;
}
