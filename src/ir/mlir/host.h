/* Memory of a host function while it is read: loops that fill buffers become ops on whole tensors. Private to
 * host.c, host_ops.c and host_memory.c. */
#ifndef FA_HOST_H
#define FA_HOST_H

#include "ir/mlir/mlir.h"
#include "ir/ops/shape.h"

enum { MAX_LOOPS = 8, MAX_PIECES = 16 };
#define MAX_ELEMENTS (INT64_C(1) << 31) /* of a buffer, a loop, a stride: products of two do not overflow */

/* base + by[0] * (iteration of the outermost loop) + ... + times * (element of the tensor `index` there). */
struct affine {
    int64_t base, by[MAX_LOOPS], times;
    uint32_t index; /* of 0 times any one */
};

struct loop {
    uint32_t header, serial; /* its first op; no two loops have one serial */
    int64_t lower, extent;
};

/* A part of a buffer that was stored: a tensor with one dimension for each of these strides, largest first. */
struct stored_part {
    uint32_t value, n;
    int64_t base, stride[MAX_LOOPS], extent[MAX_LOOPS];
};

struct buffer {
    enum dtype dtype; /* DT_NONE: nothing was stored */
    struct stored_part pieces[MAX_PIECES];
    uint32_t npieces;
    /* Where the loops that are open now (`nest`) load and store it: iterations may not meet. */
    uint32_t loaded_nest, loads, stored_nest;
    struct affine loaded, stored;
    uint32_t reduced_below; /* the loop that adds to it, while that is open */
};

struct host {
    struct mlir *m;
    struct loop loops[MAX_LOOPS];
    uint32_t nloops, serials, nest; /* nest: of outermost loops, counted */
    struct buffer *buffers;
    uint32_t nbuffers, buffers_cap;
};

bool affine_equal(const struct affine *a, const struct affine *b);
/* a += sign * b; false where that overflows. */
bool affine_add(struct affine *a, const struct affine *b, int64_t sign);

/* A tensor value in loops has a dimension for each of them, of 1 where it does not vary. NONE: it cannot be said. */
uint32_t host_buffer(struct host *h);
void host_set(struct host *h, uint32_t buffer, uint32_t tensor);
uint32_t host_load(struct host *h, uint32_t buffer, const struct affine *at);
/* `adds`: NULL, or how the value is combined with what is there ("ttir.sum", "ttir.max", "ttir.min"). */
bool host_store(struct host *h, uint32_t buffer, const struct affine *at, uint32_t tensor, const char *adds);
bool host_copy(struct host *h, uint32_t to, int64_t to_at, uint32_t from, int64_t from_at, int64_t n);
uint32_t host_op(struct host *h, const char *name, const uint32_t *operands, uint32_t n, enum dtype dtype);
uint32_t host_number(struct host *h, double x, enum dtype dtype);
/* A number that counts places, as an element. */
uint32_t host_whole(struct host *h, const struct affine *at, enum dtype dtype);
/* A strided view of a buffer, as a tensor of these sizes. */
uint32_t host_view(struct host *h, uint32_t buffer, int64_t offset, const int64_t *sizes, const int64_t *strides,
                   uint32_t rank);
enum dtype host_dtype(const struct host *h, uint32_t tensor);

#endif
