/* Attributes are read from their text when somebody asks; nothing is kept. */
#include "ir/mlir/scan.h"
#include "ir/mlir/tables.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DENSE_MAX = 1 << 16, LONG_DICT = 1 << 8 };

/* "#loc12", "!type"; not "#ttnn.buffer_type<dram>" and "#ttnn<mesh_shape 1x1>", which are attributes, nor the number in
 * "%5#1". */
bool mlir_next_alias(struct str *rest, bool inside, struct str *alias) {
    const char *p = rest->p, *end = p + rest->n;
    while (p && p < end) {
        if (*p == '"') {
            p = scan_string(p, end);
        } else if (*p == '/' && end - p > 1 && p[1] == '/') {
            p = memchr(p, '\n', (size_t)(end - p));
        } else if (*p != '#' && *p != '!') {
            p++;
        } else {
            const char *q = scan_name(p + 1, end);
            *alias = (struct str){p, (size_t)(q - p)};
            bool begins = alias->n > 1 && !scan_is(p[1], CH_DIGIT) && p[1] != '-';
            bool attribute = q < end && *q == '<';
            p = attribute && !inside ? scan_balanced(q, end) : q;
            *rest = (struct str){q, (size_t)(end - q)};
            if (begins && !attribute && !memchr(alias->p, '.', alias->n))
                return true;
        }
    }
    return false;
}

bool mlir_unresolved(const struct mlir *m, struct str text, struct str *alias) {
    uint32_t number;
    if (!text.n || (!memchr(text.p, '#', text.n) && !memchr(text.p, '!', text.n)))
        return false;
    while (mlir_next_alias(&text, false, alias)) {
        uint32_t id = sym_find(&m->tables->alias_names, *alias);
        if ((id == NONE || m->tables->aliases[id].bad) && !loc_number(*alias, &number))
            return true;
    }
    return false;
}

/* Splits "key = value", "\"key\" = value" or a unit attribute. */
static bool split_entry(struct str item, struct str *key, struct str *value) {
    const char *p = item.p, *end = item.p + item.n, *q;
    if (*p == '"') {
        if (!(q = scan_string(p, end)))
            return false;
        *key = (struct str){p + 1, (size_t)(q - p - 2)};
    } else {
        q = scan_ident(p, end);
        *key = (struct str){p, (size_t)(q - p)};
    }
    q = scan_space(q, end);
    *value = (struct str){q, 0};
    if (q < end && *q == '=') {
        q = scan_space(q + 1, end);
        *value = (struct str){q, (size_t)(end - q)};
    }
    return key->n > 0;
}

/* The value behind a key that ends before `p`; empty for a unit attribute. */
static struct str value_behind(const char *p, const char *end) {
    p = scan_space(p, end);
    if (p >= end || *p != '=')
        return (struct str){p, 0};
    p = scan_space(p + 1, end);
    return str_trim((struct str){p, (size_t)(end - p)});
}

static bool begins_with_word(const char *p, const char *end, struct str word) {
    size_t left = (size_t)(end - p);
    return left >= word.n && memcmp(p, word.p, word.n) == 0 && (left == word.n || !scan_is(p[word.n], CH_IDENT));
}

/* One entry of a dictionary; true where it is of the key. Most are of others, and not split. */
static bool read_entry(const char **p, const char *end, struct str key, struct str *value) {
    struct str item, found;
    if (**p == '"')
        return scan_item(p, end, &item) && item.n > 0 && split_entry(item, &found, value) && str_eq(found, key);
    const char *stop = scan_until(*p, end, ',');
    bool is = begins_with_word(*p, stop, key);
    if (is)
        *value = value_behind(*p + key.n, stop);
    *p = stop + (stop < end);
    return is;
}

static bool find_attr(const struct mlir *m, struct str dict, struct str key, struct str *value) {
    const char *p = dict.p, *end = dict.p + dict.n;
    struct str found;
    if (dict.n > LONG_DICT && !str_find(dict, key)) /* constants of megabytes: no walk without the bytes of the key */
        return false;
    while ((p = scan_space(p, end)) < end)
        if (read_entry(&p, end, key, &found)) {
            *value = mlir_unalias(m, found);
            return true;
        }
    return false;
}

bool mlir_item(struct str *list, struct str *item) {
    if (list->n == 0)
        return false;
    const char *p = list->p, *end = p + list->n;
    bool any = scan_item(&p, end, item);
    *list = (struct str){p, (size_t)(end - p)};
    return any;
}

bool mlir_attr(const struct mlir *m, uint32_t op, const char *key, struct str *value) {
    struct str k = str_of(key);
    return find_attr(m, mlir_span(m, m->ops[op].props), k, value) ||
           find_attr(m, mlir_span(m, m->ops[op].attrs), k, value);
}

