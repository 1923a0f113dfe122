/* The parts of a layout attribute are told apart by how they begin, not by their places: these moved from one version
 * of the attribute to the next. */
#include "device/chips/layout.h"

#include <string.h>

static const struct {
    const char *name;
    enum memory memory;
} memories[] = {
    {"dram", MEMORY_DRAM},          {"l1", MEMORY_L1},       {"l1_small", MEMORY_L1}, {"trace", MEMORY_DRAM},
    {"system_memory", MEMORY_HOST}, {"system", MEMORY_HOST}, {"mmio", MEMORY_HOST}};

static const char *const memory_names[MEMORIES] = {"unknown", "host", "dram", "l1"};
static const char *const sharding_names[SHARDINGS] = {"none",          "interleaved",   "single_bank", "height_sharded",
                                                      "width_sharded", "block_sharded", "nd_sharded"};

const char *memory_name(enum memory m) {
    return memory_names[m];
}

const char *sharding_name(enum sharding s) {
    return sharding_names[s];
}

/* "#ttnn.buffer_type<dram>" to "dram"; false when the text does not end so. */
static bool inside(struct str text, struct str *out) {
    const char *open = text.n ? memchr(text.p, '<', text.n) : NULL;
    if (!open || text.p[text.n - 1] != '>')
        return false;
    *out = str_trim((struct str){open + 1, text.n - (size_t)(open + 2 - text.p)});
    return true;
}

/* The name of an alias that is not defined still says what it stands for: "#l1", "#l1_", "#dram1". */
static struct str alias_word(struct str text) {
    if (text.n && *text.p == '#')
        text = (struct str){text.p + 1, text.n - 1};
    bool l1 = str_starts(text, STR("l1"));
    while (text.n > (l1 ? 2U : 1U) &&
           (text.p[text.n - 1] == '_' || (text.p[text.n - 1] >= '0' && text.p[text.n - 1] <= '9')))
        text.n--;
    return text;
}

static enum memory read_memory(const struct mlir *m, struct str text) {
    struct str word;
    text = mlir_unalias(m, text);
    if (!inside(text, &word))
        word = alias_word(text);
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        if (str_is(word, memories[i].name))
            return memories[i].memory;
    return MEMORY_UNKNOWN;
}

/* "!ttcore.tile<32x32, bf16>", or a scalar type. */
static bool read_element(const struct mlir *m, struct str text, struct layout *out) {
    struct str tile, item, rest;
    int64_t extents[MAX_GRID_RANK];
    text = mlir_unalias(m, text);
    out->dtype = mlir_dtype(m, text);
    if (!str_starts(text, STR("!")))
        return out->dtype != DT_OTHER;
    if (!inside(text, &tile) || !mlir_item(&tile, &item) || extents_read(item, extents, &rest) != 2 || rest.n ||
        extents[0] > 1024 || extents[1] > 1024 || extents[0] == 0 || extents[1] == 0)
        return false;
    out->tile_height = (uint32_t)extents[0];
    out->tile_width = (uint32_t)extents[1];
    return out->dtype != DT_OTHER;
}

/* "memref<4x4x!ttcore.tile<32x32, f32>, #dram>": the memory is the last item. */
static bool read_memref(const struct mlir *m, struct str text, struct layout *out) {
    struct str list, item, element;
    if (!inside(text, &list) || !mlir_item(&list, &item))
        return false;
    uint32_t n = extents_read(item, out->shard, &element);
    if (n < 1 || !element.n || !read_element(m, element, out))
        return false;
    while (mlir_item(&list, &item))
        out->memory = read_memory(m, item);
    if (out->rank && out->rank != n)
        return false;
    out->rank = n;
    return true;
}

/* "<8x8>", "<8x8, (d0, d1) -> (0, d0, d1)>", "#ttcore.grid<8x8>": false when it is no grid. */
static bool read_grid(struct str text, struct layout *out) {
    struct str list, item, rest;
    int64_t extents[MAX_GRID_RANK];
    if (!inside(text, &list) || !mlir_item(&list, &item))
        return false;
    uint32_t n = extents_read(item, extents, &rest);
    if (n < 1 || rest.n || (out->rank && out->rank != n))
        return false;
    memcpy(out->grid, extents, sizeof extents);
    out->rank = n;
    return true;
}

