/* Printing, line by line. Names are numbers, so that parts that are alike give the same text. */
#include "reduce/write.h"

#include <math.h>

#include "numeric/tensor.h"

enum { MAX_ATTRS = 48, MAX_LITERALS = 96, MAX_COUNTS = 32 };

struct writer {
    const struct part *p;
    const struct extents *e;
    bool ties;
    const struct held *held;
    struct buf out;
    uint32_t lines;
    double literals[MAX_LITERALS]; /* numbers that the pattern writes */
    uint32_t nliterals;
    double counts[MAX_COUNTS][2]; /* elements that a reduction sums, before and after */
    uint32_t ncounts;
    struct str why;
};

/* ---- types ---- */

/* As the text spells it; NULL: a type that nobody can evaluate. */
static const char *spelled(enum dtype t) {
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

static void write_dims(struct writer *w, uint32_t value, const char *between) {
    uint32_t rank;
    const int64_t *dims = graph_shape(w->p->graph, value, &rank);
    for (uint32_t d = 0; dims && d < rank; d++)
        buf_printf(&w->out, "%s%lld", d ? between : "", (long long)extent_to(w->e, dims[d]));
}

static void write_tensor_type(struct writer *w, uint32_t value, enum dtype t) {
    uint32_t rank;
    const char *name = spelled(t);
    if (!name)
        w->why = STR("an element type that is not known");
    graph_shape(w->p->graph, value, &rank);
    buf_add(&w->out, STR("tensor<"));
    write_dims(w, value, "x");
    buf_printf(&w->out, "%s%s>", rank ? "x" : "", name ? name : "f32");
}

/* The rows that ttnn.rotary_embedding adds to fill a tile are no data: where they are the end of the match, its result
 * is written without them. */
static uint32_t without_padding(const struct writer *w, uint32_t value) {
    const struct graph *g = w->p->graph;
    uint32_t op = g->m->values[value].def, rank, to_rank;
    if (op == NONE || g->kind[op] != K_ROTARY_EMBEDDING || !part_has(w->p, op) || part_uses(w->p, value))
        return value;
    uint32_t x = graph_operands(g, op)[0];
    const int64_t *from = graph_shape(g, x, &rank), *to = graph_shape(g, value, &to_rank);
    for (uint32_t d = 0; d < rank; d++)
        if (!from || !to || rank != to_rank || (from[d] != to[d] && d + 2 != rank))
            return value;
    return x;
}

static void write_type(struct writer *w, uint32_t value) {
    write_tensor_type(w, without_padding(w, value), graph_dtype(w->p->graph, value));
}

/* ---- names ---- */

static uint32_t place_in(const uint32_t *all, uint32_t n, uint32_t x) {
    for (uint32_t i = 0; i < n; i++)
        if (all[i] == x)
            return i;
    return NONE;
}

static void write_name(struct writer *w, uint32_t value) {
    const struct part *p = w->p;
    const struct mlir *m = p->graph->m;
    uint32_t outer = place_in(p->outer, p->nouter, value), op = m->values[value].def;
    if (outer != NONE) {
        buf_printf(&w->out, "%%a%u", outer);
        return;
    }
    buf_printf(&w->out, "%%r%u", place_in(p->ops, p->nops, op));
    if (m->ops[op].nresults > 1)
        buf_printf(&w->out, "#%u", value - m->ops[op].first_result);
}

/* ---- numbers that are meant ---- */

static bool literal(const struct number *n, double *out) {
    double a = 0, b = 0;
    if (n->op == NUM_VALUE) {
        *out = n->value;
        return true;
    }
    if (!n->a || n->op == NUM_CALL || n->op == NUM_MEASURE || !literal(n->a, &a) || (n->b && !literal(n->b, &b)))
        return false;
    switch (n->op) {
    case NUM_NEG:
        *out = -a;
        return true;
    case NUM_ADD:
        *out = a + b;
        return true;
    case NUM_SUB:
        *out = a - b;
        return true;
    case NUM_MUL:
        *out = a * b;
        return true;
    case NUM_DIV:
        *out = a / b;
        return true;
    case NUM_SQRT:
        *out = sqrt(a);
        return true;
    default:
        return false;
    }
}

static void find_literals(struct writer *w, const struct node *n, bool *seen) {
    if (n->kind == N_NAMED && seen[n->slot])
        return;
    if (n->kind == N_NAMED)
        seen[n->slot] = true;
    if (n->kind == N_NUMBER && w->nliterals < MAX_LITERALS && literal(n->number, &w->literals[w->nliterals]))
        w->nliterals++;
    for (uint32_t i = 0; i < n->nargs; i++)
        find_literals(w, n->args[i], seen);
}

static double mapped_elements(const struct writer *w, uint32_t value) {
    uint32_t rank;
    const int64_t *dims = graph_shape(w->p->graph, value, &rank);
    double n = 1;
    for (uint32_t d = 0; dims && d < rank; d++)
        n *= (double)extent_to(w->e, dims[d]);
    return n;
}

static void find_counts(struct writer *w) {
    const struct graph *g = w->p->graph;
    for (uint32_t i = 0; i < w->p->nops && w->ncounts < MAX_COUNTS; i++) {
        uint32_t op = w->p->ops[i];
        if (graph_class(g, op) != OP_REDUCE || g->m->ops[op].nresults != 1)
            continue;
        uint32_t x = graph_operands(g, op)[0], y = g->m->ops[op].first_result;
        w->counts[w->ncounts][0] = (double)graph_numel(g, x) / (double)graph_numel(g, y);
        w->counts[w->ncounts++][1] = mapped_elements(w, x) / mapped_elements(w, y);
    }
}

/* What a number may be off where it was rounded to the narrowest format on the constant's way: half a step there, and
 * what a wider format before it adds. Of a shared exponent a whole one: it depends on other elements. */
static double rounding_of(double x, int bits) {
    enum { SHARED = 8, WIDEST = 24 };
    int exponent;
    bits = bits > WIDEST ? WIDEST : bits;
    frexp(x, &exponent);
    return bits < SHARED ? fabs(x) * ldexp(1, -bits) : ldexp(1, exponent - 1 - bits) + fabs(x) * ldexp(1, -WIDEST);
}

static bool is_rounded(double c, double meant, int bits) {
    return c == meant || (isfinite(c) && isfinite(meant) && fabs(c - meant) <= rounding_of(meant, bits));
}

/* The constant is this function of n; then *out is that of `to`. */
static bool is_function_of(double c, int bits, double n, double to, double *out) {
    const double forms[][2] = {{n, to},
                               {1 / n, 1 / to},
                               {sqrt(n), sqrt(to)},
                               {1 / sqrt(n), 1 / sqrt(to)},
                               {n - 1, to - 1},
                               {1 / (n - 1), 1 / (to - 1)},
                               {sqrt(sqrt(n)), sqrt(sqrt(to))},
                               {1 / sqrt(sqrt(n)), 1 / sqrt(sqrt(to))}};
    for (size_t i = 0; n > 1 && i < sizeof forms / sizeof *forms; i++)
        if (is_rounded(fabs(c), forms[i][0], bits)) {
            *out = copysign(forms[i][1], c);
            return true;
        }
    return false;
}

static double meant(const struct writer *w, struct constant c) {
    double out;
    if (c.value == 0 || fabs(c.value) == 1 || !isfinite(c.value))
        return c.value;
    for (uint32_t i = 0; w->ties && i < w->ncounts; i++)
        if (is_function_of(c.value, c.bits, w->counts[i][0], w->counts[i][1], &out))
            return out;
    for (uint32_t i = w->e->n; w->ties && i-- > 0;)
        if (is_function_of(c.value, c.bits, (double)w->e->from[i], (double)w->e->to[i], &out))
            return out;
    for (uint32_t i = 0; i < w->nliterals; i++)
        if (is_rounded(c.value, w->literals[i], c.bits))
            return w->literals[i];
    return c.value;
}

/* ---- constants and arguments ---- */

/* The format that has so many significant bits. */
static enum dtype narrowest(int bits) {
    return bits >= 53   ? DT_F64
           : bits >= 24 ? DT_F32
           : bits >= 11 ? DT_F16
           : bits >= 8  ? DT_BF16
           : bits >= 7  ? DT_BFP8
           : bits >= 3  ? DT_BFP4
                        : DT_BFP2;
}

static void write_number(struct writer *w, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isfinite(x))
        buf_printf(&w->out, "%.17g : f64", x);
    else
        buf_printf(&w->out, "0x%016llX : f64", (unsigned long long)bits);
}

