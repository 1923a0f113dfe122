/* Both cones are copied into one function; between a value of BEFORE and what AFTER has in its place stand the ops that
 * move it there. */
#include "compile/verify/miter.h"

#include "ir/graph/clone.h"
#include "proof/value/tensor.h"

enum { MAX_COPIES = 3 * MAX_CONE_NODES + 2 * MAX_CONE_INPUTS, MAX_DEPTH = 8 /* that is looked for positions */ };

struct miter_builder {
    const struct cone_pair *c;
    const struct dag *d;
    struct arena *a;
    struct mlir *out;
    struct {
        uint32_t value, copy;
    } copies[MAX_COPIES]; /* of values of the dag */
    uint32_t ncopies;
    struct miter_options how;
    bool has_gelu; /* some op is a gelu or has one folded in */
    struct reason why;
};

/* ---- types ---- */

static uint32_t tensor_type(struct miter_builder *b, const int64_t *dims, uint32_t rank, enum dtype t) {
    uint32_t type = build_tensor(b->out, dims, rank, t);
    if (type == NONE)
        b->why.text = STR("an element type that is not known");
    return type == NONE ? build_tensor(b->out, NULL, 0, DT_F32) : type;
}

static const int64_t *dims_of(struct miter_builder *b, uint32_t value, uint32_t *rank) {
    static const int64_t none = 0;
    const int64_t *dims = graph_shape(dag_graph(b->d, value), b->d->values[value].value, rank);
    if (!dims || dag_numel(b->d, value) < 0)
        b->why = (struct reason){STR("a shape that is not static"), REASON_NOT_STATIC};
    if (!dims)
        *rank = 0;
    return dims ? dims : &none;
}

static enum dtype dtype_of(const struct miter_builder *b, uint32_t value) {
    return graph_dtype(dag_graph(b->d, value), b->d->values[value].value);
}

static uint32_t type_of(struct miter_builder *b, uint32_t value, enum dtype t) {
    uint32_t rank;
    const int64_t *dims = dims_of(b, value, &rank);
    return tensor_type(b, dims, rank, t);
}

/* ---- ops of its own ---- */

static struct str list_attribute(struct miter_builder *b, const char *key, const char *like, const int64_t *list,
                                 uint32_t n) {
    struct str text = ints_like(str_of(like), list, n, b->a);
    return arena_printf(b->a, "%s = %.*s", key, (int)text.n, text.p);
}

/* From the copy `x` of a value of BEFORE what AFTER has in its place, moved from there, as a type holds it. */
static uint32_t add_moved(struct miter_builder *b, uint32_t x, uint32_t before, uint32_t after,
                          const struct movement *moved, enum dtype to_type) {
    uint32_t rank, rank_after;
    const int64_t *dims = dims_of(b, before, &rank), *to = dims_of(b, after, &rank_after);
    enum dtype from_type = dtype_of(b, before);
    int64_t permuted[MOVED_RANK], order[MOVED_RANK];
    if (moved->rank && moved->rank == rank) {
        for (uint32_t d = 0; d < rank; d++) {
            order[d] = moved->order[d];
            permuted[d] = dims[order[d]];
        }
        dims = permuted;
        x = build_value(b->out, "ttir.permute", list_attribute(b, "permutation", "array<i64: 0>", order, rank), &x, 1,
                        tensor_type(b, dims, rank, from_type));
    }
    if (rank != rank_after || (rank && memcmp(dims, to, rank * sizeof *dims) != 0))
        x = build_value(b->out, "ttir.reshape", list_attribute(b, "shape", "[0 : i32]", to, rank_after), &x, 1,
                        tensor_type(b, to, rank_after, from_type));
    if (from_type != to_type && (format_is_integer(from_type) || format_is_integer(to_type)))
        x = build_cast(b->out, x, tensor_type(b, to, rank_after, to_type));
    return x;
}

