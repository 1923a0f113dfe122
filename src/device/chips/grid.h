/* Worker grids: the logical grid of a `device` attribute, and the mesh of chips. Source: the device specification of
 * tt-mlir. */
#ifndef FA_GRID_H
#define FA_GRID_H

#include "device/chips/affine.h"
#include "ir/graph/graph.h"

struct worker_grid {
    uint32_t rank, mesh_rank;
    int64_t extents[MAX_GRID_RANK];
    int64_t mesh[MAX_GRID_RANK];
    int64_t chips; /* listed */
};

/* Reads "workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, meshShape = 1, chipIds = [0]", a part of the text. False:
 * there is none, or it is not understood. */
bool worker_grid_read(struct str text, struct worker_grid *out);
/* The first that the module prints. */
bool worker_grid_of_module(const struct graph *g, struct worker_grid *out);
#endif
