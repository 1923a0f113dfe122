/* Which operand has which role (ops.def). Numbers of operands and operandSegmentSizes, and that there is a result, are
 * checked here, so that the folders behind may index the required operands and the result. */
#include "ir/graph/operands.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SEGMENTS = 16 };

/* Counts the roles of ops.def; one with '?' or '=' may be absent. */
static struct arity arity_of(const char *roles) {
    struct arity n = {
        .counted = true, .optional = strchr(roles, '?'), .all = *roles == '*' ? -1 : 0, .destination = -1};
    for (const char *r = roles; n.all >= 0 && *r; n.all++) {
        size_t length = strcspn(r, ",");
        n.needed[n.all] = !memchr(r, '?', length) && !memchr(r, '=', length);
        n.required += n.needed[n.all];
        n.destination = strncmp(r, "_out?", length) == 0 ? n.all : n.destination;
        r += length + (r[length] == ',');
    }
    return n;
}

void bad_op(struct graph *g, uint32_t op, struct diags *d, const char *fmt, ...) {
    char what[160];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    struct str name = mlir_op_name(g->m, op);
    g->kind[op] = NO_OPERATOR;
    if (d && !diag_drop(d, SEV_ERROR))
        diag_add(d, SEV_ERROR, mlir_place(g->m, g->m->ops[op].text.begin), NULL, "%.*s %s", (int)name.n, name.p, what);
}

static bool is_device(const struct mlir *m, uint32_t v) {
    return m->types[m->values[v].type].kind == TYPE_DEVICE;
}

static bool is_like_result(const struct mlir *m, uint32_t op, uint32_t r, uint32_t v) {
    const struct mlir_op *o = &m->ops[op];
    return r < o->nresults && m->values[v].type == m->values[o->first_result + r].type;
}

static bool is_empty(const struct graph *g, uint32_t v) {
    uint32_t def = g->m->values[v].def;
    return def != NONE && graph_class(g, def) == OP_CONSTANT && graph_op_is(g, def, ARBITRARY);
}

/* Whether an operand has more dimensions than its role, a row, has (column `ranks` in ops.def). */
static bool is_no_row(const struct graph *g, uint32_t op, uint32_t role, uint32_t v) {
    const char *ranks = op_table[g->kind[op]].ranks;
    const struct mlir_type *type = &g->m->types[g->m->values[v].type];
    return ranks && role < strlen(ranks) && ranks[role] == '1' && type->kind == TYPE_TENSOR && type->rank > 1;
}

/* Old text is destination-passing: the last operand is what the op writes to, an *.empty of the type of the result, or
 * another value of that type, such as an argument. It is one too many for the roles, or may stand for none that the op
 * needs; an *.empty in the place of an operand that it needs is that operand. */
static bool is_destination(const struct graph *g, uint32_t op, const struct arity *arity, uint32_t n, uint32_t v) {
    uint32_t needed = arity->all < 0 ? 1 : (uint32_t)arity->required;
    bool empty = is_empty(g, v), like = is_like_result(g->m, op, 0, v);
    if (arity->all >= 0 && n == (uint32_t)arity->all + 1)
        return empty || like;
    return like && n > needed && (empty || is_no_row(g, op, n - 1, v));
}

/* One destination for each of several results. */
static bool are_destinations(const struct graph *g, uint32_t op, const struct arity *arity, uint32_t n,
                             const uint32_t *operands) {
    uint32_t count = g->m->ops[op].nresults, nempty = 0;
    if (arity->all < 0 || count < 2 || n < (uint32_t)arity->required + count)
        return false;
    for (uint32_t r = 0; r < count; r++) {
        if (!is_like_result(g->m, op, r, operands[n - count + r]))
            return false;
        nempty += is_empty(g, operands[n - count + r]);
    }
    return nempty == count || n > (uint32_t)arity->all;
}

/* Leaves the operands that are read; returns how many. */
static uint32_t drop_destinations(struct graph *g, uint32_t op, const struct arity *arity, uint32_t n,
                                  uint32_t *operands) {
    uint32_t only = NONE, nlike = 0;
    if (n == 0)
        return 0;
    if (are_destinations(g, op, arity, n, operands)) {
        g->ndestinations += g->m->ops[op].nresults;
        return n - g->m->ops[op].nresults;
    }
    if (is_destination(g, op, arity, n, operands[n - 1])) {
        g->ndestinations++;
        return n - 1;
    }
    /* the oldest embedding has it in front of its weight */
    for (uint32_t i = 1; arity->all >= 0 && n == (uint32_t)arity->all + 1 && i + 1 < n; i++)
        if (is_like_result(g->m, op, 0, operands[i])) {
            only = i;
            nlike++;
        }
    if (nlike != 1)
        return n;
    g->ndestinations++;
    memmove(operands + only, operands + only + 1, (n - only - 1) * sizeof *operands);
    return n - 1;
}

