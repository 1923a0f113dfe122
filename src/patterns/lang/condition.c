/* The tables of conditions (conditions.def) and of measures. */
#include "patterns/lang/condition.h"

const struct condition_info condition_table[CONDITIONS] = {
#define C(name, least, most, arguments, group, says) {#name, least, most, ARGUMENTS_##arguments, GROUP_##group, says},
#include "patterns/lang/conditions.def"
#undef C
};

const struct condition_group_info condition_groups[CONDITION_GROUPS] = {
    [GROUP_VALUES] = {"values", "what a value is"},
    [GROUP_AXES] = {"axes", "along which axes a value varies"},
    [GROUP_GROUPS] = {"groups", "groups of heads and of channels"},
    [GROUP_LAYOUT] = {"layout", "in which order elements stand"},
    [GROUP_WINDOWS] = {"windows", "windows, and dimensions that attributes name"},
    [GROUP_NEIGHBOURS] = {"neighbours", "users and operands"},
    [GROUP_SPELLING] = {"spelling", "how ops are printed"},
    [GROUP_LOCATIONS] = {"locations", "where in the model"},
};

const struct measure_info measure_table[MEASURES] = {
    [MEASURE_rank] = {"rank", 0, false, "rank(x): dimensions of the tensor x"},
    [MEASURE_size] = {"size", 1, false, "size(x, -1): extent of a dimension of the tensor x"},
    [MEASURE_numel] = {"numel", 0, false, "numel(x): elements of the tensor x"},
    [MEASURE_element] = {"element", 1, false, "element(x, 0): the first element of x, which constants make"},
    [MEASURE_users] = {"users", 0, false, "users(x): uses of the value x"},
    [MEASURE_siblings] = {"siblings", 0, false,
                          "siblings(p): products like the product p that have its left operand, p included"},
    [MEASURE_dtype] = {"dtype", 0, false, "dtype(x): a number for the element type of x, below 0 for floating point"},
    [MEASURE_innermost] = {"innermost", 0, false, "innermost(x): the axis along which x is stored element by element"},
    [MEASURE_begin] = {"begin", 0, false, "begin(s): where the slice s begins"},
    [MEASURE_end] = {"end", 0, false, "end(s): before which the slice s ends"},
    [MEASURE_step] = {"step", 0, false, "step(s): the step of the slice s"},
    [MEASURE_cut] = {"cut", 0, false, "cut(s): the dimension that the slice s cuts, -1 for the last"},
    [MEASURE_devices] = {"devices", 0, false, "devices(c): devices that the collective c is between"},
    [MEASURE_attribute] = {"attribute", 0, true, "attribute(x, \"k\"): a number that is printed on the op x"},
};

uint32_t condition_find(struct str name) {
    for (uint32_t i = 0; i < CONDITIONS; i++)
        if (str_is(name, condition_table[i].name))
            return i;
    return NONE;
}

const char *condition_nearest(struct str misspelt, const char *const *others, size_t n) {
    const char *words[CONDITIONS + 4 + MAX_OTHERS] = {"not", "value", "extent", "sqrt"};
    for (uint32_t i = 0; i < CONDITIONS; i++)
        words[4 + i] = condition_table[i].name;
    n = n < MAX_OTHERS ? n : MAX_OTHERS;
    for (size_t i = 0; i < n; i++)
        words[CONDITIONS + 4 + i] = others[i];
    return str_nearest(misspelt, words, CONDITIONS + 4 + n);
}

uint32_t measure_find(struct str name) {
    for (uint32_t i = 0; i < MEASURES; i++)
        if (str_is(name, measure_table[i].name))
            return i;
    return NONE;
}
