/* Arguments, constants, then the ops of the subgraph in their order. An input that is the same along some dimension is
 * an argument without it, repeated. */
#include "proof/reduce/resize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/graph/clone.h"
#include "proof/value/tensor.h"

struct resizer {
    const struct subgraph *subgraph;
    const struct extents *extents;
    const struct payloads *payloads; /* or NULL */
    struct constant_meanings meanings;
    struct resized *out;
    struct arena *arena;
    struct reason why; /* why there is no such module; or empty */
};

/* ---- shapes and types ---- */

static struct shape resized_shape(struct resizer *r, uint32_t value) {
    uint32_t rank;
    const int64_t *dims = graph_shape(r->subgraph->graph, value, &rank);
    struct shape s = {0};
    if (rank > MAX_RANK) {
        r->why.text = STR("a rank that is too large");
        return (struct shape){0};
    }
    for (uint32_t d = 0; dims && d < rank; d++)
        s.dim[s.rank++] = extent_to(r->extents, dims[d]);
    return s;
}

static uint32_t tensor_type(struct resizer *r, const struct shape *s, enum dtype t) {
    uint32_t type = build_tensor(&r->out->ir, s->dim, s->rank, t);
    if (type == NONE)
        r->why.text = STR("an element type that is not known");
    return type == NONE ? build_tensor(&r->out->ir, NULL, 0, DT_F32) : type;
}

static uint32_t type_of(struct resizer *r, uint32_t value) {
    struct shape s = resized_shape(r, value);
    return tensor_type(r, &s, graph_dtype(r->subgraph->graph, value));
}

/* ---- values ---- */

static uint32_t input_of(const struct subgraph *s, uint32_t value) {
    for (uint32_t i = 0; i < s->ninputs; i++)
        if (s->inputs[i] == value)
            return i;
    return NONE;
}

/* What the users of a value take. */
static uint32_t new_value(const struct resizer *r, uint32_t value) {
    const struct subgraph *s = r->subgraph;
    const struct mlir *m = s->graph->m, *to = &r->out->ir;
    uint32_t input = input_of(s, value), op = m->values[value].def;
    if (input != NONE)
        return r->out->inputs[input];
    return to->ops[r->out->ops[find_id(s->ops, s->nops, op)]].first_result + (value - m->ops[op].first_result);
}

/* ---- constants and arguments ---- */

/* The format with this many significant bits (struct constant). */
static enum dtype narrowest(int bits) {
    enum dtype t = DT_BFP2;
    while (t > DT_F64 && dtype_table[t].precision < bits)
        t--;
    return t;
}

/* "dense<...>" with its type. */
static uint32_t add_dense(struct resizer *r, struct str body, uint32_t type) {
    struct str text = r->out->ir.types[type].text;
    struct str props = arena_printf(r->arena, "value = dense<%.*s> : %.*s", (int)body.n, body.p, (int)text.n, text.p);
    return build_value(&r->out->ir, "ttir.constant", props, NULL, 0, type);
}

static struct str number_text(const struct resizer *r, double x, enum dtype t) {
    if (t == DT_I1)
        return x != 0 ? STR("true") : STR("false");
    if (format_is_integer(t))
        return arena_printf(r->arena, "%.0f", x);
    if (isfinite(x))
        return arena_printf(r->arena, "%.17e", x);
    return arena_printf(r->arena, "0x%016llX", (unsigned long long)bits_of_double(x));
}

static uint32_t add_cast(struct resizer *r, uint32_t x, const struct shape *s, enum dtype to) {
    return build_cast(&r->out->ir, x, tensor_type(r, s, to));
}

static bool is_added(const struct graph *g, uint32_t value, int depth) {
    bool found = false;
    for (uint32_t i = g->first_use[value]; i < g->first_use[value + 1] && !found; i++) {
        uint32_t op = g->uses[i];
        found = graph_op_is(g, op, ADDS) ||
                (depth > 0 && graph_looks_through(g, op) && is_added(g, g->m->ops[op].first_result, depth - 1));
    }
    return found;
}

/* A whole number that is added to positions follows how many there are, since others hardly meet the positions of
 * another row: i - j + n, or i + (1 - n). */
