/* Ops to the lines of a formula: neutral names of operators, infix signs, constants as numbers, and a variable for each
 * value that comes from other ops. */
#include "authoring/draft.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ir/graph/index.h"
#include "patterns/lang/function.h"
#include "patterns/lang/printer.h"

enum { MAX_STEPS_BACK = 48, MOST_TEXT = 2000 /* of a function, in which what is used twice stands twice */ };

bool draft_is_mover(const struct graph *g, uint32_t op) {
    return class_moves(graph_class(g, op)) && graph_noperands(g, op) == 1 && graph_operands(g, op)[0] != NONE;
}

uint32_t draft_source(const struct draft *s, uint32_t value) {
    for (int step = 0; step < MAX_STEPS_BACK; step++) {
        uint32_t op = s->graph->m->values[value].def;
        if (op == NONE || s->chosen[op])
            return op;
        if (!draft_is_mover(s->graph, op))
            return NONE;
        value = graph_operands(s->graph, op)[0];
    }
    return NONE;
}

static void show_movers(struct draft *s, uint32_t value, uint32_t source) {
    for (uint32_t op; (op = s->graph->m->values[value].def) != source; value = graph_operands(s->graph, op)[0])
        s->shown[op] = true;
}

bool draft_is_number(const struct draft *s, uint32_t value, double *number) {
    struct constant c = graph_constant(s->graph, value);
    *number = c.value;
    return draft_source(s, value) == NONE && c.known && !isnan(c.value);
}

/* ---- names ---- */

bool draft_has_name(const struct draft *s, struct str name) {
    for (uint32_t v = 0; v < s->graph->m->nvalues; v++)
        if (str_eq(s->names[v], name))
            return true;
    return false;
}

/* The role of the operand if it is a word that is free ("weight"), else a letter. */
static struct str variable_name(struct draft *s, struct str role) {
    if (role.n > 1 && op_kind_of_name(role) == NO_OPERATOR && !draft_has_name(s, role))
        return arena_str(s->arena, role);
    static const char letters[] = "abcdefghijklmpqrs"; /* n is the end of a slice, o and t are of results */
    uint32_t i = s->nletters++;
    return i + 1 < sizeof letters ? arena_printf(s->arena, "%c", letters[i]) : arena_printf(s->arena, "v%u", i);
}

/* Role of operand i: "weight?" gives "weight"; "low=min" has the attribute "min" as a default. */
static struct str role_of(enum op_kind kind, uint32_t i, struct str *attribute) {
    const char *p = op_table[kind].roles;
    *attribute = STR("");
    for (; i > 0 && strchr(p, ','); i--)
        p = strchr(p, ',') + 1;
    size_t all = strcspn(p, ","), n = strcspn(p, ",?=*");
    if (i > 0)
        return STR("");
    if (p[n] == '=')
        *attribute = (struct str){p + n + 1, all - n - 1};
    return (struct str){p, n};
}

static uint32_t roles(enum op_kind kind) {
    uint32_t n = *op_table[kind].roles != '\0';
    for (const char *p = op_table[kind].roles; *p; p++)
        n += *p == ',';
    return n;
}

/* ---- operands ---- */

/* A shown op exchanges the last two dimensions. */
static bool is_transposed(const struct draft *s, uint32_t value) {
    const struct graph *g = s->graph;
    uint32_t op = g->m->values[value].def, rank, order[MAX_RANK];
    if (op == NONE || !s->shown[op] || graph_movement(g, op) != MOVEMENT_PERMUTE || !graph_shape(g, value, &rank) ||
        rank < 2 || rank > MAX_RANK || !permutation_of(g, op, rank, order))
        return false;
    bool is = order[rank - 1] == rank - 2 && order[rank - 2] == rank - 1;
    for (uint32_t d = 0; d + 2 < rank; d++)
        is &= order[d] == d;
    return is;
}

static void write_op(struct draft *s, uint32_t op, struct buf *out);

