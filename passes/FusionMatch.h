// FusionMatch.h - how the generated fusion patterns look at a graph.
//
// Between the ops of a fusion reshapes, permutes, broadcasts and casts may
// stand. A view is looked through exactly: an IndexMap says which element of a
// value each element of the root is made of. A formula is a tree of Terms,
// which a Match works through; where there is a choice (operands that commute,
// alternatives) it takes the first one and, when the whole does not match, the
// next one. A Form makes the fused op, and knows of each of its values along
// which axes of the root it varies: what does not fit together is never
// written.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef FUSION_MATCH_H
#define FUSION_MATCH_H

#include "FusionNumbers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "ttmlir/Dialect/TTCore/IR/TTCoreOpsTypes.h"
#include "ttmlir/Dialect/TTCore/IR/Utils.h"
#include "ttmlir/Dialect/TTIR/IR/TTIROps.h"
#include "ttmlir/Dialect/TTIR/Utils/Utils.h"
#include "ttmlir/Utils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/Regex.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>

namespace mlir::tt::ttir::fusion {

//===----------------------------------------------------------------------===//
// Index maps: the offset in a value as a sum of digits of an index.
//===----------------------------------------------------------------------===//

/// The first of the index spaces of a kind. RootSpace is the index of the root;
/// those of sums follow it.
enum Space : unsigned {
  RootSpace = 0,
  EndSpace = 500,
  WholeSpace = 1000,
  PartSpace = 100000,
  JointSpace = 200000
};

/// (index of `space` / low) mod size, times stride.
struct Digit {
  unsigned space;
  int64_t low, size, stride;
  bool operator==(const Digit &d) const {
    return space == d.space && low == d.low && size == d.size &&
           stride == d.stride;
  }
};
using IndexMap = SmallVector<Digit, 0>;
/// A coordinate for each axis.
using Axes = SmallVector<IndexMap, 0>;

inline int64_t extent(const IndexMap &map) {
  int64_t n = 1;
  for (const Digit &d : map)
    n *= d.size;
  return n;
}

/// Equal maps are equal functions when both are canonical.
inline IndexMap canonical(IndexMap map) {
  llvm::erase_if(map,
                 [](const Digit &d) { return d.size <= 1 || d.stride == 0; });
  llvm::sort(map, [](const Digit &a, const Digit &b) {
    return std::tie(a.space, a.low) < std::tie(b.space, b.low);
  });
  IndexMap out;
  for (const Digit &d : map) {
    Digit *last = out.empty() ? nullptr : &out.back();
    if (last && last->space == d.space && last->low * last->size == d.low &&
        last->stride * last->size == d.stride)
      last->size *= d.size;
    else
      out.push_back(d);
  }
  return out;
}

/// Several axes as one, row-major.
inline IndexMap join(ArrayRef<IndexMap> axes) {
  IndexMap out;
  int64_t scale = 1;
  for (const IndexMap &axis : llvm::reverse(axes)) {
    for (Digit d : axis) {
      d.stride *= scale;
      out.push_back(d);
    }
    scale *= extent(axis);
  }
  return canonical(out);
}

/// An offset as coordinates in a shape.
inline std::optional<Axes> coordinates(const IndexMap &map,
                                       ArrayRef<int64_t> shape) {
  Axes axes(shape.size());
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  for (Digit digit : map)
    while (digit.size > 1) {
      size_t d = shape.size();
      while (d-- > 0 && digit.stride >= strides[d] * shape[d])
        ;
      if (d >= shape.size() || digit.stride < 1 || digit.stride % strides[d])
        return std::nullopt;
      int64_t stride = digit.stride / strides[d],
              room = shape[d] % stride ? digit.size : shape[d] / stride;
      int64_t take = std::min(digit.size, room);
      if (digit.size % take || stride * (take - 1) >= shape[d])
        return std::nullopt;
      axes[d].push_back({digit.space, digit.low, take, stride});
      digit = {digit.space, digit.low * take, digit.size / take,
               digit.stride * take};
    }
  for (auto [axis, size] : llvm::zip(axes, shape)) {
    int64_t reach = 0;
    for (const Digit &d : axis)
      reach += d.stride * (d.size - 1);
    if (reach >= size)
      return std::nullopt;
  }
  return axes;
}

/// The converse.
inline IndexMap offset(const Axes &axes, ArrayRef<int64_t> shape) {
  IndexMap out;
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    for (Digit digit : axes[d]) {
      digit.stride *= stride;
      out.push_back(digit);
    }
  return canonical(out);
}

/// A digit is the interval [low, low * size) of an index; two are independent
/// when one begins at a multiple of the other's end.
inline bool independent(const Digit &a, const Digit &b) {
  return a.space != b.space || b.low % (a.low * a.size) == 0 ||
         a.low % (b.low * b.size) == 0;
}

/// `map` depends on a digit of `axis`.
inline bool touches(const IndexMap &map, const IndexMap &axis) {
  return llvm::any_of(map, [&](const Digit &a) {
    return llvm::any_of(axis,
                        [&](const Digit &b) { return !independent(a, b); });
  });
}

/// What is left of `map` without all that `taken` depends on; nothing where it
/// cannot be told.
inline std::optional<IndexMap> without(const IndexMap &map,
                                       const IndexMap &taken) {
  auto divide = [](int64_t a, int64_t b) {
    return a > b ? a % b == 0 : b % a == 0;
  };
  IndexMap rest = map;
  for (const Digit &cut : taken)
    for (size_t i = rest.size(); i-- > 0;) {
      Digit p = rest[i];
      if (independent(p, cut))
        continue;
      int64_t end = p.low * p.size, cutEnd = cut.low * cut.size;
      if (cut.low >= end || p.low >= cutEnd || !divide(cut.low, p.low) ||
          !divide(cutEnd, end) || cutEnd % p.low)
        return std::nullopt;
      rest.erase(rest.begin() + i);
      if (cut.low > p.low)
        rest.push_back({p.space, p.low, cut.low / p.low, p.stride});
      if (cutEnd < end)
        rest.push_back(
            {p.space, cutEnd, end / cutEnd, p.stride * (cutEnd / p.low)});
    }
  return rest;
}

inline bool within(const IndexMap &map, const IndexMap &axis) {
  std::optional<IndexMap> rest = without(map, axis);
  return rest && rest->empty();
}

/// The part of `axis` that `map` depends on; nothing where it cannot be told.
inline std::optional<IndexMap> shared(const IndexMap &map,
                                      const IndexMap &axis) {
  std::optional<IndexMap> rest = without(axis, map);
  return rest ? without(axis, *rest) : std::nullopt;
}

/// The digits of `axes` that `map` does not depend on, as axes of these
/// extents.
inline std::optional<Axes> complement(const Axes &axes, const IndexMap &map,
                                      ArrayRef<int64_t> extents) {
  IndexMap pieces;
  for (const IndexMap &axis : axes) {
    std::optional<IndexMap> rest = without(axis, map);
    if (!rest)
      return std::nullopt;
    llvm::sort(*rest, [](const Digit &a, const Digit &b) {
      return a.stride > b.stride;
    });
    pieces.append(*rest);
  }
  Axes out;
  size_t at = 0;
  for (int64_t need : extents) {
    IndexMap axis;
    while (need > 1) {
      if (at == pieces.size())
        return std::nullopt;
      Digit &p = pieces[at];
      if (need % p.size == 0) {
        need /= p.size;
        axis.push_back({p.space, p.low, p.size, need});
        at++;
      } else if (p.size % need == 0) {
        axis.push_back({p.space, p.low * (p.size / need), need, 1});
        p.size /= need;
        need = 1;
      } else {
        return std::nullopt;
      }
    }
    out.push_back(canonical(axis));
  }
  if (at != pieces.size())
    return std::nullopt;
  return out;
}

//===----------------------------------------------------------------------===//
// Values as they are read by a match.
//===----------------------------------------------------------------------===//

inline ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}
inline Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}
/// Of a known shape, and without a layout, which the form would lose.
inline bool isPlain(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && !type.getEncoding() &&
         !llvm::is_contained(type.getShape(), 0);
}
inline int64_t sizeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

struct Name {
  unsigned id;
  const char *text;
};

/// A value, which of its elements is meant, and the axes of the formula there.
struct Read {
  Value value;
  IndexMap map;
  Axes axes;
  std::optional<double>
      setting; ///< an attribute that stands in the place of an operand
  std::optional<Name> name; ///< of the formula, which the op is given
  bool isRoot = false;
  bool inProduct = false; ///< an operand of a product: rows and columns are the
                          ///< last two axes
  std::optional<Axes>
      outer; ///< those before a slice or concatenation changed one
};

/// The map of an operand that broadcasts to the result, or is repeated to it.
inline std::optional<IndexMap> broadcastMap(const IndexMap &map,
                                            ArrayRef<int64_t> from,
                                            ArrayRef<int64_t> to) {
  std::optional<Axes> at = coordinates(map, from);
  if (!at || to.size() > from.size())
    return std::nullopt;
  Axes out;
  for (size_t d = 0; d < to.size(); d++) {
    size_t result = d + from.size() - to.size();
    if (from[result] % to[d])
      return std::nullopt;
    IndexMap axis;
    for (Digit digit : (*at)[result]) {
      if (digit.stride % to[d] == 0)
        continue;
      if (digit.stride * digit.size > to[d]) {
        if (to[d] % digit.stride || digit.size % (to[d] / digit.stride))
          return std::nullopt;
        digit.size = to[d] / digit.stride;
      }
      axis.push_back(digit);
    }
    out.push_back(axis);
  }
  return offset(out, to);
}

/// The number that all elements of a value are.
std::optional<double> constantOf(Value value);

/// The operand that an op leaves as it is: x + 0, x * 1 and the like; -1: there
/// is none.
inline int unchangedBy(Operation *op) {
  auto is = [&](unsigned i, double number) {
    return constantOf(op->getOperand(i)) == number;
  };
  if (isa<AddOp>(op))
    return is(1, 0) ? 0 : is(0, 0) ? 1 : -1;
  if (isa<MultiplyOp>(op))
    return is(1, 1) ? 0 : is(0, 1) ? 1 : -1;
  if (isa<MaximumOp>(op))
    return is(1, -INFINITY) ? 0 : is(0, -INFINITY) ? 1 : -1;
  return (isa<SubtractOp>(op) && is(1, 0)) || (isa<DivOp>(op) && is(1, 1)) ? 0
                                                                           : -1;
}

/// Of each dimension of what a permute makes the one of its operand; empty: the
/// op is another one.
inline SmallVector<int64_t> orderOf(Operation *op) {
  if (auto permute = dyn_cast_or_null<PermuteOp>(op))
    return SmallVector<int64_t>(permute.getPermutation());
  auto transpose = dyn_cast_or_null<TransposeOp>(op);
  if (!transpose)
    return {};
  int64_t rank = shapeOf(transpose.getInput()).size(), a = transpose.getDim0(),
          b = transpose.getDim1();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[a < 0 ? a + rank : a], order[b < 0 ? b + rank : b]);
  return order;
}

