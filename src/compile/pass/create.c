/* The ops of the fused form, each as rewriter.create. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compile/pass/cpp.h"
#include "compile/pass/writer.h"
#include "ir/graph/index.h"

enum { MAX_VARIABLES = 64 };

struct variable {
    struct str text, name;
};

struct creation {
    struct pass_writer *w;
    const struct graph *f;
    struct str *made;    /* per value of f: the variable of what is new */
    const char *builder; /* "rewriter" */
    uint32_t op;         /* that is written */
    struct variable variables[MAX_VARIABLES];
    uint32_t nvariables;
};

static const struct mlir *module_of(const struct creation *c) {
    return c->f->m;
}

static struct str value_text(struct creation *c, uint32_t value) {
    struct pass_writer *w = c->w;
    uint32_t old = w->place.value_of[value];
    if (c->made[value].n)
        return c->made[value];
    return old != NONE ? w->expr[old] : STR("Value()");
}

/* The variable of this expression, which is written where it was not yet; `again`: in any case. */
static struct str variable_of(struct creation *c, struct str text, struct str base, const char *end, bool again) {
    for (uint32_t i = 0; i < c->nvariables && !again; i++)
        if (str_eq(c->variables[i].text, text))
            return c->variables[i].name;
    struct str name = pass_variable(c->w, base, end);
    cpp_put(&c->w->rewrite, INDENT, "auto %s = %s;", name.p, text.p);
    if (c->nvariables < MAX_VARIABLES)
        c->variables[c->nvariables++] = (struct variable){text, name};
    return name;
}

/* ---- types ---- */

static struct str element_type(struct creation *c, uint32_t value) {
    struct pass_writer *w = c->w;
    enum dtype t = graph_dtype(c->f, value);
    for (uint32_t i = 0; i < w->nread + w->place.nroots; i++) {
        uint32_t v = i < w->nread ? w->reads[i] : w->place.g->m->ops[w->place.roots[i - w->nread]].first_result;
        if (graph_dtype(w->place.g, v) == t) {
            return arena_printf(w->arena, "getElementTypeOrSelf(%s)", w->expr[v].p);
        }
    }
    const char *name = dtype_table[t].spelling ? dtype_table[t].spelling : "f32";
    return strcmp(name, "bf16") == 0
               ? STR("rewriter.getBF16Type()")
               : arena_printf(w->arena, "rewriter.get%sType()", cpp_camel(str_of(name), true, w->arena).p);
}

/* Of an elementwise op, an operand that is new and of its type; or empty. */
static struct str operand_like(struct creation *c, uint32_t value) {
    const struct mlir *m = module_of(c);
    for (uint32_t i = 0; i < m->ops[c->op].noperands && graph_class(c->f, c->op) == OP_ELTWISE; i++) {
        uint32_t x = m->operands[m->ops[c->op].first_operand + i];
        if (c->made[x].n && !str_find(c->made[x], STR("(")) && str_find(c->made[x], STR("Op")) &&
            str_eq(m->types[m->values[x].type].text, m->types[m->values[value].type].text))
            return c->made[x];
    }
    return STR("");
}

/* That of the replaced value, of another one of this shape, or a new one. */
static struct str type_of_result(struct creation *c, uint32_t value) {
    struct pass_writer *w = c->w;
    uint32_t old = w->place.value_of[value];
    old = old == NONE ? extents_like(&w->extents, value) : old;
    if (old != NONE)
        return arena_printf(w->arena, "%s.getType()", w->expr[old].p);
    struct str like = operand_like(c, value);
    if (like.n)
        return arena_printf(w->arena, "%s.getType()", like.p);
    struct str dims = extents_list(&w->extents, true, value), element = element_type(c, value);
    uint32_t from = graph_class(c->f, c->op) == OP_CAST ? graph_operands(c->f, c->op)[0] : NONE;
    if (from != NONE && str_find(c->made[from], STR("Op")) && !str_find(c->made[from], STR("(")))
        return arena_printf(w->arena, "%s.getType().clone(%s)", c->made[from].p, element.p);
    struct str text = arena_printf(w->arena, "RankedTensorType::get(%s, %s)", dims.p, element.p);
    struct str name = variable_of(c, text, pass_word(c->f, c->op), "Type", false);
    extents_name(&w->extents, value, name);
    return name;
}

