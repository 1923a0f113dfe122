/* The devices of a match with collectives: each evaluates the same ops, and the same fused form, on inputs of its own.
 *
 * The evaluation at hand is that of the first device. Where it comes to a collective the others are evaluated up to
 * there, one after the other and from the beginning, and each leaves its operand. What they all left is kept, so that
 * the next time they get past it. Inputs are different on each device, but for what the pattern says is replicated:
 * that a sum over devices commutes with what is not linear cannot be shown by equal ones. */
#ifndef FA_PROVE_DEVICES_H
#define FA_PROVE_DEVICES_H

#include "prove/form.h"

enum side_kind { SIDE_MATCH, SIDE_FORM, SIDES };

/* After form_prepare and the leaves: devices of the match, none where it has no collective. False with a reason in the
 * bench where they are on several axes of the mesh, or too many. */
bool devices_prepare(struct proof *p);
/* For the bench of the first device; NULL: there are no others. */
struct mesh *devices_mesh(const struct proof *p);
/* The evaluation of another device, from 1 on; NULL after the last. */
struct proof *devices_other(const struct proof *p, uint32_t device);
/* One side is evaluated anew on the device of this proof. */
void devices_begin(struct proof *p, enum side_kind side);
/* Before new leaves: the others work where the first does. */
void devices_join(struct proof *p);
/* After form_evaluate on the first device: the same on another one. */
uint32_t devices_evaluate(struct proof *p, uint32_t device, struct outcome out[MAX_OUTCOMES]);
/* It is the same on all devices. */
bool devices_replicate(const struct proof *p, uint32_t value);

#endif