/// What a view is a view of: of a reshape, permute, broadcast, repeat, cast
/// between formats of one kind, or of x + 0.
inline std::optional<Read> viewed(const Read &read) {
  Operation *op = read.value.getDefiningOp();
  if (!op || op->getNumResults() != 1 || op->getNumOperands() < 1 ||
      !isPlain(read.value) || !llvm::all_of(op->getOperands(), isPlain))
    return std::nullopt;
  Read out = read;
  int unchanged = unchangedBy(op);
  out.value = op->getOperand(unchanged > 0);
  ArrayRef<int64_t> from = shapeOf(read.value), to = shapeOf(out.value);
  std::optional<IndexMap> map;
  if (unchanged >= 0) {
    map = broadcastMap(read.map, from, to);
  } else if (isa<ReshapeOp, SqueezeOp, UnsqueezeOp>(op)) {
    map = read.map;
  } else if (isa<TypecastOp>(op)) {
    if (isa<FloatType>(elementOf(out.value)) ==
            isa<FloatType>(elementOf(read.value)) ||
        (isa<FloatType>(elementOf(read.value)) &&
         !elementOf(out.value).isInteger(1)))
      map = read.map;
    if (elementOf(read.value).isInteger(1))
      map = std::nullopt;
  } else if (isa<BroadcastOp, RepeatOp>(op)) {
    map = broadcastMap(read.map, from, to);
  } else if (auto interleave = dyn_cast<RepeatInterleaveOp>(op)) {
    int64_t dim = interleave.getDim() < 0
                      ? interleave.getDim() + int64_t(to.size())
                      : interleave.getDim();
    SmallVector<int64_t> split(from);
    split[dim] = to[dim];
    split.insert(split.begin() + dim + 1, interleave.getRepeats());
    if (std::optional<Axes> at = coordinates(read.map, split)) {
      at->erase(at->begin() + dim + 1);
      map = offset(*at, to);
    }
  } else if (SmallVector<int64_t> order = orderOf(op); !order.empty()) {
    if (std::optional<Axes> at = coordinates(read.map, from)) {
      Axes moved(to.size());
      for (auto [d, source] : llvm::enumerate(order))
        moved[source] = (*at)[d];
      map = offset(moved, to);
    }
  }
  if (!map)
    return std::nullopt;
  out.map = *map;
  return out;
}

/// A value and all it is a view of.
inline SmallVector<Read, 0> views(Read read) {
  SmallVector<Read, 0> out{read};
  while (std::optional<Read> next = viewed(out.back()))
    out.push_back(*next);
  return out;
}

/// What a value is a view of, whatever it moves; or none.
inline Value sourceOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<ReshapeOp, SqueezeOp, UnsqueezeOp, BroadcastOp, RepeatOp,
                      RepeatInterleaveOp, PermuteOp, TransposeOp, TypecastOp>(
          op))
    return op->getOperand(0);
  int unchanged = op ? unchangedBy(op) : -1;
  return unchanged < 0 ? Value() : op->getOperand(unchanged);
}

/// Whether nothing but views lead from one to the other.
inline bool isViewOf(Value value, Value of) {
  while (value && value != of)
    value = sourceOf(value);
  return bool(value);
}

inline std::optional<double> constantOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto full = dyn_cast<FullOp>(op))
      return numberOf(full.getFillValueAttr());
    if (auto constant = dyn_cast<ConstantOp>(op))
      return numberOf(constant.getValue());
    if (isa<ZerosOp, OnesOp>(op))
      return isa<OnesOp>(op);
    if (!isa<ReshapeOp, SqueezeOp, UnsqueezeOp, BroadcastOp, RepeatOp,
             PermuteOp, TypecastOp>(op))
      return std::nullopt;
    value = op->getOperand(0);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Formulas.
//===----------------------------------------------------------------------===//

/// Operand i of an op whose operands broadcast to its result.
inline std::optional<Read> operandOf(const Read &r, Operation *op, unsigned i) {
  Read out = r;
  out.value = op->getOperand(i);
  if (!isPlain(out.value))
    return std::nullopt;
  if (shapeOf(out.value) == shapeOf(r.value))
    return out;
  std::optional<IndexMap> map =
      broadcastMap(r.map, shapeOf(r.value), shapeOf(out.value));
  if (!map)
    return std::nullopt;
  out.map = *map;
  return out;
}

/// The part of `map` along which the elements differ: of what elementwise ops
/// make of broadcasts less than all of it.
inline IndexMap differing(Value value, const IndexMap &map,
                          unsigned depth = 0) {
  constexpr unsigned mostOps = 8;
  Read read;
  read.value = value;
  read.map = map;
  if (constantOf(value))
    return {};
  IndexMap needed;
  if (std::optional<Read> next = viewed(read)) {
    needed = differing(next->value, next->map, depth);
  } else {
    Operation *op = value.getDefiningOp();
    if (depth == mostOps ||
        !isa_and_nonnull<ElementwiseUnary, ElementwiseBinary,
                         ElementwiseTernary>(op))
      return map;
    for (unsigned i = 0; i < op->getNumOperands(); i++) {
      std::optional<Read> operand = operandOf(read, op, i);
      if (!operand)
        return map;
      needed.append(differing(operand->value, operand->map, depth + 1));
    }
  }
  std::optional<IndexMap> part = shared(needed, map);
  return part ? canonical(*part) : map;
}

class Match;
struct Line;

/// A factor of a product, or what is divided by; a term of a sum, or what is
/// subtracted.
struct Factor {
  Read read;
  bool inverse = false;
};

/// A part of a formula: whether it matches at a value.
class Term {
public:
  using Function = std::function<bool(Match &, const Read &)>;
  using Guess = std::function<bool(Value)>;
  /// Of several factors or terms that no op computes at once.
  struct Group {
    std::function<bool(Match &, bool, ArrayRef<Factor>)> matches;
    std::function<bool(bool, ArrayRef<Factor>)> may;
  };
  Term(
      Function f, Guess guess = [](Value) { return true; }, Group group = {})
      : f(std::make_shared<Function>(std::move(f))),
        guess(std::make_shared<Guess>(std::move(guess))),
        group(std::make_shared<Group>(std::move(group))) {}
  Term(double number);
  Term(Name variable);
  Term(const Line &line);
  bool operator()(Match &m, const Read &r) const { return (*f)(m, r); }
  /// The same of the product of these, or of their sum.
  bool operator()(Match &m, bool sum, ArrayRef<Factor> of) const {
    return of.size() == 1 ? (*f)(m, of[0].read) : group->matches(m, sum, of);
  }
  /// False where it cannot match, as the ops tell that make the values.
  bool may(Value value) const { return (*guess)(value); }
  bool may(bool sum, ArrayRef<Factor> of) const {
    return of.size() == 1 ? !of[0].inverse && may(of[0].read.value)
                          : group->may && group->may(sum, of);
  }
  const Group &ofSeveral() const { return *group; }

private:
  std::shared_ptr<Function> f; // parts are shared, not copied
  std::shared_ptr<Guess> guess;
  std::shared_ptr<Group> group;
};
using Number = std::function<double(const Match &)>;

/// A line that ends somewhere else, behind a value that one of these names
/// stands for: as many ops behind it at most.
struct Also {
  Name name;
  Term term;
  SmallVector<Name> behind;
  unsigned deep;
  bool optional = false;
  std::optional<Name> after = std::nullopt; ///< the op that it stands behind
};

/// What is done to find a formula at a root, and what its names stand for.
class Match {
public:
  explicit Match(Operation *root) : root(root), loc(root->getLoc()) {}

  /// Whether the formula matches and nobody else uses what lies between. Called
  /// again, in another way.
  bool next(const Term &formula, ArrayRef<Name> escapes = {},
            ArrayRef<Also> others = {}) {
    if (!isPlain(root->getResult(0)))
      return fail("static shapes without layouts are wanted");
    if (utils::isInsideCompositeDecomposition(root))
      return fail("it is what a fused op is decomposed to");
    constexpr unsigned mostTries =
        20000; // of alternatives and orders of operands, at one root
    for (unsigned tries = 0; tries < mostTries; tries++) {
      if (begun && !advance())
        return false;
      begun = true;
      depth = spaces = 0;
      names.clear();
      ops.clear();
      reads.clear();
      between.clear();
      worked.reset();
      boundIn.clear();
      ends.clear();
      regrouped.clear();
      operands.clear();
      if (formula(*this, rootRead()) && ops.contains(root) &&
          llvm::all_of(others,
                       [&](const Also &one) {
                         return ends.push_back(root), findAlso(one);
                       }) &&
          isUsedHereOnly(escapes))
        return true;
    }
    reason = "there are more ways to match than are tried";
    return false;
  }

  /// One of n ways; each in turn when next() is called again.
  unsigned choose(unsigned n) {
    if (depth == choices.size())
      choices.push_back({0, n});
    return choices[depth++].first;
  }
  /// Always false. The reason that is kept is that of the attempt that matched
  /// most.
  bool fail(const Twine &why) {
    if (reason.empty() || ops.size() > reached)
      reason = why.str();
    reached = std::max<size_t>(reached, ops.size());
    return false;
  }
  /// A condition of the pattern.
  bool check(bool holds, const char *condition) {
    return holds || fail(Twine("does not hold: ") + condition);
  }
  const std::string &why() const { return reason; }