/* ---- attributes ---- */

/* The variable of a constant that the formula has a name for; or empty. */
static struct str constant_variable(struct pass_writer *w, uint32_t i) {
    struct pass_constant *c = &w->constants[i];
    struct str name = c->variable.n ? STR("") : pass_formula_name(w, c->value, true);
    if (name.n)
        c->variable = pass_variable(w, name, "");
    return c->variable;
}

static bool is_near(double a, double b) {
    return fabs(a - b) <= 1e-6 * fabs(b);
}

/* The number of a constant of the match, or of two of them. */
static struct str number_text(struct creation *c, double x) {
    struct pass_writer *w = c->w;
    const struct pass_constant *all = w->constants;
    struct str a, b;
    for (uint32_t i = 0; i < w->nconstants; i++)
        if (is_near(all[i].number, x) && (a = constant_variable(w, i)).n)
            return arena_printf(w->arena, "*%s", a.p);
    for (uint32_t i = 0; i < w->nconstants; i++)
        for (uint32_t k = 0; k < i; k++)
            if (is_near(all[i].number * all[k].number, x) && (a = constant_variable(w, k)).n &&
                (b = constant_variable(w, i)).n)
                return arena_printf(w->arena, "*%s * *%s", a.p, b.p);
    return cpp_float(x, w->arena);
}

/* An op of the match of the same kind that has the attribute, too. */
static struct str carried(struct creation *c, const struct attr *x) {
    struct pass_writer *w = c->w;
    const struct graph *g = w->place.g;
    for (uint32_t op = 0; op < g->m->nops; op++) {
        if (!w->place.step[op] || g->kind[op] != c->f->kind[c->op])
            continue;
        const struct attr *its = attrs_find(graph_attributes(g, op), arena_strdup(w->arena, x->key));
        struct str of = w->expr[g->m->ops[op].first_result];
        if (its && str_eq(its->text, x->text) && of.n)
            return arena_printf(w->arena, "%s.get%sAttr()", of.p, cpp_camel(x->key, true, w->arena).p);
    }
    return STR("");
}

static struct str entries_text(struct creation *c, const struct attr *x) {
    enum dims_role role = op_dims_role((enum op_kind)c->f->kind[c->op], x->key);
    const struct mlir *m = module_of(c);
    uint32_t out = m->ops[c->op].first_result, rank = 0,
             from = m->ops[c->op].noperands ? graph_operands(c->f, c->op)[0] : NONE;
    struct buf b = {0};
    const int64_t *dims = from == NONE ? NULL : graph_shape(c->f, from, &rank);
    for (int32_t i = 0; i < x->n; i++) {
        uint32_t d = (uint32_t)i;
        struct str one = arena_printf(c->w->arena, "%" PRId64, x->list[i]);
        if (role == DIMS_SIZES && dims && (uint32_t)x->n <= rank)
            one = extents_print(&c->w->extents, true, from, rank - (uint32_t)x->n + d);
        else if (role == DIMS_FACTORS && x->list[i] > 1)
            one = arena_printf(c->w->arena, dims && d < rank && dims[d] > 1 ? "%s / %s" : "%s",
                               extents_print(&c->w->extents, true, out, d).p,
                               extents_print(&c->w->extents, true, from, d).p);
        else if ((role == DIMS_ENDS || role == DIMS_BEGINS) && dims && d < rank)
            one = extents_offset(&c->w->extents, from, d, x->list[i]);
        buf_printf(&b, "%s%s", i ? ", " : "", one.p);
    }
    return buf_take(&b, c->w->arena);
}

