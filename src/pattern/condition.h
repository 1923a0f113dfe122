/* Conditions of patterns: what may be said of matched values beyond the formula. */
#ifndef FA_CONDITION_H
#define FA_CONDITION_H

#include "pattern/formula.h"

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

/* What a pad adds along each dimension of an op's window, and the digits of those in the index of its operand. False
 * where that is not known. */
struct window_pads {
    int n;
    int64_t stride[3], size[3], before[3], after[3];
};
bool window_pads(const struct graph *g, uint32_t op, const struct binding *pad, struct window_pads *out);

/* spelling.c: those about how a match is written. */
bool condition_has_op(const struct evaluation *e, const struct binding *b, uint32_t n);
bool condition_made_by(const struct evaluation *e, const struct binding *b, uint32_t n);
bool condition_spelled(const struct evaluation *e, const struct binding *b, uint32_t n);
bool condition_between(const struct evaluation *e, const struct binding *b, uint32_t n);
bool condition_operand(const struct evaluation *e, const struct binding *b, uint32_t n);
/* Words of templates: {found}, the op that a condition of the rule found, and {type(x)}, "4x32xbf16". */
bool template_word(const struct formula *f, struct str inner);
void template_say(const struct evaluation *e, struct str inner, struct buf *out); /* what is a word */

bool condition_regex_finds(const pcre2_code *re, struct str s);

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
