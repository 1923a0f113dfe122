/* Prints the generic form, one op a line. Inputs are %a0, %a1, ..., results %r0, %r1, ...; a constant on its way to its
 * element type is %f (as printed) and %n (in its narrowest format); %b is repeated from %a, which is a slice of it. */
#include "reduce/print_module.h"

#include <math.h>
#include <string.h>

#include "numeric/tensor.h"
#include "reduce/scale_constant.h"

enum { MAX_ATTRS = 48 };

struct module_printer {
    const struct subgraph *subgraph;
    const struct extents *extents;
    const struct payloads *payloads; /* or NULL */
    struct constant_meanings meanings;
    struct buf out;
    uint32_t lines; /* ops printed so far */
    struct str why; /* why the text is not valid; or empty */
};

/* ---- types ---- */

const char *element_type_text(enum dtype t) {
    switch (t) {
    case DT_BFP8:
        return "!ttcore.tile<32x32, bfp_bf8>";
    case DT_BFP4:
        return "!ttcore.tile<32x32, bfp_bf4>";
    case DT_BFP2:
        return "!ttcore.tile<32x32, bfp_bf2>";
    case DT_NONE:
    case DT_OTHER:
        return NULL;
    default:
        return dtype_name(t);
    }
}

static void print_item(struct module_printer *pr, bool first, const char *between, int64_t n) {
    if (!first)
        buf_add(&pr->out, str_of(between));
    buf_int(&pr->out, n);
}

static void print_dims(struct module_printer *pr, uint32_t value, const char *between) {
    uint32_t rank;
    const int64_t *dims = graph_shape(pr->subgraph->graph, value, &rank);
    for (uint32_t d = 0; dims && d < rank; d++)
        print_item(pr, d == 0, between, extent_to(pr->extents, dims[d]));
}

static void print_tensor_type(struct module_printer *pr, uint32_t value, enum dtype t) {
    uint32_t rank;
    const char *name = element_type_text(t);
    if (!name)
        pr->why = STR("an element type that is not known");
    graph_shape(pr->subgraph->graph, value, &rank);
    buf_add(&pr->out, STR("tensor<"));
    print_dims(pr, value, "x");
    if (rank)
        buf_addc(&pr->out, 'x');
    buf_add(&pr->out, str_of(name ? name : "f32"));
    buf_addc(&pr->out, '>');
}

/* ttnn.rotary_embedding pads its result with rows to fill a tile. They hold no data, so where that result leaves the
 * subgraph it is printed with the type of the operand, which has no such rows. */
static uint32_t without_padding(const struct module_printer *pr, uint32_t value) {
    const struct graph *g = pr->subgraph->graph;
    uint32_t op = g->m->values[value].def, rank, to_rank;
    if (op == NONE || !op_is((enum op_kind)g->kind[op], PADS_ROWS) || !subgraph_has(pr->subgraph, op) ||
        subgraph_uses(pr->subgraph, value))
        return value;
    uint32_t x = graph_operands(g, op)[0];
    const int64_t *from = graph_shape(g, x, &rank), *to = graph_shape(g, value, &to_rank);
    for (uint32_t d = 0; d < rank; d++)
        if (!from || !to || rank != to_rank || (from[d] != to[d] && d + 2 != rank))
            return value;
    return x;
}

static void print_type(struct module_printer *pr, uint32_t value) {
    print_tensor_type(pr, without_padding(pr, value), graph_dtype(pr->subgraph->graph, value));
}

/* ---- names ---- */

static uint32_t index_in(const uint32_t *all, uint32_t n, uint32_t x) {
    for (uint32_t i = 0; i < n; i++)
        if (all[i] == x)
            return i;
    return NONE;
}

/* An input that is the same along some dimension: its slice is the argument, which is repeated. */
static bool is_sliced(const struct graph *g, uint32_t value) {
    return !graph_constant(g, value).known && g->varies[value] != graph_dimensions(g, value);
}

/* %a0: a letter and a number. */
static void print_numbered(struct module_printer *pr, char letter, uint32_t number) {
    buf_addc(&pr->out, '%');
    buf_addc(&pr->out, letter);
    buf_int(&pr->out, number);
}

static void print_name(struct module_printer *pr, uint32_t value) {
    const struct subgraph *s = pr->subgraph;
    const struct mlir *m = s->graph->m;
    uint32_t input = index_in(s->inputs, s->ninputs, value), op = m->values[value].def;
    if (input != NONE) {
        print_numbered(pr, is_sliced(s->graph, value) ? 'b' : 'a', input);
        return;
    }
    print_numbered(pr, 'r', index_in(s->ops, s->nops, op));
    if (m->ops[op].nresults > 1)
        buf_printf(&pr->out, "#%u", value - m->ops[op].first_result);
}

