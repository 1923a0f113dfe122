/* The table of evaluators, and how an op's attributes are read. */
#include "numeric/evaluators.h"

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
    [K_CUMSUM] = evaluate_running,
    [K_CUMPROD] = evaluate_running,
    [K_MOREH_CUMSUM] = evaluate_running,
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

/* Weights that are laid out anew for a convolution keep the shape that they had: the convolution takes either. */
static bool shape_is_free(enum op_kind k) {
    return evaluators[k] == evaluate_same;
}

static bool check_shape(struct bench *b, const struct call *c, uint32_t i, const struct tensor *t) {
    const struct shape *told = result_shape(c, i);
    if (!told || shape_is_free(c->kind) || shape_eq(told, &t->shape))
        return true;
    return bench_fail(b, "%s makes %s where the text says %s", op_table[c->kind].name,
                      shape_text(b->arena, &t->shape).p, shape_text(b->arena, told).p);
}

static bool stores_exactly(enum dtype t) {
    return t == DT_F64 || t == DT_NONE || t == DT_OTHER;
}

/* The result as it is stored. Constants come from the host. */
static const struct tensor *stored(struct bench *b, const struct call *c, const struct tensor *t, enum dtype type) {
    enum op_class class = op_table[c->kind].class;
    bool constant = class == OP_CONSTANT || c->kind == K_ARANGE;
    if (stores_exactly(type) || (b->arithmetic != DEVICE && !constant && !format_is_integer(type)))
        return t;
    struct tensor *copy = tensor_copy(b, t);
    if (copy)
        tensor_round(copy, type, constant ? ROUND_EVEN : ROUND_PACKER);
    return copy;
}

bool interpret(struct bench *b, const struct call *c, const struct tensor *results[MAX_RESULTS]) {
    evaluator *f = evaluator_of(c->kind);
    for (uint32_t i = 0; i < MAX_RESULTS; i++)
        results[i] = NULL;
    if (!f)
        return bench_beyond(b, "no evaluator for %s", c->kind == K_UNKNOWN ? "an unknown op" : op_table[c->kind].name);
    if (c->nresults > MAX_RESULTS)
        return bench_fail(b, "%s has more than %d results", op_table[c->kind].name, MAX_RESULTS);
    if (!f(b, c, results))
        return bench_fail(b, "%s cannot be evaluated", op_table[c->kind].name);
    for (uint32_t i = 0; i < MAX_RESULTS; i++) {
        if (!results[i] && i < c->nresults)
            return bench_fail(b, "%s has no result %u", op_table[c->kind].name, i);
        if (results[i] && !check_shape(b, c, i, results[i]))
            return false;
        if (results[i] && !(results[i] = stored(b, c, results[i], result_type(c, i))))
            return false;
    }
    return true;
}

/* ---- attributes ---- */

bool attr_text(const struct call *c, const char *key, struct str *out) {
    return c->attribute && c->attribute(c->self, key, out);
}

static bool unreadable(struct bench *b, const struct call *c, const char *key) {
    return bench_fail(b, "%s: attribute %s cannot be read", op_table[c->kind].name, key);
}

bool attr_needed(struct bench *b, const struct call *c, const char *key) {
    struct str text;
    return attr_text(c, key, &text) || bench_fail(b, "%s has no attribute %s", op_table[c->kind].name, key);
}

bool attr_int(struct bench *b, const struct call *c, const char *key, int64_t *out) {
    struct str text;
    return !attr_text(c, key, &text) || mlir_int(text, out) || unreadable(b, c, key);
}

bool attr_number(struct bench *b, const struct call *c, const char *key, double *out) {
    struct str text;
    return !attr_text(c, key, &text) || mlir_float(text, out) || unreadable(b, c, key);
}

bool attr_flag(struct bench *b, const struct call *c, const char *key, bool *out) {
    struct str text;
    if (!attr_text(c, key, &text))
        return true;
    if (text.n == 0 || mlir_bool(text, out))
        return true;
    int64_t number = 1;
    if (!mlir_int(text, &number))
        return unreadable(b, c, key);
    *out = number != 0;
    return true;
}

bool attr_list(struct bench *b, const struct call *c, const char *key, int64_t *out, int max, int *n) {
    struct str text;
    if (!attr_text(c, key, &text))
        return true;
    *n = mlir_ints(text, out, max);
    return (*n >= 0 && *n <= max) || unreadable(b, c, key);
}

bool text_int(struct str text, const char *key, int64_t *out) {
    for (const char *p = str_find(text, str_of(key)), *end = text.p + text.n; p;) {
        const char *q = p + strlen(key);
        while (q < end && *q == ' ')
            q++;
        if (q < end && *q == '=') {
            const char *from = ++q;
            while (q < end && *q != ',' && *q != '>' && *q != '}')
                q++;
            return mlir_int(str_trim((struct str){from, (size_t)(q - from)}), out);
        }
        p = str_find((struct str){q, (size_t)(end - q)}, str_of(key));
    }
    return false;
}

bool axis_in(struct bench *b, const struct call *c, int64_t axis, uint32_t rank, uint32_t *out) {
    int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank)
        return bench_fail(b, "%s: no dimension %lld in a tensor of rank %u", op_table[c->kind].name, (long long)axis,
                          rank);
    *out = (uint32_t)at;
    return true;
}

bool axis_attr(struct bench *b, const struct call *c, const char *key, int64_t otherwise, uint32_t rank,
               uint32_t *out) {
    return attr_int(b, c, key, &otherwise) && axis_in(b, c, otherwise, rank, out);
}

/* ---- operands and results ---- */

const struct tensor *as_told(struct bench *b, const struct call *c, uint32_t result, const struct tensor *t) {
    const struct shape *told = result_shape(c, result);
    return t && told && shape_count(told) == t->n ? tensor_reshape(b, t, told) : t;
}

/* "relu"; "#ttnn.unary_with_param<op_type = relu>"; a program or convolution config that holds one of those. */
static struct str activation_name(struct str text) {
    static const char *const before[] = {"activation", "op_type"};
    struct str word;
    for (size_t i = 0; i < 2; i++) {
        const char *p = str_find(text, str_of(before[i]));
        if (p)
            text = (struct str){p + strlen(before[i]), (size_t)(text.p + text.n - p) - strlen(before[i])};
    }
    while (text.n && strchr(" =<\"", text.p[0]))
        text.p++, text.n--;
    for (word = (struct str){text.p, 0}; word.n < text.n && !strchr(" ,>\"}", text.p[word.n]);)
        word.n++;
    return word;
}

const struct tensor *apply_activation(struct bench *b, const struct call *c, const struct tensor *x) {
    static const char *const keys[] = {"activation", "matmul_program_config", "conv2d_config"};
    struct str text;
    for (size_t i = 0; x && i < sizeof keys / sizeof *keys; i++) {
        if (!attr_text(c, keys[i], &text) || (i > 0 && !str_find(text, STR("activation"))))
            continue;
        struct str name = activation_name(text);
        unary_function *f = activation_of(name);
        if (!f) {
            bench_beyond(b, "no evaluator for the activation %.*s", (int)name.n, name.p);
            return NULL;
        }
        x = apply_unary(b, f, x);
    }
    return x;
}
