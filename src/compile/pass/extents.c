#include "compile/pass/extents.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "ir/graph/movement.h"
#include "ir/ops/infer.h"

/* ---- nodes ---- */

static const struct graph *graph_of(const struct extents_of_place *e, bool form) {
    return form ? e->place->f : e->place->g;
}

/* What is of both modules is that of g. */
static uint32_t node(const struct extents_of_place *e, bool form, uint32_t value, uint32_t dim) {
    uint32_t same = form ? e->place->value_of[value] : NONE;
    return same != NONE ? e->first[0][same] + dim : e->first[form][value] + dim;
}

/* The rank is 0 where it is not known. */
static const int64_t *shape_of(const struct extents_of_place *e, bool form, uint32_t value, uint32_t *rank) {
    const int64_t *dims = value == NONE ? NULL : graph_shape(graph_of(e, form), value, rank);
    *rank = dims ? *rank : 0;
    return dims;
}

/* An op of one of the modules, whose extents are joined. */
struct relation {
    struct extents_of_place *e;
    const struct graph *g;
    uint32_t op, x, out; /* its first operand and result, */
    uint32_t rank, ro;   /* their ranks */
    const int64_t *dims, *o;
    bool form;
};

static void join(const struct relation *r, uint32_t a, uint32_t da, uint32_t b, uint32_t db) {
    sets_join(r->e->up, node(r->e, r->form, a, da), node(r->e, r->form, b, db));
}

static void join_one(const struct relation *r, uint32_t value, uint32_t dim) {
    sets_join(r->e->up, node(r->e, r->form, value, dim), r->e->one);
}

/* ---- what ops say ---- */

/* From the last dimension on, those that are as long; one that is repeated is 1. */
static void relate_aligned(const struct relation *r, uint32_t x) {
    uint32_t rank;
    const int64_t *dims = shape_of(r->e, r->form, x, &rank);
    bool whole = rank == r->ro && memcmp(dims, r->o, rank * sizeof *dims) == 0;
    for (uint32_t i = 1; i <= rank && i <= r->ro; i++) {
        if (dims[rank - i] == r->o[r->ro - i] && (whole || dims[rank - i] > 1))
            join(r, r->out, r->ro - i, x, rank - i);
        else if (dims[rank - i] == 1 && r->o[r->ro - i] > 1)
            join_one(r, x, rank - i);
    }
}

/* Two dimensions that are as long, with as many elements before them, are the same extent; a 1 that has no such
 * counterpart is 1. */
static void relate_reshape(const struct relation *r) {
    int64_t before = 1, other = 1;
    for (uint32_t d = 0, k = 0; d < r->rank || k < r->ro;) {
        int64_t x = d < r->rank ? before * r->dims[d] : INT64_MAX, y = k < r->ro ? other * r->o[k] : INT64_MAX;
        if (x == y && before == other)
            join(r, r->out, k, r->x, d);
        else if (x < y && x == before)
            join_one(r, r->x, d);
        else if (y < x && y == other)
            join_one(r, r->out, k);
        d += x <= y;
        k += y <= x;
        before = x <= y ? x : before;
        other = y <= x ? y : other;
    }
}

static void relate_permute(const struct relation *r) {
    uint32_t order[MAX_RANK];
    if (r->rank <= MAX_RANK &&
        permuted_dims((enum op_kind)r->g->kind[r->op], graph_attributes(r->g, r->op), r->rank, order))
        for (uint32_t d = 0; d < r->rank; d++)
            join(r, r->out, d, r->x, order[d]);
}

static void relate_reduction(const struct relation *r) {
    bool reduced[MAX_RANK] = {false};
    uint32_t o = 0;
    if (r->rank > MAX_RANK || graph_reduced_dims(r->g, r->op, r->rank, reduced) == NONE)
        return;
    for (uint32_t d = 0; d < r->rank && o < r->ro; d++) {
        if (!reduced[d])
            join(r, r->out, o, r->x, d);
        else if (r->ro == r->rank)
            join_one(r, r->out, o);
        o += !reduced[d] || r->ro == r->rank;
    }
}

static void relate_product(const struct relation *r) {
    struct contraction c;
    if (!contraction_of(r->g, r->op, &c))
        return;
    for (uint32_t i = 0; i < c.nsummed; i++)
        join(r, c.a, (uint32_t)c.a_summed[i], c.b, (uint32_t)c.b_summed[i]);
    for (uint32_t d = 0; d < c.rank; d++) {
        if (c.a_dim[d] >= 0 && graph_shape(r->g, c.a, &(uint32_t){0})[c.a_dim[d]] == r->o[d])
            join(r, r->out, d, c.a, (uint32_t)c.a_dim[d]);
        if (c.b_dim[d] >= 0 && graph_shape(r->g, c.b, &(uint32_t){0})[c.b_dim[d]] == r->o[d])
            join(r, r->out, d, c.b, (uint32_t)c.b_dim[d]);
    }
}