static void write_cast(struct writer *w, const char *dialect, uint32_t value, uint32_t number, char from, char to,
                       enum dtype from_type, enum dtype to_type) {
    buf_printf(&w->out, "  %%%c%u = \"%s.typecast\"(%%%c%u) : (", to, number, dialect, from, number);
    write_tensor_type(w, value, from_type);
    buf_add(&w->out, STR(") -> "));
    write_tensor_type(w, value, to_type);
    buf_addc(&w->out, '\n');
    w->lines++;
}

static void write_constant(struct writer *w, uint32_t number, uint32_t value, struct constant c, const char *dialect) {
    enum dtype type = graph_dtype(w->p->graph, value), narrow = narrowest(c.bits), full = DT_F64;
    bool whole = format_is_integer(type);
    if (whole)
        full = narrow = type;
    buf_printf(&w->out, "  %%%c%u = \"%s.full\"() <{fill_value = ", whole || type == DT_F64 ? 'a' : 'f', number,
               dialect);
    write_number(w, whole ? c.value : meant(w, c));
    buf_add(&w->out, STR(", shape = ["));
    write_dims(w, value, ", ");
    buf_add(&w->out, STR("]}> : () -> "));
    write_tensor_type(w, value, full);
    buf_addc(&w->out, '\n');
    w->lines++;
    if (whole || type == DT_F64)
        return;
    bool twice = narrow != type && narrow != DT_F64;
    if (twice)
        write_cast(w, dialect, value, number, 'f', 'n', full, narrow);
    write_cast(w, dialect, value, number, twice ? 'n' : 'f', 'a', twice ? narrow : full, type);
}

