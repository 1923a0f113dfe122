/* Both sides of a problem on all devices of a mesh, for programs with collectives: each device evaluates the same ops
 * on inputs of its own, since equal ones would hide that a sum over devices does not commute with what is not linear.
 *
 * Where the first device comes to a collective, the others are evaluated up to there, one after the other and from the
 * beginning, and each leaves the operand that it contributes. What was left is kept, so that the next evaluation gets
 * past that collective. */
#ifndef FA_TRIALS_MESH_H
#define FA_TRIALS_MESH_H

#include "proof/trials/numbers.h"

enum { MAX_COLLECTIVES = 320 }; /* of one side */

enum side { SIDE_PROGRAM, SIDE_OTHER, SIDES };

struct lockstep {
    struct mesh mesh; /* the first member: a context points to it, and gather() gets back from there */
    const struct problem *p;
    struct eval_context eval[MAX_DEVICES]; /* of one arena */
    struct given *given[MAX_DEVICES];
    enum arithmetic arithmetic[SIDES];
    enum equals order[SIDES];

    /* private */
    struct evaluated devices[MAX_DEVICES];
    enum side side;                                                 /* that is evaluated */
    bool evaluated[MAX_DEVICES];                                    /* the program was, to the end */
    uint32_t reached[MAX_DEVICES];                                  /* collectives in the current evaluation */
    const struct tensor *(*operands)[MAX_COLLECTIVES][MAX_DEVICES]; /* by side; NULL on one device */
};

/* `how`: of all devices. Sorts of a side that is no part of the program reverse equal elements alone. */
void lockstep_begin(struct lockstep *l, const struct problem *p, const struct eval_context *how);
/* The next two return false with a reason in the context of the first device. */
/* Once inputs are given, the program on the first device, with the others as far as collectives need them. */
bool lockstep_program(struct lockstep *l);
/* After that, what is compared on a device, of each output: from the first device on. */
bool lockstep_outputs(struct lockstep *l, uint32_t device, const struct tensor *want[MAX_OUTPUTS],
                      const struct tensor *got[MAX_OUTPUTS]);

#endif
