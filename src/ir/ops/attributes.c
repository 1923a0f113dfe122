/* Look-up of attributes by key. Dictionaries are short: nothing is sorted. */
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

double attr_value(const struct attr *x) {
    return str_ends(x->text, STR("f32")) ? (double)(float)x->number : x->number;
}

int32_t attrs_list(const struct attrs *a, const char *key, const int64_t **list) {
    const struct attr *x = attrs_find(a, key);
    *list = x ? x->list : NULL;
    return x ? x->n : -1;
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
