/* Tensors whose elements are computed when they are asked for, so that a few elements of a result can be had at the
 * shapes of a model.
 *
 * An op becomes a few nodes, each of one of the kinds below; movement is a view of a node (struct view) and makes none.
 * The evaluators and lowerings of proof/numeric make them: the tensors that they yield have no elements. evaluate.h
 * computes elements of them.
 *
 * All of it lives in the arena of the context. */
#ifndef FA_LAZY_H
#define FA_LAZY_H

#include "proof/value/tensor.h"

enum lazy_kind {
    LAZY_INPUT, /* drawn */
    LAZY_TABLE, /* given */
    LAZY_MAP,   /* a function of an element of each operand */
    LAZY_FOLD,  /* of a group of elements of each operand */
    LAZY_PLACE, /* the operand among elements of one number */
    LAZY_JOIN,  /* operands side by side */
    LAZY_TAKE,  /* of the second operand, by the index that the first one is */
};

typedef double fold_function(const double *x, const double *y, int64_t n);

struct lazy {
    uint32_t id; /* operands have smaller ones */
    enum lazy_kind kind;
    const char *name; /* of the op, for messages */
    struct shape shape;
    struct shape whole; /* the same in the same order, before neighbours became one dimension */
    int64_t n;
    struct view in[3]; /* over `shape`, but for FOLD and PLACE as is said there */
    uint32_t nin;
    bool moved; /* jitter moves it: it is computed in floats */
    /* by kind */
    uint32_t input;      /* INPUT: its number; */
    int64_t apart;       /* so far apart in it are elements that are side by side here */
    double *x;           /* TABLE: a copy */
    const double *of;    /* of these */
    uint32_t next_table; /* private: of those with its hash, plus 1; or 0 */
    double fill;         /* PLACE */
    /* MAP: one of these, or `rounds`, or a choice by the first operand */
    unary_function *unary;
    binary_function *binary;
    bool rounds, wraps;
    bool given;           /* it is drawn as inputs are: what it is made of is not asked for */
    struct lazy *instead; /* NULL; else what is read where it would be, by nodes that are made from now on */
    bool tabled;          /* it depends on a constant of several numbers, */
    bool drawn;           /* on an input, */
    bool decided;         /* and on more than whether numbers are infinite */
    bool chooses;         /* one of two ways, or compares: */
    bool meets[2];        /* which ones elements go; evaluate.h sets it */
    bool met[2];          /* and went in sets of numbers of which results were compared */
    enum dtype type;      /* INPUT, TABLE, and of what is rounded */
    /* FOLD: `in` is over `shape` with the first element of each group, `group` over one group from there */
    fold_function *fold;
    const struct dot *dot; /* or NULL: what computes the sum of products */
    struct view group[2];
    /* PLACE: element i of the operand, in[0], along a dimension is at before + i * spread; else `fill` */
    int64_t before[MAX_RANK], spread[MAX_RANK];
    /* TAKE: the second operand is over `shape` with the elements at index 0, `size` and `step` as in struct taking */
    int64_t size, step;
    /* JOIN: begin[i] is where part i begins along the axis; nparts + 1 of them */
    struct view *parts;
    int64_t *begin;
    uint32_t nparts, axis;
};

enum { LAZY_TABLES = 256 };

struct lazies {
    struct lazy **all;
    uint32_t n, cap;
    uint32_t tables[LAZY_TABLES]; /* private: by the hash of what they are of, the first one, plus 1; or 0 */
    bool shares;                  /* what is made in the same way of the same nodes is one node */
    uint32_t *known; /* private: nodes by what they are made of, a hash table; `nknown` places, a power of 2 */
    uint32_t nknown;
};
void lazies_free(struct lazies *all);

/* ---- nodes: within eval_attempt ---- */

/* All operands are over `shape`, or broadcast from the right. */
/* Elements so far `apart` in the input. */
const struct tensor *lazy_input(struct eval_context *ctx, uint32_t input, const struct shape *s, enum dtype type,
                                int64_t apart);
const struct tensor *lazy_unary(struct eval_context *ctx, unary_function *f, const struct tensor *x);
const struct tensor *lazy_binary(struct eval_context *ctx, binary_function *f, const struct tensor *x,
                                 const struct tensor *y);
/* Elements of x where the condition is not 0, else of y. */
const struct tensor *lazy_select(struct eval_context *ctx, const struct tensor *condition, const struct tensor *x,
                                 const struct tensor *y);
/* Views over the dimensions of the result, then those of a group, the last `ngroup`; `y` may be NULL. */
const struct tensor *lazy_fold(struct eval_context *ctx, const char *name, fold_function *f, const struct view *x,
                               const struct view *y, uint32_t ngroup);
/* Element i along a dimension at before + i * spread (NULL: 1) of a tensor of that shape, all others `fill`. */
const struct tensor *lazy_place(struct eval_context *ctx, const struct view *x, const struct shape *s,
                                const int64_t *before, const int64_t *spread, double fill);
const struct tensor *lazy_take(struct eval_context *ctx, const struct taking *t);
/* Elements along one dimension, by indices that are a row; `op`: for messages. */
const struct tensor *lazy_taken(struct eval_context *ctx, const char *op, const struct tensor *x, uint32_t axis,
                                const struct tensor *indices);
/* The parts along an axis, which have the same shape otherwise; at least one. */
const struct tensor *lazy_join(struct eval_context *ctx, const struct tensor *const *parts, uint32_t n, uint32_t axis);

/* All elements of a tensor are one number that a constant has; and that number, else NAN. */
bool lazy_is_number(const struct tensor *t);
double lazy_number(const struct tensor *t);

/* Nodes that are made from now on read a view, of as many elements, where they would read the node. */
void lazy_replace(struct eval_context *ctx, struct lazy *l, const struct view *by);
/* The elements of a view. */
const struct tensor *lazy_of_view(struct eval_context *ctx, struct view v);
/* x[..., m, k] @ y[..., k, n], batch dimensions broadcast; both of rank 2 at least, and of equal k. `dot`: of two rows
 * of elements, NULL: exact. */
const struct tensor *lazy_product(struct eval_context *ctx, const struct view *x, const struct view *y,
                                  const struct dot *dot);
/* As an element type holds it; sums and products wrap. */
const struct tensor *lazy_rounded(struct eval_context *ctx, const struct tensor *x, enum dtype type, bool wraps);
/* The same for each element by itself, as no block float is. */
const struct tensor *lazy_rounded_alone(struct eval_context *ctx, const struct tensor *x, enum dtype type, bool wraps);
void lazy_round_constant(const struct tensor *x, enum dtype type);

/* Finds what depends on inputs, and how; once all nodes are made. */
void lazies_settle(struct lazies *all);
/* Its elements are 0 or 1. */
bool lazy_is_truth(const struct lazy *l);
/* A choice all elements of which, some at least, went one way. */
static inline bool lazy_has_one_way(const struct lazy *l) {
    return l->chooses && l->met[0] != l->met[1];
}

#endif