static struct str attribute_text(struct creation *c, const struct attr *x) {
    struct pass_writer *w = c->w;
    struct str same = carried(c, x), type = cpp_attribute_type((enum op_kind)c->f->kind[c->op], x->key);
    const char *b = c->builder;
    enum dims_role role = op_dims_role((enum op_kind)c->f->kind[c->op], x->key);
    if (same.n)
        return same;
    if (role == DIMS_SHAPE) {
        struct str list = extents_list(&w->extents, true, module_of(c)->ops[c->op].first_result);
        return arena_printf(w->arena, "%s.getI32ArrayAttr(SmallVector<int32_t>(ArrayRef<int64_t>(%s)))", b, list.p);
    }
    if (str_is(x->text, "true") || str_is(x->text, "false"))
        return arena_printf(w->arena, "%s.getBoolAttr(%.*s)", b, (int)x->text.n, x->text.p);
    if (str_is(type, "i64s"))
        return arena_printf(w->arena, "%s.getDenseI64ArrayAttr({%s})", b, entries_text(c, x).p);
    if (str_is(type, "i32s"))
        return arena_printf(w->arena, "%s.getDenseI32ArrayAttr({%s})", b, entries_text(c, x).p);
    if (str_is(type, "[i32]"))
        return arena_printf(w->arena, "%s.getI32ArrayAttr(SmallVector<int32_t>(ArrayRef<int64_t>{%s}))", b,
                            entries_text(c, x).p);
    if (x->is_whole) {
        struct str number = role == DIMS_COUNT ? extents_number(&w->extents, x->whole) : STR("");
        number = number.n ? number : arena_printf(w->arena, "%" PRId64, x->whole);
        return arena_printf(w->arena, "%s.get%sIntegerAttr(%s)", b,
                            str_is(type, "i32")    ? "I32"
                            : str_is(type, "si32") ? "SI32"
                            : str_is(type, "ui32") ? "UI32"
                                                   : "I64",
                            number.p);
    }
    if (x->is_number)
        return arena_printf(w->arena, "%s.getF32FloatAttr(%s)", b, number_text(c, x->number).p);
    return arena_printf(w->arena, "%s.getStringAttr(%.*s)", b, (int)x->text.n, x->text.p);
}

/* ---- ops ---- */

static void add(struct buf *b, struct str text) {
    buf_printf(b, ", %s", text.p);
}

static void add_absent(struct buf *b, struct str name) {
    buf_printf(b, ", /*%.*s=*/nullptr", (int)name.n, name.p);
}

static uint32_t operand_named(enum op_kind k, struct str name) {
    for (uint32_t i = 0; i < 8; i++)
        if (cpp_operand_name(k, i) && str_is(name, cpp_operand_name(k, i)))
            return i;
    return NONE;
}

static void add_named(struct creation *c, struct buf *b, struct str name) {
    enum op_kind k = (enum op_kind)c->f->kind[c->op];
    uint32_t i = operand_named(k, name), n = graph_noperands(c->f, c->op);
    const struct attr *x = attrs_find(graph_attributes(c->f, c->op), arena_strdup(c->w->arena, name));
    if (i < n && graph_operands(c->f, c->op)[i] != NONE)
        add(b, value_text(c, graph_operands(c->f, c->op)[i]));
    else if (i == NONE && x) {
        struct str text = attribute_text(c, x);
        bool plain = str_find(text, STR("BoolAttr(")) || str_find(text, STR("IntegerAttr("));
        buf_printf(b, plain ? ", /*%.*s=*/" : ", ", (int)name.n, name.p);
        buf_add(b, text);
    } else
        add_absent(b, name);
}

