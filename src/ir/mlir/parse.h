/* The parser as its files share it: the text at hand, what names of values stand for, stacks. Private to parse*.c.
 * Functions that return bool return false after parse_fail(). */
#ifndef FA_MLIR_PARSE_H
#define FA_MLIR_PARSE_H

#include <string.h>

#include "ir/mlir/scan.h"
#include "ir/mlir/tables.h"

enum { RESULT_MAX = 1 << 16 };

/* What a name of a value stands for. It holds if its stamp is that of the innermost isolated region. */
struct name_binding {
    uint32_t stamp, value, count; /* count: results that share the name, "%5:2"; 0: of an op that could not be read */
    bool undefined;
};

struct shadowed_binding { /* a binding as it was outside of the region */
    uint32_t name;
    struct name_binding old;
};

struct value_use { /* "%5" or "%5#1" */
    struct span text;
    uint32_t name, result; /* name: id in tables.values */
};

struct forward_use { /* of a name without a binding so far */
    struct value_use use;
    uint32_t operand, op, type;
};

struct result_name { /* "%5:2" before '=' */
    struct span text;
    uint32_t name, count;
};

struct typed_use {
    struct value_use use;
    uint32_t type;
};

/* Where the next op belongs; a region changes it and puts it back. */
struct ir_context {
    uint32_t func, parent, module, stamp;
    bool in_cpu_module, several_blocks, args_wanted;
};

/* A dictionary read a moment ago. Where the same bytes stand, the first one stands for it: those of ops repeat with
 * every layer of a model, and what is read of them is kept by its place. */
struct recent_text {
    const char *p;
    uint32_t n; /* bytes; 0: none */
};

enum { RECENT_SLOTS = 1024, RECENT_LONGEST = 1 << 12, RECENT_HEAD = 48 /* lists of numbers differ late */ };

struct ir_parser {
    bool (*read_ops)(struct ir_parser *p); /* parse.c: the ops of a region */
    struct mlir *m;
    struct diags *d;
    const char *p, *begin, *end;
    const char *wrong, *wrong_at; /* of the op that is being read */
    bool truncated;
    uint32_t depth, last_stamp, no_type;
    uint16_t *flags; /* by names id: OP_CALLS and the like */
    uint32_t flags_cap;
    struct ir_context in;
    struct name_binding *bindings;
    uint32_t nbindings;
    struct shadowed_binding *shadowed;
    uint32_t nshadowed, shadowed_cap;
    struct forward_use *forward;
    uint32_t nforward, forward_cap;
    /* stacks: an op takes from them what it has put there */
    struct result_name *results;
    uint32_t nresults, results_cap;
    struct typed_use *uses;
    uint32_t nuses, uses_cap;
    uint32_t *types, ntypes, types_cap; /* the list of types read last */
    struct recent_text recent[RECENT_SLOTS];
};

/* What is known of an op by its name; by names id in ir_parser.flags. */
enum {
    OP_CALLS = 1,
    OP_MODULE = 2,
    OP_ISOLATED = 4,
    OP_CPU = 8,
    OP_FUNC = 16,
    OP_READ = 32,
    OP_USUAL = 64,
    OP_SEEN = 128,
    OP_WRITES = 256 /* into its first operand */
};

/* ---- the text at hand: blanks before it are skipped, but by peek ---- */

static inline char peek(const struct ir_parser *p) {
    return p->p < p->end ? *p->p : 0;
}

static inline void space(struct ir_parser *p) {
    p->p = scan_space(p->p, p->end);
}

static inline bool at_text(struct ir_parser *p, const char *what) {
    const char *q = scan_space(p->p, p->end);
    size_t n = strlen(what);
    if ((size_t)(p->end - q) < n || memcmp(q, what, n) != 0)
        return false;
    p->p = q;
    return true;
}

static inline bool accept_text(struct ir_parser *p, const char *what) {
    bool here = at_text(p, what);
    p->p += here ? strlen(what) : 0;
    return here;
}

/* The same of one byte. */
static inline bool at(struct ir_parser *p, char c) {
    const char *q = p->p < p->end && *p->p == c ? p->p : scan_space(p->p, p->end);
    if (q >= p->end || *q != c)
        return false;
    p->p = q;
    return true;
}

static inline bool accept(struct ir_parser *p, char c) {
    bool here = at(p, c);
    p->p += here;
    return here;
}

