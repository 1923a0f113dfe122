#include "compile/pass/cpp.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, CONTINUED = 4, MAX_LEVELS = 24 };

struct str cpp_camel(struct str name, bool upper, struct arena *a) {
    struct buf b = {0};
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        if (isalnum(c))
            buf_addc(&b, (char)(upper ? toupper(c) : c));
        upper = isalnum(c) ? false : b.n > 0 || upper;
    }
    return buf_take(&b, a);
}

/* ---- names. Source: TTIROps.td of tt-mlir at 19c86fca45ae (2026-08-21) ---- */

static const char *const irregular[][2] = {
    {"argmax", "ArgMaxOp"},
    {"cumprod", "CumProdOp"},
    {"cumsum", "CumSumOp"},
    {"distributed_layer_norm", "DistributedLayerNormOp"},
    {"dit_rms_norm_unary_fused", "DitRMSNormUnaryFusedOp"},
    {"distributed_rms_norm", "DistributedRMSNormOp"},
    {"eq", "EqualOp"},
    {"ge", "GreaterEqualOp"},
    {"gelu_bw", "GeluBackwardOp"},
    {"gt", "GreaterThanOp"},
    {"isfinite", "IsFiniteOp"},
    {"le", "LessEqualOp"},
    {"lt", "LessThanOp"},
    {"ne", "NotEqualOp"},
    {"nlp_concat_heads", "NLPConcatHeadsOp"},
    {"nlp_concat_heads_decode", "NLPConcatHeadsDecodeOp"},
    {"nlp_create_qkv_heads_decode", "NLPCreateQKVHeadsDecodeOp"},
    {"rms_norm", "RMSNormOp"},
    {"topk", "TopKOp"},
};

struct str cpp_class(struct str op, struct arena *a) {
    struct str dialect = str_part(&op, '.');
    for (size_t i = 0; i < sizeof irregular / sizeof *irregular; i++)
        if (str_is(op, irregular[i][0]))
            return str_of(irregular[i][1]);
    return arena_printf(a, "%s%sOp", str_is(dialect, "ttcore") ? "ttcore::" : "", cpp_camel(op, true, a).p);
}

/* Of roles as the operator table calls them, where the dialect has another name. */
static const struct {
    const char *op; /* NULL: any */
    const char *role, *name;
} operand_names[] = {
    {"dot_general", "a", "lhs"},
    {"dot_general", "b", "rhs"},
    {"matmul", "a", "a"},
    {"matmul", "b", "b"},
    {"linear", "a", "a"},
    {"linear", "b", "b"},
    {"where", "condition", "first"},
    {"where", "a", "second"},
    {"where", "b", "third"},
    {"group_norm", "mask", "input_mask"},
    {"split_query_key_value_and_split_heads", "x", "input_tensor"},
    {"split_query_key_value_and_split_heads", "kv", "kv_input_tensor"},
    {NULL, "a", "lhs"},
    {NULL, "b", "rhs"},
    {NULL, "x", "input"},
    {NULL, "q", "query"},
    {NULL, "k", "key"},
    {NULL, "v", "value"},
    {NULL, "mask", "attention_mask"},
    {NULL, "sink", "attention_sink"},
};

const char *cpp_operand_name(enum op_kind k, uint32_t i) {
    static const char *const known[] = {"weight",  "bias",  "index",  "input", "source",  "residual",
                                        "operand", "scale", "offset", "mean",  "variance"};
    struct str rest = str_of(k == K_SCATTER                ? "input,index,source"
                             : k == K_BATCH_NORM_INFERENCE ? "operand,scale,offset,mean,variance"
                                                           : op_table[k].roles),
               role = {0};
    for (uint32_t n = 0; n <= i && rest.n; n++)
        role = str_part(&rest, ',');
    struct str name = str_part(&role, '=');
    name.n -= name.n && name.p[name.n - 1] == '?';
    for (size_t n = 0; n < sizeof operand_names / sizeof *operand_names; n++)
        if ((!operand_names[n].op || strcmp(operand_names[n].op, op_table[k].name) == 0) &&
            str_is(name, operand_names[n].role))
            return operand_names[n].name;
    for (size_t n = 0; n < sizeof known / sizeof *known; n++)
        if (str_is(name, known[n]))
            return known[n];
    return NULL;
}

