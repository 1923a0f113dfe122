#include "ir/pair/signature.h"

#include <math.h>
#include <stdlib.h>

#include "ir/graph/functions.h"
#include "ir/graph/index.h"
#include "ir/graph/mesh.h"
#include "ir/ops/scalar.h"

enum {
    MAX_DEPTH = 8,          /* calls inside of each other */
    MAX_NUMBERS = 256,      /* of a constant: the first ones tell weights apart */
    MAX_STEPS = 64,         /* ops that only move data, one after the other */
    MAX_PART_DEPTH = 4,     /* elementwise ops between a slice and what it takes apart: a bias, an activation */
    CALLED_STEPS = 1 << 18, /* ops of functions that are called again and again */
};

/* Numbers in TTNN are folded and printed in the format of the device's. */
#define TOLERANCE 1e-6

/* ---- numbers ----
 *
 * Where one element says nothing of what an op does, its function is made up. It has to be smooth, so that the errors
 * of TOLERANCE stay small; of the size of its operand, so that the numbers of a deep model neither vanish nor grow; and
 * different for different extents and from the operand itself, so that no op is taken for none. Factors and summands
 * are otherwise arbitrary. */

/* In [0, 1). */
static double random_of(uint64_t a, uint64_t b) {
    uint64_t h = (a + 1) * 0x9E3779B97F4A7C15ull ^ (b + 1) * 0xC2B2AE3D27D4EB4Full;
    h = (h ^ h >> 31) * 0xBF58476D1CE4E5B9ull;
    h = (h ^ h >> 29) * 0x94D049BB133111EBull;
    return (double)((h ^ h >> 32) >> 11) * 0x1p-53;
}

/* An infinity, or what stands for one in a mask, must not hide what it is added to: beyond what activations are, a
 * number becomes one from 16 to 48 that its exponent tells. */
static double bounded(double x) {
    return fabs(x) > 1e6 ? copysign(10 + log10(fmin(fabs(x), 1e38)), x) : x;
}
static bool stands_for_infinity(double x) { /* it was 1e30 or more */
    return fabs(x) > 40;
}

static double exponential(double x) { /* softmax without a maximum overflows only where the device's does */
    return exp(x > 50 ? 50 + sin(x) : x);
}
static double mean_of(double x, double n) { /* positive where x is: a root of it is taken */
    return n > 1 ? x * (0.8 + 0.1 * sin(1.3 * log1p(fabs(x)) + n)) + 0.15 : x;
}
static double max_of(double x, double n) {
    return n > 1 ? x + 0.2 + 0.1 * sin(x + n) : x;
}
static double larger(double a, double b) { /* relu(x) of a positive x is not x */
    return 0.5 * (a + b + sqrt((a - b) * (a - b) + 1));
}
static double smaller(double a, double b) {
    return -larger(-a, -b);
}
static double at_least(double a, double b) { /* the 0.1 is what tells >= from > */
    return 1 / (1 + exp(b - a - 0.1));
}
static double softmax_of(double x, double n) {
    double e = exponential(x - max_of(x, n));
    return e / (n * mean_of(e, n));
}
/* Contracting one dimension of n: of 1, a product is a multiplication. Never 0. */
static double weight_of_sum(double n) {
    return n > 1 ? 0.7 + 0.3 * sin(n) : 1;
}

/* ---- ops ---- */

/* Whether a device has the same elements behind a mesh_shard as before it: one that cuts nothing up only says of which
 * shape the whole is. */
static bool shards_alike(const struct graph *g, uint32_t op) {
    struct placement p;
    return mesh_placement(g, op, &p) && (p.in_place || placement_cuts_nothing(&p));
}

static bool moves(const struct graph *g, uint32_t op) {
    return (class_moves(graph_class(g, op)) || graph_op_is(g, op, REARRANGES | PREPARES) || shards_alike(g, op)) &&
           graph_noperands(g, op) > 0;
}

/* Number k of the signature of an op's result: what is computed below, from the same number of its operands. */
struct component {
    const struct signatures *s;
    uint32_t op, result;
    int k;
    /* signature_of_op sets the next two, for all numbers: */
    double weight; /* of a product, see weight_of_product */
    bool plain;    /* nothing is folded into it (graph_plain) */
};