/* ---- constants and arguments ---- */

/* The format with this many significant bits (struct constant). */
static enum dtype narrowest(int bits) {
    return bits >= 53   ? DT_F64
           : bits >= 24 ? DT_F32
           : bits >= 11 ? DT_F16
           : bits >= 8  ? DT_BF16
           : bits >= 7  ? DT_BFP8
           : bits >= 3  ? DT_BFP4
                        : DT_BFP2;
}

static void print_number(struct module_printer *pr, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isfinite(x))
        buf_printf(&pr->out, "%.17g : f64", x);
    else
        buf_printf(&pr->out, "0x%016llX : f64", (unsigned long long)bits);
}

static void print_cast(struct module_printer *pr, const char *dialect, uint32_t value, uint32_t number, char from,
                       char to, enum dtype from_type, enum dtype to_type) {
    buf_printf(&pr->out, "  %%%c%u = \"%s.typecast\"(%%%c%u) : (", to, number, dialect, from, number);
    print_tensor_type(pr, value, from_type);
    buf_add(&pr->out, STR(") -> "));
    print_tensor_type(pr, value, to_type);
    buf_addc(&pr->out, '\n');
    pr->lines++;
}

static void print_constant(struct module_printer *pr, uint32_t number, uint32_t value, struct constant c,
                           const char *dialect) {
    enum dtype type = graph_dtype(pr->subgraph->graph, value), narrow = narrowest(c.bits), full = DT_F64;
    bool integer = format_is_integer(type);
    if (integer)
        full = narrow = type;
    buf_printf(&pr->out, "  %%%c%u = \"%s.full\"() <{fill_value = ", integer || type == DT_F64 ? 'a' : 'f', number,
               dialect);
    print_number(pr, integer ? c.value : scaled_constant(&pr->meanings, c));
    buf_add(&pr->out, STR(", shape = ["));
    print_dims(pr, value, ", ");
    buf_add(&pr->out, STR("]}> : () -> "));
    print_tensor_type(pr, value, full);
    buf_addc(&pr->out, '\n');
    pr->lines++;
    if (integer || type == DT_F64)
        return;
    bool twice = narrow != type && narrow != DT_F64;
    if (twice)
        print_cast(pr, dialect, value, number, 'f', 'n', full, narrow);
    print_cast(pr, dialect, value, number, twice ? 'n' : 'f', 'a', twice ? narrow : full, type);
}

/* The first elements of each dimension, as the hexadecimal bytes (little endian) that MLIR prints long lists as.
 * `integers`: as i64, else as f64. */
static void print_elements(struct module_printer *pr, const struct tensor *t, bool integers) {
    static const char digits[] = "0123456789ABCDEF";
    struct shape s = t->shape;
    struct view v = view_of(t);
    struct index_walk at;
    for (uint32_t d = 0; d < s.rank; d++)
        s.dim[d] = v.shape.dim[d] = extent_to(pr->extents, s.dim[d]);
    walk_begin(&at, &s);
    for (walk_add(&at, &v); walk_more(&at); walk_next(&at)) {
        double x = v.x[at.offset[0]];
        uint64_t bits = 0;
        if (!integers)
            memcpy(&bits, &x, sizeof bits);
        else if (fabs(x) <= 0x1p53)
            bits = (uint64_t)(int64_t)x;
        else
            pr->why = STR("a constant holds a number that is too large");
        for (size_t i = 0; i < sizeof bits; i++, bits >>= 8) {
            buf_addc(&pr->out, digits[bits >> 4 & 15]);
            buf_addc(&pr->out, digits[bits & 15]);
        }
    }
}

/* Elements were stored in their element type, so printing them in 64 bits and casting back loses nothing. */
static void print_payload(struct module_printer *pr, uint32_t number, uint32_t value, const char *dialect) {
    enum dtype type = graph_dtype(pr->subgraph->graph, value), full = format_is_integer(type) ? DT_I64 : DT_F64;
    buf_printf(&pr->out, "  %%%c%u = \"%s.constant\"() <{value = dense<\"0x", type == full ? 'a' : 'f', number,
               dialect);
    print_elements(pr, pr->payloads->of[number], full == DT_I64);
    buf_add(&pr->out, STR("\"> : "));
    print_tensor_type(pr, value, full);
    buf_add(&pr->out, STR("}> : () -> "));
    print_tensor_type(pr, value, full);
    buf_addc(&pr->out, '\n');
    pr->lines++;
    if (type != full)
        print_cast(pr, dialect, value, number, 'f', 'a', full, type);
}

