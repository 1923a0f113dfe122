/* fa_make_pass: the place with the numbers of its arguments in it, the same with the fused op, and both as a file. */
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "compile/apply/apply.h"
#include "compile/pass/cpp.h"
#include "compile/pass/writer.h"
#include "fusion_audit.h"
#include "patterns/library/choose.h"
#include "patterns/library/library.h"

struct fa_pass {
    struct arena arena;
    struct diags diags;
    struct pattern_set own;
    const struct pattern_set *patterns;
    struct str name, file, code, test, left, note;
};

/* ---- the two modules ---- */

/* Of some pattern that is asked for. */
static bool has_op_of_ttir(const struct pattern_set *set) {
    bool has = false;
    for (uint32_t i = 0; i < set->n && !has; i++)
        has = op_spelling(set->items[i]->makes, "ttir.", "").n > 0;
    return has;
}

/* The place with constants where numbers of arguments matter, and with the fused op. The pattern reads the number of
 * the constant: which one stands there does not matter. */
static struct applied apply(struct fa_pass *p, const struct fa_pass_options *o) {
    enum { STAND_IN = 100000 }; /* one over it */
    static const char *const files[] = {"place.mlir"};
    const struct fa_bytes bytes = {o->module, strlen(o->module)};
    struct fa_apply_options how = o->writing;
    how.inputs = (struct fa_inputs){.files = files, .nfiles = 1, .contents = &bytes};
    struct fa_application *a = apply_module(&how, 1.0 / STAND_IN);
    struct applied out = applied_texts(a);
    p->left =
        has_op_of_ttir(p->patterns) ? STR("in its TTIR alone the pattern does not match") : STR("TTIR has no such op");
    for (size_t i = 0; i < fa_application_found(a); i++)
        if (fa_application_left(a, i))
            p->left = arena_str(&p->arena, str_of(fa_application_left(a, i)));
    if (fa_application_status(a) != FA_CLEAN && fa_count(fa_application_diagnostics(a)))
        p->left = arena_str(&p->arena, str_of(fa_get_diagnostic(fa_application_diagnostics(a), 0).message));
    out.before = arena_str(&p->arena, out.before);
    out.after = fa_application_applied(a) ? arena_str(&p->arena, out.after) : STR("");
    out.unknown = arena_str(&p->arena, out.unknown);
    fa_application_free(a);
    return out;
}

static struct str note_of(struct fa_pass *p, const struct fa_pass_options *o, const struct applied *a) {
    if (str_is(a->before, o->module))
        return STR("");
    return a->unknown.n ? arena_printf(&p->arena,
                                       "%.*s is an argument of this model: nothing tells a pass its number, and the "
                                       "pattern fuses where it is a constant, as in the test",
                                       (int)a->unknown.n, a->unknown.p)
                        : STR("an argument of this model is taken to hold a number, which nothing tells a pass: the "
                              "pattern fuses where it is a constant, as in the test");
}

/* ---- the file ---- */