static uint32_t operand(const struct component *l, uint32_t i) {
    return i < graph_noperands(l->s->g, l->op) ? graph_operands(l->s->g, l->op)[i] : NONE;
}
static double in(const struct component *l, uint32_t i) {
    uint32_t v = operand(l, i);
    return v == NONE ? NAN : l->s->of[v].x[l->k];
}
static double in_or(const struct component *l, uint32_t i, double otherwise) {
    return operand(l, i) == NONE ? otherwise : in(l, i);
}
static double attribute(const struct component *l, const char *key, double otherwise) {
    return attrs_number(graph_attributes(l->s->g, l->op), key, otherwise);
}
static enum op_kind kind_of(const struct component *l) {
    return (enum op_kind)l->s->g->kind[l->op];
}
static double numel(const struct component *l, uint32_t v) {
    return v == NONE ? 1 : (double)graph_numel(l->s->g, v);
}
/* Extent of a dimension of a value; negative ones are counted from the end. */
static double extent_of(const struct graph *g, uint32_t v, int64_t d) {
    uint32_t rank = 0;
    const int64_t *shape = v == NONE ? NULL : graph_shape(g, v, &rank);
    d += d < 0 ? rank : 0;
    return shape && d >= 0 && d < rank ? (double)shape[d] : 1;
}
static double extent(const struct component *l, uint32_t i, int64_t d) {
    return extent_of(l->s->g, operand(l, i), d);
}

/* A fixed function of the operands, smooth and bounded: of the op, of which result it is, of how much larger that is
 * than the operand, and of each operand by its place. */
static double oracle(const struct component *l, double more) {
    enum op_kind k = kind_of(l);
    double sum = more + 10 * random_of(k == NO_OPERATOR ? str_hash(mlir_op_name(l->s->g->m, l->op)) : k, l->result);
    sum += 7 * numel(l, l->s->g->m->ops[l->op].first_result) / numel(l, operand(l, 0));
    for (uint32_t i = 0; i < graph_noperands(l->s->g, l->op); i++)
        if (operand(l, i) != NONE)
            sum += sin(10 * random_of(k, i) + (1 + random_of(i, k)) * in(l, i));
    return sin(sum);
}

static double elementwise_of(const struct component *l, double a, double b) {
    unary_function *f = unary_of(kind_of(l));
    binary_function *g = binary_of(kind_of(l));
    if (!isfinite(a) || (g && !isfinite(b)))
        return NAN;
    if (op_is(kind_of(l), WRAPS) && fmax(fabs(a), g ? fabs(b) : 0) > 1e15) /* no integers */
        return oracle(l, 0);
    double y = f ? f(a) : g ? g(a, b) : NAN;
    if (f && !isfinite(y)) /* a root, a logarithm */
        y = f(fabs(a));
    /* as floor and sign are around here: nothing would tell the operand */
    bool flat = f ? y == f(a + 1e-3) : g && y == g(a + 1e-3, b + 2e-3);
    return isfinite(y) && !flat ? y : oracle(l, 0);
}

static double activated(const struct component *l, double x) {
    if (l->plain)
        return x;
    for (const char *const *key = activation_keys; *key; key++) {
        const struct attr *a = attrs_find(graph_attributes(l->s->g, l->op), *key);
        struct str name = a ? activation_name(*key, a->text) : STR("");
        enum op_kind k = name.n ? op_kind_of_name(name) : NO_OPERATOR;
        unary_function *f = activation_of(name);
        if (k == K_RELU || k == K_RELU6)
            return k == K_RELU ? larger(x, 0) : smaller(larger(x, 0), 6);
        if (name.n)
            return f ? f(x) : NAN;
    }
    return x;
}

static double weight_of_product(const struct component *l) {
    struct contraction c;
    double n = 1;
    if (contraction_of(l->s->g, l->op, &c))
        for (uint32_t i = 0; i < c.nsummed; i++)
            n *= extent(l, 0, c.a_summed[i]);
    return weight_of_sum(n);
}

static double product(const struct component *l) {
    return activated(l, in(l, 0) * in(l, 1) * l->weight + in_or(l, 2, 0));
}

