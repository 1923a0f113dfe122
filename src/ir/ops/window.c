/* Reads windows. All numbers are bounded, so that sums and products of two of them do not overflow. */
#include "ir/ops/window.h"

#include <ctype.h>

static const char lists[] = "a list has neither one number nor one for each dimension of the window",
                  numbers[] = "a number is negative or too large";

static bool is_bounded(int64_t x) {
    return x >= 0 && x <= INT32_MAX;
}

/* A number for each dimension, or one for all. */
static const char *per_dimension(const struct attrs *a, const char *key, uint32_t n, int64_t otherwise, int64_t *out) {
    const struct attr *x = attrs_find(a, key);
    int32_t given = x ? x->n : 0;
    if (given != 0 && given != 1 && given != (int32_t)n)
        return lists;
    for (uint32_t d = 0; d < n; d++) {
        out[d] = given == 0 ? otherwise : x->list[given == 1 ? 0 : d];
        if (!is_bounded(out[d]))
            return numbers;
    }
    return NULL;
}

/* One number for all ends, one for each dimension, or one for each end: top, left, bottom, right in TTIR and of pools
 * in TTNN, too, but top, bottom, left, right of its convolutions (pool2d.cpp, TTNNOps.td at tt-mlir 19c86fca45ae). */
static const char *read_padding(const struct attrs *a, bool by_dimension, struct window *w) {
    const struct attr *x = attrs_find(a, "padding");
    uint32_t given = x && x->n > 0 ? (uint32_t)x->n : 0, n = w->n;
    w->both_ends = given == 2 * n && n < 3;
    if ((x && x->n < 0) || (given > 1 && given != n && given != 2 * n))
        return lists;
    for (uint32_t d = 0; d < n && given > 0; d++) {
        bool each = given == 2 * n;
        w->before[d] = x->list[given == 1 ? 0 : each && by_dimension ? 2 * d : d];
        w->after[d] = x->list[given == 1 ? 0 : !each ? d : by_dimension ? 2 * d + 1 : n + d];
        if (!is_bounded(w->before[d]) || !is_bounded(w->after[d]))
            return numbers;
    }
    return NULL;
}

/* Sizes of the window: an attribute, else the last dimensions of the weights. */
static const char *read_size(const struct attrs *a, const struct shape *weight, struct window *w) {
    const char *key = attrs_find(a, "kernel_size") ? "kernel_size" : "kernel";
    if (attrs_find(a, key))
        return per_dimension(a, key, w->n, 1, w->size);
    if (!weight || weight->rank < w->n + 2)
        return "the size of its window is not said";
    for (uint32_t d = 0; d < w->n; d++) {
        w->size[d] = weight->dim[d + 2];
        if (!is_bounded(w->size[d]))
            return numbers;
    }
    return NULL;
}

/* Batch and sizes that are printed, of an operand of any shape with as many elements. */
static const char *read_printed(const struct attrs *printed, const struct shape *x, struct window *w) {
    int64_t count = w->batch = attrs_int(printed, "batch_size", -1);
    w->channels = x->rank ? x->dim[x->rank - 1] : 1;
    bool known = is_bounded(w->batch) && !__builtin_mul_overflow(count, w->channels, &count);
    for (uint32_t d = 0; d < w->n && known; d++) {
        w->in[d] = attrs_int(printed, window_size_keys[w->n - 1][d], -1);
        known = is_bounded(w->in[d]) && !__builtin_mul_overflow(count, w->in[d], &count);
    }
    return known && count == shape_count(x) ? NULL : "the sizes that are printed are not those of its operand";
}

/* Those of the operand. */
static const char *read_sizes(const struct shape *x, struct window *w) {
    for (uint32_t d = 0; d < x->rank; d++)
        if (!is_bounded(x->dim[d]))
            return numbers;
    w->batch = x->dim[w->dims[0]];
    w->channels = x->dim[w->dims[w->n + 1]];
    for (uint32_t d = 0; d < w->n; d++)
        w->in[d] = x->dim[w->dims[d + 1]];
    return NULL;
}

static const char *read_dims(const struct attrs *a, const struct shape *x, struct window *w) {
    uint32_t rank = w->n + 2;
    if (x->rank != rank)
        return "its operand is of another rank";
    for (uint32_t d = 0; d < rank; d++) {
        const char *key = d == 0 ? "batch_dim" : d == rank - 1 ? "channel_dim" : window_dim_keys[w->n - 1][d - 1];
        int64_t at = attrs_int(a, key, d);
        at += at < 0 ? rank : 0;
        if (at < 0 || at >= rank)
            return "it names a dimension that is not there";
        for (uint32_t k = 0; k < d; k++)
            if (w->dims[k] == at)
                return "it names a dimension twice";
        w->dims[d] = w->dims_of_result[d] = (uint32_t)at;
    }
    return read_sizes(x, w);
}

