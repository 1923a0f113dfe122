/* Conditions of patterns: what may be said of matched values beyond the formula. */
#ifndef FA_CONDITION_H
#define FA_CONDITION_H

#include "base/base.h"

struct evaluation;
struct number;
struct binding;

struct condition_info {
    bool (*holds)(const struct evaluation *e, const struct binding *args, uint32_t nargs);
    const char *name;
    uint32_t least, most; /* arguments */
    bool regex;           /* the last one is a regular expression */
    bool numbers;         /* whole numbers follow the names */
    const char *says;     /* for messages and `explain` */
};

extern const struct condition_info condition_table[];

/* window.c: those of the table that are about convolutions, pools, sorts and turned operands. */
bool condition_pads_window(const struct evaluation *e, const struct binding *b, uint32_t n);
bool condition_same_window(const struct evaluation *e, const struct binding *b, uint32_t n);
bool condition_normalizes_channels(const struct evaluation *e, const struct binding *b, uint32_t n);
bool condition_cuts_along(const struct evaluation *e, const struct binding *b, uint32_t n);
bool condition_turned(const struct evaluation *e, const struct binding *b, uint32_t n);

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
