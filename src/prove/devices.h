/* Runs of a proof on all devices of a mesh, for matches with collectives: each device evaluates the same ops, and the
 * same fused form, on inputs of its own.
 *
 * The run at hand is that of the first device. Where it comes to a collective, the other devices are evaluated up to
 * there, one after the other and from the beginning, and each leaves the operand that it contributes. What was left is
 * kept, so that the next evaluation gets past that collective. Inputs differ between devices, except for those that the
 * pattern says are replicated: equal inputs would hide that a sum over devices does not commute with what is not
 * linear.
 */
#ifndef FA_DEVICES_H
#define FA_DEVICES_H

#include "prove/fused_form.h"
#include "prove/numbers.h"

enum { DEFAULT_DEVICES = 2 }; /* where nothing states their number */

/* The number of devices that shapes or attributes of a collective state; 0: none do. */
int64_t devices_stated(const struct graph *g, uint32_t op);
/* Once the reference is known: the runs of the other devices, none where it has no collective. False with a reason in
 * the context where collectives are along several axes of the mesh, or there are too many devices. */
bool devices_prepare(struct device_run *first);
/* The run of another device, from 1 on; NULL after the last. */
struct device_run *devices_other(const struct device_run *first, uint32_t device);
/* numbers_make on all devices. */
bool devices_make_numbers(struct device_run *first, enum trial trial, uint32_t violated);
/* form_evaluate_match and form_evaluate on the first device, with the others as far as collectives need them. */
bool devices_evaluate_match(struct device_run *first);
uint32_t devices_evaluate_form(struct device_run *first, struct output out[MAX_OUTPUTS]);
/* After that: the form on another device. 0 with a reason in the context of the first. */
uint32_t devices_evaluate_other(struct device_run *first, uint32_t device, struct output out[MAX_OUTPUTS]);

#endif
