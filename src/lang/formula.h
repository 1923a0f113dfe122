/* The formula language: text to a tree that can be searched for in a graph.
 *
 *   c   = x - mean(x, dim=-1)
 *   out = c * rsqrt(mean(square(c), dim=-1) + eps) [* weight] [+ bias]
 *
 * Each line names a value; the last one is the root. A name that no line defines is a variable and
 * stands for any value; a name that occurs twice is the same value both times. Idioms are expanded
 * here, so that the tree holds operators only. Grammar and meaning: fusion-patterns(5). */
#ifndef FA_FORMULA_H
#define FA_FORMULA_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/base.h"
#include "graph/graph.h"

enum node_kind {
    N_OP,         /* an operator of the table */
    N_VARIABLE,   /* any value; the same one at each occurrence */
    N_NAMED,      /* a sub-formula with a name: matched once, the same value afterwards */
    N_NUMBER,     /* a constant whose value is an expression of numbers and extents */
    N_EITHER,     /* alternatives, the first that holds */
    N_RESULT,     /* a further result of an op: result(s, 1) */
    N_TRANSPOSED, /* the last two axes are meant the other way round */
    N_OUTER       /* matmul over one element, written as a broadcast multiply */
};

/* What `dim=` says. */
struct axis_spec {
    bool given;
    int axis; /* of the formula's own axes; negative from the end */
};

enum number_op {
    NUM_VALUE,
    NUM_EXTENT,
    NUM_NEG,
    NUM_ADD,
    NUM_SUB,
    NUM_MUL,
    NUM_DIV,
    NUM_SQRT,
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
    NUM_MEASURE,  /* a number that a value or its op has: begin(s) */
    NUM_VALUE_OF, /* the number that a name holds in every element */
    NUM_CALL      /* a condition: row_vector(bias) */
};

struct number {
    enum number_op op;
    double value;
    uint32_t slot; /* NUM_EXTENT, NUM_VALUE_OF: of this name; NONE: of the formula's axes here */
    int axis;      /* NUM_EXTENT */
    const struct number *a, *b;
    uint32_t call, nargs; /* NUM_CALL, NUM_MEASURE: index in the table of conditions or measures */
    uint32_t args[4];     /* slots */
    uint32_t ngiven;      /* numbers after the names: read_as(out, x, 0, 2, 1, 3), size(x, -1) */
    int given[8];
    const char *key;         /* attribute(x, "k") */
    const pcre2_code *regex; /* NUM_CALL with a regular expression */
    struct str text;
};

/* Compiled regular expressions of the conditions of a set of patterns. */
struct regexes {
    pcre2_code **items;
    uint32_t n, cap;
};

void regexes_free(struct regexes *all);

enum attr_test { ATTR_ABSENT, ATTR_IS };

struct attr_spec {
    const char *key;
    enum attr_test test;
    struct str value;
    bool word; /* without quotes: true, or a name */
};

struct node {
    enum node_kind kind;
    enum op_kind op; /* N_OP */
    uint32_t nargs;  /* N_OP operands; N_EITHER alternatives; else 0 or 1 */
    struct node **args;
    struct axis_spec dim;
    uint32_t nattrs;
    struct attr_spec *attrs;
    uint32_t slot;               /* N_VARIABLE, N_NAMED */
    uint32_t result;             /* N_RESULT: its number */
    const struct number *number; /* N_NUMBER */
    bool given;                  /* N_NUMBER: may be an argument that is stated to hold it */
    struct str text;             /* where it stands in the formula */
    bool any;                    /* may be anything; else only the operators of `kinds` */
    uint64_t kinds[(K_COUNT + 63) / 64];
};

/* True when an op of this kind may be what the node stands for: a quick answer before any search. */
static inline bool node_may_be(const struct node *n, enum op_kind k) {
    return n->any || (n->kinds[k / 64] >> (k % 64) & 1);
}

/* True when an op of this kind may be the node itself, with nothing looked through. */
static inline bool node_is(const struct node *n, enum op_kind k) {
    return n->kinds[k / 64] >> (k % 64) & 1;
}

enum { MAX_SLOTS = 96, MAX_SECONDARY = 8 };

/* A line that is searched for from what the rest of the formula bound: `also k = ...`, `maybe k = ...`. */
struct secondary_root {
    struct node *node;
    uint32_t deep; /* ops from its root to the deepest */
    bool optional;
};

struct formula {
    struct str text;
    struct node *root;
    uint32_t nslots;
    struct str slot_name[MAX_SLOTS]; /* variables and named values; empty for those of idioms */
    bool slot_is_variable[MAX_SLOTS];
    struct secondary_root also[MAX_SECONDARY];
    uint32_t nsecondary;
};

/* A position in a YAML file that formula text came from. */
struct text_origin {
    const char *file;
    uint64_t line;   /* of the first line of the text */
    uint32_t column; /* of the first column of the text, where it is on one line; else of its indentation */
};

struct definition; /* a line, read: expr.h */

struct idiom {
    struct str name;
    struct str params[6]; /* "dim" is the axis */
    uint32_t nparams;
    struct str body; /* lines; the last one is the value */
    const struct definition *lines;
    uint32_t nlines;
    struct text_origin origin;
};

struct idioms {
    struct idiom *items;
    uint32_t n, cap;
};

/* Parses "name(a, b, dim): body" and adds it; the last definition of a name wins. False with a diagnostic. */
bool idiom_add(struct idioms *all, struct arena *a, struct str text, struct text_origin origin, struct diags *d);
void idioms_free(struct idioms *all);

/* False with a diagnostic when the text is wrong. */
bool formula_parse(struct formula *f, struct arena *a, const struct idioms *idioms, struct str text,
                   struct text_origin origin, struct diags *d);
/* A condition or a number over the names of a formula. Regular expressions go to `keep` (NULL: none are allowed).
 * False with a diagnostic. */
bool number_parse(const struct number **out, const struct formula *f, struct arena *a, struct str text,
                  struct text_origin origin, struct regexes *keep, struct diags *d);
/* Slot of a variable or named value; NONE when the formula has no such name. */
uint32_t formula_slot(const struct formula *f, struct str name);
/* Operators that the root may be, as a set over enum op_kind. */
void formula_roots(const struct formula *f, bool roots[K_COUNT]);

#endif
