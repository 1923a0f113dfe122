// {name}.cpp - {summary}
//
// Made of the pattern {name} by `fusion-audit patterns pass {name}`.
#include "FusionForm.h"

namespace mlir::tt::ttir::fusion {
namespace {

/// The formula, line by line; `out` becomes
///
///   {fused}
///
class {Name}Fusion : public RewritePattern {
{members}

public:
  {Name}Fusion(StringRef root, MLIRContext *context) : RewritePattern(root, 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    Match match(op);
    while (match.next({what})) {
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
  patterns.add<{Name}Fusion>({op}::getOperationName(), patterns.getContext());
}

} // namespace mlir::tt::ttir::fusion
