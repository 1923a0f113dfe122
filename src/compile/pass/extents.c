#include "compile/pass/extents.h"

#include <inttypes.h>
#include <string.h>

#include "compile/pass/cpp.h"
#include "ir/graph/movement.h"
#include "ir/ops/infer.h"

/* ---- nodes ---- */

static const struct graph *graph_of(const struct extents_of_place *e, bool form) {
    return form ? e->place->f : e->place->g;
}

static uint32_t find(uint32_t *up, uint32_t x) {
    while (up[x] != x)
        x = up[x] = up[up[x]];
    return x;
}

/* The node of an extent; what is of both modules is that of g. */
static uint32_t node(const struct extents_of_place *e, bool form, uint32_t value, uint32_t dim) {
    uint32_t same = form ? e->place->value_of[value] : NONE;
    return same != NONE ? e->first[0][same] + dim : e->first[form][value] + dim;
}

static const int64_t *shape_of(const struct extents_of_place *e, bool form, uint32_t value, uint32_t *rank) {
    return graph_shape(graph_of(e, form), value, rank);
}

static void join(struct extents_of_place *e, uint32_t a, uint32_t b) {
    uint32_t x = find(e->up, a), y = find(e->up, b);
    e->up[x > y ? x : y] = x > y ? y : x;
}

static void join_ranks(struct extents_of_place *e, uint32_t a, uint32_t b) {
    uint32_t x = find(e->rank_up, a), y = find(e->rank_up, b);
    e->ranked[x > y ? y : x] |= e->ranked[x > y ? x : y];
    e->rank_up[x > y ? x : y] = x > y ? y : x;
}

void extents_begin(struct extents_of_place *e, const struct pass_place *p, const struct str *expr) {
    uint32_t n = 1, rank;
    *e = (struct extents_of_place){.place = p, .expr = expr};
    for (int form = 0; form < 2; form++) {
        const struct mlir *m = graph_of(e, form)->m;
        e->first[form] = arena_alloc(p->arena, (m->nvalues + (size_t)1) * sizeof **e->first);
        for (uint32_t v = 0; v < m->nvalues; v++) {
            e->first[form][v] = n;
            n += shape_of(e, form, v, &rank) ? rank : 0;
        }
    }
    e->nnodes = n;
    e->up = arena_alloc(p->arena, n * sizeof *e->up);
    e->size = arena_alloc(p->arena, n * sizeof *e->size);
    e->computed = arena_alloc(p->arena, n * sizeof *e->computed);
    e->rank_up = arena_alloc(p->arena, (p->g->m->nvalues + (size_t)1) * sizeof *e->rank_up);
    e->type_up = arena_alloc(p->arena, (p->g->m->nvalues + (size_t)1) * sizeof *e->type_up);
    e->typed = arena_alloc(p->arena, p->g->m->nvalues + (size_t)1);
    e->type = arena_alloc(p->arena, (p->g->m->nvalues + (size_t)1) * sizeof *e->type);
    e->ranked = arena_alloc(p->arena, p->g->m->nvalues + (size_t)1);
    for (uint32_t i = 0; i < n; i++)
        e->up[i] = i;
    for (uint32_t v = 0; v < p->g->m->nvalues; v++)
        e->rank_up[v] = e->type_up[v] = v;
    e->size[e->one] = 1;
    for (int form = 0; form < 2; form++)
        for (uint32_t v = 0; v < graph_of(e, form)->m->nvalues; v++) {
            const int64_t *dims = shape_of(e, form, v, &rank);
            for (uint32_t d = 0; dims && d < rank; d++)
                e->size[e->first[form][v] + d] = dims[d];
        }
}

/* ---- print ---- */

