/* What a fusion saves around its place. The compiler moves the result of a convolution to work along its channels, and
 * moves it back behind what works on each element by itself. Where the op in between that wants its order is gone, both
 * cancel (tt-mlir lib/Dialect/TTIR/Transforms/EraseInverseOps), and the ops between them work on tiles that are less
 * padded. Each op counts for the place that its first operand comes from: none counts twice. */
#include "device/price/price.h"
#include "ir/graph/index.h"

/* The way from the result of a place to where it is moved back. */
struct way {
    struct pricer *pricer;
    uint32_t unmoved; /* a value as it is before it is moved */
    double kept;      /* of what an op takes, once its result is not moved */
    double saved_us;
    bool back;       /* it is moved back somewhere */
    uint32_t others; /* uses that want it as it is moved */
    uint32_t steps;
};

enum { DEPTH_MOST = 48, STEPS_MOST = 4096 };

static int64_t last_extent(const struct graph *g, uint32_t value) {
    uint32_t rank = 0;
    const int64_t *dims = graph_shape(g, value, &rank);
    return dims && rank > 0 ? dims[rank - 1] : 0;
}

static double us_of(struct pricer *p, uint32_t op) {
    struct cost cost = {0};
    (void)cost_add_op(p, op, &cost);
    return cost.estimated.us;
}

static double op_us(const struct way *w, uint32_t op) {
    return us_of(w->pricer, op);
}

/* Its last dimension becomes that of the value before it was moved. */
static bool moves_back(const struct way *w, uint32_t op) {
    const struct graph *g = w->pricer->graph;
    uint32_t result = g->m->ops[op].first_result, rank = 0, order[MAX_RANK];
    return g->m->ops[op].nresults == 1 && graph_shape(g, result, &rank) && rank > 0 && rank <= MAX_RANK &&
           permutation_of(g, op, rank, order) && order[rank - 1] != rank - 1 &&
           last_extent(g, result) == last_extent(g, w->unmoved);
}

/* A reshape that gives it the shape that it had goes with what moves it back. */
static double back_us(const struct way *w, uint32_t op) {
    const struct graph *g = w->pricer->graph;
    uint32_t result = g->m->ops[op].first_result;
    double us = op_us(w, op);
    if (graph_nuses(g, result) != 1)
        return us;
    uint32_t user = g->uses[g->first_use[result]], moved = g->m->ops[user].first_result;
    bool reshaped = graph_class(g, user) == OP_MOVE && g->m->ops[user].nresults == 1 &&
                    last_extent(g, moved) == last_extent(g, w->unmoved);
    return us + (reshaped ? op_us(w, user) : 0);
}

/* It works on each element by itself, or around all of them. */
static bool leaves_order(const struct graph *g, uint32_t op) {
    enum op_class class = graph_class(g, op);
    return g->m->ops[op].nresults == 1 &&
           (class == OP_ELTWISE || class == OP_LAYOUT || op_table[g->kind[op]].shrink == SHRINK_PAD);
}

/* It takes a value beside this one that is moved back somewhere: what is behind it is in that order, too. */
static bool joins(const struct way *w, uint32_t op, uint32_t value) {
    const struct graph *g = w->pricer->graph;
    bool back = false;
    for (uint32_t k = 0; k < graph_noperands(g, op); k++) {
        uint32_t other = graph_operands(g, op)[k];
        if (other == NONE || other == value)
            continue;
        for (uint32_t i = g->first_use[other]; i < g->first_use[other + 1] && !back; i++)
            back = moves_back(w, g->uses[i]);
    }
    return back;
}

/* `own`: what is on the way counts for this place; else for another one, whose way it joins. */
static void follow(struct way *w, uint32_t value, int depth, bool own) {
    const struct graph *g = w->pricer->graph;
    for (uint32_t i = g->first_use[value]; i < g->first_use[value + 1]; i++) {
        uint32_t user = g->uses[i];
        if ((i > g->first_use[value] && user == g->uses[i - 1]) || w->steps >= STEPS_MOST)
            continue;
        w->steps++;
        bool first = own && graph_operands(g, user)[0] == value;
        if (moves_back(w, user)) {
            w->back = true;
            w->saved_us += own ? back_us(w, user) : 0;
        } else if (depth == DEPTH_MOST || !leaves_order(g, user)) {
            w->others += own;
        } else if (first || !w->back) {
            w->back |= joins(w, user, value);
            w->saved_us += first ? op_us(w, user) * (1 - w->kept) : 0;
            follow(w, g->m->ops[user].first_result, depth + 1, first);
        }
    }
}

double around_us(struct pricer *p, uint32_t unmoved, uint32_t moved, double moving_us) {
    const struct layout *before = value_layout(p, unmoved), *behind = value_layout(p, moved);
    int64_t tiles = before ? layout_tiles(before) : 0, padded = behind ? layout_tiles(behind) : 0;
    struct way w = {.pricer = p, .unmoved = unmoved, .kept = padded > tiles ? (double)tiles / (double)padded : 1};
    follow(&w, moved, 0, true);
    double saved = w.saved_us + moving_us - w.others * moving_us; /* moved there instead */
    return w.back && saved > 0 ? saved : 0;
}

/* Its last dimension becomes another one. */
static bool turns_rows(const struct graph *g, uint32_t op) {
    uint32_t rank = 0, order[MAX_RANK];
    return g->m->ops[op].nresults == 1 && graph_shape(g, g->m->ops[op].first_result, &rank) && rank > 0 &&
           rank <= MAX_RANK && permutation_of(g, op, rank, order) && order[rank - 1] != rank - 1;
}

/* Of a value that a fused op takes or yields in the order that it had before, or gets behind, what moves it there for
 * this op alone. `behind`: its users, else what it is made by. */
double moved_for_us(struct pricer *p, uint32_t value, bool behind) {
    const struct graph *g = p->graph;
    double us = 0;
    bool turned = false;
    for (uint32_t v = value, op;;) {
        if ((behind || v != value) && graph_nuses(g, v) != 1)
            break;
        op = behind ? g->uses[g->first_use[v]] : g->m->values[v].def;
        if (op == NONE || !graph_looks_through(g, op))
            break;
        us += graph_class(g, op) == OP_MOVE ? us_of(p, op) : 0;
        turned |= turns_rows(g, op);
        v = behind ? g->m->ops[op].first_result : graph_through(g, op);
    }
    return turned ? us : 0;
}
