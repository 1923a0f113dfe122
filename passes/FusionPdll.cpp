// FusionPdll.cpp - what Fusion.pdll declares, and the pass `fuse-pdll`, which
// applies patterns of a file to a module.
//
// Ops are known by their names and no dialect is linked: mlir-opt runs it with
// --allow-unregistered-dialect, ttmlir-opt as it is.
//
// SPDX-License-Identifier: Apache-2.0
#include "FusionNumbers.h"

#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDLInterp/IR/PDLInterp.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/Regex.h"

#include <cmath>

namespace mlir::tt::ttir::fusion {
namespace {

using Args = ArrayRef<PDLValue>;
using Shape = SmallVector<int64_t>;

RankedTensorType typeOf(Value x) { return cast<RankedTensorType>(x.getType()); }
ArrayRef<int64_t> shapeOf(Value x) { return typeOf(x).getShape(); }
bool isOp(Operation *op, StringRef name) {
  return op && op->getName().getDialectNamespace() == "ttir" &&
         op->getName().stripDialect() == name;
}
bool isOneOf(Operation *op, std::initializer_list<StringRef> names) {
  return llvm::any_of(names, [&](StringRef name) { return isOp(op, name); });
}
bool isStatic(Value x) {
  auto type = dyn_cast<RankedTensorType>(x.getType());
  return type && type.hasStaticShape() &&
         !llvm::is_contained(type.getShape(), 0);
}

//===----------------------------------------------------------------------===//
// Numbers.
//===----------------------------------------------------------------------===//

int64_t whole(PDLValue x) {
  return int64_t(numberOf(x.cast<Attribute>()).value_or(0));
}
StringRef text(PDLValue x) {
  return cast<StringAttr>(x.cast<Attribute>()).getValue();
}

/// The number that all elements are.
std::optional<double> constantOf(Value x) {
  Operation *op = x.getDefiningOp();
  while (isOneOf(op, {"reshape", "squeeze", "unsqueeze", "broadcast", "repeat",
                      "permute", "typecast"}))
    op = op->getOperand(0).getDefiningOp();
  return isOp(op, "full")       ? numberOf(op->getAttr("fill_value"))
         : isOp(op, "zeros")    ? std::optional<double>(0)
         : isOp(op, "ones")     ? std::optional<double>(1)
         : isOp(op, "constant") ? numberOf(op->getAttr("value"))
                                : std::nullopt;
}
bool holdsNumber(Value x, double expected) {
  std::optional<double> actual = constantOf(x);
  return actual && isNumber(*actual, expected, typeOf(x).getElementType());
}
double settingOf(Value x, StringRef key) {
  Operation *op = x.getDefiningOp();
  return op ? numberOf(op->getAttr(key)).value_or(NAN) : NAN;
}
double sizeAt(Value x, double dim) {
  ArrayRef<int64_t> shape = shapeOf(x);
  int64_t at = int64_t(dim) + (dim < 0 ? int64_t(shape.size()) : 0);
  return at >= 0 && at < int64_t(shape.size()) ? double(shape[at]) : 1;
}

//===----------------------------------------------------------------------===//
// Conditions.
//===----------------------------------------------------------------------===//

bool isScalar(Value x) {
  return constantOf(x) || typeOf(x).getNumElements() == 1;
}

bool isParameter(Value x, bool unknown) {
  SmallVector<Value> todo{x};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    if (Operation *op = value.getDefiningOp()) {
      if (seen.insert(op).second)
        llvm::append_range(todo, op->getOperands());
      continue;
    }
    auto argument = cast<BlockArgument>(value);
    auto function =
        dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
    Attribute type = function ? function.getArgAttr(argument.getArgNumber(),
                                                    "ttcore.argument_type")
                              : Attribute();
    std::string said;
    llvm::raw_string_ostream stream(said);
    if (type)
      type.print(stream);
    if (type ? StringRef(said).contains("<input>") : !unknown)
      return false;
  }
  return true;
}

/// Whether x has one element along each axis of `at` where `may` is false, and
/// all of them where it is true.
bool varies(Value x, Value at, llvm::function_ref<bool(int64_t)> may) {
  int64_t rank = std::max(shapeOf(x).size(), shapeOf(at).size());
  bool is = true;
  for (int64_t d = -rank; d < 0 && is; d++)
    is = sizeAt(x, d) == (may(d) ? sizeAt(at, d) : 1);
  return is;
}
bool variesAlong(Value x, Value at, double dim) {
  int64_t d = int64_t(dim) - (dim < 0 ? 0 : int64_t(shapeOf(at).size()));
  return varies(x, at, [&](int64_t axis) { return axis == d; });
}
bool isSameAlong(Value x, Value at, double dim) {
  return sizeAt(x, dim - (dim < 0 ? 0 : double(shapeOf(at).size()))) == 1;
}
bool variesAlongReduced(Value x, Value sum, Value at) {
  return varies(x, at, [&](int64_t axis) { return sizeAt(sum, axis) == 1; }) &&
         typeOf(x).getNumElements() > 1;
}
bool isPowerOfCount(Value x, Value sum, double over, double under) {
  Operation *op = sum.getDefiningOp();
  std::optional<double> value = constantOf(x);
  if (!op || op->getNumOperands() != 1 || !value)
    return false;
  double count = double(typeOf(op->getOperand(0)).getNumElements()) /
                 double(typeOf(sum).getNumElements());
  return isNumber(*value, std::pow(count, over / under),
                  typeOf(x).getElementType());
}
bool isMatrix(Value x) {
  return llvm::all_of(
      shapeOf(x).drop_back(std::min<size_t>(shapeOf(x).size(), 2)),
      [](int64_t n) { return n == 1; });
}
bool isRegrouped(Value x, Value out) {
  auto changesRows = [](Operation *op) {
    return isOp(op, "reshape") && shapeOf(op->getOperand(0)).back() !=
                                      shapeOf(op->getResult(0)).back();
  };
  auto moves = [](Operation *op) {
    return isOneOf(op, {"reshape", "squeeze", "unsqueeze", "broadcast",
                        "repeat", "permute", "transpose", "typecast"});
  };
  Operation *op = x.getDefiningOp();
  while (op && !changesRows(op))
    op = moves(op) || isOp(op, "subtract") ? op->getOperand(0).getDefiningOp()
                                           : nullptr;
  while (op && out.hasOneUse()) {
    Operation *user = *out.getUsers().begin();
    if (!moves(user))
      return false;
    if (changesRows(user))
      return true;
    out = user->getResult(0);
  }
  return false;
}
bool isOnlyFor(Value x, Value out) {
  return !x.use_empty() && llvm::all_of(x.getUsers(), [&](Operation *user) {
    return user == out.getDefiningOp() ||
           (user->getNumResults() == 1 && isOnlyFor(user->getResult(0), out));
  });
}
bool uses(Value x, StringRef regex, bool anyOfIt) {
  return llvm::any_of(x.getUsers(), [&](Operation *user) {
    bool moves = anyOfIt && isOneOf(user, {"reshape", "squeeze", "unsqueeze",
                                           "broadcast", "permute", "typecast"});
    StringRef name = anyOfIt ? user->getName().getStringRef()
                             : user->getName().stripDialect();
    return llvm::Regex(regex).match(name) ||
           (moves && uses(user->getResult(0), regex, true));
  });
}
/// Where an op works along one axis, and keeps it.
bool worksAlong(Value x, Attribute dim) {
  Operation *op = x.getDefiningOp();
  int64_t rank = shapeOf(x).size();
  std::optional<double> wanted = numberOf(dim);
  SmallVector<double> dims;
  if (!op || !op->getNumOperands() || !isStatic(op->getOperand(0)))
    return false;
  if (auto list = op->getAttrOfType<ArrayAttr>("dim_arg"))
    for (Attribute one : list)
      dims.push_back(numberOf(one).value_or(NAN));
  else if (op->hasAttr("dimension"))
    dims.push_back(settingOf(x, "dimension"));
  else if (op->hasAttr("normalized_shape"))
    dims.push_back(-1);
  for (double &d : dims)
    d -= d < 0 ? 0 : rank;
  bool keeps =
      !op->hasAttr("keep_dim") || numberOf(op->getAttr("keep_dim")) == 1;
  return keeps && (!wanted || (dims.size() == 1 && dims[0] == *wanted));
}
bool hasChannelsLast(Value x) {
  double channels = settingOf(x, "channel_dim");
  return std::isnan(channels) || channels == shapeOf(x).size() - 1;
}
bool normalizesChannels(Value norm, Value window) {
  double dim = settingOf(norm, "dimension");
  return (std::isnan(dim) ? 1 : dim) == shapeOf(window).size() - 1;
}

//===----------------------------------------------------------------------===//
// The fused form.
//===----------------------------------------------------------------------===//

/// The op before `out` that makes it, the nearest one of those that are asked
/// for.
Operation *opBefore(Value out, llvm::function_ref<bool(Operation *)> is) {
  SmallVector<Value> todo{out};
  for (size_t i = 0; i < todo.size() && i < 1000; i++)
    if (Operation *op = todo[i].getDefiningOp()) {
      if (is(op))
        return op;
      llvm::append_range(todo, op->getOperands());
    }
  return nullptr;
}

/// Makes ops in the place of one, with results of its element type.
struct Maker {
  PatternRewriter &rewriter;
  Value out;