struct str extents_type(struct extents_of_place *e, uint32_t value) {
    struct arena *a = e->place->arena;
    struct str expr = e->expr[value], rest = expr, op = str_part(&rest, '.'), base = op;
    const char *arrow = str_find(op, STR("->getOperand("));
    if (e->typed[value])
        return e->type[value];
    base.n = arrow ? (size_t)(arrow - op.p) : op.n;
    const char *op_at = str_find(base, STR("Op"));
    if (op_at) /* addOp2 is add2 */
        base =
            arena_printf(a, "%.*s%.*s", (int)(op_at - base.p), base.p, (int)(base.p + base.n - op_at - 2), op_at + 2);
    rest = str_starts(rest, STR("get")) ? (struct str){rest.p + 3, rest.n - 3} : STR("");
    rest = arrow ? STR("Operand") : str_part(&rest, '(');
    for (unsigned n = 1; !e->typed[value]; n++) {
        struct str number = n > 1 ? arena_printf(a, "%u", n) : STR("");
        struct str name =
            arena_printf(a, "%.*s%.*sType%.*s", (int)base.n, base.p, (int)rest.n, rest.p, (int)number.n, number.p);
        bool taken = false;
        for (uint32_t v = 0; v < e->place->g->m->nvalues; v++)
            taken |= e->typed[v] && str_eq(e->type[v], name);
        e->typed[value] = !taken;
        e->type[value] = name;
    }
    return e->type[value];
}

/* That the value has so many dimensions has to be known before one of them is asked for. */
static void guard_rank(struct extents_of_place *e, uint32_t value) {
    uint32_t class = find(e->rank_up, value), rank;
    if (e->ranked[class])
        return;
    e->ranked[class] = true;
    shape_of(e, false, value, &rank);
    struct str type = extents_type(e, value);
    buf_printf(&e->ranks, "%s%.*s.getRank() != %u", e->ranks.n ? " || " : "", (int)type.n, type.p, rank);
}

/* What has a variable first, then results of steps, then what is called shortly. */
static int rank_of_name(const struct extents_of_place *e, uint32_t v) {
    return 1000 * e->typed[v] + 500 * (int)str_ends(e->expr[v], STR("Op")) - (int)e->expr[v].n;
}

static uint32_t named_value(const struct extents_of_place *e, uint32_t class, uint32_t *dim) {
    const struct mlir *m = e->place->g->m;
    uint32_t best = NONE;
    for (uint32_t v = 0; v < m->nvalues; v++) {
        uint32_t rank;
        const int64_t *dims = e->expr[v].n ? shape_of(e, false, v, &rank) : NULL;
        for (uint32_t d = 0; dims && d < rank; d++) {
            bool better = best == NONE || rank_of_name(e, v) > rank_of_name(e, best);
            if (find(e->up, e->first[0][v] + d) == class && better) {
                best = v;
                *dim = d;
            }
        }
    }
    return best;
}

/* What may be called by its number at all: of what the form reads, and of its results. */
static bool is_outer(const struct extents_of_place *e, uint32_t value) {
    bool outer = e->place->read[value];
    for (uint32_t i = 0; i < e->place->nroots && !outer; i++)
        outer = e->place->g->m->ops[e->place->roots[i]].first_result == value;
    return outer;
}

static struct str print_node(struct extents_of_place *e, uint32_t at) {
    struct arena *a = e->place->arena;
    uint32_t class = find(e->up, at), dim = 0;
    if (class == find(e->up, e->one) || e->size[at] == 1)
        return STR("1");
    uint32_t v = named_value(e, class, &dim);
    if (v != NONE) {
        guard_rank(e, v);
        return arena_printf(a, "%.*s.getDimSize(%u)", (int)extents_type(e, v).n, extents_type(e, v).p, dim);
    }
    for (uint32_t i = 0; i < e->nnodes; i++)
        if (e->computed[i].n && find(e->up, i) == class)
            return e->computed[i];
    struct str same = extents_number(e, e->size[at]);
    return same.n ? same : arena_printf(a, "%" PRId64, e->size[at]);
}

struct str extents_print(struct extents_of_place *e, bool form, uint32_t value, uint32_t dim) {
    return print_node(e, node(e, form, value, dim));
}

