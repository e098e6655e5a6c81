//===- Place.cpp - A pass of mini-opt -------------------------------------===//
//
// What a compiler's own pass does with layouts: makes them from text, computes
// where elements are, and writes types and conversions with them.
//
//===----------------------------------------------------------------------===//

#include "Place.h"

#include "layout/Layout.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace {

struct Place : PassWrapper<Place, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Place)

  Place() = default;
  Place(const Place &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "mini-place"; }
  StringRef getDescription() const override {
    return "Bring left operands of matrix products into tiles";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    layout::registerLayoutDialect(registry);
  }

  void runOnOperation() override {
    WalkResult walked = getOperation()->walk([&](linalg::MatmulOp op) {
      return failed(place(op)) ? WalkResult::interrupt()
                               : WalkResult::advance();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult place(linalg::MatmulOp op) {
    OpOperand &operand = op->getOpOperand(0);
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || type.getEncoding() || !type.hasStaticShape())
      return success();
    auto emitError = [&] { return op.emitError(); };

    // The text may be anything XLA writes; what is wrong in it is an error
    // here.
    auto tiled = layout::TiledAttr::getChecked(emitError, &getContext(),
                                               StringRef(tiles));
    if (!tiled)
      return failure();

    SmallVector<int64_t> last(type.getShape());
    for (int64_t &index : last)
      --index;
    FailureOr<int64_t> offset =
        tiled.offsetOf(type.getShape(), last, emitError);
    auto sizes = tiled.expandedSizes(type.getShape(), emitError);
    auto strides = tiled.expandedStrides(type.getShape(), emitError);
    if (failed(offset) || failed(sizes) || failed(strides))
      return failure();
    InFlightDiagnostic remark = op.emitRemark() << "sizes ";
    llvm::interleave(*sizes, remark, "x");
    remark << ", strides ";
    llvm::interleave(*strides, remark, ", ");
    remark << ", last element at " << *offset;

    OpBuilder builder(op);
    auto placed =
        RankedTensorType::get(type.getShape(), type.getElementType(), tiled);
    // The layout is chosen, so lowering keeps it.
    operand.set(layout::ConvertOp::create(builder, op.getLoc(), placed,
                                          operand.get(), /*keep=*/true));
    return success();
  }

  Option<std::string> tiles{*this, "tiles",
                            llvm::cl::desc("The layout, as XLA writes it"),
                            llvm::cl::init("{1,0:T(2,2)}")};
};

} // namespace

std::unique_ptr<Pass> mini::createPlace() { return std::make_unique<Place>(); }
