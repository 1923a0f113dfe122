// FusionForm.h - how the generated fusion patterns write the fused op.
//
// Each value of the form knows along which axes of the match it varies, a
// dimension each. Values are moved to where an op wants them, results back to
// where the root has them; what does not fit together ends the form, and
// whatever was written is erased again. So is what the verifier of an op
// refuses: the fused op itself decides what it takes.
//
// In the comments of patterns, as in what they are made of, `a | b` is the one
// whose names the match has, `[+ y]` is added where it has y, and `[*|/ y]`
// multiplied or divided as it is there; column(y) is the first column of what
// is one number for each row.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef FUSION_FORM_H
#define FUSION_FORM_H

#include "FusionMatch.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetOperations.h"
#include "llvm/ADT/SmallSet.h"

#include <map>

namespace mlir::tt::ttir::fusion {

/// A value of the form, or one number in all elements; absent, as an optional
/// part of the formula may be; or wrong, which it cannot be written as.
struct Tensor {
  Value value;
  Axes axes;
  std::optional<double> number;
  double factor = 1; ///< by which it has still to be multiplied
  bool wrong = false;
  Tensor() = default;
  Tensor(double x) : number(x), wrong(std::isnan(x)) {}
  explicit operator bool() const { return !wrong && (value || number); }
};

class Form {
public:
  /// It is computed in the widest format of the root and of what these names
  /// stand for, as these were before casts.
  Form(Match &m, PatternRewriter &rewriter, ArrayRef<Name> names)
      : m(m), rewriter(rewriter), builder(m.root),
        element(elementOf(m.root->getResult(0))) {
    for (Name n : names)
      if (m.has(n) && !constantOf(m[n].value))
        element = wider(element, ownType(m[n]));
  }

  Tensor fail(const Twine &why) {
    reason = reason.empty() ? why.str() : reason;
    Tensor out;
    out.wrong = true;
    return out;
  }

  using Way = llvm::function_ref<Tensor()>;
  /// The first that is right, of several ways to write one thing.
  Tensor either(std::initializer_list<Way> ways) {
    Tensor out;
    for (Way way : ways)
      if (Tensor t = way())
        return t;
      else if (t.wrong)
        out = t;
    return out;
  }
  /// The same, of those for which the match has all names that another one is
  /// for.
  Tensor either(
      std::initializer_list<std::pair<Way, std::initializer_list<Name>>> ways) {
    using Present = llvm::SmallSet<unsigned, 8>;
    SmallVector<Present> present, wrong;
    size_t most = 0;
    for (const auto &way : ways) {
      present.emplace_back();
      for (Name n : way.second)
        if (m.has(n))
          present.back().insert(n.id);
      most = std::max<size_t>(most, present.back().size());
    }
    for (size_t count = most + 1; count-- > 0;)
      for (size_t i = 0; i < ways.size(); i++) {
        auto hasMore = [&](const Present &other) {
          return other.size() > count && llvm::set_is_subset(present[i], other);
        };
        if (present[i].size() != count || llvm::any_of(wrong, hasMore))
          continue;
        Tensor t = ways.begin()[i].first();
        if (t)
          return t;
        if (t.wrong)
          wrong.push_back(present[i]);
      }
    return wrong.empty() ? Tensor() : fail("");
  }
  /// x times `by`, or divided by it, as the match does with one of these names;
  /// x where there is nothing of the kind.
  Tensor scaled(Tensor x, Tensor by, ArrayRef<Name> names) {
    return !isThere(by)                     ? x
           : isOperandOf<MultiplyOp>(names) ? multiply(x, by)
           : isOperandOf<DivOp>(names)
               ? divide(x, by)
               : fail("whether it is multiplied or divided is not known");
  }
  /// The same of x plus or minus `by`.
  Tensor shifted(Tensor x, Tensor by, ArrayRef<Name> names) {
    return !isThere(by)                ? x
           : isOperandOf<AddOp>(names) ? add(x, by)
           : isOperandOf<SubtractOp>(names)
               ? subtract(x, by)
               : fail("whether it is added or subtracted is not known");
  }

  /// What a name of the formula stands for, along its axes there.
  Tensor operator()(Name n) {
    if (!m.has(n))
      return {};
    if (std::optional<double> x = constantOf(m[n].value))
      return *x;
    Axes axes = m[n].axes;
    if (m.worked && touches(m[n].map, *m.worked) &&
        llvm::none_of(axes, [&](const IndexMap &axis) {
          return touches(axis, *m.worked);
        }))
      axes.push_back(*m.worked); // which the root has no axis for
    const Read *whole = nullptr; // of those with all its elements that of this
                                 // format, or the first
    SmallVector<Read, 0> all = views(m[n]);
    for (const Read &r : all)
      if (extent(r.map) == sizeOf(r.value) &&
          (!whole || (elementOf(r.value) == element &&
                      elementOf(whole->value) != element)))
        whole = &r;
    if (whole)
      return arrange(whole->value, whole->map, axes, m[n].inProduct ? 2 : 1);
    // The first of the elements along dimensions in which the value is the
    // same.
    std::optional<Axes> at = coordinates(m[n].map, shapeOf(m[n].value));
    SmallVector<int64_t> ends;
    for (size_t d = 0; at && d < at->size(); d++) {
      ends.push_back(extent((*at)[d]));
      if (ends.back() != 1 && ends.back() != shapeOf(m[n].value)[d])
        return fail(Twine("only a part of ") + n.text + " is read");
    }
    if (!at)
      return fail(Twine("how ") + n.text + " is indexed is not known");
    Value part = cut(m[n].value, SmallVector<int64_t>(ends.size(), 0), ends);
    return arrange(part, offset(*at, ends), axes, m[n].inProduct ? 2 : 1);
  }

  // An absent operand makes the result absent.
  Tensor add(Tensor a, Tensor b) {
    if (!a || !b)
      return lacking({a, b});
    if (a.number && b.number)
      return *a.number + *b.number;
    return a.number == 0 ? b : b.number == 0 ? a : elementwise<AddOp>({a, b});
  }
  Tensor subtract(Tensor a, Tensor b) {
    if (!a || !b)
      return lacking({a, b});
    if (a.number && b.number)
      return *a.number - *b.number;
    return b.number == 0 ? a : elementwise<SubtractOp>({a, b});
  }
  Tensor multiply(Tensor a, Tensor b) {
    if (!a || !b)
      return lacking({a, b});
    if (a.number && b.number)
      return *a.number * *b.number;
    if (a.number)
      std::swap(a, b);
    if (!a.value || !b.number)
      return elementwise<MultiplyOp>({a, b});
    a.factor *= *b.number;
    return a;
  }
  Tensor divide(Tensor a, Tensor b) {
    if (!a || !b)
      return lacking({a, b});
    if (b.number && *b.number != 0)
      return multiply(a, 1 / *b.number);
    return elementwise<DivOp>({a, b});
  }
  // x where there is no y.
  Tensor addIf(Tensor x, Tensor y) { return isThere(y) ? add(x, y) : x; }
  Tensor subtractIf(Tensor x, Tensor y) {
    return isThere(y) ? subtract(x, y) : x;
  }
  Tensor multiplyIf(Tensor x, Tensor y) {
    return isThere(y) ? multiply(x, y) : x;
  }
  Tensor divideIf(Tensor x, Tensor y) { return isThere(y) ? divide(x, y) : x; }
  Tensor orElse(Tensor x, Tensor y) { return isThere(x) ? x : y; }

