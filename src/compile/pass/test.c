#include "compile/pass/writer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "compile/apply/text_edit.h"
#include "compile/pass/cpp.h"
#include "ir/mlir/print.h"

/* ---- what is expected ---- */

static bool computes(const struct graph *g, uint32_t op) {
    return !class_moves(graph_class(g, op)) && !op_generates((enum op_kind)g->kind[op]) && g->m->ops[op].nresults > 0;
}

static bool has_kind(const struct graph *g, uint32_t func, uint16_t kind) {
    bool has = false;
    for (uint32_t op = g->m->funcs[func].first_op; op < g->m->funcs[func].end_op && !has; op++)
        has = g->kind[op] == kind;
    return has;
}

/* Each op that is gone. */
static void forbid(const struct pass_writer *w, struct buf *out) {
    const struct graph *g = w->place.g;
    for (uint32_t op = 0; op < g->m->nops; op++) {
        bool first = w->place.matched[op] && computes(g, op);
        for (uint32_t k = 0; k < op && first; k++)
            first = !w->place.matched[k] || g->kind[k] != g->kind[op];
        struct str name = mlir_op_name(g->m, op);
        if (first && !has_kind(w->place.f, w->place.fused_func, g->kind[op]))
            buf_printf(out, "// CHECK-NOT: \"%.*s\"(\n", (int)name.n, name.p);
    }
}

/* What only moves or casts may be folded away. */
static bool is_expected(const struct pass_writer *w, uint32_t op) {
    return w->place.is_new[op] && w->place.f->m->ops[op].func == w->place.fused_func &&
           graph_class(w->place.f, op) != OP_CAST && computes(w->place.f, op);
}

/* "LINEAR" of ttir.linear, "LINEAR1" of a second one: the variable of what it makes. */
static struct str capture(const struct pass_writer *w, uint32_t op) {
    struct str name = mlir_op_name(w->place.f->m, op);
    uint32_t before = 0;
    struct buf b = {0};
    for (uint32_t i = 0; i < op; i++)
        before += is_expected(w, i) && w->place.f->kind[i] == w->place.f->kind[op];
    str_part(&name, '.');
    for (size_t i = 0; i < name.n; i++)
        buf_addc(&b, (char)toupper((unsigned char)name.p[i]));
    if (before)
        buf_printf(&b, "%u", before);
    return buf_take(&b, w->arena);
}

/* An operand as it is printed. */
static void expect_value(const struct pass_writer *w, uint32_t value, struct buf *out) {
    const struct mlir *m = w->place.f->m;
    uint32_t def = m->values[value].def;
    if (def == NONE)
        buf_printf(out, "%%arg%u", m->values[value].index);
    else if (is_expected(w, def) && m->ops[def].nresults == 1)
        buf_printf(out, "%%[[%s]]", capture(w, def).p);
    else
        buf_add(out, STR("%{{.*}}"));
}

static void expect_types(const struct mlir *m, const uint32_t *values, uint32_t n, struct buf *out) {
    for (uint32_t i = 0; i < n; i++) {
        struct str type = m->types[m->values[values[i]].type].text;
        buf_printf(out, "%s%.*s", i ? ", " : "", (int)type.n, type.p);
    }
}

static void expect_op(const struct pass_writer *w, uint32_t op, struct buf *out) {
    const struct mlir *m = w->place.f->m;
    const struct mlir_op *o = &m->ops[op];
    struct str name = mlir_op_name(m, op), kind = {0};
    bool in_place = op_is((enum op_kind)w->place.f->kind[op], IN_PLACE), one = o->nresults == 1 && !in_place;
    uint32_t results[MAX_ROOTS];
    buf_add(out, STR("// CHECK: "));
    if (one)
        buf_printf(out, "%%[[%s:.*]] = ", capture(w, op).p);
    if (str_is(name, "ttcore.composite")) { /* with quotes in the generic form, without in its own */
        (void)mlir_attr(m, op, "composite_name", &kind);
        buf_printf(out, "{{.*}}%.*s{{.*}}%.*s\n", (int)name.n, name.p, (int)kind.n, kind.p);
        return;
    }
    buf_printf(out, "\"%.*s\"(", (int)name.n, name.p);
    for (uint32_t i = 0; i < o->noperands; i++) {
        buf_add(out, i ? STR(", ") : STR(""));
        expect_value(w, m->operands[o->first_operand + i], out);
    }
    buf_add(out, STR(") {{.*}}: ("));
    expect_types(m, m->operands + o->first_operand, o->noperands, out);
    buf_add(out, one ? STR(") -> ") : STR(") -> ("));
    for (uint32_t i = 0; i < o->nresults && i < MAX_ROOTS; i++)
        results[i] = o->first_result + i;
    expect_types(m, results, in_place ? 0 : o->nresults, out);
    buf_add(out, one ? STR("\n") : STR(")\n"));
}

/* ---- one that must not fuse ---- */

