/* The formula language: text to a tree that can be searched for in a graph.
 *
 *   c   = x - mean(x, dim=-1)
 *   out = c * rsqrt(mean(square(c), dim=-1) + eps) [* weight] [+ bias]
 *
 * Each line names a value; the last one is the root. A name that no line defines is a variable and stands for any
 * value; a name that occurs twice is the same value both times. Idioms are expanded here, so that the tree has
 * operators only. Parts are shared: the tree is a directed acyclic graph. Grammar and meaning: fusion-patterns(5).
 *
 * Formulas and numbers live in the arena that they are read into, and point into their text. */
#ifndef FA_FORMULA_H
#define FA_FORMULA_H

#include "base/base.h"
#include "ir/graph/graph.h"
#include "patterns/lang/regex.h"

enum node_kind {
    N_OP,         /* an operator of the table */
    N_VARIABLE,   /* any value; the same one at each occurrence */
    N_NAMED,      /* a line, or an argument of an idiom: matched once, the same value at each use */
    N_NUMBER,     /* a constant whose value is an expression of numbers and extents */
    N_EITHER,     /* alternatives: the first that matches */
    N_RESULT,     /* a further result of an op: result(s, 1) */
    N_TRANSPOSED, /* the value with its last two axes exchanged */
    N_OUTER,      /* a matmul with a contracting dimension of 1, which models write as a broadcast multiply */
    N_REARRANGED, /* the value with its elements in another order: rearrange(x, "b s (h d) -> b h s d") */
    N_FUNCTION    /* ops that make of the first operand what `form` makes of it, whatever they are, with numbers of
                     theirs for the other ones */
};

/* `dim=` of an op: axes of the formula there, in order, negative ones from the end; none: any. */
enum { MOST_NAMED_AXES = 6 };
struct axis_spec {
    uint8_t n;
    int8_t axes[MOST_NAMED_AXES];
    bool of_idiom; /* an idiom says so, not the formula that uses it */
};
static inline bool axis_spec_equal(const struct axis_spec *a, const struct axis_spec *b) {
    bool same = a->n == b->n;
    for (uint32_t i = 0; same && i < a->n; i++)
        same = a->axes[i] == b->axes[i];
    return same;
}

enum number_op {
    NUM_VALUE,
    NUM_EXTENT,
    NUM_NEG, /* from here to NUM_MOD: of the numbers a and b */
    NUM_ADD,
    NUM_SUB,
    NUM_MUL,
    NUM_DIV,
    NUM_POW,
    NUM_FUNCTION, /* an operator of one number: sqrt(2) */
    NUM_EQ,
    NUM_NE,
    NUM_LT,
    NUM_LE,
    NUM_GT,
    NUM_GE,
    NUM_AND,
    NUM_OR,
    NUM_NOT,
    NUM_MOD,
    NUM_MEASURE,  /* a property of a value or of its op: begin(s) */
    NUM_VALUE_OF, /* value(x): the number that all elements of x are */
    NUM_CALL,     /* a condition: matrix(b); `a`: what it is defined as, or NULL */
    NUM_NONE      /* of a sign that numbers do not have */
};

/* A number or a condition; conditions are 1 or 0. */
struct number {
    enum number_op op;
    uint32_t slot; /* NUM_EXTENT, NUM_VALUE_OF, NUM_MEASURE: of this name; NONE: of the axis frame at this node */
    double value;
    const struct number *a, *b;
    uint32_t call; /* NUM_CALL, NUM_MEASURE: index in the table of conditions or measures; NONE: a definition.
                                  NUM_FUNCTION: the operator */
    int8_t axis;   /* NUM_EXTENT */
    uint8_t nargs, ngiven;
    uint8_t args[4];           /* slots */
    uint8_t sources;           /* bits: arguments written source(x), of which casts and movement are taken off */
    uint8_t printed;           /* bits: arguments written printed(x), the operands themselves */
    int16_t given[8];          /* whole numbers after the names: read_as(out, x, 0, 2, 1, 3), size(x, -1) */
    const char *key;           /* attribute(x, "k"), or the text of `regex` */
    const struct regex *regex; /* NUM_CALL with a regular expression */
    const char *says;          /* of a definition */
    struct str text;
};

enum attr_test { ATTR_ABSENT, ATTR_IS };

/* One of the numbers that an attribute's text lists: "extent(x, -1) / 2", or a name for the number that it is. Each is
 * NULL where the text is no number over these names. */
struct attr_number {
    const struct number *own, *outer; /* over the names of the formula; of a form, over those of its pattern */
};