  /// All that it varies along as one dimension, with so many ones before and
  /// behind it.
  Tensor asOneAxis(Tensor t, unsigned before, unsigned after) {
    if (!t.value)
      return t;
    IndexMap all = join(t.axes);
    t.axes.assign(before + 1 + after, IndexMap());
    t.axes[before] = all;
    t.value = reshape(t.value, typeOf(t.axes).getShape());
    return t;
  }
  /// The elements in their order, of this shape.
  Tensor reshaped(Tensor t, ArrayRef<double> shape) {
    if (!t.value)
      return t;
    SmallVector<int64_t> to;
    int64_t size = 1;
    for (double extent : shape) {
      to.push_back(extent >= 1 ? int64_t(extent) : 0);
      size *= to.back();
    }
    std::optional<Axes> axes;
    if (size == sizeOf(t.value))
      axes = coordinates(offset(t.axes, shapeOf(t.value)), to);
    if (!axes)
      return fail("a value has no such shape");
    t.axes.clear();
    for (const IndexMap &axis : *axes)
      t.axes.push_back(canonical(axis));
    t.value = reshape(t.value, to);
    return t;
  }
  /// The first element along an axis along which the value does not vary.
  Tensor first(Tensor t, int dim) {
    if (!t.value)
      return t;
    int64_t at = dim + int64_t(t.axes.size());
    return at >= 0 && !t.axes[at].empty()
               ? fail("a value varies along an axis along which it should not")
               : t;
  }

  /// An elementwise op; a single number becomes a constant beside the others.
  template <typename Op>
  Tensor elementwise(std::initializer_list<Tensor> list,
                     SmallVector<NamedAttribute> attributes = {}) {
    SmallVector<Tensor> args(list);
    Tensor out;
    size_t rank = 0;
    for (Tensor &t : args) {
      if (!t)
        return lacking(list);
      t = multiplied(t);
      rank = std::max(rank, t.axes.size());
    }
    out.axes.resize(rank);
    SmallVector<Value> values;
    for (Tensor &t : args) {
      for (size_t d = 0; d < t.axes.size(); d++) {
        IndexMap &axis = out.axes[d + rank - t.axes.size()];
        if (axis.empty())
          axis = t.axes[d];
        else if (!t.axes[d].empty() && t.axes[d] != axis)
          return fail("operands vary along different axes");
      }
      values.push_back(plain(t, std::max<size_t>(rank, 1)));
    }
    out.value = create<Op>(typeOf(out.axes), values, alike<Op>(attributes));
    return out;
  }

  /// a b, and the bias that is added.
  Tensor product(Tensor a, Tensor b, Tensor bias = {}) {
    if (!a || !b || bias.wrong)
      return lacking({a, b, bias});
    a = multiplied(a);
    b = multiplied(b);
    bias = multiplied(bias);
    if (a.axes.size() < 2 || b.axes.size() < 2)
      return fail("an operand of the product is no matrix");
    size_t ranks[] = {a.axes.size(), b.axes.size()},
           rank = std::max(ranks[0], ranks[1]);
    if (a.axes[ranks[0] - 1] != b.axes[ranks[1] - 2])
      return fail("the operands are summed along different axes");
    Tensor out;
    out.axes.resize(rank);
    for (size_t d = 0; d + 2 < rank; d++)
      for (const Tensor *t : {&a, &b})
        if (d + t->axes.size() >= rank &&
            !t->axes[d + t->axes.size() - rank].empty())
          out.axes[d] = t->axes[d + t->axes.size() - rank];
    for (size_t d = 0; d + 2 < rank; d++)
      for (const Tensor *t : {&a, &b})
        if (d + t->axes.size() >= rank &&
            !t->axes[d + t->axes.size() - rank].empty() &&
            t->axes[d + t->axes.size() - rank] != out.axes[d])
          return fail("the batches of the product are different");
    out.axes[rank - 2] = a.axes[ranks[0] - 2];
    out.axes[rank - 1] = b.axes[ranks[1] - 1];
    SmallVector<Value> operands;
    SmallVector<NamedAttribute> attributes;
    for (auto [key, t] :
         {std::pair("transpose_a", a), std::pair("transpose_b", b)}) {
      Value turned = sourceOfTranspose(t.value);
      operands.push_back(turned ? turned : t.value);
      attributes.push_back(named(key, rewriter.getBoolAttr(bool(turned))));
    }
    if (!carry(attributes))
      return fail("the products have different attributes");
    if (!bias) {
      out.value = create<MatmulOp>(typeOf(out.axes), operands, attributes);
      return out;
    }
    for (size_t d = 0; d < bias.axes.size(); d++)
      if (bias.axes.size() > rank ||
          (!bias.axes[d].empty() &&
           bias.axes[d] != out.axes[d + rank - bias.axes.size()]))
        return fail("the bias varies along other axes than the product");
    operands.push_back(plain(stripped(bias, 1), 1));
    out.value = create<LinearOp>(typeOf(out.axes), operands, attributes);
    return out;
  }

  Tensor transposed(Tensor t) {
    if (!t.value)
      return t;
    while (t.axes.size() < 2)
      t.axes.insert(t.axes.begin(), IndexMap());
    t.value = reshape(t.value, typeOf(t.axes).getShape());
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq<int64_t>(0, t.axes.size()));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return permuted(t, order);
  }

  /// A norm over the axis that the match works along, which becomes the last
  /// one. `rest`: rows of that axis, or absent.
  template <typename Op>
  Tensor norm(Tensor x, std::initializer_list<Tensor> rest,
              SmallVector<NamedAttribute> attributes = {}) {
    if (!x || llvm::any_of(rest, [](const Tensor &t) { return t.wrong; }))
      return x ? fail("") : lacking({x});
    x = workedLast(multiplied(x));
    if (!x.value)
      return x;
    SmallVector<Value> operands{x.value};
    SmallVector<int32_t> segments{1};
    for (Tensor t : rest) {
      segments.push_back(bool(t));
      if (!t)
        continue;
      t = multiplied(t);
      operands.push_back(t.number ? constant(*t.number, {extent(x.axes.back())})
                                  : arrange(t.value,
                                            offset(t.axes, shapeOf(t.value)),
                                            {x.axes.back()}, 1)
                                        .value);
      if (!operands.back() || sizeOf(operands.back()) != extent(x.axes.back()))
        return fail(
            "what the norm is multiplied with varies along another axis");
    }
    attributes.push_back(
        named("normalized_shape",
              rewriter.getDenseI64ArrayAttr({extent(x.axes.back())})));
    attributes.push_back(
        named("operandSegmentSizes", rewriter.getDenseI32ArrayAttr(segments)));
    x.value = create<Op>(x.value.getType(), operands, alike<Op>(attributes));
    return x;
  }

  /// The norm of the match, of these operands. `rest`: as the match has them,
  /// or absent.
  template <typename Op>
  Tensor distributedNorm(Tensor x, std::initializer_list<Tensor> rest,
                         Tensor residual) {
    if (!x || !residual ||
        llvm::any_of(rest, [](const Tensor &t) { return t.wrong; }))
      return x && residual ? fail("") : lacking({x, residual});
    x = ofRank(multiplied(x), m.frame.size());
    residual = ofRank(multiplied(residual), m.frame.size());
    if (x.wrong || residual.wrong || x.axes != residual.axes)
      return fail("the residual varies along other axes than what it is of");
    SmallVector<Value> operands{x.value};
    SmallVector<int32_t> segments{1};
    for (Tensor t : rest) {
      segments.push_back(bool(t));
      if (t)
        operands.push_back(plain(multiplied(t), 1));
    }
    segments.push_back(1);
    operands.push_back(residual.value);
    x.value =
        create<Op>(x.value.getType(), operands,
                   alike<Op>({named("operandSegmentSizes",
                                    rewriter.getDenseI32ArrayAttr(segments))}));
    return x;
  }

