/* State of one parse, shared by the files that make up the parser. Private to the folder.
 *
 * From the bottom up: scope.c binds names of SSA values, parser.c reports errors, read.c reads the pieces of an op,
 * region.c and func.c what is between braces, custom.c and op.c whole ops, parse.c the loop over ops.
 *
 * A reading function returns false after it has called parse_fail once; the caller passes that on up to the loop over
 * a region's ops, which reports it and goes on at the next op boundary. */
#ifndef FA_MLIR_PARSER_H
#define FA_MLIR_PARSER_H

#include "mlir/recent.h"
#include "mlir/scan.h"
#include "mlir/tables.h"

enum { NEST_MAX = 256, RESULT_MAX = 1 << 16 };

/* Bindings of names of values are in three arrays: of "%12" by number, of "%arg3" by number, of other names by their
 * interned id. A binding holds if its stamp is that of the innermost isolated scope. */
enum name_kind { NAME_NUMBER, NAME_ARG, NAME_OTHER, NAME_KINDS };

struct name_binding {
    uint32_t stamp;
    uint32_t value; /* of result 0 */
    uint32_t count; /* results that share the name, as in "%5:2"; 0: of an op that could not be read */
    bool undefined;
};

struct name_ref {
    enum name_kind kind;
    uint32_t index;
};

/* A binding as it was before one of the same name in an inner scope. */
struct shadowed_binding {
    struct name_ref ref;
    struct name_binding old;
};

/* "%5" or "%5#1". */
struct value_use {
    struct span name; /* without the number of the result */
    struct name_ref ref;
    uint32_t result;
};

/* A use of a name that had no binding yet. */
struct forward_use {
    struct value_use use;
    uint32_t operand; /* in mlir.operands */
    uint32_t op;
    uint32_t type; /* as the use says; NONE: not told */
};

struct name_table {
    struct name_binding *bindings[NAME_KINDS];
    uint32_t nbindings[NAME_KINDS];
    uint32_t stamp, last_stamp; /* of the innermost isolated scope; the last one given out */
    bool keeps_shadowed;        /* leaving the scope must restore what it shadows */
    bool bound;                 /* the innermost isolated scope has bindings */
    struct shadowed_binding *shadowed;
    uint32_t nshadowed, shadowed_cap;
    struct forward_use *forward;
    uint32_t nforward, forward_cap;
};

/* What leaving a scope restores. */
struct name_scope {
    uint32_t stamp, first_shadowed, first_forward;
    bool isolated, keeps_shadowed, bound;
};

/* A name met in custom assembly, with the type written after it. */
struct typed_use {
    struct value_use use;
    uint32_t type; /* NONE: none is written */
};

/* Names of results at the head of an op: "%5:2". */
struct result_name {
    struct span name;
    struct name_ref ref;
    uint32_t count;
};

struct parse_error {
    const char *at;
    const char *message; /* of the op that is being read; NULL: none yet */
};

struct ir_parser {
    struct mlir *m;
    struct diags *d;
    const char *p, *begin, *end; /* next byte; the text */
    struct parse_error error;
    bool truncated; /* the end of the text has been reported */
    uint32_t depth; /* open regions */
    /* An op has regions and these have ops: region.c calls the loop over ops through this pointer, so that the files
     * form no circle. Reads up to '}' (or the end of the text at depth 0); false when the text ends first. */
    bool (*parse_ops)(struct ir_parser *p);

    uint32_t func, parent, module; /* where the next op belongs */
    bool in_cpu_module;
    bool several_blocks; /* in this function: the order of the text is not the order of what dominates what */
    bool args_wanted;    /* the next block's arguments are those of a generic func.func */
    struct name_table names;

    /* Lists of the op that is being read; ops in its regions append to them and take theirs away again. */
    struct result_name *results;
    uint32_t nresults, results_cap;
    uint32_t *types; /* ids of the list of types read last */
    uint32_t ntypes, types_cap;
    struct typed_use *uses;
    uint32_t nuses, uses_cap;

    struct recent_texts *recent; /* NULL: every text is read anew, with the same result */
    uint32_t no_type;
    uint8_t *name_flags; /* by names id: enum name_flag */
    uint32_t name_flags_cap;
};

/* What a name of an op says about it. */
enum name_flag { NF_KNOWN = 1, NF_CALLS = 2, NF_ISOLATED = 4, NF_CPU = 8, NF_MODULE = 16, NF_FUNC = 32 };

/* What stands between any two pieces of an op is always inlined: else gcc stops doing so as the program grows. */
__attribute__((always_inline)) static inline char parse_peek(const struct ir_parser *p) {
    return p->p < p->end ? *p->p : 0;
}
__attribute__((always_inline)) static inline void parse_space(struct ir_parser *p) {
    if (p->p < p->end && *p->p == ' ')
        p->p++;
    if (p->p < p->end && (scan_is(*p->p, CH_BLANK) || *p->p == '/'))
        p->p = scan_space(p->p, p->end);
}
/* Goes to `c` if it is next; else leaves the position where it was. */
__attribute__((always_inline)) static inline bool parse_at(struct ir_parser *p, char c) {
    const char *at = p->p;
    parse_space(p);
    bool here = parse_peek(p) == c;
    p->p = here ? p->p : at;
    return here;
}
/* Takes `c` too. */
__attribute__((always_inline)) static inline bool parse_accept(struct ir_parser *p, char c) {
    bool here = parse_at(p, c);
    p->p += here;
    return here;
}