  bool has(Name n) const { return names.count(n.id); }
  const Read &operator[](Name n) const { return names.find(n.id)->second; }
  void bind(Name n, Read r) {
    r.name.reset();
    names[n.id] = r;
    boundIn.insert({n.id, ends.size()});
  }
  /// What a name stands for, by the axes along which its elements differ, as if
  /// it had no other ones: those are left out of how it is read.
  IndexMap differing(Name n) const {
    Read &r = names.find(n.id)->second;
    r.map = fusion::differing(r.value, r.map);
    IndexMap map = r.map;
    if (extent(map) == sizeOf(r.value))
      return map;
    llvm::sort(map, [](const Digit &a, const Digit &b) {
      return a.stride < b.stride;
    });
    int64_t stride = 1;
    for (Digit &d : map) {
      d.stride = stride;
      stride *= d.size;
    }
    return canonical(map);
  }
  void setAxes(Name n, Axes axes) {
    names.find(n.id)->second.axes = std::move(axes);
  }
  /// The name stands for the same elements of the same value again.
  bool isAgain(Name n, const Read &r, bool variable) {
    SmallVector<Read, 0> here = views(r), there = views((*this)[n]);
    bool elsewhere =
        boundIn.lookup(n.id) != ends.size(); // over another index space
    for (size_t i = 0; i < here.size(); i++)
      for (size_t j = 0; j < there.size(); j++) {
        if (!variable && j > 0 &&
            ops.contains(there[j - 1].value.getDefiningOp()))
          break; // the op of the line itself
        if (here[i].value == there[j].value &&
            (elsewhere ? isAlike(here[i].map, there[j].map)
                       : here[i].map == there[j].map)) {
          if (elsewhere)
            return true;
          for (size_t k = 0; !variable && k < i; k++)
            between.insert(here[k].value.getDefiningOp());
          if (variable) {
            there[j].axes = names[n.id].axes;
            bind(n, there[j]);
          }
          return true;
        }
      }
    return fail(Twine(n.text) + " is another value here");
  }
  /// An op of the match, of this class, takes what the name stands for as its
  /// last operand, or as any if it commutes; where ops are grouped in another
  /// way than they are written, one of that way.
  template <typename Op> bool isOperandOf(Name n) const {
    auto isIt = [&](Value value) {
      return has(n) && isViewOf(value, (*this)[n].value);
    };
    return llvm::any_of(ops,
                        [&](Operation *op) {
                          return isa<Op>(op) && !regrouped.contains(op) &&
                                 llvm::any_of(
                                     op->getOpOperands(),
                                     [&](OpOperand &operand) {
                                       return (isa<AddOp, MultiplyOp>(op) ||
                                               operand.getOperandNumber() + 1 ==
                                                   op->getNumOperands()) &&
                                              isIt(operand.get());
                                     });
                        }) ||
           llvm::any_of(operands, [&](const auto &one) {
             return one.first == TypeID::get<Op>() && isIt(one.second);
           });
  }
  /// An op that is grouped with others, and what they together do with a value.
  void regroup(Operation *op, const Read &r) {
    take(op, r);
    regrouped.insert(op);
  }
  template <typename Op> void takeOperand(Value value) {
    operands.push_back({TypeID::get<Op>(), value});
  }
  void take(Operation *op, const Read &r) {
    ops.insert(op);
    reads.insert({op, r});
  }
  /// How the match reads the result of one of its ops.
  const Read &readOf(Operation *op) const { return reads.find(op)->second; }
  void lookThrough(Operation *op) { between.insert(op); }
  unsigned newSpace() { return ++spaces; }
  /// An index space of its own for a value that is meant as a whole.
  unsigned spaceOf(Value v) {
    return WholeSpace +
           wholes.insert({v, unsigned(wholes.size())}).first->second;
  }
  /// The axis of a slice or concatenation that `part` is a part of: one for all
  /// of the same part and extent.
  unsigned spaceOfPart(const IndexMap &part, int64_t size) {
    for (auto [i, known] : llvm::enumerate(parts))
      if (known.first == part && known.second == size)
        return PartSpace + i;
    parts.push_back({part, size});
    return PartSpace + parts.size() - 1;
  }
  /// The axis of so many elements that equal parts like this one make.
  std::optional<IndexMap> axisOfParts(const IndexMap &part, int64_t size) {
    unsigned at = part.size() == 1 ? part[0].space - PartSpace : parts.size();
    if (at >= parts.size() || extent(parts[at].first) != size ||
        extent(part) != parts[at].second)
      return std::nullopt;
    return parts[at].first;
  }
  /// Of reductions and norms: the first axis that one of them works along.
  void worksAlong(const IndexMap &axis) {
    if (!worked)
      worked = axis;
  }

