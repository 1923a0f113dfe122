/* One pass over the text of each attribute. Constants of megabytes stay text: no list that an op has is as long. */
#include "ir/mlir/attributes.h"

#include <limits.h>
#include <string.h>

#include "ir/mlir/scan.h"

enum { MAX_DEPTH = 4, LONGEST_LIST = 1 << 10, LONGEST_TEXT = 8 * LONGEST_LIST };

static struct attr read_attr(struct str key, struct str text, struct arena *a, int depth);

/* The inside of the first brackets of "#dialect.name<...>", "#dialect<name ...>" or "{...}"; empty where there is none.
 */
static struct str inside_of(struct str text) {
    const char *end = text.p + text.n, *open = text.p, *close;
    if (!text.n || (*open != '#' && *open != '{'))
        return STR("");
    while (open < end && *open != '<' && *open != '{')
        open++;
    close = open < end ? scan_balanced(open, end) : NULL;
    if (!close)
        return STR("");
    const char *begin = open + 1, *name = scan_ident(begin, close - 1), *next = scan_space(name, close - 1);
    if (next > name && scan_ident(next, close - 1) > next)
        begin = next;
    return (struct str){begin, (size_t)(close - 1 - begin)};
}

/* "key = value"; false where it is none. */
static bool split_equation(struct str item, struct str *key, struct str *value) {
    const char *end = item.p + item.n, *q = scan_ident(item.p, end), *equals = scan_space(q, end);
    *key = (struct str){item.p, (size_t)(q - item.p)};
    if (!key->n || equals >= end || *equals != '=')
        return false;
    *value = str_trim((struct str){equals + 1, (size_t)(end - equals - 1)});
    return true;
}

static struct attrs read_inside(struct str list, struct arena *a, int depth) {
    struct str rest = list, item, key, value;
    uint32_t n = 0;
    while (mlir_item(&rest, &item))
        n += split_equation(item, &key, &value);
    struct attr *at = arena_alloc(a, (n + 1) * sizeof *at);
    struct attrs all = {.at = at, .n = n};
    for (uint32_t i = 0; mlir_item(&list, &item);)
        if (split_equation(item, &key, &value))
            at[i++] = read_attr(key, value, a, depth + 1);
    return all;
}

static void read_list(struct attr *x, struct arena *a) {
    x->n = x->text.n <= LONGEST_TEXT ? mlir_ints(x->text, NULL, 0) : -1;
    if (x->n > LONGEST_LIST)
        x->n = -1;
    if (x->n < 1)
        return;
    int64_t *list = arena_alloc(a, (size_t)x->n * sizeof *list);
    mlir_ints(x->text, list, x->n);
    x->list = list;
}

static struct attr read_attr(struct str key, struct str text, struct arena *a, int depth) {
    struct attr x = {.key = key, .text = text, .n = -1};
    if (text.n == 0) {
        int64_t *one = arena_alloc(a, sizeof *one);
        *one = 1;
        return (struct attr){
            .key = key, .is_number = true, .is_whole = true, .number = 1, .whole = 1, .n = 1, .list = one};
    }
    x.is_whole = mlir_int(text, &x.whole);
    x.is_number = mlir_float(text, &x.number);
    read_list(&x, a);
    if (depth < MAX_DEPTH)
        x.inside = read_inside(inside_of(text), a, depth);
    return x;
}

struct attr mlir_read_attr(struct str key, struct str text, struct arena *a) {
    return read_attr(key, text, a, 0);
}

/* "dense_resource<name> : type" as "dense<bytes> : type" where the module has the bytes: behind four that say how they
 * are aligned. */
static struct str with_bytes(const struct mlir *m, struct str text, struct arena *a) {
    const struct str before = STR("dense_resource<"), alignment = STR("\"0x04000000");
    const char *end = str_starts(text, before) ? memchr(text.p, '>', text.n) : NULL;
    struct str bytes = STR("");
    if (end && mlir_alias(m, (struct str){text.p + before.n, (size_t)(end - text.p) - before.n}, &bytes) &&
        str_starts(bytes, STR("\"0x")) && bytes.n > alignment.n && bytes.n < INT_MAX)
        return arena_printf(a, "dense<\"0x%.*s%.*s", (int)(bytes.n - alignment.n), bytes.p + alignment.n,
                            (int)(text.p + text.n - end), end);
    return text;
}

struct attrs mlir_read_attrs(const struct mlir *m, uint32_t op, struct arena *a) {
    int n = mlir_attrs(m, op, NULL, NULL, 0);
    struct str *keys = arena_alloc(a, 2 * ((size_t)n + 1) * sizeof *keys), *values = keys + n;
    struct attr *at = arena_alloc(a, ((size_t)n + 1) * sizeof *at);
    mlir_attrs(m, op, keys, values, n);
    for (int i = 0; i < n; i++)
        at[i] = read_attr(keys[i], with_bytes(m, values[i], a), a, 0);
    attrs_rename(at, (uint32_t)n, mlir_op_name(m, op), a);
    return (struct attrs){.at = at, .n = (uint32_t)n};
}