  /// Of rank 4 at least, with the channels second or last.
  Tensor groupNorm(Tensor x, Tensor weight, Tensor bias,
                   SmallVector<NamedAttribute> attributes) {
    if (!x.value || weight.wrong || bias.wrong)
      return lacking({x, weight, bias});
    x = ofRank(multiplied(x), m.frame.size());
    if (x.wrong || x.axes.size() < 3)
      return fail("x has no rows of channels");
    int64_t channels = 1;
    for (NamedAttribute one : attributes)
      if (one.getName() == "channel_dim" &&
          mlir::cast<IntegerAttr>(one.getValue()).getInt() < 0)
        channels = -1;
    while (x.axes.size() < 4)
      x.axes.insert(channels < 0 ? x.axes.begin() + 1 : x.axes.end(),
                    IndexMap());
    channels += channels < 0 ? x.axes.size() : 0;
    x.value = reshape(x.value, typeOf(x.axes).getShape());
    SmallVector<NamedAttribute> all{
        named("channel_dim", rewriter.getI64IntegerAttr(channels))};
    for (NamedAttribute one : attributes)
      if (one.getName() != "channel_dim")
        all.push_back(one);
    SmallVector<Value> operands{x.value};
    SmallVector<int32_t> segments{1, 0};
    int64_t count = extent(x.axes[channels]);
    for (Tensor t : {weight, bias}) {
      segments.push_back(bool(t));
      if (!t)
        continue;
      t = multiplied(t);
      operands.push_back(t.number ? constant(*t.number, {count})
                                  : arrange(t.value,
                                            offset(t.axes, shapeOf(t.value)),
                                            {x.axes[channels]}, 1)
                                        .value);
      if (!operands.back() || sizeOf(operands.back()) != count)
        return fail(
            "what the norm is multiplied with varies along another axis");
    }
    all.push_back(
        named("operandSegmentSizes", rewriter.getDenseI32ArrayAttr(segments)));
    x.value = create<GroupNormOp>(x.value.getType(), operands, all);
    return x;
  }

  /// The batch norm itself: of each of `rest`, one number for each channel,
  /// which are the axis of x that the mean varies along.
  Tensor batchNormInference(Tensor x, Tensor scale, Tensor offset, Tensor mean,
                            Tensor variance,
                            SmallVector<NamedAttribute> attributes) {
    if (!x.value || !scale || !offset || !mean.value || !variance)
      return lacking({x, scale, offset, mean, variance});
    x = ofRank(multiplied(x), m.frame.size());
    const IndexMap *channels = llvm::find_if(x.axes, [&](const IndexMap &axis) {
      return !axis.empty() && llvm::is_contained(mean.axes, axis);
    });
    if (x.wrong || channels == x.axes.end())
      return fail("the mean is not one number for each channel");
    SmallVector<Value> operands{x.value};
    for (Tensor t : {scale, offset, mean, variance}) {
      t = multiplied(t);
      operands.push_back(
          t.number ? constant(*t.number, {extent(*channels)})
                   : arrange(t.value, fusion::offset(t.axes, shapeOf(t.value)),
                             {*channels}, 1)
                         .value);
      if (!operands.back() || sizeOf(operands.back()) != extent(*channels))
        return fail("a parameter is not one number for each channel");
    }
    attributes.push_back(named("dimension", rewriter.getI32IntegerAttr(int32_t(
                                                channels - x.axes.begin()))));
    x.value =
        create<BatchNormInferenceOp>(x.value.getType(), operands, attributes);
    return x;
  }

  /// As what it is: (x - mean) / sqrt(variance + epsilon) * scale + offset.
  Tensor batchNorm(Tensor x, Tensor scale, Tensor offset, Tensor mean,
                   Tensor variance) {
    auto norm = llvm::find_if(
        m.ops, [](Operation *op) { return isa<BatchNormInferenceOp>(op); });
    if (norm == m.ops.end())
      return fail("the match has no batch norm");
    Tensor epsilon = settingOf(*norm, "epsilon").value_or(NAN);
    Tensor slope =
        multiply(elementwise<RsqrtOp>({add(variance, epsilon)}), scale);
    return add(multiply(subtract(x, mean), slope), offset);
  }

  Tensor softmax(Tensor x, bool stable) {
    if (!x)
      return lacking({x});
    x = multiplied(x);
    if (!x.value || !m.worked)
      return fail("no axis to normalise along");
    const IndexMap *axis = llvm::find(x.axes, *m.worked);
    if (axis == x.axes.end() || axis->empty())
      return fail("the axis to normalise along is none of x");
    int32_t dim = axis - x.axes.begin();
    x.value = create<SoftmaxOp>(
        x.value.getType(), {x.value},
        {named("dimension", rewriter.getSI32IntegerAttr(dim)),
         named("numericStable", rewriter.getBoolAttr(stable))});
    return x;
  }

  /// Of rank 4: batch, heads, rows, columns.
  Tensor attention(Tensor q, Tensor k, Tensor v, Tensor mask, Tensor sink,
                   std::optional<double> scale) {
    if (!q || !k || !v || mask.wrong || sink.wrong)
      return lacking({q, k, v, mask, sink});
    if (mask.number == 0)
      mask = {};
    if (scale && std::isnan(*scale))
      return {}; // an attribute that the match lacks
    if (scale) {
      scale = *scale * q.factor * k.factor;
      q.factor = k.factor = 1;
    }
    double behind = v.factor;
    v.factor = 1;
    q = multiplied(q);
    k = multiplied(k);
    mask = multiplied(mask);
    sink = multiplied(sink);
    Tensor *all[] = {&q, &k, &v, &mask, &sink};
    for (Tensor *t : all) {
      if (!*t)
        continue;
      if (t->number)
        return fail("the mask or sink is one number");
      *t = ofRank(*t, 4);
      if (t->wrong)
        return *t;
    }
    for (Tensor *t : {&k, &v}) {
      if (t->axes[0].empty())
        *t = broadcast(*t, 0, q.axes[0]);
      // Keys and values have the same heads: all, where one of them has.
      if (k.axes[1] != v.axes[1])
        *t = repeated(*t, 1, q.axes[1]);
      if (t->wrong)
        return *t;
    }
    if (mask && mask.axes[3].empty())
      mask = broadcast(mask, 3, k.axes[2]);
    if (k.axes[2] != v.axes[2] || q.axes[3] != k.axes[3] ||
        k.axes[0] != q.axes[0] || v.axes[0] != q.axes[0] ||
        k.axes[1] != v.axes[1] ||
        (!k.axes[1].empty() && !within(k.axes[1], q.axes[1])) ||
        (mask && ((!mask.axes[2].empty() && mask.axes[2] != q.axes[2]) ||
                  mask.axes[3] != k.axes[2] ||
                  (!mask.axes[1].empty() && mask.axes[1] != q.axes[1]) ||
                  (!mask.axes[0].empty() && mask.axes[0] != q.axes[0]))))
      return fail("queries, keys and values do not fit together");
    if (sink && (sink.axes[1] != q.axes[1] || !sink.axes[0].empty() ||
                 !sink.axes[2].empty() || !sink.axes[3].empty()))
      return fail("the sink is not one number for each head");
    SmallVector<Value> operands{q.value, k.value, v.value};
    for (const Tensor &t : {mask, sink})
      if (t)
        operands.push_back(t.value);
    SmallVector<NamedAttribute> attributes{named(
        "operandSegmentSizes",
        rewriter.getDenseI32ArrayAttr({1, 1, 1, bool(mask), bool(sink)}))};
    if (scale)
      attributes.push_back(
          named("scale", rewriter.getF32FloatAttr(float(*scale))));
    attributes = alike<ScaledDotProductAttentionOp>(attributes);
    if (llvm::none_of(attributes, [](NamedAttribute one) {
          return one.getName() == "is_causal";
        }))
      attributes.push_back(flag("is_causal", false));
    if (extent(q.axes[3]) != extent(v.axes[3]))
      return fail("the heads of queries and values have different sizes");
    q.value = create<ScaledDotProductAttentionOp>(q.value.getType(), operands,
                                                  attributes);
    q.axes[3] = v.axes[3];
    q.factor = behind;
    return guarded(q, mask);
  }

