/* Values are numbered as they are printed: %0, %1, ...; of an op with several results %3#1. */
#include "verify/miter.h"

#include <math.h>

#include "reduce/print_module.h"
#include "reduce/subgraph.h"

enum { MAX_ATTRS = 48, MAX_NAMES = 4 * MAX_REGION_STEPS + 2 * MAX_REGION_INPUTS };

struct printed_name {
    struct str type;
    uint32_t value; /* of the side */
    uint32_t number, result;
    uint8_t side;
    bool several; /* the op has several results */
};

struct miter_printer {
    const struct cut_region *r;
    const struct cuts *c;
    struct arena *a;
    struct buf out;
    struct printed_name names[MAX_NAMES];
    uint32_t nnames, number;
    struct miter_options how;
    bool has_gelu;
    struct str why;
};

/* ---- types ---- */

static struct str shape_and_type(struct miter_printer *p, const int64_t *dims, uint32_t rank, enum dtype t) {
    const char *element = element_type_text(t);
    struct str text = STR("tensor<");
    if (!element)
        p->why = STR("an element type that is not known");
    for (uint32_t d = 0; d < rank; d++)
        text = arena_printf(p->a, "%.*s%lldx", (int)text.n, text.p, (long long)dims[d]);
    return arena_printf(p->a, "%.*s%s>", (int)text.n, text.p, element ? element : "f32");
}

static const int64_t *dims_of(struct miter_printer *p, int side, uint32_t value, uint32_t *rank) {
    static const int64_t none = 0;
    const struct flat *f = &p->c->side[side];
    const int64_t *dims = graph_shape(f->g, f->values[value].value, rank);
    if (!dims || graph_numel(f->g, f->values[value].value) < 0)
        p->why = STR("a shape that is not static");
    if (!dims)
        *rank = 0;
    return dims ? dims : &none;
}

static enum dtype dtype_at(const struct miter_printer *p, int side, uint32_t value) {
    const struct flat *f = &p->c->side[side];
    return graph_dtype(f->g, f->values[value].value);
}

static struct str type_of(struct miter_printer *p, int side, uint32_t value) {
    uint32_t rank;
    const int64_t *dims = dims_of(p, side, value, &rank);
    return shape_and_type(p, dims, rank, dtype_at(p, side, value));
}

static bool is_whole_number(enum dtype t) {
    return t >= DT_I64 && t <= DT_INDEX;
}

/* ---- names ---- */

static const struct printed_name *name_of(const struct miter_printer *p, int side, uint32_t value) {
    for (uint32_t i = p->nnames; i-- > 0;)
        if (p->names[i].value == value && p->names[i].side == side)
            return &p->names[i];
    return NULL;
}

static const struct printed_name *add_name(struct miter_printer *p, struct printed_name n) {
    if (p->nnames == MAX_NAMES) {
        p->why = STR("too many values");
        p->nnames--;
    }
    p->names[p->nnames] = n;
    return &p->names[p->nnames++];
}

static void print_name(struct miter_printer *p, const struct printed_name *n) {
    if (n->several)
        buf_printf(&p->out, "%%%u#%u", n->number, n->result);
    else
        buf_printf(&p->out, "%%%u", n->number);
}

/* An op of one operand and one result, written here. */
static struct printed_name print_unary(struct miter_printer *p, const char *op, struct printed_name x,
                                       struct str attributes, struct str type) {
    struct printed_name y = x;
    y.number = p->number++;
    y.several = false;
    y.type = type;
    buf_printf(&p->out, "  %%%u = \"%s\"(", y.number, op);
    print_name(p, &x);
    buf_printf(&p->out, ")%.*s : (%.*s) -> %.*s\n", (int)attributes.n, attributes.p, (int)x.type.n, x.type.p,
               (int)type.n, type.p);
    return y;
}

