/* Tensors of doubles in an arena, and views of them: strided index maps, as those of NumPy.
 *
 * A function that fails puts the reason into the context. Within eval_attempt, as all evaluators are, it does not
 * return; elsewhere it returns NULL or false. The first reason stays until the caller clears it; later ones are
 * dropped. */
#ifndef FA_TENSOR_H
#define FA_TENSOR_H

#include <setjmp.h>
#include <stdlib.h>

#include "ir/ops/shape.h"
#include "proof/value/format.h"
#include "proof/value/reason.h"

/* Of one whose elements are computed when they are asked for (lazy.h) they are those of `lazy` from `offset` on; `x` is
 * NULL, or the one number that all of them are. Else they are at `x`, row-major; only the function that made it writes
 * to it. */
struct tensor {
    struct shape shape;
    int64_t n; /* elements */
    double *x;
    struct lazy *lazy;
    int64_t offset, stride[MAX_RANK];
};

enum arithmetic {
    ARITHMETIC_EXACT,  /* doubles; only results of integer type are rounded, since indices have to be whole */
    ARITHMETIC_DEVICE, /* products as the matrix unit computes them; each result is rounded to its element type as the
                        * packer does
                        */
    ARITHMETIC_INSIDE, /* inside of a fused op: products as the matrix unit computes them, nothing else is rounded */
};

/* Devices along one axis of a mesh: all evaluate the same ops, each on operands of its own. */
enum { MAX_DEVICES = 8 };
struct eval_context;
struct pattern_set;
struct attr;
struct lazy;
struct lazies;
struct taking;
struct call;
struct tensor;
/* A result of an op for each that it has. */
typedef void evaluator(struct eval_context *ctx, const struct call *c, const struct tensor **out);
struct mesh {
    uint32_t devices;
    /* The operand of a collective on each device; x is that of this one. False with a reason. */
    bool (*gather)(struct eval_context *b, const struct tensor *x, const struct tensor *all[MAX_DEVICES]);
};

/* Order of equal elements in a sort or topk that does not promise to be stable, and of all in a topk that does not
 * promise to be sorted. A proof tries several: a result that depends on the order is none that an op has to give. */
enum equals {
    EQUALS_FIRST,   /* as in the operand */
    EQUALS_LAST,    /* reversed */
    EQUALS_POINTED, /* each index is replaced by the element it points to, which is the same in every order */
    EQUALS_UNSORTED /* as in the operand; what need not be sorted is reversed */
};

/* One evaluation: its memory, its limits, the device it stands for, and the reason when it failed. Zeroed but for the
 * arena, it evaluates exactly, on one device. Not shared between threads. */
struct eval_context {
    struct arena *arena; /* owns all tensors */
    const struct pattern_set
        *lowerings; /* what fused ops compute (patterns/library/lowering.h); NULL: they have no evaluator */
    enum arithmetic arithmetic;
    uint64_t max_elements;             /* that tensors have in all; 0: 2^24 */
    uint64_t elements;                 /* used so far */
    enum dtype product_type;           /* ARITHMETIC_INSIDE: element type of the operands of products */
    const struct attr *product_config; /* ARITHMETIC_INSIDE: compute_config of the fused op, or NULL */
    enum equals equals;
    bool exact_products;  /* ARITHMETIC_DEVICE: results are rounded, products are computed as in f64 */
    bool blackhole;       /* default math fidelities are those of Blackhole, else of Wormhole */
    struct lazies *nodes; /* proof/value/lazy.h; NULL: of numbers only */
    struct mesh *mesh;    /* NULL: there is one device, and collectives have no evaluator */
    uint32_t device;      /* of the mesh */
    struct str error;     /* empty: none */
    enum reason_kind why; /* of the error */
    jmp_buf *escape;      /* of the innermost eval_attempt, or NULL */
};

/* Calls f, which may fail anywhere, and may change the arithmetic for its own part: all memory is in the arena, so
 * nothing else has to be undone. False with the reason. */
bool eval_attempt(struct eval_context *ctx, void (*f)(struct eval_context *ctx, void *self), void *self);
/* Notes the reason, unless there is one, and ends the attempt that runs. Where there is none: false. */
bool eval_reason(struct eval_context *ctx, enum reason_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* For `return eval_fail(...)` of what may run outside of an attempt; and for evaluators, which run in one. */
#define eval_fail(ctx, ...)      eval_reason(ctx, REASON_OTHER, __VA_ARGS__)
#define op_fails(ctx, ...)       (eval_reason(ctx, REASON_OTHER, __VA_ARGS__), abort())
#define op_unsupported(ctx, ...) (eval_reason(ctx, REASON_NO_EVALUATOR, __VA_ARGS__), abort())
/* Zeroed. NULL with a reason where a dimension is negative, the rank too high or the memory limit reached. */
struct tensor *tensor_new(struct eval_context *b, const struct shape *s);
struct tensor *tensor_scalar(struct eval_context *b, double x); /* of rank 0 */
/* The same elements in another shape; shares them. NULL with a reason where the counts differ. */
const struct tensor *tensor_reshape(struct eval_context *b, const struct tensor *t, const struct shape *s);
/* Broadcast from the right as NumPy does it. False with a reason where two extents differ and none is 1. */
bool shape_broadcast(struct eval_context *b, const struct shape *x, const struct shape *y, struct shape *out);

/* Elements of a tensor by index: x[offset + sum of index * stride]. A stride of 0 repeats, a negative one reverses. */
struct view {
    struct shape shape;
    const double *x;
    struct lazy *lazy; /* x is NULL: those of this */
    int64_t offset, stride[MAX_RANK];
};

/* Elements by index: of `x`, at its own offset and so many times `step` further. */
struct taking {
    const char *op;       /* for messages */
    struct view x, index; /* of one shape */
    int64_t size, step;   /* indices are below `size`; those below 0 count from the end */
};

/* How a sum of products is computed: of two rows that were prepared, each by itself. */
struct dot {
    void (*prepare)(const struct dot *self, int operand, const double *x, int64_t n, double *out); /* 2 * n numbers */
    double (*of)(const struct dot *self, const double *x, const double *y, int64_t n);
};

struct view view_of(const struct tensor *t);
/* Expanded to a shape that the tensor broadcasts to. */
struct view view_expanded(const struct tensor *t, const struct shape *to);
/* Dimension i of the result is dimension order[i]. */
struct view view_permuted(struct view v, const uint32_t *order);
struct view view_swapped(struct view v, uint32_t a, uint32_t b);
/* Elements begin, begin + step, ... along a dimension, `count` of them. */
struct view view_cut(struct view v, uint32_t dim, int64_t begin, int64_t step, int64_t count);
/* The element at which an index points, or -1: it points to none. */
static inline int64_t index_within(double index, int64_t size) {
    double at = index < 0 ? index + (double)size : index;
    return at >= 0 && at < (double)size && at == (double)(int64_t)at ? (int64_t)at : -1;
}

#endif
