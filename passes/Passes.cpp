//===- Passes.cpp - Passes over the layout dialect ------------------------===//
//
// The shells of the passes: options in, one call into Rust, success out. And
// the pipelines, whose lists of passes Rust writes.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "dialect/Glue.h"
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
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include <mutex>

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
#include "Passes.h.inc"
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

/// The passes of a pipeline, added to a manager.
LogicalResult add(OpPassManager &manager, StringRef name, layout::Form form,
                  raw_ostream &errors) {
  std::string passes;
  if (layout_rs_pipeline(wrap(name), static_cast<int>(form), append, &passes))
    return parsePassPipeline(passes, manager, errors);
  errors << passes << "\n";
  return failure();
}

void registerPipeline(MlirStringRef name, MlirStringRef summary) {
  auto build = [name = unwrap(name).str()](
                   OpPassManager &manager, StringRef text,
                   function_ref<LogicalResult(const Twine &)> error) {
    PipelineOptions options;
    std::string message;
    llvm::raw_string_ostream errors(message);
    if (succeeded(options.parseFromString(text, errors)) &&
        succeeded(add(manager, name, options.form, errors)))
      return success();
    return error(StringRef(message).rtrim());
  };
  registerPassPipeline(
      unwrap(name), unwrap(summary), build,
      [](function_ref<void(const detail::PassOptions &)> show) {
        show(PipelineOptions());
      });
}

bool registerOnce(raw_ostream &errors) {
  // Another pass of a name that is taken is fatal in MLIR, and so is one whose
  // dialect is another copy's.
  StringRef name = layout::createLayoutLowerMemrefs()->getArgument();
  if (PassInfo::lookup(name)) {
    errors << "error: the passes of the layout dialect are registered already, "
              "from another file than "
           << layout::libraryOf(reinterpret_cast<const void *>(&registerOnce))
           << ", whose are left out. A process has one copy of them: load the "
              "plugin that is installed beside libLayout.so and shares it\n";
    return false;
  }
  // Pipelines are text, and find upstream's passes by name.
  if (!PassInfo::lookup("one-shot-bufferize"))
    registerAllPasses();
  layout::registerLayoutPasses();
  layout_rs_pipelines(registerPipeline);
  return true;
}

} // namespace

bool layout::registerLayoutPassesAndPipelines(raw_ostream &errors) {
  static std::once_flag once;
  static bool registered;
  std::call_once(once, [&] { registered = registerOnce(errors); });
  return registered;
}

LogicalResult layout::buildLayoutPipeline(OpPassManager &manager,
                                          StringRef name,
                                          const LayoutPipelineOptions &options,
                                          raw_ostream &errors) {
  if (!registerLayoutPassesAndPipelines(errors))
    return failure();
  return add(manager, name, options.form, errors);
}
