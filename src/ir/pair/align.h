/* Which values of TTNN are which of TTIR, whatever the ops are called and whether they have locations: by their
 * signatures, from arguments and constants on; and where the lowering changed a value (another constant, another
 * approximation, a guard dropped), from the results inwards: the value that takes its place there is one that, put into
 * the op that uses it, makes of it what TTIR makes. */
#ifndef FA_ALIGN_H
#define FA_ALIGN_H

#include "ir/pair/signature.h"

struct alignment {
    struct signatures ttir, ttnn;
    struct signature_index index; /* of TTIR */
    uint32_t *identity;           /* of the functions of TTIR: their own numbers */
    uint32_t *numbers;            /* of the arguments of TTNN, per value: those of TTIR */
};

/* `func_of`: for each function of TTNN that of TTIR, or NONE. */
void align_build(struct alignment *a, const struct graph *ttir, const struct graph *ttnn, const uint32_t *func_of);
void align_free(struct alignment *a);
/* Whether TTIR has a value that is `v`, made by an op or given. */
bool align_has(const struct alignment *a, uint32_t v);
/* Takes a value of TTNN for one of TTIR that is known; align_look follows what comes of all that were settled so. */
void align_settle(struct alignment *a, uint32_t ttnn, uint32_t ttir);
void align_look(struct alignment *a);
/* Ops of TTIR that make the value that an op of TTNN makes; at most `max`. Returns how many there are; more
 * than `max` where there are more, arguments of that value among them. */
uint32_t align_origins(const struct alignment *a, uint32_t ttnn_op, uint32_t *out, uint32_t max);
/* For an op that only moves data those that move the same value to the same places. */
uint32_t align_moved(const struct alignment *a, uint32_t ttnn_op, uint32_t *out, uint32_t max);
/* What tells which value an op makes: nothing, since one of those that it is made of is not known; only that it is a
 * result of the function, though of its operands it makes another; what it computes or what is computed of it. */
enum align_told { TOLD_NOTHING, TOLD_PLACE, TOLD_VALUE };
enum align_told align_told(const struct alignment *a, uint32_t ttnn_op);
/* True where the operands of one are those of the other. */
bool align_fed_alike(const struct alignment *a, uint32_t ttnn_op, uint32_t ttir_op);

#endif
