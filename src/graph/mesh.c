#include "graph/mesh.h"

#include <string.h>

bool mesh_text(const struct mlir *m, uint32_t op, struct str *mesh) {
    for (; op != NONE; op = m->ops[op].parent)
        if (mlir_attr(m, op, "ttcore.meshes", mesh) || mlir_attr(m, op, "tt.meshes", mesh)) {
            const char *at = memchr(mesh->p, '<', mesh->n);
            *mesh = at ? (struct str){at, (size_t)(mesh->p + mesh->n - at)} : *mesh;
            return true;
        }
    return false;
}

int64_t mesh_devices(const struct mlir *m, uint32_t op, int64_t axis) {
    enum { MOST_DEVICES = 1 << 20 };
    struct str mesh;
    if (axis < 0 || !mesh_text(m, op, &mesh))
        return 0;
    const char *p = memchr(mesh.p, '=', mesh.n), *end = mesh.p + mesh.n;
    int64_t extent = 0;
    for (p = p ? p + 1 : end; p < end && *p == ' '; p++)
        ;
    for (; p < end && (*p == 'x' || (*p >= '0' && *p <= '9')); p++) {
        if (*p == 'x' && axis-- == 0)
            return extent;
        extent = *p == 'x' ? 0 : extent * 10 + (*p - '0');
        if (extent > MOST_DEVICES)
            return 0;
    }
    return axis == 0 ? extent : 0;
}
