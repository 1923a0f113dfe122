/* The mesh of devices that a module prints: ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>. */
#ifndef FA_MESH_OF_MODULE_H
#define FA_MESH_OF_MODULE_H

#include "ir/graph/graph.h"

/* What follows the first '<', of the modules around an op the first that has one. */
bool mesh_text(const struct mlir *m, uint32_t op, struct str *mesh);
/* The devices along one axis of it; 0: the module does not say. */
int64_t mesh_devices(const struct mlir *m, uint32_t op, int64_t axis);

/* How an op cuts a tensor of the host up for the devices, or joins what they have: mesh_shard, and distribute_tensor
 * and aggregate_tensor, which the compiler makes of it. */
struct placement {
    bool joins,
        in_place; /* in_place: the devices have their parts before the op, which only says of what shape the whole is */
    int64_t dims[4]; /* by axis of the mesh: the dimension that is cut along it; -1: none */
};

/* False: the op is none of these, or says it in a way that is not understood. */
bool mesh_placement(const struct graph *g, uint32_t op, struct placement *p);
bool placements_agree(const struct placement *a, const struct placement *b);
/* Each device has all of it. */
bool placement_cuts_nothing(const struct placement *p);

/* A point_to_point: along `axis` of the mesh from one device to another, of the group with this number along the other
 * axis. */
struct transfer {
    int64_t axis, from, to, group;
};

/* False: it is none, or goes along both axes, or along none. */
bool mesh_transfer(const struct graph *g, uint32_t op, struct transfer *out);
/* What a transfer puts its part into, where that has the same part of the group before: of one group nothing changes.
 * NONE. */
uint32_t mesh_repeated(const struct graph *g, uint32_t op);

#endif
