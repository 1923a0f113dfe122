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

/* The shortest runs of dimensions with as many elements on both sides: one against one is the same extent. */
static void relate_reshape(const struct relation *r) {
    uint32_t f = 0, t = 0;
    while (f < r->rank || t < r->ro) {
        bool ones = (f < r->rank && r->dims[f] == 1) != (t < r->ro && r->o[t] == 1);
        if (f == r->rank || (ones && t < r->ro && r->o[t] == 1)) {
            join_one(r, r->out, t++);
            continue;
        }
        if (t == r->ro || ones) {
            join_one(r, r->x, f++);
            continue;
        }
        uint32_t f0 = f, t0 = t;
        int64_t n = r->dims[f++], m = r->o[t++];
        while (n != m && (n < m ? f < r->rank : t < r->ro))
            if (n < m)
                n *= r->dims[f++];
            else
                m *= r->o[t++];
        if (f == f0 + 1 && t == t0 + 1)
            join(r, r->out, t0, r->x, f0);
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

/* It is a part or a sum of others; or NULL. */
static const struct part *part_of(const struct extents_of_place *e, uint32_t class) {
    for (uint32_t i = 0; i < e->nnodes; i++)
        if (e->parts[i].nof && set_first(e->up, i) == class)
            return &e->parts[i];
    return NULL;
}

/* What is cut is a part of the extent; what is put together is the sum. */
static void compute_parts(const struct relation *r) {
    uint32_t n = graph_noperands(r->g, r->op);
    for (uint32_t d = 0; d < r->ro && d < r->rank; d++) {
        struct part *part = &r->e->parts[node(r->e, r->form, r->out, d)];
        bool cut = graph_class(r->g, r->op) == OP_SLICE && r->dims[d] % r->o[d] == 0;
        if (r->dims[d] == r->o[d] || !(cut || graph_class(r->g, r->op) == OP_JOIN) || n > 4)
            continue;
        *part = (struct part){.over = cut ? r->dims[d] / r->o[d] : 1};
        for (uint32_t i = 0; i < n; i++)
            part->of[part->nof++] = node(r->e, r->form, graph_operands(r->g, r->op)[i], d);
    }
}

/* A slice of a sum between two of its terms: of one term its extent, of several their sum. */
static void relate_slice(const struct relation *r) {
    struct slice_bounds s;
    for (uint32_t d = 0; d < r->ro && slice_bounds(r->g, r->op, &s); d++) {
        const struct part *whole = part_of(r->e, set_first(r->e->up, node(r->e, r->form, r->x, d)));
        struct part part = {.over = 1};
        int64_t at = 0, n = 0;
        for (uint32_t i = 0; whole && whole->over == 1 && s.cut[d] && s.step[d] == 1 && i < whole->nof; i++) {
            int64_t size = r->e->size[whole->of[i]];
            if (at >= s.begin[d] && at + size <= s.end[d]) {
                part.of[part.nof++] = whole->of[i];
                n += size;
            }
            at += size;
        }
        if (part.nof == 1 && n == r->o[d])
            sets_join(r->e->up, node(r->e, r->form, r->out, d), part.of[0]);
        else if (part.nof > 1 && n == r->o[d])
            r->e->parts[node(r->e, r->form, r->out, d)] = part;
    }
}

/* A call, or a composite: the arguments are the operands. */
static void relate_call(const struct relation *r) {
    const struct mlir *m = r->g->m;
    const struct mlir_op *o = &m->ops[r->op];
    uint32_t func = o->callee == NONE ? NONE : mlir_find_func(m, o->callee), rank;
    for (uint32_t i = 0; func != NONE && i < m->funcs[func].nargs && i < o->noperands; i++)
        for (uint32_t d = 0; shape_of(r->e, r->form, m->funcs[func].first_arg + i, &rank) && d < rank; d++)
            join(r, m->funcs[func].first_arg + i, d, m->operands[o->first_operand + i], d);
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
    relate_call(&r);
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
        compute_parts(&r);
        relate_slice(&r);
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
    e->parts = arena_alloc(p->arena, n * sizeof *e->parts);
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

/* The extent that names the class; its value, or NONE. What is a part of others is named by what the form reads. */
static uint32_t naming(const struct extents_of_place *e, uint32_t class, uint32_t *dim) {
    const struct part *part = part_of(e, class);
    for (uint32_t i = 0; i < e->ndefines; i++) {
        uint32_t rank, v = e->defines[i];
        shape_of(e, false, v, &rank);
        for (*dim = 0; *dim < rank && (!part || e->place->read[v]); ++*dim)
            if (set_first(e->up, e->first[0][v] + *dim) == class)
                return v;
    }
    return NONE;
}

static struct str print_node(struct extents_of_place *e, uint32_t at);

static struct str print_part(struct extents_of_place *e, const struct part *p) {
    struct buf b = {0};
    if (p->name.n)
        return p->name;
    for (uint32_t i = 0; i < p->nof; i++) {
        struct str one = print_node(e, p->of[i]);
        buf_printf(&b, "%s%.*s", i ? " + " : "", (int)one.n, one.p);
    }
    if (p->over > 1)
        buf_printf(&b, " / %" PRId64, p->over);
    return buf_take(&b, e->place->arena);
}

static struct str print_node(struct extents_of_place *e, uint32_t at) {
    uint32_t class = set_first(e->up, at), dim, v = naming(e, class, &dim);
    if (class == set_first(e->up, e->one))
        return STR("1");
    if (v != NONE) {
        e->indexed[v] = true;
        struct str shape = shape_variable(e, v);
        return arena_printf(e->place->arena, "%.*s[%u]", (int)shape.n, shape.p, dim);
    }
    if (part_of(e, class))
        return print_part(e, part_of(e, class));
    struct str out = extents_number(e, e->size[at]);
    return out.n ? out : arena_printf(e->place->arena, "%" PRId64, e->size[at]);
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

struct str extents_list(struct extents_of_place *e, bool form, uint32_t value) {
    struct buf b = {0};
    uint32_t rank;
    for (uint32_t i = 0; i < e->ndefines; i++)
        if (same_shape(e, form, value, e->defines[i]))
            return shape_variable(e, e->defines[i]);
    shape_of(e, form, value, &rank);
    for (uint32_t d = 0; d < rank; d++) {
        struct str one = extents_print(e, form, value, d);
        buf_printf(&b, "%s%.*s", d ? ", " : "{", (int)one.n, one.p);
    }
    buf_add(&b, rank ? STR("}") : STR("{}"));
    return buf_take(&b, e->place->arena);
}

struct str extents_number(struct extents_of_place *e, int64_t number) {
    uint32_t found = NONE, node = NONE;
    for (uint32_t i = 0; i < e->ndefines && number > 1; i++) {
        uint32_t rank, v = e->defines[i];
        const int64_t *dims = shape_of(e, false, v, &rank);
        for (uint32_t d = 0; d < rank; d++) {
            uint32_t class = set_first(e->up, e->first[0][v] + d);
            if (dims[d] != number || class == found)
                continue;
            if (found != NONE)
                return STR("");
            found = class;
            node = e->first[0][v] + d;
        }
    }
    return node == NONE ? STR("") : print_node(e, node);
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
    uint32_t at = node(e, true, form_value, dim);
    const struct part *part = part_of(e, set_first(e->up, at));
    struct buf sum = {0};
    int64_t n = 0;
    if (offset == e->size[at])
        return print_node(e, at);
    for (uint32_t i = 0; part && part->over == 1 && i < part->nof && n < offset; i++) {
        struct str one = print_node(e, part->of[i]);
        buf_printf(&sum, "%s%.*s", i ? " + " : "", (int)one.n, one.p);
        n += e->size[part->of[i]];
    }
    struct str all = buf_take(&sum, e->place->arena), whole = print_node(e, at);
    if (n == offset && n > 0)
        return all;
    return offset > 1 && e->size[at] % offset == 0
               ? arena_printf(e->place->arena, "%.*s / %" PRId64, (int)whole.n, whole.p, e->size[at] / offset)
               : arena_printf(e->place->arena, "%" PRId64, offset);
}

/* ---- guards ---- */

void extents_name(struct extents_of_place *e, uint32_t form_value, struct str type) {
    uint32_t rank;
    shape_of(e, true, form_value, &rank);
    for (uint32_t d = 0; d < rank; d++) {
        struct part *part = &e->parts[node(e, true, form_value, d)];
        if (part->nof < 2 || part->name.n)
            continue;
        struct str sum = print_part(e, part);
        for (uint32_t i = 0; i < e->nnodes; i++)
            if (e->parts[i].nof > 1 && str_eq(print_part(e, &e->parts[i]), sum))
                e->parts[i].name = arena_printf(e->place->arena, "%.*s.getDimSize(%u)", (int)type.n, type.p, d);
    }
}

/* The value has an extent that nothing before it names. */
static bool adds_names(struct extents_of_place *e, uint32_t value) {
    uint32_t rank;
    bool adds = false;
    shape_of(e, false, value, &rank);
    for (uint32_t d = 0; d < rank && !adds; d++) {
        uint32_t class = set_first(e->up, e->first[0][value] + d), dim;
        adds = class != set_first(e->up, e->one) && naming(e, class, &dim) == NONE &&
               (e->place->read[value] || !part_of(e, class));
    }
    return adds;
}

static bool is_defining(const struct extents_of_place *e, uint32_t value) {
    bool defines = false;
    for (uint32_t i = 0; i < e->ndefines && !defines; i++)
        defines = e->defines[i] == value;
    return defines;
}

/* A product that takes the value has an equal extent in its other operand: its verifier says so. */
static bool is_verified(const struct extents_of_place *e, uint32_t value, uint32_t dim) {
    const struct graph *g = e->place->g;
    struct contraction c;
    int d = (int)dim;
    bool is = false;
    for (uint32_t op = 0; op < g->m->nops && !is; op++) {
        if (!e->place->matched[op] || !contraction_of(g, op, &c) || !is_defining(e, c.a) || !is_defining(e, c.b))
            continue;
        for (uint32_t i = 0; i < c.nsummed && !is; i++)
            is = (c.b == value && c.b_summed[i] == d) || (c.a == value && c.a_summed[i] == d);
        for (uint32_t i = 0; i < c.rank && !is; i++)
            is = c.role[i] == ROLE_BATCH && ((c.b == value && c.b_dim[i] == d) || (c.a == value && c.a_dim[i] == d));
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
        struct str own = arena_printf(e->place->arena, "%.*s[%u]", (int)shape.n, shape.p, d);
        buf_printf(&list, "%s%.*s", d ? ", " : "{", (int)one.n, one.p);
        if (str_eq(one, own) || is_verified(e, value, d))
            continue;
        differing = arena_printf(e->place->arena, "%.*s != %.*s", (int)own.n, own.p, (int)one.n, one.p);
        n++;
    }
    e->indexed[value] |= n > 0;
    if (n == 1)
        buf_printf(out, "%s%.*s", out->n ? " || " : "", (int)differing.n, differing.p);
    struct str all = buf_take(&list, e->place->arena);
    return n > 1 ? arena_printf(e->place->arena, "%.*s}", (int)all.n, all.p) : STR("");
}

struct str extents_guards(struct extents_of_place *e, const uint32_t *values, uint32_t n) {
    struct arena *a = e->place->arena;
    struct str *lists = arena_alloc(a, (n + (size_t)1) * sizeof *lists);
    struct buf out = {0};
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
                buf_printf(&of, "%s%.*s", of.n ? ", " : "", (int)e->expr[values[k]].n, e->expr[values[k]].p);
        struct str list = lists[i], of_text = buf_take(&of, a);
        for (uint32_t k = i; k < n; k++)
            lists[k] = list.n && str_eq(lists[k], list) ? STR("") : lists[k];
        if (list.n)
            buf_printf(&out, "%s!haveShape({%.*s}, %.*s)", out.n ? " || " : "", (int)of_text.n, of_text.p, (int)list.n,
                       list.p);
    }
    return buf_take(&out, a);
}
