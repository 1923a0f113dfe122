/* A miter as a problem: a module whose two results are to be the same function of its arguments. */
#ifndef FA_CIRCUIT_H
#define FA_CIRCUIT_H

#include "proof/reduce/resize.h"
#include "proof/trials/shapes.h"

/* A number that some op of each side takes, by side: a bit each. */
struct number_of_sides {
    double number;
    uint8_t sides;
    bool attribute;
};

struct circuit {
    struct graph graph;
    struct subgraph subgraph;
    uint32_t result[2];           /* values: of BEFORE, of AFTER */
    struct str names[MAX_INPUTS]; /* by input: of the argument of the miter that it is */
    struct problem problem;
    struct number_of_sides *numbers; /* that ops take */
    uint32_t nnumbers;
    struct mlir *resized; /* the module, in other extents; else NULL */
};

/* The miter has to outlive it. False with a reason where it is too large. To be freed whatever it returns. */
bool circuit_of(struct circuit *c, const struct mlir *miter, const struct pattern_set *lowerings, struct arena *a,
                struct reason *why);
void circuit_free(struct circuit *c);
/* Ops of both sides take the number, as a constant or an attribute, but for its rounding. */
bool circuit_in_both(const struct circuit *c, struct constant number);
/* The same circuit in other extents. */
bool circuit_resize(const struct circuit *c, const struct extents *e, const struct payloads *payloads, bool scaled,
                    struct arena *a, struct circuit *out, struct reason *why);

#endif