/* Of x; its printed form is that of an activation. */
static uint32_t add_tanh_gelu(struct miter_builder *b, uint32_t x, uint32_t type) {
    return build_value(b->out, "ttnn.unary_chain", STR("activation = \"gelu_tanh\""), &x, 1, type);
}

/* A fill of a cache writes whole tiles: rows of the last one that the input lacks become 0 where the cache has them,
 * as the golden function of tt-mlir's builder has it. A pad, so that it holds in small shapes, too. */
static uint32_t pad_to_tile(struct miter_builder *b, uint32_t cache, uint32_t x, uint32_t input) {
    enum { TILE_ROWS = 32 };
    uint32_t rank, rank_of_cache;
    const int64_t *in = dims_of(b, input, &rank), *to = dims_of(b, cache, &rank_of_cache);
    int64_t more = rank == 4 && rank_of_cache == 4 ? (TILE_ROWS - in[2] % TILE_ROWS) % TILE_ROWS : 0;
    if (more == 0 || in[2] + more > to[2])
        return x;
    const int64_t padded[] = {in[0], in[1], in[2] + more, in[3]};
    return build_value(
        b->out, "ttir.pad",
        arena_printf(b->a, "padding = array<i32: 0, 0, 0, 0, 0, %lld, 0, 0>, value = 0.0 : f32", (long long)more), &x,
        1, tensor_type(b, padded, rank, dtype_of(b, input)));
}

/* ---- copies ---- */

static uint32_t copy_of(const struct miter_builder *b, uint32_t value) {
    for (uint32_t i = b->ncopies; i-- > 0;)
        if (b->copies[i].value == value)
            return b->copies[i].copy;
    return NONE;
}

static void set_copy(struct miter_builder *b, uint32_t value, uint32_t copy) {
    if (b->ncopies == MAX_COPIES) {
        b->why = (struct reason){STR("too many values"), REASON_TOO_MANY};
        return;
    }
    b->copies[b->ncopies].value = value;
    b->copies[b->ncopies++].copy = copy;
}

/* NONE: it is neither an input nor made by the cone. */
static uint32_t copied_operand(struct miter_builder *b, uint32_t value) {
    const struct dag_value *v = &b->d->values[value];
    uint32_t copy = copy_of(b, value), rep = NONE, exact = NONE;
    if (copy == NONE && v->side == AFTER && v->rep != NONE)
        rep = copied_operand(b, v->rep);
    if (copy == NONE && rep == NONE && v->exact != NONE)
        exact = copied_operand(b, v->exact);
    if (copy != NONE || (rep == NONE && exact == NONE))
        return copy;
    copy = rep != NONE ? add_moved(b, rep, v->rep, value, &v->moved, dtype_of(b, value))
                       : build_cast(b->out, exact, type_of(b, value, dtype_of(b, value)));
    set_copy(b, value, copy);
    return copy;
}

/* The operand in the element type in which the op reads it: casts between floats are no nodes. */
static uint32_t as_read(struct miter_builder *b, uint32_t value, enum dtype read, uint32_t copy) {
    uint32_t type = type_of(b, value, read);
    return b->out->values[copy].type == type ? copy : build_cast(b->out, copy, type);
}

/* By role; NONE for what is absent or no tensor. */
static bool copy_operands(struct miter_builder *b, uint32_t node, uint32_t *copies) {
    const struct dag_node *o = &b->d->nodes[node];
    const struct graph *g = b->d->side[o->side].g;
    for (uint32_t i = 0; i < o->noperands; i++) {
        uint32_t v = dag_operands(b->d, node)[i];
        copies[i] = v == NONE ? NONE : copied_operand(b, v);
        if (v != NONE && copies[i] == NONE) {
            b->why.text = STR("an operand that no op makes");
            return false;
        }
        if (v != NONE && b->how.in_own_types)
            copies[i] = as_read(b, v, graph_dtype(g, graph_operands(g, o->op)[i]), copies[i]);
    }
    if (op_table[dag_kind(b->d, node)].shrink == SHRINK_FILLS && o->noperands == 2 && copies[0] != NONE &&
        copies[1] != NONE)
        copies[1] = pad_to_tile(b, dag_operands(b->d, node)[0], copies[1], dag_operands(b->d, node)[1]);
    return true;
}