/* ---- the generic forms of older TTIR, whose attributes number all dimensions ---- */

/* Numbers of dimensions, "2x3". */
static bool read_numbers(struct str text, int64_t *out, uint32_t n) {
    for (uint32_t d = 0; d < n; d++) {
        struct str part = str_part(&text, 'x');
        if (part.n != 1 || !isdigit((unsigned char)*part.p))
            return false;
        out[d] = *part.p - '0';
    }
    return text.n == 0;
}

/* Where two dimensions and those of space are, by the names of these attributes. */
static bool read_places(const struct attrs *layout, const char *const keys[3], uint32_t n, uint32_t *out) {
    const struct attr *space = attrs_find(layout, keys[2]);
    int64_t at[MAX_WINDOW + 2] = {attrs_int(layout, keys[0], -1), attrs_int(layout, keys[1], -1)};
    bool good = space && read_numbers(space->text, at + 2, n);
    for (uint32_t d = 0; d < n + 2 && good; d++) {
        good = at[d] >= 0 && at[d] < n + 2;
        for (uint32_t k = 0; k < d; k++)
            good &= at[k] != at[d];
        out[d] = (uint32_t)at[d];
    }
    return good;
}

/* From [batch, channels, space...] to [batch, space..., channels]. */
static void channels_last(const uint32_t *from, uint32_t n, uint32_t *to) {
    to[0] = from[0];
    memcpy(to + 1, from + 2, n * sizeof *to);
    to[n + 1] = from[1];
}

static const char *read_layout(const struct attrs *a, const struct shape *x, const struct shape *weight,
                               struct window *w) {
    static const char *const keys[][3] = {
        {"input_batch", "input_feature", "input_spatial_dimensions"},
        {"output_batch", "output_feature", "output_spatial_dimensions"},
        {"kernel_output_feature", "kernel_input_feature", "kernel_spatial_dimensions"}};
    const struct attr *layout = attrs_find(a, "convolution_layout");
    uint32_t in[MAX_WINDOW + 2], out[MAX_WINDOW + 2];
    if (!layout || x->rank != w->n + 2 || weight->rank != w->n + 2 ||
        !read_places(&layout->inside, keys[0], w->n, in) || !read_places(&layout->inside, keys[1], w->n, out) ||
        !read_places(&layout->inside, keys[2], w->n, w->weight_dims))
        return "its layout is not one of so many dimensions";
    channels_last(in, w->n, w->dims);
    channels_last(out, w->n, w->dims_of_result);
    return NULL;
}

/* Along two dimensions: those that it moves or reaches along, else the last ones. */
static const char *read_pooled(const struct attrs *a, const struct shape *x, struct window *w) {
    static const char *const keys[] = {"window_dimensions", "window_strides"};
    bool moves[MAX_WINDOW + 2] = {false};
    uint32_t rank = w->n + 2, n = 0, fixed = 0, at = 1;
    if (x->rank != rank)
        return "its operand is of another rank";
    for (int k = 0; k < 2; k++) {
        const int64_t *list;
        if (attrs_list(a, keys[k], &list) != (int32_t)rank)
            return lists;
        for (uint32_t d = 0; d < rank; d++)
            moves[d] |= list[d] != 1;
    }
    for (uint32_t d = 0; d < rank; d++)
        n += moves[d];
    for (uint32_t d = rank; d-- > 0 && n < w->n;)
        if (!moves[d]) {
            moves[d] = true;
            n++;
        }
    if (n > w->n)
        return "its window has more than two dimensions";
    for (uint32_t d = 0; d < rank; d++)
        w->dims[moves[d] ? at++ : fixed++ ? rank - 1 : 0] = d;
    memcpy(w->dims_of_result, w->dims, sizeof w->dims);
    return NULL;
}

/* Of a list of `count` numbers the one of each dimension of the window. */
static const char *at_places(const struct attrs *a, const char *key, uint32_t count, const uint32_t *places, uint32_t n,
                             int64_t *out) {
    const int64_t *list;
    if (attrs_list(a, key, &list) != (int32_t)count)
        return lists;
    for (uint32_t d = 0; d < n; d++) {
        out[d] = list[places[d]];
        if (!is_bounded(out[d]))
            return numbers;
    }
    return NULL;
}