/* As far as each dimension goes now. In memory order, as MLIR prints what is long. */
static void write_elements(struct writer *w, const struct tensor *t, bool whole) {
    static const char digits[] = "0123456789ABCDEF";
    struct shape s = t->shape;
    struct view v = view_of(t);
    struct index_walk at;
    for (uint32_t d = 0; d < s.rank; d++)
        s.dim[d] = v.shape.dim[d] = extent_to(w->e, s.dim[d]);
    walk_begin(&at, &s);
    for (walk_add(&at, &v); walk_more(&at); walk_next(&at)) {
        double x = v.x[at.offset[0]];
        uint64_t bits = 0;
        if (!whole)
            memcpy(&bits, &x, sizeof bits);
        else if (fabs(x) <= 0x1p53)
            bits = (uint64_t)(int64_t)x;
        else
            w->why = STR("a constant holds a number that is too large");
        for (size_t i = 0; i < sizeof bits; i++, bits >>= 8) {
            buf_addc(&w->out, digits[bits >> 4 & 15]);
            buf_addc(&w->out, digits[bits & 15]);
        }
    }
}

/* What a constant holds fits its element type: it is written in 64 bits and cast. */
static void write_held(struct writer *w, uint32_t number, uint32_t value, const char *dialect) {
    enum dtype type = graph_dtype(w->p->graph, value), full = format_is_integer(type) ? DT_I64 : DT_F64;
    buf_printf(&w->out, "  %%%c%u = \"%s.constant\"() <{value = dense<\"0x", type == full ? 'a' : 'f', number, dialect);
    write_elements(w, w->held->of[number], full == DT_I64);
    buf_add(&w->out, STR("\"> : "));
    write_tensor_type(w, value, full);
    buf_add(&w->out, STR("}> : () -> "));
    write_tensor_type(w, value, full);
    buf_addc(&w->out, '\n');
    w->lines++;
    if (type != full)
        write_cast(w, dialect, value, number, 'f', 'a', full, type);
}

