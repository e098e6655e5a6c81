//===- Passes.cpp - Passes over the layout dialect ------------------------===//
//
// The shells of the passes: options in, one call into Rust, success out. And
// the pipelines, whose lists of passes Rust writes.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "dialect/Layout.h"
#include "passes/Glue.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace layout {
#define GEN_PASS_DEF_LAYOUTDEALLOCATE
#define GEN_PASS_DEF_LAYOUTEXPANDCLONES
#define GEN_PASS_DEF_LAYOUTINDEXINGANALYSIS
#define GEN_PASS_DEF_LAYOUTLOWERMEMREFS
#define GEN_PASS_DEF_LAYOUTPREPAREBUFFERIZATION
#define GEN_PASS_DEF_LAYOUTSIMPLIFYINDEXING
#define GEN_PASS_DEF_LAYOUTSTRIPMEMORYSPACES
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
} // namespace layout

namespace {

struct LowerMemrefs : layout::impl::LayoutLowerMemrefsBase<LowerMemrefs> {
  using LayoutLowerMemrefsBase::LayoutLowerMemrefsBase;
  void runOnOperation() override {
    if (!layout_rs_lower_memrefs(wrap(getOperation().getOperation()),
                                 static_cast<int>(form.getValue())))
      signalPassFailure();
  }
};

struct PrepareBufferization
    : layout::impl::LayoutPrepareBufferizationBase<PrepareBufferization> {
  void runOnOperation() override {
    if (!layout_rs_prepare_bufferization(wrap(getOperation().getOperation())))
      signalPassFailure();
  }
};

void append(MlirStringRef text, void *string) {
  *static_cast<std::string *>(string) += unwrap(text);
}

struct Deallocate : layout::impl::LayoutDeallocateBase<Deallocate> {
  void runOnOperation() override {
    MlirOperation function = wrap(getOperation().getOperation());
    std::string passes;
    if (!layout_rs_deallocation(function, append, &passes))
      return signalPassFailure();
    if (passes.empty())
      return;
    OpPassManager manager(getOperation()->getName());
    if (failed(parsePassPipeline(passes, manager)) ||
        failed(runPipeline(manager, getOperation())) ||
        !layout_rs_unmark_deallocation(function))
      signalPassFailure();
  }
};

struct ExpandClones : layout::impl::LayoutExpandClonesBase<ExpandClones> {
  void runOnOperation() override {
    if (!layout_rs_expand_clones(wrap(getOperation().getOperation())))
      signalPassFailure();
  }
};

struct SimplifyIndexing
    : layout::impl::LayoutSimplifyIndexingBase<SimplifyIndexing> {
  void runOnOperation() override {
    if (!layout_rs_simplify_indexing(wrap(getOperation())))
      signalPassFailure();
  }
};

struct IndexingAnalysis
    : layout::impl::LayoutIndexingAnalysisBase<IndexingAnalysis> {
  using LayoutIndexingAnalysisBase::LayoutIndexingAnalysisBase;
  void runOnOperation() override {
    if (!layout_rs_indexing_analysis(wrap(getOperation()), report))
      signalPassFailure();
  }
};

struct StripMemorySpaces
    : layout::impl::LayoutStripMemorySpacesBase<StripMemorySpaces> {
  void runOnOperation() override {
    if (!layout_rs_strip_memory_spaces(wrap(getOperation().getOperation())))
      signalPassFailure();
  }
};

struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<layout::Form> form{
      *this, "form", llvm::cl::desc("What a tiled memref becomes"),
      llvm::cl::init(layout::Form::strided),
      llvm::cl::values(
          clEnumValN(layout::Form::strided, "strided",
                     "parts in logical order, with the strides of the layout"),
          clEnumValN(layout::Form::physical, "physical",
                     "parts in memory order, without strides"))};
};

void registerPipeline(MlirStringRef name, MlirStringRef summary) {
  auto build =
      [name = unwrap(name).str()](OpPassManager &manager, StringRef text,
                                  function_ref<LogicalResult(const Twine &)>) {
        PipelineOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        std::string passes;
        layout_rs_pipeline(wrap(StringRef(name)),
                           static_cast<int>(options.form.getValue()), append,
                           &passes);
        return parsePassPipeline(passes, manager);
      };
  registerPassPipeline(
      unwrap(name), unwrap(summary), build,
      [](function_ref<void(const detail::PassOptions &)> show) {
        show(PipelineOptions());
      });
}

} // namespace

void layout::registerLayoutPassesAndPipelines() {
  registerLayoutPasses();
  layout_rs_pipelines(registerPipeline);
}
