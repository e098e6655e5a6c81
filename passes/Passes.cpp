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
#include "llvm/ADT/StringExtras.h"
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

void append(MlirStringRef text, void *string) {
  *static_cast<std::string *>(string) += unwrap(text);
}

struct LowerMemrefs : layout::impl::LayoutLowerMemrefsBase<LowerMemrefs> {
  using LayoutLowerMemrefsBase::LayoutLowerMemrefsBase;

  /// The options as Rust takes them.
  LayoutOptions options() const {
    return {static_cast<int32_t>(form.getValue()),
            static_cast<int32_t>(vectorize.getValue()),
            static_cast<int32_t>(parallel.getValue()),
            vectorBits,
            vectorRegisters,
            reassociate,
            contract,
            cacheBytes};
  }

  /// The options as MLIR holds them, which it keeps to itself; an option knows
  /// whose it is.
  const detail::PassOptions &ownOptions() const {
    llvm::cl::SubCommand *owner = *form.Subs.begin();
    return *(const detail::PassOptions *)owner; // A base that is protected.
  }

  LogicalResult
  initializeOptions(StringRef text,
                    function_ref<LogicalResult(const Twine &)> error) override {
    // Of a value that an option does not take MLIR says so on standard error
    // and nothing here.
    auto explained = [&](const Twine &message) {
      std::string reason = message.str();
      return error(reason.empty() ? explain(text) : reason);
    };
    if (failed(Base::initializeOptions(text, explained)))
      return failure();
    std::string wrong;
    if (layout_rs_check_options(options(), append, &wrong))
      return success();
    return error(wrong);
  }

  void runOnOperation() override {
    if (!layout_rs_lower_memrefs(wrap(getOperation().getOperation()),
                                 options()))
      signalPassFailure();
  }

private:
  /// What is right where an option has a value that it does not take.
  std::string explain(StringRef text) {
    std::string reason;
    auto look = [&](StringRef word, StringRef option,
                    llvm::cl::generic_parser_base &values) {
      auto [name, value] = word.split('=');
      unsigned count = values.getNumOptions();
      if (name != option || values.findOption(value.trim("{}'\"")) != count)
        return false;
      SmallVector<StringRef> known;
      for (unsigned i = 0; i < count; ++i)
        known.push_back(values.getOption(i));
      reason = (name + " is one of " + llvm::join(known, ", ")).str();
      return true;
    };
    for (StringRef word : llvm::split(text, ' '))
      if (look(word, form.ArgStr, form.getParser()) ||
          look(word, vectorize.ArgStr, vectorize.getParser()) ||
          look(word, parallel.ArgStr, parallel.getParser()))
        return reason;
    return ("cannot read the options `" + text + "`").str();
  }
};

struct PrepareBufferization
    : layout::impl::LayoutPrepareBufferizationBase<PrepareBufferization> {
  void runOnOperation() override {
    if (!layout_rs_prepare_bufferization(wrap(getOperation().getOperation())))
      signalPassFailure();
  }
};

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

/// The passes of a pipeline, added to a manager.
LogicalResult add(OpPassManager &manager, StringRef name,
                  const LayoutOptions &options, raw_ostream &errors) {
  std::string passes;
  if (layout_rs_pipeline(wrap(name), options, append, &passes))
    return parsePassPipeline(passes, manager, errors);
  errors << passes << "\n";
  return failure();
}

void registerPipeline(MlirStringRef name, MlirStringRef summary) {
  auto build = [name = unwrap(name).str()](
                   OpPassManager &manager, StringRef text,
                   function_ref<LogicalResult(const Twine &)> error) {
    LowerMemrefs lowering;
    if (failed(lowering.initializeOptions(text, error)))
      return failure();
    std::string message;
    llvm::raw_string_ostream errors(message);
    if (succeeded(add(manager, name, lowering.options(), errors)))
      return success();
    return error(StringRef(message).rtrim());
  };
  // The options are those of the pass that every pipeline has.
  registerPassPipeline(
      unwrap(name), unwrap(summary), build,
      [](function_ref<void(const detail::PassOptions &)> show) {
        show(LowerMemrefs().ownOptions());
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
  return add(manager, name, LowerMemrefs(options).options(), errors);
}