static void write_argument(struct writer *w, uint32_t number, uint32_t value, bool first) {
    const struct graph *g = w->p->graph;
    uint32_t argument = graph_argument(g, value);
    struct str kind = argument == NONE ? STR("") : graph_argument_type(g, argument);
    if (!kind.n && graph_is_parameter(g, value))
        kind = STR("parameter");
    buf_printf(&w->out, "%s%%a%u: ", first ? "" : ", ", number);
    write_type(w, value);
    if (kind.n)
        buf_printf(&w->out, " {ttcore.argument_type = #ttcore.argument_type<%.*s>}", (int)kind.n, kind.p);
}

/* ---- attributes ---- */

static void write_dims_of(struct writer *w, uint32_t value) {
    buf_addc(&w->out, '[');
    write_dims(w, value, ", ");
    buf_addc(&w->out, ']');
}

/* How often each dimension is repeated, from the right; dimensions that are only in the result count from 1. */
static void write_times(struct writer *w, uint32_t from, uint32_t to) {
    uint32_t na, nb;
    const int64_t *a = graph_shape(w->p->graph, from, &na), *b = graph_shape(w->p->graph, to, &nb);
    buf_addc(&w->out, '[');
    for (uint32_t d = 0; d < nb; d++) {
        int64_t x = d + na >= nb ? extent_to(w->e, a[d + na - nb]) : 1, y = extent_to(w->e, b[d]);
        if (x < 1 || y % x != 0)
            w->why = STR("a repetition does not fit its result");
        buf_printf(&w->out, "%s%lld", d ? ", " : "", (long long)(x < 1 ? 1 : y / x));
    }
    buf_addc(&w->out, ']');
}

static void write_interleaved(struct writer *w, uint32_t from, uint32_t to) {
    int64_t x = (int64_t)mapped_elements(w, from), y = (int64_t)mapped_elements(w, to);
    if (x < 1 || y % x != 0)
        w->why = STR("a repetition does not fit its result");
    buf_printf(&w->out, "%lld : i64", (long long)(x < 1 ? 1 : y / x));
}

static bool write_bounds(struct writer *w, uint32_t op, bool ends) {
    struct slice_bounds b;
    if (!slice_bounds(w->p->graph, op, &b))
        return false;
    buf_addc(&w->out, '[');
    for (uint32_t d = 0; d < b.rank; d++)
        buf_printf(&w->out, "%s%lld", d ? ", " : "", (long long)extent_to(w->e, ends ? b.end[d] : b.begin[d]));
    buf_addc(&w->out, ']');
    return true;
}

static bool write_mapped_list(struct writer *w, struct str text) {
    int64_t list[TENSOR_RANK];
    int n = mlir_ints(text, list, TENSOR_RANK);
    if (n < 0 || n > TENSOR_RANK)
        return false;
    buf_addc(&w->out, '[');
    for (int i = 0; i < n; i++)
        buf_printf(&w->out, "%s%lld", i ? ", " : "", (long long)extent_to(w->e, list[i]));
    buf_addc(&w->out, ']');
    return true;
}

static bool is_one_of(struct str key, const char *const *keys, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (str_is(key, keys[i]))
            return true;
    return false;
}

/* Where and how a result is stored, and what is told of an op beside its meaning. */
static bool says_nothing(struct str key, struct str value) {
    static const char *const keys[] = {"memory_config", "layout", "dtype",
                                       "output_dtype",  "device", "operandSegmentSizes"};
    if (is_one_of(key, keys, sizeof keys / sizeof *keys) || str_find(key, STR(".")))
        return true;
    return (str_ends(key, STR("_config")) && !str_is(key, "compute_config") && !str_find(value, STR("activation")));
}

