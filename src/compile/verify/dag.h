/* The functions of two modules as one graph of values: calls, const-eval functions and composites are inlined, changes
 * of layout and of float formats are gone, equal ops of a side are one, and what an op writes into a tensor is a new
 * value. A value of AFTER that was proved to be one of BEFORE is represented by it. */
#ifndef FA_DAG_H
#define FA_DAG_H

#include "ir/graph/graph.h"

enum { BEFORE, AFTER, SIDES };
enum { MOVED_RANK = 8 };

/* How a value is made of another: the dimensions permuted, then in row-major order another shape. */
struct movement {
    uint8_t rank; /* 0: not permuted */
    uint8_t order[MOVED_RANK];
};

/* How sure it is that a value is what it is represented by. */
enum merge {
    NOT_MERGED,
    GUESSED,     /* no candidate is proved: the likeliest */
    CONDITIONAL, /* proved where others are what they are guessed to be */
    PROVED
};

struct dag_value {
    uint32_t value; /* of the graph of its side: type and name */
    uint32_t node;  /* NONE: an argument */
    uint32_t result;
    uint8_t side;
    uint8_t merged; /* of AFTER: into `rep`; of BEFORE: the surest of those that it represents */
    uint32_t rep;   /* of AFTER: the value of BEFORE that it is, or NONE; of BEFORE: itself */
    /* A constant is one value for each float format that casts round it to. */
    uint32_t exact;        /* what is rounded to the type of `value`; NONE: it is not rounded */
    uint32_t rounded;      /* one that is it rounded; NONE */
    uint32_t next_rounded; /* of those that are `exact` rounded; NONE */
    struct movement moved;
};

struct dag_node {
    uint32_t op;
    uint32_t first_operand, noperands; /* in dag.operands: values, NONE for an absent one */
    uint32_t first_result, nresults;   /* of an op that writes its operand the written tensor */
    uint32_t twin;                     /* of AFTER: the node of BEFORE that does the same to the same values, or NONE */
    uint32_t number;                   /* among constants of its side that are printed alike, without their elements */
    uint8_t side;
};

/* An op that does what an earlier node does. */
struct dag_copy {
    uint32_t op, node;
};

/* An op that reads a value after it was deallocated. */
struct freed_use {
    uint32_t op, deallocation;
};

/* What is known of the function of one side. */
struct dag_side {
    const struct graph *g;
    uint32_t *of; /* per value of the graph: the value that it was last; NONE */
    uint32_t first_node, end_node;
    uint32_t first_arg, nargs;   /* device handles are none */
    uint32_t *outputs, noutputs; /* results of the function */
    struct dag_copy *copies;
    struct freed_use *freed_uses;
    uint32_t ncopies, nfreed_uses;
    bool returns; /* in one place */
    /* private */
    uint32_t copies_cap, outputs_cap, freed_uses_cap;
    uint32_t *freed; /* per value of the graph: the op that deallocated it; NONE */
};

struct dag {
    struct dag_side side[SIDES];
    struct dag_value *values;
    struct dag_node *nodes;
    uint32_t *operands;
    uint32_t nvalues, nnodes, noperands;
    bool cut_short; /* too long, or functions call one another in a circle */
    /* private */
    uint32_t values_cap, nodes_cap, operands_cap, *table, table_cap;
};

void dag_build(struct dag *d, const struct graph *before, uint32_t func, const struct graph *after,
               uint32_t func_after);
void dag_free(struct dag *d);

static inline const struct graph *dag_graph(const struct dag *d, uint32_t value) {
    return d->side[d->values[value].side].g;
}
static inline const uint32_t *dag_operands(const struct dag *d, uint32_t node) {
    return d->operands + d->nodes[node].first_operand;
}
static inline enum op_kind dag_kind(const struct dag *d, uint32_t node) {
    const struct dag_node *n = &d->nodes[node];
    return (enum op_kind)d->side[n->side].g->kind[n->op];
}
static inline enum op_class dag_class(const struct dag *d, uint32_t node) {
    return op_table[dag_kind(d, node)].class;
}
/* A value that an op makes of no others: a constant. */
static inline bool dag_is_constant(const struct dag *d, uint32_t value) {
    uint32_t node = d->values[value].node;
    return node != NONE && op_generates(dag_kind(d, node));
}
/* The text of a constant leaves its elements out: what it is is not known. */
bool dag_is_elided(const struct dag *d, uint32_t node);
/* Others of its side are printed like it: which of them the other side has in its place is a guess. */
bool dag_is_one_of_many(const struct dag *d, uint32_t node);
int64_t dag_numel(const struct dag *d, uint32_t value);
/* The extents of two values are known, and the same. */
bool dag_same_dims(const struct dag *d, uint32_t v, uint32_t w);

/* Neither movement of data, nor a constant: what a device computes. */
bool op_computes(const struct graph *g, uint32_t op);
static inline bool dag_computes(const struct dag *d, uint32_t node) {
    return op_computes(d->side[d->nodes[node].side].g, d->nodes[node].op);
}

/* A value of AFTER is that value of BEFORE. */
void dag_merge(struct dag *d, uint32_t after, uint32_t before, struct movement moved, enum merge how);
/* It is what it was again. */
void dag_part(struct dag *d, uint32_t after, const struct dag_value *was);
/* Merges the results of a node of AFTER with those of the node of BEFORE that does the same to the same values; false:
 * there is none. */
bool dag_merge_twin(struct dag *d, uint32_t node);

/* So many times NONE; to be freed. */
uint32_t *no_ids(size_t n);

#endif