struct str extents_number(struct extents_of_place *e, int64_t number) {
    const struct mlir *m = e->place->g->m;
    uint32_t found = NONE, value = NONE, dim = 0, rank;
    for (uint32_t v = 0; v < m->nvalues && number > 1; v++) {
        const int64_t *dims = e->expr[v].n && is_outer(e, v) ? shape_of(e, false, v, &rank) : NULL;
        for (uint32_t d = 0; dims && d < rank; d++) {
            uint32_t class = find(e->up, e->first[0][v] + d);
            if (dims[d] != number || class == found)
                continue;
            if (found != NONE)
                return STR("");
            found = class;
            value = v;
            dim = d;
        }
    }
    if (value == NONE)
        return STR("");
    guard_rank(e, value);
    return arena_printf(e->place->arena, "%.*s.getDimSize(%u)", (int)extents_type(e, value).n, extents_type(e, value).p,
                        dim);
}

bool extents_one_type(struct extents_of_place *e, uint32_t a, uint32_t b) {
    return find(e->type_up, a) == find(e->type_up, b);
}

uint32_t extents_like(struct extents_of_place *e, uint32_t form_value) {
    const struct mlir *m = e->place->g->m;
    uint32_t rank, other, best = NONE;
    const int64_t *dims = shape_of(e, true, form_value, &rank);
    for (uint32_t v = 0; v < m->nvalues && dims; v++) {
        const int64_t *its = e->expr[v].n ? shape_of(e, false, v, &other) : NULL;
        bool same = its && other == rank && graph_dtype(e->place->g, v) == graph_dtype(e->place->f, form_value);
        for (uint32_t d = 0; d < rank && same; d++)
            same = find(e->up, e->first[0][v] + d) == find(e->up, node(e, true, form_value, d)) ||
                   (its[d] == 1 && dims[d] == 1);
        if (same && (best == NONE || e->typed[v] > e->typed[best]))
            best = v;
    }
    return best;
}

/* ---- guards ---- */

static void guard(struct extents_of_place *e, uint32_t a, uint32_t b) {
    if (find(e->up, a) == find(e->up, b))
        return;
    struct str x = print_node(e, a), y = e->size[b] == 1 && b == e->one ? STR("1") : print_node(e, b);
    join(e, a, b);
    if (!str_eq(x, y))
        buf_printf(&e->guards, "%s%.*s != %.*s", e->guards.n ? " || " : "", (int)x.n, x.p, (int)y.n, y.p);
}

static void guard_one(struct extents_of_place *e, uint32_t value, uint32_t dim) {
    uint32_t at = e->first[0][value] + dim;
    if (find(e->up, at) == find(e->up, e->one))
        return;
    guard_rank(e, value);
    struct str type = extents_type(e, value);
    buf_printf(&e->guards, "%s%.*s.getDimSize(%u) != 1", e->guards.n ? " || " : "", (int)type.n, type.p, dim);
    join(e, at, e->one);
}

static bool all_joined(struct extents_of_place *e, uint32_t a, uint32_t b, uint32_t rank) {
    bool same = find(e->rank_up, a) == find(e->rank_up, b);
    for (uint32_t d = 0; d < rank && same; d++)
        same = find(e->up, e->first[0][a] + d) == find(e->up, e->first[0][b] + d);
    return same;
}

/* "xType.getShape()" */
static struct str shape_text_of(struct extents_of_place *e, uint32_t value) {
    struct str type = extents_type(e, value);
    return arena_printf(e->place->arena, "%.*s.getShape()", (int)type.n, type.p);
}

/* Both have one shape: of one type it is compared with all others of that. */
static void guard_shape(struct extents_of_place *e, uint32_t a, uint32_t b) {
    uint32_t rank;
    shape_of(e, false, a, &rank);
    if (all_joined(e, a, b, rank) || !e->expr[a].n || !e->expr[b].n)
        return;
    if (graph_dtype(e->place->g, a) == graph_dtype(e->place->g, b))
        e->type_up[find(e->type_up, a)] = find(e->type_up, b);
    else {
        buf_printf(&e->guards, "%s%.*s != %.*s", e->guards.n ? " || " : "", (int)shape_text_of(e, a).n,
                   shape_text_of(e, a).p, (int)shape_text_of(e, b).n, shape_text_of(e, b).p);
    }
    for (uint32_t d = 0; d < rank; d++)
        join(e, e->first[0][a] + d, e->first[0][b] + d);
    join_ranks(e, a, b);
}