/* ", dotOp.getLhs(), dotOp.getRhs(), bias, ..." */
static struct str arguments_text(struct creation *c) {
    enum op_kind k = (enum op_kind)c->f->kind[c->op];
    const uint32_t *x = graph_operands(c->f, c->op);
    uint32_t n = graph_noperands(c->f, c->op);
    struct str order = str_of(cpp_builder(k)), table = str_of(op_table[k].attributes);
    struct buf b = {0};
    while (order.n)
        add_named(c, &b, str_part(&order, ' '));
    if (cpp_builder(k))
        return buf_take(&b, c->w->arena);
    if (op_table[k].class == OP_JOIN)
        buf_add(&b, STR(", ValueRange{"));
    for (uint32_t i = 0; i < n; i++) {
        const char *name = cpp_operand_name(k, i);
        if (op_table[k].class == OP_JOIN)
            buf_printf(&b, "%s%s", i ? ", " : "", value_text(c, x[i]).p);
        else if (x[i] != NONE)
            add(&b, value_text(c, x[i]));
        else
            add_absent(&b, str_of(name ? name : "optional"));
    }
    if (op_table[k].class == OP_JOIN)
        buf_addc(&b, '}');
    while (table.n && op_table[k].class != OP_CAST) {
        struct str one = str_part(&table, ' '), key = str_part(&one, ':');
        bool here = key.n && one.n && *one.p != '-'; /* else of TTNN alone */
        if (here && !str_is(key, "operandSegmentSizes") && !(op_table[k].class == OP_CONSTANT && str_is(key, "shape")))
            add_named(c, &b, key);
    }
    return buf_take(&b, c->w->arena);
}

static struct str types_text(struct creation *c) {
    const struct mlir_op *o = &module_of(c)->ops[c->op];
    struct buf b = {0};
    for (uint32_t i = 0; i < o->nresults; i++) {
        struct str type = type_of_result(c, o->first_result + i);
        buf_printf(&b, "%s%s", i ? ", " : "", type.p);
    }
    return buf_take(&b, c->w->arena);
}

/* What a weight is to be kept as is said beside the product that takes it. */
static void carry_weight_type(struct creation *c, struct str name) {
    const struct graph *g = c->w->place.g;
    for (uint32_t op = 0; op < g->m->nops; op++) {
        if (!c->w->place.step[op] || graph_class(g, op) != OP_CONTRACT || graph_class(c->f, c->op) != OP_CONTRACT ||
            c->w->place.nroots > 1)
            continue;
        struct str of = c->w->expr[g->m->ops[op].first_result];
        cpp_put(&c->w->rewrite, INDENT, "if (Attribute dtype = %s->getAttr(\"ttcore.weight_dtype\")) {", of.p);
        cpp_put(&c->w->rewrite, INDENT + 2, "%s->setAttr(\"ttcore.weight_dtype\", dtype);", name.p);
        cpp_put(&c->w->rewrite, INDENT, "}");
        return;
    }
}

/* "utils::createReshapeOp(rewriter, loc, x, xShape)" */
static struct str reshape_text(struct creation *c, uint32_t result, uint32_t operand) {
    struct pass_writer *w = c->w;
    uint32_t old = w->place.value_of[result];
    struct str shape = old == NONE ? extents_list(&w->extents, true, result)
                                   : arena_printf(w->arena, "%s.getType().getShape()", w->expr[old].p);
    struct str from = value_text(c, operand);
    return arena_printf(w->arena, "utils::createReshapeOp(rewriter, loc, %s, %s)", from.p, shape.p);
}

/* "createSlice(rewriter, loc, x, 3, 0, xShape[3] / 2)", of what is cut along one dimension. */
static struct str slice_text(struct creation *c, const struct slice_bounds *s) {
    struct pass_writer *w = c->w;
    uint32_t x = graph_operands(c->f, c->op)[0], d = 0;
    while (!s->cut[d])
        d++;
    struct str from = value_text(c, x), begin = extents_offset(&w->extents, x, d, s->begin[d]);
    struct str end = extents_offset(&w->extents, x, d, s->end[d]);
    struct str step = s->step[d] == 1 ? STR("") : arena_printf(w->arena, ", /*step=*/%" PRId64, s->step[d]);
    return arena_printf(w->arena, "createSlice(%s, loc, %s, /*dim=*/%u, %s, %s%s)", c->builder, from.p, d, begin.p,
                        end.p, step.p);
}

