/* Layouts: how a tensor lies in memory, as the encodings of its type say (`ttnn_layout`, `ttnn_nd_layout`, and the
 * older `layout` and `metal_layout` with a memref).
 *
 * An affine map collapses the dimensions of the tensor to as many as the grid has; its result at the last element, plus
 * one, is the physical extent. The grid divides that extent, the tile divides what each core gets; both round up, and
 * what is added is padding.
 *
 * Source: the tensor layout specification of tt-mlir, and TTNNLayoutAttr of its TTNN dialect (August 2026). */
#ifndef FA_LAYOUT_H
#define FA_LAYOUT_H

#include "device/chips/affine.h"
#include "ir/mlir/mlir.h"

enum memory { MEMORY_UNKNOWN, MEMORY_HOST, MEMORY_DRAM, MEMORY_L1, MEMORIES };
enum sharding {
    SHARDING_NONE,
    SHARDING_INTERLEAVED,
    SHARDING_SINGLE_BANK,
    SHARDING_HEIGHT,
    SHARDING_WIDTH,
    SHARDING_BLOCK,
    SHARDING_ND,
    SHARDINGS
};

enum { TILE = 32 };

struct layout {
    enum memory memory;
    enum sharding sharding; /* SHARDING_NONE: not said */
    enum dtype dtype;
    uint32_t tile_height, tile_width; /* 0: row-major */
    bool has_map;
    struct affine_map map;
    uint32_t rank;                /* of grid and shard */
    int64_t grid[MAX_GRID_RANK];  /* cores along each physical dimension */
    int64_t shard[MAX_GRID_RANK]; /* what each of them holds: in tiles along the last two, else in elements */
    int64_t cores;                /* that `core_ranges` names; else as many as the grid has */
};

/* Reads an encoding ("#ttnn_layout3" or the attribute itself); aliases are looked up in the module. False when it is
 * no layout that is understood. */
bool layout_read(const struct mlir *m, struct str encoding, struct layout *out);
/* Of a tensor without an encoding: tiles of 32x32, interleaved in DRAM, each of the last two dimensions padded. False
 * for types whose extents are not known. */
bool layout_by_default(const struct mlir *m, const struct mlir_type *t, struct layout *out);

/* Whether an encoding is a layout at all, read or not: "#ttcore.mesh_sharding<…>" is none. */
bool layout_is_one(const struct mlir *m, struct str encoding);
/* The layout of a tensor: by default where its encoding is none. False where that is one that is not understood. */
bool layout_of_type(const struct mlir *m, const struct mlir_type *t, struct layout *out);

/* The shard that follows from dims, grid and tile: equal to `shard` in a layout that holds together. A map for a tensor
 * of another rank was copied with the layout of another tensor: all dimensions but the last are then collapsed into
 * one. False where no map is given, or extents are not known. */
bool layout_shard(const struct layout *l, const int64_t *dims, uint32_t rank, int64_t *out);
/* Whether the layout holds together, or that cannot be told. An interleaved tensor lies in one piece, but its memref
 * may be another: one shard (13x8 tiles of 784x8) where a pass has undone a sharding, the whole of another tensor where
 * a collective was taken apart. Its `shard` is then set right. */
bool layout_settle(struct layout *l, const int64_t *dims, uint32_t rank);

/* Bytes of all shards, padding included; rows of row-major ones are padded to `align` bytes (a power of two). -1: not
 * known, or too many. */
int64_t layout_bytes(const struct layout *l, int64_t align);
/* Tiles of all shards; of row-major ones as many as their elements would fill. -1 as above. */
int64_t layout_tiles(const struct layout *l);
static inline bool layout_is_sharded(const struct layout *l) {
    return l->sharding >= SHARDING_HEIGHT;
}
/* Bytes of a tile, the shared exponents of block floats included: one for each 16 elements of a row. 0: not known. */
int64_t tile_bytes(enum dtype t, int64_t height, int64_t width);

const char *memory_name(enum memory m);     /* "dram" */
const char *sharding_name(enum sharding s); /* "height_sharded" */

#endif
