/* Values are opened from the last one back, in the order of the text: where only one is left, every way from the root
 * to the arguments leads through it. */
#include "search/automaton/computation.h"

#include <math.h>

#include "ir/ops/scalar.h"

void computation_begin(struct computation *c, const struct graph *g, uint32_t root, const struct imap *map) {
    c->g = g;
    c->root = root;
    c->nops = c->nconstants = 0;
    c->nopen = graph_numel(g, root) > 0;
    c->open[0].value = root;
    if (map)
        imap_copy(&c->open[0].map, map);
    else
        imap_identity(&c->open[0].map, 0, graph_numel(g, root));
}

/* Points tell nothing of what is less than them, nor of a bound between the last of them and the largest numbers of
 * formats. */
static bool is_seen(double number) {
    double size = fabs(number);
    return size == 0 || (size >= 1e-10 && size <= fabs(function_points[0])) || size >= 0x1p127;
}

/* False: too many, or another element of a value that is among them. */
static bool open_value(struct computation *c, uint32_t value, const struct imap *map) {
    struct constant k = graph_constant(c->g, value);
    if (k.known) {
        if (c->nconstants == MOST_COMPUTED || !is_seen(k.value))
            return false;
        c->constants[c->nconstants++] = value;
        return true;
    }
    for (uint32_t i = 0; i < c->nopen; i++)
        if (c->open[i].value == value)
            return imap_equal(&c->open[i].map, map);
    if (c->nopen == MOST_OPEN)
        return false;
    c->open[c->nopen].value = value;
    imap_copy(&c->open[c->nopen++].map, map);
    return true;
}

/* Numbers are rounded to whole ones by no cast that is looked through. */
static bool keeps_numbers(const struct graph *g, uint32_t op) {
    enum dtype from = graph_dtype(g, graph_through(g, op)), to = graph_dtype(g, g->m->ops[op].first_result);
    return format_is_float(to) || from == to;
}

static bool is_computed(const struct graph *g, uint32_t op) {
    return function_operator((enum op_kind)g->kind[op]) && graph_plain(g, op) && g->m->ops[op].nresults == 1;
}

bool computation_ends(const struct graph *g, uint32_t op) {
    return is_computed(g, op) && !graph_looks_through(g, op);
}

/* Opens the operands of the op that makes open value `i`. */
static bool open_operands(struct computation *c, uint32_t i) {
    const struct graph *g = c->g;
    struct open_value from = c->open[i];
    uint32_t op = g->m->values[from.value].def;
    struct imap map;
    if (op == NONE || c->nops == MOST_COMPUTED || g->m->ops[op].func != g->m->ops[g->m->values[c->root].def].func)
        return false;
    c->open[i] = c->open[--c->nopen];
    c->ops[c->nops++] = op;
    if (!is_computed(g, op)) {
        if (!graph_looks_through(g, op) || !keeps_numbers(g, op) || !imap_through(g, op, &from.map, &map))
            return false;
        imap_canonical(&map);
        return open_value(c, graph_through(g, op), &map);
    }
    for (uint32_t k = 0; k < graph_noperands(g, op); k++) {
        uint32_t v = graph_operands(g, op)[k];
        if (v == NONE || !imap_operand(g, from.value, v, &from.map, &map))
            return false;
        imap_canonical(&map);
        if (!open_value(c, v, &map))
            return false;
    }
    return true;
}

bool computation_next(struct computation *c) {
    const struct graph *g = c->g;
    while (c->nopen > 0) {
        uint32_t last = 0;
        for (uint32_t i = 1; i < c->nopen; i++)
            if (g->m->values[c->open[i].value].def + 1 > g->m->values[c->open[last].value].def + 1)
                last = i; /* arguments, made by no op, are the first */
        if (!open_operands(c, last))
            return false;
        if (c->nopen == 1 && graph_numel(g, c->open[0].value) == graph_numel(g, c->root))
            return true;
    }
    return false;
}

/* What each op makes, in the order of `ops`. */
struct made_values {
    double of[MOST_COMPUTED];
};

/* `user`: the index of the op that it is an operand of. */
static double number_of(const struct computation *c, const struct made_values *made, uint32_t value, uint32_t user,
                        double x) {
    if (value == c->open[0].value)
        return x;
    for (uint32_t i = user + 1; i < c->nops; i++)
        if (c->g->m->ops[c->ops[i]].first_result == value)
            return made->of[i];
    struct constant k = graph_constant(c->g, value);
    return k.known ? k.value : NAN;
}

