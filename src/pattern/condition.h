/* Conditions of patterns: what may be said of matched values beyond the formula. */
#ifndef FA_CONDITION_H
#define FA_CONDITION_H

#include "pattern/formula.h"

struct evaluation;
struct number;
struct binding;

/* One that the table knows (conditions.h), of what its arguments are bound to. One on a part that is absent holds:
 * there is nothing to object to. One that only the user can settle holds and states a precondition. */
typedef bool condition_holds(const struct evaluation *e, const struct binding *args, uint32_t nargs);

struct condition_info {
    condition_holds *holds;
    const char *name;
    uint32_t least, most; /* arguments */
    bool regex;           /* the last one is a regular expression */
    bool numbers;         /* whole numbers follow the names */
    const char *says;     /* for messages and `explain` */
};

extern const struct condition_info condition_table[];

/* condition_windows.c: what a pad adds along each dimension of an op's window, and the digits of those in the index of
 * its operand. False where that is not known. */
struct window_pads {
    int n;
    int64_t stride[3], size[3], before[3], after[3];
};
bool window_pads(const struct graph *g, uint32_t op, const struct binding *pad, struct window_pads *out);

/* template.c: {found}, the op that a condition of the rule found, or {type(x)}, "4x32xbf16". */
bool template_word(const struct formula *f, struct str inner);

/* It asks for no more than the number of a place covers (alike.h): what the names are bound to, and, where that is the
 * result of an op, who uses it. */
bool condition_looks_near(const struct condition_info *c, const struct binding *args);
/* It asks for nothing but the locations of the ops. */
bool condition_is_of_locations(const struct condition_info *c);

uint32_t condition_find(struct str name);           /* NONE when there is none */
const char *condition_nearest(struct str misspelt); /* a name or a word of conditions; NULL when none is close */

/* Numbers that a value or its op has. */
struct measure_info {
    const char *name;
    uint32_t ngiven; /* whole numbers after the name of the value */
    bool key;        /* a string after the name of the value */
    const char *says;
};

extern const struct measure_info measure_table[];
uint32_t measure_find(struct str name); /* NONE when there is none */

/* NaN when the value is absent or has no such number. */
double measure(const struct evaluation *e, const struct number *n);

#endif