  /// A reduction over the axis that the match works along.
  template <typename Op> Tensor reduce(Tensor x) {
    if (!x)
      return lacking({x});
    x = workedLast(multiplied(x));
    if (!x.value)
      return x;
    int32_t last = int32_t(x.axes.size()) - 1;
    x.axes.back().clear();
    x.value = create<Op>(typeOf(x.axes), {x.value},
                         {named("dim_arg", rewriter.getI32ArrayAttr({last})),
                          named("keep_dim", rewriter.getBoolAttr(true))});
    return x;
  }

  /// Side by side along an axis, without those that are absent.
  Tensor concat(std::initializer_list<Tensor> list, int dim) {
    SmallVector<Tensor> there;
    SmallVector<Value> values;
    SmallVector<IndexMap> parts;
    for (Tensor t : list) {
      if (t.wrong)
        return t;
      if (t)
        there.push_back(multiplied(t));
    }
    if (there.size() < 2)
      return there.empty() ? Tensor() : there.front();
    size_t rank = 0;
    for (const Tensor &t : there)
      rank = std::max(rank, t.axes.size());
    for (Tensor &t : there)
      if (dim < 0 && t.value)
        t = ofRank(t, rank);
    Tensor out = there.front();
    int64_t at = dim + (dim < 0 ? int64_t(out.axes.size()) : 0), size = 0;
    for (const Tensor &t : there) {
      if (!t.value || t.axes.size() != out.axes.size() || at < 0 ||
          at >= int64_t(t.axes.size()))
        return fail("what is put side by side has other dimensions");
      for (size_t d = 0; d < t.axes.size(); d++)
        if (int64_t(d) != at && extent(t.axes[d]) != extent(out.axes[d]))
          return fail("what is put side by side has other dimensions");
      parts.push_back(t.axes[at]);
      size += extent(t.axes[at]);
      values.push_back(t.value);
    }
    out.axes[at] = jointAxis(parts, size);
    out.value = create<ConcatOp>(
        typeOf(out.axes), values,
        {named("dim", rewriter.getSI32IntegerAttr(int32_t(at)))});
    return out;
  }

  /// From the element `begin` to before `end` along an axis. What was put side
  /// by side is taken apart again.
  Tensor slice(Tensor x, int dim, double begin, double end = INFINITY) {
    int64_t at = dim + (dim < 0 ? int64_t(x.axes.size()) : 0);
    if (!x.value || std::isnan(begin) || std::isnan(end))
      return x.wrong ? x : Tensor();
    x = multiplied(x);
    int64_t size = extent(x.axes[at]), from = int64_t(begin),
            to = std::isinf(end) ? size : int64_t(end);
    if (from < 0 || from >= to || to > size)
      return Tensor();
    SmallVector<int64_t> begins(x.axes.size(), 0), ends(shapeOf(x.value));
    begins[at] = from;
    ends[at] = to;
    SmallVector<IndexMap> parts = partsOf(x, x.axes[at], from, to);
    int64_t place = 0;
    for (const Joint &joint : joints)
      if (joint.axis == x.axes[at])
        for (const IndexMap &part : joint.parts) {
          if (place >= from && place + extent(part) <= to)
            parts.push_back(part);
          place += extent(part);
        }
    if (from == 0 && to == size)
      return x;
    x.axes[at] = parts.size() == 1 && extent(parts[0]) == to - from
                     ? parts[0]
                     : jointAxis(parts, to - from);
    x.value = cut(x.value, begins, ends);
    return x;
  }

  /// Between two numbers.
  Tensor clamp(Tensor x, Tensor low, Tensor high) {
    if (!low.number || !high.number)
      return x && low && high ? fail("the bounds are not known")
                              : lacking({x, low, high});
    return elementwise<ClampScalarOp>(
        {x}, {number("min", *low.number), number("max", *high.number)});
  }

  /// x cos + (-x2, x1) sin of the halves of its last axis, as the compiler has
  /// it: a composite and what that is.
  Tensor rotaryEmbedding(Tensor x, Tensor cos, Tensor sin) {
    if (!x || !cos || !sin)
      return lacking({x, cos, sin});
    Tensor *all[] = {&x, &cos, &sin};
    for (Tensor *t : all) {
      *t = ofRank(multiplied(*t), 4);
      if (t->wrong)
        return *t;
      for (size_t d = 0; d < 4; d++)
        if (!t->axes[d].empty() && t->axes[d] != x.axes[d])
          return fail("cos and sin vary along other axes than what is turned");
    }
    for (Operation *op : m.ops)
      if (auto slice = dyn_cast<SliceStaticOp>(op))
        for (Attribute step : slice.getStep())
          if (mlir::cast<IntegerAttr>(step).getInt() != 1)
            return fail("neighbours are turned, and the fused op turns halves");
    Value operands[] = {x.value, cos.value, sin.value};
    func::FuncOp function =
        decomposition("rotary_embedding", operands, [&](ArrayRef<Value> v) {
          SmallVector<int64_t> begin(4, 0), end(shapeOf(v[0])), half = end;
          half[3] /= 2;
          Value low = cut(v[0], begin, half), high;
          begin[3] = half[3];
          high = cut(v[0], begin, end);
          Type part = low.getType(), whole = v[0].getType();
          Value turned =
              create<ConcatOp>(whole, {create<NegOp>(part, {high}, {}), low},
                               {named("dim", rewriter.getSI32IntegerAttr(3))});
          return create<AddOp>(whole,
                               {create<MultiplyOp>(whole, {v[0], v[1]}, {}),
                                create<MultiplyOp>(whole, {turned, v[2]}, {})},
                               {});
        });
    x.value = create(
        "ttcore.composite", x.value.getType(), operands,
        {named("composite_name", rewriter.getStringAttr("rotary_embedding")),
         named("decomposition",
               FlatSymbolRefAttr::get(function.getSymNameAttr()))});
    return x;
  }

  Tensor concatenateHeads(Tensor x) {
    if (!x)
      return lacking({x});
    x = ofRank(multiplied(x), 4);
    if (x.wrong)
      return x;
    Tensor out;
    out.axes = {x.axes[0], x.axes[2], join({x.axes[1], x.axes[3]})};
    out.value = create<ConcatenateHeadsOp>(typeOf(out.axes), {x.value}, {});
    return out;
  }

  /// A convolution with the axes and attributes of that of the match, and the
  /// padding of a pad before it.
  template <typename Op>
  Tensor convolution(Tensor x, Tensor w, Tensor bias = {},
                     ArrayRef<Name> pads = {}) {
    if (!x || !w || bias.wrong)
      return lacking({x, w, bias});
    auto found =
        llvm::find_if(m.ops, [](Operation *op) { return isa<Op>(op); });
    if (found == m.ops.end())
      return fail("the match has no convolution");
    Operation *of = *found;
    ArrayRef<int64_t> shape = shapeOf(of->getResult(0));
    std::optional<Axes> axes = coordinates(m.readOf(of).map, shape);
    x = beforePads(ofRank(multiplied(x), shape.size()), of, pads);
    w = ofRank(multiplied(w), shape.size());
    bias = multiplied(bias);
    if (x.wrong || w.wrong || !axes)
      return fail("how the convolution is indexed is not known");
    SmallVector<Value> operands{x.value, w.value};
    int64_t channels = integerOf(of, "channel_dim", shape.size() - 1);
    Axes row(shape.size());
    row[channels] = (*axes)[channels];
    if (bias.value)
      operands.push_back(arrange(bias.value,
                                 offset(bias.axes, shapeOf(bias.value)), row,
                                 shape.size())
                             .value);
    if (bias.number && bias.number != 0) {
      SmallVector<int64_t> extents(shape.size(), 1);
      extents[channels] = shape[channels];
      operands.push_back(constant(*bias.number, extents));
    }
    if (operands.size() > 2 &&
        (!operands[2] || sizeOf(operands[2]) != shape[channels]))
      return fail("the bias is not one number for each channel");
    Tensor out;
    out.axes = *axes;
    out.value = create<Op>(RankedTensorType::get(shape, element), operands,
                           alike<Op>(padded(of, pads)));
    return out;
  }

