/* The dialect-neutral graph of a module: which operator each op is, its data operands by role,
 * who uses each value, which functions to audit, and constants seen through const-eval functions.
 *
 * Left out of the operands: device handles (but not of calls and returns, where places count) and
 * destination-passing outputs of old text. Left out of the uses: deallocate. An absent optional
 * operand is NONE, so that operand i is role i. An op with fewer operands than its kind requires gets
 * K_UNKNOWN, so code that has checked the kind may index the required operands. */
#ifndef FA_GRAPH_H
#define FA_GRAPH_H

#include "base/base.h"
#include "mlir/mlir.h"

enum op_class {
    OP_OPAQUE,   /* nothing is known about indices */
    OP_ELTWISE,  /* out[i] = f(a[i], b[i], ...), broadcast from the right */
    OP_REDUCE,   /* over dim_arg */
    OP_AXISWISE, /* along one axis: softmax, norms */
    OP_CONTRACT, /* matrix products */
    OP_ALIKE,    /* out[i] depends on x[i] and perhaps on more: collectives, distributed norms */
    OP_SLICE,    /* a part of x along some dimensions */
    OP_JOIN,     /* operands side by side along `dim` */
    OP_MOVE,     /* an index map: reshape, permute, broadcast, repeat */
    OP_CAST,     /* identity up to rounding */
    OP_LAYOUT,   /* identity */
    OP_CONSTANT,
    OP_CALL,
    OP_RETURN,
    OP_NO_USE,   /* mentions a value without using it */
    OP_STRUCTURE /* modules, functions, device handles */
};

enum op_kind {
    K_UNKNOWN,
#define OP(id, ...) K_##id,
#include "graph/ops.def"
    K_COUNT
};

enum op_flag {
    COMMUTES = 1,         /* operands may be swapped */
    BATCHES = 2,          /* a leading dimension more is one more of a batch, as of elementwise ops and movement */
    PIECEWISE = 4,        /* computes something else on either side of a threshold */
    WRAPS = 8,            /* integers that do not fit lose their high bits */
    SORTS = 16,           /* the order of equals is open */
    COLLECTIVE = 32,      /* exchanges data between devices */
    AS_PRINTED = 64,      /* defined by the order of its operand's dimensions, whatever the axes of a formula are */
    FOLDED_WEIGHTS = 128, /* its row of weights may be folded to several */
    PADS_ROWS = 256       /* adds rows without data to fill a tile */
};

/* What an attribute says of dimensions; with a colon before it in the column `dims`. */
enum dims_role {
    DIMS_NONE,
    DIMS_AXIS,    /* numbers of dimensions */
    DIMS_ORDER,   /* all of them, permuted */
    DIMS_BEGINS,  /* the rest but the last: a list with an entry for each */
    DIMS_ENDS,    /* of a slice */
    DIMS_STEPS,   /* of a slice */
    DIMS_SHAPE,   /* of the result */
    DIMS_FACTORS, /* by which the operand's are repeated */
    DIMS_FACTOR,  /* a number: by which one is repeated */
    DIMS_SIZES,   /* of some: a number or a list */
    DIMS_COUNT    /* of images, heads, groups: a number that need not be an extent */
};

enum window_kind { WINDOW_NONE, WINDOW_CONVOLUTION, WINDOW_TRANSPOSED, WINDOW_POOL, WINDOW_UPSAMPLING };

enum shrink_rule {
    SHRINK_BY_CLASS,
    SHRINK_FREE,       /* any extents: the dimensions of both sides are the same numbers */
    SHRINK_RESHAPE,    /* products of extents are equal */
    SHRINK_MULTIPLIES, /* the result's are multiples of the operand's */
    SHRINK_DIVIDES,    /* and the other way round */
    SHRINK_PAD,        /* as many elements are added */
    SHRINK_FILLS,      /* one user of a cache, by number */
    SHRINK_TAKES_K     /* of the last dimension */
};

/* The columns of ops.def; a string that is not given is NULL, a list ends with one. */
struct op_info {
    const char *name;
    enum op_class class;
    unsigned flags;
    const char *roles, *spellings;
    const char *strict, *attributes, *dims, *absent, *in_formula;
    const char *axes[4], *says[4];
    struct {
        const char *key;
        int64_t otherwise;
    } channels;
    struct {
        enum window_kind kind;
        uint32_t rank;
    } window;
    enum shrink_rule shrink;
};

