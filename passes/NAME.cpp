// {name}.cpp - {summary}
//
// Made of the pattern {name} by `fusion-audit patterns pass {name}`.
// SPDX-License-Identifier: Apache-2.0
#include "FusionForm.h"
#include "FusionPatterns.h"

namespace mlir::tt::ttir::fusion {
namespace {

/// The members are the formula, line by line: `a | b` is one or the other, and what commutes matches in either order.
/// What matches is replaced by the last line of this (FusionForm.h says how it is read):
///
///   {fused}
///
class {Name}FusionPattern : public RewritePattern {
{members}

public:
  {Name}FusionPattern(StringRef root, MLIRContext *context) : RewritePattern(root, /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    Match match(op);
    {while} (match.next({what})) {
{conditions}
      Form form(match, rewriter);
{variables}
      return form.replaceRoot({result});
    }
    return rewriter.notifyMatchFailure(op, match.why());
  }
};

} // namespace

void populate{Name}Patterns(RewritePatternSet &patterns) {
  patterns.add<{Name}FusionPattern>({op}::getOperationName(), patterns.getContext());
}

} // namespace mlir::tt::ttir::fusion
