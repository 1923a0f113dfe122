/* The devices of a circuit with collectives: each evaluates it on inputs of its own, which are those of the first one
 * rotated and scaled, up to a collective whose other operands are still missing. */
#ifndef FA_VERIFY_MESH_H
#define FA_VERIFY_MESH_H

#include "verify/trial.h"

enum { MAX_COLLECTIVES_OF_CIRCUIT = 16 };

struct device_lockstep {
    struct mesh mesh; /* the first member: a context points to it */
    const struct circuit *circuit;
    const struct given *given[MAX_DEVICES];
    uint32_t ngiven;
    struct evaluation_mode how;
    struct arena *arena;
    uint32_t reached[MAX_DEVICES];
    const struct tensor *operands[MAX_COLLECTIVES_OF_CIRCUIT][MAX_DEVICES];
};

/* How many devices the circuit runs on; 1: it has no collective. 0 with a reason. */
uint32_t devices_of_circuit(const struct circuit *c, struct str *why);
/* `ngiven` tensors, of which the first are the arguments of the circuit. */
void lockstep_begin(struct device_lockstep *l, const struct circuit *c, uint32_t devices, const struct given *given,
                    uint32_t ngiven, struct evaluation_mode how, struct arena *a);
/* Both results on a device, the first one first. False with a reason. */
bool lockstep_evaluate(struct device_lockstep *l, uint32_t device, const struct tensor *out[2], struct str *why);

#endif