static void write_operand(struct draft *s, uint32_t value, struct str role, struct buf *out) {
    const struct graph *g = s->graph;
    uint32_t source = draft_source(s, value);
    if (source != NONE) {
        show_movers(s, value, source);
        if (s->function && out->n < MOST_TEXT)
            write_op(s, source, out);
        else
            buf_add(out, s->names[g->m->ops[source].first_result]);
        return;
    }
    double number;
    if (draft_is_number(s, value, &number)) {
        buf_number(out, number);
        return;
    }
    if (is_transposed(s, value)) {
        buf_add(out, STR("transposed("));
        write_operand(s, graph_operands(g, g->m->values[value].def)[0], role, out);
        buf_addc(out, ')');
        return;
    }
    if (!s->names[value].n) {
        s->names[value] = variable_name(s, role);
        s->nvariables++;
    }
    buf_add(out, s->names[value]);
}

/* A product has a flag that exchanges the last two axes of this operand. */
static bool is_flagged(const struct draft *s, uint32_t op, uint32_t i) {
    return i < 2 && attrs_flag(graph_attributes(s->graph, op), i ? "transpose_b" : "transpose_a");
}

static void write_operand_of(struct draft *s, uint32_t op, uint32_t i, struct str role, struct buf *out) {
    bool flagged = is_flagged(s, op, i);
    buf_add(out, flagged ? STR("transposed(") : STR(""));
    write_operand(s, graph_operands(s->graph, op)[i], role, out);
    buf_add(out, flagged ? STR(")") : STR(""));
}

/* An operand that is printed as an attribute. False when that is absent too. */
static bool write_attribute(const struct draft *s, uint32_t op, struct str attribute, struct buf *out) {
    const struct attr *x =
        attribute.n ? attrs_find(graph_attributes(s->graph, op), arena_strdup(s->arena, attribute)) : NULL;
    if (!x || !x->is_number)
        return false;
    buf_number(out, x->number);
    return true;
}

static void write_operands(struct draft *s, uint32_t op, enum op_kind kind, struct buf *out) {
    uint32_t have = graph_noperands(s->graph, op), n = roles(kind);
    for (uint32_t i = 0; i < (n > have ? n : have); i++) {
        struct str attribute, role = role_of(kind, i, &attribute);
        struct buf text = {0};
        uint32_t value = i < have ? graph_operands(s->graph, op)[i] : NONE;
        if (value != NONE)
            write_operand_of(s, op, i, role, &text);
        else if (!write_attribute(s, op, attribute, &text))
            return;
        buf_printf(out, "%s%.*s", i ? ", " : "", (int)text.n, text.p);
        buf_free(&text);
    }
}

/* ---- operators ---- */

/* The operator that formulas have: dot_general and linear without a bias are written as matmul, which matches all
 * three. */
static enum op_kind formula_kind(const struct graph *g, uint32_t op) {
    enum op_kind k = (enum op_kind)g->kind[op];
    bool biased = graph_noperands(g, op) > 2 && graph_operands(g, op)[2] != NONE;
    return biased ? k : op_as(k);
}

/* ", dim=-1", ", dim=[-2, -1]" */
static void write_axes(const struct graph *g, uint32_t op, struct buf *out) {
    const struct attr *axes = graph_axes(g, op);
    uint32_t rank;
    enum op_class class = graph_class(g, op);
    struct axis_spec dim = {1, {-1}, false}; /* norms have no such attribute: it is the last one */
    if ((class != OP_REDUCE && class != OP_AXISWISE) || !graph_shape(g, graph_operands(g, op)[0], &rank) ||
        (!axes && class == OP_REDUCE) || (axes && (axes->n < 1 || axes->n > MOST_NAMED_AXES)))
        return;
    if (axes)
        dim.n = (uint8_t)axes->n;
    for (int i = 0; axes && i < axes->n; i++)
        dim.axes[i] = (int8_t)(axes->list[i] - (axes->list[i] < 0 ? 0 : (int64_t)rank));
    buf_add(out, STR(", dim="));
    axis_spec_print(&dim, out);
}

/* The one dimension that a slice cuts, in steps of one. False: it cuts several. */
static bool cut_of(const struct graph *g, uint32_t op, struct slice_bounds *b, uint32_t *d) {
    if (graph_class(g, op) != OP_SLICE || !slice_bounds(g, op, b) || b->ncut != 1)
        return false;
    for (*d = 0; !b->cut[*d];)
        ++*d;
    return b->step[*d] == 1;
}

