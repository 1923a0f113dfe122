/* What ops cost on a device, in two kinds of figures that are kept apart: what is counted follows from types and
 * layouts alone, what is estimated from a model of the chip.
 *
 * The model of one op: it waits for the gap between two ops, starts, and takes as long as the slower one of moving its
 * data and computing on them:
 *
 *     us = gap + startup + max(bytes / bandwidth, cycles / (cores * clock), bytes sent / bandwidth of a link)
 *
 * Bandwidth is that of DRAM as ordinary ops reach it, and no more than the cores of the op can move. Ops run queued: a
 * host that cannot keep up costs more. Sources of the figures: devices/. */
#ifndef FA_COST_H
#define FA_COST_H

#include "device/chips/chip.h"
#include "device/chips/layout.h"

/* Bytes are those of padded tensors; what lies in host memory counts nowhere. */
struct counted {
    int64_t launches;
    int64_t dram_read, dram_written, l1_read, l1_written;
    int64_t held; /* of results that only the ops themselves use: the most at one time */
};

/* What an op waits for most of its time: memory, computing, or being started at all. */
enum bound { BOUND_LAUNCH, BOUND_DRAM, BOUND_L1, BOUND_COMPUTE, BOUND_LINK, BOUNDS };

struct estimated {
    double us;
    double spent[BOUNDS];                /* us by what it is spent on; their sum is `us` */
    double matrix_cycles, vector_cycles; /* of all cores together */
    int64_t cores;                       /* the fewest of any op that takes part */
};

struct cost {
    struct counted counted;
    struct estimated estimated;
};

/* Prices the ops of one graph. */
struct pricer {
    const struct graph *graph;
    const struct device *device;
    const double *cycles;             /* by operator, of struct chips */
    const struct perf_join *measured; /* times of a profiler; or NULL */
    bool flat;                        /* as if tensors in tiles had no dimensions of 1 before the last */
    struct priced_type *types;        /* private: by type */
    uint32_t ntypes;
};

void pricer_begin(struct pricer *p, const struct graph *g, const struct device *d, const double *cycles);
void pricer_end(struct pricer *p);

/* What one op works on: to be priced as a launch of its own. */
struct work {
    int64_t dram_read, dram_written, l1_read, l1_written;
    double again; /* bytes of DRAM that a kernel reads more than once; counted nowhere else */
    int64_t sent; /* bytes over a link to the next chip */
    double matrix_cycles, vector_cycles;
    int64_t cores;
};

/* The layout of a value, that of its type or the default one; NULL: its size is not known. */
const struct layout *value_layout(struct pricer *p, uint32_t value);
/* Adds a value that is read or written; false when its size is not known. */
bool work_reads(struct pricer *p, uint32_t value, struct work *w);
bool work_writes(struct pricer *p, uint32_t value, struct work *w);
/* The same of a value that stands for an operand of an op. */
bool work_reads_operand(struct pricer *p, uint32_t op, uint32_t operand, uint32_t value, struct work *w);
/* What an op reads of an operand: a value of that size, its result where it takes a part. */
uint32_t read_of(const struct pricer *p, uint32_t op, uint32_t operand);
/* A dimension of a value, counted from the last one; 1 where it is not known. */
int64_t extent_from_end(const struct graph *g, uint32_t value, uint32_t back);
/* Tiles that a value has, 0 where they are not known; rows of tiles. */
int64_t tiles_of(struct pricer *p, uint32_t value);
int64_t tile_rows(struct pricer *p, uint32_t value);
/* What a kernel of attention is given: `heads` times so many queries, keys, and numbers in each. */
struct attention {
    int64_t heads, rows, keys, width;
    bool one_query;   /* spread over its keys */
    uint32_t product; /* the op whose attributes say with which fidelity it multiplies */
};

struct attention attention_of_op(const struct graph *g, uint32_t op);
/* Its heads are padded to whole tiles, and its result is cut again: ttnn.scaled_dot_product_attention, of tt-mlir
 * (TTNN/Transforms/Workarounds/Decomposition, ScaledDotProductAttentionPadTileDims). */
static inline bool attention_is_padded(struct attention a) {
    return a.width % TILE != 0 && !a.one_query;
}
/* It reads keys and values again for each chunk of queries. */
void work_attends(struct pricer *p, const struct attention *a, uint32_t result, struct work *w);
/* A kernel along rows that L1 does not hold reads its operands twice. */
void work_by_rows(struct pricer *p, enum op_kind k, uint32_t result, struct work *w);
/* The bias that a product takes; NONE. */
uint32_t product_bias(const struct graph *g, uint32_t op);
/* Whether TTNN adds the bias of a linear after the product, as an op of its own. */
bool bias_is_apart(struct pricer *p, uint32_t product, uint32_t bias, uint32_t result);
/* Whether it is given a program config, without which an activation is an op of its own. */
bool product_is_configured(const struct graph *g, uint32_t product);
/* What an op of the graph does, without what TTNN runs beside it. False: a size is not known. */
bool work_of_op(struct pricer *p, uint32_t op, struct work *out);
/* Whether the op runs on the device at all: not a constant, a view, or what is computed once. */
bool op_is_launched(struct pricer *p, uint32_t op);
/* Adds one launch. */
void cost_add(const struct pricer *p, const struct work *w, struct cost *to);
/* Adds a launch that reads one value and writes another; false when a size is not known. */
bool cost_add_pass(struct pricer *p, uint32_t from, uint32_t to, double cycles, struct cost *out);

/* What TTNN runs behind a product as ops of their own: its bias, its activation. */
struct apart {
    bool bias, activation;
    double cycles; /* of the activation */
};

/* Adds a launch that does this work but for what of it runs apart, and the launches of that. False: a size is not
 * known. */
bool cost_add_launch(struct pricer *p, struct work *w, const struct apart *apart, uint32_t result, struct cost *to);
/* Adds an op of the graph where it is launched, with what TTNN runs beside it. False: a size is not known. */
bool cost_add_op(struct pricer *p, uint32_t op, struct cost *to);
/* What most of the time is spent on. */
enum bound cost_bound(const struct estimated *e);
const char *bound_name(enum bound b); /* "DRAM" */

/* Cores that so many pieces of work keep busy. */
int64_t cores_for(const struct pricer *p, int64_t pieces);

#endif