static int list_attrs(const struct mlir *m, struct str dict, struct str *keys, struct str *values, int n, int max) {
    const char *p = dict.p, *end = dict.p + dict.n;
    struct str item, key, value;
    while (dict.n > 0 && scan_item(&p, end, &item)) {
        if (item.n == 0 || !split_entry(item, &key, &value))
            continue;
        if (n < max) {
            keys[n] = key;
            values[n] = mlir_unalias(m, value);
        }
        n++;
    }
    return n;
}

int mlir_attrs(const struct mlir *m, uint32_t op, struct str *keys, struct str *values, int max) {
    int n = list_attrs(m, mlir_span(m, m->ops[op].props), keys, values, 0, max);
    return list_attrs(m, mlir_span(m, m->ops[op].attrs), keys, values, n, max);
}

bool mlir_arg_attr(const struct mlir *m, uint32_t func, uint32_t arg, const char *key, struct str *value) {
    const struct mlir_func *f = &m->funcs[func];
    if (arg >= f->nargs)
        return false;
    return find_attr(m, mlir_span(m, m->arg_attrs[f->first_arg_attr + arg]), str_of(key), value);
}

/* Splits "3 : i32" into number and type. */
static struct str split_type(struct str text, struct str *type) {
    text = str_trim(text);
    const char *colon = text.n ? memchr(text.p, ':', text.n) : NULL;
    *type = (struct str){text.p, 0};
    if (!colon)
        return text;
    const char *end = text.p + text.n;
    *type = str_trim((struct str){colon + 1, (size_t)(end - colon - 1)});
    return str_trim((struct str){text.p, (size_t)(colon - text.p)});
}

/* Numbers are short: a copy with a NUL lets the C library read them. */
static bool copy_number(struct str s, char *out, size_t size) {
    if (s.n == 0 || s.n >= size)
        return false;
    memcpy(out, s.p, s.n);
    out[s.n] = 0;
    return true;
}

/* A few digits: what almost every number is. */
static bool read_digits(struct str s, int64_t *out) {
    int64_t v = 0;
    bool minus = s.n > 0 && s.p[0] == '-';
    if (s.n - minus < 1 || s.n - minus > 18)
        return false;
    for (size_t i = minus; i < s.n; i++) {
        if (!scan_is(s.p[i], CH_DIGIT))
            return false;
        v = v * 10 + (s.p[i] - '0');
    }
    *out = minus ? -v : v;
    return true;
}

