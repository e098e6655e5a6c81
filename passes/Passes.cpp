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
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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

using namespace mlir;

namespace layout {
#define GEN_PASS_DEF_LAYOUTDEALLOCATE
#define GEN_PASS_DEF_LAYOUTEXPANDCLONES
#define GEN_PASS_DEF_LAYOUTINDEXINGANALYSIS
#define GEN_PASS_DEF_LAYOUTLOWERMEMREFS
#define GEN_PASS_DEF_LAYOUTMASKASINTEGERS
#define GEN_PASS_DEF_LAYOUTPREPAREBUFFERIZATION
#define GEN_PASS_DEF_LAYOUTSIMPLIFYINDEXING
#define GEN_PASS_DEF_LAYOUTSTRIPMEMORYSPACES
#define GEN_PASS_DEF_LAYOUTVERIFYLLVM
#define GEN_PASS_REGISTRATION
#include "Passes.h.inc"
} // namespace layout

namespace {

void append(MlirStringRef text, void *string) {
  *static_cast<std::string *>(string) += unwrap(text);
}

/// What an option takes, where that is not this value; else empty.
std::string takes(StringRef value, llvm::cl::generic_parser_base &names) {
  unsigned count = names.getNumOptions();
  if (names.findOption(value) != count)
    return "";
  SmallVector<StringRef> known;
  for (unsigned i = 0; i < count; ++i)
    known.push_back(names.getOption(i));
  return "one of " + llvm::join(known, ", ");
}

std::string takes(StringRef value, llvm::cl::parser<bool> &) {
  static const StringRef known[] = {"",      "true",  "TRUE",  "True", "1",
                                    "false", "FALSE", "False", "0"};
  return llvm::is_contained(known, value) ? "" : "true or false";
}

template <typename Number>
std::string takes(StringRef value, llvm::cl::basic_parser<Number> &) {
  Number number;
  return value.getAsInteger(0, number) ? "a number" : "";
}

/// What is wrong with the first word of `text` that is none of these options,
/// or gives one a value that it does not take; empty where nothing is.
template <typename... Options>
std::string firstWrong(StringRef text, Options &...options) {
  for (StringRef word : llvm::split(text, ' ')) {
    auto [name, value] = word.split('=');
    std::string known, expected;
    bool found = name.empty();
    auto look = [&, name = name, value = value](auto &option) {
      known += (known.empty() ? "" : ",") + option.ArgStr.str();
      if (option.ArgStr != name)
        return;
      found = true;
      expected = takes(value.trim("{}'\""), option.getParser());
    };
    (look(options), ...);
    if (!expected.empty())
      return (name + " is " + expected).str();
    if (found)
      continue;
    std::string message;
    layout_rs_unknown_option(wrap(name), wrap(StringRef(known)), append,
                             &message);
    return message;
  }
  return "";
}

/// What all passes here have in common; `Generated` is what TableGen makes.
template <typename Generated> struct Own : Generated {
  using Generated::Generated;

  /// To another copy's attributes a pass is blind.
  LogicalResult initialize(MLIRContext *context) override {
    std::string other = layout::anotherCopy(context->getLoadedDialect(
        layout::LayoutDialect::getDialectNamespace()));
    if (other.empty())
      return success();
    return emitError(UnknownLoc::get(context))
           << "the layout dialect is that of " << other << " and the pass "
           << this->getArgument() << " that of " << layout::thisLibrary()
           << ". " << layout::oneCopy;
  }

  LogicalResult
  initializeOptions(StringRef text,
                    function_ref<LogicalResult(const Twine &)> error) override {
    // MLIR reports a value that an option does not take on standard error only.
    std::string wrong = wrongOption(text);
    return wrong.empty() ? Generated::initializeOptions(text, error)
                         : error(wrong);
  }

private:
  /// What is wrong with the text of options; empty where nothing is, and for a
  /// pass that has none.
  virtual std::string wrongOption(StringRef text) { return ""; }
};

struct LowerMemrefs : Own<layout::impl::LayoutLowerMemrefsBase<LowerMemrefs>> {
  using Own::Own;

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
    if (failed(Own::initializeOptions(text, error)))
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
  std::string wrongOption(StringRef text) override {
    return firstWrong(text, form, vectorize, parallel, vectorBits,
                      vectorRegisters, reassociate, contract, cacheBytes);
  }
};

struct PrepareBufferization
    : Own<layout::impl::LayoutPrepareBufferizationBase<PrepareBufferization>> {
  void runOnOperation() override {
    if (!layout_rs_prepare_bufferization(wrap(getOperation().getOperation())))
      signalPassFailure();
  }
};

struct Deallocate : Own<layout::impl::LayoutDeallocateBase<Deallocate>> {
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

struct ExpandClones : Own<layout::impl::LayoutExpandClonesBase<ExpandClones>> {
  void runOnOperation() override {
    if (!layout_rs_expand_clones(wrap(getOperation().getOperation())))
      signalPassFailure();
  }
};

struct SimplifyIndexing
    : Own<layout::impl::LayoutSimplifyIndexingBase<SimplifyIndexing>> {
  void runOnOperation() override {
    if (!layout_rs_simplify_indexing(wrap(getOperation())))
      signalPassFailure();
  }
};

struct IndexingAnalysis
    : Own<layout::impl::LayoutIndexingAnalysisBase<IndexingAnalysis>> {
  using Own::Own;
  void runOnOperation() override {
    if (!layout_rs_indexing_analysis(wrap(getOperation()), report))
      signalPassFailure();
  }

private:
  std::string wrongOption(StringRef text) override {
    return firstWrong(text, report);
  }
};

struct MaskAsIntegers
    : Own<layout::impl::LayoutMaskAsIntegersBase<MaskAsIntegers>> {
  void runOnOperation() override {
    if (!layout_rs_mask_as_integers(wrap(getOperation().getOperation())))
      signalPassFailure();
  }
};

struct StripMemorySpaces
    : Own<layout::impl::LayoutStripMemorySpacesBase<StripMemorySpaces>> {
  void runOnOperation() override {
    if (!layout_rs_strip_memory_spaces(wrap(getOperation().getOperation())))
      signalPassFailure();
  }
};

struct VerifyLLVM : Own<layout::impl::LayoutVerifyLLVMBase<VerifyLLVM>> {
  void runOnOperation() override {
    if (!layout_rs_verify_llvm(wrap(getOperation().getOperation())))
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

/// What is wrong where another copy registered its passes; else this copy's are
/// registered from now on.
std::string registerPasses() {
  // Another pass of a name that is taken is fatal in MLIR, and so is one whose
  // dialect is another copy's.
  if (PassInfo::lookup(layout::createLayoutLowerMemrefs()->getArgument()))
    return "the passes of the layout dialect are registered already, from "
           "another file than " +
           layout::thisLibrary() + ", whose are left out. " + layout::oneCopy;
  // Pipelines are text, and find upstream's passes by name.
  if (!PassInfo::lookup("one-shot-bufferize"))
    registerAllPasses();
  layout::registerLayoutPasses();
  layout_rs_pipelines(registerPipeline);
  return "";
}

/// That, once in a process.
StringRef registerPassesOnce() {
  static const std::string wrong = registerPasses();
  return wrong;
}

} // namespace

bool layout::registerLayoutPassesAndPipelines(raw_ostream &errors) {
  StringRef wrong = registerPassesOnce();
  if (!wrong.empty())
    errors << "warning: " << wrong << "\n";
  return wrong.empty();
}

bool layout_cc_register_passes(MlirStringCallback error, void *user) {
  StringRef wrong = registerPassesOnce();
  if (!wrong.empty())
    error(wrap(wrong), user);
  return wrong.empty();
}

LogicalResult layout::buildLayoutPipeline(OpPassManager &manager,
                                          StringRef name,
                                          const LayoutPipelineOptions &options,
                                          raw_ostream &errors) {
  if (!registerLayoutPassesAndPipelines(errors))
    return failure();
  return add(manager, name, LowerMemrefs(options).options(), errors);
}