  /// An op of the match with these operands, attributes, and the padding of
  /// pads before it.
  template <typename Op>
  Tensor again(std::initializer_list<Tensor> list,
               SmallVector<NamedAttribute> attributes,
               ArrayRef<Name> pads = {}) {
    auto found =
        llvm::find_if(m.ops, [](Operation *op) { return isa<Op>(op); });
    if (found == m.ops.end())
      return fail("the match has no such op");
    Operation *of = *found;
    ArrayRef<int64_t> shape = shapeOf(of->getResult(0));
    std::optional<Axes> axes = coordinates(m.readOf(of).map, shape);
    SmallVector<Value> operands;
    for (Tensor t : list) {
      t = beforePads(ofRank(multiplied(t), shape.size()), of, pads);
      if (t.wrong || !axes)
        return fail("how the op is indexed is not known");
      operands.push_back(t.value);
    }
    llvm::append_range(attributes, padded(of, pads));
    Tensor out;
    out.axes = *axes;
    out.value = create<Op>(RankedTensorType::get(shape, element), operands,
                           alike<Op>(attributes));
    return out;
  }

  /// Each element several times, one behind another, along an axis of the root.
  Tensor repeatInterleave(Tensor x, int dim) {
    x = ofRank(multiplied(x), m.frame.size());
    int64_t at = dim + int64_t(x.axes.size());
    if (x.wrong || at < 0)
      return fail("there is no such axis");
    x = repeated(x, at, canonical(m.frame[at]));
    return x.value && x.value.getDefiningOp<RepeatInterleaveOp>()
               ? x
               : fail("other elements are repeated");
  }

  /// With the activation that one of these names stands for behind it: an op of
  /// one of these classes, or any.
  template <typename... Ops> Tensor activated(Tensor x, ArrayRef<Name> names) {
    for (Name n : names)
      if (Operation *op = m.has(n) ? m[n].value.getDefiningOp() : nullptr;
          op && x.value) {
        if (sizeof...(Ops) && !isa<Ops...>(op))
          return fail("the activation is spelled out");
        x = multiplied(x);
        x.value = create(op->getName().getStringRef(), x.value.getType(),
                         {x.value}, op->getAttrs());
      }
    return x;
  }

  NamedAttribute integer(StringRef key, double x, unsigned bits) {
    unknown |= std::isnan(x);
    return named(key, rewriter.getIntegerAttr(rewriter.getIntegerType(bits),
                                              std::isnan(x) ? 0 : int64_t(x)));
  }
  NamedAttribute flag(StringRef key, bool is) {
    return named(key, rewriter.getBoolAttr(is));
  }
  NamedAttribute number(StringRef key, double x) {
    unknown |= std::isnan(x);
    return named(key, rewriter.getF32FloatAttr(float(x)));
  }
  NamedAttribute named(StringRef key, Attribute value) {
    return rewriter.getNamedAttr(key, value);
  }

  /// Puts a value in the place of a line that ends elsewhere, together with the
  /// root.
  void replace(Name n, Tensor t) {
    if (m.has(n))
      others.push_back({m[n], t});
  }

  /// Puts the result in the place of the root; or erases what was written.
  LogicalResult replaceRoot(Tensor out) {
    Value root = m.root->getResult(0);
    std::optional<Axes> at = coordinates(
        canonical({{RootSpace, 1, sizeOf(root), 1}}), shapeOf(root));
    if (!out)
      out = out.wrong ? out : fail("the fused op was not written");
    out = multiplied(out);
    if (out.value) {
      out = arrange(out.value, offset(out.axes, shapeOf(out.value)), *at,
                    at->size());
      for (size_t d = 0; out.value && d < at->size(); d++)
        if (out.axes[d] != canonical((*at)[d]))
          out = broadcast(out, d, canonical((*at)[d]));
    } else if (out.number) {
      out.value = constant(*out.number, shapeOf(root));
    }
    out.value = cast(out.value, elementOf(root));
    if (out.value && isMatchAgain(out.value.getDefiningOp()))
      out =
          fail("it is as the fused form has it"); // which would go on for ever
    SmallVector<std::pair<Operation *, Value>> more;
    for (auto &[read, t] : others)
      more.push_back({read.value.getDefiningOp(), elsewhere(read, t)});
    bool all = llvm::all_of(more, [&](auto &one) {
      return one.second && m.root->isBeforeInBlock(one.first) &&
             one.second.getType() == one.first->getResult(0).getType();
    });
    if (!all)
      fail("a result that is used elsewhere is not written");
    if (!out.value || unknown || !all || !verifies() ||
        out.value.getType() != root.getType() || !hoist()) {
      for (Operation *op : llvm::reverse(created))
        op->erase();
      return rewriter.notifyMatchFailure(
          m.root, reason.empty() ? "the fused op does not take these operands"
                                 : reason);
    }
    for (auto &[op, value] : more)
      rewriter.replaceOp(op, value);
    rewriter.replaceOp(m.root, out.value);
    SmallVector<Operation *> used;
    for (Operation *op : llvm::reverse(created))
      if (op->use_empty() && op->getNumResults())
        op->erase(); // of an alternative that was not taken
      else
        used.push_back(op);
    for (Operation *op : llvm::reverse(used))
      if (OpBuilder::Listener *listener = rewriter.getListener())
        listener->notifyOperationInserted(op, {});
    return success();
  }

private:
  /// What a permute of the form exchanges the last two dimensions of; or none.
  Value sourceOfTranspose(Value value) {
    auto op = value.getDefiningOp<PermuteOp>();
    if (!op || !llvm::is_contained(created, op))
      return {};
    SmallVector<int64_t> order(op.getPermutation());
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return llvm::is_sorted(order) ? op.getInput() : Value();
  }
  /// Discardable attributes of the products of the match, as
  /// ttcore.weight_dtype; false where they differ.
  bool carry(SmallVector<NamedAttribute> &attributes) {
    DictionaryAttr first;
    for (Operation *op : m.ops)
      if (isa<MatmulOp, LinearOp, DotGeneralOp>(op)) {
        if (first && op->getDiscardableAttrDictionary() != first)
          return false;
        first = op->getDiscardableAttrDictionary();
      }
    if (first)
      llvm::append_range(attributes, first.getValue());
    return true;
  }
  /// The narrowest floating-point format of a value and of what it is a view
  /// of.
  static Type ownType(const Read &read) {
    Type own = elementOf(read.value);
    for (const Read &r : views(read))
      if (Type type = elementOf(r.value);
          isa<FloatType>(type) && wider(own, type) == own)
        own = type;
    return own;
  }
  /// The format that holds all numbers of both; the first one, unless both are
  /// floating-point.
  static Type wider(Type a, Type b) {
    if (!isa<FloatType>(a) || !isa<FloatType>(b) || a == b)
      return a;
    unsigned width[] = {a.getIntOrFloatBitWidth(), b.getIntOrFloatBitWidth()};
    return width[0] == width[1]  ? Type(Float32Type::get(a.getContext()))
           : width[0] > width[1] ? a
                                 : b;
  }
  template <typename Op> bool isOperandOf(ArrayRef<Name> names) const {
    return llvm::any_of(names, [&](Name n) { return m.isOperandOf<Op>(n); });
  }
  static bool isThere(const Tensor &t) { return t || t.wrong; }
  /// Attributes of an op, and those that an op of its class in the match has.
  template <typename Op>
  SmallVector<NamedAttribute> alike(SmallVector<NamedAttribute> attributes) {
    for (Operation *op : m.ops)
      if (isa<Op>(op)) {
        for (NamedAttribute one : op->getAttrs())
          if (llvm::none_of(attributes, [&](NamedAttribute other) {
                return other.getName() == one.getName();
              }))
            attributes.push_back(one);
        break;
      }
    return attributes;
  }

