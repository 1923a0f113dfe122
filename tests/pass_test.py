#!/usr/bin/env python3
"""`fusion-audit pass`: a place as a rewrite pattern of the compiler, and its test.

usage: pass_test.py PROGRAM [CORPUS]
What is written is parsed by clang++ against the headers of MLIR, where those are in MLIR_INCLUDE or below
/usr/lib/llvm-*, else against the few classes of MLIR below; the classes of the dialects are made of the operator table.
Without clang++ these tests skip. The findings of models are those of CORPUS, where it is there.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import filecheck


def read(path):
    with open(path) as f:
        return f.read()


ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PROGRAM = os.path.abspath(sys.argv[1])
CORPUS = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else ""
CLANG = shutil.which("clang++")
FILECHECK = filecheck.newest()
INCLUDE = [d for d in [os.environ.get("MLIR_INCLUDE", ""), *sorted(glob.glob("/usr/lib/llvm-*/include"), reverse=True)]
           if os.path.exists(os.path.join(d, "mlir/IR/PatternMatch.h")) and "TypedValue" in read(os.path.join(d, "mlir/IR/Value.h"))]

# What patterns take of MLIR, where its headers are missing.
MLIR = r"""#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>
namespace llvm {
template <typename T> struct ArrayRef {
  ArrayRef() {} ArrayRef(std::initializer_list<T>) {} ArrayRef(const std::vector<T> &) {}
  bool operator==(const ArrayRef &) const; bool empty() const; size_t size() const; const T *begin() const; const T *end() const; T operator[](size_t) const;
  ArrayRef drop_back(size_t = 1) const; ArrayRef drop_front(size_t = 1) const; bool operator!=(const ArrayRef &) const; };
template <typename R, typename F> bool any_of(R &&r, F f) { return std::any_of(r.begin(), r.end(), f); }
template <typename R, typename F> bool all_of(R &&r, F f) { return std::all_of(r.begin(), r.end(), f); }
template <typename R, typename T> bool is_contained(R &&r, T t) { return std::find(r.begin(), r.end(), t) != r.end(); }
template <typename T> struct SmallVector : std::vector<T> { using std::vector<T>::vector; template <typename U> explicit SmallVector(ArrayRef<U>); };
}
namespace mlir {
using llvm::ArrayRef; using llvm::SmallVector;
struct StringRef { StringRef(const char *) {} };
struct Type { bool operator!=(Type) const; bool operator==(Type) const; };
struct FloatType : Type {};
struct RankedTensorType : Type {
  static RankedTensorType get(ArrayRef<int64_t>, Type); unsigned getRank() const; int64_t getDimSize(unsigned) const;
  ArrayRef<int64_t> getShape() const; Type getElementType() const; };
struct Attribute { Attribute(std::nullptr_t = nullptr) {} explicit operator bool() const; bool operator!=(Attribute) const; };
struct BoolAttr : Attribute { using Attribute::Attribute; };
struct IntegerAttr : Attribute { using Attribute::Attribute; int64_t getInt() const; };
struct FloatAttr : Attribute { using Attribute::Attribute; double getValueAsDouble() const; };
struct StringAttr : Attribute { using Attribute::Attribute; };
struct UnitAttr : Attribute { using Attribute::Attribute; };
struct ArrayAttr : Attribute { using Attribute::Attribute; Attribute operator[](unsigned) const; };
struct DictionaryAttr : Attribute { using Attribute::Attribute; };
struct DenseI32ArrayAttr : Attribute { using Attribute::Attribute; };
struct DenseI64ArrayAttr : Attribute { using Attribute::Attribute; };
struct ElementsAttr : Attribute { using Attribute::Attribute; };
struct SplatElementsAttr : ElementsAttr { Type getElementType() const; template <typename T> T getSplatValue() const; };
struct APFloat { float convertToFloat() const; };
struct Location {};
struct MLIRContext;
struct Operation;
struct Value {
  Value(std::nullptr_t = nullptr) {} template <typename T> T getDefiningOp() const; Operation *getDefiningOp() const; Type getType() const;
  explicit operator bool() const; bool operator!=(Value) const; bool operator==(Value) const; std::vector<Operation *> getUsers() const; bool hasOneUse() const; };
template <typename T> struct TypedValue : Value { T getType() const; };
struct TypeRange { TypeRange(std::initializer_list<Type>) {} Type *begin() const; Type *end() const; };
struct ValueRange { ValueRange(std::initializer_list<Value>) {} TypeRange getTypes() const; };
struct Operation {
  Value getOperand(unsigned) const; std::vector<Value> getOperands() const; Value getResult(unsigned) const; bool hasOneUse() const;
  Operation **user_begin() const; Attribute getAttr(StringRef) const; void setAttr(StringRef, Attribute); Location getLoc() const;
  template <typename T> T getParentOfType() const; };
struct OpState { OpState(Operation *o = nullptr) : op(o) {} Operation *op; Operation *operator->() const { return op; } operator Operation *() const { return op; }
  explicit operator bool() const { return op; } Operation *getOperation() const { return op; } Location getLoc() const;
  bool operator!=(OpState) const; bool operator==(std::nullptr_t) const; bool operator!=(std::nullptr_t) const; };
struct Properties { bool operator!=(const Properties &) const; };
struct OneResult : OpState { using OpState::OpState; Properties getProperties() const; operator Value() const; TypedValue<RankedTensorType> getResult() const; RankedTensorType getType() const; };
struct OperationState {};
struct LogicalResult {};
LogicalResult success(); LogicalResult failure(); bool failed(LogicalResult);
template <typename... T> struct isa_impl; 
template <typename... T> bool isa(Type); template <typename... T> bool isa(Operation *);
template <typename... T> bool isa_and_nonnull(Operation *);
template <typename T, typename F> T cast(F); template <typename T, typename F> T dyn_cast(F); template <typename T> T dyn_cast_or_null(Operation *);
Type getElementTypeOrSelf(Value); Type getElementTypeOrSelf(Type);
struct FunctionType : Type {};
struct Block; struct ModuleOp;
struct OpBuilder {
  explicit OpBuilder(MLIRContext *) {} static OpBuilder atBlockEnd(Block *); MLIRContext *getContext() const;
  template <typename T, typename... A> T create(Location, A &&...a) { OperationState s; T::build(*this, s, std::forward<A>(a)...); return T(); }
  BoolAttr getBoolAttr(bool); IntegerAttr getI32IntegerAttr(int32_t); IntegerAttr getI64IntegerAttr(int64_t); IntegerAttr getSI32IntegerAttr(int32_t);
  IntegerAttr getUI32IntegerAttr(uint32_t); FloatAttr getF32FloatAttr(float); StringAttr getStringAttr(StringRef); UnitAttr getUnitAttr();
  DenseI32ArrayAttr getDenseI32ArrayAttr(ArrayRef<int32_t>); DenseI64ArrayAttr getDenseI64ArrayAttr(ArrayRef<int64_t>);
  ArrayAttr getI32ArrayAttr(ArrayRef<int32_t>); FunctionType getFunctionType(TypeRange, TypeRange); Type getF32Type(); Type getBF16Type(); Type getI32Type(); };
struct PatternRewriter : OpBuilder {
  LogicalResult notifyMatchFailure(Operation *, const char *); void replaceOp(Operation *, Value);
  template <typename T, typename... A> T replaceOpWithNewOp(Operation *, A &&...a) { OperationState s; T::build(*this, s, std::forward<A>(a)...); return T(); } };
template <typename T> struct OpRewritePattern { OpRewritePattern(MLIRContext *) {} virtual LogicalResult matchAndRewrite(T, PatternRewriter &) const = 0; };
struct RewritePatternSet { MLIRContext *getContext() const; template <typename... T> void add(MLIRContext *c) { (T(c), ...); } };
struct ModuleOp : OpState { using OpState::OpState; };
struct SymbolTable { explicit SymbolTable(Operation *) {} void insert(Operation *); };
namespace func {
struct FuncOp : OpState { using OpState::OpState; static FuncOp create(Location, StringRef, FunctionType); void setPrivate(); Block *addEntryBlock(); Value getArgument(unsigned); };
struct ReturnOp : OpState { static void build(OpBuilder &, OperationState &, ValueRange); };
}
struct FlatSymbolRefAttr : Attribute { static FlatSymbolRefAttr get(Operation *); };
}
"""
HEADERS = ["mlir/IR/OpDefinition.h", "mlir/IR/BuiltinTypes.h", "mlir/IR/BuiltinAttributes.h", "mlir/IR/PatternMatch.h", "mlir/IR/TypeUtilities.h", "mlir/IR/BuiltinOps.h", "mlir/Dialect/Func/IR/FuncOps.h"]
BESIDE = r"""#pragma once
%s
namespace ttmlir::utils { size_t countUsers(mlir::Value);
template <typename... Ops> mlir::Value lookThrough(mlir::Value value) { return value; }
template <typename OpTy, typename... Ops> OpTy findOpThrough(mlir::Value value) { return value.getDefiningOp<OpTy>(); } }
namespace mlir::tt::ttir::utils {
bool isInsideCompositeDecomposition(mlir::Operation *);
void moveUDChainBefore(mlir::Value, mlir::Operation *);
mlir::tt::ttir::ReshapeOp createReshapeOp(mlir::PatternRewriter &, mlir::Location, mlir::Value, llvm::ArrayRef<int64_t>);
constexpr const char *kCompositeDecompositionAttr = "tt.composite_decomposition";
}
"""
ATTRIBUTES = {"word": ("BoolAttr", "bool"), "f32": ("FloatAttr", "APFloat"), "i64": ("IntegerAttr", "int64_t"), "i32": ("IntegerAttr", "int32_t"),
              "si32": ("IntegerAttr", "int32_t"), "ui32": ("IntegerAttr", "uint32_t"), "i64s": ("DenseI64ArrayAttr", "ArrayRef<int64_t>"),
              "i32s": ("Attribute", "Attribute"), "[i32]": ("ArrayAttr", "ArrayAttr"), "shape": ("Attribute", "Attribute"), "enum": ("Attribute", "ttcore::ReduceType")}


def camel(name):
    return "".join(w[:1].upper() + w[1:] for w in name.split("_"))


class Table:
    """The operator table, and what src/compile/pass/cpp.c says of names."""

    def __init__(self):
        text = read(os.path.join(ROOT, "src/ir/ops/ops.def")).replace("REDUCES", '.attributes = "dim_arg:[i32]? keep_dim:word=true"')
        names = read(os.path.join(ROOT, "src/compile/pass/cpp.c"))
        self.irregular = dict(re.findall(r'\{"(\w+)", "(\w+Op)"\}', names))
        self.operands = re.findall(r'\{("\w+"|NULL), "(\w+)", "(\w+)"\},', names)
        self.builders = {n: o.replace('"\n', '').replace('"', '').split() for n, o in re.findall(r'\{"(\w+)",\s+"((?:[^{}])*?)"\},', names.split("builders[] = {")[1])}
        self.rows = {}
        for row in re.split(r"\nOP\(", text)[1:]:
            name, kind, roles = re.match(r'\w+, "(\w+)", (\w+),\s+"([^"]*)"', row).groups()
            attributes = re.search(r"\.attributes = ((?:\s*\"[^\"]*\")+)", row)
            words = "".join(re.findall(r'"([^"]*)"', attributes[1])) if attributes else ""
            for spelling in re.findall(r"ttir\.(\w+)", row):
                if kind == "REDUCE":
                    self.builders[name] = ["input", "keep_dim", "dim_arg"]
                self.rows[self.irregular.get(spelling, camel(spelling) + "Op")] = (spelling, name, roles, words)

    def operand(self, op, role):
        role = role.split("=")[0].rstrip("?")
        return next((new for of, old, new in self.operands if old == role and of in ("NULL", f'"{op}"')), role)

    def attributes(self, words):
        for word in words.split():
            key, _, rest = word.partition(":")
            kind = "enum" if "=#" in rest else rest.split("=")[0].split("/")[0].rstrip("?")
            if kind in ATTRIBUTES and not rest.startswith("-/") and key != "operandSegmentSizes":
                yield key, ATTRIBUTES[kind]

    def stub(self, name):
        spelling, op, roles, words = self.rows[name]
        roles = "input,index,source" if op == "scatter" else "cache,input,update_index" if op == "update_cache" else roles
        words = "arange_dimension:i64 start:i64 step:i64" if op == "arange" else words
        operands = [] if roles in ("", "*") else [self.operand(op, r) for r in roles.split(",") if not r.startswith("_")]
        attributes = dict(self.attributes(words))
        types = {o: "Value" for o in operands} | {k: a for k, (a, _) in attributes.items()}
        order = self.builders.get(op, [*operands, *(k for k in attributes if not (op == "full" and k == "shape") and op != "typecast")])
        results = 3 if op.startswith("split_query") else 2 if op in ("sort", "topk") else 0 if op == "update_cache" else 1
        parameters = ["Type"] * results + (["ValueRange"] if roles == "*" and op == "concat" else []) + [types.get(k, "Attribute" if "info" in k or "window" in k else "Value") for k in order]
        lines = [f"  TypedValue<RankedTensorType> get{camel(o)}();" for o in operands]
        lines += [f"  {a} get{camel(k)}Attr(); {v} get{camel(k)}();" for k, (a, v) in attributes.items() if op not in ("full", "constant")]
        lines += ["  std::vector<TypedValue<RankedTensorType>> getInputs();"] if op == "concat" else []
        lines += ["  Attribute getFillValue();"] if op == "full" else ["  ElementsAttr getValue();"] if op == "constant" else []
        base = f"Op<{name}, OpTrait::OneResult, OpTrait::OneTypedResult<RankedTensorType>::Impl, OpTrait::VariadicOperands>" if results == 1 else \
            f"Op<{name}, OpTrait::VariadicResults, OpTrait::VariadicOperands>"
        kind = base if INCLUDE else "OneResult" if results == 1 else "OpState"
        using = "using Op::Op;" if INCLUDE else f"using {'OneResult::OneResult' if results == 1 else 'OpState::OpState'};"
        return f"""struct {name} : {kind} {{ {using}
  static StringRef getOperationName() {{ return "ttir.{spelling}"; }} static ArrayRef<StringRef> getAttributeNames() {{ return {{}}; }}
  static void build(OpBuilder &, OperationState &, {', '.join(parameters)});
  static {name} create(OpBuilder &, Location, {', '.join(parameters)});
{chr(10).join(lines)}
}};
"""

    def header(self, text):
        used = [n for n in sorted(set(re.findall(r"\b(\w+Op)\b", text))) if n in self.rows] + ["FullOp", "ConstantOp", "ZerosOp", "OnesOp", "BroadcastOp", "PermuteOp", "ReshapeOp", "SqueezeOp", "TypecastOp", "UnsqueezeOp"]
        composite = "Op<CompositeOp, OpTrait::VariadicResults, OpTrait::VariadicOperands>" if INCLUDE else "OpState"
        return ("#pragma once\n#include <vector>\n" + "".join(f'#include "{h}"\n' for h in HEADERS) +
                f"""namespace mlir::tt::ttcore {{ enum class ReduceType {{ Sum, Prod, Invalid }}; struct CompositeOp : {composite} {{ using {'Op::Op' if INCLUDE else 'OpState::OpState'};
  static StringRef getOperationName() {{ return "ttcore.composite"; }} static ArrayRef<StringRef> getAttributeNames() {{ return {{}}; }}
  static void build(OpBuilder &, OperationState &, TypeRange, ValueRange, StringAttr, FlatSymbolRefAttr, DictionaryAttr);
  static CompositeOp create(OpBuilder &, Location, TypeRange, ValueRange, StringAttr, FlatSymbolRefAttr, DictionaryAttr); }}; }}