  Value make(StringRef name, ArrayRef<int64_t> shape, ValueRange operands,
             ArrayRef<NamedAttribute> attributes = {}) {
    OperationState state(
        out.getLoc(), name, operands,
        RankedTensorType::get(shape, typeOf(out).getElementType()), attributes);
    return rewriter.create(state)->getResult(0);
  }
  NamedAttribute named(StringRef key, Attribute value) {
    return rewriter.getNamedAttr(key, value);
  }

  Value full(double x) {
    bool isFloat = isa<FloatType>(typeOf(out).getElementType());
    Attribute fill = isFloat ? Attribute(rewriter.getF32FloatAttr(float(x)))
                             : rewriter.getI32IntegerAttr(int32_t(x));
    SmallVector<int32_t> ones(shapeOf(out).size(), 1);
    return make("ttir.full", Shape(ones.begin(), ones.end()), {},
                {named("shape", rewriter.getDenseI32ArrayAttr(ones)),
                 named("fill_value", fill)});
  }
  /// Broadcast as elementwise ops do; a constant of any shape has no more
  /// dimensions than it varies along.
  Value binary(StringRef name, Value a, Value b) {
    Shape shape;
    for (int64_t d = -int64_t(std::max(shapeOf(a).size(), shapeOf(b).size()));
         d < 0; d++)
      shape.push_back(int64_t(std::max(sizeAt(a, d), sizeAt(b, d))));
    return make(name, shape, {a, b});
  }
  Value reshape(Value x, ArrayRef<int64_t> shape) {
    if (shapeOf(x) == shape)
      return x;
    SmallVector<int32_t> dims(shape.begin(), shape.end());
    return make("ttir.reshape", shape, x,
                {named("shape", rewriter.getI32ArrayAttr(dims))});
  }
  Value asOneAxis(Value x, int64_t before, int64_t behind) {
    Shape shape(before + 1 + behind, 1);
    shape[before] = typeOf(x).getNumElements();
    return reshape(x, shape);
  }
  /// With so many elements: one number as a row of them.
  Value asRow(Value x, int64_t count) {
    if (typeOf(x).getNumElements() == count)
      return reshape(x, count);
    return make(
        "ttir.broadcast", count, reshape(x, 1),
        {named("broadcast_dimensions", rewriter.getDenseI64ArrayAttr(count))});
  }
  Value permuted(Value x, ArrayRef<int64_t> order) {
    Shape shape;
    for (int64_t d : order)
      shape.push_back(shapeOf(x)[d]);
    return llvm::is_sorted(order)
               ? x
               : make("ttir.permute", shape, x,
                      {named("permutation",
                             rewriter.getDenseI64ArrayAttr(order))});
  }
  Value transposed(Value x) {
    Shape shape(shapeOf(x));
    while (shape.size() < 2)
      shape.insert(shape.begin(), 1);
    x = reshape(x, shape);
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return permuted(x, order);
  }
  Value product(Value a, Value b, Value bias) {
    SmallVector<NamedAttribute> flags{
        named("transpose_a", rewriter.getBoolAttr(false)),
        named("transpose_b", rewriter.getBoolAttr(false))};
    SmallVector<Value> operands{a, b};
    if (bias)
      operands.push_back(bias);
    Shape shape;
    for (int64_t d = -int64_t(std::max(shapeOf(a).size(), shapeOf(b).size()));
         d < 0; d++)
      shape.push_back(d == -1 ? shapeOf(b).back()
                      : d == -2
                          ? int64_t(sizeAt(a, -2))
                          : int64_t(std::max(sizeAt(a, d), sizeAt(b, d))));
    return make(bias ? "ttir.linear" : "ttir.matmul", shape, operands, flags);
  }
  Value norm(StringRef name, Value x, Value weight, Value bias,
             Attribute epsilon) {
    Operation *sum =
        opBefore(out, [](Operation *op) { return op->hasAttr("keep_dim"); });
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(x).size()));
    for (int64_t d :
         order) // what is normalised along becomes the last dimension
      if (sum && shapeOf(sum->getResult(0))[d] == 1 &&
          shapeOf(sum->getResult(0)).back() != 1)
        std::swap(order[d], order.back());
    x = permuted(x, order);
    int64_t count = shapeOf(x).back();
    SmallVector<Value> operands{x};
    Operation *of = opBefore(out, [&](Operation *op) {
      return op->getName().getStringRef() == name;
    });
    if (!numberOf(epsilon) && of)
      epsilon = of->getAttr("epsilon");
    for (Value row : {weight, bias})
      if (row)
        operands.push_back(asRow(row, count));
    Value normed = make(
        name, shapeOf(x), operands,
        {named("normalized_shape", rewriter.getDenseI64ArrayAttr(count)),
         named("epsilon", epsilon),
         named("operandSegmentSizes",
               rewriter.getDenseI32ArrayAttr({1, bool(weight), bool(bias)}))});
    return permuted(normed, order);
  }
  Value reduce(StringRef name, Value x) {
    Operation *of = opBefore(out, [&](Operation *op) {
      return op->hasAttr("keep_dim") && op->getOperand(0) == x;
    });
    Value sum = of ? of->getResult(0) : out;
    return make(name, shapeOf(sum), x,
                of ? of->getAttrs() : ArrayRef<NamedAttribute>());
  }
  Value convolution(StringRef name, Value x, Value weight, Value bias) {
    Operation *of = opBefore(out, [&](Operation *op) {
      return op->getName().getStringRef() == name;
    });
    int64_t channels = shapeOf(of->getResult(0)).back();
    Shape row(shapeOf(of->getResult(0)).size(), 1);
    row.back() = channels;
    SmallVector<Value> operands{x, weight};
    if (bias)
      operands.push_back(reshape(asRow(bias, channels), row));
    return make(name, shapeOf(of->getResult(0)), operands, of->getAttrs());
  }
};

