/* State of one parse, shared by the files that make up the parser. Private to the room.
 *
 * A reading function returns false after it has called parse_fail once; the caller passes that on
 * up to the loop over a region's ops, which reports it and goes on at the next op boundary. */
#ifndef FA_MLIR_PARSER_H
#define FA_MLIR_PARSER_H

#include "mlir/scan.h"
#include "mlir/tables.h"

enum { NEST_MAX = 256, RESULT_MAX = 1 << 16 };

/* Where a name like "%12" or "%arg3" lives: a dense array each for numbers and arguments, and one
 * for the other names by interned id. A binding counts only if its stamp is that of the scope. */
enum name_kind { NAME_NUMBER, NAME_ARG, NAME_OTHER, NAME_KINDS };

struct binding {
    uint32_t stamp;
    uint32_t value; /* of result 0 */
    uint32_t count; /* results that share the name */
};

struct name_ref {
    enum name_kind kind;
    uint32_t index;
};

struct undo {
    struct name_ref ref;
    struct binding old;
};

/* A use of a name that had no binding yet. */
struct pending {
    struct name_ref ref;
    uint32_t operand; /* in mlir.operands */
    uint32_t result;
    uint32_t type;
    struct span name;
};

/* A name met in custom assembly, with the type written after it. */
struct use {
    struct span name;
    uint32_t type;
};

struct scope {
    uint32_t stamp, undo_mark, pending_mark;
    bool isolated, undo_on, bound;
};

/* Names of results at the head of an op: "%5:2". */
struct result_name {
    struct span name;
    uint32_t count;
};

struct parser {
    struct mlir *m;
    struct diags *d;
    const char *p, *begin, *end;
    const char *err_at;
    const char *err; /* message of the op that is being read; NULL: none yet */
    const char *err_hint;
    bool truncated; /* the end of the text has been reported */
    uint32_t depth; /* regions open */

    uint32_t func, parent, module; /* where the next op belongs */
    bool in_cpu_module;
    bool args_wanted; /* the next block's arguments are those of a generic func.func */

    struct binding *bindings[NAME_KINDS];
    uint32_t nbindings[NAME_KINDS], bindings_cap[NAME_KINDS];
    uint32_t stamp, last_stamp;
    bool undo_on, bound;
    struct undo *undos;
    uint32_t nundos, undos_cap;
    struct pending *pendings;
    uint32_t npendings, pendings_cap;

    struct result_name *results;
    uint32_t nresults, results_cap;
    uint32_t *list; /* type ids of the list read last */
    uint32_t nlist, list_cap;
    struct use *uses; /* of the custom op that is being read */
    uint32_t nuses, uses_cap;

    uint32_t no_type;
    uint8_t *name_flags; /* by names id */
    uint32_t name_flags_cap;
};

enum { NF_KNOWN = 1, NF_CALLS = 2, NF_ISOLATED = 4, NF_CPU = 8, NF_MODULE = 16, NF_FUNC = 32 };

/* parse.c */
bool parse_fail(struct parser *p, const char *at, const char *message);
void parse_warn(struct parser *p, const char *at, const char *message);
uint32_t parse_name(struct parser *p, struct str text);
struct span parse_span(const struct parser *p, const char *from, const char *to);
/* Loops over ops up to '}' (or the end of the text at depth 0). False when the text ends first. */
bool parse_ops(struct parser *p);
/* A '{' and its ops in their own scope. */
bool parse_region(struct parser *p, uint32_t op, bool isolated);
/* The same in the scope that is open. */
bool parse_body(struct parser *p, uint32_t op);
bool parse_word(struct parser *p, const char *word); /* takes `word` when it stands here as a whole word */

/* func.c: all functions can be found by their names. */
void name_functions(struct mlir *m);

/* op.c */
bool parse_op(struct parser *p);
uint32_t op_begin(struct parser *p, const char *start, uint32_t results, uint32_t name);
void op_end(struct parser *p, uint32_t op); /* the op's text ends here, unless its regions have ended it */
bool read_use(struct parser *p, struct span *name);
bool read_operands(struct parser *p, uint32_t op, char close);
bool read_type(struct parser *p, uint32_t *type);
bool read_types(struct parser *p);
/* "(types) -> types" */
bool read_signature(struct parser *p, uint32_t op, uint32_t first_pending);
void set_operand_types(struct parser *p, uint32_t op, uint32_t first_pending, uint32_t ntypes);
void set_results(struct parser *p, uint32_t op, uint32_t first_type);
bool read_attrs(struct parser *p, uint32_t op); /* optional { } */
/* Where the text before `at` ends, without blanks. */
uint32_t end_before(const struct parser *p, const char *at);
bool read_loc(struct parser *p, struct span *loc); /* optional loc( ) */
bool read_symbol(struct parser *p, struct str *name);

static inline char parse_peek(const struct parser *p) {
    return p->p < p->end ? *p->p : 0;
}
static inline void parse_space(struct parser *p) {
    if (p->p < p->end && *p->p == ' ')
        p->p++;
    if (p->p < p->end && (scan_is(*p->p, CH_BLANK) || *p->p == '/'))
        p->p = scan_space(p->p, p->end);
}
/* Takes `c` if it is next; else leaves the position where it was. */
static inline bool parse_accept(struct parser *p, char c) {
    const char *at = p->p;
    parse_space(p);
    if (parse_peek(p) != c) {
        p->p = at;
        return false;
    }
    p->p++;
    return true;
}

/* func.c */
uint32_t func_begin(struct parser *p, uint32_t op, struct str name);
bool func_body(struct parser *p, uint32_t op, uint32_t func, bool generic);
bool parse_func(struct parser *p, uint32_t op);
bool parse_block_label(struct parser *p);

/* custom.c */
bool parse_custom(struct parser *p, const char *start, uint32_t results);

/* scope.c */
void scope_enter(struct parser *p, struct scope *s, bool isolated);
void scope_leave(struct parser *p, const struct scope *s);
void scope_define(struct parser *p, struct span name, uint32_t value, uint32_t count);
void scope_use(struct parser *p, struct span name); /* "%5" or "%5#1"; appends one operand */
/* The same where "%12" or "%arg3" stands here before a comma or bracket and is bound: what almost every operand is. */
bool scope_use_bound(struct parser *p);
bool scope_defined(struct parser *p, struct span name);
static inline uint32_t value_add(struct mlir *m, struct mlir_value v) {
    m->values = grow(m->values, &m->values_cap, m->nvalues + 1, sizeof *m->values);
    m->values[m->nvalues] = v;
    return m->nvalues++;
}

#endif
