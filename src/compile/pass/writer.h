/* One place as a pattern of the compiler. From the bottom up: cpp.c (names, lines), place.c (which ops go),
 * extents.c (which extents are equal), writer.c (its names), create.c (what is written), where.c (what the pattern
 * asks), compare.c and match.c (guards), test.c (the test), pass.c. */
#ifndef FA_PASS_WRITER_H
#define FA_PASS_WRITER_H

#include "compile/pass/extents.h"
#include "search/match/match.h"

enum { MAX_CONSTANTS = 32, MAX_NAMES = 128, INDENT = 4 };

struct pass_constant {
    uint32_t value; /* of g */
    struct str expr;
    double number;
    struct str variable; /* that has it, where the form is made of it; or empty */
    bool counted;        /* it is that of the elements that a reduction takes, or one over it */
};

struct pass_writer {
    struct pass_place place;
    struct extents_of_place extents;
    const struct match *match;
    struct match_detail detail;
    struct arena *arena;
    struct str *expr; /* per value of g: as the code calls it */
    bool *final;      /* per value of g: by a variable */
    struct pass_constant constants[MAX_CONSTANTS];
    uint32_t nconstants;
    uint32_t nread_first;                /* how many of `reads` the first root takes */
    uint32_t reads[MAX_NAMES], nread;    /* values of g that the form takes, in the order in which they are met */
    uint32_t shapes[MAX_NAMES], nshapes; /* values of g whose shapes no op before says */
    struct str names[MAX_NAMES];         /* of variables */
    uint32_t nnames;
    struct str asked;     /* what the pattern asks that no guard does; or empty */
    struct str unwritten; /* an attribute that no guard can be written for, "value of ttir.constant"; or empty */
    struct buf guards, rewrite;
};

/* "sumOp", "sumOp2". */
struct str pass_variable(struct pass_writer *w, struct str name, const char *end);
/* The class of an op's dialect. */
struct str pass_class(struct pass_writer *w, const struct graph *g, uint32_t op);
/* "multiply" of ttir.multiply: for names. */
struct str pass_word(const struct graph *g, uint32_t op);
/* The name that the formula has for a value, or for what movement made of it; empty: none. */
struct str pass_formula_name(const struct pass_writer *w, uint32_t value, bool moved);
/* The first root, as the code calls it. */
struct str pass_anchor(const struct pass_writer *w);
/* One more condition, behind " || ". */
void pass_condition(struct buf *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The guard that refuses where one of the conditions holds, if there are any, and why. */
void pass_refuse(struct pass_writer *w, struct buf *conditions, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* No op says the shape of the value. */
void pass_shape_matters(struct pass_writer *w, uint32_t value);

/* What the pattern asks beside its formula: conditions that must not hold, with " || " between, of shapes or types, or
 * of numbers that the rewrite reads; else as the pattern has it, with "; " between. It holds at this place. */
void pass_where(struct pass_writer *w, struct buf *guards, struct buf *constants, struct buf *comment);
/* The lit test of the pattern: the place, with what has to be there afterwards, and one that must not fuse. `module`:
 * the place, whose arguments' attributes are cut; `pass`: that the pattern belongs to. In the arena of `w`. */
struct str pass_test(const struct pass_writer *w, const struct pattern_set *set, struct module_text *module,
                     struct str pass);

/* Which ops and operands. False: its results have no value in common. */
bool pass_match(struct pass_writer *w);
/* Attributes, extents, types, constants, and the rewrite. */
void pass_compare(struct pass_writer *w);
void pass_create(struct pass_writer *w);

#endif
