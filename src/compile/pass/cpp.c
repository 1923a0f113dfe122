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

/* ---- lines, broken as clang-format does in the style of LLVM: where it costs least ---- */

enum { MAX_LEVELS = 16, MAX_LINES = 64, MAX_SEEN = 128, PER_LEVEL = 20, PER_BRACKET = 19, FIRST_BREAK = 15 };

/* A statement, or what is within brackets: items with separators between. */
struct nesting {
    uint32_t indent, item, inner; /* columns: of further lines; of the item; from which brackets within are indented */
    uint32_t binding, separators;
    bool fixed, whole;          /* no line begins in it; nor within the item */
    bool broken, many, follows; /* a line begins in it; within the item; the item is not the first one */
};

struct line_breaks {
    size_t begin[MAX_LINES]; /* of further lines */
    uint32_t column[MAX_LINES], n, cost;
};

/* A text that is written up to `at`. */
struct writing {
    size_t at;
    uint32_t column, n;
    bool quoted;
    struct nesting in[MAX_LEVELS];
    struct line_breaks lines;
};

struct statement {
    struct str text;
    struct line_breaks best;
    struct seen {
        size_t at;
        uint32_t column, cost;
    } seen[MAX_SEEN];
    uint32_t nseen;
};

static void write_on(struct statement *s, struct writing w);

static bool opens(struct str t, size_t i) {
    return strchr("({[", t.p[i]) || (t.p[i] == '<' && i && isalnum((unsigned char)t.p[i - 1]));
}
static bool closes(struct str t, size_t i) {
    return strchr(")}]", t.p[i]) || (t.p[i] == '>' && i && !strchr(" -", t.p[i - 1]));
}