/* A gelu that is folded in. */
static bool copied_attribute(void *self, uint32_t op, struct str key, struct str *value) {
    struct miter_builder *b = self;
    struct str name;
    (void)op;
    bool gelu = str_is(key, "activation") && mlir_string(*value, &name) && str_is(name, "gelu");
    b->has_gelu |= gelu;
    *value = gelu && b->how.tanh_gelu ? STR("\"gelu_tanh\"") : *value;
    return true;
}

/* It is spelled as an op that is known, and its operands are not those of it. */
static bool is_misread(const struct graph *g, uint32_t op) {
    return g->kind[op] == NO_OPERATOR && op_kind_of_spelling(mlir_op_name(g->m, op)) != NO_OPERATOR;
}

/* A result of AFTER that is known to be what BEFORE has as an input here: where another result of its op is made, it is
 * that input all the same. */
static bool is_cut(const struct miter_builder *b, uint32_t value) {
    const struct dag_value *v = &b->d->values[value];
    uint32_t rep = v->side == AFTER && v->rep != NONE ? copy_of(b, v->rep) : NONE;
    return rep != NONE && b->out->values[rep].def == NONE;
}

static void copy_node(struct miter_builder *b, uint32_t node) {
    const struct dag_node *o = &b->d->nodes[node];
    struct cloner cloner = {b->out, b->d->side[o->side].g, copied_attribute, b};
    uint32_t *operands = arena_alloc(b->a, (o->noperands + (size_t)1) * sizeof *operands);
    uint32_t *types = arena_alloc(b->a, (o->nresults + (size_t)1) * sizeof *types);
    bool gelu = dag_kind(b->d, node) == K_GELU;
    b->has_gelu |= gelu;
    if (!copy_operands(b, node, operands))
        return;
    if (is_misread(cloner.from, o->op)) {
        b->why.text = STR("an op is not understood");
        return;
    }
    for (uint32_t i = 0; i < o->nresults; i++)
        types[i] = type_of(b, o->first_result + i, dtype_of(b, o->first_result + i));
    if (gelu && b->how.tanh_gelu) {
        set_copy(b, o->first_result, add_tanh_gelu(b, operands[0], types[0]));
        return;
    }
    uint32_t copy = clone_op(&cloner, o->op, operands, types, o->nresults);
    for (uint32_t i = 0; i < o->nresults; i++)
        if (o->nresults == 1 || !is_cut(b, o->first_result + i))
            set_copy(b, o->first_result + i, b->out->ops[copy].first_result + i);
}

/* ---- the function ---- */

static bool has_sign(enum dtype t) {
    return format_is_integer(t) && t != DT_INDEX && dtype_table[t].is_signed;
}

/* AFTER has an argument of signed numbers without sign: it is given none below 0. */
static bool loses_sign(const struct miter_builder *b, uint32_t argument) {
    bool loses = false;
    for (uint32_t i = 0; i < b->c->nleaves; i++) {
        uint32_t leaf = b->c->leaves[i];
        loses |= b->d->values[leaf].rep == argument && b->d->values[leaf].node == NONE &&
                 has_sign(dtype_of(b, argument)) && !has_sign(dtype_of(b, leaf));
    }
    return loses;
}