//===----------------------------------------------------------------------===//
// Expressions.
//===----------------------------------------------------------------------===//

struct Argument {
  Value value;
  double number = NAN;
  StringRef text;
};
using Function = double (*)(ArrayRef<Argument>);

const llvm::StringMap<Function> &functions() {
  using List = ArrayRef<Argument>;
  static const llvm::StringMap<Function> all = {
      // Conditions.
      {"IsConstant",
       [](List v) -> double { return constantOf(v[0].value).has_value(); }},
      {"IsNumber",
       [](List v) -> double { return holdsNumber(v[0].value, v[1].number); }},
      {"IsScalar", [](List v) -> double { return isScalar(v[0].value); }},
      {"IsParameter",
       [](List v) -> double { return isParameter(v[0].value, false); }},
      {"IsStored",
       [](List v) -> double { return isParameter(v[0].value, true); }},
      {"IsSame", [](List v) -> double { return v[0].value == v[1].value; }},
      {"IsMatrix", [](List v) -> double { return isMatrix(v[0].value); }},
      {"VariesAlong",
       [](List v) -> double {
         return variesAlong(v[0].value, v[1].value, v[2].number);
       }},
      {"IsSameAlong",
       [](List v) -> double {
         return isSameAlong(v[0].value, v[1].value, v[2].number);
       }},
      {"IsRepeated",
       [](List v) -> double {
         return !varies(v[0].value, v[1].value, [](int64_t) { return true; });
       }},
      {"VariesAlongReduced",
       [](List v) -> double {
         return variesAlongReduced(v[0].value, v[1].value, v[2].value);
       }},
      {"IsPowerOfCount",
       [](List v) -> double {
         return isPowerOfCount(v[0].value, v[1].value, v[2].number,
                               v[3].number);
       }},
      {"IsRegrouped",
       [](List v) -> double { return isRegrouped(v[0].value, v[1].value); }},
      {"NormalizesChannels",
       [](List v) -> double {
         return normalizesChannels(v[0].value, v[1].value);
       }},
      {"HasNoUser",
       [](List v) -> double { return !uses(v[0].value, v[1].text, true); }},
      {"IsUsedBy",
       [](List v) -> double { return uses(v[0].value, v[1].text, false); }},
      {"Not", [](List v) -> double { return v[0].number == 0; }},
      {"And",
       [](List v) -> double { return v[0].number == 1 && v[1].number == 1; }},
      {"Or",
       [](List v) -> double { return v[0].number == 1 || v[1].number == 1; }},
      {"Equal", [](List v) -> double { return v[0].number == v[1].number; }},
      {"NotEqual", [](List v) -> double { return v[0].number != v[1].number; }},
      {"Less", [](List v) -> double { return v[0].number < v[1].number; }},
      {"LessOrEqual",
       [](List v) -> double { return v[0].number <= v[1].number; }},
      {"Greater", [](List v) -> double { return v[0].number > v[1].number; }},
      {"GreaterOrEqual",
       [](List v) -> double { return v[0].number >= v[1].number; }},
      // Numbers.
      {"ValueOf", [](List v) { return constantOf(v[0].value).value_or(NAN); }},
      {"SizeAt", [](List v) { return sizeAt(v[0].value, v[1].number); }},
      {"RankOf", [](List v) { return double(shapeOf(v[0].value).size()); }},
      {"NumberOfElements",
       [](List v) { return double(typeOf(v[0].value).getNumElements()); }},
      {"ElementTypeOf",
       [](List v) {
         return elementTypeOf(typeOf(v[0].value).getElementType());
       }},
      {"AttributeOf", [](List v) { return settingOf(v[0].value, v[1].text); }},
      {"Negate", [](List v) { return -v[0].number; }},
      {"Root", [](List v) { return std::sqrt(v[0].number); }},
      {"Plus", [](List v) { return v[0].number + v[1].number; }},
      {"Minus", [](List v) { return v[0].number - v[1].number; }},
      {"Times", [](List v) { return v[0].number * v[1].number; }},
      {"Over", [](List v) { return v[0].number / v[1].number; }},
      {"Remainder", [](List v) { return std::fmod(v[0].number, v[1].number); }},
  };
  return all;
}

