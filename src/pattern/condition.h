/* Conditions of patterns: what may be said of matched values beyond the formula. */
#ifndef FA_CONDITION_H
#define FA_CONDITION_H

#include "base/base.h"

struct condition_info {
    const char *name;
    uint32_t least, most; /* arguments */
    bool regex;           /* the last one is a regular expression */
    const char *says;     /* for messages and `explain` */
};

extern const struct condition_info condition_table[];
uint32_t condition_find(struct str name); /* NONE when there is none */
const char *condition_nearest(struct str misspelt); /* a name or a word of conditions; NULL when none is close */

#endif