/* Functions that the file has beside the pattern, where something takes them; each may take those before it. */
enum { HELPERS = 10 };
static const struct {
    const char *name, *text;
} helpers[HELPERS] = {
    {"getSplatValue", "// The number in all elements of a constant, behind what moves or casts it.\n"
                      "std::optional<double> getSplatValue(Value value) {\n"
                      "  Operation *op = value.getDefiningOp();\n"
                      "  while (isa_and_nonnull<BroadcastOp, PermuteOp, ReshapeOp, SqueezeOp,\n"
                      "                         TypecastOp, UnsqueezeOp>(op)) {\n"
                      "    op = op->getOperand(0).getDefiningOp();\n"
                      "  }\n"
                      "  if (auto fullOp = dyn_cast_or_null<FullOp>(op)) {\n"
                      "    if (auto number = dyn_cast<FloatAttr>(fullOp.getFillValue())) {\n"
                      "      return number.getValueAsDouble();\n"
                      "    }\n"
                      "    return cast<IntegerAttr>(fullOp.getFillValue()).getInt();\n"
                      "  }\n"
                      "  if (auto constantOp = dyn_cast_or_null<ConstantOp>(op)) {\n"
                      "    auto splat = dyn_cast<SplatElementsAttr>(constantOp.getValue());\n"
                      "    if (splat && isa<FloatType>(splat.getElementType())) {\n"
                      "      return splat.getSplatValue<FloatAttr>().getValueAsDouble();\n"
                      "    }\n"
                      "  }\n"
                      "  if (isa_and_nonnull<ZerosOp, OnesOp>(op)) {\n"
                      "    return isa<OnesOp>(op) ? 1.0 : 0.0;\n"
                      "  }\n"
                      "  return std::nullopt;\n"
                      "}\n\n"},
    {"findConstant", "// The operand of a commutative op that is a number in all elements.\n"
                     "unsigned findConstant(Operation *op) {\n"
                     "  return op && getSplatValue(op->getOperand(0)) ? 0 : 1;\n"
                     "}\n\n"},
    {"isSplat", "bool isSplat(Value value, double expected) {\n"
                "  std::optional<double> number = getSplatValue(value);\n"
                "  return number && (*number == expected ||\n"
                "                    std::abs(*number - expected) <= %s * std::abs(expected));\n"
                "}\n\n"},
    {"getShape", "ArrayRef<int64_t> getShape(Value value) {\n"
                 "  return cast<RankedTensorType>(value.getType()).getShape();\n"
                 "}\n\n"},
    {"haveShape", "bool haveShape(ValueRange values, ArrayRef<int64_t> shape) {\n"
                  "  return llvm::all_of(values.getTypes(), [&](Type type) {\n"
                  "    return cast<RankedTensorType>(type).getShape() == shape;\n"
                  "  });\n"
                  "}\n\n"},
    {"haveElementType", "bool haveElementType(ValueRange values, Value like) {\n"
                        "  return llvm::all_of(values.getTypes(), [&](Type type) {\n"
                        "    return getElementTypeOrSelf(type) == getElementTypeOrSelf(like);\n"
                        "  });\n"
                        "}\n\n"},
    {"getProducer", "// The op that makes an operand of `op`, behind ops of ThroughTys; null if that\n"
                    "// is another one, or has more or fewer users. 0: any number of them.\n"
                    "template <typename OpTy, typename... ThroughTys>\n"
                    "OpTy getProducer(Operation *op, unsigned operand, size_t uses = 1) {\n"
                    "  if (!op) {\n"
                    "    return nullptr;\n"
                    "  }\n"
                    "  auto producer = ttmlir::utils::findOpThrough<OpTy, ThroughTys...>(\n"
                    "      op->getOperand(operand));\n"
                    "  if (producer && uses != 0 &&\n"
                    "      ttmlir::utils::countUsers(producer->getResult(0)) != uses) {\n"
                    "    return nullptr;\n"
                    "  }\n"
                    "  return producer;\n"
                    "}\n\n"},
    {"findOperand", "template <typename OpTy, typename... RestTys>\n"
                    "bool isMadeBy(Value value) {\n"
                    "  Operation *op = value.getDefiningOp();\n"
                    "  while (!isa_and_nonnull<OpTy>(op) &&\n"
                    "         isa_and_nonnull<ReshapeOp, SqueezeOp, TypecastOp, UnsqueezeOp>(op)) {\n"
                    "    op = op->getOperand(0).getDefiningOp();\n"
                    "  }\n"
                    "  if constexpr (sizeof...(RestTys) == 0) {\n"
                    "    return isa_and_nonnull<OpTy>(op);\n"
                    "  } else {\n"
                    "    return isa_and_nonnull<OpTy>(op) &&\n"
                    "           llvm::any_of(op->getOperands(), isMadeBy<RestTys...>);\n"
                    "  }\n"
                    "}\n\n"
                    "// The operand of a commutative op that an op of the first class makes, an\n"
                    "// operand of which one of the second makes, and so on.\n"
                    "template <typename... OpTys>\n"
                    "unsigned findOperand(Operation *op) {\n"
                    "  return op && isMadeBy<OpTys...>(op->getOperand(0)) ? 0 : 1;\n"
                    "}\n\n"},
    {"getConsumer", "template <typename OpTy, typename... RestTys>\n"
                    "auto followUsers(Operation *op) {\n"
                    "  while (!isa_and_nonnull<OpTy>(op) &&\n"
                    "         isa_and_nonnull<ReshapeOp, SqueezeOp, TypecastOp, UnsqueezeOp>(op)) {\n"
                    "    op = op->hasOneUse() ? *op->user_begin() : nullptr;\n"
                    "  }\n"
                    "  auto user = dyn_cast_or_null<OpTy>(op);\n"
                    "  if constexpr (sizeof...(RestTys) == 0) {\n"
                    "    return user;\n"
                    "  } else {\n"
                    "    bool leads = user && user->hasOneUse();\n"
                    "    return followUsers<RestTys...>(leads ? *user->user_begin() : nullptr);\n"
                    "  }\n"
                    "}\n\n"
                    "// The op that ops of these classes lead to from a user of `value`, and that is\n"
                    "// not taken.\n"
                    "template <typename... OpTys>\n"
                    "auto getConsumer(Value value, ArrayRef<Operation *> taken) {\n"
                    "  decltype(followUsers<OpTys...>(nullptr)) found;\n"
                    "  for (Operation *user : value.getUsers()) {\n"
                    "    auto op = followUsers<OpTys...>(user);\n"
                    "    if (op && !llvm::is_contained(taken, op.getOperation())) {\n"
                    "      found = op;\n"
                    "    }\n"
                    "  }\n"
                    "  return found;\n"
                    "}\n\n"},
    {"createSlice", "// What `input` has along `dim` from `begin` on, up to `end`.\n"
                    "SliceStaticOp createSlice(OpBuilder &builder, Location loc, Value input,\n"
                    "                          int64_t dim, int64_t begin, int64_t end,\n"
                    "                          int64_t step = 1) {\n"
                    "  auto type = cast<RankedTensorType>(input.getType());\n"
                    "  SmallVector<int64_t> shape(type.getShape());\n"
                    "  SmallVector<int32_t> begins(shape.size(), 0), ends(type.getShape());\n"
                    "  SmallVector<int32_t> steps(shape.size(), 1);\n"
                    "  shape[dim] = (end - begin + step - 1) / step;\n"
                    "  begins[dim] = begin;\n"
                    "  ends[dim] = end;\n"
                    "  steps[dim] = step;\n"
                    "  return builder.create<SliceStaticOp>(\n"
                    "      loc, RankedTensorType::get(shape, type.getElementType()), input,\n"
                    "      builder.getI32ArrayAttr(begins), builder.getI32ArrayAttr(ends),\n"
                    "      builder.getI32ArrayAttr(steps));\n"
                    "}\n\n"},
};