static bool write_extent_attr(struct writer *w, uint32_t op, struct str key, struct str text) {
    static const char *const lists[] = {"normalized_shape"};
    static const char *const numbers[] = {"batch_size",  "channels",    "input_length", "input_height",
                                          "input_width", "input_depth", "in_channels",  "out_channels",
                                          "groups",      "num_groups",  "num_heads",    "num_kv_heads",
                                          "k",           "start",       "end"};
    const struct graph *g = w->p->graph;
    uint32_t x = graph_noperands(g, op) ? graph_operands(g, op)[0] : NONE, y = g->m->ops[op].first_result;
    int64_t number;
    if (str_is(key, "shape"))
        write_dims_of(w, y);
    else if (x != NONE &&
             (str_is(key, "repeat_dims") || str_is(key, "repeat_dimensions") || (str_is(key, "broadcast_dimensions"))))
        write_times(w, x, y);
    else if (x != NONE && str_is(key, "repeats"))
        write_interleaved(w, x, y);
    else if (str_is(key, "begins") || str_is(key, "ends"))
        return write_bounds(w, op, str_is(key, "ends"));
    else if (is_one_of(key, lists, 1))
        return write_mapped_list(w, text);
    else if (is_one_of(key, numbers, sizeof numbers / sizeof *numbers) && mlir_int(text, &number))
        buf_printf(&w->out, "%lld : i64", (long long)extent_to(w->e, number));
    else
        return false;
    return true;
}

/* One for each role, where roles may be absent. */
static bool write_segments(struct writer *w, uint32_t op, bool first) {
    const struct graph *g = w->p->graph;
    const char *roles = op_table[g->kind[op]].roles;
    if (!strchr(roles, '?'))
        return false;
    buf_printf(&w->out, "%soperandSegmentSizes = array<i32", first ? "" : ", ");
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        buf_printf(&w->out, "%s %d", i ? "," : ":", part_takes(g, graph_operands(g, op)[i]));
    buf_addc(&w->out, '>');
    return true;
}

static void write_attrs(struct writer *w, uint32_t op) {
    struct str keys[MAX_ATTRS], values[MAX_ATTRS];
    int n = mlir_attrs(w->p->graph->m, op, keys, values, MAX_ATTRS);
    bool first = true;
    buf_add(&w->out, STR(" <{"));
    for (int i = 0; i < n && i < MAX_ATTRS; i++) {
        if (says_nothing(keys[i], values[i]))
            continue;
        buf_printf(&w->out, "%s%.*s", first ? "" : ", ", (int)keys[i].n, keys[i].p);
        if (values[i].n)
            buf_add(&w->out, STR(" = "));
        if (!write_extent_attr(w, op, keys[i], values[i]))
            buf_add(&w->out, values[i]);
        first = false;
    }
    write_segments(w, op, first);
    buf_add(&w->out, STR("}>"));
    if (n > MAX_ATTRS)
        w->why = STR("an op has too many attributes");
}

/* ---- ops ---- */

static void write_operands(struct writer *w, uint32_t op) {
    const struct graph *g = w->p->graph;
    const uint32_t *v = graph_operands(g, op);
    uint32_t n = graph_noperands(g, op);
    bool first = true;
    for (uint32_t i = 0; i < n; i++) {
        if (!part_takes(g, v[i]))
            continue;
        buf_add(&w->out, first ? STR("") : STR(", "));
        write_name(w, v[i]);
        first = false;
    }
}

static void write_signature(struct writer *w, uint32_t op) {
    const struct graph *g = w->p->graph;
    const struct mlir_op *o = &g->m->ops[op];
    bool first = true;
    buf_add(&w->out, STR(" : ("));
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t v = graph_operands(g, op)[i];
        if (!part_takes(g, v))
            continue;
        buf_add(&w->out, first ? STR("") : STR(", "));
        write_type(w, v);
        first = false;
    }
    buf_add(&w->out, o->nresults > 1 ? STR(") -> (") : STR(") -> "));
    for (uint32_t r = 0; r < o->nresults; r++) {
        buf_add(&w->out, r ? STR(", ") : STR(""));
        write_type(w, o->first_result + r);
    }
    buf_add(&w->out, o->nresults > 1 ? STR(")\n") : STR("\n"));
}

