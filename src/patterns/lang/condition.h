/* Conditions and measures that patterns may call, and their arguments. match/ evaluates them. */
#ifndef FA_CONDITION_H
#define FA_CONDITION_H

#include "base/base.h"

/* See conditions.def. */
enum condition_arguments { ARGUMENTS_NAMES, ARGUMENTS_REGEX, ARGUMENTS_NUMBERS };
enum condition_group {
    GROUP_VALUES,
    GROUP_AXES,
    GROUP_GROUPS,
    GROUP_LAYOUT,
    GROUP_WINDOWS,
    GROUP_NEIGHBOURS,
    GROUP_SPELLING,
    GROUP_LOCATIONS,
    CONDITION_GROUPS
};
struct condition_group_info {
    const char *name, *says; /* "axes": what its conditions speak of */
};
extern const struct condition_group_info condition_groups[CONDITION_GROUPS];

struct condition_info {
    const char *name;
    uint32_t least, most; /* arguments */
    enum condition_arguments arguments;
    enum condition_group group;
    const char *says; /* for messages and `explain` */
};

enum condition_id {
#define C(name, least, most, arguments, group, says) CONDITION_##name,
#include "patterns/lang/conditions.def"
#undef C
    CONDITIONS
};

extern const struct condition_info condition_table[CONDITIONS];

uint32_t condition_find(struct str name); /* NONE when there is none */
/* A condition, a word of conditions or one of these others (MAX_OTHERS at most); NULL when none is close. */
enum { MAX_OTHERS = 64 };
const char *condition_nearest(struct str misspelt, const char *const *others, size_t n);

/* Measures: numbers that a value or its op has, rank(x), begin(s). */
struct measure_info {
    const char *name;
    uint32_t ngiven; /* whole numbers that follow the name of the value */
    bool key;        /* a string follows the name of the value */
    const char *says;
};

enum measure_id {
    MEASURE_rank,
    MEASURE_size,
    MEASURE_numel,
    MEASURE_element,
    MEASURE_users,
    MEASURE_siblings,
    MEASURE_dtype,
    MEASURE_innermost,
    MEASURE_begin,
    MEASURE_end,
    MEASURE_step,
    MEASURE_cut,
    MEASURE_devices,
    MEASURE_attribute,
    MEASURES
};

extern const struct measure_info measure_table[MEASURES];
uint32_t measure_find(struct str name); /* NONE when there is none */

#endif
