//===- LowerKernels.cpp - Another pass of mini-opt ------------------------===//
//
// A compiler that makes kernels of its own, and lets layout-verify compare each
// with the operation that it implements.
//
//===----------------------------------------------------------------------===//

#include "LowerKernels.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {

struct LowerKernels : PassWrapper<LowerKernels, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerKernels)

  StringRef getArgument() const override { return "mini-lower-kernels"; }
  StringRef getDescription() const override {
    return "Lower operations on whole buffers to loops";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<scf::SCFDialect>();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::LinalgLoops> loops =
          linalg::linalgOpToLoops(rewriter, op);
      if (failed(loops))
        return signalPassFailure();
      // The kernel implements this operation: its number says so. Nothing has
      // numbers where nothing is verified.
      if (Attribute origins = op->getAttr("layout.origins"))
        for (Operation *loop : *loops)
          loop->setAttr("layout.origins", origins);
      rewriter.eraseOp(op);
    }
  }
};

} // namespace

std::unique_ptr<Pass> mini::createLowerKernels() {
  return std::make_unique<LowerKernels>();
}