static double convolution(const struct component *l) { /* 0.9: it is no product */
    return activated(l, 0.9 * in(l, 0) * in(l, 1) + in_or(l, 2, 0));
}

/* What is added up over devices, whether each keeps a part of it, all of it, or gathers it first. */
static double over_devices(double x) {
    return sin(x + 4) + x;
}

/* The operand is what so many devices have. */
static bool is_gathered(const struct component *l, double devices) {
    const struct graph *g = l->s->g;
    uint32_t op = g->m->values[operand(l, 0)].def;
    return op != NONE && g->kind[op] == K_ALL_GATHER &&
           numel(l, g->m->ops[op].first_result) == devices * numel(l, graph_operands(g, op)[0]);
}

static double reduction(const struct component *l) {
    double x = in(l, 0), n = numel(l, operand(l, 0)) / numel(l, l->s->g->m->ops[l->op].first_result);
    if (kind_of(l) == K_SUM && n > 1 && is_gathered(l, n))
        return over_devices(x);
    switch (kind_of(l)) {
    case K_MEAN:
        return mean_of(x, n);
    case K_MAX:
        return max_of(x, n);
    case K_MIN:
        return -max_of(-x, n);
    default: /* what is true somewhere is lowered to a sum */
        return n * mean_of(x, n);
    }
}

static double softmax(const struct component *l) {
    const struct attr *axis = graph_axes(l->s->g, l->op);
    double n = extent(l, 0, axis && axis->is_whole ? axis->whole : -1), e = exponential(in(l, 0));
    if (attribute(l, "numericStable", 1) == 0)
        return e / (n * mean_of(e, n));
    return softmax_of(in(l, 0), n);
}

static double norm(const struct component *l) {
    const struct attr *normalized = attrs_find(graph_attributes(l->s->g, l->op), "normalized_shape");
    int dims = normalized ? normalized->n : 1;
    double x = in(l, 0), n = extent(l, 0, -1);
    for (int d = 2; d <= dims; d++)
        n *= extent(l, 0, -d);
    if (kind_of(l) == K_LAYER_NORM)
        x -= mean_of(x, n);
    return x / sqrt(mean_of(x * x, n) + attribute(l, "epsilon", 1e-5)) * in_or(l, 1, 1) + in_or(l, 2, 0);
}

/* x, weight and, behind the bias of a layer_norm, the residual that is added to x. 0.9: the norm is of all devices'
 * rows. */
static double distributed_norm(const struct component *l) {
    bool layer = kind_of(l) == K_DISTRIBUTED_LAYER_NORM;
    double n = extent(l, 0, -1), x = in(l, 0) + in_or(l, layer ? 3 : 2, 0);
    if (layer)
        x -= mean_of(x, n);
    return 0.9 * x / sqrt(mean_of(x * x, n) + attribute(l, "epsilon", 1e-5)) * in_or(l, 1, 1) +
           (layer ? in_or(l, 2, 0) : 0);
}

/* Operands behind the first say how. */
static double collective(const struct component *l) {
    return over_devices(in(l, 0));
}

/* x, scale, offset, mean, variance; in TTNN x, mean, variance, scale, offset. */
static double batch_norm(const struct component *l) {
    static const uint8_t order[2][4] = {{3, 4, 1, 2}, {1, 2, 3, 4}};
    const uint8_t *at = order[graph_is_ttnn(l->s->g, l->op)];
    double x = (in(l, 0) - in(l, at[0])) / sqrt(fabs(in(l, at[1]) + attribute(l, "epsilon", 1e-5)));
    return x * in_or(l, at[2], 1) + in_or(l, at[3], 0);
}

static double attention(const struct component *l) {
    double d = extent(l, 0, -1), n = extent(l, 1, -2);
    double scores = in(l, 0) * in(l, 1) * weight_of_sum(d) * attribute(l, "scale", 1 / sqrt(d)) + in_or(l, 3, 0);
    return softmax_of(scores, n) * in(l, 2) * weight_of_sum(n);
}

/* Nothing is infinite: a guard of rows that a mask leaves empty is what it guards. */
static double equality(double x, double y) {
    return stands_for_infinity(x) != stands_for_infinity(y) ? 0 : 1 / (1 + (x - y) * (x - y));
}
static double truth(double x) {
    return fmin(fmax(x, 0), 1);
}