namespace mlir::tt::ttir {{
""" + "".join(self.stub(n) for n in dict.fromkeys(used)) + "}\n")


TABLE = Table()


def write(directory, name, text):
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    return path


WRITTEN = []   # what the tests wrote; parsed at once, since MLIR's headers take long


def parses(directory, texts):
    """What clang++ says of the files: one after the other, each in a namespace of its own."""
    stubs = os.path.join(directory, "stubs")
    if not INCLUDE:
        for header in HEADERS:
            write(stubs, header, '#pragma once\n#include "mini_mlir.h"\n')
        write(stubs, "mini_mlir.h", MLIR)
    write(stubs, "ttmlir/Dialect/TTIR/IR/TTIROps.h", TABLE.header("".join(texts)))
    for header in ("ttmlir/Utils.h", "ttmlir/Dialect/TTIR/Utils/Utils.h", "ttmlir/Dialect/TTCore/IR/TTCoreOps.h"):
        write(stubs, header, '#pragma once\n#include "ttmlir/Beside.h"\n')
    write(stubs, "ttmlir/Beside.h", BESIDE % '#include "ttmlir/Dialect/TTIR/IR/TTIROps.h"')
    for i, text in enumerate(texts):
        write(directory, f"parsed/{i}.cpp", text)
    path = write(directory, "all.cpp", "".join(f'#define fusing fusing{i}\n#include "parsed/{i}.cpp"\n#undef fusing\n' for i in range(len(texts))))
    include = ["-isystem", INCLUDE[0]] if INCLUDE else []
    done = subprocess.run([CLANG, "-fsyntax-only", "-std=c++17", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-undefined-inline", "-Wno-undefined-internal",
                           "-Wno-deprecated-declarations", "-I", stubs, *include, path], capture_output=True, text=True)
    return done.stderr if done.returncode or "warning:" in done.stderr else ""


def module(body, arguments, result, name="main"):
    return f"module {{\n  func.func @{name}({arguments}) -> ({result}) {{\n{body}  }}\n}}\n"


LINEAR = module("""    %0 = "ttir.matmul"(%x, %w) <{transpose_a = false, transpose_b = false}> : (tensor<64x32xbf16>, tensor<32x128xbf16>) -> tensor<64x128xbf16>
    %1 = "ttir.add"(%0, %b) : (tensor<64x128xbf16>, tensor<128xbf16>) -> tensor<64x128xbf16>
    return %1 : tensor<64x128xbf16>
""", "%x: tensor<64x32xbf16>, %w: tensor<32x128xbf16>, %b: tensor<128xbf16>", "tensor<64x128xbf16>")
TWICE = LINEAR.replace("    return %1", """    %2 = "ttir.matmul"(%1, %v) <{transpose_a = false, transpose_b = false}> : (tensor<64x128xbf16>, tensor<128x32xbf16>) -> tensor<64x32xbf16>
    %3 = "ttir.add"(%2, %c) : (tensor<64x32xbf16>, tensor<32xbf16>) -> tensor<64x32xbf16>
    return %3""").replace("%b: tensor<128xbf16>)", "%b: tensor<128xbf16>, %v: tensor<128x32xbf16>, %c: tensor<32xbf16>)").replace(
        "-> (tensor<64x128xbf16>)", "-> (tensor<64x32xbf16>)").replace("%3 : tensor<64x128xbf16>", "%3 : tensor<64x32xbf16>")
SCALED = module("""    %s = "ttir.full"() <{fill_value = 0.0441941731 : f32, shape = array<i32: 64, 1>}> : () -> tensor<64x1xf32>
    %0 = "ttir.multiply"(%x, %x) : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
    %1 = "ttir.mean"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<64x512xf32>) -> tensor<64x1xf32>
    %2 = "ttir.add"(%1, %eps) : (tensor<64x1xf32>, tensor<1xf32>) -> tensor<64x1xf32>
    %3 = "ttir.rsqrt"(%2) : (tensor<64x1xf32>) -> tensor<64x1xf32>
    %4 = "ttir.multiply"(%3, %x) : (tensor<64x1xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
    %5 = "ttir.multiply"(%g, %4) : (tensor<512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
    return %5 : tensor<64x512xf32>
""", "%x: tensor<64x512xf32>, %g: tensor<512xf32>, %eps: tensor<1xf32>", "tensor<64x512xf32>").replace(
    '    %s = "ttir.full"() <{fill_value = 0.0441941731 : f32, shape = array<i32: 64, 1>}> : () -> tensor<64x1xf32>\n', "")


class Pass(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.dir = self.directory.name

    def tearDown(self):
        self.directory.cleanup()

    def run_it(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], cwd=self.dir, capture_output=True, text=True)

    def pass_of(self, text, *options, status=0):
        """The files that are written, by name, and what was said."""
        write(self.dir, "m.mlir", text)
        shutil.rmtree(os.path.join(self.dir, "p"), ignore_errors=True)
        done = self.run_it("pass", "--ttir-only", "-o", "p", "m.mlir", *options)
        self.assertEqual(done.returncode, status, done.stderr)
        return {os.path.basename(f): read(f) for f in glob.glob(os.path.join(self.dir, "p", "*"))}, done.stderr

    def holds(self, files):
        """Lines of 80 columns, guards before the rewrite, a test whose second function does not match; parsed where that can be."""
        for name, text in files.items():
            if name.endswith(".cpp"):
                self.assertFalse([line for line in text.splitlines() if len(line) > 80], name)
                self.assertLess(text.rindex("notifyMatchFailure"), text.index("rewriter.replace"), name)
                self.assertLess(len(re.search(r"(?ms)^class .*?^};", text)[0].splitlines()), 120, name)
                self.assertNotRegex(text, r"Value\(\),|%\w|\bType !=", name)
                WRITTEN.append(text)
                continue
            label, = re.findall(r"CHECK-LABEL: func.func @(\w+_another_(?:axis|constant|use|op))\(", text)
            begin = text.index(f"\nfunc.func @{label}(")
            for part, found in ((text[:begin] + "\n", 1), (text[begin:], 0)):
                write(self.dir, "t.mlir", part)
                done = self.run_it("apply", "--assume=all", "-q", "t.mlir", "--only=" + re.sub(r"_fusing\d*\.mlir$", "", name))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout != part, bool(found), name)
                if FILECHECK and found:
                    write(self.dir, "checks.mlir", text[:text.index("// CHECK-LABEL: func.func @" + label)])
                    self.assertNotEqual(self.checks(part), "", name)
                    self.assertEqual(self.checks(done.stdout), "", name)

    def checks(self, module):
        """What FileCheck says of a module, whose arguments are named as the compiler prints them."""
        module = re.sub(r"(?m)^//.*\n", "", module)
        for i, name in enumerate(re.findall(r"(%\w+): tensor", module[:module.index(" -> ")])):
            module = re.sub(name + r"\b", "%%argument%d" % i, module)
        return subprocess.run([FILECHECK, "checks.mlir"], input=module.replace("%argument", "%arg"), cwd=self.dir, capture_output=True,
                              text=True).stderr

    def test_linear(self):
        files, said = self.pass_of(LINEAR)
        self.assertEqual(sorted(files), ["LinearFusingPattern.cpp", "linear_fusing.mlir"])
        self.holds(files)
        code, test = files["LinearFusingPattern.cpp"], files["linear_fusing.mlir"]
        self.assertIn("class LinearFusingPattern : public OpRewritePattern<AddOp> {", code)
        self.assertIn("findOperand<MatmulOp>(srcOp)", code)   # either order of the add
        self.assertIn("!haveShape({bias}, {bShape[1]})", code)
        self.assertNotIn("aShape[1]", code)             # what the product verifies is not asked again
        self.assertNotRegex(code, r"\b(64|128|32)\b")   # extents are no numbers
        self.assertIn("patterns.add<LinearFusingPattern>(patterns.getContext());", code)
        self.assertIn('// CHECK: %[[LINEAR:.*]] = "ttir.linear"(%arg0, %arg1, %arg2) {{.*}}: '
                      "(tensor<64x32xbf16>, tensor<32x128xbf16>, tensor<128xbf16>) -> tensor<64x128xbf16>", test)
        self.assertIn('// CHECK-NOT: "ttir.matmul"(', test)
        self.assertIn("fusion-audit try", said)   # a pass of the compiler makes it already
        self.assertIn("The compiler has MatmulWithBiasFusionPattern", code.split("#include")[0])

    def test_at_one_place_and_alike_ones_once(self):
        self.assertEqual(len(self.pass_of(TWICE)[0]), 2)
        files, _ = self.pass_of(TWICE, "--at=%3")
        self.assertIn("-> tensor<64x32xbf16>\n", files["linear_fusing.mlir"].split("func.func @linear(%")[0])
        files, said = self.pass_of(TWICE, "--at=%9", status=3)
        self.assertEqual(files, {})
        self.assertIn("nothing is at '%9'", said)

    def test_a_number_that_is_an_argument(self):
        """The pattern reads it from a constant, which its test has in the place of the argument."""
        files, said = self.pass_of(SCALED)
        self.assertEqual(sorted(files), ["RmsNormFusingPattern.cpp", "rms_norm_fusing.mlir"])
        self.holds(files)
        code = files["RmsNormFusingPattern.cpp"]
        self.assertRegex(code, r"auto \w+ =\s+getSplatValue\(")
        self.assertRegex(code, r"rewriter\.getF32FloatAttr\(\*\w+\)")
        self.assertIn("nothing tells a pass its number", said)
        self.assertRegex(files["rms_norm_fusing.mlir"], r'%\w+ = "ttir\.(full|constant)"')

    CACHE = module("""    %0 = "ttir.broadcast"(%pos) <{broadcast_dimensions = array<i64: 1, 8, 1, 128>}> : (tensor<1x1x1x1xsi32>) -> tensor<1x8x1x128xsi32>
    %1 = "ttir.scatter"(%cache, %0, %new) <{dim = 2 : i32, scatter_reduce_type = #ttcore.reduce_type<invalid>}> : (tensor<1x8x64x128xbf16>, tensor<1x8x1x128xsi32>, tensor<1x8x1x128xbf16>) -> tensor<1x8x64x128xbf16>
    return %1 : tensor<1x8x64x128xbf16>
""", "%cache: tensor<1x8x64x128xbf16>, %pos: tensor<1x1x1x1xsi32>, %new: tensor<1x8x1x128xbf16>", "tensor<1x8x64x128xbf16>")

    def test_what_is_written_in_place(self):
        """It has no result: what took that of the scatter takes the cache."""
        files, _ = self.pass_of(self.CACHE)
        self.holds(files)
        code, test = files["UpdateCacheFusingPattern.cpp"], files["update_cache_fusing.mlir"]
        self.assertRegex(code, r"(?s)rewriter.create<UpdateCacheOp>\(\s*loc, cache, .*rewriter.replaceOp\(srcOp, cache\);")
        self.assertIn("srcOp.getScatterReduceType() != ttcore::ReduceType::Invalid", code)
        self.assertIn("updateShape[2] != 1", code)   # asked by the pattern
        self.assertIn("ttmlir::utils::countUsers(cache) != 1", code)
        self.assertRegex(test, r'// CHECK: "ttir.update_cache"\(%arg\d, %\{\{\.\*\}\}, %\{\{\.\*\}\}\) .* -> \(\)\n')

    SORTED = module("""    %values, %indices = "ttir.sort"(%x) <{descending = true, dim = 1 : si32, stable = false}> : (tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xsi32>)
    %0 = "ttir.slice_static"(%values) <{begins = [0 : i32, 0 : i32], ends = [4 : i32, 8 : i32], step = [1 : i32, 1 : i32]}> : (tensor<4x64xf32>) -> tensor<4x8xf32>
    %1 = "ttir.slice_static"(%indices) <{begins = [0 : i32, 0 : i32], ends = [4 : i32, 8 : i32], step = [1 : i32, 1 : i32]}> : (tensor<4x64xsi32>) -> tensor<4x8xsi32>
    return %0, %1 : tensor<4x8xf32>, tensor<4x8xsi32>
""", "%x: tensor<4x64xf32>", "tensor<4x8xf32>, tensor<4x8xsi32>")

    def test_an_op_of_two_results(self):
        files, _ = self.pass_of(self.SORTED)
        self.holds(files)
        code = files["TopkFusingPattern.cpp"]
        self.assertRegex(code, r"getConsumer<SliceStaticOp>\(sortOp->getResult\(1\), \{srcOp\}\)")
        self.assertEqual(code.count("getProducer<SortOp>("), 1)
        self.assertIn("%values, %indices = ", files["topk_fusing.mlir"])

    TURNED = module("""    %0 = "ttir.slice_static"(%x) <{begins = [0 : i32, 0 : i32, 0 : i32, 32 : i32], ends = [1 : i32, 8 : i32, 128 : i32, 64 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<1x8x128x64xbf16>) -> tensor<1x8x128x32xbf16>
    %1 = "ttir.neg"(%0) : (tensor<1x8x128x32xbf16>) -> tensor<1x8x128x32xbf16>
    %2 = "ttir.slice_static"(%x) <{begins = [0 : i32, 0 : i32, 0 : i32, 0 : i32], ends = [1 : i32, 8 : i32, 128 : i32, 32 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<1x8x128x64xbf16>) -> tensor<1x8x128x32xbf16>
    %3 = "ttir.concat"(%1, %2) <{dim = 3 : si32}> : (tensor<1x8x128x32xbf16>, tensor<1x8x128x32xbf16>) -> tensor<1x8x128x64xbf16>
    %4 = "ttir.multiply"(%3, %sin) : (tensor<1x8x128x64xbf16>, tensor<1x1x128x64xbf16>) -> tensor<1x8x128x64xbf16>
    %5 = "ttir.multiply"(%x, %cos) : (tensor<1x8x128x64xbf16>, tensor<1x1x128x64xbf16>) -> tensor<1x8x128x64xbf16>
    %6 = "ttir.add"(%5, %4) : (tensor<1x8x128x64xbf16>, tensor<1x8x128x64xbf16>) -> tensor<1x8x128x64xbf16>
    return %6 : tensor<1x8x128x64xbf16>
""", "%x: tensor<1x8x128x64xbf16>, %cos: tensor<1x1x128x64xbf16>, %sin: tensor<1x1x128x64xbf16>", "tensor<1x8x128x64xbf16>")

    def test_either_order_of_two_arguments(self):
        files, _ = self.pass_of(self.TURNED)
        self.holds(files)
        code = files["RotaryEmbeddingFusingPattern.cpp"]
        self.assertRegex(code, r"unsigned (\w+) = (\w+)\.getLhs\(\) == x \? 0 : 1;")
        self.assertRegex(code, r"Value cos = \w+->getOperand\(1 - \w+\);")

    def test_what_is_looked_through_is_called_by_its_name(self):
        files, _ = self.pass_of(LINEAR.replace("    %1 =", """    %9 = "ttir.unsqueeze"(%0) <{dim = 0 : si32}> : (tensor<64x128xbf16>) -> tensor<1x64x128xbf16>
    %1 =""").replace('"ttir.add"(%0', '"ttir.add"(%9').replace("(tensor<64x128xbf16>, tensor<128xbf16>) -> tensor<64x128xbf16>", "(tensor<1x64x128xbf16>, tensor<128xbf16>) -> tensor<1x64x128xbf16>").replace(
            "return %1 : tensor<64x128xbf16>", "return %1 : tensor<1x64x128xbf16>").replace("-> (tensor<64x128xbf16>)", "-> (tensor<1x64x128xbf16>)"))
        self.holds(files)
        self.assertRegex(files["LinearFusingPattern.cpp"], r"getProducer<MatmulOp, UnsqueezeOp>\(")

    def test_another_axis_makes_a_module(self):
        """The sums along an axis of as many elements have another shape where they keep it."""
        exp = module("""    %0 = "ttir.exp"(%x) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
    %1 = "ttir.sum"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<32x32xbf16>) -> tensor<32x1xbf16>
    %2 = "ttir.div"(%0, %1) : (tensor<32x32xbf16>, tensor<32x1xbf16>) -> tensor<32x32xbf16>
    return %2 : tensor<32x32xbf16>
""", "%x: tensor<32x32xbf16>", "tensor<32x32xbf16>")
        files, _ = self.pass_of(exp)
        self.assertNotIn("another_axis", files["softmax_fusing.mlir"])

    def test_what_has_no_class(self):
        write(self.dir, "own.yml", "name: theirs\nfused_op: torch.addmm\nsource: torch\nmatch: out = matmul(a, b) + c\n")
        files, said = self.pass_of(LINEAR, "-P", "own.yml", "--only=theirs", status=1)
        self.assertEqual(files, {})
        self.assertIn("no class to create yet: torch.addmm wants a definition in TTNNOps.td with operands a: tensor<64x32xbf16>, "
                      "b: tensor<32x128xbf16>, c: tensor<128xbf16>; attributes none; results tensor<64x128xbf16>; "
                      "in place of ttir.matmul, ttir.add\n", said)
        self.assertNotIn("\\x0A", said)

    def test_an_attribute_that_no_guard_can_be_written_for(self):
        """The rows that an embedding takes are those that a list of the module tells."""
        body = """
    %0 = "ttir.constant"() <{value = dense<[-3.0, -2.0, -1.0, 0.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
    %1 = "ttir.constant"() <{value = dense<0> : tensor<4xi64>}> : () -> tensor<4xi64>
    %2 = "ttir.constant"() <{value = dense<0.0> : tensor<2x4x8xf32>}> : () -> tensor<2x4x8xf32>
    %3 = "ttir.typecast"(%0) : (tensor<4xf32>) -> tensor<4xi64>
    %4 = "ttir.clamp_tensor"(%3, %1, %1) : (tensor<4xi64>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
    %5 = "ttir.reshape"(%4) <{shape = [4 : i32, 1 : i32]}> : (tensor<4xi64>) -> tensor<4x1xi64>
    %6 = "ttir.permute"(%x) <{permutation = array<i64: 1, 0, 2>}> : (tensor<2x1x8xf32>) -> tensor<1x2x8xf32>
    %7 = "ttir.reshape"(%6) <{shape = [1 : i32, 16 : i32]}> : (tensor<1x2x8xf32>) -> tensor<1x16xf32>
    %8 = "ttir.embedding"(%5, %7) : (tensor<4x1xi64>, tensor<1x16xf32>) -> tensor<4x1x16xf32>
    %9 = "ttir.reshape"(%8) <{shape = [4 : i32, 2 : i32, 8 : i32]}> : (tensor<4x1x16xf32>) -> tensor<4x2x8xf32>
    %10 = "ttir.permute"(%9) <{permutation = array<i64: 1, 0, 2>}> : (tensor<4x2x8xf32>) -> tensor<2x4x8xf32>
    %11 = "ttir.logical_not"(%here) : (tensor<1x4x1xi1>) -> tensor<1x4x1xi1>
    %12 = "ttir.broadcast"(%here) <{broadcast_dimensions = array<i64: 2, 1, 8>}> : (tensor<1x4x1xi1>) -> tensor<2x4x8xi1>
    %13 = "ttir.broadcast"(%11) <{broadcast_dimensions = array<i64: 2, 1, 8>}> : (tensor<1x4x1xi1>) -> tensor<2x4x8xi1>
    %14 = "ttir.where"(%13, %2, %10) : (tensor<2x4x8xi1>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %15 = "ttir.where"(%12, %14, %y) : (tensor<2x4x8xi1>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    return %15 : tensor<2x4x8xf32>"""
        files, said = self.pass_of(module(body, "%x: tensor<2x1x8xf32>, %here: tensor<1x4x1xi1>, %y: tensor<2x4x8xf32>", "tensor<2x4x8xf32>"),
                                   "--only=where_in_where", status=1)
        self.assertEqual(files, {})
        self.assertIn("no guard can be written for value of ttir.constant", said)

    def test_what_is_known_in_ttnn_alone(self):
        """A pattern is written from TTIR; the line says what one over TTNN's own ops would create."""
        write(self.dir, "m.mlir", LINEAR.replace("ttir.", "ttnn."))
        done = self.run_it("pass", "--ttnn-only", "m.mlir")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("its ops in TTIR are not known, which a pattern is written from; its class is ttnn::LinearOp, for a pattern over the "
                      "ops of TTNN: operands a: tensor<64x32xbf16>, b: tensor<32x128xbf16>, bias: tensor<128xbf16>", done.stderr)

    def test_to_standard_output(self):
        write(self.dir, "m.mlir", LINEAR)
        done = self.run_it("pass", "-q", "--ttir-only", "m.mlir")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("\n// RUN: ttmlir-opt --ttir-fusing -o %t %s\n// RUN: FileCheck %s --input-file=%t\n", done.stdout)

    MODELS = [("linear", "bert_encoder_block"), ("matmul_activation", "llama_3_1_8b_decode_block"), ("layer_norm", "segformer"),
              ("rms_norm", "llama_3_1_8b_decode_block"), ("attention", "bert_encoder_block"), ("group_norm", "../real/zvaetp"),
              ("conv2d_bias", "segformer_vision_block"), ("rotary_embedding", "llama_3_1_8b_prefill_layer"),
              ("split_heads_of_products", "bert_encoder_block")]

    ONE_HOT = os.path.join(CORPUS, "../trials/issues/25-one-hot-cache-update.ttir.mlir")

    @unittest.skipUnless(os.path.exists(ONE_HOT), "no corpus")
    def test_a_cache_update(self):
        files, _ = self.pass_of(read(self.ONE_HOT))
        self.holds(files)
        self.assertIn("rewriter.create<UpdateCacheOp>(", files["UpdateCacheByComparisonFusingPattern.cpp"])

    @unittest.skipUnless(os.path.isdir(os.path.join(CORPUS, "models")), "no corpus")
    def test_operands_that_are_absent(self):
        """Those of the builder are written, not those of the library."""
        files, _ = self.pass_of(read(os.path.join(CORPUS, "models/llama_3_1_70b_tp_decode_layer.ttir.mlir")),
                                "--only=distributed_rms_norm_residual")
        code = files["DistributedRmsNormResidualFusingPattern.cpp"]
        self.assertRegex(code, r"x, weight, residual,\s+srcOp.getClusterAxisAttr\(\),\s+srcOp.getEpsilonAttr\(\)\);")
        self.holds(files)

    @unittest.skipUnless(os.path.isdir(os.path.join(CORPUS, "models")), "no corpus")
    def test_findings_of_models(self):
        for pattern, model in self.MODELS:
            (path,) = glob.glob(os.path.join(CORPUS, "models", model + ".ttir.mlir*"))
            shutil.rmtree(os.path.join(self.dir, "p"), ignore_errors=True)
            done = self.run_it("pass", "-q", "--ttir-only", "--only=" + pattern, "-o", "p", path)
            self.assertEqual(done.returncode, 0, pattern + done.stderr)
            files = {os.path.basename(f): read(f) for f in sorted(glob.glob(os.path.join(self.dir, "p", "*")))}
            with self.subTest(pattern):
                self.holds(files)

    @unittest.skipUnless(CLANG, "no clang++")
    def test_with_what_the_others_wrote_it_is_cpp(self):
        if not WRITTEN:
            self.pass_of(LINEAR)
            WRITTEN.append(read(os.path.join(self.dir, "p/LinearFusingPattern.cpp")))
        errors = parses(self.dir, WRITTEN)
        self.assertEqual(errors, "", errors)


if __name__ == "__main__":
    print("parsed with", INCLUDE[0] if CLANG and INCLUDE else "classes of this file" if CLANG else "nothing: no clang++")
    unittest.main(argv=sys.argv[:1])