static struct str creation_text(struct creation *c) {
    struct pass_writer *w = c->w;
    const struct mlir_op *o = &module_of(c)->ops[c->op];
    struct slice_bounds s;
    if (slice_bounds(c->f, c->op, &s) && s.ncut == 1)
        return slice_text(c, &s);
    if (place_reshapes(c->f, c->op) && strcmp(c->builder, "rewriter") == 0)
        return reshape_text(c, o->first_result, graph_operands(c->f, c->op)[0]);
    struct str types = types_text(c), args = arguments_text(c), class = pass_class(w, c->f, c->op);
    return arena_printf(w->arena, "%s.create<%s>(loc, %s%s)", c->builder, class.p, types.p, args.p);
}

static void create_op(struct creation *c, bool last) {
    struct pass_writer *w = c->w;
    const struct mlir_op *o = &module_of(c)->ops[c->op];
    if (op_is((enum op_kind)c->f->kind[c->op], IN_PLACE)) {
        struct str into = value_text(c, graph_operands(c->f, c->op)[0]), args = arguments_text(c);
        struct str class = pass_class(w, c->f, c->op);
        cpp_put(&w->rewrite, INDENT, "rewriter.create<%s>(loc%s);", class.p, args.p);
        c->made[o->first_result] = into;
        return;
    }
    bool product = graph_class(c->f, c->op) == OP_CONTRACT;
    bool reshapes = place_reshapes(c->f, c->op) || graph_class(c->f, c->op) == OP_SLICE;
    if (last && w->place.nroots == 1 && !product && w->place.value_of[o->first_result] != NONE) {
        struct str root = w->expr[w->place.value_of[o->first_result]], class = pass_class(w, c->f, c->op);
        struct str text = reshapes ? creation_text(c) : types_text(c), args = reshapes ? text : arguments_text(c);
        if (reshapes)
            cpp_put(&w->rewrite, INDENT, "rewriter.replaceOp(%s, %s);", root.p, text.p);
        else
            cpp_put(&w->rewrite, INDENT, "rewriter.replaceOpWithNewOp<%s>(%s, %s%s);", class.p, root.p, text.p, args.p);
        return;
    }
    struct str base = last ? STR("fused") : pass_word(c->f, c->op),
               name = variable_of(c, creation_text(c), base, "Op", !reshapes);
    carry_weight_type(c, name);
    for (uint32_t i = 0; i < o->nresults; i++)
        c->made[o->first_result + i] = o->nresults == 1 ? name : arena_printf(w->arena, "%s->getResult(%u)", name.p, i);
}

/* ---- composites ---- */

static void create_composite(struct creation *c) {
    struct pass_writer *w = c->w;
    const struct mlir *m = module_of(c);
    const struct mlir_op *o = &m->ops[c->op];
    struct str root = w->expr[w->place.g->m->ops[w->place.roots[0]].first_result], name = {0}, args = {0};
    uint32_t func = mlir_find_func(m, o->callee);
    const struct mlir_func *body = &m->funcs[func];
    struct buf types = {0}, values = {0};
    mlir_attr(m, c->op, "composite_name", &name);
    mlir_string(name, &name);
    for (uint32_t i = 0; i < o->noperands; i++) {
        struct str v = value_text(c, m->operands[o->first_operand + i]);
        buf_printf(&types, "%s%s.getType()", i ? ", " : "", v.p);
        buf_printf(&values, "%s%s", i ? ", " : "", v.p);
        c->made[body->first_arg + i] = arena_printf(w->arena, "funcOp.getArgument(%u)", i);
    }
    struct str all = buf_take(&types, w->arena), type = type_of_result(c, o->first_result);
    struct str made = pass_variable(w, STR("composite"), "Op");
    args = buf_take(&values, w->arena);
    cpp_comment(&w->rewrite, INDENT, STR("What the composite is decomposed to where TTNN has no use for it."));
    cpp_put(&w->rewrite, INDENT, "auto moduleOp = %s->getParentOfType<ModuleOp>();", root.p);
    cpp_put(&w->rewrite, INDENT,
            "auto funcOp = func::FuncOp::create(loc, \"%.*s_decomposition\", "
            "rewriter.getFunctionType({%s}, {%s}));",
            (int)name.n, name.p, all.p, type.p);
    cpp_put(&w->rewrite, INDENT, "funcOp.setPrivate();");
    cpp_put(&w->rewrite, INDENT, "funcOp->setAttr(utils::kCompositeDecompositionAttr, rewriter.getUnitAttr());");
    cpp_put(&w->rewrite, INDENT, "OpBuilder builder = OpBuilder::atBlockEnd(funcOp.addEntryBlock());");
    struct creation inner = *c;
    inner.builder = "builder";
    for (uint32_t op = body->first_op; op < body->end_op; op++) {
        inner.op = op;
        if (m->ops[op].nresults)
            create_op(&inner, false);
        else if (graph_class(c->f, op) == OP_RETURN)
            cpp_put(&w->rewrite, INDENT, "builder.create<func::ReturnOp>(loc, ValueRange{%s});",
                    value_text(&inner, m->operands[m->ops[op].first_operand]).p);
    }
    cpp_put(&w->rewrite, INDENT, "SymbolTable(moduleOp).insert(funcOp);");
    buf_addc(&w->rewrite, '\n');
    cpp_put(&w->rewrite, INDENT,
            "auto %s = rewriter.create<ttcore::CompositeOp>(loc, TypeRange{%s}, ValueRange{%s}, "
            "rewriter.getStringAttr(\"%.*s\"), FlatSymbolRefAttr::get(funcOp), /*composite_attributes=*/nullptr);",
            made.p, type.p, args.p, (int)name.n, name.p);
    c->made[o->first_result] = arena_printf(w->arena, "%s->getResult(0)", made.p);
}