/* slice(x, dim=-1, part=1, of=2) of one of several equal parts, else x[..., 2:32], and x[..., :n] of the first that
 * begins at 0. False: it is neither. */
static bool write_slice(struct draft *s, uint32_t op, struct buf *out) {
    const struct graph *g = s->graph;
    struct slice_bounds b;
    uint32_t rank, d;
    if (!cut_of(g, op, &b, &d))
        return false;
    const int64_t *shape = graph_shape(g, graph_operands(g, op)[0], &rank);
    int64_t begin = b.begin[d], end = b.end[d], size = end - begin;
    bool part = begin % size == 0 && shape[d] % size == 0;
    buf_add(out, part ? STR("slice(") : STR(""));
    write_operand(s, graph_operands(g, op)[0], STR(""), out);
    if (part)
        buf_printf(out, ", dim=%d, part=%" PRId64 ", of=%" PRId64 ")", (int)d - (int)rank, begin / size,
                   shape[d] / size);
    else
        buf_add(out, STR("[..., "));
    if (!part && begin)
        buf_printf(out, "%" PRId64, begin);
    if (!part && !begin && !s->cut)
        buf_add(out, STR(":n"));
    else if (!part)
        buf_printf(out, ":%" PRId64, end);
    s->cut |= !part && !begin;
    for (uint32_t i = d + 1; i < rank && !part; i++)
        buf_add(out, STR(", :"));
    buf_add(out, part ? STR("") : STR("]"));
    return true;
}

static const struct infix *sign_of(const struct graph *g, uint32_t op) {
    return graph_noperands(g, op) == 2 ? infix_of_op(formula_kind(g, op)) : NULL;
}

/* An operand beside a sign. */
static void write_side(struct draft *s, uint32_t op, uint32_t i, struct buf *out) {
    uint32_t source = draft_source(s, graph_operands(s->graph, op)[i]);
    bool inside = s->function && source != NONE && sign_of(s->graph, source);
    buf_add(out, inside ? STR("(") : STR(""));
    write_operand_of(s, op, i, STR(""), out);
    buf_add(out, inside ? STR(")") : STR(""));
}

static void write_op(struct draft *s, uint32_t op, struct buf *out) {
    const struct graph *g = s->graph;
    enum op_kind kind = formula_kind(g, op);
    const struct infix *sign = sign_of(g, op);
    if (sign) {
        const uint32_t *v = graph_operands(g, op);
        bool square = str_is(str_of(sign->sign), "*") && v[0] == v[1];
        write_side(s, op, 0, out);
        buf_printf(out, " %s ", square ? "**" : sign->sign);
        if (square)
            buf_addc(out, '2');
        else
            write_side(s, op, 1, out);
        return;
    }
    if (write_slice(s, op, out))
        return;
    buf_printf(out, "%s(", op_table[kind].name);
    write_operands(s, op, kind, out);
    if (s->axes)
        write_axes(g, op, out);
    buf_addc(out, ')');
}

/* Two or more ops that each make an element of elements. */
static bool is_elementwise(const struct draft *s) {
    uint32_t n = 0;
    bool all = true;
    for (uint32_t op = 0; op < s->graph->m->nops; op++) {
        n += s->chosen[op];
        all &= !s->chosen[op] || function_operator((enum op_kind)s->graph->kind[op]);
    }
    return all && n > 1;
}

bool draft_formula(struct draft *s, uint32_t root, struct buf *out) {
    uint32_t n = 0;
    if (s->function && !is_elementwise(s))
        return false;
    if (s->function) {
        buf_add(out, STR("  out = function("));
        write_op(s, root, out);
        buf_add(out, STR(")\n"));
    }
    for (uint32_t op = 0; op < s->graph->m->nops; op++) {
        if (!s->chosen[op])
            continue;
        struct str name = op == root ? STR("out") : arena_printf(s->arena, "t%u", ++n);
        s->shown[op] = true;
        if (!s->function) {
            buf_printf(out, "  %.*s = ", (int)name.n, name.p);
            write_op(s, op, out);
            buf_addc(out, '\n');
        }
        s->names[s->graph->m->ops[op].first_result] = name;
    }
    return !s->function || s->nvariables == 1;
}