static double moved_positions(const struct resizer *r, uint32_t value, double x) {
    const struct graph *g = r->subgraph->graph;
    for (uint32_t i = 0; i < r->subgraph->nops && fabs(x) > 1 && is_added(g, value, 4); i++) {
        uint32_t op = r->subgraph->ops[i], rank = 0;
        const int64_t *dims = graph_op_is(g, op, COUNTS) ? graph_shape(g, g->m->ops[op].first_result, &rank) : NULL;
        for (uint32_t d = 0; dims && d < rank; d++)
            for (int less = 0; less < 2; less++)
                if (fabs(x) == (double)(dims[d] - less))
                    return copysign((double)(extent_to(r->extents, dims[d]) - less), x);
    }
    return x;
}

static uint32_t add_constant(struct resizer *r, uint32_t value, struct constant c) {
    enum dtype type = graph_dtype(r->subgraph->graph, value), narrow = narrowest(c.bits);
    bool exact = format_is_integer(type) || type == DT_F64;
    enum dtype full = exact ? type : DT_F64;
    struct shape s = resized_shape(r, value);
    double x = format_is_integer(type) ? moved_positions(r, value, c.value) : scaled_constant(&r->meanings, c);
    uint32_t v = add_dense(r, number_text(r, x, full), tensor_type(r, &s, full));
    if (!exact && narrow != type && narrow != DT_F64)
        v = add_cast(r, v, &s, narrow);
    return exact ? v : add_cast(r, v, &s, type);
}

/* The hexadecimal bytes (little endian) that MLIR prints long lists as. */
static void write_elements(struct resizer *r, const struct tensor *t, bool integers, struct buf *out) {
    static const char digits[] = "0123456789ABCDEF";
    for (int64_t i = 0; i < t->n; i++) {
        if (integers && fabs(t->x[i]) > 0x1p53)
            r->why.text = STR("a constant holds a number that is too large");
        uint64_t bits = !integers ? bits_of_double(t->x[i]) : r->why.text.n ? 0 : (uint64_t)(int64_t)t->x[i];
        for (size_t k = 0; k < sizeof bits; k++, bits >>= 8) {
            buf_addc(out, digits[bits >> 4 & 15]);
            buf_addc(out, digits[bits & 15]);
        }
    }
}

/* Elements were stored in their element type, so making them in 64 bits and casting back loses nothing. */
static uint32_t add_payload(struct resizer *r, uint32_t number, uint32_t value) {
    enum dtype type = graph_dtype(r->subgraph->graph, value), full = format_is_integer(type) ? DT_I64 : DT_F64;
    struct shape s = resized_shape(r, value);
    struct buf body = {0};
    buf_add(&body, STR("\"0x"));
    write_elements(r, r->payloads->of[number], full == DT_I64, &body);
    buf_addc(&body, '"');
    uint32_t v = add_dense(r, buf_take(&body, r->arena), tensor_type(r, &s, full));
    return type == full ? v : add_cast(r, v, &s, type);
}

/* All elements along dimension d of the input are the first one. */
static bool repeats_along(const struct graph *g, uint32_t value, const struct shape *s, uint32_t d) {
    return s->dim[d] != 1 && !(g->varies[value] >> d & 1);
}

/* An input that is the same along some dimension: its slice is the argument, which is repeated. */
static bool is_sliced(const struct resizer *r, uint32_t value) {
    const struct graph *g = r->subgraph->graph;
    struct shape s = {0};
    bool sliced = false;
    shape_in_graph(g, value, &s);
    for (uint32_t d = 0; d < s.rank; d++)
        sliced |= repeats_along(g, value, &s, d);
    return sliced && !graph_constant(g, value).known;
}

static void add_extent(struct shape *slice, struct shape *times, int64_t extent, bool varies) {
    slice->dim[slice->rank++] = varies ? extent : 1;
    times->dim[times->rank++] = varies ? 1 : extent;
}