/* ---- all of it ---- */

/* What the other results are made of may stand behind the first one. */
static void move_operands(struct pass_writer *w) {
    struct buf list = {0};
    for (uint32_t i = w->nread_first; i < w->nread; i++)
        buf_printf(&list, "%s%s", list.n ? ", " : "", w->expr[w->reads[i]].p);
    struct str all = buf_take(&list, w->arena);
    if (!all.n)
        return;
    cpp_put(&w->rewrite, INDENT, "for (Value value : {%s}) {", all.p);
    cpp_put(&w->rewrite, INDENT + 2, "utils::moveUDChainBefore(value, %s);", pass_anchor(w).p);
    cpp_put(&w->rewrite, INDENT, "}");
}

void pass_create(struct pass_writer *w) {
    struct creation c = {.w = w, .f = w->place.f, .builder = "rewriter"};
    const struct mlir *m = c.f->m;
    uint32_t end = m->funcs[w->place.fused_func].end_op, last = NONE;
    struct str root = w->expr[w->place.g->m->ops[w->place.roots[0]].first_result];
    c.made = arena_alloc(w->arena, (m->nvalues + (size_t)1) * sizeof *c.made);
    for (uint32_t op = m->funcs[w->place.fused_func].first_op; op < end; op++)
        last = w->place.is_new[op] ? op : last;
    move_operands(w);
    struct buf moves = w->rewrite;
    w->rewrite = (struct buf){0};
    for (c.op = m->funcs[w->place.fused_func].first_op; c.op < end; c.op++) {
        if (!w->place.is_new[c.op])
            continue;
        if (str_is(mlir_op_name(m, c.op), "ttcore.composite") && m->ops[c.op].callee != NONE)
            create_composite(&c);
        else
            create_op(&c, c.op == last);
    }
    for (uint32_t v = 0; v < m->nvalues; v++) {
        uint32_t old = c.made[v].n && m->values[v].def != NONE ? w->place.value_of[v] : NONE;
        if (old == NONE)
            continue;
        cpp_put(&w->rewrite, INDENT, "rewriter.replaceOp(%s, %s);", w->expr[old].p, c.made[v].p);
    }
    struct str text = buf_take(&w->rewrite, w->arena);
    if (str_find(text, STR("loc,")))
        cpp_put(&moves, INDENT, "Location loc = %s.getLoc();", root.p);
    buf_add(&moves, text);
    w->rewrite = moves;
}
