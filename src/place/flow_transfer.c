/* How facts go through a single op: which operands reach the result, and which only modify it. The table lists the op
 * kinds that differ from what is usual in their class. */
#include "place/flow_passes.h"

static const uint8_t transfers[K_COUNT] = {
    [K_PAD] = TRANSFER_PASS,
    [K_SCATTER] = TRANSFER_PASS,
    [K_SLICE_DYNAMIC] = TRANSFER_PASS,
    [K_ARGMAX] = TRANSFER_PASS,
    [K_TOPK] = TRANSFER_PASS,
    [K_CONCATENATE_HEADS] = TRANSFER_PASS,
    [K_NLP_CONCAT_HEADS] = TRANSFER_PASS,
    [K_NLP_CONCAT_HEADS_DECODE] = TRANSFER_PASS,
    [K_SPLIT_QUERY_KEY_VALUE_AND_SPLIT_HEADS] = TRANSFER_PASS,
    [K_NLP_CREATE_QKV_HEADS_DECODE] = TRANSFER_PASS,
    [K_ROTARY_EMBEDDING] = TRANSFER_PASS_FIRST,
    [K_ROTARY_EMBEDDING_LLAMA] = TRANSFER_PASS_FIRST,
    [K_ALL_GATHER] = TRANSFER_PASS,
    [K_REDUCE_SCATTER] = TRANSFER_PASS,
    [K_COLLECTIVE_PERMUTE] = TRANSFER_PASS,
    [K_MESH_SHARD] = TRANSFER_PASS,
    [K_MESH_PARTITION] = TRANSFER_PASS,
    [K_QUANTIZE] = TRANSFER_PASS,
    [K_DEQUANTIZE] = TRANSFER_PASS,
    [K_FILL_CACHE] = TRANSFER_CACHE,
    [K_UPDATE_CACHE] = TRANSFER_CACHE,
    [K_PAGED_FILL_CACHE] = TRANSFER_CACHE,
    [K_PAGED_UPDATE_CACHE] = TRANSFER_CACHE,
    [K_SDPA] = TRANSFER_ATTENTION,
    [K_SDPA_DECODE] = TRANSFER_ATTENTION,
    [K_PAGED_SCALED_DOT_PRODUCT_ATTENTION_DECODE] = TRANSFER_ATTENTION,
    [K_CHUNKED_SCALED_DOT_PRODUCT_ATTENTION] = TRANSFER_ATTENTION,
    [K_GELU] = TRANSFER_ACTIVATION,
    [K_SILU] = TRANSFER_ACTIVATION,
    [K_SIGMOID] = TRANSFER_ACTIVATION,
    [K_HARDSIGMOID] = TRANSFER_ACTIVATION,
    [K_TANH] = TRANSFER_ACTIVATION,
    [K_ERF] = TRANSFER_ACTIVATION,
    [K_RELU] = TRANSFER_ACTIVATION,
    [K_RELU6] = TRANSFER_ACTIVATION,
    [K_LEAKY_RELU] = TRANSFER_ACTIVATION,
    [K_MISH] = TRANSFER_ACTIVATION,
    [K_SELU] = TRANSFER_ACTIVATION,
    [K_SOFTSIGN] = TRANSFER_ACTIVATION,
    [K_MAXIMUM] = TRANSFER_ACTIVATION, /* relu as maximum(x, 0), which older compilers print */
    [K_EXP] = TRANSFER_EXPONENTIAL,
    [K_SOFTMAX] = TRANSFER_EXPONENTIAL,
    [K_RSQRT] = TRANSFER_ROOT,
    [K_SQRT] = TRANSFER_ROOT,
    [K_LAYER_NORM] = TRANSFER_NORM,
    [K_RMS_NORM] = TRANSFER_NORM,
    [K_DISTRIBUTED_LAYER_NORM] = TRANSFER_NORM,
    [K_DISTRIBUTED_RMS_NORM] = TRANSFER_NORM,
    [K_DIT_RMS_NORM_UNARY_FUSED] = TRANSFER_NORM,
};

enum flow_transfer flow_transfer_of(const struct graph *g, uint32_t op) {
    return (enum flow_transfer)transfers[g->kind[op]];
}

bool flow_passes_through(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    enum flow_transfer how = flow_transfer_of(g, op);
    return how == TRANSFER_PASS || how == TRANSFER_PASS_FIRST || c == OP_ELTWISE || c == OP_REDUCE ||
           c == OP_AXISWISE || c == OP_ALIKE || c == OP_SLICE || c == OP_JOIN || class_moves(c);
}

uint32_t flow_data_operands(const struct graph *g, uint32_t op) {
    enum flow_transfer how = flow_transfer_of(g, op);
    uint32_t n = graph_noperands(g, op);
    return n > 1 && (how == TRANSFER_PASS_FIRST || how == TRANSFER_NORM) ? 1 : n;
}

int64_t flow_elements(const struct graph *g, uint32_t v) {
    int64_t n = graph_numel(g, v);
    for (int step = 0; step < 8 && g->m->values[v].def != NONE; step++) {
        uint32_t op = g->m->values[v].def;
        if (!class_moves(graph_class(g, op)))
            break;
        v = graph_operands(g, op)[0];
        int64_t before = graph_numel(g, v);
        n = before >= 0 && before < n ? before : n;
    }
    return n;
}

static bool disjoint_sources(const struct flow *f, uint32_t a, uint32_t b) {
    uint32_t x = f->values[a].sources, y = f->values[b].sources;
    return x != y && flow_disjoint(&f->sets[x], &f->sets[y]);
}

/* A shift, a scale, the cosines of a rotary embedding; the condition of a select. */
uint32_t flow_modifier(const struct flow *f, uint32_t op) {
    const struct graph *g = f->g;
    const uint32_t *o = graph_operands(g, op);
    if (g->kind[op] == K_WHERE)
        return disjoint_sources(f, o[0], o[1]) && disjoint_sources(f, o[0], o[2]) ? o[0] : NONE;
    if (graph_class(g, op) != OP_ELTWISE || graph_noperands(g, op) != 2 || o[0] == NONE || o[1] == NONE ||
        f->values[o[0]].sources == 0 || f->values[o[1]].sources == 0 || !disjoint_sources(f, o[0], o[1]))
        return NONE;
    int64_t a = flow_elements(g, o[0]), b = flow_elements(g, o[1]);
    return a < b ? o[0] : a > b ? o[1] : NONE;
}
