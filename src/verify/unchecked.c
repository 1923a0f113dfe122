/* Read in the fusing passes of tt-mlir (lib/Dialect/TTIR/Transforms/TTIRFusing.cpp, .../Fusing and
 * lib/Dialect/TTNN/Transforms/TTNNFusing.cpp, commit 19c86fc). */
#include "verify/unchecked.h"

static const struct {
    enum op_kind fused, replaced; /* an op of BEFORE that has to be among those replaced */
    const char *condition;
} conditions[] = {
    {K_MEAN, K_SUM, "ScaledSumToMeanPattern accepts a factor within an absolute 1e-4 of 1/N, whatever N is"},
    {K_RELU, K_MAXIMUM, "ReluFusionPattern takes a constant within 1e-6 of 0 for 0, also one that guards a division"},
    {K_MISH, K_WHERE, "MishFusingPattern does not look at the threshold of the softplus"},
    {K_TOPK, K_SORT, "TopKFusingPattern takes the last k of an ascending sort, which topk returns in the other order"},
    {K_RMS_NORM, K_CLAMP,
     "NormalizeRMSNormFusionPattern adds the square of the lower bound of the clamp, and does not look "
     "at the upper one"},
    {K_SDPA, K_WHERE, "SDPAFusing makes the guard of rows that are masked whole of the mask, whatever guard there was"},
    {K_SDPA_DECODE, K_SOFTMAX, "the mask of the decode op is multiplied by the scale, which is not undone"},
    {K_SDPA_DECODE, K_SDPA, "the mask of the decode op is multiplied by the scale, which is not undone"},
    {K_CONV_TRANSPOSE2D, K_MULTIPLY,
     "ConvWithMultiply scales the weight of a grouped transposed convolution by its rows"},
    {K_PAGED_UPDATE_CACHE, K_UPDATE_CACHE,
     "TTIRConsolidateStaticCacheUpdates takes the positions of all static caches to be one argument"},
    {K_SOFTMAX, K_EXP, "the softmax patterns compare dimensions as they are printed, negative ones with positive ones"},
};

enum { CONDITIONS = sizeof conditions / sizeof *conditions };

uint32_t unchecked_ops(const struct graph *before, const struct graph *after, bool *found) {
    bool fused[K_COUNT] = {false}, present[K_COUNT] = {false};
    uint32_t n = 0;
    for (uint32_t op = 0; op < before->m->nops; op++)
        present[before->kind[op]] = true;
    for (size_t c = 0; c < CONDITIONS; c++)
        fused[conditions[c].fused] |= present[conditions[c].replaced];
    for (uint32_t op = 0; op < after->m->nops; op++)
        n += found[op] = fused[after->kind[op]];
    return n;
}

struct str unchecked_condition(const struct graph *before, const uint32_t *ops, uint32_t n, const struct graph *after,
                               uint32_t fused) {
    for (size_t c = 0; c < CONDITIONS && fused != NONE; c++)
        for (uint32_t i = 0; i < n; i++)
            if (after->kind[fused] == conditions[c].fused && before->kind[ops[i]] == conditions[c].replaced)
                return str_of(conditions[c].condition);
    return STR("");
}