/* From a value of BEFORE what AFTER has in its place, by the relation between both. */
static struct printed_name print_relation(struct miter_printer *p, struct printed_name x, uint32_t before,
                                          uint32_t after, const struct relation *rel) {
    uint32_t rank, rank_after;
    const int64_t *dims = dims_of(p, BEFORE, before, &rank), *to = dims_of(p, AFTER, after, &rank_after);
    enum dtype from_type = dtype_at(p, BEFORE, before), to_type = dtype_at(p, AFTER, after);
    int64_t permuted[CUT_RANK];
    if (rel->rank && rel->rank == rank) {
        struct str list = STR("");
        for (uint32_t d = 0; d < rank; d++) {
            permuted[d] = dims[rel->order[d]];
            list = arena_printf(p->a, "%.*s%s%u", (int)list.n, list.p, d ? ", " : "", rel->order[d]);
        }
        dims = permuted;
        x = print_unary(p, "ttir.permute", x,
                        arena_printf(p->a, " <{permutation = array<i64: %.*s>}>", (int)list.n, list.p),
                        shape_and_type(p, dims, rank, from_type));
    }
    if (rank != rank_after || (rank && memcmp(dims, to, rank * sizeof *dims) != 0)) {
        struct str list = STR("");
        for (uint32_t d = 0; d < rank_after; d++)
            list = arena_printf(p->a, "%.*s%s%lld : i32", (int)list.n, list.p, d ? ", " : "", (long long)to[d]);
        x = print_unary(p, "ttir.reshape", x, arena_printf(p->a, " <{shape = [%.*s]}>", (int)list.n, list.p),
                        shape_and_type(p, to, rank_after, from_type));
    }
    if (from_type != to_type && (is_whole_number(from_type) || is_whole_number(to_type)))
        x = print_unary(p, "ttir.typecast", x, STR(""), shape_and_type(p, to, rank_after, to_type));
    return x;
}

/* ---- ops ---- */

static bool is_gelu(struct str key, struct str value) {
    struct str name;
    return str_is(key, "activation") && mlir_string(value, &name) && str_is(name, "gelu");
}

/* x * 1/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x^3))). */
static void print_tanh_gelu(struct miter_printer *p, struct printed_name *y, uint32_t rank) {
    static const struct {
        const char *op;
        double constant; /* NAN: the last operand is x */
    } steps[] = {{"multiply", NAN},
                 {"multiply", NAN},
                 {"multiply", 0.044715},
                 {"add", NAN},
                 {"multiply", 0.7978845608028654},
                 {"tanh", 0},
                 {"add", 1},
                 {"multiply", NAN},
                 {"multiply", 0.5}};
    struct printed_name x = *y;
    int64_t ones[TENSOR_RANK];
    for (uint32_t d = 0; d < rank && d < TENSOR_RANK; d++)
        ones[d] = 1;
    struct str one = shape_and_type(p, ones, rank, DT_F64);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct printed_name other = x;
        if (strcmp(steps[i].op, "tanh") == 0) {
            *y = print_unary(p, "ttir.tanh", *y, STR(""), y->type);
            continue;
        }
        if (!isnan(steps[i].constant)) {
            other = (struct printed_name){.type = one, .number = p->number++};
            buf_printf(&p->out, "  %%%u = \"ttir.constant\"() <{value = dense<%.17e> : %.*s}> : () -> %.*s\n",
                       other.number, steps[i].constant, (int)one.n, one.p, (int)one.n, one.p);
        }
        buf_printf(&p->out, "  %%%u = \"ttir.%s\"(", p->number, steps[i].op);
        print_name(p, y);
        buf_add(&p->out, STR(", "));
        print_name(p, &other);
        buf_printf(&p->out, ") : (%.*s, %.*s) -> %.*s\n", (int)y->type.n, y->type.p, (int)other.type.n, other.type.p,
                   (int)y->type.n, y->type.p);
        y->number = p->number++;
        y->several = false;
    }
}

static void print_attributes(struct miter_printer *p, const struct graph *g, uint32_t op) {
    struct str keys[MAX_ATTRS], values[MAX_ATTRS];
    int n = mlir_attrs(g->m, op, keys, values, MAX_ATTRS);
    const char *between = "";
    buf_add(&p->out, STR(" <{"));
    for (int i = 0; i < n && i < MAX_ATTRS; i++) {
        p->has_gelu |= is_gelu(keys[i], values[i]);
        if (attribute_changes_nothing(keys[i], values[i]) || (p->how.tanh_gelu && is_gelu(keys[i], values[i])))
            continue;
        buf_printf(&p->out, "%s%.*s%s%.*s", between, (int)keys[i].n, keys[i].p, values[i].n ? " = " : "",
                   (int)values[i].n, values[i].p);
        between = ", ";
    }
    if (strchr(op_table[g->kind[op]].roles, '?')) {
        buf_printf(&p->out, "%soperandSegmentSizes = array<i32", between);
        for (uint32_t i = 0; i < graph_noperands(g, op); i++)
            buf_printf(&p->out, "%s %d", i ? "," : ":", is_tensor_operand(g, graph_operands(g, op)[i]));
        buf_addc(&p->out, '>');
    }
    buf_add(&p->out, STR("}>"));
    if (n > MAX_ATTRS)
        p->why = STR("an op has too many attributes");
}

