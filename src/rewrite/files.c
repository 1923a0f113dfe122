/* What registers, builds and tests the patterns. */
#include "rewrite/files.h"

#include "rewrite/cpp.h"

struct str files_argument(const struct pattern *p, struct arena *a) {
    struct buf b = {0};
    buf_add(&b, STR("fuse-"));
    for (size_t i = 0; i < p->name.n; i++)
        buf_addc(&b, p->name.p[i]);
    struct str text = buf_take(&b, a);
    char *at = arena_strdup(a, text);
    for (size_t i = 0; i < text.n; i++)
        at[i] = (char)(at[i] == '_' ? '-' : at[i]);
    return str_of(at);
}

struct str files_passes(const struct pattern *const *list, uint32_t n, struct arena *a) {
    struct buf b = {0};
    buf_add(&b, STR("// FusionPasses.cpp - a pass for each pattern, and `fuse-all` with all of them.\n"
                    "#include \"mlir/IR/PatternMatch.h\"\n"
                    "#include \"mlir/Pass/Pass.h\"\n"
                    "#include \"mlir/Tools/Plugins/PassPlugin.h\"\n"
                    "#include \"mlir/Transforms/GreedyPatternRewriteDriver.h\"\n\n"
                    "namespace mlir::tt::ttir::fusion {\n\n"));
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&b, "void populate%sPatterns(RewritePatternSet &patterns);\n", cpp_camel(a, list[i]->name).p);
    buf_add(&b, STR("\nvoid populateAllPatterns(RewritePatternSet &patterns) {\n"));
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&b, "  populate%sPatterns(patterns);\n", cpp_camel(a, list[i]->name).p);
    buf_add(&b,
            STR("}\n\n"
                "namespace {\n"
                "using Populate = void (*)(RewritePatternSet &);\n\n"
                "class FusionPass : public PassWrapper<FusionPass, OperationPass<ModuleOp>> {\n"
                "public:\n"
                "  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FusionPass)\n\n"
                "  FusionPass(StringRef argument, Populate populate) : argument(argument), populate(populate) {}\n\n"
                "  StringRef getArgument() const override { return argument; }\n\n"
                "  void runOnOperation() override {\n"
                "    RewritePatternSet patterns(&getContext());\n"
                "    populate(patterns);\n"
                "    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))\n"
                "      signalPassFailure();\n"
                "  }\n\n"
                "private:\n"
                "  StringRef argument;\n"
                "  Populate populate;\n"
                "};\n\n"
                "template <Populate populate> void registerFusion(const char *argument) {\n"
                "  registerPass([=]() -> std::unique_ptr<Pass> { return std::make_unique<FusionPass>(argument, "
                "populate); });\n"
                "}\n"
                "} // namespace\n\n"
                "void registerFusionPasses() {\n"
                "  registerFusion<populateAllPatterns>(\"fuse-all\");\n"));
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&b, "  registerFusion<populate%sPatterns>(\"%s\");\n", cpp_camel(a, list[i]->name).p,
                   files_argument(list[i], a).p);
    buf_add(&b, STR("}\n\n"
                    "} // namespace mlir::tt::ttir::fusion\n\n"
                    "extern \"C\" LLVM_ATTRIBUTE_WEAK ::mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {\n"
                    "  return {MLIR_PLUGIN_API_VERSION, \"Fusions\", \"1\", mlir::tt::ttir::fusion::"
                    "registerFusionPasses};\n"
                    "}\n"));
    return buf_take(&b, a);
}

struct str files_cmake(const struct pattern *const *list, uint32_t n, struct arena *a) {
    struct buf b = {0};
    buf_add(&b, STR("cmake_minimum_required(VERSION 3.20)\n"
                    "project(Fusions LANGUAGES C CXX)\n"
                    "find_package(MLIR REQUIRED CONFIG)\n"
                    "set(TTMLIR_INCLUDE \"\" CACHE PATH \"headers of tt-mlir, those that it generates among them\")\n"
                    "add_library(Fusions MODULE FusionPasses.cpp"));
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&b, "\n  %s.cpp", list[i]->name.p);
    buf_add(&b, STR(")\n"
                    "target_compile_features(Fusions PRIVATE cxx_std_17)\n"
                    "target_compile_options(Fusions PRIVATE -fno-exceptions -fno-rtti)\n"
                    "target_include_directories(Fusions SYSTEM PRIVATE ${TTMLIR_INCLUDE} ${MLIR_INCLUDE_DIRS} "
                    "${LLVM_INCLUDE_DIRS})\n"));
    return buf_take(&b, a);
}

