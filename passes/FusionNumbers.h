// FusionNumbers.h - numbers of attributes and types, which no dialect is asked
// for: what patterns in C++ and in PDLL share.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef FUSION_NUMBERS_H
#define FUSION_NUMBERS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cmath>
#include <optional>

namespace mlir::tt::ttir::fusion {

/// The number that an attribute is; of several the one that all of them are.
inline std::optional<double> numberOf(Attribute a) {
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(a))
    a = dense.isSplat() ? dense.getSplatValue<Attribute>() : Attribute();
  if (auto x = dyn_cast_or_null<FloatAttr>(a))
    return x.getValueAsDouble();
  if (auto x = dyn_cast_or_null<BoolAttr>(a))
    return x.getValue();
  if (auto x = dyn_cast_or_null<IntegerAttr>(a))
    return double(x.getValue().getSExtValue());
  if (auto x = dyn_cast_or_null<DenseI32ArrayAttr>(a))
    if (!x.empty() && llvm::all_equal(x.asArrayRef()))
      return x[0];
  return std::nullopt;
}

/// Up to the rounding of the format, or five digits where that is finer.
inline bool isNumber(double actual, double expected, Type format) {
  double tolerance = format.isBF16()  ? 1.0 / 256
                     : format.isF16() ? 1.0 / 2048
                                      : 1e-5;
  return actual == expected ||
         (std::isfinite(expected) &&
          std::fabs(actual - expected) <= tolerance * std::fabs(expected));
}

/// A number for an element type, below 0 for floating point.
inline double elementTypeOf(Type type) {
  return type.isF64()           ? -1
         : type.isF32()         ? -2
         : type.isF16()         ? -3
         : type.isBF16()        ? -4
         : isa<FloatType>(type) ? -9
                                : 1.0 + type.getIntOrFloatBitWidth();
}

} // namespace mlir::tt::ttir::fusion
#endif
