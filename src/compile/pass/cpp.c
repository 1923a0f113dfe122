#include "compile/pass/cpp.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, CONTINUED = 4 };

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
    static const char *const known[] = {"weight", "bias", "index", "input", "source"};
    struct str rest = str_of(k == K_SCATTER ? "input,index,source" : op_table[k].roles), role = {0};
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
        {"sum", "input keep_dim dim_arg"},
        {"mean", "input keep_dim dim_arg"},
        {"max", "input keep_dim dim_arg"},
        {"topk", "input k dim largest sorted"},
    };
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

/* ---- lines ---- */

/* A line may end before this byte: how well, 0: it may not. */
static int ends_well(struct str text, size_t i) {
    struct str before = {text.p, i};
    if (str_ends(before, STR("|| ")) || str_ends(before, STR("&& ")) || str_ends(before, STR(", ")))
        return 2;
    return str_ends(before, STR(" = ")) || str_ends(before, STR("!= ")) || str_ends(before, STR("? ")) ||
           (str_ends(before, STR("(")) && i < text.n && text.p[i] != ')');
}

/* What the byte adds to the depth of brackets; those of templates follow a name. */
static int deeper(struct str text, size_t i) {
    char c = text.p[i];
    bool named = i > 0 && isalnum((unsigned char)text.p[i - 1]);
    if (strchr("({", c) || (c == '<' && named))
        return 1;
    return strchr(")}", c) || (c == '>' && (named || text.p[i - 1] == '>')) ? -1 : 0;
}

/* Behind the "(" of the outermost call, or behind " = " where the rest fits on one line then: where the first line of a
 * statement ends; 0: neither. */
static size_t head_end(struct str text, size_t room) {
    const char *equals = str_find(text, STR(" = "));
    size_t at = equals ? (size_t)(equals - text.p) + 3 : 0;
    int depth = 0;
    if (str_starts(text, STR("if (")) || str_starts(text, STR("for (")))
        return 0;
    if (at && at <= room && text.n - at <= room - CONTINUED)
        return at;
    for (size_t i = at; i < text.n && i < room; i++) {
        if (depth == 0 && text.p[i] == '(' && ends_well(text, i + 1))
            return i + 1;
        depth += deeper(text, i);
    }
    return 0;
}

/* Where a further line ends: where the text is least within brackets, or as late as it may where that is early. */
static size_t line_end(struct str text, size_t room) {
    size_t outer = 0, any = 0;
    int depth = 0, least = 1 << 20;
    bool quoted = false;
    if (text.n <= room)
        return text.n;
    for (size_t i = 0; i < text.n && i <= room + 1; i++) {
        int well = quoted ? 0 : ends_well(text, i);
        if (well == 2 && depth <= least)
            outer = i;
        least = well == 2 && depth < least ? depth : least;
        any = well ? i : any;
        quoted ^= text.p[i] == '"';
        depth += quoted ? 0 : deeper(text, i);
    }
    size_t end = outer ? outer : any;
    return end ? end : text.n;
}

void cpp_put(struct buf *b, uint32_t indent, const char *fmt, ...) {
    struct buf all = {0};
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&all, fmt, args);
    va_end(args);
    struct str text = buf_str(&all);
    for (uint32_t more = 0; text.n; more = CONTINUED) {
        size_t room = WIDTH - indent - more, end = text.n <= room || more ? 0 : head_end(text, room);
        end = end ? end : line_end(text, room);
        struct str line = str_trim((struct str){text.p, end});
        buf_printf(b, "%*s%.*s\n", (int)(indent + more), "", (int)line.n, line.p);
        text = (struct str){text.p + end, text.n - end};
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