/// A call, a number, a text between quotes, or the name of a value: these are
/// given in the order of their first use.
class Expression {
public:
  Expression(StringRef rest, ValueRange values) : rest(rest), values(values) {}

  double number() { return next().number; }

private:
  Argument next() {
    Argument out;
    if (rest.consume_front("'")) {
      std::tie(out.text, rest) = rest.split('\'');
      return out;
    }
    StringRef word = rest.take_until(
        [](char c) { return c == '(' || c == ',' || c == ')'; });
    rest = rest.drop_front(word.size());
    if (rest.consume_front("(")) {
      SmallVector<Argument> arguments;
      do {
        rest = rest.ltrim();
        arguments.push_back(next());
      } while (rest.consume_front(","));
      rest.consume_front(")");
      Function function = functions().lookup(word);
      out.number = function ? function(arguments) : NAN;
    } else if (word.consume_back("INFINITY")) {
      out.number = word == "-" ? -INFINITY : INFINITY;
    } else if (word.getAsDouble(out.number)) {
      size_t i = llvm::find(names, word) - names.begin();
      if (i == names.size())
        names.push_back(word);
      out.value = i < values.size() ? values[i] : Value();
    }
    return out;
  }

  StringRef rest;
  ValueRange values;
  SmallVector<StringRef> names;
};

