{title}
// SPDX-License-Identifier: Apache-2.0
#include "FusionForm.h"
#include "FusionPatterns.h"

namespace mlir::tt::ttir::fusion {
namespace {

/// The members are the formula, line by line: `a | b` is one or the other, and
/// what commutes matches in either order. What matches is replaced by the last
/// line of this (FusionForm.h says how it is read):
///
{fused}
///
/// Left out: {left}.
{class}
{members}

public:
  using FusionPattern::FusionPattern;

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    Match match(op);
{search}
{conditions}
      // It is computed in the widest format of these, casts taken off.
{form}
{variables}
{replace}
    }
    return rewriter.notifyMatchFailure(op, match.why());
  }
};

} // namespace

{populate}
{add}
}

} // namespace mlir::tt::ttir::fusion
