/* Types: each distinct text is read once, into kind, element type and shape. */
#include "ir/mlir/scan.h"
#include "ir/mlir/tables.h"

#include <string.h>

static const struct {
    const char *text;
    enum dtype dtype;
} scalar_names[] = {
    {"f64", DT_F64},      {"f32", DT_F32},     {"tf32", DT_TF32},    {"f16", DT_F16},     {"bf16", DT_BF16},
    {"bfp_bf8", DT_BFP8}, {"bfp_f8", DT_BFP8}, {"bfp_bf4", DT_BFP4}, {"bfp_f4", DT_BFP4}, {"bfp_bf2", DT_BFP2},
    {"bfp_f2", DT_BFP2},  {"i64", DT_I64},     {"i32", DT_I32},      {"i16", DT_I16},     {"i8", DT_I8},
    {"i4", DT_I4},        {"i1", DT_I1},       {"si64", DT_I64},     {"si32", DT_I32},    {"si16", DT_I16},
    {"si8", DT_I8},       {"si4", DT_I4},      {"ui64", DT_U64},     {"ui32", DT_U32},    {"ui16", DT_U16},
    {"ui8", DT_U8},       {"u64", DT_U64},     {"u32", DT_U32},      {"u16", DT_U16},     {"u8", DT_U8},
    {"index", DT_INDEX},  {"bool", DT_I1},
};

static bool is_tile(struct str text) {
    return str_starts(text, STR("!ttcore.tile<")) || str_starts(text, STR("!tt.tile<"));
}

enum dtype mlir_dtype(const struct mlir *m, struct str text) {
    text = mlir_unalias(m, text);
    if (is_tile(text)) {
        const char *comma = memrchr(text.p, ',', text.n);
        const char *end = text.p + text.n - 1;
        if (!comma || text.p[text.n - 1] != '>')
            return DT_OTHER;
        text = str_trim((struct str){comma + 1, (size_t)(end - comma - 1)});
    }
    for (size_t i = 0; i < sizeof scalar_names / sizeof *scalar_names; i++)
        if (str_is(text, scalar_names[i].text))
            return scalar_names[i].dtype;
    return DT_OTHER;
}

static bool is_number(struct str t) {
    for (size_t i = 0; i < t.n; i++)
        if (!scan_is(t.p[i], CH_DIGIT))
            return false;
    return t.n > 0;
}

/* Element types of MLIR that no table here has: of other widths, small floats, compounds, dialects. */
static bool is_element(struct str t) {
    static const char *const begins[] = {"!", "f8E", "f6E", "f4E", "complex<", "vector<", "memref<", "tuple<"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (str_starts(t, str_of(begins[i])))
            return true;
    size_t sign = t.n > 1 && (*t.p == 's' || *t.p == 'u') ? 1 : 0;
    struct str width = {t.p + sign + 1, t.n > sign + 1 ? t.n - sign - 1 : 0};
    return str_is(t, "f80") || str_is(t, "f128") || (t.n > sign && t.p[sign] == 'i' && is_number(width));
}

/* One dimension and its 'x'; false when the text does not go on with one. */
static bool read_dim(const char **at, const char *end, int64_t *dim) {
    const char *p = *at;
    if (p < end && *p == '?') {
        *dim = DIM_DYNAMIC;
        p++;
    } else {
        int64_t v = 0;
        if (p >= end || !scan_is(*p, CH_DIGIT))
            return false;
        for (; p < end && scan_is(*p, CH_DIGIT); p++)
            if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
                return false;
        *dim = v;
    }
    p = scan_space(p, end);
    if (p >= end || *p != 'x')
        return false;
    *at = scan_space(p + 1, end);
    return true;
}

static void read_shape(struct mlir *m, struct mlir_type *t, const char **p, const char *end) {
    int64_t dim;
    t->first_dim = m->ndims;
    if (end - *p >= 2 && (*p)[0] == '*' && (*p)[1] == 'x') {
        *p += 2;
        return;
    }
    t->ranked = true;
    for (; read_dim(p, end, &dim); t->rank++) {
        m->dims = grow(m->dims, &m->dims_cap, m->ndims + 1, sizeof *m->dims);
        m->dims[m->ndims++] = dim;
    }
}

static void read_tensor(struct mlir *m, struct mlir_type *t, struct str text) {
    const char *p = text.p + strlen("tensor<"), *end = text.p + text.n - 1;
    p = scan_space(p, end);
    read_shape(m, t, &p, end);
    const char *stop = scan_until(p, end, ',');
    t->kind = TYPE_TENSOR;
    struct str element = str_trim((struct str){p, (size_t)(stop - p)});
    t->dtype = mlir_dtype(m, element);
    t->impossible = t->dtype == DT_OTHER && !is_element(element);
    if (stop < end)
        t->encoding = str_trim((struct str){stop + 1, (size_t)(end - stop - 1)});
}

static bool is_device(struct str text) {
    return str_is(text, "!ttnn.device") || str_is(text, "!tt.device") || str_is(text, "!ttcore.device") ||
           str_starts(text, STR("!tt.device<")) || str_starts(text, STR("!ttnn.device<")) ||
           str_starts(text, STR("!ttcore.device<"));
}

/* -1 where extents are dynamic, or too many. */
static int64_t count_elements(const struct mlir *m, const struct mlir_type *t) {
    int64_t n = t->kind == TYPE_SCALAR || t->ranked ? 1 : -1;
    for (uint32_t d = 0; d < t->rank; d++) {
        int64_t extent = m->dims[t->first_dim + d];
        if (extent < 0 || __builtin_mul_overflow(n, extent, &n))
            return -1;
    }
    return n;
}

static void read_type(struct mlir *m, struct mlir_type *t, struct str text) {
    text = mlir_unalias(m, text);
    if (str_starts(text, STR("tensor<")) && text.p[text.n - 1] == '>') {
        read_tensor(m, t, text);
    } else if (is_device(text)) {
        t->kind = TYPE_DEVICE;
    } else {
        t->dtype = mlir_dtype(m, text);
        t->kind = t->dtype == DT_OTHER || is_tile(text) ? TYPE_OTHER : TYPE_SCALAR;
        if (t->kind == TYPE_OTHER && !is_tile(text))
            t->dtype = DT_NONE;
    }
    t->numel = count_elements(m, t);
}

uint32_t type_add(struct mlir *m, struct str text) {
    uint32_t id = sym_add(m->tables, &m->tables->types, text);
    if (id < m->ntypes)
        return id;
    m->types = grow(m->types, &m->types_cap, id + 1, sizeof *m->types);
    m->types[id] = (struct mlir_type){.text = text, .first_dim = m->ndims};
    m->ntypes = id + 1;
    read_type(m, &m->types[id], text);
    return id;
}

void types_resolve(struct mlir *m) {
    struct str alias;
    for (uint32_t i = 0; i < m->ntypes; i++) {
        struct mlir_type *t = &m->types[i];
        if (t->text.n && memchr(t->text.p, '!', t->text.n) &&
            (t->kind == TYPE_OTHER || (t->kind == TYPE_TENSOR && t->dtype == DT_OTHER))) {
            *t = (struct mlir_type){.text = t->text, .first_dim = m->ndims};
            read_type(m, t, t->text);
        }
        t->impossible |= mlir_is_module(m) && mlir_unresolved(m, t->text, &alias);
    }
}