/* Of the slice that an input is repeated from; of another input its own type. */
static void print_slice_type(struct module_printer *pr, uint32_t value) {
    const struct graph *g = pr->subgraph->graph;
    uint32_t rank;
    const int64_t *dims = graph_shape(g, value, &rank);
    if (!is_sliced(g, value)) {
        print_type(pr, value);
        return;
    }
    buf_add(&pr->out, STR("tensor<"));
    for (uint32_t d = 0; d < rank; d++)
        buf_printf(&pr->out, "%lldx", (long long)(g->varies[value] >> d & 1 ? extent_to(pr->extents, dims[d]) : 1));
    const char *name = element_type_text(graph_dtype(g, value));
    buf_printf(&pr->out, "%s>", name ? name : "f32");
}

static void print_repeated(struct module_printer *pr, uint32_t number, uint32_t value, const char *dialect) {
    const struct graph *g = pr->subgraph->graph;
    bool ttnn = str_is(str_of(dialect), "ttnn");
    uint32_t rank;
    const int64_t *dims = graph_shape(g, value, &rank);
    buf_printf(&pr->out, "  %%b%u = \"%s.repeat\"(%%a%u) <{%s", number, dialect, number,
               ttnn ? "repeat_dims = #ttnn.shape<" : "repeat_dimensions = array<i64: ");
    for (uint32_t d = 0; d < rank; d++)
        print_item(pr, d == 0, ttnn ? "x" : ", ", g->varies[value] >> d & 1 ? 1 : extent_to(pr->extents, dims[d]));
    buf_add(&pr->out, STR(">}> : ("));
    print_slice_type(pr, value);
    buf_add(&pr->out, STR(") -> "));
    print_type(pr, value);
    buf_addc(&pr->out, '\n');
    pr->lines++;
}

static void print_argument(struct module_printer *pr, uint32_t number, uint32_t value, bool first) {
    const struct graph *g = pr->subgraph->graph;
    uint32_t argument = graph_argument(g, value);
    struct str kind = argument == NONE ? STR("") : graph_argument_type(g, argument);
    if (!kind.n && graph_is_parameter(g, value))
        kind = STR("parameter");
    buf_printf(&pr->out, "%s%%a%u: ", first ? "" : ", ", number);
    print_slice_type(pr, value);
    if (kind.n)
        buf_printf(&pr->out, " {ttcore.argument_type = #ttcore.argument_type<%.*s>}", (int)kind.n, kind.p);
}

/* ---- attributes ---- */

static void print_dims_of(struct module_printer *pr, uint32_t value) {
    buf_addc(&pr->out, '[');
    print_dims(pr, value, ", ");
    buf_addc(&pr->out, ']');
}

/* The factor of each dimension of a repeat, aligned from the right; leading dimensions of the result start from 1. */
static void print_factors(struct module_printer *pr, uint32_t from, uint32_t to) {
    uint32_t na, nb;
    const int64_t *a = graph_shape(pr->subgraph->graph, from, &na), *b = graph_shape(pr->subgraph->graph, to, &nb);
    buf_addc(&pr->out, '[');
    for (uint32_t d = 0; d < nb; d++) {
        int64_t x = d + na >= nb ? extent_to(pr->extents, a[d + na - nb]) : 1, y = extent_to(pr->extents, b[d]);
        if (x < 1 || y % x != 0)
            pr->why = STR("a repetition does not fit its result");
        print_item(pr, d == 0, ", ", x < 1 ? 1 : y / x);
    }
    buf_addc(&pr->out, ']');
}

static void print_interleaved(struct module_printer *pr, uint32_t from, uint32_t to) {
    const struct graph *g = pr->subgraph->graph;
    int64_t x = (int64_t)scaled_numel(g, pr->extents, from), y = (int64_t)scaled_numel(g, pr->extents, to);
    if (x < 1 || y % x != 0)
        pr->why = STR("a repetition does not fit its result");
    buf_printf(&pr->out, "%lld : i64", (long long)(x < 1 ? 1 : y / x));
}

static bool print_bounds(struct module_printer *pr, uint32_t op, bool ends) {
    struct slice_bounds b;
    if (!slice_bounds(pr->subgraph->graph, op, &b))
        return false;
    buf_addc(&pr->out, '[');
    for (uint32_t d = 0; d < b.rank; d++)
        print_item(pr, d == 0, ", ", extent_to(pr->extents, ends ? b.end[d] : b.begin[d]));
    buf_addc(&pr->out, ']');
    return true;
}