/* The module with one digit, one number, one use or one op that is another. */
struct counterpart {
    const struct pass_writer *w;
    const struct pattern_set *set;
    const struct mlir *m;
    struct text_edits edits;
    struct module_text found; /* read, where one is found */
    const char *what;         /* "another_use"; NULL: none is found */
};

static void edit(struct counterpart *v, const char *begin, size_t n, struct str text) {
    uint32_t at = (uint32_t)(begin - v->m->text.p);
    text_edits_add(&v->edits, (struct span){at, at + (uint32_t)n}, text);
}

/* It is found if it is a module, and the pattern is nowhere in it. */
static void try_edits(struct counterpart *v, const char *what) {
    struct arena *a = v->w->arena;
    struct match_list list = {.n = 0};
    bool refused = v->edits.n && module_text_read(&v->found, text_edited(v->m->text, &v->edits, a), a);
    for (uint32_t i = 0; refused && i < v->found.level.ir.nfuncs; i++)
        match_function(v->set, &v->found.level.graph, i, a, &list);
    for (uint32_t i = 0; i < list.n; i++)
        refused &= list.items[i].pattern != v->w->match->pattern;
    free(list.items);
    if (v->edits.n && !refused)
        module_text_free(&v->found);
    text_edits_free(&v->edits);
    v->what = refused ? what : NULL;
}

/* The function also returns the value. */
static void another_use(struct counterpart *v, uint32_t value) {
    struct str type = v->m->types[v->m->values[value].type].text, name = mlir_value_text(v->m, value, v->w->arena);
    const struct mlir_func *f = &v->m->funcs[v->w->place.func];
    struct str back = mlir_span(v->m, v->m->ops[f->end_op - 1].text);
    struct span function = {v->m->ops[f->op].text.begin, v->m->ops[f->end_op - 1].text.end};
    const char *arrow = str_find(mlir_span(v->m, function), STR(") -> ("));
    const char *first = str_find(back, STR("%")), *colon = str_find(back, STR(" : "));
    type = arena_printf(v->w->arena, "%.*s, ", (int)type.n, type.p);
    if (!arrow || !first || !colon)
        return;
    edit(v, arrow + 6, 0, type);
    edit(v, first, 0, arena_printf(v->w->arena, "%.*s, ", (int)name.n, name.p));
    edit(v, colon + 3, 0, type);
    try_edits(v, "another_use");
}

/* Half as much again, or one more. */
static void another_constant(struct counterpart *v, uint32_t value) {
    uint32_t op = v->m->values[value].def;
    struct str text = op == NONE ? STR("") : mlir_span(v->m, v->m->ops[op].text);
    const char *at = str_find(text, STR("dense<")), *other = str_find(text, STR("fill_value = "));
    char *end = NULL;
    at = at ? at + 6 : other ? other + 13 : NULL;
    double number = at ? strtod(at, &end) : 0;
    if (number == 0 || strncmp(at, "0x", 2) == 0)
        return;
    bool whole = strcspn(at, ".e") >= (size_t)(end - at);
    edit(v, at, (size_t)(end - at),
         whole ? arena_printf(v->w->arena, "%.0f", number + 1) : arena_printf(v->w->arena, "%.9e", number * 1.5));
    try_edits(v, "another_constant");
}

/* The op along dimension `d`, where it is along one and its result is as large then. */
static void another_axis(struct counterpart *v, uint32_t op, uint32_t d) {
    const struct graph *g = v->w->place.g;
    const struct attr *x = graph_axes(g, op);
    uint32_t rank, result_rank;
    const int64_t *dims = graph_shape(g, graph_operands(g, op)[0], &rank);
    const int64_t *result = graph_shape(g, g->m->ops[op].first_result, &result_rank);
    if (!x || (x->n >= 0 && x->n != 1) || !dims || !result || graph_class(g, op) == OP_JOIN)
        return;
    int64_t is = x->is_whole ? x->whole : x->n == 1 ? x->list[0] : -1;
    is += is < 0 ? rank : 0;
    bool keeps = rank == result_rank && memcmp(dims, result, rank * sizeof *dims) == 0;
    const char *begin = strpbrk(x->text.p, "-0123456789");
    if (!begin || is == d || is >= rank || (!keeps && (rank == result_rank || dims[is] != dims[d])))
        return;
    edit(v, begin, strspn(begin, "-0123456789"), arena_printf(v->w->arena, "%u", d));
    try_edits(v, "another_axis");
}

static void another_op(struct counterpart *v, uint32_t op) {
    static const char *const others[][2] = {{"\"ttir.add\"", "\"ttir.subtract\""},
                                            {"\"ttir.subtract\"", "\"ttir.add\""},
                                            {"\"ttir.multiply\"", "\"ttir.add\""}};
    struct str text = mlir_span(v->m, v->m->ops[op].text);
    for (size_t i = 0; i < sizeof others / sizeof *others && !v->edits.n; i++) {
        const char *at = str_find(text, str_of(others[i][0]));
        if (at)
            edit(v, at, strlen(others[i][0]), str_of(others[i][1]));
    }
    try_edits(v, "another_op");
}