/* Bytes of an element; 0 when the type is not one of fixed size. */
static size_t element_size(struct str type) {
    static const struct {
        const char *name;
        size_t size;
    } sizes[] = {{"f64", 8},  {"i64", 8},  {"si64", 8}, {"ui64", 8}, {"index", 8}, {"f32", 4},
                 {"i32", 4},  {"si32", 4}, {"ui32", 4}, {"f16", 2},  {"bf16", 2},  {"i16", 2},
                 {"si16", 2}, {"ui16", 2}, {"i8", 1},   {"si8", 1},  {"ui8", 1},   {"i1", 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (str_is(type, sizes[i].name))
            return sizes[i].size;
    return 0;
}

static int64_t sign_extend(uint64_t bits, size_t size, struct str type) {
    if (size == 8 || (type.n && type.p[0] == 'u'))
        return (int64_t)bits;
    uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return (int64_t)((bits ^ sign) - sign);
}

/* Hexadecimal digits are the bits of a number of the type, whatever its sign. */
static bool read_int(struct str s, struct str type, int64_t *out) {
    char text[32], *end;
    if (read_digits(s, out))
        return true;
    if (str_is(s, "true") || str_is(s, "false")) {
        *out = s.n == 4;
        return true;
    }
    if (!copy_number(s, text, sizeof text))
        return false;
    bool hex = strncmp(text, "0x", 2) == 0;
    if (!hex && !scan_is(text[text[0] == '-'], CH_DIGIT))
        return false;
    errno = 0;
    long long v = hex ? (long long)strtoull(text, &end, 16) : strtoll(text, &end, 10);
    if (*end || errno || (hex && !text[2]))
        return false;
    size_t size = hex ? element_size(type) : 0;
    *out = size && size < 8 && v >> 8 * size == 0 ? sign_extend((uint64_t)v, size, type) : v;
    return true;
}

static bool is_float_type(struct str type) {
    return str_is(type, "f32") || str_is(type, "bf16") || str_is(type, "f16") || str_is(type, "f64");
}

/* Hexadecimal digits of a float type are its bits; of another type, or of none (which is i64), an integer. */
static bool is_bits(struct str number, struct str type) {
    return is_float_type(type) && str_starts(number, STR("0x"));
}

/* Of `type`, unless it says one of its own. */
static bool int_of(struct str text, struct str type, int64_t *out) {
    struct str own, number = split_type(text, &own);
    type = own.n ? own : type;
    return !is_bits(number, type) && read_int(number, type, out);
}

bool mlir_int(struct str text, int64_t *out) {
    return int_of(text, STR(""), out);
}

static double half_value(uint16_t h) {
    int exponent = h >> 10 & 31;
    double m = h & 1023, v;
    if (exponent == 31)
        v = m != 0 ? NAN : INFINITY;
    else
        v = exponent ? ldexp(1024 + m, exponent - 25) : ldexp(m, -24);
    return h & 0x8000 ? -v : v;
}

/* The number with these bits in a float type. */
static bool float_bits(uint64_t bits, struct str type, double *out) {
    if (str_is(type, "f64")) {
        memcpy(out, &bits, sizeof bits);
        return true;
    }
    if (str_is(type, "f16")) {
        *out = half_value((uint16_t)bits);
        return bits <= 0xffff;
    }
    bool bf16 = str_is(type, "bf16");
    if (bits > (bf16 ? 0xffffu : 0xffffffffu))
        return false;
    uint32_t word = (uint32_t)(bf16 ? bits << 16 : bits);
    float f;
    memcpy(&f, &word, sizeof f);
    *out = (double)f;
    return true;
}

static bool read_float(struct str s, struct str type, double *out) {
    char text[400], *end;
    int64_t bits;
    if (str_is(s, "true") || str_is(s, "false")) {
        *out = s.n == 4;
        return true;
    }
    if (!copy_number(s, text, sizeof text))
        return false;
    if (str_starts(s, STR("0x"))) {
        if (!read_int(s, is_float_type(type) ? STR("") : type, &bits))
            return false;
        if (is_bits(s, type))
            return float_bits((uint64_t)bits, type, out);
        *out = (double)bits;
        return true;
    }
    const char *first = text + (text[0] == '-' || text[0] == '+');
    if (!scan_is(*first, CH_DIGIT))
        return false;
    *out = strtod(text, &end);
    *out = str_is(type, "f32") ? (double)(float)*out : *out; /* nine digits say more, or less, than it holds */
    return *end == 0;
}

bool mlir_float(struct str text, double *out) {
    struct str type, number = split_type(text, &type);
    return read_float(number, type, out);
}

bool mlir_string(struct str text, struct str *out) {
    text = str_trim(text);
    if (text.n < 2 || text.p[0] != '"')
        return false;
    const char *end = text.p + text.n, *q = scan_string(text.p, end);
    if (!q)
        return false;
    *out = (struct str){text.p + 1, (size_t)(q - text.p - 2)};
    q = scan_space(q, end);
    return q == end || *q == ':'; /* "text" : type */
}

/* The inside of "dense<...>" and the element type and count after ':'. */
struct dense {
    struct str body, type;
    int64_t count; /* -1: not told by the type */
};

/* Dimensions may be many and large: the product saturates. */
static void read_dense_type(struct dense *d, struct str text) {
    const char *p, *end;
    d->count = -1;
    d->type = (struct str){0};
    if (!str_starts(text, STR("tensor<")) && !str_starts(text, STR("vector<")))
        return;
    p = text.p + strlen("tensor<");
    end = text.p + text.n;
    int64_t count = 1, dim;
    for (;;) {
        const char *q = p;
        for (dim = 0; q < end && scan_is(*q, CH_DIGIT); q++)
            if (__builtin_mul_overflow(dim, 10, &dim) || __builtin_add_overflow(dim, *q - '0', &dim))
                return;
        if (q == p || q >= end || *q != 'x')
            break;
        if (__builtin_mul_overflow(count, dim, &count))
            return;
        p = q + 1;
    }
    const char *stop = scan_ident(p, end);
    d->type = (struct str){p, (size_t)(stop - p)};
    d->count = count;
}

static bool read_dense(struct str text, struct dense *d) {
    text = str_trim(text);
    if (!str_starts(text, STR("dense<")))
        return false;
    const char *end = text.p + text.n, *open = text.p + 5, *q = scan_balanced(open, end);
    if (!q)
        return false;
    d->body = str_trim((struct str){open + 1, (size_t)(q - open - 2)});
    q = scan_space(q, end);
    struct str type = {q, 0};
    if (q < end && *q == ':')
        type = str_trim((struct str){q + 1, (size_t)(end - q - 1)});
    read_dense_type(d, type);
    return true;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `size` bytes in memory order, as a little-endian number. */
static bool hex_element(const char *p, size_t size, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < size; i++) {
        int high = hex_digit(p[2 * i]), low = hex_digit(p[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        *out |= (uint64_t)(high * 16 + low) << (8 * i);
    }
    return true;
}

/* The elements of "\"0x...\"". */
struct hex {
    struct str digits; /* of a whole number of elements */
    size_t size;       /* of an element, in bytes */
    bool packed;       /* truth values are eight to a byte, the lowest bit first */
    int64_t n;
};

static bool read_hex(const struct dense *d, struct hex *h) {
    struct str s = d->body;
    *h = (struct hex){.size = element_size(d->type)};
    if (s.n < 4 || s.p[0] != '"' || s.p[s.n - 1] != '"' || s.p[1] != '0' || (s.p[2] | 32) != 'x' || !h->size)
        return false;
    h->digits = (struct str){s.p + 3, s.n - 4};
    h->n = (int64_t)(h->digits.n / (2 * h->size));
    h->packed = str_is(d->type, "i1") && d->count > 1 && h->n == (d->count + 7) / 8;
    if (h->packed)
        h->n = d->count;
    return h->digits.n > 0 && h->digits.n % (2 * h->size) == 0;
}

/* The bits of an element; a truth value is 1 or 0. */
static bool hex_at(const struct dense *d, const struct hex *h, int64_t i, uint64_t *bits) {
    if (!hex_element(h->digits.p + 2 * h->size * (size_t)(h->packed ? i / 8 : i), h->size, bits))
        return false;
    if (str_is(d->type, "i1"))
        *bits = h->packed ? *bits >> (i % 8) & 1 : *bits != 0;
    return true;
}

static int ints_of_hex(const struct dense *d, int64_t *out, int max) {
    struct hex h;
    uint64_t bits;
    if (!read_hex(d, &h) || is_float_type(d->type) || h.n > DENSE_MAX)
        return -1;
    for (int64_t i = 0; i < h.n && i < max; i++) {
        if (!hex_at(d, &h, i, &bits))
            return -1;
        out[i] = sign_extend(bits, h.size, d->type);
    }
    return (int)h.n;
}

/* To the next number of a flat or nested list: brackets count as separators. */
static const char *to_number(const char *p, const char *end) {
    while (p < end && (scan_is(*p, CH_BLANK) || *p == ',' || *p == '[' || *p == ']'))
        p++;
    return p;
}

/* False at the end of the list. */
static bool next_number(const char **p, const char *end, struct str *number) {
    const char *q = to_number(*p, end), *from = q;
    while (q < end && *q != ',' && *q != ']' && *q != '[')
        q++;
    *number = str_trim((struct str){from, (size_t)(q - from)});
    *p = q;
    return number->n > 0;
}

/* "2" or "2 : i32", as almost every entry of a list is; `p` itself for any other. */
static const char *plain_int(const char *p, const char *end, int64_t *out) {
    const char *first = p + (*p == '-'), *q = first;
    int64_t v = 0;
    for (; q < end && q - first < 18 && scan_is(*q, CH_DIGIT); q++)
        v = v * 10 + (*q - '0');
    *out = first > p ? -v : v;
    bool any = q > first;
    if (end - q > 4 && memcmp(q, " : i", 4) == 0)
        for (q += 4; q < end && scan_is(*q, CH_DIGIT);)
            q++;
    return any && (q == end || *q == ',' || *q == ']') ? q : p;
}

static int ints_of_list(struct str body, struct str type, int64_t *out, int max) {
    const char *p = body.p, *end = body.p + body.n;
    struct str number;
    int n = 0;
    for (int64_t v; (p = to_number(p, end)) < end; n++) {
        const char *q = plain_int(p, end, &v);
        if (n >= DENSE_MAX || (q == p && (!next_number(&q, end, &number) || !int_of(number, type, &v))))
            return -1;
        if (n < max)
            out[n] = v;
        p = q;
    }
    return n;
}

static int ints_of_dense(const struct dense *d, int64_t *out, int max) {
    int64_t v;
    if (d->body.n == 0)
        return 0;
    if (d->body.p[0] == '"')
        return ints_of_hex(d, out, max);
    if (d->body.p[0] == '[')
        return ints_of_list(d->body, d->type, out, max);
    if (is_bits(d->body, d->type) || !read_int(d->body, d->type, &v) || d->count > DENSE_MAX)
        return -1;
    int n = d->count < 0 ? 1 : (int)d->count;
    for (int i = 0; i < n && i < max; i++)
        out[i] = v;
    return n;
}

/* "#ttnn.shape<1x1x64>" */
static int ints_of_shape(struct str body, int64_t *out, int max) {
    int n = 0;
    for (const char *p = body.p, *end = body.p + body.n; p < end; n++) {
        const char *x = memchr(p, 'x', (size_t)(end - p));
        int64_t v;
        if (!x)
            x = end;
        if (!read_int(str_trim((struct str){p, (size_t)(x - p)}), STR(""), &v) || n >= DENSE_MAX)
            return -1;
        if (n < max)
            out[n] = v;
        if (x + 1 == end)
            return -1;
        p = x + 1;
    }
    return n;
}

int mlir_ints(struct str text, int64_t *out, int max) {
    struct dense d;
    int64_t v;
    text = str_trim(text);
    if (text.n == 0)
        return -1;
    if (text.p[0] == '[')
        return text.p[text.n - 1] == ']' ? ints_of_list((struct str){text.p + 1, text.n - 2}, STR(""), out, max) : -1;
    if (str_starts(text, STR("array<")) && text.p[text.n - 1] == '>') {
        const char *colon = memchr(text.p, ':', text.n), *end = text.p + text.n - 1;
        return colon ? ints_of_list((struct str){colon + 1, (size_t)(end - colon - 1)}, STR(""), out, max) : 0;
    }
    if (str_starts(text, STR("#ttnn.shape<")) && text.p[text.n - 1] == '>')
        return ints_of_shape((struct str){text.p + 12, text.n - 13}, out, max);
    if (read_dense(text, &d))
        return ints_of_dense(&d, out, max);
    if (!mlir_int(text, &v))
        return -1;
    if (max > 0)
        out[0] = v;
    return 1;
}

/* One element of a hex string as a number. */
static bool hex_number(const struct dense *d, uint64_t bits, size_t size, double *out) {
    if (is_float_type(d->type))
        return float_bits(bits, d->type, out);
    int64_t v = sign_extend(bits, size, d->type);
    *out = d->type.n && d->type.p[0] == 'u' ? (double)(uint64_t)v : (double)v;
    return true;
}

/* All elements are equal where the text equals itself moved by one; of packed ones all bits have to be. */
static bool splat_of_hex(const struct dense *d, double *out) {
    struct hex h;
    uint64_t bits;
    if (!read_hex(d, &h) || !hex_at(d, &h, 0, &bits) ||
        memcmp(h.digits.p, h.digits.p + 2 * h.size, h.digits.n - 2 * h.size) != 0)
        return false;
    for (int64_t i = 1; h.packed && i < h.n && i < 8; i++) {
        uint64_t other;
        if (!hex_at(d, &h, i, &other) || other != bits)
            return false;
    }
    return hex_number(d, bits, h.size, out);
}

bool mlir_splat(struct str text, double *out) {
    struct dense d;
    struct str number;
    double v;
    if (!read_dense(text, &d) || d.body.n == 0)
        return false;
    if (d.body.p[0] == '"')
        return splat_of_hex(&d, out);
    const char *p = d.body.p, *end = d.body.p + d.body.n;
    bool any = false;
    for (; next_number(&p, end, &number); any = true) {
        if (!read_float(number, d.type, &v))
            return false;
        if (any && bits_of_double(v) != bits_of_double(*out))
            return false;
        *out = v;
    }
    return any;
}

static int64_t numbers_of_hex(const struct dense *d, double *out, int64_t max) {
    struct hex h;
    uint64_t bits;
    if (!read_hex(d, &h))
        return -1;
    for (int64_t i = 0; i < h.n && i < max; i++)
        if (!hex_at(d, &h, i, &bits) || !hex_number(d, bits, h.size, &out[i]))
            return -1;
    return h.n;
}

static int64_t numbers_of_list(const struct dense *d, double *out, int64_t max) {
    struct str number;
    int64_t n = 0;
    double v;
    for (const char *p = d->body.p, *end = p + d->body.n; next_number(&p, end, &number); n++) {
        if (!read_float(number, d->type, &v))
            return -1;
        if (n < max)
            out[n] = v;
    }
    return n;
}

int64_t mlir_numbers(struct str text, double *out, int64_t max) {
    struct dense d;
    double v;
    if (!read_dense(text, &d))
        return -1;
    if (d.body.n == 0)
        return 0;
    if (mlir_splat(text, &v) && d.count >= 0) {
        for (int64_t i = 0; i < d.count && i < max; i++)
            out[i] = v;
        return d.count;
    }
    return d.body.p[0] == '"' ? numbers_of_hex(&d, out, max) : numbers_of_list(&d, out, max);
}