struct str files_readme(const struct pattern *const *list, uint32_t n, struct arena *a) {
    struct buf b = {0};
    buf_add(&b, STR("# Fusions as passes of tt-mlir\n\n"
                    "Written by `fusion-audit patterns pass`; FusionMatch.h and FusionForm.h are shared.\n\n"
                    "    cmake -B build -DMLIR_DIR=.../lib/cmake/mlir -DTTMLIR_INCLUDE=... && cmake --build build\n"
                    "    ttmlir-opt --load-pass-plugin=build/libFusions.so "
                    "--pass-pipeline='builtin.module(fuse-all)' in.mlir\n\n"
                    "Or put the files into the compiler's tree and call a `populate...Patterns` where it fuses.\n"
                    "Tests: `sh -c \"$(sed -n 's|// RUN: ||p' NAME.mlir)\"` with `%s` and the plugin filled in, "
                    "as lit does.\n\nPasses: fuse-all"));
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&b, ", %s", files_argument(list[i], a).p);
    buf_add(&b, STR(".\n"));
    return buf_take(&b, a);
}

/* The op that a hit becomes, by its spelling in TTIR; empty: there is none of its own. */
static struct str fused_spelling(const struct pattern *p, struct arena *a) {
    enum op_kind k = op_kind_of_spelling(p->fused_op);
    for (struct str rest = k == K_UNKNOWN ? STR("") : str_of(op_table[k].spellings); rest.n;) {
        struct str one = str_part(&rest, ' ');
        if (str_starts(one, STR("ttir.")))
            return k == K_CLAMP ? STR("ttir.clamp_scalar") : arena_str(a, one);
    }
    return STR("");
}

static uint32_t occurrences(struct str text, struct str op) {
    uint32_t n = 0;
    for (const char *at = op.n ? str_find(text, op) : NULL; at; n++) {
        text = (struct str){at + op.n, (size_t)(text.p + text.n - at) - op.n};
        at = str_find(text, op);
    }
    return n;
}

/* `before`: how often the op is there already. */
static void put_checks(struct buf *b, struct str op, uint32_t before, bool hit) {
    buf_add(b, STR("// CHECK-LABEL: func.func\n"));
    if (!op.n)
        return;
    if (before && !hit)
        buf_printf(b, "// CHECK-COUNT-%u: \"%s\"\n", before, op.p);
    buf_printf(b, "// CHECK%s: \"%s\"\n", hit ? "" : "-NOT", op.p);
}

struct str files_test(const struct pattern *p, struct arena *a) {
    struct buf b = {0};
    struct str argument = files_argument(p, a), op = fused_spelling(p, a);
    struct diags none = {.arena = a};
    uint32_t count = 0;
    buf_printf(&b,
               "// RUN: ttmlir-opt --load-pass-plugin=%%fusions --split-input-file "
               "--pass-pipeline='builtin.module(%s)' %%s | FileCheck %%s\n",
               argument.p);
    for (uint32_t i = 0; i < p->nexamples; i++) {
        const struct example *e = &p->examples[i];
        bool ttnn = e->one_of_two && str_is(str_of(e->one_of_two), "ttnn");
        struct str text = ttnn ? STR("") : example_module(p, e, a, &none);
        if (!text.n || str_find(text, STR("ttnn.")))
            continue;
        buf_printf(&b, "%s\n// %s%.*s\n", count++ ? "\n// -----\n" : "",
                   e->hit ? "It fuses" : "It does not fuse: ", (int)(e->hit ? 0 : e->because.n),
                   e->hit ? "" : e->because.p);
        put_checks(&b, op, occurrences(text, op), e->hit);
        buf_add(&b, text);
    }
    diags_free(&none);
    return buf_take(&b, a);
}