  /// Where the match replaces the probabilities of rows that are masked as a
  /// whole by 0, so is the result replaced.
  Tensor guarded(Tensor out, Tensor mask) {
    bool guards = llvm::any_of(m.ops, [&](Operation *op) {
      auto where = dyn_cast<WhereOp>(op);
      return where &&
             (constantOf(where.getSecond()) == 0 ||
              constantOf(where.getThird()) == 0) &&
             m.ops.contains(opOf(where.getFirst()));
    });
    if (!guards || !mask)
      return out;
    Tensor shut = mask, zero = 0.0;
    shut.axes[3].clear();
    shut.value = create<MaxOp>(typeOf(shut.axes), {mask.value},
                               {named("dim_arg", rewriter.getI32ArrayAttr({3})),
                                named("keep_dim", rewriter.getBoolAttr(true))});
    return elementwise<WhereOp>(
        {elementwise<EqualOp>({shut, -INFINITY}), zero, out});
  }
  /// The op of a value, behind its views.
  static Operation *opOf(Value value) {
    while (Value source = sourceOf(value))
      value = source;
    return value.getDefiningOp();
  }

  /// What a pad took, with its dimensions as those of the window's operand.
  Tensor beforePads(Tensor x, Operation *of, ArrayRef<Name> pads) {
    for (Name n : pads)
      if (auto pad = m.has(n) ? m[n].value.getDefiningOp<PadOp>() : PadOp();
          pad && !x.wrong)
        x = permuted(x, dimsOfPad(pad, of));
    return x;
  }
  /// The padding of a convolution and of a pad before it: before each
  /// dimension, then behind each; in 3D both at once.
  SmallVector<NamedAttribute> padded(Operation *of, ArrayRef<Name> pads) {
    SmallVector<NamedAttribute> out;
    for (Name n : pads) {
      auto pad = m.has(n) ? m[n].value.getDefiningOp<PadOp>() : PadOp();
      if (!pad)
        continue;
      SmallVector<int64_t> dims = windowDims(of), from = dimsOfPad(pad, of);
      SmallVector<int32_t> amounts;
      if (auto list = of->getAttrOfType<DenseI32ArrayAttr>("padding"))
        amounts.assign(list.asArrayRef().begin(), list.asArrayRef().end());
      else
        amounts.assign(1, int32_t(integerOf(of, "padding", 0)));
      bool both = dims.size() == 3;
      if (amounts.size() == 1)
        amounts.assign(dims.size(), amounts[0]);
      if (amounts.size() == dims.size() && !both)
        amounts.append(SmallVector<int32_t>(amounts));
      for (auto [i, dim] : llvm::enumerate(dims)) {
        amounts[i] += pad.getPadding()[2 * from[dim]];
        if (!both)
          amounts[i + dims.size()] += pad.getPadding()[2 * from[dim] + 1];
      }
      out.push_back(named("padding", rewriter.getDenseI32ArrayAttr(amounts)));
    }
    return out;
  }

  /// The axis that a dimension of a read value is.
  static std::optional<IndexMap> axisAt(const std::optional<Read> &read,
                                        int64_t dim) {
    std::optional<Axes> at =
        read ? coordinates(read->map, shapeOf(read->value)) : std::nullopt;
    return at ? std::optional(canonical((*at)[dim])) : std::nullopt;
  }
  /// The same of an operand of a slice or concatenation of the match along this
  /// dimension.
  std::optional<IndexMap> axisOfOperand(Operation *op, Value value,
                                        int64_t dim) {
    const Read &read = m.readOf(op);
    std::optional<Axes> at = coordinates(read.map, shapeOf(read.value));
    return at ? axisAt(resized(m, read, value, *at, {dim}, std::nullopt), dim)
              : std::nullopt;
  }
  /// The axes of the slices of the match that take these elements of an axis of
  /// a value, one behind the other; empty where they do not.
  SmallVector<IndexMap> partsOf(const Tensor &x, const IndexMap &axis,
                                int64_t from, int64_t to) {
    std::map<int64_t, IndexMap> byBegin;
    for (Operation *op : m.ops) {
      SliceBounds bounds = boundsOf(op);
      if (bounds.step != 1.0 || !isViewOf(x.value, op->getOperand(0)))
        continue;
      int64_t dim =
          int64_t(bounds.cut) + int64_t(shapeOf(op->getOperand(0)).size());
      std::optional<IndexMap> part = axisAt(m.readOf(op), dim);
      if (part && axisOfOperand(op, op->getOperand(0), dim) == axis)
        byBegin[int64_t(bounds.begin)] = *part;
    }
    SmallVector<IndexMap> parts;
    while (from < to && byBegin.count(from)) {
      parts.push_back(byBegin[from]);
      from += extent(parts.back());
    }
    return from == to ? parts : SmallVector<IndexMap>();
  }

  /// An axis that several are put side by side to.
  IndexMap jointAxis(ArrayRef<IndexMap> parts, int64_t size) {
    for (const Joint &one : joints)
      if (ArrayRef<IndexMap>(one.parts) == parts && extent(one.axis) == size)
        return one.axis;
    bool equal = llvm::all_of(
        parts, [&](const IndexMap &part) { return part == parts[0]; });
    std::optional<IndexMap> axis =
        equal ? m.axisOfParts(parts[0], size) : std::nullopt;
    if (!axis)
      axis = axisInMatch(parts);
    if (axis)
      return *axis;
    joints.push_back(
        {canonical({{JointSpace + unsigned(joints.size()), 1, size, 1}}),
         SmallVector<IndexMap>(parts)});
    return joints.back().axis;
  }
  /// The axis that the match puts the same side by side to, one part or several
  /// of them at once.
  std::optional<IndexMap> axisInMatch(ArrayRef<IndexMap> parts) {
    SmallVector<IndexMap> single;
    for (const IndexMap &part : parts) {
      auto joint = llvm::find_if(
          joints, [&](const Joint &one) { return one.axis == part; });
      if (joint == joints.end())
        single.push_back(part);
      else
        llvm::append_range(single, joint->parts);
    }
    for (Operation *op : m.ops) {
      auto concat = dyn_cast<ConcatOp>(op);
      if (!concat || concat->getNumOperands() != single.size())
        continue;
      int64_t rank = shapeOf(concat).size(),
              along = concat.getDim() + (concat.getDim() < 0 ? rank : 0);
      bool same = true;
      for (auto [value, part] : llvm::zip(concat.getInputs(), single))
        same = same && axisOfOperand(op, value, along) == part;
      if (same)
        return axisAt(m.readOf(op), along);
    }
    return std::nullopt;
  }
  /// A value as the result of a line that ends elsewhere: its rows are those of
  /// that line, in their order.
  Value elsewhere(const Read &read, Tensor t) {
    t = multiplied(t);
    ArrayRef<int64_t> shape = shapeOf(read.value);
    std::optional<Axes> at = coordinates(read.map, shape);
    bool fits = t.value && at && !t.axes.empty() &&
                t.axes.back() == canonical(at->back()) &&
                sizeOf(t.value) == sizeOf(read.value);
    return fits ? cast(reshape(t.value, shape), elementOf(read.value))
                : Value();
  }
  /// Moves what the form takes before it, where it is made behind the root:
  /// values that depend on nothing there.
  bool hoist() {
    llvm::SetVector<Operation *> moved;
    std::function<bool(Value)> visit = [&](Value value) {
      Operation *op = value.getDefiningOp();
      if (!op || op->getBlock() != m.root->getBlock() ||
          op->isBeforeInBlock(m.root) || moved.contains(op))
        return true;
      if (op == m.root || !isMemoryEffectFree(op) || op->getNumRegions() ||
          !llvm::all_of(op->getOperands(), visit))
        return false;
      moved.insert(op);
      return true;
    };
    for (Operation *op : created)
      if (op->getBlock() == m.root->getBlock() &&
          !llvm::all_of(op->getOperands(), visit)) {
        fail("an operand is made of the result");
        return false;
      }
    for (Operation *op : moved)
      rewriter.moveOpBefore(op, created.front());
    return true;
  }