/* ---- what ops say ---- */

/* Joined, or with `guarded` compared. */
static void relate(struct extents_of_place *e, bool guarded, uint32_t a, uint32_t b) {
    if (guarded)
        guard(e, a, b);
    else
        join(e, a, b);
}

static bool are_ones(const int64_t *dims, uint32_t from, uint32_t to) {
    bool ones = true;
    for (uint32_t d = from; d < to; d++)
        ones &= dims[d] == 1;
    return ones;
}

/* "xType.getShape().drop_back(2) != yType.getShape()" where only ones are added at one end; false: it is another case.
 */
static bool guard_added_ones(struct extents_of_place *e, uint32_t from, uint32_t to) {
    uint32_t nf, nt, front = 0;
    const int64_t *a = shape_of(e, false, from, &nf), *b = shape_of(e, false, to, &nt);
    bool known = true;
    if (!a || !b || nf > nt || nf == 0 || !e->expr[from].n || !e->expr[to].n)
        return false;
    if (!are_ones(b, nf, nt) || memcmp(a, b, nf * sizeof *a) != 0)
        front = nt - nf;
    if (front && (!are_ones(b, 0, front) || memcmp(a, b + front, nf * sizeof *a) != 0))
        return false;
    for (uint32_t d = 0; d < nf; d++)
        known &= find(e->up, e->first[0][from] + d) == find(e->up, e->first[0][to] + front + d);
    struct str drop = nt == nf ? STR("")
                               : arena_printf(e->place->arena, ".drop_%s(%.0u)", front ? "front" : "back",
                                              nt - nf == 1 ? 0 : nt - nf);
    if (!known)
        buf_printf(&e->guards, "%s%.*s%.*s != %.*s", e->guards.n ? " || " : "", (int)shape_text_of(e, to).n,
                   shape_text_of(e, to).p, (int)drop.n, drop.p, (int)shape_text_of(e, from).n,
                   shape_text_of(e, from).p);
    for (uint32_t d = 0; d < nt; d++)
        join(e, e->first[0][to] + d, d < front || d >= front + nf ? e->one : e->first[0][from] + d - front);
    return true;
}

/* The shortest runs of dimensions with as many elements on both sides: one against one is the same extent. */
static void relate_reshape(struct extents_of_place *e, bool form, uint32_t from, uint32_t to, bool guarded) {
    uint32_t nf, nt, f = 0, t = 0;
    const int64_t *a = shape_of(e, form, from, &nf), *b = shape_of(e, form, to, &nt);
    while (a && b && f < nf && t < nt) {
        if (a[f] == 1 || b[t] == 1) {
            if (a[f] == 1)
                f++;
            else
                t++;
            continue;
        }
        int64_t x = a[f], y = b[t];
        uint32_t f0 = f++, t0 = t++;
        while (x != y && (x < y ? f < nf : t < nt))
            if (x < y)
                x *= a[f++];
            else
                y *= b[t++];
        if (f == f0 + 1 && t == t0 + 1)
            relate(e, guarded, node(e, form, to, t0), node(e, form, from, f0));
    }
}

static void relate_same(struct extents_of_place *e, bool form, uint32_t a, uint32_t b) {
    uint32_t rank, other;
    if (!shape_of(e, form, a, &rank) || !shape_of(e, form, b, &other) || rank != other)
        return;
    for (uint32_t d = 0; d < rank; d++)
        if (e->size[node(e, form, a, d)] == e->size[node(e, form, b, d)])
            join(e, node(e, form, a, d), node(e, form, b, d));
    if (!form)
        join_ranks(e, a, b);
}

