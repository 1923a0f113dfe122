// FusionPatterns.h - what adds the fusion patterns to a set of patterns.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef FUSION_PATTERNS_H
#define FUSION_PATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::tt::ttir::fusion {

{declaration}

/// All of these.
void populateAllPatterns(RewritePatternSet &patterns);

} // namespace mlir::tt::ttir::fusion
#endif