static inline bool accept_word(struct ir_parser *p, const char *word) {
    const char *from = p->p;
    if (accept_text(p, word) && (p->p >= p->end || !scan_is(*p->p, CH_IDENT)))
        return true;
    p->p = from;
    return false;
}

static inline struct span span_of(const struct ir_parser *p, const char *from, const char *to) {
    return (struct span){(uint32_t)(from - p->begin), (uint32_t)(to - p->begin)};
}

static inline uint32_t end_before(const struct ir_parser *p, const char *to) {
    while (to > p->begin && strchr(" \t\r\n", to[-1]))
        to--;
    return (uint32_t)(to - p->begin);
}

static inline const char *line_end(const char *p, const char *end) {
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    return stop ? stop : end;
}

/* ---- parse_pieces.c ---- */

/* Keeps what is wrong with the op at hand, the first of it; returns false. */
bool parse_fail(struct ir_parser *p, const char *where, const char *what);
void parse_say(struct ir_parser *p, enum severity severity, const char *where, const char *what);
/* The op does not hold together; of a line that is pasted alone, a warning. */
void parse_say_bad(struct ir_parser *p, uint32_t op, const char *where, const char *what);
bool read_type(struct ir_parser *p, uint32_t *type);
/* Types are added to p->types. */
bool read_types(struct ir_parser *p);
bool read_type_group(struct ir_parser *p);
bool read_braces(struct ir_parser *p, struct span *inside, const char *what);
bool read_dict(struct ir_parser *p, uint32_t op, struct span *inside, const char *what);
bool read_attrs(struct ir_parser *p, uint32_t op);
bool read_loc(struct ir_parser *p, struct span *loc);
bool read_symbol(struct ir_parser *p, struct str *name);

/* ---- parse_values.c ---- */

struct ir_region {
    struct ir_context outer;
    uint32_t shadowed, forward;
    bool isolated;
};

void region_enter(struct ir_parser *p, struct ir_region *r, bool isolated);
void region_leave(struct ir_parser *p, const struct ir_region *r);
/* From '{' to behind '}'; false when the text ends first. */
bool parse_region(struct ir_parser *p, uint32_t op);
bool read_value_name(struct ir_parser *p, struct span *text, uint32_t *name);
/* After "%5:" or "%5#". */
uint32_t read_result_count(struct ir_parser *p);
bool read_use(struct ir_parser *p, struct value_use *use);
/* What the name stands for here; NULL: it has no such result so far. */
const struct name_binding *name_binding_of(const struct ir_parser *p, const struct value_use *u);
void name_bind(struct ir_parser *p, uint32_t name, struct name_binding b);
void name_define(struct ir_parser *p, uint32_t name, uint32_t value, uint32_t count);
void add_operand(struct ir_parser *p, const struct value_use *u);
/* Up to `close`. */
bool read_operands(struct ir_parser *p, uint32_t op, char close);
void type_operands(struct ir_parser *p, uint32_t op, uint32_t first_forward, uint32_t n);
/* Values of the results from `names` on, at most `most`. */
void add_results(struct ir_parser *p, uint32_t op, uint32_t names, uint32_t most);
void bind_results(struct ir_parser *p, uint32_t names, uint32_t op);
/* The same, of the types from p->types[from] on. */
void set_results(struct ir_parser *p, uint32_t op, uint32_t names, uint32_t from);

/* ---- parse_func.c, parse_generic.c, parse_custom.c, parse_op.c, parse_alias.c ---- */

uint32_t func_add(struct ir_parser *p, uint32_t op, struct str name);
bool func_body(struct ir_parser *p, uint32_t op, uint32_t func, bool generic);
void func_attributes(struct ir_parser *p, uint32_t op, uint32_t func);
bool custom_func(struct ir_parser *p, uint32_t op, uint32_t names);
bool parse_block_label(struct ir_parser *p);
bool read_signature(struct ir_parser *p, uint32_t op, uint32_t names, uint32_t first_forward);
bool generic_op(struct ir_parser *p, uint32_t op, uint32_t names);
bool custom_op(struct ir_parser *p, uint32_t op, uint32_t names);
bool parse_op(struct ir_parser *p);
bool parse_alias(struct ir_parser *p);
/* Locations of --mlir-pretty-debuginfo, which MLIR does not read either. */
bool is_pretty_place(const struct ir_parser *p, const char *from);
bool refuse_pretty(struct ir_parser *p, const char *where);
bool parse_resources(struct ir_parser *p);

#endif