/* parser.c */
bool parse_fail(struct ir_parser *p, const char *at, const char *message); /* false; the first error of an op counts */
void parse_say(struct ir_parser *p, enum severity sev, const char *at, const char *message);
/* The op, which begins at `at`, does not hold together. Of a line that is pasted alone, a warning. */
void parse_say_bad(struct ir_parser *p, uint32_t op, const char *at, const char *message);
bool parse_word(struct ir_parser *p, const char *word);    /* takes `word` when it stands here as a whole word */
uint32_t parse_name(struct ir_parser *p, struct str text); /* names id of an op or symbol */
struct span parse_span(const struct ir_parser *p, const char *from, const char *to);
uint32_t value_add(struct mlir *m, struct mlir_value v);        /* value id */
uint32_t end_before(const struct ir_parser *p, const char *at); /* where the text before `at` ends, without blanks */

/* scope.c */
void scope_enter(struct ir_parser *p, struct name_scope *s, bool isolated);
void scope_leave(struct ir_parser *p, const struct name_scope *s);
void scope_define(struct ir_parser *p, struct name_ref r, uint32_t value, uint32_t count);
/* Unless it is defined: its op could not be read, which was said. */
void scope_lose(struct ir_parser *p, struct name_ref r);
bool scope_defined(const struct ir_parser *p, const struct value_use *use);
void scope_use(struct ir_parser *p, const struct value_use *use);                /* appends one operand */
const char *scope_name(struct ir_parser *p, const char *at, struct name_ref *r); /* of a value at `at`; its end */

/* read.c: the parts of an op, each from the position on. */
uint32_t op_begin(struct ir_parser *p, const char *start, uint32_t results, uint32_t name);
void op_end(struct ir_parser *p, uint32_t op); /* the op's text ends here, unless its regions have ended it */
bool read_use(struct ir_parser *p, struct value_use *use);
bool read_uses(struct ir_parser *p);                              /* of operands, one at least */
bool read_operands(struct ir_parser *p, uint32_t op, char close); /* up to `close`; the opening bracket is read */
bool read_type(struct ir_parser *p, uint32_t *type);
bool read_types(struct ir_parser *p); /* appends to p->types */
/* "(types) -> types": types of the operands that are not defined yet, and the results. `first_forward` is the first
 * forward use of the op. */
bool read_signature(struct ir_parser *p, uint32_t op, uint32_t first_forward);
void set_operand_types(struct ir_parser *p, uint32_t op, uint32_t first_forward, uint32_t ntypes);
/* Makes the results and binds their names; their types are p->types[first_type] and on. */
void set_results(struct ir_parser *p, uint32_t op, uint32_t first_type);
/* Names the values from `first` on, `n` of them, with the results from `names` on; names beyond these stay undefined.
 */
void bind_results(struct ir_parser *p, uint32_t names, uint32_t first, uint32_t n);
/* From '{' to behind its '}', or NULL. `*inside` may be an equal text that was read before. */
const char *read_dict(struct ir_parser *p, const char *at, uint32_t op, struct span *inside);
bool read_attrs(struct ir_parser *p, uint32_t op);    /* optional { } */
bool read_loc(struct ir_parser *p, struct span *loc); /* optional loc( ) */
bool read_symbol(struct ir_parser *p, struct str *name);

/* region.c: '{', ops, '}'. False when the text ends first. */
bool parse_region(struct ir_parser *p, uint32_t op, bool isolated); /* in a scope of its own */
bool parse_body(struct ir_parser *p, uint32_t op);                  /* in the scope that is open */

/* func.c */
uint32_t func_begin(struct ir_parser *p, uint32_t op, struct str name);
bool func_body(struct ir_parser *p, uint32_t op, uint32_t func, bool generic);
bool parse_func(struct ir_parser *p, uint32_t op);
/* Of a generic func.func name, arguments and their attributes are attributes, which may stand behind the body. */
void func_attributes(struct ir_parser *p, uint32_t op, uint32_t func);
bool parse_block_label(struct ir_parser *p);
void name_functions(struct mlir *m); /* all functions can be found by their names */

/* trace.c, host.c, tuple.c */
void look_through_traces(struct mlir *m);
void look_through_host(struct mlir *m);
void look_through_tuples(struct mlir *m);

/* custom.c, op.c: one op, its regions included. */
bool parse_custom(struct ir_parser *p, const char *start, uint32_t results);
bool parse_op(struct ir_parser *p);

/* parse.c: the loop over ops for ir_parser.parse_ops. */
bool parse_ops(struct ir_parser *p);

/* mlir.c: what mlir_parse does, with `recent` as in ir_parser. */
void mlir_parse_with(struct mlir *m, const struct source *s, const struct log_block *block, struct recent_texts *recent,
                     struct diags *d);

#endif
