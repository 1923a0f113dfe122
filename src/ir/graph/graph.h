/* The dialect-neutral graph of a module: which operator each op is, its data operands by role,
 * who uses each value, which functions to audit, and constants seen through const-eval functions.
 *
 * Left out of the operands: device handles (but not of calls and returns, where places count) and
 * destination-passing outputs of old text. Left out of the uses: deallocate. An absent optional
 * operand is NONE, so that operand i is role i. An op with fewer operands than its kind requires gets
 * NO_OPERATOR, so code that has checked the kind may index the required operands. */
#ifndef FA_GRAPH_H
#define FA_GRAPH_H

#include "base/base.h"
#include "ir/mlir/mlir.h"
#include "ir/ops/attributes.h"
#include "ir/ops/ops.h"
#include "ir/ops/window.h"

enum func_kind {
    FUNC_MAIN,       /* runs on the device at each call: audited */
    FUNC_CONST_EVAL, /* runs once */
    FUNC_CPU,        /* hoisted to the host */
    FUNC_COMPOSITE,  /* body of a composite or outlined kernel */
    FUNC_TRACE,      /* allocates, captures or executes a trace */
    FUNC_DECLARATION
};

struct constant {
    bool known;
    double value;
    int bits; /* significant bits of the narrowest float format on its way (8 for bf16); 53 for integers */
};

struct graph {
    const struct mlir *m;
    uint16_t *kind;           /* per op */
    uint32_t *first_operand;  /* per op, nops + 1 entries: data operands are operands[first_operand[i] ...] */
    struct attrs *attributes; /* per op */
    uint32_t *operands;       /* value ids; NONE for an absent optional one */
    uint32_t *first_use;      /* per value, nvalues + 1 entries */
    uint32_t *uses;           /* op ids, one per operand slot */
    uint8_t *func_kind;       /* per function */
    uint32_t *call_site;      /* per function: the op that calls it; NONE: none or several */
    bool has_call_sites;      /* of some function */
    uint32_t *return_op;      /* per function: its return; NONE: none or several */
    uint32_t *lone_calls;     /* calls of functions that have no body in the module */
    uint32_t nlone_calls;
    uint32_t *arg_funcs; /* the functions that have arguments, in the order of their arguments */
    uint32_t narg_funcs;
    uint32_t
        *ops_before; /* prefix sums by op, nops + 1: data ops before it (no constants, calls, returns, deallocates) */
    uint32_t
        *siblings; /* per op: products that are merged with this one, itself included (siblings.c); 0: no product */
    uint8_t *value_flags; /* per value; private to value.c */
    double *constants;    /* per value, where known */
    uint8_t *constant_bits;
    uint32_t *through;             /* per op; graph_through */
    uint16_t *varies;              /* per value: the dimensions along which it may vary, a bit each (depend.c) */
    struct known_repeats *repeats; /* private to elements.c */
    struct arena arena;            /* of the attributes */
    uint32_t nedges;
    uint32_t ndestinations;  /* destination-passing operands dropped */
    bool has_ttir, has_ttnn; /* in functions to audit */
};

/* The function that a call runs; NONE: its body is not in the module. A function that runs on the host is declared
 * where it is called, and has its body in another module. */
uint32_t graph_callee(const struct graph *g, uint32_t op);
/* Says in `d` (or NULL) what does not hold together: such an op gets NO_OPERATOR, so that no folder behind meets it. */
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
/* It runs on the device at each call: it stands in an audited function, or in a text without any; not in one of LLVM.
 */
bool graph_is_audited(const struct graph *g, uint32_t op);
/* It is an op of TTNN, not of TTIR. */
static inline bool graph_is_ttnn(const struct graph *g, uint32_t op) {
    return str_starts(mlir_op_name(g->m, op), STR("ttnn."));
}
/* It takes what a function makes that runs once (ttcore.load_cached). */
static inline bool graph_is_made_once(const struct graph *g, uint32_t op) {
    return str_ends(mlir_op_name(g->m, op), STR(".load_cached"));
}

static inline enum op_class graph_class(const struct graph *g, uint32_t op) {
    return op_table[g->kind[op]].class;
}

/* The one definition of what is looked through: an op that moves (class_moves), and one that changes nothing: with a
 * neutral constant (a dropout that is off, a bias of 0), a clamp of what is within its bounds, a reduction of single
 * elements, a slice of all, an embedding in a table of one row. Its operand with all elements of the result; NONE for
 * other ops. */
static inline uint32_t graph_through(const struct graph *g, uint32_t op) {
    return g->through[op];
}
static inline bool graph_looks_through(const struct graph *g, uint32_t op) {
    return graph_through(g, op) != NONE;
}

static inline bool graph_op_is(const struct graph *g, uint32_t op, enum op_flag flag) {
    return op_is((enum op_kind)g->kind[op], flag);
}
static inline enum op_movement graph_movement(const struct graph *g, uint32_t op) {
    return op_table[g->kind[op]].movement;
}
static inline const struct attrs *graph_attributes(const struct graph *g, uint32_t op) {
    return &g->attributes[op];
}
/* The attribute that is printed of those that number the dimensions that an op works along; NULL: none is. */
const struct attr *graph_axes(const struct graph *g, uint32_t op);

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
/* The same, copied; false where it is not static. */
bool shape_in_graph(const struct graph *g, uint32_t value, struct shape *s);
/* The window of an op. NULL, or why it has none that is understood. */
const char *graph_window(const struct graph *g, uint32_t op, struct window *w);
/* The dimension of channels in the result of a convolution, which has so many dimensions; -1: of another op, and where
 * nothing says it. */
int64_t graph_channels(const struct graph *g, uint32_t op, uint32_t rank);
/* The dimensions of more than one element, a bit each; all bits where the shape is not known. */
enum { ALL_DIMENSIONS = UINT16_MAX };
uint16_t graph_dimensions(const struct graph *g, uint32_t v);
/* -1 when dynamic or unknown. */
static inline int64_t graph_numel(const struct graph *g, uint32_t value) {
    return g->m->types[g->m->values[value].type].numel;
}
enum dtype graph_dtype(const struct graph *g, uint32_t value);
/* False for operands that are absent, and for those of a type that is no tensor (semaphores, devices). */
bool is_tensor_operand(const struct graph *g, uint32_t value);

/* True when the op is of its kind and nothing else is folded into it (ops.def, `strict`). */
bool graph_plain(const struct graph *g, uint32_t op);

/* The activation that is folded into the op, by name or in a config; empty: none. */
struct str graph_activation(const struct graph *g, uint32_t op);
/* It changes its first operand to hold its second one. */
bool graph_writes_in_place(const struct graph *g, uint32_t op);

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