struct attr_spec {
    const char *key;
    enum attr_test test;
    struct str value;
    bool word;                         /* written without quotes: true, or a name of the formula */
    const struct attr_number *numbers; /* of ATTR_IS: the items of its list, separated by commas */
    uint32_t nnumbers;
    const struct attr *text; /* where some item is no number of the formula: the text, as an op prints it */
};

/* Which axes the dimensions of a value have, and those of what it is made of: of "b s (h d) -> b h s d" the axes b, s,
 * h and d are numbered in the order in which they occur. */
struct rearrangement {
    struct str text;
    struct arranged_dims {
        uint8_t rank, end[MAX_RANK]; /* dimension i has axes[end[i-1] .. end[i]], the last one fastest */
        uint8_t axes[MAX_RANK];
    } from, to;
    uint8_t naxes;
};

struct node {
    enum node_kind kind;
    enum op_kind op; /* N_OP */
    uint32_t slot;   /* N_VARIABLE, N_NAMED */
    uint16_t nargs;  /* N_OP operands; N_EITHER alternatives; else 0 or 1 */
    uint16_t nattrs;
    struct node **args;
    struct attr_spec *attrs;
    struct axis_spec dim;        /* N_OP */
    const struct number *number; /* N_NUMBER */
    struct str text;             /* where it stands in the text of the formula or of an idiom */
    uint64_t kinds[(OPERATORS + 63) / 64];
    const struct rearrangement *order; /* N_REARRANGED */
    struct node *form;                 /* N_FUNCTION: over its operands; */
    double within;                     /* how much may be between it and what is found: function_same_at */
    uint8_t result;                    /* N_RESULT: its number */
    bool any;                          /* any op may match; else only those of the set `kinds` */
    bool counts;                       /* N_NUMBER: made of extents, so that an argument of the model may be it, too */
    bool bare;                         /* it may match without an op: `x`, `relu(x) | x` */
    bool netted;                       /* `sub` is known */
    uint32_t deep;                     /* ops on the longest path from here */
    uint32_t unfolded;                 /* nodes down to what has a slot, each as often as it is reached */
    const struct subformula *sub; /* what it asks of ops, in the net of its set (patterns/lang/net.h); NULL: nothing */
};

/* The text of an attribute; empty where it has none. */
struct str node_attribute(const struct node *n, const char *key);
/* False when no op of this kind can match the node, whatever is looked through: a test before any search. */
static inline bool node_may_be(const struct node *n, enum op_kind k) {
    return n->any || (n->kinds[k / 64] >> (k % 64) & 1);
}

/* The same with nothing looked through. */
static inline bool node_is(const struct node *n, enum op_kind k) {
    return n->kinds[k / 64] >> (k % 64) & 1;
}

/* The first kind from `k` on of which this says so; OPERATORS: there is none. */
static inline uint32_t node_next_kind(const struct node *n, uint32_t k) {
    for (; k < OPERATORS; k = (k / 64 + 1) * 64) {
        uint64_t left = n->kinds[k / 64] >> (k % 64);
        if (left)
            return k + (uint32_t)__builtin_ctzll(left);
    }
    return OPERATORS;
}

enum { MAX_SLOTS = 96, MAX_SECONDARY = 16 };

/* A line that is matched after the root, starting from a name that is bound then: `also k = ...`, `maybe k = ...`. */
struct secondary_root {
    struct node *node;
    uint32_t deep; /* ops on the longest path from its root */
    bool optional; /* `maybe` */
    bool beside;   /* no name of it is bound then: it is looked for where the root goes */
};

/* A name of a formula, by its number. */
struct slot {
    struct str name;      /* of a variable or line; empty for what idioms name */
    struct node *named;   /* what it stands for; NULL: any value */
    uint32_t is_variable; /* no bool: compile_patterns.c tells why */
    uint32_t is_constant; /* so says the `where` of its pattern; set before it is in a net */
};

struct formula {
    struct str text;
    struct node *root;
    struct slot *slots; /* at most MAX_SLOTS */
    uint32_t nslots, slots_cap;
    struct secondary_root *also; /* at most MAX_SECONDARY */
    uint32_t nsecondary, also_cap;
    double within; /* of functions that it knows by their values: how much may be between at most */
};

struct text_file {
    const char *path;
};

/* Where formula text begins in a pattern file. */
struct text_origin {
    const struct text_file *file; /* NULL: in none */
    uint64_t line;                /* of the first line of the text */
    uint32_t column; /* of the first column of the text, where it is on one line; else of its indentation */
};

struct definition; /* a line, read: expr.h */

enum { MOST_IDIOM_PARAMS = 12 };