static bool print_mapped_list(struct module_printer *pr, struct str text) {
    int64_t list[TENSOR_RANK];
    int n = mlir_ints(text, list, TENSOR_RANK);
    if (n < 0 || n > TENSOR_RANK)
        return false;
    buf_addc(&pr->out, '[');
    for (int i = 0; i < n; i++)
        print_item(pr, i == 0, ", ", extent_to(pr->extents, list[i]));
    buf_addc(&pr->out, ']');
    return true;
}

static bool is_one_of(struct str key, const char *const *keys, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (str_is(key, keys[i]))
            return true;
    return false;
}

bool attribute_changes_nothing(struct str key, struct str value) {
    static const char *const keys[] = {"memory_config", "layout", "dtype",
                                       "output_dtype",  "device", "operandSegmentSizes"};
    if (is_one_of(key, keys, sizeof keys / sizeof *keys) || str_find(key, STR(".")))
        return true;
    return (str_ends(key, STR("_config")) && !str_is(key, "compute_config") && !str_find(value, STR("activation")));
}

/* An attribute that states extents, in the new ones. False: it is another one. */
static bool print_scaled_attr(struct module_printer *pr, uint32_t op, struct str key, struct str text) {
    const struct graph *g = pr->subgraph->graph;
    uint32_t x = graph_noperands(g, op) ? graph_operands(g, op)[0] : NONE, y = g->m->ops[op].first_result;
    enum dims_role role = op_dims_role((enum op_kind)g->kind[op], key);
    int64_t number;
    if (role == DIMS_SHAPE)
        print_dims_of(pr, y);
    else if (role == DIMS_FACTORS)
        print_factors(pr, x, y);
    else if (role == DIMS_FACTOR)
        print_interleaved(pr, x, y);
    else if (role == DIMS_BEGINS || role == DIMS_ENDS)
        return print_bounds(pr, op, role == DIMS_ENDS);
    else if ((role == DIMS_SIZES || role == DIMS_COUNT) && mlir_int(text, &number))
        buf_printf(&pr->out, "%lld : i64", (long long)extent_to(pr->extents, number));
    else
        return role == DIMS_SIZES && print_mapped_list(pr, text);
    return true;
}

/* operandSegmentSizes of ops with optional operands: 1 for each that is there. */
static bool print_segments(struct module_printer *pr, uint32_t op, bool first) {
    const struct graph *g = pr->subgraph->graph;
    const char *roles = op_table[g->kind[op]].roles;
    if (!strchr(roles, '?'))
        return false;
    buf_printf(&pr->out, "%soperandSegmentSizes = array<i32", first ? "" : ", ");
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        buf_printf(&pr->out, "%s %d", i ? "," : ":", is_tensor_operand(g, graph_operands(g, op)[i]));
    buf_addc(&pr->out, '>');
    return true;
}

static void print_attrs(struct module_printer *pr, uint32_t op) {
    struct str keys[MAX_ATTRS], values[MAX_ATTRS];
    int n = mlir_attrs(pr->subgraph->graph->m, op, keys, values, MAX_ATTRS);
    bool first = true;
    buf_add(&pr->out, STR(" <{"));
    for (int i = 0; i < n && i < MAX_ATTRS; i++) {
        if (attribute_changes_nothing(keys[i], values[i]))
            continue;
        buf_add(&pr->out, first ? STR("") : STR(", "));
        buf_add(&pr->out, keys[i]);
        if (values[i].n)
            buf_add(&pr->out, STR(" = "));
        if (!print_scaled_attr(pr, op, keys[i], values[i]))
            buf_add(&pr->out, values[i]);
        first = false;
    }
    print_segments(pr, op, first);
    buf_add(&pr->out, STR("}>"));
    if (n > MAX_ATTRS)
        pr->why = STR("an op has too many attributes");
}

/* ---- ops ---- */

static void print_operands(struct module_printer *pr, uint32_t op) {
    const struct graph *g = pr->subgraph->graph;
    const uint32_t *v = graph_operands(g, op);
    uint32_t n = graph_noperands(g, op);
    bool first = true;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_tensor_operand(g, v[i]))
            continue;
        buf_add(&pr->out, first ? STR("") : STR(", "));
        print_name(pr, v[i]);
        first = false;
    }
}

static void print_signature(struct module_printer *pr, uint32_t op) {
    const struct graph *g = pr->subgraph->graph;
    const struct mlir_op *o = &g->m->ops[op];
    bool first = true;
    buf_add(&pr->out, STR(" : ("));
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i];
        if (!is_tensor_operand(g, v))
            continue;
        buf_add(&pr->out, first ? STR("") : STR(", "));
        print_type(pr, v);
        first = false;
    }
    buf_add(&pr->out, o->nresults > 1 ? STR(") -> (") : STR(") -> "));
    for (uint32_t r = 0; r < o->nresults; r++) {
        buf_add(&pr->out, r ? STR(", ") : STR(""));
        print_type(pr, o->first_result + r);
    }
    buf_add(&pr->out, o->nresults > 1 ? STR(")\n") : STR("\n"));
}