/* Operands of a product: rows, columns and what is summed; the leading ones are of a batch. */
static void relate_product(struct extents_of_place *e, bool form, uint32_t op) {
    const struct graph *g = graph_of(e, form);
    const uint32_t *x = graph_operands(g, op);
    const struct attrs *at = graph_attributes(g, op);
    uint32_t out = g->m->ops[op].first_result, ra, rb, ro;
    if (!shape_of(e, form, x[0], &ra) || !shape_of(e, form, x[1], &rb) || !shape_of(e, form, out, &ro))
        return;
    if (graph_op_is(g, op, NAMES_AXES)) {
        const int64_t *batch[2], *sum[2];
        static const char *const keys[2][2] = {{"batch_dims_lhs", "contract_dims_lhs"},
                                               {"batch_dims_rhs", "contract_dims_rhs"}};
        int32_t nb = 0, nc = 0;
        uint32_t o = 0;
        for (int s = 0; s < 2; s++) {
            nb = attrs_list(at, keys[s][0], &batch[s]);
            nc = attrs_list(at, keys[s][1], &sum[s]);
        }
        for (int32_t i = 0; i < nc; i++)
            join(e, node(e, form, x[0], (uint32_t)sum[0][i]), node(e, form, x[1], (uint32_t)sum[1][i]));
        for (int32_t i = 0; i < nb; i++, o++)
            for (int s = 0; s < 2; s++)
                join(e, node(e, form, out, o), node(e, form, x[s], (uint32_t)batch[s][i]));
        for (int s = 0; s < 2; s++)
            for (uint32_t d = 0; d < (s ? rb : ra); d++) {
                bool free = true;
                for (int32_t i = 0; i < nb && free; i++)
                    free = batch[s][i] != d;
                for (int32_t i = 0; i < nc && free; i++)
                    free = sum[s][i] != d;
                if (free && o < ro)
                    join(e, node(e, form, out, o++), node(e, form, x[s], d));
            }
        return;
    }
    bool ta = attrs_flag(at, "transpose_a"), tb = attrs_flag(at, "transpose_b");
    if (ra < 2 || rb < 2 || ro < 2)
        return;
    join(e, node(e, form, out, ro - 2), node(e, form, x[0], ta ? ra - 1 : ra - 2));
    join(e, node(e, form, out, ro - 1), node(e, form, x[1], tb ? rb - 2 : rb - 1));
    join(e, node(e, form, x[0], ta ? ra - 2 : ra - 1), node(e, form, x[1], tb ? rb - 1 : rb - 2));
    for (uint32_t i = 3; i <= ro; i++)
        for (int s = 0; s < 2; s++)
            if (i <= (s ? rb : ra) && e->size[node(e, form, x[s], (s ? rb : ra) - i)] > 1)
                join(e, node(e, form, out, ro - i), node(e, form, x[s], (s ? rb : ra) - i));
}

static void relate_reduction(struct extents_of_place *e, bool form, uint32_t op) {
    const struct graph *g = graph_of(e, form);
    uint32_t x = graph_operands(g, op)[0], out = g->m->ops[op].first_result, rank, ro, o = 0;
    bool reduced[MAX_RANK] = {false};
    if (!shape_of(e, form, x, &rank) || !shape_of(e, form, out, &ro) || rank > MAX_RANK ||
        graph_reduced_dims(g, op, rank, reduced) == NONE)
        return;
    for (uint32_t d = 0; d < rank && o < ro; d++) {
        if (reduced[d] && ro == rank)
            join(e, node(e, form, out, o), e->one);
        else if (!reduced[d])
            join(e, node(e, form, out, o), node(e, form, x, d));
        o += !reduced[d] || ro == rank;
    }
    if (ro == rank && !form)
        join_ranks(e, x, out);
}

static void relate_permute(struct extents_of_place *e, bool form, uint32_t op) {
    const struct graph *g = graph_of(e, form);
    uint32_t x = graph_operands(g, op)[0], out = g->m->ops[op].first_result, rank, order[MAX_RANK];
    if (!shape_of(e, form, x, &rank) || rank > MAX_RANK ||
        !permuted_dims((enum op_kind)g->kind[op], graph_attributes(g, op), rank, order))
        return;
    for (uint32_t d = 0; d < rank; d++)
        join(e, node(e, form, out, d), node(e, form, x, order[d]));
    if (!form)
        join_ranks(e, x, out);
}