/* "<interleaved>", or "interleaved" as it was once printed. */
static bool read_sharding(struct str text, struct layout *out) {
    struct str word;
    if (!inside(text, &word))
        word = text;
    for (int s = SHARDING_NONE; s < SHARDINGS; s++)
        if (str_is(word, sharding_names[s])) {
            out->sharding = (enum sharding)s;
            return true;
        }
    return false;
}

/* "<[#ttnn.core_range<(0,0), (7,3)>, …]>" to the number of cores. */
static int64_t count_cores(struct str text) {
    int64_t corner[4] = {0}, cores = 0;
    int n = 0;
    for (const char *p = text.p, *end = p + text.n; p < end; p++) {
        if (*p < '0' || *p > '9' || (p > text.p && p[-1] != '(' && p[-1] != ',' && p[-1] != ' '))
            continue;
        for (corner[n] = 0; p < end && *p >= '0' && *p <= '9' && corner[n] < 1 << 20; p++)
            corner[n] = corner[n] * 10 + (*p - '0');
        if (++n < 4)
            continue;
        n = 0;
        if (corner[2] >= corner[0] && corner[3] >= corner[1])
            cores += (corner[2] - corner[0] + 1) * (corner[3] - corner[1] + 1);
    }
    return cores;
}

/* One item of the attribute. Settings of others than these ("mesh = …") do not change where data lie. */
static bool read_part(const struct mlir *m, struct str item, struct layout *out) {
    if (str_starts(item, STR("core_ranges"))) {
        out->cores = count_cores(item);
        return true;
    }
    if (*item.p == '(')
        return out->has_map = affine_read(item, &out->map);
    if (str_starts(item, STR("memref<")))
        return read_memref(m, item, out);
    if (*item.p == '<' || *item.p == '#')
        item = mlir_unalias(m, item);
    if (read_grid(item, out) || read_sharding(item, out))
        return true;
    return item.n && *item.p != '<' && *item.p != '#'; /* the value of the padding, or a setting */
}

static bool names_layout(struct str text) {
    const char *open = text.n ? memchr(text.p, '<', text.n) : NULL;
    struct str name = {text.p, open ? (size_t)(open - text.p) : 0};
    return name.n && *name.p == '#' && str_ends(name, STR("layout"));
}

static int64_t product_of(const int64_t *n, uint32_t count) {
    int64_t product = 1;
    for (uint32_t i = 0; i < count; i++)
        if (__builtin_mul_overflow(product, n[i], &product))
            return -1;
    return product;
}

bool layout_is_one(const struct mlir *m, struct str encoding) {
    return names_layout(mlir_unalias(m, encoding));
}

bool layout_read(const struct mlir *m, struct str encoding, struct layout *out) {
    struct str list, item, text = mlir_unalias(m, encoding);
    *out = (struct layout){0};
    if (!names_layout(text) || !inside(text, &list))
        return false;
    while (mlir_item(&list, &item))
        if (!item.n || !read_part(m, item, out))
            return false;
    if (!out->shard[0] && !out->grid[0])
        return false;
    if (!out->grid[0])
        for (uint32_t i = 0; i < out->rank; i++)
            out->grid[i] = 1;
    if (!out->cores)
        out->cores = product_of(out->grid, out->rank);
    return out->dtype != DT_NONE && out->cores > 0;
}

static int64_t ceil_div(int64_t a, int64_t b) {
    return a / b + (a % b != 0);
}

bool layout_by_default(const struct mlir *m, const struct mlir_type *t, struct layout *out) {
    *out = (struct layout){.memory = MEMORY_DRAM,
                           .sharding = SHARDING_INTERLEAVED,
                           .dtype = t->dtype,
                           .tile_height = TILE,
                           .tile_width = TILE,
                           .rank = 2,
                           .grid = {1, 1},
                           .shard = {1, 1},
                           .cores = 1};
    const int64_t *dims = m->dims + t->first_dim;
    if (t->kind != TYPE_TENSOR || !t->ranked)
        return false;
    for (uint32_t i = 0; i < t->rank; i++) {
        int64_t n = i + 2 >= t->rank ? ceil_div(dims[i], TILE) : dims[i];
        int64_t *extent = &out->shard[i + 1 == t->rank];
        if (dims[i] < 1 || __builtin_mul_overflow(*extent, n, extent))
            return false;
    }
    return true;
}

/* All dimensions but the last in one. */
static bool collapsed_extents(const struct layout *l, const int64_t *dims, uint32_t rank, int64_t *out) {
    if (l->rank != 2)
        return false;
    out[0] = out[1] = 1;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t *extent = &out[i + 1 == rank];
        if (dims[i] < 1 || __builtin_mul_overflow(*extent, dims[i], extent))
            return false;
    }
    return true;
}

