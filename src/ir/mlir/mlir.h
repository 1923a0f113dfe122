/* The textual IR as flat arrays with 32-bit ids. Every op is a slice of the block's text;
 * attributes and locations are read from the text on demand.
 *
 * Accepts generic and custom assembly of any dialect. An op that cannot be understood is skipped
 * to the next op boundary with a diagnostic and counted in `bad_ops`; the rest is kept.
 *
 * Invariants: results, arguments and operands of one op are consecutive in their arrays; ops are in
 * textual order; an op's span never contains another op except for ops with regions, whose span
 * ends before the first '{' of their regions. */
#ifndef FA_MLIR_H
#define FA_MLIR_H

#include "base/base.h"
#include "input/log/log.h"
#include "ir/mlir/dtype.h"

struct span { /* bytes [begin, end) of the block's text */
    uint32_t begin, end;
};

enum type_kind { TYPE_OTHER, TYPE_TENSOR, TYPE_SCALAR, TYPE_DEVICE /* !ttnn.device and old spellings */ };

#define DIM_DYNAMIC (-1)

struct mlir_type {
    struct str text;     /* as written, encoding included */
    struct str encoding; /* of a tensor: "#ttnn_layout3", as written; or empty */
    enum type_kind kind;
    enum dtype dtype; /* of the element; a tile's element for tiled types */
    bool ranked;
    bool impossible; /* a tensor whose extents or element cannot be ("-1x3xf32", "3xfoo"); in a module, an alias that
                        means nothing */
    uint32_t rank;
    uint32_t first_dim; /* in mlir.dims */
    int64_t numel;      /* elements; -1: not known */
};

struct mlir_value {
    uint32_t type;    /* mlir.types */
    uint32_t def;     /* op, or NONE for a block or function argument, or for an undefined name */
    uint32_t index;   /* result number, or argument number */
    struct span name; /* "%12", "%arg3"; of result 1 of "%5:2" it is "%5"; where it is defined */
};

struct mlir_op {
    uint32_t name;     /* mlir.names, e.g. "ttir.add" (no quotes), "func.func", "return" as "func.return" */
    struct span text;  /* from the first result (or the name) to the end of its loc(...) */
    struct span props; /* inside <{ }>, or empty; equal ones may be one text */
    struct span attrs; /* inside { } (discardable, or old text), or empty */
    uint32_t first_operand, noperands; /* in mlir.operands: value ids; NONE: a slot of a trace */
    uint32_t first_result, nresults;   /* value ids first_result ...; an op without results that writes into its first
                                          operand has a nameless one, what it holds then */
    uint32_t callee; /* @symbol that it calls or loads (func.call, ttcore.load_cached, composites): names id without
                        '@', or NONE */
    struct span loc; /* inside loc( ), e.g. "#loc12" or "\"add.3\""; or empty */
    uint32_t func;   /* innermost enclosing function, or NONE */
    uint32_t parent; /* enclosing op, or NONE */
    bool custom;     /* read by the generic rule for unknown assembly: operands as far as they can be told */
    bool bad;        /* does not hold together, which was said: uses an undefined value, repeats a name */
};

struct mlir_func {
    uint32_t name;             /* names id without '@' */
    uint32_t op;               /* its func.func op */
    uint32_t first_op, end_op; /* ops of its body, nested ones too */
    uint32_t first_arg, nargs; /* value ids */
    uint32_t first_arg_attr;   /* in mlir.arg_attrs: per argument the span inside its { }, or empty */
    struct span attributes;    /* inside `attributes { }`, or empty */
    bool declaration, complete;
    bool in_cpu_module;  /* inside ttcore.cpu_module */
    bool copies_results; /* into slots, before its return, which is said to return them: see trace.c */
    bool traces;         /* only allocates, captures or executes a trace: see trace.c */
    uint32_t module;     /* op of the innermost enclosing module, or NONE */
};

struct mlir {
    struct str text;
    const struct source *source;
    const struct log_block *block;
    struct mlir_op *ops;
    uint32_t nops, ops_cap;
    struct mlir_value *values;
    uint32_t nvalues, values_cap;
    uint32_t *operands;
    uint32_t noperands, operands_cap;
    struct mlir_type *types;
    uint32_t ntypes, types_cap;
    int64_t *dims;
    uint32_t ndims, dims_cap;
    struct str *names;
    uint32_t nnames, names_cap;
    struct mlir_func *funcs;
    uint32_t nfuncs, funcs_cap;
    struct span *arg_attrs;
    uint32_t narg_attrs, arg_attrs_cap;
    uint32_t bad_ops;           /* skipped */
    uint32_t undefined_values;  /* used, never defined */
    uint32_t custom_ops;        /* read by the generic rule for unknown custom assembly */
    struct mlir_tables *tables; /* symbol tables (uthash), private to the folder */
};

/* Parses a block. Diagnostics go to `d`; what could be read is in *m. */
void mlir_parse(struct mlir *m, const struct source *s, const struct log_block *block, struct diags *d);
void mlir_free(struct mlir *m);

/* Text of an attribute's value in props or attrs of an op ("[2 : i32]", "true", "9.9E-7 : f32"); false when absent.
 * A unit attribute is present with an empty value. Aliases ("#dims") are resolved to their text. */
