/* The guards behind those of match.c: attributes, extents and types, constants. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compile/pass/cpp.h"
#include "compile/pass/writer.h"

/* ---- attributes ---- */

static struct str list_of(struct pass_writer *w, const struct attr *x) {
    struct buf b = {0};
    for (int32_t i = 0; i < x->n; i++)
        buf_printf(&b, "%s%" PRId64, i ? ", " : "", x->list[i]);
    return buf_take(&b, w->arena);
}

/* A new op of the same operator has the attribute with the same text: the pass takes it from the matched op, whatever
 * it is there, so that it need not be compared. */
static bool is_copied_to_form(const struct pass_writer *w, uint32_t op, const struct attr *x) {
    const struct graph *f = w->place.f;
    for (uint32_t i = 0; i < f->m->nops; i++) {
        const struct attr *its = w->place.is_new[i] && f->kind[i] == w->place.g->kind[op]
                                     ? attrs_find(graph_attributes(f, i), arena_strdup(w->arena, x->key))
                                     : NULL;
        if (its && str_eq(its->text, x->text))
            return true;
    }
    return false;
}

static bool is_said_elsewhere(const struct pass_writer *w, uint32_t op, const struct attr *x) {
    enum op_kind k = (enum op_kind)w->place.g->kind[op];
    enum dims_role role = op_dims_role(k, x->key);
    return role == DIMS_SHAPE || role == DIMS_FACTORS || role == DIMS_BEGINS || role == DIMS_ENDS ||
           role == DIMS_STEPS || (op_is(k, COUNTS) && str_is(x->key, "end")) || str_is(x->key, "operandSegmentSizes") ||
           op_table[k].class == OP_CAST || place_reshapes(w->place.g, op) ||
           (is_copied_to_form(w, op, x) && !str_is(x->key, "channel_dim"));
}

static bool is_word(struct str s) {
    bool word = s.n > 0;
    for (size_t i = 0; i < s.n && word; i++)
        word = (s.p[i] >= 'a' && s.p[i] <= 'z') || s.p[i] == '_' || (i && s.p[i] >= '0' && s.p[i] <= '9');
    return word;
}

/* "#ttcore.reduce_type<sum>" */
static void compare_enum(struct pass_writer *w, uint32_t op, const struct attr *x, struct str of, struct buf *to) {
    struct str rest = x->text, dialect = str_part(&rest, '.'), mnemonic = str_part(&rest, '<');
    struct str word = str_part(&rest, '>'), name = mlir_op_name(w->place.g->m, op);
    if (!str_starts(dialect, STR("#")) || !is_word(mnemonic) || !is_word(word) || rest.n) {
        w->unwritten = arena_printf(w->arena, "%.*s of %.*s", (int)x->key.n, x->key.p, (int)name.n, name.p);
        return;
    }
    pass_condition(to, "%s.get%s() != %.*s::%s::%s", of.p, cpp_camel(x->key, true, w->arena).p, (int)dialect.n - 1,
                   dialect.p + 1, cpp_camel(mnemonic, true, w->arena).p, cpp_camel(word, true, w->arena).p);
}

static void compare_attribute(struct pass_writer *w, uint32_t op, const struct attr *x, struct str of, struct buf *to) {
    struct str list = list_of(w, x);
    struct str type = cpp_attribute_type((enum op_kind)w->place.g->kind[op], x->key);
    const char *name = cpp_camel(x->key, true, w->arena).p;
    if (str_is(type, "word") && (str_is(x->text, "true") || str_is(x->text, "false")))
        pass_condition(to, "%s%s.get%s()", str_is(x->text, "true") ? "!" : "", of.p, name);
    else if (str_is(type, "i64s"))
        pass_condition(to, x->n ? "%s.get%s() != ArrayRef<int64_t>{%s}" : "!%s.get%s().empty()%s", of.p, name, list.p);
    else if (str_is(type, "i32s"))
        pass_condition(to, "%s.get%sAttr() != rewriter.getDenseI32ArrayAttr({%s})", of.p, name, list.p);
    else if (str_is(type, "[i32]"))
        pass_condition(to, "%s.get%sAttr() != rewriter.getI32ArrayAttr({%s})", of.p, name, list.p);
    else if (x->is_whole)
        pass_condition(to, "%s.get%s() != %" PRId64, of.p, name, x->whole);
    else if (x->is_number)
        pass_condition(to, "%s.get%sAttr() != rewriter.getF32FloatAttr(%s)", of.p, name,
                       cpp_float(x->number, w->arena).p);
    else
        compare_enum(w, op, x, of, to);
}