/* Calls and returns keep devices and destinations: their operands are matched to arguments and results by number. */
static bool keeps_all(const struct graph *g, uint32_t op) {
    enum op_class class = graph_class(g, op);
    return class == OP_CALL || class == OP_RETURN || class == OP_NO_USE;
}

/* The operands in the text without device handles; returns how many. */
static uint32_t list_operands(const struct graph *g, uint32_t i, uint32_t *out) {
    const struct mlir *m = g->m;
    const struct mlir_op *op = &m->ops[i];
    bool all = keeps_all(g, i);
    uint32_t n = 0;
    for (uint32_t k = 0; k < op->noperands; k++) {
        uint32_t v = m->operands[op->first_operand + k];
        if (all || !is_device(m, v))
            out[n++] = v;
    }
    return n;
}

/* operandSegmentSizes of the op: how many there are; 0: none are printed; -1: they are wrong. */
static int read_segments(const struct graph *g, uint32_t op, const int64_t **sizes) {
    const struct attr *x = attrs_find(graph_attributes(g, op), "operandSegmentSizes");
    int64_t left = g->m->ops[op].noperands;
    *sizes = x ? x->list : NULL;
    for (int i = 0; x && i < x->n && left >= 0; i++)
        left = x->list[i] < 0 ? -1 : left - x->list[i];
    return !x ? 0 : x->n < 1 || x->n > MAX_SEGMENTS || left != 0 ? -1 : x->n;
}

/* Each segment is one role; an op of a dialect without a destination or the last roles has fewer, and those are absent.
 * What is beyond the roles is a destination or a device. Returns how many operands have a role, -1 where the segments
 * do not fit. */
static int by_segments(const struct arity *arity, const int64_t *sizes, int nsizes, uint32_t n, uint32_t *out) {
    uint32_t by_role[MAX_ROLES] = {0}, at = 0;
    for (int r = 0, s = 0; r < arity->all; r++, s++) {
        if (r == arity->destination && nsizes < arity->all) {
            by_role[r] = NONE;
            s--;
            continue;
        }
        bool there = s < nsizes && sizes[s] == 1;
        if ((s < nsizes && sizes[s] > 1) || (there && at >= n) || (!there && arity->needed[r]))
            return -1;
        by_role[r] = there && r != arity->destination ? out[at] : NONE;
        at += there;
    }
    memcpy(out, by_role, (size_t)arity->all * sizeof *out);
    return (int)at;
}

/* Without segments the first roles are there. */
static uint32_t by_number(const struct arity *arity, uint32_t n, uint32_t *out) {
    while (arity->optional && n < (uint32_t)arity->all)
        out[n++] = NONE;
    return n;
}

/* Caches are written in place, by ops that may have no result; what computes has one. */
static bool needs_result(const struct graph *g, uint32_t op) {
    enum op_class class = graph_class(g, op);
    return class == OP_OPAQUE ? *op_table[g->kind[op]].roles != '*' : class <= OP_CONSTANT;
}

uint32_t data_operands(struct graph *g, uint32_t i, struct arity *arity, uint32_t *out, struct diags *d) {
    uint32_t n = list_operands(g, i, out);
    const char *roles = op_table[g->kind[i]].roles;
    if (!arity->counted)
        *arity = arity_of(roles);
    const int64_t *sizes = NULL;
    int nsizes = arity->optional ? read_segments(g, i, &sizes) : 0;
    /* Old text has two segments, operands and destinations. */
    bool grouped = nsizes == 2 && sizes[0] > 1;
    if (g->m->ops[i].nresults == 0 && graph_class(g, i) == OP_LAYOUT) { /* into what its last operand is */
        g->kind[i] = NO_OPERATOR;
        return n;
    }
    if (g->m->ops[i].nresults == 0 && needs_result(g, i)) {
        bad_op(g, i, d, "has no result");
        return n;
    }
    if (nsizes < 0) {
        bad_op(g, i, d, "has operandSegmentSizes that do not add up to its %u operands", g->m->ops[i].noperands);
        return n;
    }
    if (nsizes > 0 && !grouped) {
        int placed = by_segments(arity, sizes, nsizes, n, out);
        if (placed >= 0) {
            g->ndestinations += (uint32_t)placed < n;
            return (uint32_t)arity->all;
        }
        bad_op(g, i, d, "has operandSegmentSizes that do not fit its operands %s", roles);
        return n;
    }
    if (!keeps_all(g, i))
        n = drop_destinations(g, i, arity, n, out);
    if (arity->all >= 0 && (n < (uint32_t)arity->required || n > (uint32_t)arity->all)) {
        bad_op(g, i, d, "has %u operand%s; it takes %s", n, n == 1 ? "" : "s", *roles ? roles : "none");
        return n;
    }
    return arity->all < 0 ? n : by_number(arity, n, out);
}