/// Nothing is asked of values that are no tensors of known shape.
bool isFit(PDLValue v) {
  auto value = v.dyn_cast<Value>();
  return !value || isStatic(value);
}

/// The functions that Fusion.pdll declares.
void registerFunctions(PDLPatternModule &patterns) {
  auto constraint = [&](StringRef name, auto holds) {
    patterns.registerConstraintFunction(
        name, [=](PatternRewriter &, PDLResultList &, Args v) {
          return success(llvm::all_of(v, isFit) && holds(v));
        });
  };
  auto made = [&](StringRef name, auto make) {
    patterns.registerRewriteFunction(
        name, [=](PatternRewriter &rewriter, PDLResultList &results, Args v) {
          results.push_back(make(Maker{rewriter, v[0].cast<Value>()}, v));
          return success();
        });
  };
  auto value = [](PDLValue v) { // of an operand that may be absent
    if (auto range = v.dyn_cast<ValueRange>())
      return range->empty() ? Value() : range->front();
    return v.cast<Value>();
  };
  auto number = [](PDLValue expression, PDLValue values) {
    if (auto range = values.dyn_cast<ValueRange>())
      return Expression(text(expression), *range).number();
    return Expression(text(expression), values.cast<Value>()).number();
  };

  for (unsigned n = 0; n <= 8; n++)
    constraint(("Holds" + Twine(n)).str(), [](Args v) {
      SmallVector<Value> values;
      for (PDLValue one : v.drop_front())
        values.push_back(one.cast<Value>());
      return Expression(text(v[0]), values).number() == 1;
    });
  constraint("IsNumber", [=](Args v) {
    return holdsNumber(value(v[0]), Expression(text(v[1]), {}).number());
  });
  constraint("IsSetTo", [=](Args v) {
    Type exact = Float32Type::get(value(v[0]).getContext());
    return isNumber(settingOf(value(v[0]), text(v[1])),
                    Expression(text(v[2]), {}).number(), exact);
  });
  constraint("IsOnlyFor",
             [=](Args v) { return isOnlyFor(value(v[0]), value(v[1])); });
  constraint("IsAsLargeAs", [=](Args v) {
    return isStatic(value(v[0])) && isStatic(value(v[1])) &&
           shapeOf(value(v[0])) == shapeOf(value(v[1]));
  });
  constraint("WorksAlong", [=](Args v) {
    return worksAlong(value(v[0]), v[1].cast<Attribute>());
  });
  constraint("HasChannelsLast",
             [=](Args v) { return hasChannelsLast(value(v[0])); });

  made("Number", [=](Maker m, Args v) { return m.full(number(v[1], v[2])); });
  made("Unary", [=](Maker m, Args v) {
    return m.make(text(v[1]), shapeOf(value(v[2])), value(v[2]));
  });
  made("Add", [=](Maker m, Args v) {
    return m.binary("ttir.add", value(v[1]), value(v[2]));
  });
  made("Subtract", [=](Maker m, Args v) {
    return m.binary("ttir.subtract", value(v[1]), value(v[2]));
  });
  made("Multiply", [=](Maker m, Args v) {
    return m.binary("ttir.multiply", value(v[1]), value(v[2]));
  });
  made("Divide", [=](Maker m, Args v) {
    return m.binary("ttir.div", value(v[1]), value(v[2]));
  });
  made("Transposed",
       [=](Maker m, Args v) { return m.transposed(value(v[1])); });
  made("AsOneAxis", [=](Maker m, Args v) {
    return m.asOneAxis(value(v[1]), whole(v[2]), whole(v[3]));
  });
  made("Clamp", [=](Maker m, Args v) {
    auto bound = [&](PDLValue x) {
      return m.rewriter.getF32FloatAttr(
          float(constantOf(value(x)).value_or(NAN)));
    };
    return m.make("ttir.clamp_scalar", shapeOf(value(v[1])), value(v[1]),
                  {m.named("min", bound(v[2])), m.named("max", bound(v[3]))});
  });
  made("Product", [=](Maker m, Args v) {
    return m.product(value(v[1]), value(v[2]), value(v[3]));
  });
  made("Norm", [=](Maker m, Args v) {
    return m.norm(text(v[1]), value(v[2]), value(v[3]), value(v[4]),
                  v[5].cast<Attribute>());
  });
  made("Reduce",
       [=](Maker m, Args v) { return m.reduce(text(v[1]), value(v[2])); });
  made("Convolution", [=](Maker m, Args v) {
    return m.convolution(text(v[1]), value(v[2]), value(v[3]), value(v[4]));
  });
  made("Activated", [=](Maker m, Args v) {
    Operation *op = value(v[2]).getDefiningOp();
    return m.make(op->getName().getStringRef(), shapeOf(value(v[1])),
                  value(v[1]), op->getAttrs());
  });
  patterns.registerRewriteFunction(
      "Float", [=](PatternRewriter &rewriter, PDLResultList &results, Args v) {
        results.push_back(
            Attribute(rewriter.getF32FloatAttr(float(number(v[0], v[1])))));
        return success();
      });
}

class FusionPass : public PassWrapper<FusionPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FusionPass)

  FusionPass() = default;
  FusionPass(const FusionPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "fuse-pdll"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<pdl::PDLDialect, pdl_interp::PDLInterpDialect>();
  }

  void runOnOperation() override {
    OwningOpRef<ModuleOp> module =
        parseSourceFile<ModuleOp>(file, &getContext());
    if (!module)
      return signalPassFailure();
    PDLPatternModule fusions(std::move(module));
    registerFunctions(fusions);
    RewritePatternSet patterns(&getContext());
    patterns.add(std::move(fusions));
    GreedyRewriteConfig config;
    config.setMaxNumRewrites(100000);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns),
                                     config))) {
      getOperation().emitError("the fusions do not converge");
      signalPassFailure();
    }
  }

private:
  Option<std::string> file{
      *this, "patterns",
      llvm::cl::desc("PDL, which mlir-pdll -x=mlir makes of PDLL")};
};

} // namespace
} // namespace mlir::tt::ttir::fusion

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "FusionPdll", "1", [] {
            mlir::registerPass([] {
              return std::make_unique<mlir::tt::ttir::fusion::FusionPass>();
            });
          }};
}
