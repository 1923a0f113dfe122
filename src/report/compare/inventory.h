/* The fused ops of a compile, each with its place. */
#ifndef FA_INVENTORY_H
#define FA_INVENTORY_H

#include "patterns/library/pattern.h"
#include "report/place/fingerprint.h"

struct fused_op {
    struct str op, place;           /* the model location; or empty */
    struct fingerprint fingerprint; /* its structure is the op and the type of its result */
    uint64_t rest;                  /* hash of its attributes and operands */
    struct attribute_hash *attributes;
    uint32_t nattributes;
    uint32_t operands; /* that are present */
    bool fused;        /* not a form of it that stands for no fusion, as a linear without bias */
    bool active;       /* another op is folded into it */
};

struct inventory {
    struct fused_op *items; /* freed by the caller, texts in the arena */
    uint32_t n, cap;
};

/* Adds the ops of a graph that run at each call and have the name of an op that shows fusing (`fused_ops` of pattern
 * files), or another op folded into them. */
void inventory_add(struct inventory *v, const struct pattern_set *set, const struct graph *g, struct arena *a);

#endif