struct str cpp_operand(enum op_kind k, uint32_t i, struct arena *a) {
    const char *name = cpp_operand_name(k, i);
    if (op_table[k].class == OP_JOIN)
        return arena_printf(a, ".getInputs()[%u]", i);
    return name ? arena_printf(a, ".get%s()", cpp_camel(str_of(name), true, a).p)
                : arena_printf(a, "->getOperand(%u)", i);
}

const char *cpp_builder(enum op_kind k) {
    static const struct {
        const char *op, *order;
    } builders[] = {
        {"layer_norm", "input weight bias normalized_shape epsilon"},
        {"rms_norm", "input weight bias normalized_shape epsilon"},
        {"distributed_rms_norm", "input weight residual cluster_axis epsilon"},
        {"group_norm", "input input_mask weight bias num_groups epsilon channel_dim"},
        {"scaled_dot_product_attention",
         "query key value attention_mask is_causal scale sliding_window_size attention_sink"},
        {"conv2d", "input weight bias stride padding dilation groups batch_dim height_dim width_dim channel_dim "
                   "flattened_compat_info"},
        {"conv_transpose2d", "input weight bias stride padding output_padding dilation groups batch_dim height_dim "
                             "width_dim channel_dim flattened_compat_info"},
        {"conv3d", "input weight bias stride padding groups batch_dim depth_dim height_dim width_dim channel_dim "
                   "padding_mode"},
        {"max_pool2d", "input kernel stride dilation padding ceil_mode flattened_compat_info"},
        {"avg_pool2d", "input kernel stride dilation padding ceil_mode count_include_pad flattened_compat_info"},
        {"conv1d", "input weight bias stride padding dilation groups batch_dim length_dim channel_dim"},
        {"batch_norm_inference", "operand scale offset mean variance epsilon dimension"},
        {"topk", "input k dim largest sorted"},
        {"sort", "input dim descending stable"},
        {"repeat", "input repeat_dimensions"},
        {"repeat_interleave", "input repeats dim"},
        {"all_reduce", "input reduce_type cluster_axis"},
        {"reduce_scatter", "input reduce_type scatter_dim cluster_axis"},
        {"dot_general", "lhs rhs batch_dims_lhs contract_dims_lhs batch_dims_rhs contract_dims_rhs"},
    };
    if (op_table[k].class == OP_REDUCE)
        return "input keep_dim dim_arg";
    for (size_t i = 0; i < sizeof builders / sizeof *builders; i++)
        if (strcmp(builders[i].op, op_table[k].name) == 0)
            return builders[i].order;
    return NULL;
}

struct str cpp_attribute_type(enum op_kind k, struct str key) {
    struct str rest = str_of(op_table[k].attributes ? op_table[k].attributes : ""), one;
    while (rest.n) {
        one = str_part(&rest, ' ');
        if (!str_eq(str_part(&one, ':'), key))
            continue;
        one = str_part(&one, '=');
        one = str_part(&one, '/');
        one.n -= one.n && one.p[one.n - 1] == '?';
        return one;
    }
    return STR("");
}

