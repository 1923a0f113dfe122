/* Recursive descent over the text of one result: sums of products of atoms, as the printer of MLIR nests them. */
#include "device/chips/affine.h"
#include "ir/mlir/mlir.h"

enum { MAX_DEPTH = 32 };

struct cursor {
    const char *p, *end;
    const struct affine_map *map;
    const int64_t *point;
    uint32_t depth;
};

static void skip_blanks(struct cursor *c) {
    while (c->p < c->end && str_blank(*c->p))
        c->p++;
}

static bool take(struct cursor *c, struct str word) {
    skip_blanks(c);
    if (!str_starts((struct str){c->p, (size_t)(c->end - c->p)}, word))
        return false;
    c->p += word.n;
    return true;
}

static bool digits(struct cursor *c, int64_t *out) {
    bool any = false;
    for (*out = 0; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++, any = true)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *c->p - '0', out))
            return false;
    return any;
}

static bool sum(struct cursor *c, int64_t *out);

static bool atom(struct cursor *c, int64_t *out) {
    int64_t n;
    if (take(c, STR("(")))
        return sum(c, out) && take(c, STR(")"));
    if (take(c, STR("d"))) {
        if (!digits(c, &n) || n >= c->map->ndims)
            return false;
        *out = c->point[n];
        return true;
    }
    if (take(c, STR("s"))) {
        *out = 0;
        return digits(c, &n);
    }
    return digits(c, out);
}

static bool divide(int64_t a, int64_t b, int64_t *floor, int64_t *rest) {
    if (b <= 0)
        return false;
    *rest = a % b < 0 ? a % b + b : a % b;
    *floor = (a - *rest) / b;
    return true;
}

static bool product(struct cursor *c, int64_t *out) {
    int64_t b, floor, rest;
    if (!atom(c, out))
        return false;
    for (;;) {
        if (take(c, STR("*"))) {
            bool negative = take(c, STR("-")); /* "d0 * -1" is how it prints a difference */
            if (!atom(c, &b) || (negative && __builtin_sub_overflow(0, b, &b)) || __builtin_mul_overflow(*out, b, out))
                return false;
        } else if (take(c, STR("floordiv"))) {
            if (!atom(c, &b) || !divide(*out, b, out, &rest))
                return false;
        } else if (take(c, STR("ceildiv"))) {
            if (!atom(c, &b) || !divide(*out, b, &floor, &rest))
                return false;
            *out = floor + (rest > 0);
        } else if (take(c, STR("mod"))) {
            if (!atom(c, &b) || !divide(*out, b, &floor, out))
                return false;
        } else {
            return true;
        }
    }
}

static bool sum(struct cursor *c, int64_t *out) {
    int64_t b;
    bool negative = take(c, STR("-"));
    if (++c->depth > MAX_DEPTH || !product(c, out) || (negative && __builtin_sub_overflow(0, *out, out)))
        return false;
    for (;;) {
        bool minus = take(c, STR("-"));
        if (!minus && !take(c, STR("+")))
            break;
        if (!product(c, &b) || (minus ? __builtin_sub_overflow(*out, b, out) : __builtin_add_overflow(*out, b, out)))
            return false;
    }
    c->depth--;
    return true;
}

/* "(d0, d1)" to the text between its parentheses, and what follows to `rest`. */
static bool parentheses(struct str text, struct str *inside, struct str *rest) {
    size_t depth = 0;
    text = str_trim(text);
    for (size_t i = 0; i < text.n; i++) {
        depth += text.p[i] == '(';
        if (text.p[i] == ')' && depth-- == 1) {
            *inside = (struct str){text.p + 1, i - 1};
            *rest = (struct str){text.p + i + 1, text.n - i - 1};
            return text.p[0] == '(';
        }
    }
    return false;
}

bool affine_read(struct str text, struct affine_map *out) {
    struct str dims, results, rest, item;
    *out = (struct affine_map){0};
    if (!parentheses(text, &dims, &rest))
        return false;
    const char *arrow = str_find(rest, STR("->"));
    if (!arrow || !parentheses((struct str){arrow + 2, rest.n - (size_t)(arrow + 2 - rest.p)}, &results, &rest))
        return false;
    while (mlir_item(&dims, &item))
        if (++out->ndims > MAX_AFFINE_DIMS)
            return false;
    while (mlir_item(&results, &item)) {
        if (out->nresults == MAX_AFFINE_RESULTS)
            return false;
        out->results[out->nresults++] = item;
    }
    return str_trim(rest).n == 0;
}

bool affine_apply(const struct affine_map *m, const int64_t *point, int64_t *out) {
    for (uint32_t i = 0; i < m->nresults; i++) {
        struct cursor c = {m->results[i].p, m->results[i].p + m->results[i].n, m, point, 0};
        if (!sum(&c, &out[i]))
            return false;
        skip_blanks(&c);
        if (c.p < c.end)
            return false;
    }
    return true;
}

uint32_t extents_read(struct str text, int64_t out[MAX_GRID_RANK], struct str *rest) {
    struct cursor c = {text.p, text.p + text.n, NULL, NULL, 0};
    int64_t extent;
    uint32_t n = 0;
    while (digits(&c, &extent)) {
        if (n == MAX_GRID_RANK)
            return 0;
        out[n++] = extent;
        if (!take(&c, STR("x")))
            break;
        skip_blanks(&c); /* "32 x 32" */
    }
    *rest = (struct str){c.p, (size_t)(c.end - c.p)};
    return n;
}
