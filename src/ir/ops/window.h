/* How the window of a convolution, pool or upsampling moves over its operand, as attributes and shapes say it.
 *
 * TTIR names the dimensions of batch, space and channels, by default in this order; TTNN flattens the operand to
 * [1, 1, batch * space, channels] and prints its sizes. The generic ops of older TTIR number the dimensions of operand,
 * weights and result, as those of StableHLO. Sizes of results are those of PyTorch's Conv2d, ConvTranspose2d
 * and pools. */
#ifndef FA_WINDOW_H
#define FA_WINDOW_H

#include "ir/ops/attributes.h"
#include "ir/ops/ops.h"
#include "ir/ops/shape.h"

struct window {
    uint32_t n; /* spatial dimensions */
    bool transposed, ceil_mode;
    bool printed;   /* batch and sizes of the operand are attributes, whatever its shape */
    bool both_ends; /* the padding has a number for each end of each dimension */
    int64_t batch, channels, out_channels, groups;
    /* those of batch, space and channels; of the weights those of channels of the result, of the operand, and space */
    uint32_t dims[MAX_WINDOW + 2], dims_of_result[MAX_WINDOW + 2], weight_dims[MAX_WINDOW + 2];
    int64_t in[MAX_WINDOW], out[MAX_WINDOW], size[MAX_WINDOW], stride[MAX_WINDOW], dilation[MAX_WINDOW],
        before[MAX_WINDOW], after[MAX_WINDOW], extra[MAX_WINDOW], /* extra: output padding */
        spread[MAX_WINDOW]; /* distance of neighbours of the operand; 0 lies between them */
};

/* NULL, or why there is no such window. `weight` may be NULL: a pool or an upsampling has none. The stride of an
 * upsampling is its factor. */
const char *window_read(enum op_kind k, bool ttnn, const struct attrs *a, const struct shape *x,
                        const struct shape *weight, struct window *w);

/* Whether weights are as TTNN prepares them for the device: [..., window * channels of a group, out_channels]. */
bool window_takes_prepared(const struct window *w, const struct shape *weight);

/* The elements of the operand, padded, beyond those that the last window takes; of a ceil_mode that rounds up less than
 * 0. Transposed, 0. */
int64_t window_remainder(const struct window *w, uint32_t d);

#endif