  /// Of an op without all it needs.
  Tensor lacking(std::initializer_list<Tensor> list) {
    return llvm::any_of(list, [](const Tensor &t) { return t.wrong; })
               ? fail("")
               : Tensor();
  }

  RankedTensorType typeOf(const Axes &axes) {
    SmallVector<int64_t> shape;
    for (const IndexMap &axis : axes)
      shape.push_back(extent(axis));
    return RankedTensorType::get(shape, element);
  }

  template <typename Op>
  Value create(Type type, ArrayRef<Value> operands,
               ArrayRef<NamedAttribute> attributes) {
    return create(Op::getOperationName(), type, operands, attributes);
  }
  Value create(StringRef name, Type type, ArrayRef<Value> operands,
               ArrayRef<NamedAttribute> attributes) {
    if (llvm::is_contained(operands, Value()))
      return {};
    OperationState state(m.loc, name, ValueRange(operands), TypeRange(type),
                         attributes);
    for (Operation *known : created) // none twice
      if (known->getName() == state.name && known->getNumResults() == 1 &&
          known->getResult(0).getType() == type &&
          known->getBlock() == builder.getInsertionBlock() &&
          llvm::equal(known->getOperands(), operands) &&
          known->getAttrDictionary() ==
              state.attributes.getDictionary(rewriter.getContext()))
        return known->getResult(0);
    created.push_back(builder.create(state));
    return created.back()->getResult(0);
  }

  /// The private function that a composite of this name is decomposed to.
  func::FuncOp decomposition(StringRef name, ArrayRef<Value> operands,
                             llvm::function_ref<Value(ArrayRef<Value>)> body) {
    auto module = m.root->getParentOfType<ModuleOp>();
    std::string symbol;
    for (unsigned i = 0; symbol.empty() || module.lookupSymbol(symbol); i++)
      symbol = ("fused_" + name + "_" + Twine(i)).str();
    size_t before = created.size();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(module.getBody());
    auto type = rewriter.getFunctionType(TypeRange(ValueRange(operands)),
                                         operands[0].getType());
    auto function = func::FuncOp::create(builder, m.loc, symbol, type);
    function.setPrivate();
    function->setAttr(utils::kCompositeDecompositionAttr,
                      rewriter.getUnitAttr());
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    SmallVector<Value> arguments(block->getArguments().begin(),
                                 block->getArguments().end());
    func::ReturnOp::create(builder, m.loc, body(arguments));
    created.resize(before);
    created.push_back(function);
    return function;
  }

  /// What makes `of` is nothing but ops that the match has, as large,
  /// constants, and as much movement as the match names.
  bool isMatchAgain(Operation *of) {
    auto isMovement = [](Operation *op) {
      return op->getNumOperands() &&
             isViewOf(op->getResult(0), op->getOperand(0));
    };
    auto isNoCast = [&](Operation *op) {
      return isMovement(op) && !isa<TypecastOp>(op);
    };
    auto names = [&](ArrayRef<Operation *> list) {
      SmallVector<std::pair<StringRef, int64_t>> out;
      for (Operation *op : list)
        if (!isa<FullOp>(op) && !isMovement(op))
          out.push_back(
              {op->getName().getStringRef(), sizeOf(op->getResult(0))});
      llvm::sort(out);
      return out;
    };
    SmallVector<Operation *> used;
    for (Operation *op : created)
      if (op->getNumResults() && (!op->use_empty() || op == of))
        used.push_back(op);
    ArrayRef<Operation *> matched = m.ops.getArrayRef();
    return names(used) == names(matched) &&
           llvm::count_if(used, isNoCast) >= llvm::count_if(matched, isNoCast);
  }

  bool verifies() {
    ScopedDiagnosticHandler quiet(rewriter.getContext(),
                                  [](Diagnostic &) { return success(); });
    return llvm::all_of(created,
                        [](Operation *op) { return succeeded(verify(op)); });
  }

  Value constant(double x, ArrayRef<int64_t> shape) {
    SmallVector<int32_t> dims(shape.begin(), shape.end());
    Attribute fill = isa<FloatType>(element)
                         ? Attribute(rewriter.getF32FloatAttr(float(x)))
                         : Attribute(rewriter.getI32IntegerAttr(int32_t(x)));
    return create<FullOp>(RankedTensorType::get(shape, element), {},
                          {named("shape", rewriter.getDenseI32ArrayAttr(dims)),
                           named("fill_value", fill)});
  }

  Value reshape(Value value, ArrayRef<int64_t> shape) {
    if (value)
      if (auto before = value.getDefiningOp<ReshapeOp>();
          before && llvm::is_contained(created, before))
        value = before.getInput();
    if (!value || shapeOf(value) == shape)
      return value;
    SmallVector<int32_t> dims(shape.begin(), shape.end());
    return create<ReshapeOp>(RankedTensorType::get(shape, elementOf(value)),
                             {value},
                             {named("shape", rewriter.getI32ArrayAttr(dims))});
  }

  Value permute(Value value, ArrayRef<int64_t> order) {
    if (!value || llvm::is_sorted(order))
      return value;
    SmallVector<int64_t> shape;
    for (int64_t d : order)
      shape.push_back(shapeOf(value)[d]);
    return create<PermuteOp>(
        RankedTensorType::get(shape, elementOf(value)), {value},
        {named("permutation", rewriter.getDenseI64ArrayAttr(order))});
  }

  Value cast(Value value, Type to) {
    if (!value || elementOf(value) == to || !isa<FloatType>(to))
      return value; // what is counted in integers is not rounded to them
    return create<TypecastOp>(RankedTensorType::get(shapeOf(value), to),
                              {value}, {});
  }

  Value cut(Value value, ArrayRef<int64_t> begins, ArrayRef<int64_t> ends) {
    SmallVector<int32_t> begin(begins.begin(), begins.end()),
        end(ends.begin(), ends.end()), step(ends.size(), 1);
    SmallVector<int64_t> shape;
    for (auto [from, to] : llvm::zip(begins, ends))
      shape.push_back(to - from);
    return create<SliceStaticOp>(
        RankedTensorType::get(shape, elementOf(value)), {value},
        {named("begins", rewriter.getI32ArrayAttr(begin)),
         named("ends", rewriter.getI32ArrayAttr(end)),
         named("step", rewriter.getI32ArrayAttr(step))});
  }

