/* The operator table: what every folder knows of an operator is its row in ops.def. Knows no graph. */
#ifndef FA_OPS_H
#define FA_OPS_H

#include "base/base.h"

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

/* Ops whose result has the elements of their one data operand: rearranged, rounded to another format, or laid out
 * differently in memory. */
static inline bool class_moves(enum op_class c) {
    return c == OP_MOVE || c == OP_CAST || c == OP_LAYOUT;
}

enum op_kind {
    NO_OPERATOR,
#define OP(id, ...) K_##id,
#include "ir/ops/ops.def"
    OPERATORS
};

enum op_flag {
    COMMUTES = 1,         /* operands may be swapped */
    PIECEWISE = 4,        /* computes something else on either side of a threshold */
    WRAPS = 8,            /* integers that do not fit lose their high bits */
    SORTS = 16,           /* the order of equals is open */
    COLLECTIVE = 32,      /* exchanges data between devices */
    AS_PRINTED = 64,      /* defined by the order of its operand's dimensions, whatever the axes of a formula are */
    FOLDED_WEIGHTS = 128, /* its row of weights may be folded to several */
    PADS_ROWS = 256,      /* adds rows without data to fill a tile */
    BY_DIALECT = 512,     /* of the same operands and attributes TTIR and TTNN compute different things */
    IN_PLACE = 1024,      /* writes its second operand into the first one */
    COMPOSITE = 2048,     /* TTIR has it as a ttcore.composite of its name */
    ANY_RESULT = 4096,    /* TTIR accepts it whatever the shape of its result is */
    COMPARES = 8192,      /* a truth value: one number beside the other */
    ADDS = 1 << 14,       /* or subtracts */
    SCALES = 1 << 15,     /* or divides */
    SELECTS = 1 << 16,    /* one of two, by its first operand */
    COUNTS = 1 << 17,     /* its elements are positions along one dimension */
    REARRANGES = 1 << 18, /* the data of its first operand, though in a way that no index map tells */
    PREPARES = 1 << 19,   /* weights laid out as an op wants them, which takes them as they were, too */
    SHARDS = 1 << 20,     /* cuts a tensor up for devices, or puts their parts together */
    ARBITRARY = 1 << 21,  /* yields what follows from nothing: memory as it is, random numbers */
    OVERWRITES = 1 << 22, /* copies its first operand into its second one */
    TOTALS = 1 << 23,     /* elements along dimensions, added up */
    LOCATES = 1 << 24,    /* yields positions of elements */
    LOOKS_UP = 1 << 25,   /* yields elements of one operand that the other one has the positions of */
    NAMES_AXES = 1 << 26, /* attributes say which dimensions it works along, where others of its class take the last */
    PARTIAL = 1 << 27     /* several of it do together what one op does elsewhere */
};

/* How an op of the class OP_MOVE moves data. */
enum op_movement {
    MOVEMENT_NONE,
    MOVEMENT_RESHAPE,    /* elements in their order, under another shape */
    MOVEMENT_PERMUTE,    /* dimensions in another order */
    MOVEMENT_BROADCAST,  /* dimensions of 1 become longer */
    MOVEMENT_REPEAT,     /* all of it several times along a dimension */
    MOVEMENT_INTERLEAVE, /* each element several times */
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
    SHRINK_FREE,         /* any extents: the dimensions of both sides are the same numbers */
    SHRINK_RESHAPE,      /* products of extents are equal */
    SHRINK_MULTIPLIES,   /* the result's are multiples of the operand's */
    SHRINK_DIVIDES,      /* and the other way round */
    SHRINK_PAD,          /* as many elements are added */
    SHRINK_FILLS,        /* one user of a cache, by number */
    SHRINK_TAKES_SLICES, /* whole ones: any extents */
    SHRINK_HEADS,        /* rows are cut into the heads of queries, keys and values */
    SHRINK_GROUPS,       /* num_groups divides the channels */
    SHRINK_SELECTS       /* windows of it, by number: as it is, as are slices */
};

/* How data goes through an op to its result, where its class does not say. */
enum op_flow {
    FLOW_BY_CLASS,
    FLOW_ALL,       /* the result is made of all operands */
    FLOW_FIRST,     /* ... of the first operand only */
    FLOW_ATTENTION, /* of queries, keys and values, the first three */
    FLOW_ACTIVATION,
    FLOW_EXPONENTIAL,
    FLOW_ROOT,
    FLOW_NORM /* of the first operand; the others scale, shift or are added */
};

/* The columns of ops.def; a string that is not given is NULL, a list ends with one. */
struct op_info {
    const char *name;
    enum op_class class;
    unsigned flags;
    const char *roles, *spellings;
    const char *strict, *attributes, *dims, *absent, *in_formula, *ranks;
    const char *axes[4], *says[4];
    struct {
        const char *key;
        int64_t otherwise;
    } channels;
    struct {
        enum window_kind kind;
        uint32_t rank;
    } window;
    enum op_movement movement;
    enum shrink_rule shrink;
    enum op_flow flow;
    enum op_kind as; /* NO_OPERATOR: itself */
};

extern const struct op_info op_table[OPERATORS];

enum { MAX_WINDOW = 3 };
/* The attributes of the spatial dimensions of an op with a window, by their number less one: which they are, and how
 * large in an image that is printed flat. */
extern const char *const window_dim_keys[MAX_WINDOW][MAX_WINDOW], *const window_size_keys[MAX_WINDOW][MAX_WINDOW];

static inline bool op_is(enum op_kind k, enum op_flag flag) {
    return op_table[k].flags & flag;
}
static inline bool op_is_all(enum op_kind k, unsigned flags) {
    return (op_table[k].flags & flags) == flags;
}
/* Which operator it is to formulas and to who compares: all products of matrices are one. */
static inline enum op_kind op_as(enum op_kind k) {
    return op_table[k].as != NO_OPERATOR ? op_table[k].as : k;
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
/* Ops of the operator may be printed with the attribute, as far as its row tells: false only where this lists what they
 * have, or where all of the class have none. */
bool op_may_have(enum op_kind k, struct str key);
/* Which operand has this role; NONE: none has. */
uint32_t op_operand_of_role(enum op_kind k, struct str role);
/* The attribute that stands for an operand of this role where that is missing; empty: none does. */
struct str op_role_attribute(enum op_kind k, struct str role);
/* The value of a key in "key=value ..." (columns `absent`, `in_formula`), of which "a/b" is `a` in TTIR. */
bool op_default(const char *defaults, struct str key, bool ttnn, struct str *value);

/* Operator of a neutral name ("add") or a spelling ("ttnn.add"); NO_OPERATOR when there is none. */
enum op_kind op_kind_of_name(struct str neutral);
enum op_kind op_kind_of_spelling(struct str spelling);
/* The first spelling in a dialect ("ttir."), which has this end; empty: there is none. */
struct str op_spelling(enum op_kind k, const char *dialect, const char *end);
/* The neutral name closest to a misspelt one, or NULL. */
const char *op_nearest_name(struct str misspelt);

#endif
