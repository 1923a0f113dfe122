/* The table of conditions, and what is asked of it. */
#include "pattern/conditions.h"

const struct condition_info condition_table[] = {
    {condition_present, "present", 1, 1, false, false, "present(x): the optional part x is there"},
    {condition_constant, "constant", 1, 1, false, false, "constant(x): one known number in every element"},
    {condition_parameter, "parameter", 1, 1, false, false, "parameter(x): depends on parameters and constants only"},
    {condition_stored, "stored", 1, 1, false, false,
     "stored(x): a parameter, or an argument of which nothing says what it is"},
    {condition_used_by, "used_by", 2, 2, true, false, "used_by(x, \"regex\"): some op that uses x has such a name"},
    {condition_scalar, "scalar", 1, 1, false, false, "scalar(x): one element, or one known number in every element"},
    {condition_stated_constant, "stated_constant", 1, 1, false, false,
     "stated_constant(x): a known number, or an argument with that as a precondition"},
    {condition_row_vector, "row_vector", 1, 2, false, false, "row_vector(x, of): varies along the last axis only"},
    {condition_matrix, "matrix", 1, 1, false, false, "matrix(x): varies along the last two axes only"},
    {condition_contiguous, "contiguous", 1, 1, false, false, "contiguous(x): stored with its last axis innermost"},
    {condition_grouped, "grouped", 3, 3, false, false,
     "grouped(q, k, v): k and v are expanded as the heads of a group are, or not at all"},
    {condition_repeated, "repeated", 1, 1, false, false,
     "repeated(x): the same all along some axis, a broadcast there"},
    {condition_rowwise, "rowwise", 1, 1, false, false, "rowwise(x): the same all along the last axis"},
    {condition_same, "same", 2, 2, false, false, "same(x, y): one value, read in the same way in both places"},
    {condition_same_dtype, "same_dtype", 2, 2, false, false, "same_dtype(x, y)"},
    {condition_one_location, "one_location", 0, 0, false, false, "one_location(): all ops carry the same location"},
    {condition_located, "located", 1, 1, true, false, "located(\"regex\"): a location of the ops has such a name"},
    {condition_named, "named", 2, 2, true, false, "named(x, \"regex\"): x is an argument of such a name"},
    {condition_aligned, "aligned", 1, 1, false, false, "aligned(x): all of x is indexed by the axes of the formula"},
    {condition_columns, "columns", 2, 2, false, true,
     "columns(x, -2): this axis of x is made of the columns of a product"},
    {condition_positions, "positions", 1, 1, false, false, "positions(c): varies along the last axis and one other"},
    {condition_no_user, "no_user", 2, 2, true, false, "no_user(x, \"regex\"): no op of such a name uses x"},
    {condition_read_as, "read_as", 2, 8, false, true,
     "read_as(out, x, 0, 2, 1, 3): out runs over the dimensions of x in this order"},
    {condition_interleaved, "interleaved", 2, 2, false, false,
     "interleaved(out, x): each element along one dimension of x is repeated"},
    {condition_tiled, "tiled", 2, 2, false, false, "tiled(out, x): one dimension of x is repeated as a whole"},
    {condition_along_axis, "along_axis", 3, 3, false, true,
     "along_axis(bias, y, -1): bias varies along this axis of y only"},
    {condition_floating, "floating", 1, 1, false, false, "floating(x): its elements are floating point numbers"},
    {condition_count_of, "count_of", 2, 2, false, false, "count_of(n, s): n is how many elements the reduction s sums"},
    {condition_one_over_count_of, "one_over_count_of", 2, 2, false, false,
     "one_over_count_of(c, s): c is 1/n, n being how many elements s sums"},
    {condition_root_count_of, "root_count_of", 2, 2, false, false,
     "root_count_of(c, s): c is the square root of how many elements s sums"},
    {condition_same_along, "same_along", 3, 3, false, true,
     "same_along(x, y, -2): x is the same all along this axis of y"},
    {condition_same_axis, "same_axis", 1, 4, false, false,
     "same_axis(x, y, ...): all vary along one and the same axis only"},
    {condition_adjacent, "adjacent", 2, 2, false, false,
     "adjacent(x, out): casts and layout changes at most lie between x and the op out"},
    {condition_along_reduced, "along_reduced", 2, 2, false, false,
     "along_reduced(x, s): x varies only along the axes that the reduction s reduces"},
    {condition_channel_groups, "channel_groups", 2, 2, false, true,
     "channel_groups(m, 1): m is one number for each group of channels, axis 1"},
    {condition_regrouped, "regrouped", 2, 2, false, false,
     "regrouped(x, out): the rows of x are made by a reshape and taken apart after out"},
    {condition_pads_window, "pads_window", 2, 2, false, false,
     "pads_window(p, c): the pad p adds nothing that the padding of the convolution or pool c could not"},
    {condition_same_window, "same_window", 2, 2, false, false,
     "same_window(c, d): the windows of two convolutions move alike"},
    {condition_normalizes_channels, "normalizes_channels", 2, 2, false, false,
     "normalizes_channels(n, c): the batch norm n normalises along the channels of the convolution c"},
    {condition_cuts_along, "cuts_along", 2, 2, false, false,
     "cuts_along(out, s): the slice out cuts the dimension that s sorts"},
    {condition_turned, "turned", 1, 1, false, false, "turned(p): p exchanges the last two dimensions of its operand"},
    {condition_has_op, "has_op", 1, 1, true, false, "has_op(\"regex\"): a matched op has such a name"},
    {condition_made_by, "made_by", 2, 2, true, false, "made_by(x, \"regex\"): the op that makes x has such a name"},
    {condition_spelled, "spelled", 2, 2, true, false, "spelled(x, \"regex\"): the text of the op x has such a piece"},
    {condition_between, "between", 1, 3, true, false,
     "between(x, y, \"regex\"): something of such a name was looked through between the op x and the op y"},
    {condition_operand, "operand", 3, 3, false, true, "operand(x, y, 0): x is the first operand of the op y"},
};

