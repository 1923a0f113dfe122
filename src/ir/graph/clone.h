/* Copies ops of a graph into a module that is made in memory (ir/mlir/builder.h). */
#ifndef FA_CLONE_H
#define FA_CLONE_H

#include "ir/graph/graph.h"
#include "ir/mlir/builder.h"

/* Attributes that do not change what an op computes in f64: layouts, devices, program configurations, annotations.
 * Copies have none of them. */
bool attribute_changes_nothing(struct str key, struct str value);

struct cloner {
    struct mlir *to;
    const struct graph *from;
    /* An attribute of the copy: may replace the value, which lives until the op is made; false leaves it out. NULL:
     * attributes stay as they are. */
    bool (*attribute)(void *self, uint32_t op, struct str key, struct str *value);
    void *self;
};

/* The copy of an op on other operands, by role, of which those that are NONE are left out; `types`: of its results.
 */
uint32_t clone_op(const struct cloner *c, uint32_t op, const uint32_t *operands, const uint32_t *types,
                  uint32_t nresults);

#endif