/* The conditions under which the op, called `of`, has others. */
static struct str attributes_text(struct pass_writer *w, uint32_t op, struct str of) {
    const struct attrs *a = graph_attributes(w->place.g, op);
    struct buf b = {0};
    for (uint32_t i = 0; i < a->n; i++)
        if (!is_said_elsewhere(w, op, &a->at[i]))
            compare_attribute(w, op, &a->at[i], of, &b);
    return buf_take(&b, w->arena);
}

/* An op of the same class before it with the same attributes; or NONE. */
static uint32_t alike_before(struct pass_writer *w, uint32_t op) {
    const struct graph *g = w->place.g;
    for (uint32_t i = g->m->nops; i-- > op + 1;)
        if (w->place.step[i] && w->expr[g->m->ops[i].first_result].n && g->kind[i] == g->kind[op] &&
            str_eq(mlir_span(g->m, g->m->ops[i].props), mlir_span(g->m, g->m->ops[op].props)))
            return i;
    return NONE;
}

/* Of all ops that have a name. */
static void match_attributes(struct pass_writer *w) {
    const struct graph *g = w->place.g;
    struct buf all = {0};
    for (uint32_t op = g->m->nops; op-- > 0;) {
        struct str of = w->place.step[op] ? w->expr[g->m->ops[op].first_result] : STR("");
        struct str text = of.n ? attributes_text(w, op, of) : STR("");
        uint32_t alike = text.n && str_find(text, STR("||")) ? alike_before(w, op) : NONE;
        if (alike != NONE)
            text = arena_printf(w->arena, "%s.getProperties() != %s.getProperties()", of.p,
                                w->expr[g->m->ops[alike].first_result].p);
        if (text.n)
            pass_condition(&all, "%s", text.p);
    }
    pass_refuse(w, &all, "unexpected attributes");
}

/* ---- constants ---- */

/* "xShape[2]" where a reduction of the match takes so many elements together; or empty. */
static struct str reduced_count(struct pass_writer *w, double number) {
    const struct graph *g = w->place.g;
    struct buf b = {0};
    for (uint32_t op = 0; op < g->m->nops && !b.n; op++) {
        uint32_t x = w->place.matched[op] && graph_class(g, op) == OP_REDUCE ? graph_operands(g, op)[0] : NONE, rank;
        bool reduced[MAX_RANK] = {false};
        const int64_t *dims = x == NONE ? NULL : graph_shape(g, x, &rank);
        double n = 1;
        if (!dims || rank > MAX_RANK || graph_reduced_dims(g, op, rank, reduced) == NONE)
            continue;
        for (uint32_t d = 0; d < rank; d++)
            n *= reduced[d] ? (double)dims[d] : 1;
        for (uint32_t d = 0; d < rank && fabs(n - number) < 1e-3 * number; d++)
            if (reduced[d] && dims[d] > 1) {
                struct str one = extents_print(&w->extents, false, x, d);
                buf_printf(&b, "%s%s", b.n ? " * " : "", one.p);
            }
    }
    return buf_take(&b, w->arena);
}

/* What a constant is compared with. */
static struct str expected_number(struct pass_writer *w, struct pass_constant *c) {
    double x = c->number;
    struct str count = x > 0 && fabs(x - 1) > 0 ? reduced_count(w, x < 1 ? 1 / x : x) : STR("");
    c->counted = count.n > 0;
    if (!count.n || x > 1)
        return count.n ? count : cpp_number(x, w->arena);
    return arena_printf(w->arena, str_find(count, STR("*")) ? "1.0 / (%.*s)" : "1.0 / %.*s", (int)count.n, count.p);
}

/* Statements; the conditions under which constants are others: those that the form is made of have to be there. */
static struct buf match_constants(struct pass_writer *w) {
    struct buf named = {0}, others = {0};
    for (uint32_t i = 0; i < w->nconstants; i++) {
        struct pass_constant *c = &w->constants[i];
        struct str expr = c->expr, number = c->variable.n ? STR("") : expected_number(w, c);
        if (!c->variable.n) {
            pass_condition(&others, "!isSplat(%s, %s)", expr.p, number.p);
            continue;
        }
        cpp_put(&w->guards, INDENT, "auto %s = getSplatValue(%s);", c->variable.p, expr.p);
        pass_condition(&named, "!%s", c->variable.p);
    }
    if (others.n)
        pass_condition(&named, "%s", others.p);
    buf_free(&others);
    return named;
}

