/* The tables of conditions (conditions.def) and of measures. */
#include "lang/condition.h"

const struct condition_info condition_table[CONDITIONS] = {
#define C(name, least, most, arguments, reach, group, says)                                                            \
    {#name, least, most, ARGUMENTS_##arguments, REACH_##reach, GROUP_##group, says},
#include "lang/conditions.def"
#undef C
};

const char *const condition_groups[CONDITION_GROUPS] = {
    [GROUP_VALUES] = "what a value is",
    [GROUP_AXES] = "along which axes a value varies",
    [GROUP_GROUPS] = "groups of heads and of channels",
    [GROUP_LAYOUT] = "in which order elements stand",
    [GROUP_WINDOWS] = "windows, and dimensions that attributes name",
    [GROUP_NEIGHBOURS] = "users and operands",
    [GROUP_SPELLING] = "how ops are printed",
    [GROUP_LOCATIONS] = "where in the model",
};

const struct measure_info measure_table[MEASURES] = {
    [MEASURE_rank] = {"rank", 0, false, "rank(x): dimensions of the tensor x"},
    [MEASURE_size] = {"size", 1, false, "size(x, -1): extent of a dimension of the tensor x"},
    [MEASURE_numel] = {"numel", 0, false, "numel(x): elements of the tensor x"},
    [MEASURE_users] = {"users", 0, false, "users(x): uses of the value x"},
    [MEASURE_begin] = {"begin", 0, false, "begin(s): where the slice s begins"},
    [MEASURE_end] = {"end", 0, false, "end(s): before which the slice s ends"},
    [MEASURE_step] = {"step", 0, false, "step(s): the step of the slice s"},
    [MEASURE_cut] = {"cut", 0, false, "cut(s): the dimension that the slice s cuts, -1 for the last"},
    [MEASURE_attribute] = {"attribute", 0, true, "attribute(x, \"k\"): a number that is printed on the op x"},
};

uint32_t condition_find(struct str name) {
    for (uint32_t i = 0; i < CONDITIONS; i++)
        if (name.n && name.p[0] == condition_table[i].name[0] && str_is(name, condition_table[i].name))
            return i;
    return NONE;
}

const char *condition_nearest(struct str misspelt) {
    const char *words[CONDITIONS + 4] = {"not", "value", "extent", "sqrt"};
    for (uint32_t i = 0; i < CONDITIONS; i++)
        words[4 + i] = condition_table[i].name;
    return str_nearest(misspelt, words, CONDITIONS + 4);
}

uint32_t measure_find(struct str name) {
    for (uint32_t i = 0; i < MEASURES; i++)
        if (str_is(name, measure_table[i].name))
            return i;
    return NONE;
}