static void put_include(struct buf *out, bool needed, const char *header) {
    if (needed)
        buf_printf(out, "#include %s\n", header);
}

/* Which of the helpers a text takes. */
static void find_helpers(struct str text, bool *used) {
    for (int i = HELPERS; i-- > 0;) {
        used[i] = str_find(text, str_of(helpers[i].name));
        for (int k = i + 1; k < HELPERS; k++)
            used[i] |= used[k] && strstr(helpers[k].text, helpers[i].name);
    }
}

static void put_includes(struct str body, struct buf *out) {
    bool composite = str_find(body, STR("CompositeOp")), number = str_find(body, STR("Splat"));
    put_include(out, composite, "\"ttmlir/Dialect/TTCore/IR/TTCoreOps.h\"");
    put_include(out, true, "\"ttmlir/Dialect/TTIR/IR/TTIROps.h\"");
    put_include(out, composite || str_find(body, STR(" utils::")), "\"ttmlir/Dialect/TTIR/Utils/Utils.h\"");
    put_include(out, true, "\"ttmlir/Utils.h\"\n");
    put_include(out, composite, "\"mlir/Dialect/Func/IR/FuncOps.h\"");
    put_include(out, composite, "\"mlir/IR/BuiltinOps.h\"");
    put_include(out, true, "\"mlir/IR/PatternMatch.h\"");
    put_include(out, true, "\"mlir/IR/TypeUtilities.h\"\n");
    put_include(out, number, "<cmath>");
    put_include(out, number, "<optional>\n");
}

/* How near a constant has to be: as the formats on its way hold it. */
static const char *tolerance(const struct pass_writer *w) {
    int bits = 53;
    for (uint32_t i = 0; i < w->nconstants; i++) {
        int its = graph_constant(w->place.g, w->constants[i].value).bits;
        bits = its < bits ? its : bits;
    }
    return bits <= 8 ? "4e-3" : bits <= 11 ? "5e-4" : "1e-6";
}

