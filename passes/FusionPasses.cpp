// FusionPasses.cpp - a pass for each pattern, and `fuse-all` with all of them.
//
// SPDX-License-Identifier: Apache-2.0
#include "FusionPatterns.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tt::ttir::fusion {

void populateAllPatterns(RewritePatternSet &patterns) {
  populate{Name}Patterns(patterns);
}

namespace {
using Populate = void (*)(RewritePatternSet &);

class FusionPass : public PassWrapper<FusionPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FusionPass)

  FusionPass(StringRef argument, Populate populate)
      : argument(argument), populate(populate) {}

  StringRef getArgument() const override { return argument; }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populate(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      getOperation().emitError("the fusions do not converge");
      signalPassFailure();
    }
  }

private:
  StringRef argument;
  Populate populate;
};

template <Populate populate> void registerFusion(const char *argument) {
  registerPass([=]() -> std::unique_ptr<Pass> {
    return std::make_unique<FusionPass>(argument, populate);
  });
}
} // namespace

void registerFusionPasses() {
  registerFusion<populateAllPatterns>("fuse-all");
{registration}
}

} // namespace mlir::tt::ttir::fusion

extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Fusions", "1",
          mlir::tt::ttir::fusion::registerFusionPasses};
}