  Operation *const root;
  const Location loc;
  std::optional<IndexMap> worked;
  Axes frame;               ///< the axes of the formula at the root
  Axes here;                ///< of the formula, where a number is asked for
  std::optional<Name> line; ///< what the op that was found last is called
  llvm::SmallSetVector<Operation *, 16> ops; ///< that the formula names

private:
  Read rootRead() {
    Read r;
    r.value = (ends.empty() ? root : ends.back())->getResult(0);
    r.isRoot = true;
    int64_t n = sizeOf(r.value);
    if (n > 1)
      r.map.push_back({ends.empty() ? unsigned(RootSpace)
                                    : EndSpace + unsigned(ends.size()),
                       1, n, 1});
    ArrayRef<int64_t> shape = shapeOf(r.value);
    r.axes = *coordinates(r.map, shape);
    // Trailing dimensions of one element count as leading ones, or are where
    // they are printed.
    if (n > 1 && shape.back() == 1 && choose(2) == 0)
      while (r.axes.back().empty()) {
        r.axes.pop_back();
        r.axes.insert(r.axes.begin(), IndexMap());
      }
    if (ends.empty())
      frame = r.axes;
    return r;
  }
  /// Equal but for the spaces of their digits: what is read in the same order.
  static bool isAlike(IndexMap a, IndexMap b) {
    for (IndexMap *map : {&a, &b}) {
      *map = canonical(*map);
      llvm::sort(*map, [](const Digit &x, const Digit &y) {
        return x.stride > y.stride;
      });
    }
    if (a.size() != b.size())
      return false;
    for (size_t i = 0; i < a.size(); i++)
      for (size_t j = 0; j <= i; j++)
        if (a[i].size != b[i].size || a[i].stride != b[i].stride ||
            (a[i].space == a[j].space) != (b[i].space == b[j].space) ||
            (a[i].space == a[j].space &&
             (a[i].low < a[j].low) != (b[i].low < b[j].low)))
          return false;
    return true;
  }
  /// Ops of the block that a line may end at.
  SmallVector<Operation *> candidates(const Also &also) {
    auto start = llvm::find_if(also.behind, [&](Name n) { return has(n); });
    SmallVector<std::pair<Value, unsigned>> values;
    SmallVector<Operation *> found;
    if (start != also.behind.end())
      values.push_back({(*this)[*start].value, 0});
    for (size_t i = 0; i < values.size() && values.size() < 128; i++)
      for (Operation *user : values[i].first.getUsers()) {
        if (user->getBlock() != root->getBlock() ||
            user->getNumResults() != 1 || !isPlain(user->getResult(0)))
          continue;
        Value result = user->getResult(0);
        unsigned deep =
            values[i].second + (sourceOf(result) != values[i].first);
        if (deep > also.deep || llvm::any_of(values, [&](auto &known) {
              return known.first == result;
            }))
          continue;
        values.push_back({result, deep});
        if (!ops.contains(user) && also.term.may(result))
          found.push_back(user);
      }
    if (also.after) {
      Operation *first = has(*also.after)
                             ? (*this)[*also.after].value.getDefiningOp()
                             : nullptr;
      llvm::erase_if(found, [&](Operation *op) {
        return !first || !first->isBeforeInBlock(op);
      });
    }
    llvm::sort(found, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    return found;
  }
  bool findAlso(const Also &also) {
    SmallVector<Operation *> all = candidates(also);
    if (all.empty())
      return also.optional || fail(Twine(also.name.text) + " is not there");
    unsigned which = choose(all.size() + also.optional);
    if (which == all.size())
      return true;
    ends.back() = all[which];
    return also.term(*this, rootRead()) && ops.contains(ends.back());
  }
  bool advance() {
    while (!choices.empty() &&
           choices.back().first + 1 >= choices.back().second)
      choices.pop_back();
    if (choices.empty())
      return false;
    choices.back().first++;
    return true;
  }
  bool isUsedHereOnly(ArrayRef<Name> escapes) {
    auto isOutside = [&](Operation *op) {
      return op != root && !llvm::is_contained(ends, op) &&
             llvm::any_of(op->getUsers(), [&](Operation *user) {
               return !ops.contains(user) && !between.contains(user);
             });
    };
    for (Operation *op : llvm::concat<Operation *const>(ops, between)) {
      bool escapes_ = llvm::any_of(escapes, [&](Name n) {
        return has(n) && (*this)[n].value.getDefiningOp() == op;
      });
      if (!escapes_ && isOutside(op))
        return fail(Twine(op->getName().getStringRef()) +
                    " has a user outside of the match");
    }
    return true;
  }

  SmallVector<std::pair<unsigned, unsigned>>
      choices; ///< the way taken, of how many
  bool begun = false;
  unsigned depth = 0, spaces = 0;
  size_t reached = 0;
  std::string reason;
  mutable DenseMap<unsigned, Read> names;
  DenseMap<Operation *, Read> reads;
  llvm::SmallPtrSet<Operation *, 4> regrouped;
  SmallVector<std::pair<TypeID, Value>, 4> operands; ///< of what is regrouped
  DenseMap<unsigned, size_t>
      boundIn;                   ///< the number of ends when a name was bound
  SmallVector<Operation *> ends; ///< of the lines that end elsewhere
  DenseMap<Value, unsigned> wholes;
  SmallVector<std::pair<IndexMap, int64_t>> parts;
  llvm::SmallSetVector<Operation *, 16>
      between; ///< ops that were looked through
};

/// A number, which a constant or an attribute holds.
inline Term m_Number(Number expected) {
  return Term([=](Match &m, const Read &r) {
    m.here = r.axes;
    double wanted = expected(m);
    std::optional<double> actual = r.setting ? r.setting : constantOf(r.value);
    Type format =
        r.setting ? Float32Type::get(m.root->getContext()) : elementOf(r.value);
    return (actual && isNumber(*actual, wanted, format)) ||
           m.fail("the number " + std::to_string(wanted) + " expected");
  });
}
/// The number of elements along an axis of a value that is matched already, and
/// 1 divided by it.
double extentOf(const Match &m, Name n, int dim);
inline Term m_Extent(Name n, int dim) {
  return m_Number([=](const Match &m) { return extentOf(m, n, dim); });
}
inline Term m_InverseExtent(Name n, int dim) {
  return m_Number([=](const Match &m) { return 1 / extentOf(m, n, dim); });
}
inline Term::Term(double x)
    : Term(m_Number([=](const Match &) { return x; })) {}

/// Any value, which is taken as it was before it was broadcast; the same one at
/// each occurrence.
inline Term::Term(Name n)
    : Term([=](Match &m, const Read &r) {
        if (r.setting)
          return m.fail(Twine(n.text) + " is an attribute");
        if (m.has(n))
          return m.isAgain(n, r, true);
        SmallVector<Read, 0> all = views(r);
        size_t taken = 0;
        for (size_t i = 1; i < all.size(); i++)
          if (sizeOf(all[i].value) < sizeOf(all[i - 1].value))
            taken = i;
        m.bind(n, all[taken]);
        return true;
      }) {}

/// A line of the formula: what it stands for is matched once, and the same
/// value at each use.
struct Line : Name {
  Line(unsigned id, const char *text, Term value)
      : Name{id, text}, term(named(*this, value)) {}
  const Term term;

private:
  static Term named(Name n, Term value) {
    return Term(
        [=](Match &m, const Read &r) {
          if (m.has(n))
            return m.isAgain(n, r, false);
          m.bind(n, r);
          Read read = r;
          read.name = n;
          return value(m, read);
        },
        [=](Value v) { return value.may(v); });
  }
};
inline Term::Term(const Line &line) : Term(line.term) {}

/// One or the other.
inline Term operator|(Term a, Term b) {
  Term::Group group;
  if (a.ofSeveral().may || b.ofSeveral().may) {
    group.matches = [=](Match &m, bool sum, ArrayRef<Factor> of) {
      bool first = a.may(sum, of), second = b.may(sum, of);
      return (first && second ? m.choose(2) == 0 : first) ? a(m, sum, of)
                                                          : b(m, sum, of);
    };
    group.may = [=](bool sum, ArrayRef<Factor> of) {
      return a.may(sum, of) || b.may(sum, of);
    };
  }
  return Term(
      [=](Match &m, const Read &r) {
        bool first = r.setting || a.may(r.value),
             second = r.setting || b.may(r.value);
        return (first && second ? m.choose(2) == 0 : first) ? a(m, r) : b(m, r);
      },
      [=](Value v) { return a.may(v) || b.may(v); }, group);
}

/// x with its last two axes exchanged.
inline Term m_Transposed(Term x) {
  return Term(
      [=](Match &m, const Read &r) {
        Read turned = r;
        if (turned.axes.size() < 2)
          return m.fail("two axes are wanted");
        std::swap(turned.axes.back(), turned.axes[turned.axes.size() - 2]);
        return x(m, turned);
      },
      [=](Value v) { return x.may(v); });
}

using Rule = std::function<bool(Match &, const Read &, Operation *)>;

/// The op that makes a value, or one that views lead to.
template <typename... Ops> Term m_OneOf(Rule rule) {
  return Term(
      [=](Match &m, const Read &r) {
        if (r.setting)
          return m.fail("an op is expected");
        Read at = r;
        while (!isa_and_nonnull<Ops...>(at.value.getDefiningOp())) {
          std::optional<Read> next = r.isRoot ? std::nullopt : viewed(at);
          if (!next) {
            std::string names;
            ((names +=
              (names.empty() ? "" : " or ") + Ops::getOperationName().str()),
             ...);
            return m.fail(Twine(names) + " expected");
          }
          m.lookThrough(at.value.getDefiningOp());
          at = *next;
        }
        Operation *found = at.value.getDefiningOp();
        if (at.value != found->getResult(0) || !isPlain(at.value))
          return m.fail("the first result is expected");
        if (r.name)
          m.bind(*r.name, at);
        m.line = r.name;
        at.name.reset();
        at.isRoot = false;
        m.take(found, at);
        return rule(m, at, found);
      },
      [](Value v) {
        while (v && !isa_and_nonnull<Ops...>(v.getDefiningOp()))
          v = sourceOf(v);
        return bool(v);
      });
}

/// Numbers that an op has as attributes, in the place of operands that are
/// missing.
inline std::optional<double> settingOf(Operation *op, StringRef key) {
  return numberOf(op->getAttr(key));
}

inline bool matchOperands(Match &m, const Read &r, Operation *op,
                          ArrayRef<Term> args, ArrayRef<unsigned> order,
                          ArrayRef<const char *> settings) {
  for (unsigned i = 0; i < args.size(); i++) {
    Read operand = r;
    if (order[i] >= op->getNumOperands()) {
      operand.setting =
          settings.size() > i ? settingOf(op, settings[i]) : std::nullopt;
      if (!operand.setting)
        return m.fail(Twine(op->getName().getStringRef()) +
                      " has no such operand");
    } else if (std::optional<Read> mapped = operandOf(r, op, order[i])) {
      operand = *mapped;
    } else {
      return m.fail("how the operand is indexed is not known");
    }
    if (!args[i](m, operand))
      return false;
  }
  return true;
}

/// Element by element.
template <typename Op, typename... Terms> Term m_Elementwise(Terms... terms) {
  SmallVector<Term> args{Term(terms)...};
  return m_OneOf<Op>([=](Match &m, const Read &r, Operation *op) {
    if (op->getNumOperands() > args.size())
      return m.fail("the number of operands is another one");
    return matchOperands(m, r, op, args, {0, 1, 2, 3}, {});
  });
}

/// The same, with the operands in either order.
template <typename Op> Term m_Commutative(Term a, Term b) {
  SmallVector<Term> args{a, b};
  return m_OneOf<Op>([=](Match &m, const Read &r, Operation *op) {
    Value first = op->getOperand(0), second = op->getOperand(1);
    bool straight = a.may(first) && b.may(second),
         turned = first != second && a.may(second) && b.may(first);
    bool swapped = straight && turned ? m.choose(2) == 1 : turned;
    return swapped ? matchOperands(m, r, op, args, {1, 0}, {})
                   : matchOperands(m, r, op, args, {0, 1}, {});
  });
}

/// Between bounds, which are operands or attributes.
inline Term m_Clamp(Term x, Term low, Term high) {
  SmallVector<Term> args{x, low, high};
  return m_OneOf<ClampScalarOp, ClampTensorOp>([=](Match &m, const Read &r,
                                                   Operation *op) {
    return matchOperands(m, r, op, args, {0, 1, 2}, {nullptr, "min", "max"});
  });
}

/// What an op of a sum or product is made of; empty: it is none.
inline SmallVector<std::pair<unsigned, bool>, 2> factorsOf(Operation *op,
                                                           bool sum) {
  if (sum ? isa_and_nonnull<AddOp>(op) : isa_and_nonnull<MultiplyOp>(op))
    return {{0, false}, {1, false}};
  if (sum ? isa_and_nonnull<SubtractOp>(op) : isa_and_nonnull<DivOp>(op))
    return {{0, false}, {1, true}};
  if (sum && isa_and_nonnull<NegOp>(op))
    return {{0, true}};
  return {};
}

/// A sum or product as its terms or factors, and the ops that compute it.
struct Grouping {
  SmallVector<Factor, 3> of;
  SmallVector<std::pair<Operation *, Read>, 3> ops;
  SmallVector<Operation *> between;
  SmallVector<size_t, 3> path; ///< of which factor its own ones were taken
};

/// With the factors of one of its factors in the place of that. How they are
/// read is told where it is asked for.
inline std::optional<Grouping> expanded(const Grouping &from, size_t which,
                                        bool sum, bool asRead) {
  Grouping out = from;
  Factor factor = from.of[which];
  auto step = [&](Value value, std::optional<Read> read) {
    if (asRead && read)
      factor.read = *read;
    factor.read.value = value && (read || !asRead) ? value : Value();
    return bool(factor.read.value);
  };
  while (factorsOf(factor.read.value.getDefiningOp(), sum).empty()) {
    out.between.push_back(factor.read.value.getDefiningOp());
    if (factor.read.isRoot ||
        !step(sourceOf(factor.read.value),
              asRead ? viewed(factor.read) : std::nullopt))
      return std::nullopt;
  }
  Operation *op = factor.read.value.getDefiningOp();
  if (!isPlain(factor.read.value))
    return std::nullopt;
  out.of.erase(out.of.begin() + which);
  out.path.push_back(which);
  factor.read.name.reset();
  factor.read.isRoot = false;
  out.ops.push_back({op, factor.read});
  Factor whole = factor;
  for (auto [i, inverse] : factorsOf(op, sum)) {
    factor = whole;
    if (!step(op->getOperand(i),
              asRead ? operandOf(whole.read, op, i) : std::nullopt))
      return std::nullopt;
    factor.inverse = inverse != whole.inverse;
    out.of.push_back(factor);
  }
  return out;
}

/// The ways to see a value as a sum or product of two or three that several ops
/// compute.
inline SmallVector<Grouping, 0> groupings(Value value, bool isRoot, bool sum) {
  constexpr size_t mostOps = 3, mostWays = 16;
  SmallVector<Grouping, 0> all, out;
  auto madeBy = [&](Value v) {
    while (v && factorsOf(v.getDefiningOp(), sum).empty())
      v = sourceOf(v);
    return v;
  };
  Value made = value ? madeBy(value) : Value();
  if (!made || llvm::none_of(made.getDefiningOp()->getOperands(), madeBy))
    return out; // the usual case, and a cheap one
  all.emplace_back();
  all[0].of.emplace_back();
  all[0].of[0].read.value = value;
  all[0].of[0].read.isRoot = isRoot;
  for (size_t i = 0; i < all.size() && all.size() < mostWays; i++) {
    Grouping from = all[i];
    if (from.ops.size() > 1 && from.of.size() > 1)
      out.push_back(from);
    for (size_t k = 0; k < from.of.size() && from.ops.size() < mostOps; k++)
      if (std::optional<Grouping> more = expanded(from, k, sum, false);
          more && more->of.size() <= 3)
        all.push_back(*more);
  }
  return out;
}

/// One of the ways to make two of two or three: which the first one has, and
/// the second one, as what is added or multiplied.
struct Halves {
  SmallVector<Factor, 3> first, second;
};
inline size_t numberOfHalves(ArrayRef<Factor> of) {
  return of.size() > 2 ? 2 * of.size() : of.size();
}
inline Halves halvesOf(ArrayRef<Factor> of, size_t way, bool inverse) {
  Halves out;
  bool firstIsOne = way >= of.size();
  for (size_t i = 0; i < of.size(); i++)
    ((i == way % of.size()) == firstIsOne ? out.first : out.second)
        .push_back(of[i]);
  for (Factor &factor : out.second)
    factor.inverse ^= inverse;
  return out;
}

/// a + b and the like, in the order of the ops or in another one that makes the
/// same of the same terms: a * b * c is a * (b * c), and a - b is -(b - a).
template <typename Op> Term m_Grouped(Term a, Term b, Term asWritten) {
  constexpr bool sum = std::is_same_v<Op, AddOp> ||
                       std::is_same_v<Op, SubtractOp>,
                 inverse = std::is_same_v<Op, SubtractOp> ||
                           std::is_same_v<Op, DivOp>;
  auto waysOf = [=](ArrayRef<Factor> of) {
    SmallVector<size_t, 6> ways;
    for (size_t way = 0; way < numberOfHalves(of); way++) {
      Halves halves = halvesOf(of, way, inverse);
      if (a.may(sum, halves.first) && b.may(sum, halves.second))
        ways.push_back(way);
    }
    return ways;
  };
  auto matchHalves = [=](Match &m, ArrayRef<Factor> of, size_t way) {
    Halves halves = halvesOf(of, way, inverse);
    if (halves.second.size() == 1)
      m.takeOperand<Op>(halves.second[0].read.value);
    if (halves.first.size() == 1 && !inverse)
      m.takeOperand<Op>(halves.first[0].read.value);
    return a(m, sum, halves.first) && b(m, sum, halves.second);
  };
  Term::Group group;
  group.may = [=](bool ofSum, ArrayRef<Factor> of) {
    return ofSum == sum && !waysOf(of).empty();
  };
  group.matches = [=](Match &m, bool, ArrayRef<Factor> of) {
    SmallVector<size_t, 6> ways = waysOf(of);
    return matchHalves(m, of,
                       ways[ways.size() > 1 ? m.choose(ways.size()) : 0]);
  };
  auto regrouped = [=](Match &m, const Read &r, const Grouping &by,
                       size_t way) {
    Grouping grouping;
    grouping.of.push_back({r, false});
    for (size_t which : by.path) {
      std::optional<Grouping> next = expanded(grouping, which, sum, true);
      if (!next)
        return m.fail("how the terms are indexed is not known");
      grouping = *next;
    }
    for (auto [op, read] : grouping.ops)
      m.regroup(op, read);
    for (Operation *op : grouping.between)
      m.lookThrough(op);
    if (r.name)
      m.bind(*r.name, grouping.ops.front().second);
    m.line = r.name;
    return matchHalves(m, grouping.of, way);
  };
  auto otherWays = [=](Value value, bool isRoot) {
    SmallVector<std::pair<Grouping, size_t>, 0> out;
    bool several = a.ofSeveral().may || b.ofSeveral().may;
    if (sum || several)
      for (const Grouping &grouping : groupings(value, isRoot, sum))
        for (size_t way : waysOf(grouping.of))
          out.push_back({grouping, way});
    return out;
  };
  return Term(
      [=](Match &m, const Read &r) {
        bool first = r.setting || asWritten.may(r.value);
        auto others = otherWays(r.setting ? Value() : r.value, r.isRoot);
        unsigned n = first + others.size();
        unsigned at = n > 1 ? m.choose(n) : 0;
        if (others.empty() || (first && at == 0))
          return asWritten(m, r);
        const auto &other = others[at - first];
        return regrouped(m, r, other.first, other.second);
      },
      [=](Value v) { return asWritten.may(v) || !otherWays(v, false).empty(); },
      group);
}

// As formulas are written. What commutes matches in either order.
inline Term operator+(Term a, Term b) {
  return m_Grouped<AddOp>(a, b, m_Commutative<AddOp>(a, b));
}
inline Term operator-(Term a, Term b) {
  return m_Grouped<SubtractOp>(a, b, m_Elementwise<SubtractOp>(a, b));
}
inline Term operator*(Term a, Term b) {
  return m_Grouped<MultiplyOp>(a, b, m_Commutative<MultiplyOp>(a, b));
}
inline Term operator/(Term a, Term b) {
  return m_Grouped<DivOp>(a, b, m_Elementwise<DivOp>(a, b));
}
inline Term operator==(Term a, Term b) { return m_Commutative<EqualOp>(a, b); }
inline Term operator!=(Term a, Term b) {
  return m_Commutative<NotEqualOp>(a, b);
}
inline Term operator<(Term a, Term b) {
  return m_Elementwise<LessThanOp>(a, b);
}
inline Term operator<=(Term a, Term b) {
  return m_Elementwise<LessEqualOp>(a, b);
}
inline Term operator>(Term a, Term b) {
  return m_Elementwise<GreaterThanOp>(a, b);
}
inline Term operator>=(Term a, Term b) {
  return m_Elementwise<GreaterEqualOp>(a, b);
}

/// The axis that dim = -1 and the like mean.
inline bool isAxis(const Read &r, const IndexMap &axis,
                   std::optional<int> dim) {
  int64_t rank = r.axes.size();
  if (!dim)
    return true;
  int64_t at = *dim < 0 ? *dim + rank : *dim;
  return at >= 0 && at < rank && canonical(r.axes[at]) == axis;
}

inline SmallVector<int64_t> reducedDims(Operation *op, int64_t rank) {
  SmallVector<int64_t> dims;
  if (auto list = op->getAttrOfType<ArrayAttr>("dim_arg"))
    for (Attribute d : list)
      dims.push_back(cast<IntegerAttr>(d).getInt());
  for (int64_t &d : dims)
    d += d < 0 ? rank : 0;
  if (dims.empty())
    dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  return dims;
}

/// A sum or the like. It runs over axes of the formula, where it can.
template <typename... Ops>
Term m_Reduction(Term x, std::optional<int> dim = std::nullopt) {
  return m_OneOf<Ops...>([=](Match &m, const Read &r, Operation *op) {
    Value source = op->getOperand(0);
    if (!isPlain(source))
      return m.fail("static shapes without layouts are wanted");
    ArrayRef<int64_t> shape = shapeOf(source);
    SmallVector<int64_t> dims = reducedDims(op, shape.size()), extents;
    std::optional<Axes> kept = coordinates(r.map, shapeOf(r.value));
    for (int64_t d = 0; d < int64_t(shape.size()); d++)
      if (llvm::is_contained(dims, d))
        extents.push_back(shape[d]);
    if (!kept)
      return m.fail("how the sum is indexed is not known");
    std::optional<Axes> sum = complement(r.axes, r.map, extents);
    bool own = !sum;
    if (own) {
      unsigned space = m.newSpace();
      sum = coordinates({{space, 1,
                          std::accumulate(extents.begin(), extents.end(),
                                          int64_t(1), std::multiplies<>()),
                          1}},
                        extents);
    }
    Axes at;
    bool stay = shape.size() == shapeOf(r.value).size();
    size_t from = 0, summed = 0;
    for (int64_t d = 0; d < int64_t(shape.size()); d++) {
      bool reduced = llvm::is_contained(dims, d);
      at.push_back(reduced ? (*sum)[summed++] : (*kept)[from]);
      from += !reduced || stay;
    }
    IndexMap axis = join(*sum);
    bool last = dims.size() == 1 && dims[0] + 1 == int64_t(shape.size());
    if (own ? dim && !(*dim == -1 && last) : !isAxis(r, axis, dim))
      return m.fail("it runs along another axis");
    m.worksAlong(axis);
    Read operand = r;
    operand.value = source;
    operand.map = offset(at, shape);
    return x(m, operand);
  });
}

/// A softmax or norm, along one axis.
template <typename... Ops>
Term m_Along(std::initializer_list<Term> terms,
             std::optional<int> dim = std::nullopt) {
  SmallVector<Term> args(terms);
  return m_OneOf<Ops...>([=](Match &m, const Read &r, Operation *op) {
    int64_t rank = shapeOf(r.value).size(), first = -1, count = 1;
    if (auto dimension = op->getAttrOfType<IntegerAttr>("dimension"))
      first = dimension.getInt();
    if (auto shape = op->getAttrOfType<DenseI64ArrayAttr>("normalized_shape"))
      first = -(count = shape.size());
    first += first < 0 ? rank : 0;
    std::optional<Axes> at = coordinates(r.map, shapeOf(r.value));
    if (!at || first < 0 || first + count > rank)
      return m.fail("how it is indexed is not known");
    IndexMap axis = join(ArrayRef<IndexMap>(*at).slice(first, count));
    if (!isAxis(r, axis, dim))
      return m.fail("it works along another axis");
    if (op->getNumOperands() != args.size())
      return m.fail("the number of operands is another one");
    m.worksAlong(axis);
    return matchOperands(m, r, op, args, {0, 1, 2, 3}, {});
  });
}

/// A value that is meant as a whole, over an index space of its own.
inline std::optional<Read> wholeOf(Match &m, Value value) {
  Read whole;
  whole.value = value;
  if (!isPlain(value))
    return std::nullopt;
  whole.map = canonical({{m.spaceOf(value), 1, sizeOf(value), 1}});
  whole.axes = *coordinates(whole.map, shapeOf(value));
  return whole;
}

/// A norm over an axis that is spread over devices: of x and the first of what
/// else it may take, each of which is meant as a whole.
template <typename Op>
Term m_DistributedNorm(std::initializer_list<Term> terms) {
  SmallVector<Term> args(terms);
  return m_OneOf<Op>([=](Match &m, const Read &r, Operation *op) {
    auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
    if (op->getNumOperands() != args.size() || !segments ||
        !llvm::all_of(segments.asArrayRef().take_front(args.size()),
                      [](int32_t n) { return n == 1; }))
      return m.fail("the number of operands is another one");
    for (auto [i, arg] : llvm::enumerate(args)) {
      std::optional<Read> operand =
          i ? wholeOf(m, op->getOperand(i)) : operandOf(r, op, 0);
      if (!operand || !arg(m, *operand))
        return false;
    }
    return true;
  });
}

/// How a product's result is made of its operands: the dimension of each that a
/// dimension of the result is, or -1.
struct Product {
  SmallVector<int64_t> a, b, sumOfA, sumOfB;
  SmallVector<char> role; ///< 'b'atch, 'r'ows, 'c'olumns
};

inline std::optional<Product> productOf(Operation *op) {
  Product p;
  int64_t rankA = shapeOf(op->getOperand(0)).size(),
          rankB = shapeOf(op->getOperand(1)).size();
  if (auto dot = dyn_cast<DotGeneralOp>(op)) {
    p.sumOfA.assign(dot.getContractDimsLhs().begin(),
                    dot.getContractDimsLhs().end());
    p.sumOfB.assign(dot.getContractDimsRhs().begin(),
                    dot.getContractDimsRhs().end());
    p.a.assign(dot.getBatchDimsLhs().begin(), dot.getBatchDimsLhs().end());
    p.b.assign(dot.getBatchDimsRhs().begin(), dot.getBatchDimsRhs().end());
    p.role.assign(p.a.size(), 'b');
    auto rest = [&](int64_t rank, ArrayRef<int64_t> sums,
                    SmallVector<int64_t> batch, char role) {
      for (int64_t d = 0; d < rank; d++)
        if (!llvm::is_contained(sums, d) && !llvm::is_contained(batch, d)) {
          p.a.push_back(role == 'r' ? d : -1);
          p.b.push_back(role == 'r' ? -1 : d);
          p.role.push_back(role);
        }
    };
    SmallVector<int64_t> batchA = p.a, batchB = p.b;
    rest(rankA, p.sumOfA, batchA, 'r');
    rest(rankB, p.sumOfB, batchB, 'c');
    return p;
  }
  auto flag = [&](StringRef key) {
    auto attribute = op->getAttrOfType<BoolAttr>(key);
    return attribute && attribute.getValue();
  };
  if (rankA < 2 || rankB < 2)
    return std::nullopt;
  bool turnA = flag("transpose_a"), turnB = flag("transpose_b");
  int64_t batch = std::max(rankA, rankB) - 2;
  for (int64_t d = 0; d < batch; d++) {
    p.a.push_back(std::max<int64_t>(d - (batch - (rankA - 2)), -1));
    p.b.push_back(std::max<int64_t>(d - (batch - (rankB - 2)), -1));
    p.role.push_back(p.b.back() >= 0 ? 'b' : 'r');
  }
  p.a.append({rankA - (turnA ? 1 : 2), -1});
  p.b.append({-1, rankB - (turnB ? 2 : 1)});
  p.role.append({'r', 'c'});
  p.sumOfA = {rankA - (turnA ? 2 : 1)};
  p.sumOfB = {rankB - (turnB ? 1 : 2)};
  return p;
}

/// A product of rows and columns: also one that is computed as its transpose,
/// b^T a^T.
inline Term m_Product(Term left, Term right,
                      std::optional<Term> bias = std::nullopt) {
  Rule rule = [=](Match &m, const Read &r, Operation *op) {
    if (op->getNumOperands() != (bias ? 3 : 2) || !isPlain(op->getOperand(0)) ||
        !isPlain(op->getOperand(1)))
      return m.fail("the number of operands is another one");
    std::optional<Product> p = productOf(op);
    std::optional<Axes> at =
        p ? coordinates(r.map, shapeOf(r.value)) : std::nullopt;
    if (!at || at->size() != p->role.size())
      return m.fail("how the product is indexed is not known");
    ArrayRef<int64_t> shapeA = shapeOf(op->getOperand(0)),
                      shapeB = shapeOf(op->getOperand(1));
    SmallVector<int64_t> extents;
    for (int64_t d : p->sumOfA)
      extents.push_back(shapeA[d]);
    int64_t size = std::accumulate(extents.begin(), extents.end(), int64_t(1),
                                   std::multiplies<>());
    std::optional<Axes> sum =
        coordinates({{m.newSpace(), 1, size, 1}}, extents);
    Axes axesA(shapeA.size()), axesB(shapeB.size()), batch, rows, columns;
    for (size_t d = 0; d < at->size(); d++) {
      if (p->a[d] >= 0 && shapeA[p->a[d]] > 1)
        axesA[p->a[d]] = (*at)[d];
      if (p->b[d] >= 0 && shapeB[p->b[d]] > 1)
        axesB[p->b[d]] = (*at)[d];
      (p->role[d] == 'b'   ? batch
       : p->role[d] == 'r' ? rows
                           : columns)
          .push_back((*at)[d]);
    }
    for (size_t i = 0; i < extents.size(); i++)
      axesA[p->sumOfA[i]] = axesB[p->sumOfB[i]] = (*sum)[i];
    IndexMap row = join(rows), column = join(columns), summed = join(*sum);
    Read a = r, b = r;
    a.value = op->getOperand(0);
    b.value = op->getOperand(1);
    a.map = offset(axesA, shapeA);
    b.map = offset(axesB, shapeB);
    std::optional<Name> line = m.line;
    size_t rank = r.axes.size();
    IndexMap last = rank ? canonical(r.axes[rank - 1]) : IndexMap(),
             before = rank > 1 ? canonical(r.axes[rank - 2]) : IndexMap();
    auto same = [](const IndexMap &x, const IndexMap &y) {
      return within(x, y) && within(y, x);
    };
    bool straight = column == last && same(row, before),
         turned = !straight && row == last && same(column, before) && !bias;
    if (!turned && (r.inProduct ? !straight : touches(a.map, last)))
      return m.fail("rows and columns of the product are others");
    auto withAxes = [&](IndexMap x, IndexMap y) {
      Axes axes = batch;
      axes.append({x, y});
      return axes;
    };
    a.axes = withAxes(row, summed);
    b.axes = withAxes(summed, column);
    a.inProduct = b.inProduct = true;
    if (line && !turned)
      m.setAxes(*line, withAxes(row, column));
    if (turned) {
      a.axes = withAxes(summed, row);
      b.axes = withAxes(column, summed);
      std::swap(a, b);
    }
    if (!left(m, a) || !right(m, b))
      return false;
    if (!bias)
      return true;
    std::optional<Read> c = operandOf(r, op, 2);
    if (c)
      c->axes = withAxes(row, column);
    return c && (*bias)(m, *c);
  };
  return bias ? m_OneOf<LinearOp>(rule)
              : m_OneOf<MatmulOp, DotGeneralOp, LinearOp>(rule);
}

/// A product over one element, which is printed as a multiply that broadcasts p
/// along the columns of v.
inline Term m_Outer(Term p, Term v) {
  return m_OneOf<MultiplyOp>([=](Match &m, const Read &r, Operation *op) {
    unsigned at = m.choose(2);
    std::optional<Read> a = operandOf(r, op, at), b = operandOf(r, op, 1 - at);
    if (!a || !b)
      return m.fail("how the product is indexed is not known");
    IndexMap source = views(*a).back().map;
    int64_t columns = extent(b->map) / extent(source);
    std::optional<Axes> column =
        columns > 1 ? complement(r.axes, source, {columns}) : std::nullopt;
    if (!column || !within(source, b->map))
      return m.fail("it is no product of a column and a row");
    a->axes = {source, {}, {}};
    b->axes = {source, {}, column->front()};
    a->inProduct = b->inProduct = true;
    return p(m, *a) && v(m, *b);
  });
}

/// The operand of a slice or concatenation, whose dimensions `changed` have
/// another extent than in the result.
inline std::optional<Read> resized(Match &m, const Read &r, Value value,
                                   const Axes &result,
                                   ArrayRef<int64_t> changed,
                                   std::optional<int> dim) {
  ArrayRef<int64_t> shape = shapeOf(value);
  Axes at = result, kept = result;
  SmallVector<int64_t> extents;
  for (int64_t d : changed) {
    kept[d].clear();
    extents.push_back(shape[d]);
  }
  Read out = r;
  out.value = value;
  out.outer = r.outer ? r.outer : r.axes;
  std::optional<Axes> digits =
      complement(*out.outer, offset(kept, shape), extents);
  for (auto [i, d] : llvm::enumerate(changed)) {
    IndexMap part = canonical(result[d]);
    at[d] = digits
                ? (*digits)[i]
                : canonical({{m.spaceOfPart(part, shape[d]), 1, shape[d], 1}});
    int64_t place = !dim ? d + int64_t(r.axes.size()) - int64_t(shape.size())
                    : *dim < 0 ? *dim + int64_t(r.axes.size())
                               : *dim;
    for (int64_t axis = 0; axis < int64_t(out.axes.size()); axis++)
      if (canonical(r.axes[axis]) == part && (!part.empty() || axis == place)) {
        out.axes[axis] = at[d];
        break;
      }
  }
  out.map = offset(at, shape);
  return out;
}

/// Which part of the axis a slice takes.
using Part = std::function<bool(int64_t extent, int64_t begin, int64_t end,
                                int64_t step)>;
inline bool anyPart(int64_t, int64_t, int64_t, int64_t) { return true; }
inline Part partOf(int64_t part, int64_t of) {
  return [=](int64_t extent, int64_t begin, int64_t end, int64_t step) {
    return extent % of == 0 && step == 1 && begin == part * (extent / of) &&
           end == (part + 1) * (extent / of);
  };
}
inline Part partEvery(int64_t part, int64_t every) {
  return [=](int64_t extent, int64_t begin, int64_t end, int64_t step) {
    return extent % every == 0 && step == every && begin == part &&
           end > extent - every;
  };
}
inline Part partFrom(int64_t from, int64_t to) {
  return [=](int64_t, int64_t begin, int64_t end, int64_t step) {
    return begin == from && end == to && step == 1;
  };
}

/// Whether what is cut or joined is the axis that dim= names, or a part of it.
inline bool isWithinAxis(const Read &r, const IndexMap &axis,
                         std::optional<int> dim) {
  int64_t rank = r.axes.size(), at = dim ? (*dim < 0 ? *dim + rank : *dim) : 0;
  return !dim || (at >= 0 && at < rank && within(axis, r.axes[at]));
}

/// A part of x. With `one`, along one axis.
inline Term m_Slice(Term x, std::optional<int> dim = std::nullopt,
                    Part part = anyPart, bool one = false) {
  return m_OneOf<SliceStaticOp>([=](Match &m, const Read &r, Operation *op) {
    auto cut = cast<SliceStaticOp>(op);
    std::optional<Axes> at = coordinates(r.map, shapeOf(r.value));
    if (!at || !isPlain(cut.getInput()))
      return m.fail("how the slice is indexed is not known");
    ArrayRef<int64_t> shape = shapeOf(cut.getInput());
    SmallVector<int64_t> changed;
    for (int64_t d = 0; d < int64_t(shape.size()); d++) {
      if (shapeOf(r.value)[d] == shape[d])
        continue;
      auto bound = [&](ArrayAttr list) {
        return cast<IntegerAttr>(list[d]).getInt();
      };
      int64_t begin = bound(cut.getBegins()), end = bound(cut.getEnds()),
              step = bound(cut.getStep());
      if (!isWithinAxis(r, canonical((*at)[d]), dim) ||
          !part(shape[d], begin + (begin < 0 ? shape[d] : 0),
                end + (end < 0 ? shape[d] : 0), step))
        return m.fail("another part is sliced");
      changed.push_back(d);
    }
    if (changed.empty() || ((one || dim) && changed.size() != 1))
      return m.fail("the slice cuts other dimensions");
    std::optional<Read> operand =
        resized(m, r, cut.getInput(), *at, changed, dim);
    return operand && x(m, *operand);
  });
}

/// Operands side by side.
inline Term m_Concat(std::initializer_list<Term> terms,
                     std::optional<int> dim = std::nullopt) {
  SmallVector<Term> args(terms);
  return m_OneOf<ConcatOp>([=](Match &m, const Read &r, Operation *op) {
    std::optional<Axes> at = coordinates(r.map, shapeOf(r.value));
    int64_t along = cast<ConcatOp>(op).getDim();
    along += along < 0 ? shapeOf(r.value).size() : 0;
    if (!at || op->getNumOperands() != args.size() ||
        !isWithinAxis(r, canonical((*at)[along]), dim))
      return m.fail("another number of operands is put side by side, or along "
                    "another axis");
    for (auto [i, arg] : llvm::enumerate(args)) {
      std::optional<Read> operand =
          isPlain(op->getOperand(i))
              ? resized(m, r, op->getOperand(i), *at, {along}, dim)
              : std::nullopt;
      if (!operand || !arg(m, *operand))
        return false;
    }
    return true;
  });
}

/// An op of which nothing is known but its operands, each of which is meant as
/// a whole.
template <typename Op> Term m_Opaque(std::initializer_list<Term> terms) {
  SmallVector<Term> args(terms);
  return m_OneOf<Op>([=](Match &m, const Read &r, Operation *op) {
    if (op->getNumOperands() != args.size())
      return m.fail("the number of operands is another one");
    for (auto [i, arg] : llvm::enumerate(args)) {
      std::optional<Read> whole = wholeOf(m, op->getOperand(i));
      if (!whole || !arg(m, *whole))
        return false;
    }
    return true;
  });
}

inline int64_t integerOf(Operation *op, StringRef key, int64_t otherwise) {
  auto attribute = op->getAttrOfType<IntegerAttr>(key);
  return attribute ? attribute.getInt() : otherwise;
}

/// A convolution. Its axes are the dimensions of its result, channels last; of
/// the weight one axis is that of these, one that of the channels of x.
template <typename Op> Term m_Convolution(std::initializer_list<Term> terms) {
  SmallVector<Term> args(terms);
  return m_OneOf<Op>([=](Match &m, const Read &r, Operation *op) {
    std::optional<Name> line = m.line;
    std::optional<Axes> at = coordinates(r.map, shapeOf(r.value));
    if (!at || op->getNumOperands() != args.size() || args.size() < 2)
      return m.fail("the number of operands is another one");
    std::optional<Read> x = wholeOf(m, op->getOperand(0)),
                        w = wholeOf(m, op->getOperand(1));
    int64_t channels = integerOf(op, "channel_dim", at->size() - 1),
            out = std::is_same_v<Op, ConvTranspose2dOp>;
    if (!x || !w || channels >= int64_t(at->size()))
      return m.fail("static shapes without layouts are wanted");
    Axes own = *at;
    std::rotate(own.begin() + channels, own.begin() + channels + 1, own.end());
    if (extent(own.back()) == shapeOf(w->value)[out])
      w->axes[out] = own.back();
    if (out || integerOf(op, "groups", 1) == 1)
      w->axes[1 - out] = x->axes[channels];
    w->map = offset(w->axes, shapeOf(w->value));
    if (line)
      m.setAxes(*line, own);
    if (!args[0](m, *x) || !args[1](m, *w))
      return false;
    std::optional<Read> bias =
        args.size() > 2 ? operandOf(r, op, 2) : std::nullopt;
    if (bias)
      bias->axes = own;
    return args.size() == 2 || (bias && args[2](m, *bias));
  });
}

/// An attention: queries, keys, values and perhaps a mask, of rank 4. The keys,
/// and what they are multiplied along, are axes of their own; where keys have
/// fewer heads, each is one of several neighbours of the queries.
inline Term m_Attention(std::initializer_list<Term> terms) {
  SmallVector<Term> args(terms);
  return m_OneOf<ScaledDotProductAttentionOp>([=](Match &m, const Read &r,
                                                  Operation *op) {
    auto attention = cast<ScaledDotProductAttentionOp>(op);
    std::optional<Axes> at = coordinates(r.map, shapeOf(r.value));
    if (op->getNumOperands() != args.size() || attention.getAttentionSink() ||
        (args.size() > 3 && !attention.getAttentionMask()))
      return m.fail("the number of operands is another one");
    if (!at || at->size() != 4 || !llvm::all_of(op->getOperands(), isPlain))
      return m.fail("how the attention is indexed is not known");
    IndexMap keys = {{m.newSpace(), 1, shapeOf(op->getOperand(1))[2], 1}};
    IndexMap summed = {{m.newSpace(), 1, shapeOf(op->getOperand(1))[3], 1}};
    const Axes &o = *at;
    Axes axes[] = {{o[0], o[1], o[2], summed},
                   {o[0], o[1], keys, summed},
                   {o[0], o[1], keys, o[3]},
                   {o[0], o[1], o[2], keys}};
    for (auto [i, arg] : llvm::enumerate(args)) {
      Read operand = r;
      operand.value = op->getOperand(i);
      ArrayRef<int64_t> shape = shapeOf(operand.value);
      if (shape.size() != 4)
        return m.fail("an operand has another rank");
      for (auto [axis, size] : llvm::zip(axes[i], shape)) {
        int64_t times = extent(axis) / size;
        if (size == 1)
          axis.clear();
        if (size == 1 || times == 1)
          continue;
        if (axis.size() != 1 || axis[0].size != size * times)
          return m.fail("an operand has another size");
        axis[0].low *= times;
        axis[0].size = size;
      }
      operand.axes = axes[i];
      operand.map = offset(axes[i], shape);
      if (!arg(m, operand))
        return false;
    }
    return true;
  });
}

/// x and, each a number for each channel, scale, offset, mean and variance.
inline Term m_BatchNorm(std::initializer_list<Term> terms) {
  SmallVector<Term> args(terms);
  return m_OneOf<BatchNormInferenceOp>(
      [=](Match &m, const Read &r, Operation *op) {
        std::optional<Axes> at = coordinates(r.map, shapeOf(r.value));
        int64_t channels = integerOf(op, "dimension", 1);
        if (!at || op->getNumOperands() != args.size() ||
            channels >= int64_t(at->size()))
          return m.fail("the number of operands is another one");
        for (auto [i, arg] : llvm::enumerate(args)) {
          Read operand = r;
          operand.value = op->getOperand(i);
          if (!isPlain(operand.value) ||
              (i && sizeOf(operand.value) != shapeOf(r.value)[channels]))
            return m.fail("one number for each channel is wanted");
          operand.map = i ? canonical((*at)[channels]) : r.map;
          if (!arg(m, operand))
            return false;
        }
        return true;
      });
}

/// Movement that a formula names, rather than looks through.
template <typename... Ops> Term m_View(Term x) {
  return m_OneOf<Ops...>([=](Match &m, const Read &r, Operation *) {
    std::optional<Read> operand = viewed(r);
    return operand ? x(m, *operand)
                   : m.fail("how it moves elements is not known");
  });
}
inline Term m_Reshape(Term x) {
  return m_View<ReshapeOp, SqueezeOp, UnsqueezeOp>(x);
}

//===----------------------------------------------------------------------===//
// Conditions: true where a name is absent.
//===----------------------------------------------------------------------===//

inline IndexMap axisOf(const Match &m, Name n, int dim) {
  const Axes &axes = m[n].axes;
  int64_t at = dim < 0 ? dim + int64_t(axes.size()) : dim;
  return at >= 0 && at < int64_t(axes.size()) ? canonical(axes[at])
                                              : IndexMap();
}
/// The elements along an axis of the formula.
inline double extentOf(const Match &m, Name n, int dim) {
  return m.has(n) ? double(extent(axisOf(m, n, dim))) : NAN;
}
inline double extentHere(const Match &m, int dim) {
  const Axes &axes = m.here;
  int64_t at = dim < 0 ? dim + int64_t(axes.size()) : dim;
  return at >= 0 && at < int64_t(axes.size()) ? double(extent(axes[at])) : 1;
}
inline double valueOf(const Match &m, Name n) {
  return m.has(n) ? constantOf(m[n].value).value_or(NAN) : NAN;
}
inline double rankOf(const Match &m, Name n) {
  return m.has(n) ? double(shapeOf(m[n].value).size()) : NAN;
}
inline double sizeAt(const Match &m, Name n, int dim) {
  if (!m.has(n))
    return NAN;
  ArrayRef<int64_t> shape = shapeOf(m[n].value);
  int64_t at = dim < 0 ? dim + int64_t(shape.size()) : dim;
  return at >= 0 && at < int64_t(shape.size()) ? double(shape[at]) : 1;
}
inline double numberOfElements(const Match &m, Name n) {
  return m.has(n) ? double(sizeOf(m[n].value)) : NAN;
}
inline double elementTypeOf(const Match &m, Name n) {
  return m.has(n) ? elementTypeOf(elementOf(m[n].value)) : NAN;
}
/// An attribute of the op that makes the value.
inline double attributeOf(const Match &m, Name n, StringRef key) {
  Operation *op = m.has(n) ? m[n].value.getDefiningOp() : nullptr;
  return op ? settingOf(op, key).value_or(NAN) : NAN;
}
/// What a slice takes of the one dimension that it cuts: where it begins,
/// before which it ends, its step, and the dimension, -1 for the last.
struct SliceBounds {
  double begin = NAN, end = NAN, step = NAN, cut = NAN;
};
inline SliceBounds boundsOf(Operation *op) {
  SliceBounds out;
  auto slice = dyn_cast_or_null<SliceStaticOp>(op);
  if (!slice || !isPlain(slice.getInput()))
    return out;
  ArrayRef<int64_t> from = shapeOf(slice.getInput()),
                    to = shapeOf(slice.getResult());
  for (size_t d = 0; d < from.size(); d++) {
    auto bound = [&](ArrayAttr list) {
      return cast<IntegerAttr>(list[d]).getInt();
    };
    int64_t begin = bound(slice.getBegins()), end = bound(slice.getEnds());
    if (from[d] == to[d])
      continue;
    if (!std::isnan(out.cut))
      return {};
    out.begin = begin + (begin < 0 ? from[d] : 0);
    out.end = end + (end < 0 ? from[d] : 0);
    out.step = bound(slice.getStep());
    out.cut = double(d) - double(from.size());
  }
  return out;
}
inline SliceBounds boundsOf(const Match &m, Name n) {
  return boundsOf(m.has(n) ? m[n].value.getDefiningOp() : nullptr);
}
inline bool isFloating(const Match &m, Name n) {
  return !m.has(n) || isa<FloatType>(elementOf(m[n].value));
}
inline bool haveSameType(const Match &m, Name a, Name b) {
  return !m.has(a) || !m.has(b) ||
         elementOf(m[a].value) == elementOf(m[b].value);
}
inline bool isConstant(const Match &m, Name n) {
  return !m.has(n) || constantOf(m[n].value);
}
/// One number in all elements, as far as the graph shows it.
inline bool isScalar(const Match &m, Name n) {
  return !m.has(n) || constantOf(m[n].value) ||
         sizeOf(views(m[n]).back().value) == 1;
}
/// Equal but for the names of index spaces that only one of them has.
inline bool isRenamed(const IndexMap &a, const IndexMap &b) {
  auto hasSpace = [](const IndexMap &map, unsigned space) {
    return llvm::any_of(map, [=](const Digit &d) { return d.space == space; });
  };
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); i++) {
    bool renamed = a[i].space != b[i].space && !hasSpace(a, b[i].space) &&
                   !hasSpace(b, a[i].space);
    Digit other = b[i];
    other.space = renamed ? a[i].space : b[i].space;
    if (!(a[i] == other))
      return false;
    for (size_t j = 0; j < i; j++)
      if ((a[i].space == a[j].space) != (b[i].space == b[j].space))
        return false;
  }
  return true;
}
/// One value, read in the same way in two places.
inline bool isSame(const Match &m, Name a, Name b) {
  if (!m.has(a) || !m.has(b))
    return true;
  SmallVector<Read, 0> others = views(m[b]);
  return llvm::any_of(views(m[a]), [&](const Read &x) {
    return llvm::any_of(others, [&](const Read &y) {
      return x.value == y.value && isRenamed(x.map, y.map);
    });
  });
}
/// Computed of constants and such arguments only.
inline bool
isComputedOf(const Match &m, Name n,
             llvm::function_ref<bool(BlockArgument, func::FuncOp)> holds) {
  if (!m.has(n))
    return true;
  SetVector<Value> chain = ttmlir::utils::getUseDefChain(m[n].value);
  SetVector<BlockArgument> arguments =
      ttmlir::utils::filterBlockArguments(chain.getArrayRef());
  return llvm::all_of(arguments, [&](BlockArgument argument) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function && holds(argument, function);
  });
}
inline bool isParameter(const Match &m, Name n) {
  return isComputedOf(m, n, ttcore::isConstOrParamArg);
}
/// The same where nothing says that an argument is an input.
inline bool isStored(const Match &m, Name n) {
  return isComputedOf(m, n, [](BlockArgument argument, func::FuncOp function) {
    return ttcore::isConstOrParamArg(argument, function) ||
           !function.getArgAttr(argument.getArgNumber(),
                                ttcore::ArgumentTypeAttr::name);
  });
}
/// Varies along the last two axes only.
inline bool isMatrix(const Match &m, Name n) {
  if (!m.has(n))
    return true;
  ArrayRef<IndexMap> axes(m[n].axes);
  return within(m[n].map,
                join(axes.take_back(std::min<size_t>(axes.size(), 2))));
}
/// Varies along this axis of `of` only, element for element.
inline bool variesAlong(const Match &m, Name n, Name of, int dim) {
  return !m.has(n) || !m.has(of) || m.differing(n) == axisOf(m, of, dim);
}
/// The same all along this axis of `of`.
inline bool isSameAlong(const Match &m, Name n, Name of, int dim) {
  return !m.has(n) || !m.has(of) ||
         !touches(m.differing(n), axisOf(m, of, dim));
}
/// Varies only along what the reduction s reduces, element for element.
inline bool variesAlongReduced(const Match &m, Name n, Name s) {
  if (!m.has(n) || !m.has(s))
    return true;
  int64_t all = 1;
  for (const IndexMap &axis : m[s].axes)
    all *= extent(axis);
  std::optional<Axes> missing =
      complement(m[s].axes, m[s].map, {all / extent(m[s].map)});
  IndexMap map = m.differing(n);
  return missing && map == missing->front() && !map.empty();
}
/// The keys and values of grouped queries: of the heads of q both lack the
/// least significant digits, or none.
inline bool areGrouped(const Match &m, Name q, Name k, Name v) {
  if (!m.has(q) || m[q].axes.size() < 2)
    return false;
  IndexMap batch = join(ArrayRef<IndexMap>(m[q].axes).drop_back(2)), lost[2];
  for (auto [i, n] : llvm::enumerate(ArrayRef<Name>{k, v})) {
    std::optional<IndexMap> rest = without(batch, m[n].map);
    if (!rest)
      return false;
    lost[i] = canonical(*rest);
    if (lost[i].size() > 1 ||
        (lost[i].size() == 1 && lost[i][0].low != batch[0].low))
      return false;
  }
  return lost[0].size() == lost[1].size() &&
         (lost[0].empty() || lost[0][0].size == lost[1][0].size);
}
/// The elements of `of` run over the dimensions of n in this order.
inline bool isReadAs(const Match &m, Name of, Name n,
                     std::initializer_list<int> order) {
  if (!m.has(of) || !m.has(n))
    return true;
  std::optional<Axes> at = coordinates(m[n].map, shapeOf(m[n].value));
  Axes ordered;
  for (int d : order)
    if (at && order.size() == at->size())
      ordered.push_back((*at)[d]);
  return ordered.size() == order.size() && join(ordered) == m[of].map;
}
/// A table of rows, one for each position.
inline bool isTable(const Match &m, Name n) {
  if (!m.has(n))
    return true;
  const Axes &axes = m[n].axes;
  IndexMap last = canonical(axes.back());
  for (const Read &r : views(m[n])) {
    bool row = within(r.map, last);
    if (within(last, r.map) && row && extent(axes[axes.size() - 2]) == 1)
      return true; // of the one position
    for (size_t i = 0; i + 1 < axes.size() && !row; i++) {
      IndexMap both = join({axes[i], axes.back()});
      if (within(both, r.map) && within(r.map, both))
        return true;
    }
  }
  return false;
}
/// One number for each batch element (the first axis) and group of neighbouring
/// channels.
inline bool areChannelGroups(const Match &m, Name n, int dim) {
  const Axes &axes = m.frame;
  size_t at = dim < 0 ? dim + axes.size() : dim;
  if (!m.has(n) || axes.size() < 3 || at >= axes.size())
    return false;
  IndexMap batch = canonical(axes[0]), channel = canonical(axes[at]);
  if (batch.size() > 1 || channel.size() != 1)
    return false;
  int64_t rows = 1, longAxes = -int64_t(batch.size()) - 1;
  for (const IndexMap &axis : axes) {
    rows *= extent(axis);
    longAxes += extent(axis) > 1;
  }
  int64_t groups = extent(m[n].map) / extent(batch), channels = extent(channel);
  if (groups < 1 || channels % groups)
    return false;
  for (Digit &d : batch)
    d.stride *= groups;
  batch.push_back(
      {channel[0].space, channel[0].low * (channels / groups), groups, 1});
  return (channels > groups || longAxes > 1) && rows > channels &&
         canonical(batch) == canonical(m[n].map);
}
/// A reshape makes the rows of x of others, and one behind out takes them apart
/// again.
inline bool isRegrouped(const Match &m, Name x, Name out) {
  auto changesRows = [](Operation *op) {
    return isa<ReshapeOp>(op) && shapeOf(op->getOperand(0)).back() !=
                                     shapeOf(op->getResult(0)).back();
  };
  Value value = m.has(x) ? m[x].value : Value();
  while (value && value.getDefiningOp() && !changesRows(value.getDefiningOp()))
    value = isa<SubtractOp>(value.getDefiningOp())
                ? value.getDefiningOp()->getOperand(0)
                : sourceOf(value);
  if (!value || !value.getDefiningOp() || !m.has(out))
    return false;
  for (value = m[out].value; value.hasOneUse();) {
    Operation *user = *value.getUsers().begin();
    if (user->getNumResults() != 1 || sourceOf(user->getResult(0)) != value)
      return false;
    if (changesRows(user))
      return true;
    value = user->getResult(0);
  }
  return false;
}
/// The op x stands behind the op y.
inline bool isAfter(const Match &m, Name x, Name y) {
  Operation *later = m.has(x) ? m[x].value.getDefiningOp() : nullptr;
  Operation *first = m.has(y) ? m[y].value.getDefiningOp() : nullptr;
  return !m.has(x) ||
         (first && later && first->getBlock() == later->getBlock() &&
          first->isBeforeInBlock(later));
}
/// Products of the same left operand, alike in flags, ranks and whether a bias
/// follows.
inline double siblingsOf(const Match &m, Name n) {
  auto hasBias = [](Operation *op) {
    return op->getNumOperands() > 2 ||
           (op->getResult(0).hasOneUse() &&
            isa<AddOp>(*op->getResult(0).getUsers().begin()));
  };
  auto flag = [](Operation *op) {
    return op->getAttrOfType<BoolAttr>("transpose_a");
  };
  Operation *op = m.has(n) ? m[n].value.getDefiningOp() : nullptr;
  if (!isa_and_nonnull<MatmulOp, LinearOp, DotGeneralOp>(op))
    return NAN;
  double count = 0;
  for (Operation *user : op->getOperand(0).getUsers())
    if (isa<MatmulOp, LinearOp, DotGeneralOp>(user) &&
        user->getOperand(0) == op->getOperand(0) &&
        hasBias(user) == hasBias(op) && flag(user) == flag(op)) {
      ArrayRef<int64_t> a = shapeOf(op->getOperand(1)),
                        b = shapeOf(user->getOperand(1));
      count += a.size() == b.size() && a.size() > 1 &&
               a.drop_back(2) == b.drop_back(2);
    }
  return count;
}
/// The batch norm works along the channels of the convolution.
inline bool normalizesChannels(const Match &m, Name norm, Name convolution) {
  if (!m.has(norm) || !m.has(convolution))
    return true;
  Operation *op = m[norm].value.getDefiningOp();
  std::optional<Axes> at = coordinates(m[norm].map, shapeOf(m[norm].value));
  return at && canonical((*at)[integerOf(op, "dimension", 1)]) ==
                   axisOf(m, convolution, -1);
}
/// The dimensions along which a window moves.
inline SmallVector<int64_t> windowDims(Operation *op) {
  SmallVector<int64_t> dims;
  for (StringRef key : {"depth_dim", "length_dim", "height_dim", "width_dim"})
    if (int64_t dim = integerOf(op, key, -1); dim >= 0)
      dims.push_back(dim);
  return dims.empty() ? SmallVector<int64_t>{1, 2} : dims;
}
/// Of each dimension of the operand of a window the one of the pad before it;
/// empty where more than permutes and casts stands between.
inline SmallVector<int64_t> dimsOfPad(PadOp pad, Operation *window) {
  Value at = window->getOperand(0);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(at).size()));
  while (at != pad.getResult()) {
    Operation *op = at.getDefiningOp();
    SmallVector<int64_t> order = orderOf(op);
    if (order.empty() && !isa_and_nonnull<TypecastOp>(op))
      return {};
    for (int64_t &d : dims)
      d = order.empty() ? d : order[d];
    at = op->getOperand(0);
  }
  return dims;
}
/// What a pad adds could be padding of the op instead.
inline bool padsWindow(const Match &m, Name pad, Name window) {
  if (!m.has(pad) || !m.has(window))
    return true;
  auto op = m[pad].value.getDefiningOp<PadOp>();
  Operation *of = m[window].value.getDefiningOp();
  if (!op || !of)
    return false;
  SmallVector<int64_t> dims = dimsOfPad(op, of), moving = windowDims(of);
  auto mode = of->getAttrOfType<StringAttr>("padding_mode");
  if (dims.empty() || (mode && mode.getValue() != "zeros"))
    return false;
  auto amounts = of->getAttrOfType<DenseI32ArrayAttr>("padding");
  bool bothEnds = amounts && size_t(amounts.size()) == 2 * moving.size();
  // The padding of a pool is at most half of its window.
  int64_t own = integerOf(of, "padding", 0);
  if (amounts && !amounts.empty())
    own = *llvm::max_element(amounts.asArrayRef());
  auto kernel = of->getAttrOfType<DenseI32ArrayAttr>("kernel");
  for (size_t d = 0; d < dims.size(); d++) {
    int64_t front = op.getPadding()[2 * dims[d]],
            behind = op.getPadding()[2 * dims[d] + 1];
    size_t at = llvm::find(moving, int64_t(d)) - moving.begin();
    bool none = front == 0 && behind == 0, moves = at < moving.size();
    int64_t size =
        kernel && moves ? int64_t(kernel[at]) : integerOf(of, "kernel", 0);
    if (front < 0 || behind < 0 || (!none && !moves) ||
        (front != behind && !bothEnds) ||
        (isa<MaxPool2dOp, AvgPool2dOp>(of) && moves &&
         std::max(front, behind) + own > size / 2))
      return false;
  }
  return true;
}
/// Nobody uses the value, through views, in an op of such a name.
inline bool hasNoUser(const Match &m, Name n, StringRef regex) {
  SmallVector<Value> todo;
  if (m.has(n))
    todo.push_back(m[n].value);
  for (size_t i = 0; i < todo.size(); i++)
    for (Operation *user : todo[i].getUsers()) {
      if (llvm::Regex(regex).match(user->getName().getStringRef()))
        return false;
      if (user->getNumResults() == 1 && isViewOf(user->getResult(0), todo[i]))
        todo.push_back(user->getResult(0));
    }
  return true;
}
inline bool isUsedBy(const Match &m, Name n, StringRef regex) {
  return m.has(n) && llvm::any_of(m[n].value.getUsers(), [&](Operation *user) {
           return llvm::Regex(regex).match(user->getName().stripDialect());
         });
}
/// Indexed by axes of the formula only, however it was sliced on the way.
inline bool isAligned(const Match &m, Name n) {
  return !m.has(n) || llvm::all_of(m[n].map, [](const Digit &d) {
    return d.space < PartSpace;
  });
}
/// The value varies along fewer elements than the formula has on one of its
/// axes.
inline bool isRepeated(const Match &m, Name n) {
  return !m.has(n) || llvm::any_of(m[n].axes, [&](const IndexMap &axis) {
    return !within(axis, m[n].map);
  });
}
/// c is this power of the number of elements that the reduction s sums into
/// each of its own.
inline bool isPowerOfCount(const Match &m, Name c, Name s, int over,
                           int under) {
  if (!m.has(c) || !m.has(s))
    return true;
  Operation *op = m[s].value.getDefiningOp();
  std::optional<double> value = constantOf(m[c].value);
  if (!op || op->getNumOperands() != 1 || !value)
    return false;
  double count =
      double(sizeOf(op->getOperand(0))) / double(sizeOf(op->getResult(0)));
  return isNumber(*value, std::pow(count, double(over) / under),
                  elementOf(m[c].value));
}

} // namespace mlir::tt::ttir::fusion
#endif
