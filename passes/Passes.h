//===- Passes.h - Passes over the layout dialect --------------------------===//
//
// For C++ that runs the passes: their constructors, the pipelines, and their
// registration; and the analysis of what an operation reads, without a pass.
//
//   manager.addPass(layout::createLayoutLowerMemrefs(
//       {/*form=*/layout::Form::physical}));
//   if (failed(layout::buildLayoutToMemref(manager)))
//     return failure();
//
// The pipelines use upstream's passes and its models of how dialects are
// bufferized: the context's registry needs mlir::registerAllDialects and
// mlir::registerAllExtensions, or those of the dialects in use.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PASSES_PASSES_H
#define LAYOUT_PASSES_PASSES_H

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

// The enums of options: Form, Target, Parallel, PlanMachine, PlanEntry.
#include "Choices.h.inc"

namespace mlir {
// In mlir/Transforms/DialectConversion.h.
class TypeConverter;
} // namespace mlir

namespace layout {

// In layout/Layout.h.
class IndexingMapAttr;

#define GEN_PASS_DECL
#include "Passes.h.inc"

/// Which way an indexing map goes.
enum class Direction {
  /// From an index of the result to the elements of the operand it is made of.
  reads,
  /// From an index of the operand to the elements of the result that use it.
  feeds,
};

/// Appends the indexing maps between a result and an operand of an operation on
/// tensors. The answer is the union of their points: no map where nothing is
/// related, UNDEFINED where no finite map holds the relation. Needs no pass and
/// changes nothing; loads the dialect.
mlir::LogicalResult
indexingOf(mlir::Operation *op, Direction direction, int64_t result,
           int64_t operand, llvm::SmallVectorImpl<IndexingMapAttr> &maps,
           llvm::function_ref<mlir::InFlightDiagnostic()> emitError = nullptr);

/// Registers the passes and the pipelines by name, and upstream's passes, of
/// which pipelines are made; again does nothing. MLIR's table of passes is not
/// to be changed while another thread looks a pass up, so this comes first.
/// False where another copy of this library registered them before, which is
/// left in charge; the reason goes to `errors`.
bool registerLayoutPassesAndPipelines(llvm::raw_ostream &errors = llvm::errs());

/// The options of the pipelines, which are those of layout-lower-memrefs.
using LayoutPipelineOptions = LayoutLowerMemrefsOptions;

/// Adds the passes of the pipeline `name`, such as layout-to-memref, to a
/// manager of modules. Registers what is not registered yet.
mlir::LogicalResult
buildLayoutPipeline(mlir::OpPassManager &manager, llvm::StringRef name,
                    const LayoutPipelineOptions &options = {},
                    llvm::raw_ostream &errors = llvm::errs());

/// The same after layout-plan, with its options.
mlir::LogicalResult
buildLayoutPipeline(mlir::OpPassManager &manager, llvm::StringRef name,
                    const LayoutPipelineOptions &options,
                    const LayoutPlanOptions &plan,
                    llvm::raw_ostream &errors = llvm::errs());

/// Lets a dialect conversion turn memrefs with a tiled layout into the memrefs
/// that layout-lower-memrefs makes of them. With `Form::physical` the index of
/// an element is that of `TiledAttr::getAffineMap`. A layout that cannot be
/// lowered is a diagnostic, and the conversion fails. Other types are left to
/// conversions that were added before.
void populateLayoutTypeConversions(mlir::TypeConverter &converter,
                                   Form form = Form::strided);

/// From tensors and memrefs with layouts to plain memrefs.
inline mlir::LogicalResult
buildLayoutToMemref(mlir::OpPassManager &manager,
                    const LayoutPipelineOptions &options = {}) {
  return buildLayoutPipeline(manager, "layout-to-memref", options);
}

/// From tensors and memrefs with layouts to the LLVM dialect.
inline mlir::LogicalResult
buildLayoutToLLVM(mlir::OpPassManager &manager,
                  const LayoutPipelineOptions &options = {}) {
  return buildLayoutPipeline(manager, "layout-to-llvm", options);
}

} // namespace layout

#endif // LAYOUT_PASSES_PASSES_H
