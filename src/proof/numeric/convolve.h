/* Layouts of what a window moves over, shared with those whose elements are computed on demand. Private to the room. */
#ifndef FA_CONVOLVE_H
#define FA_CONVOLVE_H

#include "ir/ops/window.h"
#include "proof/numeric/call.h"

void conv_window(struct eval_context *ctx, const struct call *c, struct window *w);
/* The input as [batch, spatial..., channels]. */
const struct tensor *conv_input(struct eval_context *ctx, const struct call *c, const struct window *w);
/* [out, in / groups, window...]; of a transposed convolution [in, out / groups, window...]. */
struct view conv_weights(struct eval_context *ctx, const struct call *c, const struct window *w);
bool conv_replicates(struct eval_context *ctx, const struct call *c); /* the edge goes on in the padding */
/* A result [batch, spatial..., channels] in the layout of the input. */
const struct tensor *conv_result(struct eval_context *ctx, const struct call *c, uint32_t result,
                                 const struct tensor *t, const struct window *w);
/* Elements that a mean is over: those of the window inside of the input, or inside of the padded input. `at`: of the
 * window. */
int64_t conv_divisor(const struct window *w, const int64_t *at, bool padding_counts);

#endif