static double elementwise(const struct component *l) {
    double x = in(l, 0), y = in_or(l, 1, 0), z;
    switch (kind_of(l)) {
    case K_MAXIMUM:
        return larger(x, y);
    case K_MINIMUM:
        return smaller(x, y);
    case K_RELU:
        return larger(x, 0);
    case K_RELU6:
        return smaller(larger(x, 0), 6);
    case K_HARDSIGMOID:
        return smaller(larger(x + 3, 0), 6) / 6;
    case K_CLAMP:
        return smaller(larger(x, in_or(l, 1, attribute(l, "min", -INFINITY))),
                       in_or(l, 2, attribute(l, "max", INFINITY)));
    case K_GE:
        return at_least(x, y);
    case K_LT:
        return 1 - at_least(x, y);
    case K_LE:
        return at_least(y, x);
    case K_GT:
        return 1 - at_least(y, x);
    case K_EQ:
        return equality(x, y);
    case K_NE:
        return 1 - equality(x, y);
    case K_LOGICAL_NOT:
        return 1 - truth(x);
    case K_LOGICAL_AND:
        return x * y;
    case K_LOGICAL_OR:
        return x + y - x * y;
    case K_EXP:
        return exponential(x);
    case K_POW:
        z = pow(x, in_or(l, 1, attribute(l, "rhs", NAN)));
        return isfinite(z) ? z : oracle(l, 0);
    case K_WHERE:
        return truth(x) * y + (1 - truth(x)) * in(l, 2);
    default:
        return elementwise_of(l, x, in(l, 1));
    }
}

/* What is not one number all over: the first ones in it, whatever their format. */
static double constant(const struct component *l) {
    double numbers[MAX_NUMBERS], sum = 0;
    const struct attr *value = attrs_find(graph_attributes(l->s->g, l->op), "value");
    int64_t n = value ? mlir_numbers(value->text, numbers, MAX_NUMBERS) : -1;
    for (int64_t i = 0; i < n && i < MAX_NUMBERS; i++)
        sum += sin(10 * random_of((uint64_t)i, (uint64_t)l->k) + numbers[i]);
    return n < 0 ? NAN : sin(sum + (double)n);
}

/* ---- parts ---- */

uint32_t signature_source(const struct graph *g, uint32_t v) {
    for (int step = 0; step < MAX_STEPS; step++) {
        uint32_t op = g->m->values[v].def;
        if (op == NONE || !moves(g, op))
            break;
        v = graph_operands(g, op)[0];
    }
    return v;
}

/* Notes the signatures of operands that are joined: a slice may take one out again. */
static void note_parts(struct signatures *s, uint32_t op, struct signature *i) {
    const struct attr *axis = graph_axes(s->g, op);
    struct component l = {.s = s, .op = op};
    if (!axis || !axis->is_whole)
        return;
    i->parts = ++s->nparts;
    for (uint32_t k = 0; k <= graph_noperands(s->g, op); k++) { /* one of no extent ends the list */
        s->parts = grow(s->parts, &s->parts_cap, s->nparts + 1, sizeof *s->parts);
        uint32_t v = operand(&l, k);
        s->parts[s->nparts++] = (struct signature_part){v == NONE ? (struct signature){{NAN}, 0} : s->of[v],
                                                        v == NONE ? 0 : extent(&l, k, axis->whole)};
    }
}

/* What a slice takes of a value along one dimension. */
struct cut {
    double begin, end, whole; /* whole: the extent of the dimension */
    int64_t dimension;        /* counted from the end: -1 is the last one */
};

/* The part that a cut takes of an operand whose parts are joined along the dimension; NULL: no such part. */
static const struct signature *joined_part(const struct component *l, uint32_t slot, const struct cut *c) {
    const struct signatures *s = l->s;
    const struct signature *found = NULL;
    uint32_t v = operand(l, slot), parts = v == NONE ? 0 : s->of[v].parts;
    double at = 0;
    for (const struct signature_part *p = parts ? s->parts + parts : NULL; p && p->extent > 0; at += p->extent, p++)
        found = at == c->begin && at + p->extent == c->end ? &p->signature : found;
    return at == c->whole ? found : NULL;
}