/* Low and high ends by dimension; of others than those of the window there is none. */
static const char *read_ends(const struct attrs *a, uint32_t count, const uint32_t *places, struct window *w) {
    const int64_t *list;
    int64_t all = 0, own = 0;
    if (attrs_list(a, "padding", &list) != 2 * (int32_t)count)
        return lists;
    for (uint32_t i = 0; i < 2 * count; i++) {
        if (!is_bounded(list[i]))
            return numbers;
        all += list[i];
    }
    for (uint32_t d = 0; d < w->n; d++) {
        const int64_t *ends = &list[2 * (size_t)places[d]];
        w->before[d] = ends[0];
        w->after[d] = ends[1];
        own += w->before[d] + w->after[d];
    }
    return own == all ? NULL : "it pads a dimension that its window does not move along";
}

static const char *read_weights(const struct attrs *a, const struct shape *weight, struct window *w) {
    const struct attr *reversed = attrs_find(a, "window_reversal");
    if (attrs_int(a, "batch_group_count", 1) != 1)
        return "its batch is in groups";
    if (reversed && str_find(reversed->text, STR("true")))
        return "its window is reversed";
    w->groups = attrs_int(a, "feature_group_count", 1);
    w->out_channels = weight->dim[w->weight_dims[0]];
    if (!is_bounded(w->groups) || w->groups < 1 || !is_bounded(w->out_channels) || w->channels % w->groups != 0 ||
        w->out_channels % w->groups != 0)
        return "its channels are not so many groups";
    for (uint32_t d = 0; d < w->n; d++) {
        w->size[d] = weight->dim[w->weight_dims[d + 2]];
        if (!is_bounded(w->size[d]))
            return numbers;
    }
    return NULL;
}

/* Convolutions number the dimensions of their window, pools all. */
static const char *read_generic(const struct attrs *a, const struct shape *x, const struct shape *weight,
                                struct window *w) {
    static const uint32_t own[MAX_WINDOW] = {0, 1, 2};
    const int64_t *strides;
    int32_t given = attrs_list(a, "window_strides", &strides);
    w->n = weight && given > 0 ? (uint32_t)given : 2;
    w->both_ends = weight;
    if (w->n > MAX_WINDOW)
        return "its window has too many dimensions";
    const char *why = weight ? read_layout(a, x, weight, w) : read_pooled(a, x, w);
    if (why || (why = read_sizes(x, w)))
        return why;
    const uint32_t *places = weight ? own : w->dims + 1, count = weight ? w->n : x->rank;
    why = weight ? read_weights(a, weight, w) : at_places(a, "window_dimensions", count, places, w->n, w->size);
    why = why ? why : at_places(a, "window_strides", count, places, w->n, w->stride);
    why = why ? why : at_places(a, weight ? "weight_dilation" : "window_dilations", count, places, w->n, w->dilation);
    why = why ? why : at_places(a, weight ? "input_dilation" : "base_dilations", count, places, w->n, w->spread);
    return why ? why : read_ends(a, count, places, w);
}

static const char *read_operand(const struct attrs *a, bool ttnn, const struct shape *x, struct window *w) {
    const struct attr *flattened = attrs_find(a, "flattened_compat_info");
    if (flattened && flattened->inside.n)
        a = &flattened->inside;
    else if (!ttnn || !attrs_find(a, window_size_keys[w->n - 1][0]))
        return read_dims(a, x, w);
    w->printed = true;
    return read_printed(a, x, w);
}

/* Channels of the result: printed, or else those of the weights, which a transposed convolution has second. */
static const char *read_groups(const struct attrs *a, const struct shape *weight, struct window *w) {
    w->groups = attrs_int(a, "groups", 1);
    if (!is_bounded(w->groups) || w->groups < 1 || w->channels % w->groups != 0)
        return "its channels are not so many groups";
    w->out_channels = w->channels;
    if (!weight)
        return NULL;
    int64_t own = weight->rank > w->transposed ? weight->dim[w->transposed] : 1;
    own *= !is_bounded(own) ? 0 : w->transposed ? w->groups : 1;
    w->out_channels = attrs_int(a, "out_channels", own);
    return is_bounded(w->out_channels) && w->out_channels > 0 && w->out_channels % w->groups == 0
               ? NULL
               : "the channels of its result are not so many groups";
}

static int64_t reach(const struct window *w, uint32_t d) {
    return w->dilation[d] * (w->size[d] - 1) + 1;
}