/* A fill of a cache writes whole tiles: rows of the last one that the input lacks become 0 where the cache has them,
 * as the golden function of tt-mlir's builder has it. Printed as a pad, so that it holds in small shapes, too. */
static struct printed_name pad_to_tile(struct miter_printer *p, int side, uint32_t cache, struct printed_name x,
                                       uint32_t input) {
    enum { TILE_ROWS = 32 };
    uint32_t rank, rank_of_cache;
    const int64_t *in = dims_of(p, side, input, &rank), *to = dims_of(p, side, cache, &rank_of_cache);
    int64_t more = rank == 4 && rank_of_cache == 4 ? (TILE_ROWS - in[2] % TILE_ROWS) % TILE_ROWS : 0;
    if (more == 0 || in[2] + more > to[2])
        return x;
    const int64_t padded[] = {in[0], in[1], in[2] + more, in[3]};
    return print_unary(
        p, "ttir.pad", x,
        arena_printf(p->a, " <{padding = array<i32: 0, 0, 0, 0, 0, %lld, 0, 0>, value = 0.0 : f32}>", (long long)more),
        shape_and_type(p, padded, rank, dtype_at(p, side, input)));
}

static const struct printed_name *operand_name(struct miter_printer *p, int side, uint32_t value) {
    const struct printed_name *n = name_of(p, side, value);
    uint32_t before = side == AFTER ? p->c->before_of[value] : NONE;
    if (n || side == BEFORE || before == NONE)
        return n;
    const struct printed_name *input = name_of(p, BEFORE, before);
    if (!input)
        return NULL;
    struct printed_name x = print_relation(p, *input, before, value, &p->c->relation[value]);
    x.value = value;
    x.side = AFTER;
    return add_name(p, x);
}

/* The operand in the element type in which the op reads it: casts between floats are no steps. */
static struct printed_name as_read(struct miter_printer *p, int side, uint32_t value, uint32_t operand,
                                   struct printed_name x) {
    const struct flat *f = &p->c->side[side];
    uint32_t rank;
    const int64_t *dims = dims_of(p, side, value, &rank);
    struct str type = shape_and_type(p, dims, rank, graph_dtype(f->g, operand));
    return str_eq(type, x.type) ? x : print_unary(p, "ttir.typecast", x, STR(""), type);
}

static bool print_operands(struct miter_printer *p, int side, uint32_t step, struct printed_name *names, uint32_t *n) {
    const struct flat *f = &p->c->side[side];
    const struct flat_step *s = &f->steps[step];
    *n = 0;
    for (uint32_t i = 0; i < s->noperands; i++) {
        uint32_t v = flat_operands(f, step)[i];
        const struct printed_name *x = v == NONE ? NULL : operand_name(p, side, v);
        if (v == NONE)
            continue;
        if (*n == MAX_REGION_INPUTS || !x) {
            p->why = STR("too many operands");
            return false;
        }
        names[*n] = p->how.in_own_types ? as_read(p, side, v, graph_operands(f->g, s->op)[i], *x) : *x;
        ++*n;
    }
    if (flat_kind(f, step) == K_FILL_CACHE && *n == 2)
        names[1] = pad_to_tile(p, side, flat_operands(f, step)[0], names[1], flat_operands(f, step)[1]);
    return true;
}

static void print_results(struct miter_printer *p, int side, const struct flat_step *s, uint32_t number) {
    buf_add(&p->out, s->nresults == 1 ? STR(") -> ") : STR(") -> ("));
    for (uint32_t i = 0; i < s->nresults; i++) {
        struct str type = type_of(p, side, s->first_result + i);
        struct printed_name y = {type, s->first_result + i, number, i, (uint8_t)side, s->nresults > 1};
        buf_printf(&p->out, "%s%.*s", i ? ", " : "", (int)y.type.n, y.type.p);
        add_name(p, y);
    }
    buf_add(&p->out, s->nresults == 1 ? STR("\n") : STR(")\n"));
}