/* How often the slice is repeated along each dimension, and its own shape. */
static struct shape repetitions(struct resizer *r, uint32_t value, struct shape *slice) {
    const struct graph *g = r->subgraph->graph;
    struct shape s = {0}, times = {0};
    shape_in_graph(g, value, &s);
    *slice = (struct shape){0};
    for (uint32_t d = 0; d < s.rank && times.rank < MAX_RANK; d++)
        add_extent(slice, &times, extent_to(r->extents, s.dim[d]), !repeats_along(g, value, &s, d));
    return times;
}

static uint32_t add_repeated(struct resizer *r, uint32_t value, uint32_t argument) {
    struct shape slice, times = repetitions(r, value, &slice);
    struct str list = ints_like(STR("array<i64>"), times.dim, times.rank, r->arena);
    struct str props = arena_printf(r->arena, "repeat_dimensions = %.*s", (int)list.n, list.p);
    return build_value(&r->out->ir, "ttir.repeat", props, &argument, 1, type_of(r, value));
}

static struct str argument_type_text(const struct resizer *r, struct str kind) {
    return kind.n ? arena_printf(r->arena, "ttcore.argument_type = #ttcore.argument_type<%.*s>", (int)kind.n, kind.p)
                  : kind;
}

static uint32_t add_argument(struct resizer *r, uint32_t number, uint32_t value) {
    const struct graph *g = r->subgraph->graph;
    uint32_t argument = graph_argument(g, value), type = 0;
    struct str kind = argument == NONE ? STR("") : graph_argument_type(g, argument);
    if (!kind.n && graph_is_parameter(g, value))
        kind = STR("parameter");
    if (is_sliced(r, value)) {
        struct shape slice;
        repetitions(r, value, &slice);
        type = tensor_type(r, &slice, graph_dtype(g, value));
    } else {
        type = type_of(r, value);
    }
    return build_argument(&r->out->ir, arena_printf(r->arena, "%%a%u", number), type, argument_type_text(r, kind));
}

/* ---- attributes ---- */

/* The factor of each dimension of a repeat, aligned from the right; leading dimensions of the result start from 1. */
static int factors(struct resizer *r, uint32_t from, uint32_t to, int64_t *list) {
    struct shape a = resized_shape(r, from), b = resized_shape(r, to);
    for (uint32_t d = 0; d < b.rank; d++) {
        int64_t x = d + a.rank >= b.rank ? a.dim[d + a.rank - b.rank] : 1;
        if (x < 1 || b.dim[d] % x != 0)
            r->why.text = STR("a repetition does not fit its result");
        list[d] = x < 1 ? 1 : b.dim[d] / x;
    }
    return (int)b.rank;
}

static int interleaved(struct resizer *r, uint32_t from, uint32_t to, int64_t *factor) {
    const struct graph *g = r->subgraph->graph;
    int64_t x = (int64_t)scaled_numel(g, r->extents, from), y = (int64_t)scaled_numel(g, r->extents, to);
    if (x < 1 || y % x != 0)
        r->why.text = STR("a repetition does not fit its result");
    *factor = x < 1 ? 1 : y / x;
    return 1;
}

static int map_all(const struct resizer *r, int64_t *list, int n) {
    for (int i = 0; i < n; i++)
        list[i] = extent_to(r->extents, list[i]);
    return n;
}

/* Behind the last position. */
static int64_t count_end(struct resizer *r, uint32_t op) {
    const struct attrs *a = graph_attributes(r->subgraph->graph, op);
    struct shape s = resized_shape(r, r->subgraph->graph->m->ops[op].first_result);
    int64_t along = attrs_int(a, "arange_dimension", 0), n = along >= 0 && along < s.rank ? s.dim[along] : 0;
    return attrs_int(a, "start", 0) + n * attrs_int(a, "step", 1);
}

static int bounds(struct resizer *r, uint32_t op, bool ends, struct str text, int64_t *list) {
    struct slice_bounds b;
    if (graph_op_is(r->subgraph->graph, op, COUNTS)) {
        *list = count_end(r, op);
        return 1;
    }
    if (!slice_bounds(r->subgraph->graph, op, &b))
        return mlir_ints(text, list, MAX_RANK);
    memcpy(list, ends ? b.end : b.begin, b.rank * sizeof *list);
    return map_all(r, list, (int)b.rank);
}

