/* An op of numbers takes of each operand the element that its index map says; all else that moves data does, too. Along
 * dimensions in which a value does not vary it has one element here. Functions that run once are followed. */
#include "ir/graph/elements.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ir/graph/index.h"
#include "ir/ops/scalar.h"

enum { MOST_ELEMENTS = 1 << 21, MOST_DEEP = 24, MOST_MADE = 1 << 24 };

/* Of what varies of a value, row-major. */
struct numbers {
    double *x;   /* for the caller to free; NULL: not of constants alone, too many, or not known */
    bool truths; /* all are 0 or 1, which all types hold */
};

/* On one value, which may be made of another one many times. */
struct spent {
    int deep;     /* values inside of each other */
    int64_t made; /* elements */
};

static struct numbers elements(const struct graph *g, uint32_t v, struct spent *spent);

/* ---- what varies ---- */

/* Extents of a value, 1 along dimensions in which it does not vary. False: it has none, or too many elements. */
static bool extents_of(const struct graph *g, uint32_t v, int64_t *extents, uint32_t *rank) {
    const int64_t *shape = graph_shape(g, v, rank);
    if (!shape || *rank > MAX_RANK || graph_numel(g, v) < 1 || graph_numel(g, v) > MOST_ELEMENTS)
        return false;
    for (uint32_t d = 0; d < *rank; d++)
        extents[d] = g->varies[v] >> d & 1 ? shape[d] : 1;
    return true;
}

/* The same elements by another index: from one of a value's shape to one of what varies, or the other way round. */
static bool through_extents(const struct imap *map, const int64_t *from, const int64_t *to, const int64_t *extents,
                            uint32_t rank, struct imap *out) {
    struct axes all, own;
    if (!imap_coordinates(map, from, rank, &all))
        return false;
    axes_clear(&own);
    for (uint32_t d = 0; d < rank; d++)
        if (!axes_add(&own, all.t + axes_begin(&all, d), extents[d] > 1 ? all.end[d] - axes_begin(&all, d) : 0))
            return false;
    return imap_of_coordinates(&own, to, rank, out);
}

static int64_t count_of(const int64_t *extents, uint32_t rank) {
    int64_t n = 1;
    for (uint32_t d = 0; d < rank; d++)
        n *= extents[d];
    return n;
}

/* From what varies of a value to its elements, or, `back`, from a map to its elements to what varies. */
static bool varying_map(const struct graph *g, uint32_t v, bool back, const struct imap *map, struct imap *out) {
    int64_t extents[MAX_RANK];
    uint32_t rank;
    struct imap own;
    if (!extents_of(g, v, extents, &rank))
        return false;
    const int64_t *shape = graph_shape(g, v, &rank);
    imap_identity(&own, 0, count_of(extents, rank));
    return back ? through_extents(map, shape, extents, extents, rank, out)
                : through_extents(&own, extents, shape, extents, rank, out);
}

/* ---- elements ---- */

/* An operand's elements where those of a result are. */
struct gathered {
    struct numbers of;
    struct imap map;
};

static bool gather(const struct graph *g, uint32_t from, const struct imap *map, struct spent *spent,
                   struct gathered *out) {
    if (!varying_map(g, from, true, map, &out->map))
        return false;
    out->of = elements(g, from, spent);
    return out->of.x != NULL;
}

/* How many elements from each multiple of that number on are `stride` apart. */
static int64_t run_of(const struct imap *map, int64_t n, int64_t *stride) {
    int64_t run = n;
    *stride = 0;
    for (uint32_t k = 0; k < map->n; k++)
        if (map->t[k].lo == 1) {
            *stride = map->t[k].stride;
            return map->t[k].size < n ? map->t[k].size : n;
        } else if (map->t[k].lo < run) {
            run = map->t[k].lo;
        }
    return run;
}

/* Of each result's element what a function makes of the operands' ones; neither: the operand's one itself. */
static double *apply(const struct gathered *of, unary_function *one, binary_function *two, int64_t n) {
    double *out = xrealloc(NULL, (size_t)n * sizeof *out);
    const struct gathered *a = &of[0], *b = &of[two ? 1 : 0];
    int64_t sa, sb, ra = run_of(&a->map, n, &sa), rb = run_of(&b->map, n, &sb), run = ra < rb ? ra : rb;
    run = ra % run == 0 && rb % run == 0 ? run : 1;
    for (int64_t i = 0, end; i < n; i = end) {
        const double *x = a->of.x + imap_at(&a->map, i), *y = b->of.x + imap_at(&b->map, i);
        end = run < n - i ? i + run : n;
        for (int64_t k = i; two && k < end; k++, x += sa, y += sb)
            out[k] = two(*x, *y);
        for (int64_t k = i; !two && k < end; k++, x += sa)
            out[k] = one ? one(*x) : *x;
    }
    return out;
}