static void relate_op(struct extents_of_place *e, bool form, uint32_t op) {
    const struct graph *g = graph_of(e, form);
    enum op_class class = graph_class(g, op);
    uint32_t n = graph_noperands(g, op);
    struct relation r = {.e = e, .g = g, .op = op, .form = form};
    if (g->m->ops[op].nresults == 0 || n == 0)
        return;
    r.out = g->m->ops[op].first_result;
    r.x = graph_operands(g, op)[0];
    r.o = shape_of(e, form, r.out, &r.ro);
    r.dims = shape_of(e, form, r.x, &r.rank);
    for (uint32_t i = 1; i < g->m->ops[op].nresults; i++)
        relate_aligned(&r, r.out + i);
    if (class == OP_CONTRACT)
        relate_product(&r);
    else if (class == OP_REDUCE)
        relate_reduction(&r);
    else if (graph_movement(g, op) == MOVEMENT_PERMUTE)
        relate_permute(&r);
    else if (place_reshapes(g, op))
        relate_reshape(&r);
    else if (form || class != OP_OPAQUE || n == 1) {
        for (uint32_t k = 0; k < n && op_table[g->kind[op]].window.kind == WINDOW_NONE; k++)
            if (k == 0 || class == OP_ELTWISE || class == OP_JOIN)
                relate_aligned(&r, graph_operands(g, op)[k]);
    }
}

void extents_begin(struct extents_of_place *e, const struct pass_place *p, const struct str *expr) {
    uint32_t n = 1, rank, nvalues = p->g->m->nvalues;
    *e = (struct extents_of_place){.place = p, .expr = expr};
    for (int form = 0; form < 2; form++) {
        const struct mlir *m = graph_of(e, form)->m;
        e->first[form] = arena_alloc(p->arena, (m->nvalues + (size_t)1) * sizeof **e->first);
        for (uint32_t v = 0; v < m->nvalues; v++) {
            e->first[form][v] = n;
            shape_of(e, form, v, &rank);
            n += rank;
        }
    }
    e->nnodes = n;
    e->up = arena_alloc(p->arena, n * sizeof *e->up);
    e->size = arena_alloc(p->arena, n * sizeof *e->size);
    e->shape = arena_alloc(p->arena, (nvalues + (size_t)1) * sizeof *e->shape);
    e->indexed = arena_alloc(p->arena, nvalues + (size_t)1);
    e->defines = arena_alloc(p->arena, (nvalues + (size_t)1) * sizeof *e->defines);
    for (uint32_t i = 0; i < n; i++)
        e->up[i] = i;
    for (int form = 0; form < 2; form++)
        for (uint32_t v = 0; v < graph_of(e, form)->m->nvalues; v++) {
            const int64_t *dims = shape_of(e, form, v, &rank);
            if (dims)
                memcpy(e->size + e->first[form][v], dims, rank * sizeof *dims);
        }
    for (uint32_t op = p->g->m->nops; op-- > 0;)
        if (p->matched[op])
            relate_op(e, false, op);
    for (uint32_t op = 0; op < p->f->m->nops; op++)
        if (p->is_new[op] || p->f->m->ops[op].func != p->fused_func)
            relate_op(e, true, op);
}

/* ---- print ---- */

static struct str shape_variable(struct extents_of_place *e, uint32_t value) {
    struct str base = e->expr[value], rest = base;
    struct buf b = {0};
    for (; rest.n && !e->shape[value].n; rest.p++, rest.n--) {
        if (str_starts(rest, STR("Op"))) /* addOp2 is add2 */
            rest.p++, rest.n--;
        else if (*rest.p != '.')
            buf_addc(&b, rest.p > base.p && rest.p[-1] == '.' ? (char)toupper((unsigned char)*rest.p) : *rest.p);
    }
    buf_add(&b, STR("Shape"));
    struct str name = buf_take(&b, e->place->arena);
    if (!e->shape[value].n)
        e->shape[value] = name;
    return e->shape[value];
}

static bool is_variable(struct str expr) {
    for (size_t i = 0; i < expr.n; i++)
        if (strchr(">(", expr.p[i]))
            return false;
    return expr.n > 0;
}

