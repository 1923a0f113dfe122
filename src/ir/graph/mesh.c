#include "ir/graph/mesh.h"

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

static bool cut(struct placement *p, int64_t axis, int64_t dim) {
    bool there = axis >= 0 && axis < (int64_t)(sizeof p->dims / sizeof *p->dims);
    if (there)
        p->dims[axis] = dim;
    return there;
}

/* shard_dims has the dimension of each axis, shard_shape in how many parts each dimension is cut. */
static bool read_mesh_shard(const struct attrs *a, struct placement *p) {
    const struct attr *type = attrs_find(a, "shard_type"), *direction = attrs_find(a, "shard_direction");
    const int64_t *dims, *parts;
    int32_t n = attrs_list(a, "shard_dims", &dims), rank = attrs_list(a, "shard_shape", &parts);
    if (!type || !direction || str_find(type->text, STR("maximal")))
        return false;
    p->joins = str_find(direction->text, STR("shard_to_full")) != NULL;
    p->in_place = str_find(type->text, STR("identity")) != NULL;
    bool good = true, cuts = !str_find(type->text, STR("replicate"));
    for (int32_t i = 0; i < n && cuts && good; i++)
        if (dims[i] >= 0)
            good = dims[i] < rank && (parts[dims[i]] == 1 || cut(p, i, dims[i]));
    return good && (n >= 0 || !cuts);
}

/* "[<replicate, -1 : i32>, <shard, 1 : i32>]", by axis. */
static bool read_placements(const struct attr *config, struct placement *p) {
    const struct attr *list = attrs_find(&config->inside, "placements");
    const int64_t *devices;
    int32_t n = attrs_list(&config->inside, "mesh_shape_override", &devices);
    bool good = list != NULL;
    struct str rest = list ? list->text : STR("");
    for (int64_t axis = 0, dim; good && rest.n; axis++) {
        const char *open = memchr(rest.p, '<', rest.n), *end = rest.p + rest.n;
        const char *comma = open ? memchr(open, ',', (size_t)(end - open)) : NULL;
        const char *close = comma ? memchr(comma, '>', (size_t)(end - comma)) : NULL;
        if (!close)
            return !open;
        bool shard =
            str_find((struct str){open, (size_t)(comma - open)}, STR("shard")) && (axis >= n || devices[axis] > 1);
        good = mlir_int((struct str){comma + 1, (size_t)(close - comma - 1)}, &dim) && (!shard || cut(p, axis, dim));
        rest = (struct str){close, (size_t)(end - close)};
    }
    return good;
}

/* Each axis joins along its dimension what so many devices have. */
static bool read_composer(const struct attr *config, struct placement *p) {
    const int64_t *dims, *devices;
    int32_t n = attrs_list(&config->inside, "dims", &dims);
    bool good = n >= 0 && attrs_list(&config->inside, "mesh_shape_override", &devices) == n;
    p->joins = true;
    for (int32_t i = 0; i < n && good; i++)
        good = devices[i] == 1 || cut(p, i, dims[i]);
    return good;
}

bool mesh_placement(const struct graph *g, uint32_t op, struct placement *p) {
    if (!graph_op_is(g, op, SHARDS))
        return false;
    const struct attrs *a = graph_attributes(g, op);
    const struct attr *mapper = attrs_find(a, "mapper_config"), *composer = attrs_find(a, "composer_config");
    *p = (struct placement){.dims = {-1, -1, -1, -1}};
    return mapper ? read_placements(mapper, p) : composer ? read_composer(composer, p) : read_mesh_shard(a, p);
}

bool placements_agree(const struct placement *a, const struct placement *b) {
    return a->joins == b->joins && a->in_place == b->in_place && memcmp(a->dims, b->dims, sizeof a->dims) == 0;
}

bool placement_cuts_nothing(const struct placement *p) {
    return p->dims[0] < 0 && p->dims[1] < 0 && p->dims[2] < 0 && p->dims[3] < 0;
}

bool mesh_transfer(const struct graph *g, uint32_t op, struct transfer *out) {
    static const char *const keys[][2] = {{"sender_coord", "receiver_coord"}, {"send_coord", "receive_coord"}};
    for (int i = 0; i < 2 && graph_op_is(g, op, PARTIAL); i++) {
        const int64_t *from, *to;
        if (attrs_list(graph_attributes(g, op), keys[i][0], &from) != 2 ||
            attrs_list(graph_attributes(g, op), keys[i][1], &to) != 2)
            continue;
        int axis = from[0] == to[0];
        *out = (struct transfer){axis, from[axis], to[axis], from[!axis]};
        return from[axis] != to[axis] && from[!axis] == to[!axis];
    }
    return false;
}

uint32_t mesh_repeated(const struct graph *g, uint32_t op) {
    enum { MOST_STEPS = 256 };
    struct transfer own, other;
    if (!mesh_transfer(g, op, &own) || own.group < 1 || graph_noperands(g, op) < 2)
        return NONE;
    uint32_t sent = graph_operands(g, op)[0], there = graph_operands(g, op)[1], before = op;
    for (int step = 0; step < MOST_STEPS && graph_noperands(g, before) == 2; step++) {
        uint32_t v = graph_operands(g, before)[1];
        before = v == NONE ? NONE : g->m->values[v].def;
        if (before == NONE || !mesh_transfer(g, before, &other) || other.axis != own.axis)
            return NONE;
        if (other.group + 1 == own.group && other.from == own.from && other.to == own.to &&
            graph_operands(g, before)[0] == sent)
            return there;
    }
    return NONE;
}