/* What a name stands for: "name(a, b, dim): body". */
struct idiom {
    struct str name;
    bool op;                              /* "op name(a, b): body": what the operator computes */
    struct str params[MOST_IDIOM_PARAMS]; /* one called "dim" is an axis */
    uint32_t nparams;
    struct str text; /* as it stands in the file, with the head */
    struct str body; /* lines; the last plain one is the value */
    const struct definition *lines;
    uint32_t nlines;
    struct text_origin origin;
    const char *says; /* of a definition of a condition; else NULL */
    uint32_t group;   /* likewise: what it speaks of (patterns/lang/condition.h) */
    uint32_t older;   /* the next of its slot, from 1; 0: none */
};

enum { IDIOM_SLOTS = 64 };

struct idioms {
    struct idiom *items;
    uint32_t n, cap;
    uint32_t newest[IDIOM_SLOTS]; /* by their names, from 1 */
    const struct idioms *others;  /* that are meant where none of these has the name; or NULL */
};

/* Reads a definition but for its lines. False with a diagnostic. */
bool definition_read(struct idiom *out, struct arena *a, struct str text, struct text_origin origin, struct diags *d);
/* "name(a, b)" */
struct str definition_head(const struct idiom *definition);
/* Adds a definition into arena `a`; the last one of a name counts. False with a diagnostic. */
bool idiom_add(struct idioms *all, struct arena *a, struct idiom idiom, struct diags *d);
/* Whether an idiom that nothing uses yet could be used. False with a diagnostic. */
bool idiom_check(const struct idioms *all, const struct idiom *idiom, struct diags *d);
/* The last one of this name, or NULL. */
const struct idiom *idiom_find(const struct idioms *all, struct str name);

/* Returns its number; there are fewer than MAX_SLOTS. */
uint32_t formula_add_slot(struct formula *f, struct arena *a, struct slot slot);
/* Reads `text`, which the formula keeps pointing into. `idioms` may be NULL. False with a diagnostic. */
bool formula_parse(struct formula *f, struct arena *a, const struct idioms *idioms, struct str text,
                   struct text_origin origin, struct diags *d);
/* The same of a fused form of the formula `outer`: its last line needs no name, and names that stand in attributes only
 * are variables too. */
bool form_parse(struct formula *f, struct arena *a, const struct idioms *idioms, const struct formula *outer,
                struct str text, struct text_origin origin, struct diags *d);
/* The same of what an op computes: its parameters are variables, even if the formula has them in attributes only, or
 * not at all. */
bool lowering_parse(struct formula *f, struct arena *a, const struct idioms *idioms, const struct idiom *op,
                    struct diags *d);
/* What conditions of pattern files use beside the table of conditions. */
struct condition_parts {
    struct regexes regexes;
    struct idioms definitions; /* of conditions by others: "rowwise(x): same_along(x, x, -1)" */
};

/* A condition or a number over the names of a formula (parse_condition.c). Regular expressions are added to `parts`;
 * NULL: neither they nor definitions are allowed. False with a diagnostic. */
bool condition_parse(const struct number **out, const struct formula *f, struct arena *a, struct str text,
                     struct text_origin origin, struct condition_parts *parts, struct diags *d);
/* The conditions that one with series of names stands for, one for each number; one where there is none. */
enum { MOST_MEMBERS = 17 };
bool condition_members(const struct number *out[MOST_MEMBERS], uint32_t *n, const struct formula *f, struct arena *a,
                       struct str text, struct text_origin origin, struct condition_parts *parts, struct diags *d);
/* It is true or false, no number. */
bool number_is_truth(const struct number *n);
/* Reads a condition that is stated of several formulas into `out`: the names in it are the parameters. */
bool condition_read(struct idiom *out, struct arena *a, struct str text, struct text_origin origin, struct diags *d);
/* The same of one formula: slots[i] is what parameter i stands for. */
bool condition_of(const struct number **out, const struct formula *f, struct arena *a, const struct idiom *condition,
                  const uint32_t *slots, struct condition_parts *parts, struct diags *d);
/* Whether a definition that nothing uses yet could be used. False with a diagnostic. */
bool definition_check(const struct condition_parts *parts, uint32_t definition, struct diags *d);
/* What a condition (NUM_CALL) says, for messages. */
const char *condition_says(const struct number *n);
/* A name that stands in extents only, so that no value is bound to it; NONE. */
uint32_t formula_unbound(const struct formula *f);
/* Slot of a variable or line; NONE when the formula has no such name. */
uint32_t formula_slot(const struct formula *f, struct str name);

typedef bool node_test(const struct node *n, void *context);
/* The first node, in the order of the lines, of which `is` says so; or NULL. What a name stands for is asked once, in
 * however many places it is used. */
const struct node *formula_find(const struct formula *f, node_test *is, void *context);

#endif