static struct numbers computed(const struct graph *g, uint32_t op, uint32_t v, const struct imap *all, int64_t n,
                               struct spent *spent) {
    unary_function *one = unary_of((enum op_kind)g->kind[op]);
    binary_function *two = binary_of((enum op_kind)g->kind[op]);
    uint32_t count = graph_noperands(g, op);
    struct gathered of[2] = {{.of.x = NULL}, {.of.x = NULL}};
    struct imap map;
    bool known = graph_plain(g, op) && ((one && count == 1) || (two && count == 2));
    for (uint32_t k = 0; k < count && known; k++) {
        uint32_t from = graph_operands(g, op)[k];
        known = from != NONE && imap_operand(g, v, from, all, &map) && gather(g, from, &map, spent, &of[k]);
    }
    struct numbers out = {known ? apply(of, one, count == 2 ? two : NULL, n) : NULL, count == 2 && is_comparison(two)};
    free(of[0].of.x);
    free(of[1].of.x);
    return out;
}

/* Elements of another value, as they are. */
static struct numbers taken(const struct graph *g, uint32_t from, const struct imap *map, int64_t n,
                            struct spent *spent) {
    struct imap same;
    struct gathered from_all;
    if (from == NONE || !gather(g, from, map, spent, &from_all))
        return (struct numbers){.x = NULL};
    imap_identity(&same, 0, n);
    if (imap_equal(&from_all.map, &same))
        return from_all.of;
    struct numbers out = {apply(&from_all, NULL, NULL, n), from_all.of.truths};
    free(from_all.of.x);
    return out;
}

static double *counted(const struct graph *g, uint32_t op, int64_t n) {
    const struct attr *start = attrs_find(graph_attributes(g, op), "start");
    const struct attr *step = attrs_find(graph_attributes(g, op), "step");
    uint16_t along = graph_dimensions(g, g->m->ops[op].first_result);
    double *out = start && step && (along & (along - 1)) == 0 ? xcalloc((size_t)n, sizeof *out) : NULL;
    for (int64_t i = 0; i < n && out; i++)
        out[i] = start->number + (double)i * step->number;
    return out;
}

static double *written(const struct graph *g, uint32_t op, int64_t n) {
    const struct attr *value = attrs_find(graph_attributes(g, op), "value");
    double *out = value ? xcalloc((size_t)n, sizeof *out) : NULL;
    if (!out || mlir_numbers(value->text, out, n) == n)
        return out;
    free(out);
    return NULL;
}

/* It only moves elements. */
static bool keeps_numbers(const struct graph *g, uint32_t v) {
    uint32_t op = g->m->values[v].def;
    return op != NONE && graph_looks_through(g, op) && graph_dtype(g, graph_through(g, op)) == graph_dtype(g, v);
}

/* As the element type of the value holds them. */
static void round_all(enum dtype type, double *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (x[i] != 0 && x[i] != 1) /* which all formats hold, and most elements are */
            x[i] = format_is_integer(type) ? trunc(x[i]) : round_to_bits(x[i], dtype_table[type].precision);
}

static struct numbers moved_or_made(const struct graph *g, uint32_t op, uint32_t v, int64_t n, struct spent *spent) {
    static const struct numbers none = {.x = NULL};
    struct imap all, map;
    if (op != NONE && graph_class(g, op) == OP_CONSTANT)
        return (struct numbers){.x = written(g, op, n)};
    if (op != NONE && graph_op_is(g, op, COUNTS))
        return (struct numbers){.x = counted(g, op, n)};
    if (!varying_map(g, v, false, NULL, &all))
        return none;
    if (op == NONE || graph_class(g, op) == OP_CALL) {
        uint32_t other = op == NONE ? graph_caller_value(g, v) : graph_callee_value(g, v);
        return other != NONE && graph_numel(g, other) == graph_numel(g, v) ? taken(g, other, &all, n, spent) : none;
    }
    if (graph_looks_through(g, op))
        return imap_through(g, op, &all, &map) ? taken(g, graph_through(g, op), &map, n, spent) : none;
    return computed(g, op, v, &all, n, spent);
}