/* What a break costs behind the separator that ends at `at`; 0: none ends there. */
static uint32_t separator(struct str t, size_t at) {
    static const struct {
        const char *text;
        uint32_t cost;
    } all[] = {{", ", 1},    {" = ", 2},  {" || ", 4}, {" && ", 5}, {" == ", 9}, {" != ", 9}, {" <= ", 10},
               {" >= ", 10}, {" < ", 10}, {" > ", 10}, {" + ", 13}, {" - ", 13}, {" * ", 14}, {" / ", 14}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (str_ends((struct str){t.p, at}, str_of(all[i].text)))
            return all[i].cost;
    return 0;
}
static bool is_main(uint32_t cost, uint32_t level) {
    return cost == 1 || cost == 4 || cost == 5 || (cost == 2 && level == 0);
}

static uint32_t count_separators(struct str t, size_t at) {
    uint32_t n = 0;
    bool quoted = false;
    for (int depth = 0; at < t.n && depth >= 0; at++) {
        quoted ^= t.p[at] == '"';
        if (quoted)
            continue;
        depth += opens(t, at) - closes(t, at);
        n += depth == 0 && separator(t, at + 1) && is_main(separator(t, at + 1), 1);
    }
    return n;
}

static void begin_line(struct statement *s, struct writing w, uint32_t column, uint32_t cost) {
    struct nesting *l = &w.in[w.n - 1];
    w.lines.cost += PER_LEVEL * l->binding + cost;
    if (w.lines.n == MAX_LINES || w.lines.cost >= s->best.cost)
        return;
    w.lines.begin[w.lines.n] = w.at;
    w.lines.column[w.lines.n++] = w.column = column;
    write_on(s, w);
}

static void open_bracket(struct statement *s, struct writing w, size_t at) {
    struct str before = str_trim((struct str){s->text.p, at});
    char c = s->text.p[at];
    const struct nesting *out = &w.in[w.n - 1];
    struct nesting in = {.indent = out->inner + CONTINUED,
                         .separators = count_separators(s->text, w.at),
                         .binding = out->binding + (c == '<' || c == '[' ? 10 : 1),
                         .fixed = out->fixed || out->whole || c == '['};
    bool may = !in.fixed && !(c == '{' && before.n && strchr("({,", before.p[before.n - 1]));
    if (w.n == MAX_LEVELS)
        return;
    w.in[w.n++] = in;
    struct nesting *l = &w.in[w.n - 1];
    l->indent = l->item = w.column;
    l->inner = in.separators ? w.column : out->inner;
    write_on(s, w);
    *l = in;
    l->item = l->inner = in.indent;
    l->broken = true;
    if (may)
        begin_line(s, w, in.indent, FIRST_BREAK + (str_is(before, "if") ? 1000 : c == '<' ? 100 : PER_BRACKET));
}

static void close_bracket(struct writing *w) {
    bool broken = w->in[w->n - 1].broken || w->in[w->n - 1].many;
    w->n -= w->n > 1;
    w->in[w->n - 1].many |= broken;
}

/* A line of the outermost brackets that begins here did so for less before: all that follows is the same. */
static bool is_dear(struct statement *s, const struct writing *w, uint32_t column) {
    uint32_t i = 0;
    while (i < s->nseen && (s->seen[i].at != w->at || s->seen[i].column != column))
        i++;
    if (i == MAX_SEEN || (i < s->nseen && s->seen[i].cost <= w->lines.cost))
        return i < s->nseen;
    s->nseen += i == s->nseen;
    s->seen[i] = (struct seen){w->at, column, w->lines.cost};
    return false;
}

static void separate(struct statement *s, struct writing w, uint32_t cost) {
    struct nesting *l = &w.in[w.n - 1];
    bool is = is_main(cost, w.n - 1);
    struct writing on = w;
    struct nesting *same = &on.in[w.n - 1];
    if (is) {
        same->item = w.column;
        same->whole = cost != 2 && l->separators > 1;
        same->inner = cost == 2 ? l->inner : w.column;
        same->follows = true;
    }
    if (!is || !l->many)
        write_on(s, on);
    if (l->fixed || (l->whole && !is))
        return;
    if (!is) {
        l->many = true;
        begin_line(s, w, l->item + (l->follows ? CONTINUED : 0), cost + FIRST_BREAK);
        return;
    }
    cost += l->broken ? 0 : FIRST_BREAK;
    l->item = l->inner = l->indent;
    l->broken = l->follows = true;
    l->whole = l->many = false;
    if (w.n != 2 || !is_dear(s, &w, l->indent))
        begin_line(s, w, l->indent, cost);
}

static void write_on(struct statement *s, struct writing w) {
    while (w.at < s->text.n && w.column <= WIDTH) {
        size_t at = w.at++;
        w.column++;
        w.quoted ^= s->text.p[at] == '"';
        uint32_t cost = w.quoted ? 0 : separator(s->text, w.at);
        if (w.quoted)
            continue;
        if (opens(s->text, at) && w.at < s->text.n && closes(s->text, w.at)) {
            w.at++;
            w.column++;
        } else if (opens(s->text, at) && w.at < s->text.n) {
            open_bracket(s, w, at);
            return;
        } else if (closes(s->text, at))
            close_bracket(&w);
        else if (cost) {
            separate(s, w, cost);
            return;
        }
    }
    if (w.at == s->text.n && w.column <= WIDTH && w.lines.cost < s->best.cost)
        s->best = w.lines;
}

void cpp_put(struct buf *b, uint32_t indent, const char *fmt, ...) {
    struct buf all = {0};
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&all, fmt, args);
    va_end(args);
    struct statement s = {.text = buf_str(&all), .best = {.cost = UINT32_MAX}};
    struct writing w = {.column = indent, .n = 1};
    w.in[0] = (struct nesting){.indent = indent + CONTINUED, .item = indent, .inner = indent, .binding = 1};
    write_on(&s, w);
    size_t begin = 0;
    for (uint32_t i = 0, column = indent; i <= s.best.n; column = s.best.column[i++]) {
        size_t end = i < s.best.n ? s.best.begin[i] : s.text.n;
        struct str line = str_trim((struct str){s.text.p + begin, end - begin});
        buf_printf(b, "%*s%.*s\n", (int)column, "", (int)line.n, line.p);
        begin = end;
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
