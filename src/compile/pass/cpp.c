#include "compile/pass/cpp.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, CONTINUED = 4, FAR = 34, MAX_LEVELS = 24 };

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
    static const char *const known[] = {"weight", "bias", "index", "input", "source", "residual"};
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

struct str cpp_float(double x, struct arena *a) {
    if (isinf(x))
        return str_of(x > 0 ? "std::numeric_limits<float>::infinity()" : "-std::numeric_limits<float>::infinity()");
    return arena_printf(a, "%sf", cpp_number(x, a).p);
}

/* ---- lines ---- */

/* Where a line may end, the column of the next one, and how deep in brackets that is. */
struct line_end {
    size_t at;
    uint32_t column, depth;
};

/* A statement up to `at`: columns behind the brackets that are open. */
struct writing {
    struct str text;
    size_t at;
    uint32_t indent, column, depth, open[MAX_LEVELS];
    struct line_end best, bracket; /* of this line: the least deep and last; the last bracket */
};

static bool opens(struct str t, size_t i) {
    return strchr("({[", t.p[i]) || (t.p[i] == '<' && i && isalnum((unsigned char)t.p[i - 1]));
}
static bool closes(struct str t, size_t i) {
    return strchr(")}]", t.p[i]) || (t.p[i] == '>' && i && !strchr(" -", t.p[i - 1]));
}

/* How much what ends there binds: 0 between arguments and conditions, 1 in a comparison; UINT32_MAX: no line may end.
 */
static uint32_t binding(struct str t, size_t end) {
    static const char *const all[] = {", ", " || ", " && ", " != ", " + ", " * ", " / "};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        if (str_ends((struct str){t.p, end}, str_of(all[i])))
            return i < 3 ? 0 : i < 4 ? 1 : 2;
    return UINT32_MAX;
}

/* On to the end of the text, or to where the line is full. */
static void write_line(struct writing *w) {
    bool quoted = false;
    uint32_t best = UINT32_MAX;
    w->best = w->bracket = (struct line_end){0, 0, 0};
    for (; w->at < w->text.n && w->column <= WIDTH; w->at++) {
        bool open = opens(w->text, w->at), close = closes(w->text, w->at);
        w->column++;
        quoted ^= w->text.p[w->at] == '"';
        if (quoted)
            continue;
        if (open && w->depth + 1 < MAX_LEVELS) {
            w->open[++w->depth] = w->column;
            if (w->text.p[w->at] != '[')
                w->bracket = (struct line_end){w->at + 1, w->open[w->depth - 1] + CONTINUED, w->depth};
        }
        w->depth -= close && w->depth;
        uint32_t binds = binding(w->text, w->at + 1);
        if (binds != UINT32_MAX && 3 * w->depth + binds <= best) {
            w->best = (struct line_end){w->at + 1, w->open[w->depth] + (binds ? CONTINUED : 0), w->depth};
            best = 3 * w->depth + binds;
        }
    }
}

/* In front of what is assigned, or of the arguments of a call: where the rest fits in one line of its own, or would be
 * far to the right. */
static struct line_end first_end(const struct writing *w) {
    const char *is = str_find(w->text, STR(" = ")), *call = str_find(w->text, STR(">("));
    const char *paren = call ? call + 1 : str_find(w->text, STR("("));
    size_t from[] = {is ? (size_t)(is - w->text.p) + 3 : 0, paren ? (size_t)(paren - w->text.p) + 1 : 0};
    uint32_t i = 0;
    while (i < 2 && (!from[i] || w->indent + CONTINUED + w->text.n - from[i] > WIDTH || w->indent + from[i] > WIDTH))
        i++;
    if (str_ends(w->text, STR("{")) || (i == 2 && w->best.at && w->best.column <= FAR))
        return (struct line_end){0, 0, 0};
    if (i == 2)
        i = w->indent + from[1] <= WIDTH || !from[0];
    return (struct line_end){from[i], w->indent + CONTINUED, i};
}

void cpp_put(struct buf *b, uint32_t indent, const char *fmt, ...) {
    struct buf all = {0};
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&all, fmt, args);
    va_end(args);
    struct writing w = {.text = buf_str(&all), .indent = indent, .column = indent, .open = {indent + CONTINUED}};
    size_t begin = 0;
    for (uint32_t column = indent; begin < w.text.n; column = w.column) {
        write_line(&w);
        struct line_end end = w.best.at > begin ? w.best : w.bracket, first = {0, 0, 0};
        if (begin == 0)
            first = first_end(&w);
        if (w.column <= WIDTH || (!first.at && end.at <= begin))
            end.at = w.text.n;
        else if (first.at)
            end = first;
        struct str line = str_trim((struct str){w.text.p + begin, end.at - begin});
        buf_printf(b, "%*s%.*s\n", (int)column, "", (int)line.n, line.p);
        begin = w.at = end.at;
        w.column = end.column;
        w.depth = end.depth;
        w.open[w.depth] = end.column < w.open[w.depth] ? end.column : w.open[w.depth];
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