static struct numbers elements(const struct graph *g, uint32_t v, struct spent *spent) {
    int64_t extents[MAX_RANK], n;
    uint32_t rank;
    struct constant c = graph_constant(g, v);
    struct numbers out = {.x = NULL};
    if (spent->deep == MOST_DEEP || !graph_is_parameter(g, v) || !extents_of(g, v, extents, &rank))
        return out;
    n = count_of(extents, rank);
    spent->made += n;
    if (spent->made > MOST_MADE)
        return out;
    spent->deep++;
    if (c.known)
        out.x = xcalloc((size_t)n, sizeof *out.x);
    else
        out = moved_or_made(g, g->m->values[v].def, v, n, spent);
    spent->deep--;
    for (int64_t i = 0; i < n && c.known; i++)
        out.x[i] = c.value;
    if (out.x && !out.truths && !keeps_numbers(g, v))
        round_all(graph_dtype(g, v), out.x, n);
    return out;
}

double graph_element(const struct graph *g, uint32_t v, int64_t at) {
    int64_t numel = graph_numel(g, v);
    struct imap all, map;
    imap_identity(&all, 0, numel);
    double *x =
        at >= 0 && at < numel && varying_map(g, v, true, &all, &map) ? elements(g, v, &(struct spent){0, 0}).x : NULL;
    double element = x ? x[imap_at(&map, at)] : NAN;
    free(x);
    return element;
}

/* ---- ones that repeat columns ---- */

/* What was found, of each value once: threads search one graph. */
struct known_repeats {
    pthread_mutex_t lock;
    struct {
        uint32_t value;
        bool repeats;
    } * items;
    uint32_t n, cap;
};

void elements_build(struct graph *g) {
    g->repeats = xcalloc(1, sizeof *g->repeats);
    pthread_mutex_init(&g->repeats->lock, NULL);
}

void elements_free(struct graph *g) {
    if (!g->repeats)
        return;
    pthread_mutex_destroy(&g->repeats->lock);
    free(g->repeats->items);
    free(g->repeats);
}

/* Row k has ones in as many columns as there are for each row, from column k times that on, and 0 elsewhere. */
static bool are_stairs(const double *x, int64_t rows, int64_t columns) {
    int64_t times = columns / rows;
    double *stair = xcalloc((size_t)(2 * columns), sizeof *stair), *ones = stair + columns;
    bool are = true;
    for (int64_t i = 0; i < times; i++)
        ones[i] = 1;
    for (int64_t row = 0; row < rows && are; row++)
        are = memcmp(x + row * columns, ones - row * times, (size_t)columns * sizeof *x) == 0;
    free(stair);
    return are;
}

static bool repeats_columns(const struct graph *g, uint32_t v, uint32_t rank, int64_t rows, int64_t columns) {
    bool by_row = g->varies[v] >> (rank - 2) & 1, by_column = g->varies[v] >> (rank - 1) & 1;
    double *x = rows == 1 || (by_row && by_column) ? elements(g, v, &(struct spent){0, 0}).x : NULL;
    bool repeats = x && are_stairs(x, rows, by_column ? columns : 1);
    free(x);
    return repeats;
}

bool graph_repeats_columns(const struct graph *g, uint32_t v) {
    uint32_t rank, i = 0;
    const int64_t *shape = graph_shape(g, v, &rank);
    if (!shape || rank < 2 || shape[rank - 2] < 1 || shape[rank - 1] % shape[rank - 2] != 0 ||
        graph_numel(g, v) != shape[rank - 1] * shape[rank - 2] || !graph_is_parameter(g, v))
        return false;
    struct known_repeats *known = g->repeats;
    pthread_mutex_lock(&known->lock);
    while (i < known->n && known->items[i].value != v)
        i++;
    if (i == known->n) {
        known->items = grow(known->items, &known->cap, i + 1, sizeof *known->items);
        known->items[i].value = v;
        known->items[i].repeats = repeats_columns(g, v, rank, shape[rank - 2], shape[rank - 1]);
        known->n++;
    }
    bool repeats = known->items[i].repeats;
    pthread_mutex_unlock(&known->lock);
    return repeats;
}