static void print_gelu(struct miter_printer *p, int side, uint32_t result, struct printed_name y) {
    uint32_t rank;
    dims_of(p, side, result, &rank);
    y.type = type_of(p, side, result);
    print_tanh_gelu(p, &y, rank);
    y.value = result;
    y.side = (uint8_t)side;
    add_name(p, y);
}

static void print_step(struct miter_printer *p, int side, uint32_t step) {
    const struct flat *f = &p->c->side[side];
    const struct flat_step *s = &f->steps[step];
    struct printed_name names[MAX_REGION_INPUTS];
    struct str name = mlir_op_name(f->g->m, s->op);
    uint32_t n;
    if (!print_operands(p, side, step, names, &n))
        return;
    bool gelu = flat_kind(f, step) == K_GELU && n == 1, had = p->has_gelu;
    if (gelu && p->how.tanh_gelu) {
        print_gelu(p, side, s->first_result, names[0]);
        return;
    }
    uint32_t number = p->number++;
    p->has_gelu = gelu;
    if (s->nresults)
        buf_printf(&p->out, s->nresults > 1 ? "  %%%u:%u = " : "  %%%u = ", number, s->nresults);
    buf_printf(&p->out, "\"%.*s\"(", (int)name.n, name.p);
    for (uint32_t i = 0; i < n; i++) {
        buf_add(&p->out, i ? STR(", ") : STR(""));
        print_name(p, &names[i]);
    }
    buf_addc(&p->out, ')');
    print_attributes(p, f->g, s->op);
    buf_add(&p->out, STR(" : ("));
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&p->out, "%s%.*s", i ? ", " : "", (int)names[i].type.n, names[i].type.p);
    print_results(p, side, s, number);
    if (p->has_gelu && p->how.tanh_gelu && p->nnames > 0) /* an activation */
        print_gelu(p, side, s->first_result, p->names[p->nnames - 1]);
    p->has_gelu |= had;
}

/* Constants are printed, others are arguments. */
static void print_inputs(struct miter_printer *p) {
    const struct flat *f = &p->c->side[BEFORE];
    const char *between = "";
    buf_add(&p->out, STR("func.func @region("));
    for (uint32_t i = 0; i < p->r->ninputs; i++) {
        uint32_t v = p->r->inputs[i], step = f->values[v].step;
        if (step != NONE && op_generates(flat_kind(f, step)))
            continue;
        struct printed_name x = {type_of(p, BEFORE, v), v, p->number++, 0, BEFORE, false};
        buf_printf(&p->out, "%s%%%u: %.*s", between, x.number, (int)x.type.n, x.type.p);
        add_name(p, x);
        between = ", ";
    }
    buf_add(&p->out, STR(") {\n"));
    for (uint32_t i = 0; i < p->r->ninputs; i++) {
        uint32_t step = f->values[p->r->inputs[i]].step;
        if (step != NONE && op_generates(flat_kind(f, step)))
            print_step(p, BEFORE, step);
    }
}

static void print_result(struct miter_printer *p) {
    const struct cut_region *r = p->r;
    const struct printed_name *b = name_of(p, BEFORE, r->before), *a = operand_name(p, AFTER, r->after);
    if (!b || !a) {
        p->why = STR("a result that no op makes");
        return;
    }
    struct printed_name x = print_relation(p, *b, r->before, r->after, &r->relation), y = *a;
    /* results are those of ops */
    x = print_unary(p, "ttir.typecast", x, STR(""), x.type);
    y = print_unary(p, "ttir.typecast", y, STR(""), y.type);
    buf_printf(&p->out, "  return %%%u, %%%u : %.*s, %.*s\n}\n", x.number, y.number, (int)x.type.n, x.type.p,
               (int)y.type.n, y.type.p);
}

bool miter_print(const struct cut_region *r, const struct cuts *c, struct miter_options how, struct arena *a,
                 struct miter *out, struct str *why) {
    struct miter_printer *p = arena_alloc(a, sizeof *p);
    p->r = r;
    p->c = c;
    p->a = a;
    p->how = how;
    print_inputs(p);
    for (int side = 0; side < SIDES_OF_CUT; side++)
        for (uint32_t i = 0; i < r->nsteps[side] && !p->why.n; i++)
            print_step(p, side, r->steps[side][i]);
    if (!p->why.n)
        print_result(p);
    out->has_gelu = p->has_gelu;
    out->text = buf_take(&p->out, a);
    *why = p->why;
    return p->why.n == 0;
}