/* Where slices begin, in parts of what they cut. */
static struct str slices_text(struct pass_writer *w) {
    const struct graph *g = w->place.g;
    struct buf c = {0};
    for (uint32_t op = 0; op < g->m->nops; op++) {
        const int64_t *begins, *dims, *o;
        uint32_t rank, ro;
        if (!w->place.step[op] || graph_class(g, op) != OP_SLICE)
            continue;
        struct str of = w->expr[g->m->ops[op].first_result];
        dims = graph_shape(g, graph_operands(g, op)[0], &rank);
        o = graph_shape(g, g->m->ops[op].first_result, &ro);
        if (!dims || !o || attrs_list(graph_attributes(g, op), "begins", &begins) != (int32_t)rank)
            continue;
        for (uint32_t d = 0; d < rank; d++) {
            if (dims[d] == o[d])
                continue;
            struct str whole = extents_print(&w->extents, false, graph_operands(g, op)[0], d), begin;
            begin = begins[d] && dims[d] % begins[d] == 0
                        ? arena_printf(w->arena, "%s / %" PRId64, whole.p, dims[d] / begins[d])
                        : arena_printf(w->arena, "%" PRId64, begins[d]);
            pass_condition(&c, "cast<IntegerAttr>(%s.getBegins()[%u]).getInt() != %s", of.p, d, begin.p);
        }
    }
    return buf_take(&c, w->arena);
}

/* ---- all of it ---- */

/* What the form reads has the element type of the result where that is so here. */
static void match_elements(struct pass_writer *w, struct buf *conditions) {
    const struct graph *g = w->place.g;
    uint32_t root = g->m->ops[w->place.roots[0]].first_result;
    struct buf list = {0};
    for (uint32_t i = 0; i < w->nread; i++) {
        struct str expr = w->expr[w->reads[i]];
        if (graph_dtype(g, w->reads[i]) == graph_dtype(g, root))
            buf_printf(&list, "%s%s", list.n ? ", " : "", expr.p);
    }
    struct str all = buf_take(&list, w->arena);
    if (all.n)
        pass_condition(conditions, "!haveElementType({%s}, %s)", all.p, pass_anchor(w).p);
}

/* Reads first, since what is written is made of them. */
static void collect_shapes(struct pass_writer *w) {
    uint32_t all[MAX_NAMES], n = w->nshapes;
    memcpy(all, w->shapes, n * sizeof *all);
    w->nshapes = 0;
    for (uint32_t i = 0; i < w->nread; i++)
        pass_shape_matters(w, w->reads[i]);
    for (uint32_t i = 0; i < w->place.nroots; i++)
        pass_shape_matters(w, w->place.g->m->ops[w->place.roots[i]].first_result);
    for (uint32_t i = 0; i < n; i++)
        pass_shape_matters(w, all[i]);
}

/* The variables, and which of them have another rank. */
static void put_shapes(struct pass_writer *w, struct buf *ranks) {
    const struct extents_of_place *e = &w->extents;
    for (uint32_t i = 0; i < e->ndefines; i++) {
        uint32_t v = e->defines[i], rank;
        struct str name = e->shape[v], expr = w->expr[v];
        if (!name.n)
            continue;
        cpp_put(&w->guards, INDENT, "ArrayRef<int64_t> %s = getShape(%s);", name.p, expr.p);
        graph_shape(w->place.g, v, &rank);
        if (e->indexed[v])
            pass_condition(ranks, "%s.size() != %u", name.p, rank);
    }
}

static void match_shapes(struct pass_writer *w, const struct str more[3]) {
    struct buf guards = {0};
    put_shapes(w, &guards);
    for (uint32_t i = 0; i < 3; i++)
        if (more[i].n)
            pass_condition(&guards, "%s", more[i].p);
    match_elements(w, &guards);
    pass_refuse(w, &guards, "unexpected shapes or types");
}

void pass_compare(struct pass_writer *w) {
    match_attributes(w);
    extents_begin(&w->extents, &w->place, w->expr);
    collect_shapes(w);
    struct str shapes = extents_guards(&w->extents, w->shapes, w->nshapes), slices = slices_text(w);
    /* what is written says which constants it is made of, and may name further extents; so may they */
    pass_create(w);
    w->extents.nsums = 0; /* called by variables of the rewrite */
    struct buf before = w->guards, asked = {0}, comment = {0};
    w->guards = (struct buf){0};
    struct buf numbers = match_constants(w);
    pass_where(w, &asked, &numbers, &comment);
    pass_refuse(w, &numbers, "unexpected constants");
    w->asked = buf_take(&comment, w->arena);
    struct buf constants = w->guards;
    w->guards = before;
    match_shapes(w, (const struct str[]){shapes, slices, buf_take(&asked, w->arena)});
    buf_add(&w->guards, buf_str(&constants));
    buf_free(&constants);
}