extern const struct op_info op_table[K_COUNT];

enum { MAX_WINDOW = 3 };
/* The attributes of the spatial dimensions of an op with a window, by their number less one: which they are, and how
 * large in an image that is printed flat. */
extern const char *const window_dim_keys[MAX_WINDOW][MAX_WINDOW], *const window_size_keys[MAX_WINDOW][MAX_WINDOW];

static inline bool op_is(enum op_kind k, enum op_flag flag) {
    return op_table[k].flags & flag;
}
static inline bool op_convolves(enum op_kind k) {
    return op_table[k].window.kind == WINDOW_CONVOLUTION || op_table[k].window.kind == WINDOW_TRANSPOSED;
}
/* Constants and sequences: its elements are made of no operand. */
static inline bool op_generates(enum op_kind k) {
    return op_table[k].roles[0] == '\0' && op_table[k].class != OP_STRUCTURE;
}
/* What an attribute of the operator says of dimensions. */
enum dims_role op_dims_role(enum op_kind k, struct str key);
/* True where the attribute numbers the dimensions that the operator works along. */
bool op_works_along(enum op_kind k, struct str key);
/* The attribute that stands for an operand of this role where that is missing; empty: none does. */
struct str op_role_attribute(enum op_kind k, struct str role);
/* The value of a key in "key=value ..." (columns `absent`, `in_formula`), of which "a/b" is `a` in TTIR. */
bool op_default(const char *defaults, const char *key, bool ttnn, struct str *value);

/* Operator of a neutral name ("add") or a spelling ("ttnn.add"); K_UNKNOWN when there is none. */
enum op_kind op_kind_of_name(struct str neutral);
enum op_kind op_kind_of_spelling(struct str spelling);
/* The neutral name closest to a misspelt one, or NULL. */
const char *op_nearest_name(struct str misspelt);

enum func_kind {
    FUNC_MAIN,       /* runs on the device at each call: audited */
    FUNC_CONST_EVAL, /* runs once */
    FUNC_CPU,        /* hoisted to the host */
    FUNC_COMPOSITE,  /* body of a composite or outlined kernel */
    FUNC_DECLARATION
};

struct constant {
    bool known;
    double value;
    int bits; /* significant bits of the narrowest float format on its way (8 for bf16); 53 for integers */
};

struct graph {
    const struct mlir *m;
    uint16_t *kind;          /* per op */
    uint32_t *first_operand; /* per op, nops + 1 entries: data operands are operands[first_operand[i] ...] */
    uint32_t *operands;      /* value ids; NONE for an absent optional one */
    uint32_t *first_use;     /* per value, nvalues + 1 entries */
    uint32_t *uses;          /* op ids, one per operand slot */
    uint8_t *func_kind;      /* per function */
    uint32_t *call_site;     /* per function: the op that calls it; NONE: none or several */
    bool has_call_sites;     /* of some function */
    uint32_t *return_op;     /* per function: its return; NONE: none or several */
    uint32_t *arg_funcs;     /* the functions that have arguments, in the order of their arguments */
    uint32_t narg_funcs;
    uint32_t
        *ops_before; /* prefix sums by op, nops + 1: data ops before it (no constants, calls, returns, deallocates) */
    uint8_t *value_flags; /* per value; private to value.c */
    double *constants;    /* per value, where known */
    uint8_t *constant_bits;
    uint32_t *through; /* per op; graph_through */
    uint16_t *varies;  /* per value: the dimensions along which it may vary, a bit each (depend.c) */
    uint32_t nedges;
    uint32_t ndestinations;  /* destination-passing operands dropped */
    bool has_ttir, has_ttnn; /* in functions to audit */
};

/* Says in `d` (or NULL) what does not hold together: such an op gets K_UNKNOWN, so that no room behind meets it. */
void graph_build(struct graph *g, const struct mlir *m, struct diags *d);
void graph_free(struct graph *g);
static inline uint32_t graph_noperands(const struct graph *g, uint32_t op) {
    return g->first_operand[op + 1] - g->first_operand[op];
}
static inline const uint32_t *graph_operands(const struct graph *g, uint32_t op) {
    return g->operands + g->first_operand[op];
}
/* Those that are there; scratch space is none. */
uint32_t graph_count_operands(const struct graph *g, uint32_t op);
static inline uint32_t graph_nuses(const struct graph *g, uint32_t v) {
    return g->first_use[v + 1] - g->first_use[v];
}
static inline enum op_class graph_class(const struct graph *g, uint32_t op) {
    return op_table[g->kind[op]].class;
}