static void print_op(struct module_printer *pr, uint32_t i) {
    const struct mlir *m = pr->subgraph->graph->m;
    uint32_t op = pr->subgraph->ops[i], n = m->ops[op].nresults;
    struct str name = mlir_op_name(m, op);
    buf_add(&pr->out, STR("  "));
    print_numbered(pr, 'r', i);
    if (n > 1)
        buf_printf(&pr->out, ":%u", n);
    buf_add(&pr->out, STR(" = \""));
    buf_add(&pr->out, name);
    buf_add(&pr->out, STR("\"("));
    print_operands(pr, op);
    buf_addc(&pr->out, ')');
    print_attrs(pr, op);
    print_signature(pr, op);
    pr->lines++;
}

/* Results that no op of the subgraph takes. One that has no user in the model gets none here, but for the first result
 * of an op without any. */
static bool is_returned(const struct subgraph *s, uint32_t value) {
    const struct graph *g = s->graph;
    const struct mlir_op *op = &g->m->ops[g->m->values[value].def];
    bool unused = g->first_use[op->first_result] == g->first_use[op->first_result + op->nresults];
    return !subgraph_uses(s, value) && (unused ? value == op->first_result : graph_nuses(g, value) > 0);
}

static void print_return(struct module_printer *pr) {
    const struct subgraph *s = pr->subgraph;
    const struct mlir *m = s->graph->m;
    bool first = true;
    buf_add(&pr->out, STR("  return "));
    for (int types = 0; types < 2; types++) {
        buf_add(&pr->out, types ? STR(" : ") : STR(""));
        first = true;
        for (uint32_t i = 0; i < s->nops; i++)
            for (uint32_t r = 0; r < m->ops[s->ops[i]].nresults; r++) {
                uint32_t v = m->ops[s->ops[i]].first_result + r;
                if (!is_returned(s, v))
                    continue;
                buf_add(&pr->out, first ? STR("") : STR(", "));
                if (types)
                    print_type(pr, v);
                else
                    print_name(pr, v);
                first = false;
            }
    }
    buf_add(&pr->out, STR("\n}\n"));
}

static bool has_payload(const struct module_printer *pr, uint32_t number) {
    return pr->payloads && pr->payloads->of[number];
}

static void print_function(struct module_printer *pr, uint32_t *line) {
    const struct subgraph *s = pr->subgraph;
    const struct graph *g = s->graph;
    bool ttnn = s->nops && str_starts(mlir_op_name(g->m, s->ops[s->nops - 1]), STR("ttnn."));
    const char *dialect = ttnn ? "ttnn" : "ttir";
    bool first = true;
    buf_add(&pr->out, STR("func.func @part("));
    for (uint32_t i = 0; i < s->ninputs; i++)
        if (!graph_constant(g, s->inputs[i]).known && !has_payload(pr, i)) {
            print_argument(pr, i, s->inputs[i], first);
            first = false;
        }
    buf_add(&pr->out, STR(") {\n"));
    for (uint32_t i = 0; i < s->ninputs; i++) {
        struct constant c = graph_constant(g, s->inputs[i]);
        if (c.known)
            print_constant(pr, i, s->inputs[i], c, dialect);
        else if (has_payload(pr, i))
            print_payload(pr, i, s->inputs[i], dialect);
        else if (is_sliced(g, s->inputs[i]))
            print_repeated(pr, i, s->inputs[i], dialect);
    }
    for (uint32_t i = 0; i < s->nops; i++) {
        line[i] = pr->lines;
        print_op(pr, i);
    }
    print_return(pr);
}

bool subgraph_print(const struct subgraph *s, const struct extents *e, const struct print_options *how, struct arena *a,
                    struct printed_module *out, struct str *why) {
    struct module_printer *pr = arena_alloc(a, sizeof *pr);
    *pr = (struct module_printer){.subgraph = s, .extents = e, .payloads = how->payloads};
    constant_meanings(&pr->meanings, s, e, how->pattern, how->scale_constants);
    out->line = arena_alloc(a, (s->nops + 1) * sizeof *out->line);
    print_function(pr, out->line);
    out->text = buf_take(&pr->out, a);
    *why = pr->why;
    return pr->why.n == 0;
}