/* Of operands that are as long, all but one dimension. */
static void relate_concat(struct extents_of_place *e, bool form, uint32_t op) {
    const struct graph *g = graph_of(e, form);
    uint32_t out = g->m->ops[op].first_result, rank;
    const struct attr *axis = graph_axes(g, op);
    if (!shape_of(e, form, out, &rank) || !axis || !axis->is_whole)
        return;
    uint32_t along = (uint32_t)(axis->whole < 0 ? axis->whole + rank : axis->whole);
    struct buf sum = {0};
    for (uint32_t i = 0; i < graph_noperands(g, op); i++) {
        uint32_t x = graph_operands(g, op)[i];
        for (uint32_t d = 0; d < rank; d++)
            if (d != along)
                join(e, node(e, form, out, d), node(e, form, x, d));
        if (form) {
            struct str one = print_node(e, node(e, form, x, along));
            buf_printf(&sum, "%s%.*s", i ? " + " : "", (int)one.n, one.p);
        }
        if (!form)
            join_ranks(e, x, out);
    }
    e->computed[node(e, form, out, along)] = buf_take(&sum, e->place->arena);
}

/* "64" as a part of the extent 128 is that over 2. */
static struct str part_of(struct extents_of_place *e, int64_t part, uint32_t at) {
    int64_t whole = e->size[at];
    struct str text = print_node(e, at);
    if (part == whole)
        return text;
    if (part > 0 && whole % part == 0)
        return arena_printf(e->place->arena, "%.*s / %" PRId64, (int)text.n, text.p, whole / part);
    return arena_printf(e->place->arena, "%" PRId64, part);
}

/* All dimensions but those that are cut. */
static void relate_slice(struct extents_of_place *e, uint32_t op) {
    const struct graph *g = graph_of(e, true);
    uint32_t x = graph_operands(g, op)[0], out = g->m->ops[op].first_result, rank;
    const int64_t *o = shape_of(e, true, out, &rank);
    for (uint32_t d = 0; o && d < rank; d++)
        if (o[d] == e->size[node(e, true, x, d)])
            join(e, node(e, true, out, d), node(e, true, x, d));
        else
            e->computed[node(e, true, out, d)] = part_of(e, o[d], node(e, true, x, d));
}

/* A call, or a composite: the arguments are the operands. */
static void relate_call(struct extents_of_place *e, uint32_t op) {
    const struct mlir *m = graph_of(e, true)->m;
    uint32_t func = m->ops[op].callee == NONE ? NONE : mlir_find_func(m, m->ops[op].callee), rank;
    for (uint32_t i = 0; func != NONE && i < m->funcs[func].nargs && i < m->ops[op].noperands; i++)
        for (uint32_t d = 0; shape_of(e, true, m->funcs[func].first_arg + i, &rank) && d < rank; d++)
            join(e, node(e, true, m->funcs[func].first_arg + i, d),
                 node(e, true, m->operands[m->ops[op].first_operand + i], d));
}

/* What an op says by itself; of the form also what movement does, where nothing has to be compared. */
static void relate_op(struct extents_of_place *e, bool form, uint32_t op) {
    const struct graph *g = graph_of(e, form);
    enum op_class class = graph_class(g, op);
    uint32_t out = g->m->ops[op].nresults ? g->m->ops[op].first_result : NONE, n = graph_noperands(g, op);
    if (out == NONE || n == 0 || graph_operands(g, op)[0] == NONE)
        return;
    uint32_t x = graph_operands(g, op)[0];
    if (form)
        relate_call(e, op);
    if (class == OP_CONTRACT)
        relate_product(e, form, op);
    else if (class == OP_REDUCE)
        relate_reduction(e, form, op);
    else if (class == OP_JOIN)
        relate_concat(e, form, op);
    else if (graph_movement(g, op) == MOVEMENT_PERMUTE)
        relate_permute(e, form, op);
    else if (form && place_reshapes(g, op))
        relate_reshape(e, form, x, out, false);
    else if (form && class == OP_SLICE)
        relate_slice(e, op);
    else if (class == OP_CAST || class == OP_AXISWISE || (class == OP_ELTWISE && n == 1) ||
             (form && op_table[g->kind[op]].window.kind == WINDOW_NONE))
        relate_same(e, form, x, out);
    for (uint32_t k = 1; k < n && form && class == OP_ELTWISE; k++)
        relate_same(e, form, graph_operands(g, op)[k], out);
}