/* One for each dimension of the grid. */
static bool physical_extents(const struct layout *l, const int64_t *dims, uint32_t rank, int64_t *out) {
    int64_t last[MAX_AFFINE_DIMS], at[MAX_AFFINE_RESULTS];
    if (!l->has_map || l->map.nresults > l->rank)
        return false;
    if (l->map.ndims != rank)
        return collapsed_extents(l, dims, rank, out);
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < 1)
            return false;
        last[i] = dims[i] - 1;
    }
    if (!affine_apply(&l->map, last, at))
        return false;
    uint32_t missing = l->rank - l->map.nresults;
    for (uint32_t i = 0; i < l->rank; i++) {
        out[i] = i < missing ? 1 : at[i - missing] + 1;
        if (out[i] < 1)
            return false;
    }
    return true;
}

/* Elements of a tile along physical dimension i. */
static int64_t tile_extent(const struct layout *l, uint32_t i) {
    if (!l->tile_height)
        return 1;
    return i + 1 == l->rank ? l->tile_width : i + 2 == l->rank ? l->tile_height : 1;
}

bool layout_shard(const struct layout *l, const int64_t *dims, uint32_t rank, int64_t *out) {
    if (!physical_extents(l, dims, rank, out))
        return false;
    for (uint32_t i = 0; i < l->rank; i++) {
        if (l->grid[i] < 1)
            return false;
        out[i] = ceil_div(ceil_div(out[i], l->grid[i]), tile_extent(l, i));
    }
    return true;
}

bool layout_settle(struct layout *l, const int64_t *dims, uint32_t rank) {
    int64_t whole[MAX_GRID_RANK];
    if (!l->has_map)
        return true;
    if (!layout_shard(l, dims, rank, whole))
        return false;
    bool copied = l->map.ndims != rank, interleaved = l->sharding == SHARDING_INTERLEAVED;
    for (uint32_t i = 0; i < l->rank; i++)
        if (l->shard[i] != whole[i] && !(interleaved && (copied || l->shard[i] < whole[i])))
            return false;
    memcpy(l->shard, whole, l->rank * sizeof *whole);
    return true;
}

bool layout_of_type(const struct mlir *m, const struct mlir_type *t, struct layout *out) {
    if (!t->encoding.n || !layout_is_one(m, t->encoding))
        return layout_by_default(m, t, out);
    if (!layout_read(m, t->encoding, out))
        return false;
    if (t->ranked)
        layout_settle(out, m->dims + t->first_dim, t->rank);
    return true;
}

/* ---- bytes ---- */

/* The device has no integers of less than 8 bits. */
static int64_t bits_of(enum dtype t) {
    return format_is_integer(t) && dtype_table[t].bits < 8 ? 8 : dtype_table[t].bits;
}

int64_t tile_bytes(enum dtype t, int64_t height, int64_t width) {
    int64_t elements = height * width;
    return elements * bits_of(t) / 8 + (format_is_block(t) ? elements / 16 : 0);
}

static int64_t shard_bytes(const struct layout *l, int64_t align) {
    int64_t n, row = l->rank ? l->shard[l->rank - 1] : 0, bytes;
    if (l->tile_height) {
        n = product_of(l->shard, l->rank);
        bytes = tile_bytes(l->dtype, l->tile_height, l->tile_width);
    } else {
        n = l->rank ? product_of(l->shard, l->rank - 1) : -1;
        if (row > INT64_MAX / 128)
            return -1;
        bytes = (row * bits_of(l->dtype) / 8 + align - 1) & ~(align - 1);
    }
    return n < 0 || bytes <= 0 || __builtin_mul_overflow(n, bytes, &bytes) ? -1 : bytes;
}

int64_t layout_bytes(const struct layout *l, int64_t align) {
    int64_t bytes = shard_bytes(l, align), shards = product_of(l->grid, l->rank);
    return bytes < 0 || shards < 0 || __builtin_mul_overflow(bytes, shards, &bytes) ? -1 : bytes;
}

int64_t layout_tiles(const struct layout *l) {
    int64_t n = product_of(l->shard, l->rank), shards = product_of(l->grid, l->rank);
    if (n < 0 || shards < 0 || __builtin_mul_overflow(n, shards, &n))
        return -1;
    return l->tile_height ? n : ceil_div(n, (int64_t)TILE * TILE);
}
