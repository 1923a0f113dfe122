/* Which operand has which role (ops.def). Numbers of operands and operandSegmentSizes, and that there is a result, are
 * checked here, so that the rooms behind may index the required operands and the result. */
#include "graph/operands.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SEGMENTS = 16 };

/* Counts the roles of ops.def; one with '?' or '=' may be absent. */
static struct arity arity_of(const char *roles) {
    struct arity n = {.counted = true, .optional = strchr(roles, '?'), .all = *roles == '*' ? -1 : 0};
    for (const char *r = roles; n.all >= 0 && *r; n.all++) {
        size_t length = strcspn(r, ",");
        n.needed[n.all] = !memchr(r, '?', length) && !memchr(r, '=', length);
        n.required += n.needed[n.all];
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
    g->kind[op] = K_UNKNOWN;
    if (d && !diag_drop(d, SEV_ERROR))
        diag_add(d, SEV_ERROR, mlir_place(g->m, g->m->ops[op].text.begin), NULL, "%.*s %s", (int)name.n, name.p, what);
}

static bool is_device(const struct mlir *m, uint32_t v) {
    return m->types[m->values[v].type].kind == TYPE_DEVICE;
}

/* One operand more than there are roles, of the type of the result: a destination that is an argument, or that the text
 * does not show the *.empty of. */
static bool is_foreign_destination(const struct mlir *m, uint32_t op, uint32_t v) {
    const struct mlir_op *o = &m->ops[op];
    return o->nresults > 0 && m->values[v].type == m->values[o->first_result].type;
}

/* The operands in the text without device handles and the destination; returns how many. Calls and returns keep theirs:
 * they are matched to arguments and results by number. */
static uint32_t list_operands(struct graph *g, uint32_t i, uint32_t *out) {
    const struct mlir *m = g->m;
    const struct mlir_op *op = &m->ops[i];
    enum op_class class = graph_class(g, i);
    bool by_number = class == OP_CALL || class == OP_RETURN || class == OP_NO_USE;
    uint32_t n = 0;
    for (uint32_t k = 0; k < op->noperands; k++) {
        uint32_t v = m->operands[op->first_operand + k];
        if (by_number || !is_device(m, v))
            out[n++] = v;
    }
    if (n > 0 && !by_number && graph_is_destination(g, out[n - 1])) {
        n--;
        g->ndestinations++;
    }
    return n;
}

/* operandSegmentSizes of the op: how many there are; 0: none are printed; -1: they are wrong. */
static int read_segments(const struct graph *g, uint32_t op, int64_t *sizes) {
    struct str text;
    if (!mlir_attr(g->m, op, "operandSegmentSizes", &text))
        return 0;
    int n = mlir_ints(text, sizes, MAX_SEGMENTS);
    int64_t left = g->m->ops[op].noperands;
    for (int i = 0; i < n && i < MAX_SEGMENTS && left >= 0; i++)
        left = sizes[i] < 0 ? -1 : left - sizes[i];
    return n < 1 || n > MAX_SEGMENTS || left != 0 ? -1 : n;
}

/* Each segment is one role; an op of a dialect without the last roles has fewer, and those are absent. What is beyond
 * the roles is a destination or a device. */
static bool by_segments(const struct arity *arity, const int64_t *sizes, int nsizes, uint32_t n, uint32_t *out) {
    uint32_t by_role[MAX_ROLES] = {0}, at = 0;
    for (int r = 0; r < arity->all; r++) {
        bool there = r < nsizes && sizes[r] == 1;
        if ((r < nsizes && sizes[r] > 1) || (there && at >= n) || (!there && arity->needed[r]))
            return false;
        by_role[r] = there ? out[at++] : NONE;
    }
    memcpy(out, by_role, (size_t)arity->all * sizeof *out);
    return true;
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
    int64_t sizes[MAX_SEGMENTS];
    int nsizes = arity->optional ? read_segments(g, i, sizes) : 0;
    /* Old text has two segments, operands and destinations. */
    bool grouped = nsizes == 2 && sizes[0] > 1;
    if (g->m->ops[i].nresults == 0 && needs_result(g, i)) {
        bad_op(g, i, d, "has no result");
        return n;
    }
    if (nsizes < 0) {
        bad_op(g, i, d, "has operandSegmentSizes that do not add up to its %u operands", g->m->ops[i].noperands);
        return n;
    }
    if (nsizes > 0 && !grouped) {
        if (by_segments(arity, sizes, nsizes, n, out))
            return (uint32_t)arity->all;
        bad_op(g, i, d, "has operandSegmentSizes that do not fit its operands %s", roles);
        return n;
    }
    if (arity->all >= 0 && n == (uint32_t)arity->all + 1 && is_foreign_destination(g->m, i, out[n - 1])) {
        g->ndestinations++;
        n--;
    }
    if (arity->all >= 0 && (n < (uint32_t)arity->required || n > (uint32_t)arity->all)) {
        bad_op(g, i, d, "has %u operand%s; it takes %s", n, n == 1 ? "" : "s", *roles ? roles : "none");
        return n;
    }
    return arity->all < 0 ? n : by_number(arity, n, out);
}
