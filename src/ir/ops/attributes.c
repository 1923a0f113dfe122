/* Look-up of attributes by key, and the keys that they had before. Dictionaries are short: nothing is sorted. */
#include "ir/ops/attributes.h"

#include <math.h>

const struct attr *attrs_find(const struct attrs *a, const char *key) {
    for (uint32_t i = 0; a && i < a->n; i++)
        if (str_is(a->at[i].key, key))
            return &a->at[i];
    return a && a->computed ? a->computed(a->self, key) : NULL;
}

bool attrs_flag(const struct attrs *a, const char *key) {
    return attrs_number(a, key, 0) != 0;
}

int64_t attrs_int(const struct attrs *a, const char *key, int64_t otherwise) {
    const struct attr *x = attrs_find(a, key);
    return x && x->is_whole ? x->whole : otherwise;
}

double attrs_number(const struct attrs *a, const char *key, double otherwise) {
    const struct attr *x = attrs_find(a, key);
    return x && x->is_number ? x->number : otherwise;
}

int32_t attrs_list(const struct attrs *a, const char *key, const int64_t **list) {
    const struct attr *x = attrs_find(a, key);
    *list = x ? x->list : NULL;
    return x ? x->n : -1;
}

/* Names that attributes had, by the name that they have: what were several is one list now. */
static const struct old_attribute {
    const char *op, *name; /* op: NULL of any */
    const char *before[4];
} old_attributes[] = {
    {NULL, "fill_value", {"fillValue"}},
    {NULL, "kernel_size", {"kernel_height", "kernel_width"}},
    {NULL, "stride", {"stride_height", "stride_width"}},
    {NULL, "dilation", {"dilation_height", "dilation_width"}},
    {NULL, "padding", {"padding_height", "padding_width"}},
    {"ttir.conv2d", "padding", {"padding_top", "padding_left", "padding_bottom", "padding_right"}},
    {"ttir.max_pool2d", "padding", {"padding_top", "padding_left", "padding_bottom", "padding_right"}},
    {"ttnn.max_pool2d", "padding", {"padding_top", "padding_bottom", "padding_left", "padding_right"}},
    {"ttir.transpose", "dim0", {"dimension1"}},
    {"ttir.transpose", "dim1", {"dimension2"}},
    {"ttir.concat", "dim", {"axis"}},
    {"ttir.all_gather", "all_gather_dim", {"dim"}},
    {"ttnn.all_gather", "all_gather_dim", {"dim"}},
    {"ttnn.pow_scalar", "rhs", {"exponent"}},
};

static uint32_t find_key(const struct attr *at, uint32_t n, const char *key) {
    for (uint32_t i = 0; i < n; i++)
        if (str_is(at[i].key, key))
            return i;
    return NONE;
}

/* The first of the parts becomes all of them, unless one is not there or no whole number. */
static void join_parts(struct attr *at, uint32_t n, const struct old_attribute *old, struct arena *a) {
    int64_t *list = arena_alloc(a, sizeof old->before);
    uint32_t part = 0, first = NONE;
    for (; part < 4 && old->before[part]; part++) {
        uint32_t i = find_key(at, n, old->before[part]);
        if (i == NONE || !at[i].is_whole)
            return;
        list[part] = at[i].whole;
        first = part == 0 ? i : first;
    }
    at[first] = (struct attr){.key = str_of(old->name), .text = at[first].text, .n = (int32_t)part, .list = list};
}

void attrs_rename(struct attr *at, uint32_t n, struct str op, struct arena *a) {
    for (size_t k = 0; k < sizeof old_attributes / sizeof *old_attributes; k++) {
        const struct old_attribute *old = &old_attributes[k];
        uint32_t first = find_key(at, n, old->before[0]);
        if (first == NONE || (old->op && !str_is(op, old->op)) || find_key(at, n, old->name) != NONE)
            continue;
        if (!old->before[1])
            at[first].key = str_of(old->name);
        else
            join_parts(at, n, old, a);
    }
}

static bool is_whole(double x) {
    return x == floor(x) && fabs(x) < 0x1p62;
}

const struct attr *attr_of_number(double x, struct arena *a) {
    struct attr *out = arena_alloc(a, sizeof *out);
    *out = (struct attr){.is_number = true, .number = x, .n = -1};
    if (!is_whole(x))
        return out;
    out->is_whole = true;
    out->whole = (int64_t)x;
    out->n = 1;
    out->list = &out->whole;
    return out;
}

const struct attr *attr_of_numbers(const double *x, uint32_t n, struct arena *a) {
    struct attr *out = arena_alloc(a, sizeof *out);
    int64_t *list = arena_alloc(a, (n + 1) * sizeof *list);
    *out = (struct attr){.n = (int32_t)n, .list = list};
    for (uint32_t i = 0; i < n; i++) {
        if (!is_whole(x[i]))
            out->n = -1;
        list[i] = is_whole(x[i]) ? (int64_t)x[i] : 0;
    }
    return out;
}

unsigned math_fidelity(const struct attr *config) {
    static const char *const names[] = {"lofi", "hifi2", "hifi3", "hifi4"};
    const struct attr *fidelity = config ? attrs_find(&config->inside, "math_fidelity") : NULL;
    for (unsigned i = 0; fidelity && i < 4; i++)
        if (str_is(fidelity->text, names[i]))
            return i + 1;
    return 0;
}