static void vary(struct counterpart *v) {
    const struct pass_place *p = &v->w->place;
    uint32_t n = p->g->m->nops, rank = 0;
    for (uint32_t op = n; op-- > 0 && !v->what; rank = 0) {
        if (p->step[op] && graph_noperands(p->g, op))
            graph_shape(p->g, graph_operands(p->g, op)[0], &rank);
        for (uint32_t d = rank; d-- > 0 && !v->what;)
            another_axis(v, op, d);
    }
    for (uint32_t i = 0; i < v->w->nconstants && !v->what; i++)
        if (!v->w->constants[i].variable.n)
            another_constant(v, v->w->constants[i].value);
    for (uint32_t op = n; op-- > 0 && !v->what;) {
        uint32_t r = p->g->m->ops[op].nresults == 1 && p->matched[op] ? p->g->m->ops[op].first_result : NONE;
        if (r != NONE && !place_escapes(p, r) && p->inside[r] > 0 && computes(p->g, op))
            another_use(v, r);
    }
    for (uint32_t op = n; op-- > 0 && !v->what;)
        if (p->matched[op])
            another_op(v, op);
}

/* ---- as tests of the compiler are written ---- */

/* Of the arguments' attributes which of them are parameters. */
static void put_func(struct mlir *m, uint32_t func, struct str name, struct buf *out) {
    for (uint32_t i = 0; i < m->narg_attrs; i++) {
        struct str all = mlir_span(m, m->arg_attrs[i]);
        const char *type = str_find(all, STR("ttcore.argument_type = "));
        uint32_t begin = type ? (uint32_t)(type - m->text.p) : 0;
        m->arg_attrs[i] = (struct span){begin, type ? begin + (uint32_t)strcspn(type, ">") + 1 : 0};
    }
    mlir_print_func(m, func, name, NULL, out);
}

/* dot_general is not pure: what is left of one goes with its decomposition, to a matmul. */
static bool has_dot_general(const struct pass_writer *w) {
    bool has = false;
    for (uint32_t op = 0; op < w->place.g->m->nops && !has; op++)
        has = w->place.matched[op] && graph_op_is(w->place.g, op, NAMES_AXES);
    return has;
}

/* No op that is written and was not there. */
static void forbid_new(const struct pass_writer *w, struct buf *out) {
    const struct mlir *m = w->place.f->m;
    for (uint32_t op = 0; op < m->nops; op++) {
        struct str name = mlir_op_name(m, op),
                   line = arena_printf(w->arena, "// CHECK-NOT: %.*s\n", (int)name.n, name.p);
        if (is_expected(w, op) && !has_kind(w->place.g, w->place.func, w->place.f->kind[op]) &&
            !(str_is(name, "ttir.matmul") && has_dot_general(w)) && !str_find(buf_str(out), line))
            buf_add(out, line);
    }
}

struct str pass_test(const struct pass_writer *w, const struct pattern_set *set, struct module_text *module,
                     struct str pass) {
    struct counterpart v = {.w = w, .set = set, .m = &module->level.ir};
    struct buf gone = {0}, out = {0};
    struct str name = w->match->pattern->name;
    vary(&v);
    forbid(w, &gone);
    struct str forbidden = buf_take(&gone, w->arena);
    buf_printf(&out, "// RUN: ttmlir-opt --%.*s%s -o %%t %%s\n// RUN: FileCheck %%s --input-file=%%t\n\n", (int)pass.n,
               pass.p, has_dot_general(w) ? " --ttir-to-ttir-decomposition --canonicalize" : "");
    buf_printf(&out, "// CHECK-LABEL: func.func @%.*s(\n", (int)name.n, name.p);
    buf_add(&out, forbidden);
    for (uint32_t op = 0; op < w->place.f->m->nops; op++)
        if (is_expected(w, op))
            expect_op(w, op, &out);
    buf_add(&out, w->place.nroots > 1 ? forbidden : STR(""));
    buf_add(&out, STR("// CHECK: return\n"));
    put_func(&module->level.ir, w->place.func, name, &out);
    if (!v.what) {
        buf_add(&out, STR("\n// No other axis, constant, use or op makes a function that must not fuse.\n"));
        return buf_take(&out, w->arena);
    }
    buf_printf(&out, "\n// CHECK-LABEL: func.func @%.*s_%s(\n", (int)name.n, name.p, v.what);
    forbid_new(w, &out);
    buf_add(&out, STR("// CHECK: return\n"));
    name = arena_printf(w->arena, "%.*s_%s", (int)name.n, name.p, v.what);
    put_func(&v.found.level.ir, w->place.func, name, &out);
    module_text_free(&v.found);
    return buf_take(&out, w->arena);
}