/* An attribute of this role in the new extents; how many numbers it has, or -1: it stays. */
static int resized_list(struct resizer *r, uint32_t op, enum dims_role role, struct str text, int64_t *list) {
    const struct graph *g = r->subgraph->graph;
    uint32_t x = graph_noperands(g, op) ? graph_operands(g, op)[0] : NONE, y = g->m->ops[op].first_result;
    struct shape s;
    int n = mlir_ints(text, list, MAX_RANK);
    if (n > MAX_RANK)
        n = -1;
    switch (role) {
    case DIMS_SHAPE:
        s = resized_shape(r, y);
        memcpy(list, s.dim, s.rank * sizeof *list);
        return (int)s.rank;
    case DIMS_FACTORS:
        return factors(r, x, y, list);
    case DIMS_FACTOR:
        return interleaved(r, x, y, list);
    case DIMS_SIZES:
        return map_all(r, list, n);
    case DIMS_COUNT:
        return n == 1 ? map_all(r, list, n) : -1;
    case DIMS_BEGINS:
    case DIMS_ENDS:
        return bounds(r, op, role == DIMS_ENDS, text, list);
    default:
        return -1;
    }
}

/* "#dialect.name<key = 4, ...>" with the numbers of what the op counts; the sizes of a flattened image stand so. */
static void resize_inside(struct resizer *r, uint32_t op, struct str key, struct str *text) {
    const struct graph *g = r->subgraph->graph;
    const struct attr *x = attrs_find(graph_attributes(g, op), arena_strdup(r->arena, key));
    const char *open = x ? memchr(x->text.p, '<', x->text.n) : NULL;
    bool counts = false;
    struct str out = open ? (struct str){x->text.p, (size_t)(open - x->text.p)} : STR("");
    for (uint32_t i = 0; open && i < x->inside.n; i++) {
        const struct attr *entry = &x->inside.at[i];
        int64_t n = entry->whole;
        struct str value = entry->text;
        if (entry->is_whole && op_dims_role((enum op_kind)g->kind[op], entry->key) == DIMS_COUNT) {
            counts = true;
            map_all(r, &n, 1);
            value = ints_like(value, &n, 1, r->arena);
        }
        out = arena_printf(r->arena, "%.*s%s%.*s = %.*s", (int)out.n, out.p, i ? ", " : "<", (int)entry->key.n,
                           entry->key.p, (int)value.n, value.p);
    }
    if (counts)
        *text = arena_printf(r->arena, "%.*s>", (int)out.n, out.p);
}

static bool resized_attribute(void *self, uint32_t op, struct str key, struct str *text) {
    struct resizer *r = self;
    enum dims_role role = op_dims_role((enum op_kind)r->subgraph->graph->kind[op], key);
    int64_t list[MAX_RANK + 1];
    if (role == DIMS_NONE && text->n && text->p[0] == '#' &&
        op_table[r->subgraph->graph->kind[op]].window.kind != WINDOW_NONE)
        resize_inside(r, op, key, text);
    int n = role == DIMS_NONE ? -1 : resized_list(r, op, role, *text, list);
    if (n >= 0)
        *text = ints_like(*text, list, (uint32_t)n, r->arena);
    return true;
}

/* ---- the function ---- */

static bool has_payload(const struct resizer *r, uint32_t number) {
    return r->payloads && r->payloads->of[number];
}

static void add_inputs(struct resizer *r) {
    const struct subgraph *s = r->subgraph;
    const struct graph *g = s->graph;
    uint32_t *in = r->out->inputs;
    for (uint32_t i = 0; i < s->ninputs; i++)
        if (!graph_constant(g, s->inputs[i]).known && !has_payload(r, i)) {
            r->out->arguments[r->out->ir.funcs[0].nargs] = i;
            in[i] = add_argument(r, i, s->inputs[i]);
        }
    r->out->arguments[r->out->ir.funcs[0].nargs] = NONE;
    for (uint32_t i = 0; i < s->ninputs; i++) {
        struct constant c = graph_constant(g, s->inputs[i]);
        if (c.known)
            in[i] = add_constant(r, s->inputs[i], c);
        else if (has_payload(r, i))
            in[i] = add_payload(r, i, s->inputs[i]);
        else if (is_sliced(r, s->inputs[i]))
            in[i] = add_repeated(r, s->inputs[i], in[i]);
    }
}

