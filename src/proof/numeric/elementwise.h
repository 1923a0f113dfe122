/* Elementwise functions on tensors, as other evaluators use them too. */
#ifndef FA_ELEMENTWISE_H
#define FA_ELEMENTWISE_H

#include "ir/ops/scalar.h"
#include "proof/numeric/call.h"

/* The activation that is folded into an op, by any of the attributes that say so; x itself when there is none. */
const struct tensor *apply_activation(struct eval_context *ctx, const struct call *c, const struct tensor *x);
/* One of these attributes. */
bool is_activation_key(const char *key);

#endif
