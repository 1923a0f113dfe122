#include "compile/pass/test.h"

#include <stdlib.h>
#include <string.h>

#include "compile/pass/cpp.h"
#include "ir/mlir/print.h"

/* ---- what is expected ---- */

static bool computes(const struct graph *g, uint32_t op) {
    return !class_moves(graph_class(g, op)) && !op_generates((enum op_kind)g->kind[op]) && g->m->ops[op].nresults > 0;
}

static bool has_kind(const struct graph *g, uint32_t func, uint16_t kind) {
    for (uint32_t op = g->m->funcs[func].first_op; op < g->m->funcs[func].end_op; op++)
        if (g->kind[op] == kind)
            return true;
    return false;
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

/* An operand as it is printed: an argument by its number, a value that is written by the name of its line. */
static void expect_value(const struct pass_writer *w, uint32_t value, struct buf *out) {
    const struct mlir *m = w->place.f->m;
    uint32_t def = m->values[value].def, number = 0;
    if (def != NONE && is_expected(w, def) && m->ops[def].nresults == 1) {
        for (uint32_t op = 0; op < def; op++)
            number += w->place.is_new[op];
        buf_printf(out, "%%[[V%u]]", number);
    } else if (def == NONE)
        buf_printf(out, "%%arg%u", m->values[value].index);
    else
        buf_add(out, STR("%{{.*}}"));
}

static void expect_op(const struct pass_writer *w, uint32_t op, uint32_t number, struct buf *out) {
    const struct mlir *m = w->place.f->m;
    const struct mlir_op *o = &m->ops[op];
    struct str name = mlir_op_name(m, op);
    buf_add(out, STR("// CHECK: "));
    bool in_place = op_is((enum op_kind)w->place.f->kind[op], IN_PLACE);
    if (o->nresults == 1 && !in_place)
        buf_printf(out, "%%[[V%u:.*]] = ", number);
    if (str_is(name, "ttcore.composite")) { /* with quotes in the generic form, without in its own */
        struct str kind = STR("");
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
    for (uint32_t i = 0; i < o->noperands; i++) {
        struct str type = m->types[m->values[m->operands[o->first_operand + i]].type].text;
        buf_printf(out, "%s%.*s", i ? ", " : "", (int)type.n, type.p);
    }
    if (in_place) {
        buf_add(out, STR(") -> ()\n"));
        return;
    }
    buf_add(out, o->nresults == 1 ? STR(") -> ") : STR(") -> ("));
    for (uint32_t i = 0; i < o->nresults; i++) {
        struct str type = m->types[m->values[o->first_result + i].type].text;
        buf_printf(out, "%s%.*s", i ? ", " : "", (int)type.n, type.p);
    }
    buf_add(out, o->nresults == 1 ? STR("\n") : STR(")\n"));
}

static void expect(const struct pass_writer *w, struct buf *out) {
    uint32_t number = 0;
    for (uint32_t op = 0; op < w->place.f->m->nops; op++) {
        if (is_expected(w, op))
            expect_op(w, op, number, out);
        number += w->place.is_new[op];
    }
}

/* ---- one that must not fuse ---- */

struct counterpart {
    const struct pass_writer *w;
    const struct pattern_set *set;
    struct str module, function, name; /* the text of the function, its name */
    const char *what;                  /* "another_use" */
};

/* The text from the function's first byte to its closing brace. */
static struct str function_text(const struct pass_writer *w, struct str module) {
    const struct mlir *m = w->place.g->m;
    uint32_t begin = m->ops[m->funcs[w->place.func].op].text.begin;
    struct str rest = {module.p + begin, module.n - begin};
    const char *end = str_find(rest, STR("\n  }\n"));
    return end ? (struct str){rest.p, (size_t)(end - rest.p) + 5} : STR("");
}

static const char *last_of(struct str text, const char *what) {
    const char *found = NULL;
    for (struct str rest = text; (rest.p = str_find(rest, str_of(what)));) {
        found = rest.p++;
        rest.n = (size_t)(text.p + text.n - rest.p);
    }
    return found;
}

static void add_part(struct buf *b, const char *from, const char *to) {
    buf_add(b, (struct str){from, (size_t)(to - from)});
}

/* The function, which also returns `value`; empty: its text is another one. */
static struct str with_another_use(const struct counterpart *v, uint32_t value) {
    const struct mlir *m = v->w->place.g->m;
    struct str type = m->types[m->values[value].type].text, name = mlir_value_text(m, value, v->w->arena);
    const char *arrow = str_find(v->function, STR(") -> (")), *back = last_of(v->function, "    return ");
    const char *end = v->function.p + v->function.n, *open = arrow ? arrow + 6 : NULL;
    struct buf b = {0};
    if (!arrow || !back || back < open)
        return STR("");
    add_part(&b, v->function.p, open);
    buf_printf(&b, "%.*s, ", (int)type.n, type.p);
    add_part(&b, open, back + 11);
    buf_printf(&b, "%.*s, ", (int)name.n, name.p);
    const char *colon = last_of((struct str){back, (size_t)(end - back)}, " : ");
    if (colon) {
        add_part(&b, back + 11, colon + 3);
        buf_printf(&b, "%.*s, ", (int)type.n, type.p);
        add_part(&b, colon + 3, end);
    }
    return buf_take(&b, v->w->arena);
}

/* The function with half as much again in a constant; empty: its text has no number. */
static struct str with_another_constant(const struct counterpart *v, uint32_t value) {
    const struct mlir *m = v->w->place.g->m;
    uint32_t op = m->values[value].def;
    struct str text = op == NONE ? STR("") : mlir_span(m, m->ops[op].text);
    const char *at = str_find(text, STR("dense<")), *other = str_find(text, STR("fill_value = "));
    char *end = NULL;
    at = at ? at + 6 : other ? other + 13 : NULL;
    double number = at ? strtod(at, &end) : 0;
    if (!at || end == at || number == 0 || at < v->function.p || *at == '0')
        return STR("");
    struct buf b = {0};
    add_part(&b, v->function.p, at);
    buf_printf(&b, "%.9e", number * 1.5);
    add_part(&b, end, v->function.p + v->function.n);
    return buf_take(&b, v->w->arena);
}

/* The function with the op along dimension `d`, where types still hold; empty: it names none, or it is
 * this one. */
static struct str with_another_axis(const struct counterpart *v, uint32_t op, uint32_t d, uint32_t rank) {
    const struct attr *x = graph_axes(v->w->place.g, op);
    const char *begin = x ? x->text.p : NULL, *end = v->function.p + v->function.n;
    int64_t is = x && x->is_whole ? x->whole : x && x->n == 1 ? x->list[0] : d;
    const struct graph *g = v->w->place.g;
    uint32_t result_rank;
    const int64_t *dims = graph_shape(g, graph_operands(g, op)[0], &rank);
    const int64_t *result = graph_shape(g, g->m->ops[op].first_result, &result_rank);
    bool keeps = dims && result && rank == result_rank && memcmp(dims, result, rank * sizeof *dims) == 0;
    enum op_class class = graph_class(g, op);
    struct buf b = {0};
    is += is < 0 ? rank : 0;
    if (is == d || is < 0 || is >= rank || !dims || (!keeps && dims[is] != dims[d]) || class == OP_JOIN ||
        class == OP_SLICE || begin < v->function.p || begin > end)
        return STR("");
    while (begin < end && !strchr("-0123456789", *begin))
        begin++;
    add_part(&b, v->function.p, begin);
    buf_printf(&b, "%u", d);
    add_part(&b, begin + strspn(begin, "-0123456789"), end);
    return buf_take(&b, v->w->arena);
}

/* The function with another op in the place of a sum or a product of two; empty: it is no such op. */
static struct str with_another_op(const struct counterpart *v, uint32_t op) {
    static const char *const others[][2] = {{"\"ttir.add\"", "\"ttir.subtract\""},
                                            {"\"ttir.subtract\"", "\"ttir.add\""},
                                            {"\"ttir.multiply\"", "\"ttir.add\""}};
    struct str text = mlir_span(v->w->place.g->m, v->w->place.g->m->ops[op].text);
    struct buf b = {0};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *at = str_find(text, str_of(others[i][0]));
        if (!at || at < v->function.p)
            continue;
        add_part(&b, v->function.p, at);
        buf_add(&b, str_of(others[i][1]));
        add_part(&b, at + strlen(others[i][0]), v->function.p + v->function.n);
        return buf_take(&b, v->w->arena);
    }
    return STR("");
}

static bool is_refused(const struct counterpart *v, struct str function) {
    const char *begin = v->function.p, *end = begin + v->function.n;
    struct buf b = {0};
    add_part(&b, v->module.p, begin);
    buf_add(&b, function);
    add_part(&b, end, v->module.p + v->module.n);
    struct str text = buf_take(&b, v->w->arena);
    struct module_text t;
    bool refused = module_text_read(&t, text, v->w->arena);
    struct match_list list = {.n = 0};
    for (uint32_t i = 0; refused && i < t.level.ir.nfuncs; i++)
        match_function(v->set, &t.level.graph, i, v->w->arena, &list);
    for (uint32_t i = 0; i < list.n; i++)
        refused &= list.items[i].pattern != v->w->match->pattern;
    free(list.items);
    module_text_free(&t);
    return refused;
}

/* The function with one digit, one number, one use or one op that is another; empty: each variation that is known
 * fuses. */
static struct str vary(struct counterpart *v) {
    const struct pass_place *p = &v->w->place;
    struct str found = {0};
    v->what = "another_axis";
    for (uint32_t op = p->g->m->nops; op-- > 0 && !found.n;) {
        uint32_t rank = 0;
        if (p->step[op] && graph_noperands(p->g, op))
            graph_shape(p->g, graph_operands(p->g, op)[0], &rank);
        for (uint32_t d = rank; d-- > 0 && !found.n;) {
            found = with_another_axis(v, op, d, rank);
            found = found.n && is_refused(v, found) ? found : STR("");
        }
    }
    for (uint32_t i = 0; i < v->w->nconstants && !found.n; i++) {
        found = v->w->constants[i].variable.n ? STR("") : with_another_constant(v, v->w->constants[i].value);
        v->what = "another_constant";
        found = found.n && is_refused(v, found) ? found : STR("");
    }
    for (uint32_t op = p->g->m->nops; op-- > 0 && !found.n;) {
        uint32_t r = p->g->m->ops[op].nresults == 1 && p->matched[op] ? p->g->m->ops[op].first_result : NONE;
        if (r == NONE || place_escapes(p, r) || p->inside[r] == 0 || !computes(p->g, op))
            continue;
        found = with_another_use(v, r);
        v->what = "another_use";
        found = found.n && is_refused(v, found) ? found : STR("");
    }
    for (uint32_t op = p->g->m->nops; op-- > 0 && !found.n;) {
        found = p->matched[op] ? with_another_op(v, op) : STR("");
        v->what = "another_op";
        found = found.n && is_refused(v, found) ? found : STR("");
    }
    return found;
}

/* The text of the function, called by the pattern and what is another in it. */
static struct str renamed(const struct counterpart *v, struct str function, const char *what) {
    struct str own = arena_printf(v->w->arena, "@%.*s(", (int)v->name.n, v->name.p), is = v->w->match->pattern->name;
    const char *at = str_find(function, own);
    struct buf b = {0};
    if (!at)
        return STR("");
    add_part(&b, function.p, at + 1);
    buf_printf(&b, "%.*s%s%s", (int)is.n, is.p, *what ? "_" : "", what);
    add_part(&b, at + own.n - 1, function.p + function.n);
    return buf_take(&b, v->w->arena);
}

/* ---- as tests of the compiler are written ---- */

/* Where the brace that opens at `at` closes; or the end. */
static size_t closing(struct str line, size_t at) {
    int depth = 0;
    for (; at < line.n; at++) {
        depth += line.p[at] == '{';
        depth -= line.p[at] == '}';
        if (depth == 0)
            return at;
    }
    return line.n;
}

/* A line without its location; of what is said of a module and of arguments, which of them are parameters. */
static void put_line(struct str line, struct buf *out) {
    bool head = str_find(line, STR("func.func ")) || str_starts(line, STR("module "));
    const char *loc = NULL;
    for (struct str rest = line; (rest.p = str_find(rest, STR(" loc("))); rest.n = (size_t)(line.p + line.n - rest.p))
        loc = rest.p++;
    line.n = loc ? (size_t)(loc - line.p) : line.n;
    for (size_t i = 0; i < line.n; i++) {
        if (!head || line.p[i] != '{' || i + 1 == line.n) {
            buf_addc(out, line.p[i]);
            continue;
        }
        size_t begin = i;
        i = closing(line, i);
        struct str dict = {line.p + begin, i - begin}, before = STR(" attributes ");
        const char *type = str_find(dict, STR("ttcore.argument_type = "));
        if (type)
            buf_printf(out, "{%.*s>}", (int)strcspn(type, ">"), type);
        else
            out->n -= str_ends(buf_str(out), before) ? before.n : 1;
    }
    buf_addc(out, '\n');
}

static void put_module(struct str text, struct buf *out) {
    while (text.n) {
        struct str line = str_part(&text, '\n');
        if (!str_starts(line, STR("#loc")))
            put_line(line, out);
    }
}

/* dot_general is not pure: what is left of one goes with its decomposition, to a matmul. */
static bool has_dot_general(const struct pass_writer *w) {
    for (uint32_t op = 0; op < w->place.g->m->nops; op++)
        if (w->place.matched[op] && graph_op_is(w->place.g, op, NAMES_AXES))
            return true;
    return false;
}

/* No op that is written and was not there. */
static void forbid_new(const struct pass_writer *w, struct buf *out) {
    const struct mlir *m = w->place.f->m;
    for (uint32_t op = 0; op < m->nops; op++) {
        struct str name = mlir_op_name(m, op);
        if (w->place.is_new[op] && m->ops[op].func == w->place.fused_func &&
            !has_kind(w->place.g, w->place.func, w->place.f->kind[op]) &&
            !(str_is(name, "ttir.matmul") && has_dot_general(w)))
            buf_printf(out, "// CHECK-NOT: %.*s\n", (int)name.n, name.p);
    }
}

struct str pass_test(const struct pass_writer *w, const struct pattern_set *set, struct str module, struct str pass) {
    const struct mlir *m = w->place.g->m;
    struct counterpart v = {.w = w, .set = set, .module = module, .function = function_text(w, module)};
    struct buf gone = {0}, out = {0}, all = {0};
    v.name = m->names[m->funcs[w->place.func].name];
    struct str other = v.function.n ? vary(&v) : STR("");
    other = other.n ? renamed(&v, other, v.what) : other;
    struct str first = renamed(&v, v.function, ""), name = first.n ? w->match->pattern->name : v.name;
    forbid(w, &gone);
    struct str forbidden = buf_take(&gone, w->arena);
    buf_printf(&out, "// RUN: ttmlir-opt --%.*s%s -o %%t %%s\n// RUN: FileCheck %%s --input-file=%%t\n\n", (int)pass.n,
               pass.p, has_dot_general(w) ? " --ttir-to-ttir-decomposition --canonicalize" : "");
    buf_printf(&out, "// CHECK-LABEL: func.func @%.*s(\n", (int)name.n, name.p);
    buf_add(&out, forbidden);
    expect(w, &out);
    buf_add(&out, w->place.nroots > 1 ? forbidden : STR(""));
    buf_add(&out, STR("// CHECK: return\n\n"));
    if (other.n) {
        buf_printf(&out, "// CHECK-LABEL: func.func @%.*s_%s(\n", (int)name.n, name.p, v.what);
        forbid_new(w, &out);
        buf_add(&out, STR("// CHECK: return\n\n"));
    } else
        buf_add(&out, STR("// No other axis, constant, use or op makes a function that must not fuse.\n\n"));
    if (first.n) {
        add_part(&all, module.p, v.function.p);
        buf_printf(&all, other.n ? "%.*s  %.*s" : "%.*s", (int)first.n, first.p, (int)other.n, other.p);
        add_part(&all, v.function.p + v.function.n, module.p + module.n);
    } else
        buf_add(&all, module);
    put_module(buf_str(&all), &out);
    buf_free(&all);
    return buf_take(&out, w->arena);
}