static void resize_op(struct resizer *r, uint32_t i) {
    const struct graph *g = r->subgraph->graph;
    uint32_t op = r->subgraph->ops[i], n = graph_noperands(g, op);
    const struct mlir_op *o = &g->m->ops[op];
    uint32_t *operands = arena_alloc(r->arena, (n + (size_t)1) * sizeof *operands);
    uint32_t *types = arena_alloc(r->arena, (o->nresults + (size_t)1) * sizeof *types);
    struct cloner c = {.to = &r->out->ir, .from = g, .attribute = resized_attribute, .self = r};
    for (uint32_t k = 0; k < n; k++)
        operands[k] = is_tensor_operand(g, graph_operands(g, op)[k]) ? new_value(r, graph_operands(g, op)[k]) : NONE;
    for (uint32_t k = 0; k < o->nresults; k++)
        types[k] = type_of(r, o->first_result + k);
    r->out->ops[i] = clone_op(&c, op, operands, types, o->nresults);
}

/* Results that no op of the subgraph takes. One that has no user in the model gets none here, but for the first result
 * of an op without any. */
static bool is_returned(const struct subgraph *s, uint32_t value) {
    const struct graph *g = s->graph;
    const struct mlir_op *op = &g->m->ops[g->m->values[value].def];
    bool unused = g->first_use[op->first_result] == g->first_use[op->first_result + op->nresults];
    return !subgraph_uses(s, value) && (unused ? value == op->first_result : graph_nuses(g, value) > 0);
}

/* Ops that are left out take the repeated input, too: it is no broadcast that a match makes its own. */
static bool is_shared(const struct resizer *r, uint32_t input) {
    const struct subgraph *s = r->subgraph;
    const struct graph *g = s->graph;
    uint32_t value = s->inputs[input];
    bool shared = false;
    for (uint32_t u = g->first_use[value]; u < g->first_use[value + 1]; u++)
        shared |= !subgraph_has(s, g->uses[u]);
    return shared && is_sliced(r, value) && !has_payload(r, input);
}

static void add_return(struct resizer *r) {
    const struct subgraph *s = r->subgraph;
    const struct mlir *m = s->graph->m;
    uint32_t *returned = NULL, n = 0, cap = 0;
    for (uint32_t i = 0; i < s->nops; i++)
        for (uint32_t k = 0; k < m->ops[s->ops[i]].nresults; k++)
            if (is_returned(s, m->ops[s->ops[i]].first_result + k)) {
                returned = grow(returned, &cap, n + 1, sizeof *returned);
                returned[n++] = new_value(r, m->ops[s->ops[i]].first_result + k);
            }
    for (uint32_t i = 0; i < s->ninputs; i++)
        if (is_shared(r, i)) {
            returned = grow(returned, &cap, n + 1, sizeof *returned);
            returned[n++] = r->out->inputs[i];
        }
    build_return(&r->out->ir, returned, n);
    free(returned);
}

bool subgraph_resize(const struct subgraph *s, const struct extents *e, const struct resize_options *how,
                     struct arena *a, struct resized *out, struct reason *why) {
    struct resizer *r = arena_alloc(a, sizeof *r);
    *r = (struct resizer){.subgraph = s, .extents = e, .payloads = how->payloads, .out = out, .arena = a};
    constant_meanings(&r->meanings, s, e, how->scaled);
    out->ops = arena_alloc(a, (s->nops + (size_t)1) * sizeof *out->ops);
    out->inputs = arena_alloc(a, (s->ninputs + (size_t)1) * sizeof *out->inputs);
    out->arguments = arena_alloc(a, (s->ninputs + (size_t)1) * sizeof *out->arguments);
    build_begin(&out->ir, STR("part"));
    add_inputs(r);
    for (uint32_t i = 0; i < s->nops && !r->why.text.n; i++)
        resize_op(r, i);
    if (!r->why.text.n)
        add_return(r);
    build_end(&out->ir);
    *why = r->why;
    return r->why.text.n == 0;
}