  /// A value whose elements `map` reads all, with a dimension for each of these
  /// axes; one element where it does not vary. Leading ones are left off, down
  /// to `least` dimensions.
  Tensor arrange(Value value, const IndexMap &map, ArrayRef<IndexMap> axes,
                 size_t least) {
    SmallVector<Digit>
        pieces; // of the axes, in their order, with their strides in the value
    Tensor out;
    for (const IndexMap &axis : axes) {
      std::optional<IndexMap> part = shared(map, axis);
      if (!part)
        return fail("a value varies along a part of an axis");
      llvm::sort(*part, [](const Digit &a, const Digit &b) {
        return a.stride > b.stride;
      });
      IndexMap varies;
      for (const Digit &d : *part) {
        SmallVector<Digit> of; // d, as digits of the value
        for (const Digit &from : canonical(map)) {
          int64_t low = std::max(from.low, d.low),
                  end = std::min(from.low * from.size, d.low * d.size);
          if (from.space == d.space && low < end) {
            if (low % from.low || end % low)
              return fail("a value varies along a part of an axis");
            of.push_back(
                {d.space, low, end / low, from.stride * (low / from.low)});
          }
        }
        llvm::sort(
            of, [](const Digit &a, const Digit &b) { return a.low > b.low; });
        pieces.append(of);
        varies.append(of.begin(), of.end());
      }
      int64_t stride = 1;
      for (Digit &d : llvm::reverse(varies)) {
        d.stride = stride;
        stride *= d.size;
      }
      out.axes.push_back(canonical(varies));
    }
    int64_t count = 1;
    for (const Digit &d : pieces)
      count *= d.size;
    if (!value || count != sizeOf(value))
      return fail("a value varies along more than the axes of the formula");
    SmallVector<int64_t> source = llvm::to_vector(
                             llvm::seq<int64_t>(0, pieces.size())),
                         order(pieces.size()), shape;
    llvm::sort(source, [&](int64_t a, int64_t b) {
      return pieces[a].stride > pieces[b].stride;
    });
    for (auto [at, i] : llvm::enumerate(source)) {
      order[i] = at;
      shape.push_back(pieces[i].size);
    }
    value = cast(value, element);
    out.value =
        llvm::is_sorted(order) ? value : permute(reshape(value, shape), order);
    while (out.axes.size() > least && out.axes.front().empty())
      out.axes.erase(out.axes.begin());
    SmallVector<int64_t> dims;
    for (const IndexMap &axis : out.axes)
      dims.push_back(extent(axis));
    out.value = reshape(out.value, dims);
    return out;
  }

  Tensor stripped(Tensor t, size_t least) {
    return t.value ? arrange(t.value, offset(t.axes, shapeOf(t.value)), t.axes,
                             least)
                   : t;
  }

  /// The value itself; a number as a tensor of so many dimensions.
  Value plain(const Tensor &t, size_t rank) {
    return t.value
               ? t.value
               : constant(t.number.value_or(0), SmallVector<int64_t>(rank, 1));
  }

  /// With the factor that is left.
  Tensor multiplied(Tensor t) {
    if (!t.value || t.factor == 1)
      return t;
    Value number = constant(t.factor, SmallVector<int64_t>(t.axes.size(), 1));
    t.value = create<MultiplyOp>(typeOf(t.axes), {t.value, number}, {});
    t.factor = 1;
    return t;
  }

  Tensor permuted(Tensor t, ArrayRef<int64_t> order) {
    Tensor out;
    out.factor = t.factor;
    for (int64_t d : order)
      out.axes.push_back(t.axes[d]);
    out.value = permute(t.value, order);
    return out;
  }

  /// Ones before the others, or the first dimensions as one.
  Tensor ofRank(Tensor t, size_t rank) {
    if (!t.value)
      return t.wrong ? t : fail("an operand is a number");
    while (t.axes.size() < rank)
      t.axes.insert(t.axes.begin(), IndexMap());
    if (t.axes.size() > rank) {
      size_t n = t.axes.size() - rank + 1;
      IndexMap first = join(ArrayRef<IndexMap>(t.axes).take_front(n));
      t.axes.erase(t.axes.begin(), t.axes.begin() + n);
      t.axes.insert(t.axes.begin(), first);
    }
    t.value = reshape(t.value, typeOf(t.axes).getShape());
    return t;
  }

  Tensor broadcast(Tensor t, size_t dim, const IndexMap &axis) {
    if (!t.value || !t.axes[dim].empty())
      return !t.value ? t : fail("a value varies along a part of an axis");
    SmallVector<int64_t> times(t.axes.size(), 1);
    times[dim] = extent(axis);
    t.axes[dim] = axis;
    t.value = times[dim] == 1
                  ? t.value
                  : create<BroadcastOp>(
                        typeOf(t.axes), {t.value},
                        {named("broadcast_dimensions",
                               rewriter.getDenseI64ArrayAttr(times))});
    return t;
  }

  /// A value with all of an axis of which it has digits: each element several
  /// times, or all of them.
  Tensor repeated(Tensor t, size_t dim, const IndexMap &axis) {
    IndexMap own = t.axes[dim];
    if (own.empty() || own == axis)
      return own.empty() ? broadcast(t, dim, axis) : t;
    int64_t times = extent(axis) / extent(own);
    if (own.size() != 1 || axis.size() != 1 || !within(own, axis) ||
        own[0].size * times != axis[0].size)
      return fail("a value varies along a part of an axis");
    t.axes[dim] = axis;
    SmallVector<int64_t> all(t.axes.size(), 1);
    all[dim] = times;
    if (own[0].low == axis[0].low)
      t.value = create<RepeatOp>(
          typeOf(t.axes), {t.value},
          {named("repeat_dimensions", rewriter.getDenseI64ArrayAttr(all))});
    else if (own[0].low == axis[0].low * times)
      t.value = create<RepeatInterleaveOp>(
          typeOf(t.axes), {t.value},
          {named("repeats", rewriter.getUI32IntegerAttr(times)),
           named("dim", rewriter.getSI32IntegerAttr(dim))});
    else
      return fail("a value varies along a part of an axis");
    return t;
  }

  /// x with the axis that the match works along as its last one.
  Tensor workedLast(Tensor x) {
    if (!x.value || !m.worked)
      return fail("no axis to normalise along");
    for (size_t n = 1; n <= x.axes.size(); n++)
      if (join(ArrayRef<IndexMap>(x.axes).take_back(n)) == *m.worked) {
        x.axes.resize(x.axes.size() - n);
        x.axes.push_back(*m.worked);
        x.value = reshape(x.value, typeOf(x.axes).getShape());
        return x;
      }
    const IndexMap *axis = llvm::find(x.axes, *m.worked);
    if (axis == x.axes.end())
      return fail("the axis to normalise along is none of x");
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq<int64_t>(0, x.axes.size()));
    std::rotate(order.begin() + (axis - x.axes.begin()),
                order.begin() + (axis - x.axes.begin()) + 1, order.end());
    return permuted(x, order);
  }

  Match &m;
  PatternRewriter &rewriter;
  OpBuilder
      builder;  ///< of which the driver knows nothing before the form is right
  Type element; ///< in which the form is computed
  bool unknown = false; ///< a number that is an attribute
  std::string reason;
  SmallVector<Operation *> created;
  struct Joint {
    IndexMap axis;
    SmallVector<IndexMap> parts;
  };
  SmallVector<Joint> joints;
  SmallVector<std::pair<Read, Tensor>> others;
};

/// A pattern that ends at ops of this name.
class FusionPattern : public RewritePattern {
public:
  FusionPattern(StringRef root, MLIRContext *context)
      : RewritePattern(root, /*benefit=*/1, context) {}
};

/// Adds a pattern for each class of ops where it may end.
template <typename Pattern, typename... Roots>
void addFusion(RewritePatternSet &patterns) {
  (patterns.add<Pattern>(Roots::getOperationName(), patterns.getContext()),
   ...);
}

} // namespace mlir::tt::ttir::fusion
#endif