/* Operand k, or the attribute that the op has instead; false where it has neither. */
static bool operand_number(const struct computation *c, const struct made_values *made, uint32_t i, uint32_t k,
                           const char *attribute, double x, double *out) {
    uint32_t op = c->ops[i];
    if (k < graph_noperands(c->g, op)) {
        *out = number_of(c, made, graph_operands(c->g, op)[k], i, x);
        return true;
    }
    const struct attr *a = attribute ? attrs_find(graph_attributes(c->g, op), attribute) : NULL;
    *out = a && a->is_number ? a->number : NAN;
    return a && a->is_number && is_seen(*out);
}

static bool compute(const struct computation *c, const struct made_values *made, uint32_t i, double at, double *y) {
    uint32_t op = c->ops[i];
    enum op_kind k = (enum op_kind)c->g->kind[op];
    if (!is_computed(c->g, op)) {
        *y = number_of(c, made, graph_through(c->g, op), i, at);
        return true;
    }
    double numbers[3];
    uint32_t n = function_operands_of(k);
    for (uint32_t o = 0; o < n; o++) {
        const char *attribute = k == K_CLAMP && o ? (o == 1 ? "min" : "max") : k == K_POW && o ? "rhs" : NULL;
        if (!operand_number(c, made, i, o, attribute, at, &numbers[o]))
            return false;
    }
    *y = function_apply(k, numbers);
    return n > 1 || graph_noperands(c->g, op) == 1;
}

static bool is_written_as(const struct computation *c, enum op_kind own) {
    for (uint32_t i = 0; i < c->nops; i++)
        if (c->g->kind[c->ops[i]] == own)
            return true;
    return false;
}

/* What the ops make of x; false where an op lacks an operand. */
static bool value_at(const struct computation *c, double x, double *y) {
    struct made_values made = {{0}};
    for (uint32_t i = c->nops; i-- > 0;)
        if (!compute(c, &made, i, x, &made.of[i]))
            return false;
    *y = made.of[0];
    return true;
}

double computation_at(const struct computation *c, double x) {
    double y;
    return value_at(c, x, &y) ? y : NAN;
}

/* Of those that are left, which have the value of the computation at a point. */
static uint64_t same_at(double y, const struct subformula *const *functions, uint64_t left, int point) {
    double x = function_points[point];
    uint64_t same = 0;
    for (; left; left &= left - 1) {
        int i = __builtin_ctzll(left);
        if (!functions[i]->values || function_same_at(functions[i]->values[point], y, functions[i]->node->within, x))
            same |= 1ull << i;
    }
    return same;
}

/* Without those whose own op is among the ops. */
static uint64_t written_otherwise(const struct computation *c, const struct subformula *const *functions, uint32_t n) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < n; i++) {
        enum op_kind own = function_op(functions[i]->node);
        all |= (uint64_t)(own == NO_OPERATOR || !is_written_as(c, own)) << i;
    }
    return all;
}

/* The function with these constants for what it captures is the computation. */
static bool is_function(const struct computation *c, const struct node *n, const uint32_t *constants) {
    double captured[MOST_CAPTURED], y;
    for (uint32_t i = 0; i < function_captures(n); i++)
        captured[i] = graph_constant(c->g, constants[i]).value;
    for (int p = 0; p < FUNCTION_POINTS; p++) { /* those near 0 tell most functions apart */
        double x = function_points[(p + FUNCTION_POINTS / 2) % FUNCTION_POINTS];
        if (!value_at(c, x, &y) || !function_same_at(function_at(n, x, captured), y, n->within, x))
            return false;
    }
    return true;
}

bool computation_captures(const struct computation *c, const struct node *n, uint32_t constants[MOST_CAPTURED]) {
    uint32_t captures = function_captures(n), ways = 1;
    for (uint32_t i = 0; i < captures; i++)
        ways *= c->nconstants;
    for (uint32_t way = 0; way < ways; way++) {
        for (uint32_t i = 0, rest = way; i < captures; i++, rest /= c->nconstants)
            constants[i] = c->constants[rest % c->nconstants];
        if (is_function(c, n, constants))
            return true;
    }
    return false;
}

uint64_t computation_finds(const struct computation *c, const struct subformula *const *functions, uint32_t n) {
    uint32_t ncomputed = 0, constants[MOST_CAPTURED];
    for (uint32_t i = 0; i < c->nops; i++)
        ncomputed += computation_ends(c->g, c->ops[i]);
    uint64_t left = ncomputed > 1 ? written_otherwise(c, functions, n) : 0;
    for (int p = 0; p < FUNCTION_POINTS && left; p++) { /* those near 0 tell most functions apart */
        int point = (p + FUNCTION_POINTS / 2) % FUNCTION_POINTS;
        double y;
        left = value_at(c, function_points[point], &y) ? same_at(y, functions, left, point) : 0;
    }
    uint64_t found = left;
    for (; left; left &= left - 1) {
        int i = __builtin_ctzll(left);
        if (!functions[i]->values && !computation_captures(c, functions[i]->node, constants))
            found &= ~(1ull << i);
    }
    return found;
}