uint32_t condition_find(struct str name) {
    for (uint32_t i = 0; i < sizeof condition_table / sizeof *condition_table; i++)
        if (str_is(name, condition_table[i].name))
            return i;
    return NONE;
}

const char *condition_nearest(struct str misspelt) {
    enum { N = sizeof condition_table / sizeof *condition_table };
    const char *words[N + 4] = {"not", "value", "extent", "sqrt"};
    for (uint32_t i = 0; i < N; i++)
        words[4 + i] = condition_table[i].name;
    return str_nearest(misspelt, words, N + 4);
}

/* Those that do so whoever uses the value. */
static condition_holds *const near[] = {condition_present,
                                        condition_constant,
                                        condition_scalar,
                                        condition_row_vector,
                                        condition_matrix,
                                        condition_contiguous,
                                        condition_grouped,
                                        condition_same_dtype,
                                        condition_floating,
                                        condition_count_of,
                                        condition_one_over_count_of,
                                        condition_root_count_of,
                                        condition_along_reduced,
                                        condition_same_axis,
                                        condition_read_as,
                                        condition_interleaved,
                                        condition_tiled,
                                        condition_along_axis,
                                        condition_aligned,
                                        condition_channel_groups,
                                        condition_parameter,
                                        condition_stored,
                                        condition_stated_constant,
                                        condition_adjacent,
                                        condition_repeated,
                                        condition_rowwise,
                                        condition_same,
                                        condition_regrouped,
                                        condition_pads_window,
                                        condition_same_window,
                                        condition_normalizes_channels,
                                        condition_cuts_along,
                                        condition_turned,
                                        condition_same_along,
                                        condition_positions};

bool condition_looks_near(const struct condition_info *c, const struct binding *args) {
    if (c->holds == condition_no_user || c->holds == condition_used_by)
        return args[0].op != NONE || args[0].value == NONE;
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        if (c->holds == near[i])
            return true;
    return false;
}

bool condition_is_of_locations(const struct condition_info *c) {
    return c->holds == condition_located || c->holds == condition_one_location;
}