/* Of a product with weights side by side, the product with one of them. */
static double part_of_product(const struct component *of, const struct cut *c) {
    const struct signature *weight = joined_part(of, 1, c), *bias = joined_part(of, 2, c);
    if (!weight || !bias != (operand(of, 2) == NONE) || !graph_plain(of->s->g, of->op) || c->dimension != -1)
        return NAN;
    return in(of, 0) * weight->x[of->k] * weight_of_product(of) + (bias ? bias->x[of->k] : 0);
}

/* The part of an operand, also where it is what elementwise ops make of such parts; NaN: none. */
static double part_of(const struct component *l, uint32_t slot, const struct cut *c, int depth) {
    const struct signature *part = joined_part(l, slot, c);
    uint32_t v = operand(l, slot), op = v == NONE ? NONE : l->s->g->m->values[signature_source(l->s->g, v)].def;
    struct component of = {.s = l->s, .op = op, .k = l->k};
    double in_part[2] = {NAN, NAN};
    if (part || op == NONE || depth == 0)
        return part ? part->x[l->k] : NAN;
    if (graph_class(of.s->g, op) == OP_CONTRACT)
        return part_of_product(&of, c);
    if (graph_class(of.s->g, op) != OP_ELTWISE || graph_noperands(of.s->g, op) > 2 ||
        extent_of(of.s->g, of.s->g->m->ops[op].first_result, c->dimension) != c->whole)
        return NAN;
    for (uint32_t i = 0; i < graph_noperands(of.s->g, op); i++)
        in_part[i] = extent(&of, i, c->dimension) == 1 ? in(&of, i) : part_of(&of, i, c, depth - 1);
    return elementwise_of(&of, in_part[0], in_part[1]);
}

static double slice(const struct component *l) {
    struct slice_bounds b;
    double where = 0, y = NAN;
    if (!slice_bounds(l->s->g, l->op, &b))
        return oracle(l, 0);
    if (b.ncut == 0)
        return in(l, 0);
    for (uint32_t d = 0; d < b.rank; d++)
        if (b.cut[d]) {
            double whole = extent(l, 0, d);
            where += sin(3 * (double)b.begin[d] / whole + 5 * (double)b.end[d] / whole) + (double)b.step[d];
            if (b.ncut > 1 || b.step[d] != 1)
                continue;
            struct cut c = {(double)b.begin[d], (double)b.end[d], whole, (int64_t)d - b.rank};
            y = part_of(l, 0, &c, MAX_PART_DEPTH);
        }
    return isnan(y) ? oracle(l, where) : y;
}

/* Columns of queries, keys and values are side by side, those of the last two perhaps in an operand of their own. */
static double heads(const struct component *l) {
    uint32_t first = l->s->g->m->ops[l->op].first_result, from = operand(l, 1) == NONE ? 0 : 1;
    uint32_t slot = l->result > 0 ? from : 0, begin = l->result > 0 ? from : 0;
    double whole = extent(l, slot, -1), rows = numel(l, operand(l, slot)) / whole;
    struct cut c = {0, numel(l, first + l->result) / rows, whole, -1};
    for (uint32_t r = begin; r < l->result; r++)
        c.begin += numel(l, first + r) / rows;
    c.end += c.begin;
    double y = part_of(l, slot, &c, MAX_PART_DEPTH);
    return isnan(y) ? oracle(l, 0) : y;
}

/* ---- all values ---- */

typedef double signature_function(const struct component *l);

static signature_function *const of_class[OP_STRUCTURE + 1] = {
    [OP_CONTRACT] = product, [OP_ELTWISE] = elementwise, [OP_SLICE] = slice};
static signature_function *const of_kind[OPERATORS] = {
    [K_SUM] = reduction,
    [K_MEAN] = reduction,
    [K_MAX] = reduction,
    [K_MIN] = reduction,
    [K_REDUCE_OR] = reduction,
    [K_SOFTMAX] = softmax,
    [K_LAYER_NORM] = norm,
    [K_RMS_NORM] = norm,
    [K_BATCH_NORM_INFERENCE] = batch_norm,
    [K_DISTRIBUTED_RMS_NORM] = distributed_norm,
    [K_DISTRIBUTED_LAYER_NORM] = distributed_norm,
    [K_ALL_REDUCE] = collective,
    [K_ALL_REDUCE_ASYNC] = collective,
    [K_REDUCE_SCATTER] = collective,
    [K_SDPA] = attention,
    [K_SDPA_DECODE] = attention,
    [K_CONSTANT] = constant,
    [K_SPLIT_QUERY_KEY_VALUE_AND_SPLIT_HEADS] = heads,
    [K_NLP_CREATE_QKV_HEADS_DECODE] = heads,
};