/* The extent that names the class; its value, or NONE. */
static uint32_t naming(const struct extents_of_place *e, uint32_t class, uint32_t *dim) {
    for (uint32_t i = 0; i < e->ndefines; i++) {
        uint32_t rank, v = e->defines[i];
        shape_of(e, false, v, &rank);
        for (*dim = 0; *dim < rank; ++*dim)
            if (set_first(e->up, e->first[0][v] + *dim) == class)
                return v;
    }
    return NONE;
}

static struct str print_node(struct extents_of_place *e, uint32_t at);

enum { MAX_PARTS = 8 };

/* An op that makes an extent of this class by putting together or cutting. */
struct extent_maker {
    const struct graph *g;
    bool form;
    uint32_t op, dim, x; /* x: its first operand */
};

static bool find_maker(const struct extents_of_place *e, uint32_t class, struct extent_maker *k) {
    for (int form = 0; form < 2; form++)
        for (uint32_t op = 0; op < graph_of(e, form)->m->nops; op++) {
            const struct graph *g = graph_of(e, form);
            uint32_t ro, rank, out = g->m->ops[op].nresults ? g->m->ops[op].first_result : NONE;
            if (!(form ? e->place->is_new : e->place->matched)[op] ||
                (graph_class(g, op) != OP_JOIN && graph_class(g, op) != OP_SLICE))
                continue;
            *k = (struct extent_maker){g, form, op, 0, graph_operands(g, op)[0]};
            const int64_t *o = shape_of(e, form, out, &ro), *dims = shape_of(e, form, k->x, &rank);
            for (; k->dim < ro && k->dim < rank; k->dim++)
                if (dims[k->dim] != o[k->dim] && set_first(e->up, node(e, form, out, k->dim)) == class)
                    return true;
        }
    return false;
}

/* The nodes whose sum it is: what is put together, or those of them that are cut out. How many; 0: it is no sum. */
static uint32_t sum_of(const struct extents_of_place *e, uint32_t class, uint32_t *nodes) {
    struct extent_maker k;
    struct slice_bounds s;
    uint32_t all[MAX_PARTS], n = 0, kept = 0;
    if (!find_maker(e, class, &k))
        return 0;
    for (; graph_class(k.g, k.op) == OP_JOIN && n < graph_noperands(k.g, k.op) && n < MAX_PARTS; n++)
        nodes[n] = node(e, k.form, graph_operands(k.g, k.op)[n], k.dim);
    if (n || !slice_bounds(k.g, k.op, &s) || s.step[k.dim] != 1)
        return n;
    n = sum_of(e, set_first(e->up, node(e, k.form, k.x, k.dim)), all);
    for (int64_t i = 0, at = 0; i < n; at += e->size[all[i++]])
        if (at >= s.begin[k.dim] && at + e->size[all[i]] <= s.end[k.dim])
            nodes[kept++] = all[i];
    return kept > 1 ? kept : 0;
}

static struct str print_sum(struct extents_of_place *e, const uint32_t *nodes, uint32_t n, int64_t is) {
    struct buf b = {0};
    int64_t all = 0;
    for (uint32_t i = 0; i < n; all += e->size[nodes[i++]]) {
        struct str one = print_node(e, nodes[i]);
        buf_printf(&b, "%s%s", i ? " + " : "", one.p);
    }
    struct str text = buf_take(&b, e->place->arena);
    for (uint32_t i = 0; i < e->nsums; i++)
        text = str_eq(text, e->sums[i].text) ? e->sums[i].name : text;
    return all == is ? text : STR("");
}

static struct str print_part(struct extents_of_place *e, uint32_t at, int64_t size) {
    struct str whole = print_node(e, at);
    return size > 0 && e->size[at] % size == 0
               ? arena_printf(e->place->arena, "%s / %" PRId64, whole.p, e->size[at] / size)
               : STR("");
}

/* What is put together is a sum; what is cut evenly is a part. Empty: it is neither. */
static struct str print_made(struct extents_of_place *e, uint32_t class) {
    uint32_t nodes[MAX_PARTS], n = sum_of(e, class, nodes);
    struct extent_maker k;
    struct str sum = n ? print_sum(e, nodes, n, e->size[class]) : STR("");
    if (sum.n || !find_maker(e, class, &k) || graph_class(k.g, k.op) != OP_SLICE)
        return sum;
    return print_part(e, node(e, k.form, k.x, k.dim), e->size[class]);
}