/* The operand with its padding, and with what lies between its elements. */
static int64_t padded_size(const struct window *w, uint32_t d) {
    return (w->in[d] - 1) * w->spread[d] + 1 + w->before[d] + w->after[d];
}

static int64_t result_size(const struct window *w, uint32_t d) {
    int64_t room = padded_size(w, d) - reach(w, d);
    if (w->transposed)
        return (w->in[d] - 1) * w->stride[d] - w->before[d] - w->after[d] + reach(w, d) + w->extra[d];
    if (room < 0)
        return 0;
    int64_t last = (room + (w->ceil_mode ? w->stride[d] - 1 : 0)) / w->stride[d];
    /* a window that begins behind the operand and the padding before it does not count */
    return w->ceil_mode && last * w->stride[d] >= w->in[d] + w->before[d] ? last : last + 1;
}

static const char *read_movement(const struct attrs *a, bool by_dimension, struct window *w) {
    const char *why = per_dimension(a, "stride", w->n, 1, w->stride);
    why = why ? why : per_dimension(a, "dilation", w->n, 1, w->dilation);
    why = why ? why : per_dimension(a, "output_padding", w->n, 0, w->extra);
    return why ? why : read_padding(a, by_dimension, w);
}

static const char *read_special(const struct attrs *a, bool ttnn, const struct shape *x, const struct shape *weight,
                                struct window *w) {
    const char *why = read_operand(a, ttnn, x, w);
    for (uint32_t d = 0; d < w->n; d++)
        w->spread[d] = 1;
    for (uint32_t d = 0; d < w->n + 2; d++)
        w->weight_dims[d] = d;
    why = why ? why : read_groups(a, weight, w);
    why = why ? why : read_size(a, weight, w);
    return why ? why : read_movement(a, ttnn && weight, w); /* a pool has no weights */
}

static const char *set_result(struct window *w) {
    for (uint32_t d = 0; d < w->n; d++) {
        if (w->stride[d] < 1 || w->dilation[d] < 1 || w->size[d] < 1 || w->spread[d] < 1)
            return "its window does not move";
        w->out[d] = result_size(w, d);
        if (w->out[d] < 1)
            return w->transposed ? "nothing is left of the result" : "the window is larger than the input";
    }
    return NULL;
}

/* As a transposed window that is as large as its stride. */
static const char *read_upsampling(const struct attrs *a, const struct shape *x, struct window *w) {
    const char *why = attrs_find(a, "scale_factor") ? read_dims(NULL, x, w) : "it has no attribute scale_factor";
    why = why ? why : per_dimension(a, "scale_factor", w->n, 1, w->stride);
    for (uint32_t d = 0; d < w->n && !why; d++) {
        w->size[d] = w->stride[d];
        w->dilation[d] = w->spread[d] = 1;
        w->out[d] = w->in[d] * w->stride[d];
        if (w->stride[d] < 1)
            return "its factor is 0";
    }
    w->transposed = true;
    w->groups = 1;
    w->out_channels = w->channels;
    return why;
}

const char *window_read(enum op_kind k, bool ttnn, const struct attrs *a, const struct shape *x,
                        const struct shape *weight, struct window *w) {
    enum window_kind kind = op_table[k].window.kind;
    *w = (struct window){
        .n = op_table[k].window.rank, .transposed = kind == WINDOW_TRANSPOSED, .ceil_mode = attrs_flag(a, "ceil_mode")};
    if (kind == WINDOW_NONE)
        return "it has no window";
    if (kind == WINDOW_UPSAMPLING)
        return read_upsampling(a, x, w);
    const char *why = w->n ? read_special(a, ttnn, x, weight, w) : read_generic(a, x, weight, w);
    return why ? why : set_result(w);
}

bool window_takes_prepared(const struct window *w, const struct shape *weight) {
    int64_t rows = w->channels / w->groups;
    bool defined = weight->rank >= w->n + 2 && weight->dim[w->weight_dims[0]] == w->out_channels &&
                   weight->dim[w->weight_dims[1]] == rows;
    for (uint32_t d = 0; d < w->n; d++) {
        defined = defined && weight->dim[w->weight_dims[d + 2]] == w->size[d];
        rows *= w->size[d];
    }
    return !w->transposed && !defined && weight->rank >= 2 && weight->dim[weight->rank - 1] == w->out_channels &&
           weight->dim[weight->rank - 2] == rows;
}

int64_t window_remainder(const struct window *w, uint32_t d) {
    return w->transposed ? 0 : padded_size(w, d) - reach(w, d) - w->stride[d] * (w->out[d] - 1);
}