bool signature_is_made(const struct graph *g, uint32_t op) {
    enum op_class c = graph_class(g, op);
    return !moves(g, op) && c != OP_STRUCTURE && c != OP_RETURN && c != OP_NO_USE && c != OP_CALL && c != OP_CONSTANT &&
           g->m->ops[op].nresults > 0 && graph_is_audited(g, op);
}

void signature_of_op(const struct signatures *s, uint32_t op, uint32_t result, struct signature *i) {
    struct component l = {.s = s, .op = op, .result = result};
    enum op_kind k = (enum op_kind)s->g->kind[op];
    signature_function *f = of_kind[k] ? of_kind[k] : op_convolves(k) ? convolution : of_class[op_table[k].class];
    bool known = true;
    i->parts = 0;
    l.weight = f == product ? weight_of_product(&l) : 1;
    l.plain = graph_plain(s->g, op);
    for (; l.k < SIGNATURE_NUMBERS; l.k++) {
        i->x[l.k] = f ? f(&l) : oracle(&l, 0);
        known &= isfinite(i->x[l.k]);
    }
    if (!known)
        i->x[0] = NAN;
}

/* Arguments of a function that nobody calls. */
static void look_at_arguments(struct signatures *s, uint32_t f) {
    const struct mlir *m = s->g->m;
    uint64_t number = 0;
    for (uint32_t v = m->funcs[f].first_arg; v < m->funcs[f].first_arg + m->funcs[f].nargs; v++) {
        if (!is_model_argument(s->g, v))
            continue;
        for (uint64_t k = 0; k < SIGNATURE_NUMBERS; k++) {
            uint64_t of = (uint64_t)graph_numel(s->g, v) << 16 ^ (s->numbers ? s->numbers[v] : number);
            double r = random_of(s->identity[f] * 3ull + k, of);
            s->of[v].x[k] = r < 0.5 ? r - 1.3 : r + 0.3; /* from 0.8 to 1.3 on either side of 0: products keep size */
        }
        number++;
    }
}

static void look_at_function(struct signatures *s, uint32_t f, int depth);

/* The function called sees what it is called with: others may call it with other values. */
static void look_at_call(struct signatures *s, uint32_t op, int depth) {
    const struct graph *g = s->g;
    uint32_t f = g->m->ops[op].callee == NONE ? NONE : mlir_find_func(g->m, g->m->ops[op].callee);
    uint32_t end = f == NONE ? NONE : g->return_op[f], n = graph_noperands(g, op);
    if (end == NONE || n != g->m->funcs[f].nargs || depth == 0)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (graph_operands(g, op)[i] != NONE)
            s->of[g->m->funcs[f].first_arg + i] = s->of[graph_operands(g, op)[i]];
    look_at_function(s, f, depth - 1);
    for (uint32_t i = 0; i < g->m->ops[op].nresults && i < graph_noperands(g, end); i++)
        if (graph_operands(g, end)[i] != NONE && !s->settled[g->m->ops[op].first_result + i])
            s->of[g->m->ops[op].first_result + i] = s->of[graph_operands(g, end)[i]];
}

static void look_at_op(struct signatures *s, uint32_t op, int depth) {
    const struct graph *g = s->g;
    uint32_t v = g->m->ops[op].first_result, first;
    struct constant c = graph_constant(g, v);
    s->steps++;
    if (graph_class(g, op) == OP_CALL)
        look_at_call(s, op, depth);
    else if (c.known)
        s->of[v] = (struct signature){{bounded(c.value), bounded(c.value), bounded(c.value)}, 0};
    else if (moves(g, op))
        s->of[v] = s->of[graph_operands(g, op)[0]];
    else
        for (uint32_t i = 0; i < g->m->ops[op].nresults; i++) {
            struct signature *of = &s->of[v + i];
            if (s->settled[v + i])
                continue;
            signature_of_op(s, op, i, of);
            if (g->kind[op] == K_CONCAT && signature_known(of))
                note_parts(s, op, of);
            if (s->known && signature_is_made(g, op) && signature_find(s->known, of, 1, &first))
                memcpy(of->x, s->known->signatures->of[s->known->values[first]].x, sizeof of->x);
        }
}