static struct str print_node(struct extents_of_place *e, uint32_t at) {
    uint32_t class = set_first(e->up, at), dim, v = naming(e, class, &dim);
    if (class == set_first(e->up, e->one))
        return STR("1");
    if (v != NONE) {
        e->indexed[v] = true;
        struct str shape = shape_variable(e, v);
        return arena_printf(e->place->arena, "%s[%u]", shape.p, dim);
    }
    struct str text = print_made(e, class);
    for (uint32_t i = 0; i < e->ndefines && !text.n; i++) { /* one that is as long has a name */
        uint32_t rank;
        shape_of(e, false, e->defines[i], &rank);
        for (uint32_t d = 0; d < rank && !text.n; d++)
            if (e->size[e->first[0][e->defines[i]] + d] == e->size[at] && e->size[at] > 1)
                text = print_node(e, e->first[0][e->defines[i]] + d);
    }
    return text.n ? text : arena_printf(e->place->arena, "%" PRId64, e->size[at]);
}

struct str extents_print(struct extents_of_place *e, bool form, uint32_t value, uint32_t dim) {
    return print_node(e, node(e, form, value, dim));
}

static bool same_shape(struct extents_of_place *e, bool form, uint32_t value, uint32_t v) {
    uint32_t rank, other;
    bool same = shape_of(e, form, value, &rank) && shape_of(e, false, v, &other) && rank == other;
    for (uint32_t d = 0; d < rank && same; d++)
        same = set_first(e->up, node(e, form, value, d)) == set_first(e->up, e->first[0][v] + d);
    return same;
}

void extents_name(struct extents_of_place *e, uint32_t form_value, struct str type) {
    uint32_t rank;
    shape_of(e, true, form_value, &rank);
    for (uint32_t d = 0; d < rank && e->nsums < MAX_SUMS; d++) {
        struct str text = extents_print(e, true, form_value, d);
        if (str_find(text, STR(" + ")))
            e->sums[e->nsums++] =
                (struct named_sum){text, arena_printf(e->place->arena, "%s.getDimSize(%u)", type.p, d)};
    }
}

struct str extents_list(struct extents_of_place *e, bool form, uint32_t value) {
    struct buf b = {0};
    uint32_t rank;
    for (uint32_t i = 0; i < e->ndefines; i++)
        if (same_shape(e, form, value, e->defines[i]))
            return shape_variable(e, e->defines[i]);
    shape_of(e, form, value, &rank);
    for (uint32_t d = 0; d < rank; d++) {
        struct str one = extents_print(e, form, value, d);
        buf_printf(&b, "%s%s", d ? ", " : "{", one.p);
    }
    buf_add(&b, rank ? STR("}") : STR("{}"));
    return buf_take(&b, e->place->arena);
}

/* The extents of what is replaced that are this number, of which one is returned, or NONE; `join`: they are equal. */
static uint32_t find_replaced(const struct extents_of_place *e, int64_t number, bool join) {
    uint32_t found = NONE, rank;
    for (uint32_t i = 0; i < e->place->nroots && number > 1; i++) {
        const struct mlir_op *o = &e->place->g->m->ops[e->place->roots[i]];
        for (uint32_t v = o->first_result; v < o->first_result + o->nresults; v++)
            for (uint32_t d = 0; shape_of(e, false, v, &rank) && d < rank; d++) {
                uint32_t at = e->first[0][v] + d;
                if (e->size[at] == number && found != NONE && join)
                    sets_join(e->up, found, at);
                found = e->size[at] == number && found == NONE ? at : found;
            }
    }
    return found;
}

/* Counts of the form, as of heads, are extents of what is replaced: where several are this number, they are compared.
 */
static void join_counts(struct extents_of_place *e) {
    const struct graph *f = e->place->f;
    for (uint32_t op = 0; op < f->m->nops; op++)
        for (uint32_t i = 0; e->place->is_new[op] && i < graph_attributes(f, op)->n; i++) {
            const struct attr *x = &graph_attributes(f, op)->at[i];
            if (x->is_whole && op_dims_role((enum op_kind)f->kind[op], x->key) == DIMS_COUNT)
                (void)find_replaced(e, x->whole, true);
        }
}

struct str extents_number(struct extents_of_place *e, int64_t number) {
    uint32_t found = find_replaced(e, number, false);
    return found == NONE ? STR("") : print_node(e, found);
}

uint32_t extents_like(struct extents_of_place *e, uint32_t form_value) {
    const struct graph *g = e->place->g;
    for (uint32_t v = 0; v < g->m->nvalues; v++)
        if (is_variable(e->expr[v]) && graph_dtype(g, v) == graph_dtype(e->place->f, form_value) &&
            same_shape(e, true, form_value, v))
            return v;
    return NONE;
}