bool mlir_attr(const struct mlir *m, uint32_t op, const char *key, struct str *value);
/* All attributes of an op, those in props first; aliases are resolved. Writes at most `max`; returns how many there
 * are. */
int mlir_attrs(const struct mlir *m, uint32_t op, struct str *keys, struct str *values, int max);
/* The same in the attribute dictionary of a function argument. */
bool mlir_arg_attr(const struct mlir *m, uint32_t func, uint32_t arg, const char *key, struct str *value);

/* Values of attribute text. Each returns false when the text is not of that form. */
bool mlir_int(struct str text, int64_t *out); /* "3", "3 : i32", "-1 : si32", "true" */
bool mlir_float(struct str text,
                double *out); /* "1.0e-5 : f32", "0x7FC0 : bf16" (bit pattern of its type), "3 : i32" */
bool mlir_string(struct str text, struct str *out); /* between the quotes, escapes left as they are */
/* "[0 : i32, 2 : i32]", "array<i64: 0, 2>", "array<i64>", "#ttnn.shape<1x1x64>", "dense<...>" of a few integers, "2 :
 * i32" as one. Writes at most `max`; returns the number there are, or -1. */
int mlir_ints(struct str text, int64_t *out, int max);
/* "dense<1.0> : tensor<...>", "dense<[[2.0, 2.0]]>", hex strings: true when all elements are one value.
 * Elided and resource constants are false. Element type from the text after ':'. */
bool mlir_splat(struct str text, double *out);
/* All elements of "dense<...>" in row-major order, a splat as often as its type says; hex strings too. Writes at most
 * `max`; returns the number there are, or -1 (elided and resource constants among them). */
int64_t mlir_numbers(struct str text, double *out, int64_t max);

/* Location of an op. `mlir_loc_text`: what is inside loc( ) as written ("#loc12", "unknown").
 * `mlir_loc_names`: resolved through aliases, outermost first: of loc("sum.140_mean"("sum.140")) "sum.140_mean",
 * "sum.140"; a file location gives one name "file:line:col"; fused gives the names of its parts in order; unknown gives
 * none. At most `max`; cycles and chains deeper than 64 end the walk. */
struct str mlir_loc_text(const struct mlir *m, uint32_t op);
int mlir_loc_names(const struct mlir *m, uint32_t op, struct str *out, int max);
/* True when the alias ("#loc12") is defined in the block; gives the text after '='. */
bool mlir_alias(const struct mlir *m, struct str alias, struct str *value);
/* The next alias that a text mentions outside of strings and comments, with `inside` also in #dialect.attribute<...>;
 * *rest is what stands behind it. False: none. */
bool mlir_next_alias(struct str *rest, bool inside, struct str *alias);
/* What an alias ("#dims", "!t") stands for, through other aliases; the text itself where it is none that is defined. */
struct str mlir_unalias(const struct mlir *m, struct str text);
/* The first alias in the text of attributes or of a type that means nothing: it is not defined, or by what is not
 * defined before it, such as itself. What is inside of #dialect.attribute<...> belongs to the dialect: MLIR without
 * that dialect keeps it as it is, and prints it without the aliases. */
bool mlir_unresolved(const struct mlir *m, struct str text, struct str *alias);
/* Not pasted functions or op lines, which may lack their aliases. */
static inline bool mlir_is_module(const struct mlir *m) {
    return m->nfuncs > 0 && m->funcs[0].module != NONE;
}
/* Hash of all alias definitions but locations: equal for modules that define the same aliases. */
uint64_t mlir_aliases_hash(const struct mlir *m);

/* Function by symbol name, its id in mlir.names or the text; prefers one with a body; NONE when absent. */
uint32_t mlir_find_func(const struct mlir *m, uint32_t name);
uint32_t mlir_func_named(const struct mlir *m, struct str name);

struct source_location mlir_place(const struct mlir *m, uint32_t text_offset);
static inline struct str mlir_span(const struct mlir *m, struct span s) {
    return (struct str){m->text.p + s.begin, s.end - s.begin};
}
static inline struct str mlir_op_name(const struct mlir *m, uint32_t op) {
    return m->names[m->ops[op].name];
}

/* "%5", of its first result; empty where that has no name. */
static inline struct str mlir_result_name(const struct mlir *m, uint32_t op) {
    return m->ops[op].nresults ? mlir_span(m, m->values[m->ops[op].first_result].name) : STR("");
}

/* The text of an op up to its location. */
static inline struct str mlir_op_spelling(const struct mlir *m, uint32_t op) {
    const struct mlir_op *o = &m->ops[op];
    bool located = o->loc.begin > o->text.begin && o->loc.begin <= o->text.end;
    return str_trim(mlir_span(m, (struct span){o->text.begin, located ? o->loc.begin : o->text.end}));
}

/* The element type that a text names ("bf16", "!ttcore.tile<32x32, bfp_bf8>", an alias of one); DT_OTHER: none. */
enum dtype mlir_dtype(const struct mlir *m, struct str text);
/* Takes the next item from a comma-separated list of attribute text; false at its end. */
bool mlir_item(struct str *list, struct str *item);

#endif