/* Ops whose result has the elements of their one data operand: rearranged, rounded to another format, or laid out
 * differently in memory. */
static inline bool class_moves(enum op_class c) {
    return c == OP_MOVE || c == OP_CAST || c == OP_LAYOUT;
}

/* The one definition of what is looked through: an op that moves (class_moves), and one that changes nothing: with a
 * neutral constant (a dropout that is off, a bias of 0), a clamp of what is within its bounds, a reduction of single
 * elements, a slice of all. Its operand with all elements of the result; NONE for other ops. */
static inline uint32_t graph_through(const struct graph *g, uint32_t op) {
    return g->through[op];
}
static inline bool graph_looks_through(const struct graph *g, uint32_t op) {
    return graph_through(g, op) != NONE;
}

/* The attribute that is printed of those that number the dimensions that an op works along. */
bool graph_axes(const struct graph *g, uint32_t op, struct str *text);

/* How many of the operand's `rank` dimensions a reduction reduces, and which: without a list all of them. NONE where
 * that is not known. */
uint32_t graph_reduced_dims(const struct graph *g, uint32_t op, uint32_t rank, bool *reduced);

/* Dims of a value's tensor; 0 with *rank 0 for scalars. NULL for unranked or non-tensors. */
static inline const int64_t *graph_shape(const struct graph *g, uint32_t value, uint32_t *rank) {
    const struct mlir *m = g->m;
    const struct mlir_type *t = &m->types[m->values[value].type];
    static const int64_t none = 0;
    *rank = 0;
    if (t->kind == TYPE_SCALAR)
        return &none;
    if (t->kind != TYPE_TENSOR || !t->ranked)
        return NULL;
    *rank = t->rank;
    return t->rank ? m->dims + t->first_dim : &none;
}
/* The dimensions of more than one element, a bit each; all bits where the shape is not known. */
enum { ALL_DIMENSIONS = UINT16_MAX };
uint16_t graph_dimensions(const struct graph *g, uint32_t v);
int64_t graph_numel(const struct graph *g, uint32_t value); /* -1 when dynamic or unknown */
enum dtype graph_dtype(const struct graph *g, uint32_t value);

/* Old text is destination-passing: the last operand is a fresh *.empty that the op writes to. */
bool graph_is_destination(const struct graph *g, uint32_t value);
/* True when the op is of its kind and nothing else is folded into it (ops.def, `strict`). */
bool graph_plain(const struct graph *g, uint32_t op);

/* The one value that all elements of `v` have, seen through calls, movement, casts and arithmetic on constants. */
struct constant graph_constant(const struct graph *g, uint32_t v);
/* The function argument of an audited function that `v` is, seen through calls, movement and casts; NONE otherwise. */
uint32_t graph_argument(const struct graph *g, uint32_t v);
/* True when `v` depends on parameters and constants only. */
bool graph_is_parameter(const struct graph *g, uint32_t v);
/* Where `v` comes from one call inward: the value returned for it by the called function; NONE if v is no call's
 * result. */
uint32_t graph_callee_value(const struct graph *g, uint32_t v);
/* Where argument `v` of a called function comes from: the operand at its only call; NONE if it has none. */
uint32_t graph_caller_value(const struct graph *g, uint32_t v);
/* Function and number of an argument value. False when `v` is no function argument. */
bool graph_argument_of(const struct graph *g, uint32_t v, uint32_t *func, uint32_t *number);
/* "input", "parameter", "constant" as printed in ttcore.argument_type; empty when not printed. */
struct str graph_argument_type(const struct graph *g, uint32_t v);
/* True when an argument that no caller gives a value is printed as "input". */
bool graph_argument_is_input(const struct graph *g, uint32_t v);
/* ttir.name of an argument; empty when not printed. */
struct str graph_argument_name(const struct graph *g, uint32_t v);

#endif
