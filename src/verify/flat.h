/* A function of a module as a straight line of steps: calls, const-eval functions and composites are inlined, changes
 * of layout and of float formats are gone, equal steps are one, and what an op writes into a tensor is a new value. */
#ifndef FA_FLAT_H
#define FA_FLAT_H

#include "graph/graph.h"

struct flat_value {
    uint32_t value; /* of the graph: type and name */
    uint32_t step;  /* NONE: an argument */
    uint32_t result;
};

struct flat_step {
    uint32_t op;
    uint32_t first_operand, noperands; /* in flat.operands: flat values, NONE for an absent one */
    uint32_t first_result, nresults;   /* flat values; of an op that writes its operand the written tensor */
};

/* An op that does what an earlier step does. */
struct flat_copy {
    uint32_t op, step;
};

/* An op that reads a value after it was deallocated. */
struct freed_use {
    uint32_t op, deallocation;
};

struct flat {
    const struct graph *g;
    struct flat_value *values;
    struct flat_step *steps;
    uint32_t *operands;
    uint32_t *of; /* per value of the graph: the flat value that it was last; NONE */
    struct flat_copy *copies;
    struct freed_use *freed_uses;
    uint32_t nvalues, nsteps, noperands, ncopies, nfreed_uses;
    uint32_t nargs;              /* the first values; device handles are none */
    uint32_t *outputs, noutputs; /* results of the function */
    bool returns;                /* in one place */
    bool cut_short;              /* too long, or functions call one another in a circle */
    /* private */
    uint32_t values_cap, steps_cap, operands_cap, copies_cap, outputs_cap, freed_uses_cap, *table, table_cap;
    uint32_t *freed; /* per value of the graph: the op that deallocated it; NONE */
};

void flat_build(struct flat *f, const struct graph *g, uint32_t func);
void flat_free(struct flat *f);

static inline const uint32_t *flat_operands(const struct flat *f, uint32_t step) {
    return f->operands + f->steps[step].first_operand;
}
static inline enum op_kind flat_kind(const struct flat *f, uint32_t step) {
    return (enum op_kind)f->g->kind[f->steps[step].op];
}
/* So many times NONE; to be freed. */
uint32_t *no_ids(size_t n);
/* The extents of two values are known, and the same. */
bool same_dims(const struct graph *g, uint32_t v, const struct graph *h, uint32_t w);

/* Neither movement of data, nor a constant: what a device computes. */
bool flat_computes(const struct flat *f, uint32_t step);
/* The same for an op of the graph. */
bool op_computes(const struct graph *g, uint32_t op);

/* The step that does what an op of another module does, on these values; NONE: there is none. */
uint32_t flat_find(const struct flat *f, const struct graph *g, uint32_t op, const uint32_t *operands, uint32_t n);

#endif