/* ---- the match ---- */

/* Operands that the op would broadcast, and those it would not. */
static void guard_elementwise(struct extents_of_place *e, uint32_t op, bool broadcasts) {
    const struct graph *g = e->place->g;
    uint32_t out = g->m->ops[op].first_result, rank, ro;
    const int64_t *o = shape_of(e, false, out, &ro);
    for (uint32_t k = 0; k < graph_noperands(g, op) && o; k++) {
        uint32_t x = graph_operands(g, op)[k];
        const int64_t *s = x == NONE || place_constant(e->place, x) ? NULL : shape_of(e, false, x, &rank);
        bool same = s && rank == ro;
        for (uint32_t d = 0; d < ro && same; d++)
            same = s[d] == o[d];
        if (same && !broadcasts)
            guard_shape(e, x, out);
        for (uint32_t d = 0; s && d < rank && rank <= ro && !same && broadcasts; d++) {
            if (s[d] == o[ro - rank + d])
                guard(e, e->first[0][x] + d, e->first[0][out] + ro - rank + d);
            else
                guard_one(e, x, d);
        }
    }
}

static void guard_broadcast(struct extents_of_place *e, uint32_t op) {
    const struct graph *g = e->place->g;
    uint32_t x = graph_operands(g, op)[0], out = g->m->ops[op].first_result, rank, ro;
    const int64_t *s = shape_of(e, false, x, &rank), *o = shape_of(e, false, out, &ro);
    for (uint32_t d = 0; s && o && rank == ro && d < rank; d++) {
        if (s[d] == o[d])
            guard(e, e->first[0][x] + d, e->first[0][out] + d);
        else
            guard_one(e, x, d);
    }
}

static void guard_slice(struct extents_of_place *e, uint32_t op) {
    const struct graph *g = e->place->g;
    uint32_t x = graph_operands(g, op)[0], out = g->m->ops[op].first_result, rank, ro;
    const int64_t *s = shape_of(e, false, x, &rank), *o = shape_of(e, false, out, &ro), *begins;
    if (!s || !o || rank != ro || attrs_list(graph_attributes(g, op), "begins", &begins) != (int32_t)rank)
        return;
    for (uint32_t d = 0; d < rank; d++) {
        if (s[d] == o[d]) {
            guard(e, e->first[0][out] + d, e->first[0][x] + d);
            continue;
        }
        struct str size = part_of(e, o[d], e->first[0][x] + d), begin = part_of(e, begins[d], e->first[0][x] + d),
                   type = extents_type(e, out);
        struct str name = e->expr[out];
        guard_rank(e, out);
        buf_printf(&e->guards, "%s%.*s.getDimSize(%u) != %.*s", e->guards.n ? " || " : "", (int)type.n, type.p, d,
                   (int)size.n, size.p);
        buf_printf(&e->guards, " || cast<IntegerAttr>(%.*s.getBegins()[%u]).getInt() != %.*s", (int)name.n, name.p, d,
                   (int)begin.n, begin.p);
        e->computed[e->first[0][out] + d] = size;
    }
}