/* "add(reshape(dot_general(a, b)), bias)" */
static void put_spelling(const struct pass_writer *w, uint32_t value, int depth, struct buf *out) {
    const struct graph *g = w->place.g;
    uint32_t op = place_def(&w->place, value);
    for (uint32_t i = 0; i < w->nconstants; i++)
        if (w->constants[i].value == value) {
            const struct pass_constant *c = &w->constants[i];
            buf_add(out, c->variable.n ? c->variable
                         : c->counted  ? c->number < 1 ? STR("1 / n") : STR("n")
                                       : cpp_number(c->number, w->arena));
            return;
        }
    if (op == NONE || !w->place.matched[op] || w->place.read[value] || depth > MAX_STEPS) {
        struct str expr = w->final[value] ? w->expr[value] : STR("_");
        buf_add(out, expr);
        return;
    }
    buf_printf(out, "%.*s(", (int)pass_word(g, op).n, pass_word(g, op).p);
    for (uint32_t i = 0; i < graph_noperands(g, op); i++)
        if (graph_operands(g, op)[i] != NONE) {
            buf_add(out, i ? STR(", ") : STR(""));
            put_spelling(w, graph_operands(g, op)[i], depth + 1, out);
        }
    buf_addc(out, ')');
}

static void put_comment(const struct pass_writer *w, struct buf *out) {
    struct str says = w->match->pattern->says.n ? w->match->pattern->says : w->match->pattern->summary;
    struct buf spelling = {0};
    enum { MOST = 400 };
    put_spelling(w, w->place.g->m->ops[w->place.roots[0]].first_result, 0, &spelling);
    cpp_comment(out, 0, says);
    if (spelling.n <= MOST)
        cpp_comment(out, 0, buf_str(&spelling));
    if (w->asked.n)
        cpp_comment(out, 0,
                    arena_printf(w->arena, "No guard asks, in the words of fusion-patterns(5), and it is so here: %s.",
                                 w->asked.p));
    buf_free(&spelling);
}

static struct str file_text(struct fa_pass *p, const struct fa_pass_options *o, struct pass_writer *w) {
    struct buf out = {0}, all = {0};
    bool used[HELPERS];
    buf_add(&all, buf_str(&w->guards));
    buf_add(&all, buf_str(&w->rewrite));
    struct str body = buf_take(&all, &p->arena);
    struct str root = pass_class(w, w->place.g, w->place.roots[0]);
    struct str var = w->expr[w->place.g->m->ops[w->place.roots[0]].first_result];
    buf_add(&out, STR("// SPDX-License-Identifier: Apache-2.0\n\n"));
    if (o->says && *o->says) {
        cpp_comment(&out, 0, str_of(o->says));
        buf_addc(&out, '\n');
    }
    if (p->note.n) {
        cpp_comment(&out, 0, p->note);
        buf_addc(&out, '\n');
    }
    put_includes(body, &out);
    buf_add(&out, STR("namespace mlir::tt::ttir::fusing {\n\nnamespace {\n\n"));
    find_helpers(body, used);
    for (int i = 0; i < HELPERS; i++)
        if (used[i]) {
            const char *at = strstr(helpers[i].text, "%s");
            buf_add(&out, at ? (struct str){helpers[i].text, (size_t)(at - helpers[i].text)} : str_of(helpers[i].text));
            if (at)
                buf_printf(&out, "%s%s", tolerance(w), at + 2);
        }
    put_comment(w, &out);
    bool wide = p->name.n + root.n > 44;
    buf_printf(&out, "class %s%s: public OpRewritePattern<%s> {\n", p->name.p, wide ? "\n    " : " ", root.p);
    buf_printf(&out, "  using OpRewritePattern<%s>::OpRewritePattern;\n\npublic:\n", root.p);
    cpp_put(&out, 2, "LogicalResult matchAndRewrite(%s %s, PatternRewriter &rewriter) const final {", root.p, var.p);
    if (str_find(body, STR("CompositeOp"))) {
        cpp_put(&out, 4, "if (utils::isInsideCompositeDecomposition(%s)) {", var.p);
        cpp_put(&out, 6, "return rewriter.notifyMatchFailure(%s, \"inside of a decomposition\");", var.p);
        buf_add(&out, STR("    }\n\n"));
    }
    buf_add(&out, body);
    buf_add(&out, STR("    return success();\n  }\n};\n\n} // namespace\n\n"));
    cpp_comment(
        &out, 0,
        arena_printf(
            w->arena,
            "To register it: this file among those of "
            "lib/Dialect/TTIR/Transforms/CMakeLists.txt, and in TTIRFusing.cpp a declaration of this function, and"));
    buf_printf(&out, "//   fusing::populate%s(patterns);\n", p->name.p);
    cpp_put(&out, 0, "void populate%s(RewritePatternSet &patterns) {", p->name.p);
    cpp_put(&out, 2, "patterns.add<%s>(patterns.getContext());", p->name.p);
    buf_add(&out, STR("}\n\n} // namespace mlir::tt::ttir::fusing\n"));
    return buf_take(&out, &p->arena);
}