struct str cpp_number(double x, struct arena *a) {
    char text[40];
    if (isinf(x))
        return str_of(x > 0 ? "std::numeric_limits<double>::infinity()" : "-std::numeric_limits<double>::infinity()");
    for (int digits = 1; digits <= 9; digits++) { /* a float has nine */
        snprintf(text, sizeof text, "%.*g", digits, x);
        if ((float)strtod(text, NULL) == (float)x)
            break;
    }
    return arena_printf(a, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

struct str cpp_float(double x, struct arena *a) {
    if (isinf(x))
        return str_of(x > 0 ? "std::numeric_limits<float>::infinity()" : "-std::numeric_limits<float>::infinity()");
    return arena_printf(a, "%sf", cpp_number(x, a).p);
}

/* ---- lines ---- */

/* How much what a line may end behind binds: 0 between arguments and conditions; UINT32_MAX: none may end there. */
static uint32_t binding(struct str t, size_t end) {
    static const char *const all[] = {", ", " || ", " && ", " != ", " + "};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        if (str_ends((struct str){t.p, end}, str_of(all[i])))
            return i > 2;
    return UINT32_MAX;
}

/* Of a statement that is too long: in front of what is assigned, where that fits in a line of its own, or behind the
 * bracket of the call. 0: it is a condition. */
static size_t first_end(struct str t, uint32_t indent) {
    const char *is = str_find(t, STR(" = ")), *call = str_find(t, STR(">("));
    size_t assigned = is ? (size_t)(is - t.p) + 3 : 0;
    call = call ? call + 1 : strchr(t.p + assigned, '(');
    if (str_ends(t, STR("{")) || (assigned && indent + CONTINUED + t.n - assigned <= WIDTH))
        return str_ends(t, STR("{")) ? 0 : assigned;
    return call ? (size_t)(call - t.p) + 1 : 0;
}

/* A line that is too long ends where the fewest brackets are open; the next one begins below what stands in the last of
 * them. */
void cpp_put(struct buf *b, uint32_t indent, const char *fmt, ...) {
    struct buf all = {0};
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&all, fmt, args);
    va_end(args);
    buf_addc(&all, '\0');
    struct str t = {all.p, all.n - 1};
    uint32_t open[MAX_LEVELS] = {indent + CONTINUED}, depth = 0, column = indent;
    size_t first = indent + t.n > WIDTH ? first_end(t, indent) : 0;
    for (size_t begin = 0, i = 0; begin < t.n; begin = i) {
        size_t full = begin + WIDTH - column, end = 0, bracket = 0;
        uint32_t least = UINT32_MAX, ends = 0;
        full = !begin && first ? first : full < t.n ? full : t.n;
        for (; i < full; i++) {
            if (strchr("({[", t.p[i]) || (t.p[i] == '<' && i && isalnum((unsigned char)t.p[i - 1])))
                open[++depth % MAX_LEVELS] = begin || !first ? column + (uint32_t)(i + 1 - begin) : indent + CONTINUED;
            bracket = t.p[i] == '(' && !end ? i + 1 : bracket;
            depth -= depth && (strchr(")}]", t.p[i]) || (t.p[i] == '>' && !strchr(" -", t.p[i - 1])));
            uint32_t binds = binding(t, i + 1);
            if (binds != UINT32_MAX && 3 * depth + binds <= least) {
                least = 3 * depth + binds;
                ends = depth;
                end = i + 1;
            }
        }
        if (full < t.n && full != first && (end || bracket)) {
            i = end ? end : bracket;
            depth = end ? ends : 0;
        }
        struct str line = str_trim((struct str){t.p + begin, i - begin});
        buf_printf(b, "%*s%.*s\n", (int)column, "", (int)line.n, line.p);
        column = open[depth % MAX_LEVELS];
    }
    buf_free(&all);
}

void cpp_comment(struct buf *b, uint32_t indent, struct str text) {
    while (text.n) {
        size_t room = WIDTH - indent - 3, end = text.n;
        if (end > room)
            for (end = room; end > 0 && text.p[end] != ' ';)
                end--;
        if (end == 0)
            for (end = room; end < text.n && text.p[end] != ' ';)
                end++;
        buf_printf(b, "%*s// %.*s\n", (int)indent, "", (int)end, text.p);
        text = str_trim((struct str){text.p + end, text.n - end});
    }
}