/* From the operand of a step that only leads on, or its result, to what takes the end of the run. */
static void guard_run(struct extents_of_place *e, uint32_t value) {
    const struct pass_place *p = e->place;
    uint32_t ops[MAX_STEPS], n = place_chain(p, value, ops);
    if (n == 0 || !p->matched[ops[n - 1]])
        return;
    uint32_t step = ops[n - 1], from = p->g->m->ops[step].first_result;
    bool reshaped = false, leads = place_leads_on(p->g, step);
    for (uint32_t i = 0; i < n; i++)
        reshaped |= place_reshapes(p->g, ops[i]);
    if (leads)
        from = graph_operands(p->g, step)[0];
    if (from == value)
        return;
    if (reshaped && !guard_added_ones(e, from, value))
        relate_reshape(e, false, from, value, true);
    if (!reshaped)
        relate_same(e, false, from, value);
}

static void for_steps(struct extents_of_place *e, void (*what)(struct extents_of_place *e, uint32_t op)) {
    for (uint32_t op = e->place->g->m->nops; op-- > 0;)
        if (e->place->matched[op])
            what(e, op);
}

static void say(struct extents_of_place *e, uint32_t op) {
    relate_op(e, false, op);
}

static void compare_shapes(struct extents_of_place *e, uint32_t op) {
    if (graph_class(e->place->g, op) == OP_ELTWISE && graph_noperands(e->place->g, op) > 1)
        guard_elementwise(e, op, false);
}

static void compare_rest(struct extents_of_place *e, uint32_t op) {
    const struct graph *g = e->place->g;
    if (!e->place->step[op])
        return;
    if (graph_class(g, op) == OP_ELTWISE && graph_noperands(g, op) > 1)
        guard_elementwise(e, op, true);
    if (graph_movement(g, op) == MOVEMENT_BROADCAST)
        guard_broadcast(e, op);
    if (graph_class(g, op) == OP_SLICE)
        guard_slice(e, op);
}

static void compare_runs(struct extents_of_place *e, uint32_t op) {
    for (uint32_t k = 0; k < graph_noperands(e->place->g, op) && e->place->step[op]; k++)
        if (graph_operands(e->place->g, op)[k] != NONE)
            guard_run(e, graph_operands(e->place->g, op)[k]);
}

/* "!haveOneType({x, addOp})" of each class of values. */
static void print_types(struct extents_of_place *e) {
    struct buf all = {0};
    for (uint32_t v = 0; v < e->place->g->m->nvalues; v++) {
        struct buf list = {0};
        uint32_t n = 0;
        for (uint32_t x = 0; x < e->place->g->m->nvalues && find(e->type_up, v) == v; x++)
            if (find(e->type_up, x) == v && e->expr[x].n)
                buf_printf(&list, "%s%.*s", n++ ? ", " : "", (int)e->expr[x].n, e->expr[x].p);
        struct str types = buf_take(&list, e->place->arena);
        if (n > 1)
            buf_printf(&all, "%s!haveOneType({%.*s})", all.n ? " || " : "", (int)types.n, types.p);
    }
    struct str text = buf_take(&all, e->place->arena), rest = buf_take(&e->guards, e->place->arena);
    buf_printf(&e->guards, "%.*s%s%.*s", (int)text.n, text.p ? text.p : "", text.n && rest.n ? " || " : "", (int)rest.n,
               rest.p ? rest.p : "");
}

void extents_of_match(struct extents_of_place *e) {
    const struct pass_place *p = e->place;
    for_steps(e, say);
    for_steps(e, compare_shapes);
    for (uint32_t i = 0; i < p->nroots; i++) /* a root that leads on is the end of a run of its own */
        if (place_leads_on(p->g, p->roots[i]) && place_reshapes(p->g, p->roots[i]))
            relate_reshape(e, false, graph_operands(p->g, p->roots[i])[0], p->g->m->ops[p->roots[i]].first_result,
                           true);
    for_steps(e, compare_runs);
    for_steps(e, compare_rest);
    print_types(e);
}

void extents_of_form(struct extents_of_place *e) {
    for (uint32_t op = 0; op < e->place->f->m->nops; op++)
        if (e->place->is_new[op] || e->place->f->m->ops[op].func != e->place->fused_func)
            relate_op(e, true, op);
}