static void write_op(struct writer *w, uint32_t i) {
    const struct mlir *m = w->p->graph->m;
    uint32_t op = w->p->ops[i], n = m->ops[op].nresults;
    struct str name = mlir_op_name(m, op);
    buf_printf(&w->out, "  %%r%u", i);
    if (n > 1)
        buf_printf(&w->out, ":%u", n);
    buf_printf(&w->out, " = \"%.*s\"(", (int)name.n, name.p);
    write_operands(w, op);
    buf_addc(&w->out, ')');
    write_attrs(w, op);
    write_signature(w, op);
    w->lines++;
}

/* What the part makes for others. A further result that nobody takes has no user outside of the match here, either. */
static bool is_returned(const struct part *p, uint32_t value) {
    const struct graph *g = p->graph;
    bool first = value == g->m->ops[g->m->values[value].def].first_result;
    return !part_uses(p, value) && (first || g->first_use[value] < g->first_use[value + 1]);
}

static void write_return(struct writer *w) {
    const struct part *p = w->p;
    const struct mlir *m = p->graph->m;
    bool first = true;
    buf_add(&w->out, STR("  return "));
    for (int types = 0; types < 2; types++) {
        buf_add(&w->out, types ? STR(" : ") : STR(""));
        first = true;
        for (uint32_t i = 0; i < p->nops; i++)
            for (uint32_t r = 0; r < m->ops[p->ops[i]].nresults; r++) {
                uint32_t v = m->ops[p->ops[i]].first_result + r;
                if (!is_returned(p, v))
                    continue;
                buf_add(&w->out, first ? STR("") : STR(", "));
                if (types)
                    write_type(w, v);
                else
                    write_name(w, v);
                first = false;
            }
    }
    buf_add(&w->out, STR("\n}\n"));
}

static bool is_held(const struct writer *w, uint32_t number) {
    return w->held && w->held->of[number];
}

static void write_all(struct writer *w, uint32_t *line) {
    const struct part *p = w->p;
    const struct graph *g = p->graph;
    bool ttnn = p->nops && str_starts(mlir_op_name(g->m, p->ops[p->nops - 1]), STR("ttnn."));
    const char *dialect = ttnn ? "ttnn" : "ttir";
    bool first = true;
    buf_add(&w->out, STR("func.func @part("));
    for (uint32_t i = 0; i < p->nouter; i++)
        if (!graph_constant(g, p->outer[i]).known && !is_held(w, i)) {
            write_argument(w, i, p->outer[i], first);
            first = false;
        }
    buf_add(&w->out, STR(") {\n"));
    for (uint32_t i = 0; i < p->nouter; i++) {
        struct constant c = graph_constant(g, p->outer[i]);
        if (c.known)
            write_constant(w, i, p->outer[i], c, dialect);
        else if (is_held(w, i))
            write_held(w, i, p->outer[i], dialect);
    }
    for (uint32_t i = 0; i < p->nops; i++) {
        line[i] = w->lines;
        write_op(w, i);
    }
    write_return(w);
}

bool part_write(const struct part *p, const struct extents *e, const struct writing *how, struct arena *a,
                struct written_part *out, struct str *why) {
    struct writer *w = arena_alloc(a, sizeof *w);
    const struct formula *f = how->pattern->is_variant ? &how->pattern->variant_of->formula : &how->pattern->formula;
    bool seen[MAX_SLOTS] = {false};
    *w = (struct writer){.p = p, .e = e, .ties = how->ties, .held = how->held};
    find_literals(w, f->root, seen);
    for (uint32_t i = 0; i < f->nsecondary; i++)
        find_literals(w, f->also[i].node, seen);
    find_counts(w);
    out->line = arena_alloc(a, (p->nops + 1) * sizeof *out->line);
    write_all(w, out->line);
    out->text = arena_str(a, buf_str(&w->out));
    buf_free(&w->out);
    *why = w->why;
    return w->why.n == 0;
}
