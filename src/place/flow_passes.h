/* What the passes share: how facts go through an op. Private to the files flow*.c. */
#ifndef FA_FLOW_PASSES_H
#define FA_FLOW_PASSES_H

#include "place/flow.h"

/* The transfer function of an op kind, where its class (enum op_class) does not decide. */
enum flow_transfer {
    TRANSFER_BY_CLASS,
    TRANSFER_PASS,       /* the result has the facts of all operands */
    TRANSFER_PASS_FIRST, /* ... of the first operand only */
    TRANSFER_CACHE,      /* operand 1 is written to operand 0, in place */
    TRANSFER_ATTENTION,  /* a fused attention of query, key and value */
    TRANSFER_ACTIVATION,
    TRANSFER_EXPONENTIAL,
    TRANSFER_ROOT,
    TRANSFER_NORM
};
enum flow_transfer flow_transfer_of(const struct graph *g, uint32_t op);
/* Whether facts of the operands reach the result; otherwise the result is a source of its own. */
bool flow_passes_through(const struct graph *g, uint32_t op);
/* The number of leading operands that carry the data; the others are parameters such as scales or cosines. */
uint32_t flow_data_operands(const struct graph *g, uint32_t op);
/* The operand of an elementwise op that only shifts, scales or selects: it shares no source with the other one and is
 * broadcast to it. The result keeps the facts of the other operand. NONE where there is no such operand. */
uint32_t flow_modifier(const struct flow *f, uint32_t op);
/* Number of elements before broadcasts and other movement: a bias repeated along the rows counts one row. */
int64_t flow_elements(const struct graph *g, uint32_t v);
/* A parameter, or a main argument of no stated kind with at most two dimensions. */
bool flow_is_weight(const struct graph *g, uint32_t v);

/* flow_forward.c: fills in sources, flags and attentions of all values. */
void flow_forward(struct flow *f);

#endif