/* ---- the whole ---- */

/* The match of the pattern at one of the roots, or the first one, for its names. */
static bool find_match(struct fa_pass *p, const struct graph *g, uint32_t func, const struct pass_place *place,
                       struct match *out) {
    struct match_list list = {.n = 0};
    match_function(p->patterns, g, func, &p->arena, &list);
    uint32_t best = 0;
    for (uint32_t i = list.n; i-- > 0;)
        for (uint32_t k = 0; place && k < place->nroots; k++)
            best = list.items[i].root == place->roots[k] ? i : best;
    if (list.n)
        *out = list.items[best];
    free(list.items);
    return list.n > 0;
}

static void write_pass(struct fa_pass *p, const struct fa_pass_options *o, struct module_text *b,
                       struct module_text *f) {
    struct pass_writer *w = arena_alloc(&p->arena, sizeof *w);
    struct match match = {0};
    w->arena = &p->arena;
    if (!pass_place_read(&w->place, &b->level.graph, &f->level.graph, &p->arena, &p->left))
        return;
    w->match = &match;
    if (!find_match(p, w->place.g, w->place.func, &w->place, &match) || !match_details(&match, &p->arena, &w->detail)) {
        p->left = STR("the pattern does not match there alone");
        return;
    }
    const struct mlir *m = &b->level.ir;
    w->expr = arena_alloc(&p->arena, (m->nvalues + (size_t)1) * sizeof *w->expr);
    w->final = arena_alloc(&p->arena, m->nvalues + (size_t)1);
    struct str number = o->number > 1 ? arena_printf(&p->arena, "%u", o->number) : STR("");
    struct str camel = cpp_camel(match.pattern->name, true, &p->arena);
    struct str keeps = match.pattern->status.keeps, before = p->note;
    if (keeps.n)
        p->note = arena_printf(&p->arena,
                               "%.*s%sThe compiler takes this op apart again behind the fusion, unless %.*s is set and "
                               "the device takes its shapes: `fusion-audit try` says what that brings",
                               (int)before.n, before.n ? before.p : "", before.n ? ". " : "", (int)keeps.n, keeps.p);
    p->name = arena_printf(&p->arena, "%sFusingPattern%s", camel.p, number.p);
    p->file =
        arena_printf(&p->arena, "%.*s_fusing%s.mlir", (int)match.pattern->name.n, match.pattern->name.p, number.p);
    if (!pass_match(w)) {
        p->left = STR("nothing leads from one of its results to the others");
        return;
    }
    pass_compare(w);
    if (w->unwritten.n) {
        p->left = arena_printf(&p->arena, "no guard can be written for %.*s", (int)w->unwritten.n, w->unwritten.p);
    } else {
        p->code = file_text(p, o, w);
        p->test = pass_test(w, p->patterns, b, str_of(o->pass && *o->pass ? o->pass : "ttir-fusing"));
    }
    buf_free(&w->guards);
    buf_free(&w->rewrite);
}

static void put_item(struct buf *out, struct str name, struct str type) {
    buf_printf(out, "%s%.*s%s%.*s", out->n ? ", " : "", (int)name.n, name.p, name.n ? ": " : "", (int)type.n, type.p);
}