struct str extents_offset(struct extents_of_place *e, uint32_t form_value, uint32_t dim, int64_t offset) {
    uint32_t at = node(e, true, form_value, dim), nodes[MAX_PARTS], n = sum_of(e, set_first(e->up, at), nodes);
    struct str text = offset == e->size[at] ? print_node(e, at) : STR("");
    for (uint32_t i = 1; i < n && !text.n; i++)
        text = print_sum(e, nodes, i, offset);
    text = text.n ? text : offset > 1 ? print_part(e, at, offset) : text;
    return text.n ? text : arena_printf(e->place->arena, "%" PRId64, offset);
}

/* ---- guards ---- */

/* The value has an extent that nothing before it names. */
static bool adds_names(struct extents_of_place *e, uint32_t value) {
    uint32_t rank;
    bool adds = false;
    shape_of(e, false, value, &rank);
    for (uint32_t d = 0; d < rank && !adds; d++) {
        uint32_t class = set_first(e->up, e->first[0][value] + d), dim;
        adds = class != set_first(e->up, e->one) && naming(e, class, &dim) == NONE &&
               (e->place->read[value] || !find_maker(e, class, &(struct extent_maker){0}));
    }
    return adds;
}

static bool is_defining(const struct extents_of_place *e, uint32_t value) {
    bool defines = false;
    for (uint32_t i = 0; i < e->ndefines && !defines; i++)
        defines = e->defines[i] == value;
    return defines;
}

/* The other operand of a product that takes the value has an equal extent: its verifier says so. */
static bool is_verified(const struct extents_of_place *e, uint32_t value, uint32_t dim) {
    struct contraction c;
    bool is = false;
    for (uint32_t op = 0; op < e->place->g->m->nops && !is; op++) {
        if (!e->place->matched[op] || !contraction_of(e->place->g, op, &c) || c.b != value || !is_defining(e, c.a))
            continue;
        for (uint32_t i = 0; i < c.nsummed && !is; i++)
            is = c.b_summed[i] == (int)dim;
        for (uint32_t i = 0; i < c.rank && !is; i++)
            is = c.role[i] == ROLE_BATCH && c.b_dim[i] == (int)dim;
    }
    return is;
}

/* The extents of a shape that names some, where others have named them before; more than one as a shape. */
static struct str compare_names(struct extents_of_place *e, uint32_t value, struct buf *out) {
    uint32_t rank, n = 0;
    struct str shape = shape_variable(e, value), differing = {0};
    struct buf list = {0};
    shape_of(e, false, value, &rank);
    for (uint32_t d = 0; d < rank; d++) {
        struct str one = print_node(e, e->first[0][value] + d);
        struct str own = arena_printf(e->place->arena, "%s[%u]", shape.p, d);
        buf_printf(&list, "%s%s", d ? ", " : "{", one.p);
        if (str_eq(one, own) || is_verified(e, value, d))
            continue;
        differing = arena_printf(e->place->arena, "%s != %s", own.p, one.p);
        n++;
    }
    e->indexed[value] |= n > 0;
    if (n == 1)
        buf_printf(out, "%s%s", out->n ? " || " : "", differing.p);
    struct str all = buf_take(&list, e->place->arena);
    return n > 1 ? arena_printf(e->place->arena, "%s}", all.p) : STR("");
}

struct str extents_guards(struct extents_of_place *e, const uint32_t *values, uint32_t n) {
    struct arena *a = e->place->arena;
    struct str *lists = arena_alloc(a, (n + (size_t)1) * sizeof *lists);
    struct buf out = {0};
    join_counts(e);
    for (uint32_t i = 0; i < n; i++)
        if (is_variable(e->expr[values[i]]) && adds_names(e, values[i]))
            e->defines[e->ndefines++] = values[i];
    memset(e->indexed, 0, e->place->g->m->nvalues);
    for (uint32_t i = 0; i < n; i++) {
        bool defines = is_defining(e, values[i]);
        lists[i] = defines ? compare_names(e, values[i], &out) : extents_list(e, false, values[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct buf of = {0};
        for (uint32_t k = i; k < n && lists[i].n; k++)
            if (str_eq(lists[k], lists[i]))
                buf_printf(&of, "%s%s", of.n ? ", " : "", e->expr[values[k]].p);
        struct str list = lists[i], of_text = buf_take(&of, a);
        for (uint32_t k = i; k < n; k++)
            lists[k] = list.n && str_eq(lists[k], list) ? STR("") : lists[k];
        if (list.n)
            buf_printf(&out, "%s!haveShape({%s}, %s)", out.n ? " || " : "", of_text.p, list.p);
    }
    return buf_take(&out, a);
}
