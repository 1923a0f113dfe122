/* What a generated kernel takes: the rules for one op, by the tensors that it reads and writes. */
#ifndef FA_REGION_LEGAL_H
#define FA_REGION_LEGAL_H

#include "device/chips/layout.h"
#include "elementwise/rules.h"
#include "ir/graph/graph.h"

enum region_fault {
    FAULT_NONE,
    FAULT_TYPE,     /* an element type that the op has no kernel for */
    FAULT_LAYOUT,   /* not tiled, or in a memory that kernels do not read */
    FAULT_ALIGNED,  /* its last two dimensions are no multiples of a tile */
    FAULT_UNLIKE,   /* laid out differently from the result */
    FAULT_SHAPE,    /* of another shape than what the kernel yields */
    FAULT_USERS,    /* an input that is no argument and has several other users */
    FAULT_REDUCES,  /* not exactly one dimension */
    FAULT_INPUTS,   /* too many */
    FAULT_REGISTERS /* too many */
};

/* What is wrong with an op. */
struct region_faults {
    unsigned kinds; /* a bit for each enum region_fault */
    uint32_t value; /* the first tensor that is wrong */
};

/* What is asked of the types and ops of one graph. */
struct legality {
    const struct graph *graph;
    const struct region_rules *rules;
    const struct region_op **listed; /* by name of an op (mlir.names); NULL: no kernel holds it */
    struct tensor_type *types;       /* private: by type */
};

void legality_begin(struct legality *l, const struct graph *g, const struct region_rules *r);
void legality_end(struct legality *l);
/* The rule for an op, or NULL: no kernel holds it, or it does not hold together. */
const struct region_op *legal_op(const struct legality *l, uint32_t op);
/* What forbids a kernel with this op, which is listed. */
struct region_faults legal_faults(struct legality *l, uint32_t op);
/* Some tensor of the op has elements of more than 16 bits. */
bool legal_is_wide(struct legality *l, uint32_t op);
/* Two results that one kernel may hold; FAULT_UNLIKE, FAULT_SHAPE: it may not. */
enum region_fault legal_pair(struct legality *l, uint32_t producer, uint32_t consumer);
/* The one op that uses a value; NONE: none or several do. */
uint32_t only_user(const struct graph *g, uint32_t value);
/* TTNN says which grid the tensor lies on. */
bool legal_grid_known(struct legality *l, uint32_t value);

#endif