/* Operands, attributes and results of the op that would replace a match, as the formula names them. */
static struct str interface_text(struct fa_pass *p, const struct match *m, const struct match_detail *d) {
    const struct mlir *ir = m->graph->m;
    const struct formula *f = &m->pattern->formula;
    const struct mlir_op *end = &ir->ops[ir->funcs[m->func].end_op - 1]; /* the small module returns its results */
    struct buf operands = {0}, attributes = {0}, results = {0};
    for (uint32_t i = 0; i < d->nslots; i++)
        if (d->slots[i].value != NONE && f->slots[i].is_variable && f->slots[i].name.n) {
            bool number = graph_constant(m->graph, d->slots[i].value).known;
            struct str type = mlir_unalias(ir, ir->types[ir->values[d->slots[i].value].type].text);
            put_item(number ? &attributes : &operands, f->slots[i].name, number ? STR("F32Attr") : type);
        }
    for (uint32_t i = 0; i < end->noperands; i++)
        put_item(&results, STR(""), ir->types[ir->values[ir->operands[end->first_operand + i]].type].text);
    struct str x = buf_take(&operands, &p->arena), y = buf_take(&attributes, &p->arena),
               z = buf_take(&results, &p->arena);
    return arena_printf(&p->arena, "operands %s; attributes %s; results %s", x.p, y.n ? y.p : "none", z.p);
}

/* Of an op that TTIR has not, or of ops that are known in TTNN alone: what it would be. */
static void define(struct fa_pass *p, const struct fa_pass_options *o) {
    struct module_text t;
    struct match m;
    struct match_detail detail;
    bool read = module_text_read(&t, str_of(o->module), &p->arena), found = false;
    for (uint32_t i = 0; read && i < t.level.ir.nfuncs && !found; i++)
        found = find_match(p, &t.level.graph, i, NULL, &m) && match_details(&m, &p->arena, &detail);
    bool in_ttnn = found && str_starts(mlir_op_name(&t.level.ir, m.root), STR("ttnn."));
    const char *why =
        in_ttnn ? "its ops in TTIR are not known, which a pattern is written from" : "TTIR has no such op";
    struct str ours = found ? op_spelling(m.pattern->makes, "ttnn.", "") : STR("");
    if (found && ours.n && (in_ttnn || !op_spelling(m.pattern->makes, "ttir.", "").n))
        p->left = arena_printf(&p->arena, "%s; its class is ttnn::%s, for a pattern over the ops of TTNN: %s", why,
                               cpp_class(ours, &p->arena).p, interface_text(p, &m, &detail).p);
    else if (found && !ours.n)
        p->left = arena_printf(&p->arena, "no class to create yet: %.*s wants a definition in TTNNOps.td with %s",
                               (int)m.pattern->fused_op.n, m.pattern->fused_op.p, interface_text(p, &m, &detail).p);
    module_text_free(&t);
}

static void run(struct fa_pass *p, const struct fa_pass_options *o) {
    struct module_text b, f;
    p->patterns = patterns_asked_for(&o->writing.patterns, &p->own, &p->diags);
    p->left = STR("the pattern cannot be read");
    struct applied a = p->patterns ? apply(p, o) : (struct applied){0};
    if (!a.after.n) {
        if (p->patterns)
            define(p, o);
        return;
    }
    p->note = note_of(p, o, &a);
    bool good = module_text_read(&b, a.before, &p->arena);
    good &= module_text_read(&f, a.after, &p->arena);
    if (!good)
        p->left = STR("the module cannot be read");
    if (good)
        write_pass(p, o, &b, &f);
    module_text_free(&b);
    module_text_free(&f);
}

struct fa_pass *fa_make_pass(const struct fa_pass_options *options) {
    IN_C_LOCALE;
    struct fa_pass *p = xcalloc(1, sizeof *p);
    p->diags = (struct diags){.arena = &p->arena};
    run(p, options);
    return p;
}

const char *fa_pass_left(const struct fa_pass *p) {
    return p->code.n ? NULL : p->left.p;
}
const char *fa_pass_note(const struct fa_pass *p) {
    return p->note.n ? p->note.p : "";
}
const char *fa_pass_class(const struct fa_pass *p) {
    return p->name.p;
}
const char *fa_pass_code(const struct fa_pass *p) {
    return p->code.p;
}
const char *fa_pass_test_file(const struct fa_pass *p) {
    return p->file.p;
}
const char *fa_pass_test(const struct fa_pass *p) {
    return p->test.p;
}

void fa_pass_free(struct fa_pass *p) {
    if (!p)
        return;
    patterns_free(&p->own);
    diags_free(&p->diags);
    arena_free(&p->arena);
    free(p);
}