/* Where elements stand is never below 0, whatever type says it, wherever it is moved to and whatever is added. */
static bool is_position(const struct dag *d, uint32_t value, int depth) {
    const struct dag_value *v = &d->values[value];
    if (v->node == NONE || depth == 0)
        return false;
    enum op_kind k = dag_kind(d, v->node);
    enum op_class c = dag_class(d, v->node);
    struct constant number = graph_constant(dag_graph(d, value), v->value);
    bool first = class_moves(c) || c == OP_SLICE;
    bool all = (first || c == OP_JOIN || k == K_ADD || k == K_MULTIPLY) && d->nodes[v->node].noperands > 0;
    for (uint32_t i = 0; i < (first ? 1 : d->nodes[v->node].noperands) && all; i++)
        all = dag_operands(d, v->node)[i] != NONE && is_position(d, dag_operands(d, v->node)[i], depth - 1);
    return all || (op_is(k, SORTS) && v->result == 1) || op_is(k, LOCATES) || (number.known && number.value >= 0);
}

/* Constants are copied, others are arguments, by their names in BEFORE. */
static void add_inputs(struct miter_builder *b) {
    for (uint32_t i = 0; i < b->c->ninputs; i++) {
        uint32_t v = b->c->inputs[i];
        const struct mlir *m = dag_graph(b->d, v)->m;
        struct str name = mlir_span(m, m->values[b->d->values[v].value].name);
        if (dag_is_constant(b->d, v))
            continue;
        set_copy(b, v, build_argument(b->out, name, type_of(b, v, dtype_of(b, v)), STR("")));
    }
    for (uint32_t i = 0; i < b->c->ninputs; i++) { /* ops stand behind all arguments */
        uint32_t v = b->c->inputs[i], argument = copy_of(b, v);
        if (!dag_is_constant(b->d, v) && (loses_sign(b, v) || is_position(b->d, v, MAX_DEPTH)))
            set_copy(b, v, build_value(b->out, "ttir.abs", STR(""), &argument, 1, type_of(b, v, dtype_of(b, v))));
    }
    for (uint32_t i = 0; i < b->c->ninputs; i++)
        if (dag_is_constant(b->d, b->c->inputs[i]) &&
            copy_of(b, b->d->nodes[b->d->values[b->c->inputs[i]].node].first_result) == NONE)
            copy_node(b, b->d->values[b->c->inputs[i]].node);
}

/* A constant that was copied as an input: that of BEFORE may be one that AFTER takes. */
static bool is_copied_constant(const struct miter_builder *b, uint32_t node) {
    uint32_t value = b->d->nodes[node].first_result;
    return b->d->nodes[node].nresults == 1 && dag_is_constant(b->d, value) && copy_of(b, value) != NONE;
}

static void add_return(struct miter_builder *b) {
    const uint32_t *result = b->c->result;
    uint32_t copies[SIDES] = {copy_of(b, result[BEFORE]), copied_operand(b, result[AFTER])};
    if (copies[BEFORE] == NONE || copies[AFTER] == NONE) {
        b->why.text = STR("a result that no op makes");
        return;
    }
    enum dtype type = dtype_of(b, result[b->c->in_own_type ? BEFORE : AFTER]);
    copies[BEFORE] = add_moved(b, copies[BEFORE], result[BEFORE], result[AFTER], &b->c->moved, type);
    for (int side = 0; side < SIDES; side++) /* results are those of ops */
        copies[side] = build_cast(b->out, copies[side], b->out->values[copies[side]].type);
    build_return(b->out, copies, SIDES);
}

bool miter_build(const struct cone_pair *c, const struct dag *d, struct miter_options how, struct miter *out,
                 struct reason *why) {
    struct arena scratch = {0};
    struct miter_builder *b = arena_alloc(&scratch, sizeof *b);
    *b = (struct miter_builder){.c = c, .d = d, .a = &scratch, .out = &out->ir, .how = how};
    build_begin(&out->ir, STR("miter"));
    add_inputs(b);
    for (uint32_t i = 0; i < c->nnodes && !b->why.text.n; i++)
        if (!is_copied_constant(b, c->nodes[i]))
            copy_node(b, c->nodes[i]);
    if (!b->why.text.n)
        add_return(b);
    build_end(&out->ir);
    out->has_gelu = b->has_gelu;
    *why = b->why;
    arena_free(&scratch);
    return why->text.n == 0;
}