static void look_at_function(struct signatures *s, uint32_t f, int depth) {
    const struct mlir *m = s->g->m;
    for (uint32_t op = m->funcs[f].first_op; op < m->funcs[f].end_op && s->steps < s->most_steps; op++)
        if (m->ops[op].nresults)
            look_at_op(s, op, depth);
}

void signatures_begin(struct signatures *s, const struct graph *g, const uint32_t *identity, const uint32_t *numbers,
                      const struct signature_index *known) {
    *s = (struct signatures){.g = g, .identity = identity, .numbers = numbers, .known = known};
    s->of = xrealloc(NULL, (g->m->nvalues + (size_t)1) * sizeof *s->of);
    s->settled = xcalloc(g->m->nvalues + (size_t)1, 1);
    for (uint32_t v = 0; v < g->m->nvalues; v++)
        s->of[v] = (struct signature){{NAN}, 0};
}

void signatures_look(struct signatures *s) {
    const struct graph *g = s->g;
    s->steps = 0;
    s->most_steps = CALLED_STEPS + 4ull * g->m->nops;
    for (uint32_t f = 0; f < g->m->nfuncs; f++)
        if (g->func_kind[f] == FUNC_MAIN && g->call_site[f] == NONE) {
            look_at_arguments(s, f);
            look_at_function(s, f, MAX_DEPTH);
        }
}

void signatures_free(struct signatures *s) {
    free(s->of);
    free(s->parts);
    free(s->settled);
}

/* ---- values by signature ---- */

bool signature_equal(const struct signature *a, const struct signature *b) {
    for (int k = 0; k < SIGNATURE_NUMBERS; k++)
        if (!(fabs(a->x[k] - b->x[k]) <= TOLERANCE * (fabs(a->x[k]) + fabs(b->x[k]))))
            return false;
    return true;
}

uint32_t signature_find(const struct signature_index *x, const struct signature *i, uint32_t most, uint32_t *first) {
    uint32_t lo = 0, hi = signature_known(i) ? x->n : 0, n = 0;
    const struct signature *of = x->signatures->of;
    double least = i->x[0] - 3 * TOLERANCE * fabs(i->x[0]);
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (of[x->values[mid]].x[0] < least)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo < x->n && !signature_equal(&of[x->values[lo]], i) &&
           of[x->values[lo]].x[0] <= i->x[0] + 3 * TOLERANCE * fabs(i->x[0]))
        lo++;
    *first = lo;
    while (n < most && lo + n < x->n && signature_equal(&of[x->values[lo + n]], i))
        n++;
    return n;
}

struct keyed {
    double x;
    uint32_t value;
};

static int by_signature(const void *a, const void *b) {
    const struct keyed *p = a, *q = b;
    return p->x < q->x ? -1 : p->x > q->x ? 1 : p->value < q->value ? -1 : p->value > q->value;
}

void signature_index_build(struct signature_index *x, const struct signatures *s) {
    const struct mlir *m = s->g->m;
    struct keyed *all = xrealloc(NULL, (m->nvalues + (size_t)1) * sizeof *all);
    *x = (struct signature_index){.signatures = s};
    for (uint32_t v = 0; v < m->nvalues; v++)
        if (signature_known(&s->of[v]) && (m->values[v].def == NONE || signature_is_made(s->g, m->values[v].def)))
            all[x->n++] = (struct keyed){s->of[v].x[0], v};
    if (x->n)
        qsort(all, x->n, sizeof *all, by_signature);
    x->values = xrealloc(NULL, (x->n + (size_t)1) * sizeof *x->values);
    for (uint32_t i = 0; i < x->n; i++)
        x->values[i] = all[i].value;
    free(all);
}

void signature_index_free(struct signature_index *x) {
    free(x->values);
}
