/* A region: what computes one value of AFTER, and what computes the value of BEFORE that it should be, from cut points
 * on. A cut point is a value of AFTER that is one of BEFORE: arguments first, then what was compared. */
#ifndef FA_REGION_H
#define FA_REGION_H

#include "verify/flat.h"

enum { MAX_REGION_STEPS = 240, MAX_REGION_INPUTS = 60, MAX_EXPANDED = 64, CUT_RANK = 8 };

enum { BEFORE, AFTER, SIDES_OF_CUT };

/* How a value of AFTER is made of that of BEFORE: the dimensions permuted, then in row-major order another shape. */
struct relation {
    uint8_t rank; /* 0: not permuted */
    uint8_t order[CUT_RANK];
};

/* The two modules and the cut points between them. */
struct cuts {
    struct flat side[SIDES_OF_CUT];
    uint32_t *before_of; /* per value of AFTER: the value of BEFORE that it is, or NONE */
    struct relation *relation;
    uint8_t *cut[SIDES_OF_CUT]; /* per value: CUT_NONE, CUT_SURE or CUT_ASSUMED */
};
enum { CUT_NONE, CUT_SURE, CUT_ASSUMED };

struct cut_region {
    uint32_t before, after; /* values that are compared */
    struct relation relation;
    uint32_t steps[SIDES_OF_CUT][MAX_REGION_STEPS], nsteps[SIDES_OF_CUT]; /* ascending */
    uint32_t inputs[MAX_REGION_INPUTS], ninputs;                          /* values of BEFORE */
    uint8_t used[MAX_REGION_INPUTS];                                      /* by which sides, a bit each */
    uint32_t expanded[MAX_EXPANDED], nexpanded;    /* values of BEFORE that are cut points, but not here */
    uint32_t reached[MAX_REGION_INPUTS], nreached; /* values of AFTER that are inputs */
    bool assumes;                                  /* some input is an assumed cut point */
    const char *why;                               /* why there is no region; or NULL */
};

static inline bool has_id(const uint32_t *ids, uint32_t n, uint32_t id) {
    for (uint32_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Fills in steps and inputs from the values and `expanded`. `assumed`: assumed cut points count. False with `why`. */
bool region_build(struct cut_region *r, const struct cuts *c, bool assumed);
/* One step larger: not `all`, the inputs that only one side needs are expanded, or else all that ops make. False where
 * there is none, or with `why`. */
bool region_grow(struct cut_region *r, const struct cuts *c, bool assumed, bool all);

#endif
