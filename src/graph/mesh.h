/* The mesh of devices that a module prints: ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>. */
#ifndef FA_MESH_OF_MODULE_H
#define FA_MESH_OF_MODULE_H

#include "mlir/mlir.h"

/* What follows the first '<', of the modules around an op the first that has one. */
bool mesh_text(const struct mlir *m, uint32_t op, struct str *mesh);
/* The devices along one axis of it; 0: the module does not say. */
int64_t mesh_devices(const struct mlir *m, uint32_t op, int64_t axis);

#endif
