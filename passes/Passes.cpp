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
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMAttrs.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/ThreadLocalCache.h"
#include "llvm/ADT/PointerEmbeddedInt.h"
#include "llvm/ADT/StringExtras.h"

// Of the dialects that passes depend on, the classes alone: the headers of
// their operations take half of the time of this file.
#include "mlir/Dialect/Affine/IR/AffineOpsDialect.h.inc"
#include "mlir/Dialect/Arith/IR/ArithOpsDialect.h.inc"
#include "mlir/Dialect/Bufferization/IR/BufferizationOpsDialect.h.inc"
#include "mlir/Dialect/Complex/IR/ComplexOpsDialect.h.inc"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOpsDialect.h.inc"
#include "mlir/Dialect/DLTI/DLTIDialect.h.inc"
#include "mlir/Dialect/LLVMIR/LLVMOpsDialect.h.inc"
#include "mlir/Dialect/Linalg/IR/LinalgOpsDialect.h.inc"
#include "mlir/Dialect/MPI/IR/MPIDialect.h.inc"
#include "mlir/Dialect/Math/IR/MathOpsDialect.h.inc"
#include "mlir/Dialect/MemRef/IR/MemRefOpsDialect.h.inc"
#include "mlir/Dialect/SCF/IR/SCFOpsDialect.h.inc"
#include "mlir/Dialect/Shard/IR/ShardDialect.h.inc"
#include "mlir/Dialect/Tensor/IR/TensorOpsDialect.h.inc"
#include "mlir/Dialect/Vector/IR/VectorDialect.h.inc"

using namespace mlir;

#include "Choices.cpp.inc"

namespace {

void append(MlirStringRef text, void *string) {
  *static_cast<std::string *>(string) += unwrap(text);
}

/// Writes an option as Rust reads it. The value of an enum that is none of its
/// names is its number, of which Rust says what is wrong.
template <typename Option>
void writeOption(llvm::raw_ostream &text, const Option &option) {
  auto value = option.getValue();
  text << option.ArgStr << '=';
  if constexpr (std::is_same_v<decltype(value), std::string>) {
    text << '{' << value << "} ";
  } else if constexpr (std::is_enum_v<decltype(value)>) {
    StringRef name = stringifyEnum(value);
    if (name.empty())
      text << static_cast<int32_t>(value);
    text << name << ' ';
  } else {
    text << static_cast<uint64_t>(value) << ' ';
  }
}

/// What is wrong where another copy registered its passes; else the passes are
/// registered, once in a process.
StringRef registerPassesOnce();

/// What a pass keeps from one of its stages to the next.
struct Kept {
  void *state = nullptr;
  ~Kept() {
    if (state)
      layout_rs_drop(state);
  }
};

/// What all passes here have in common; `Generated` is what mlir-tblgen makes.
template <typename Generated> struct Shell : Generated {
  using Generated::Generated;

  /// The options as Rust takes them.
  std::string options() const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    writeOptions(stream);
    return text;
  }

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
    std::string wrong;
    if (layout_rs_check_options(wrap(this->getArgument()), wrap(text), append,
                                &wrong))
      return Generated::initializeOptions(text, error);
    return error(wrong);
  }

  /// MLIR loads dialects before it runs any pass.
  void getDependentDialects(DialectRegistry &registry) const override {
    Generated::getDependentDialects(registry);
    std::string passes;
    layout_rs_passes_of(wrap(this->getArgument()), wrap(StringRef(options())),
                        append, &passes);
    if (passes.empty())
      return;
    // Their text is read by the names of registered passes.
    registerPassesOnce();
    OpPassManager manager(*this->getOpName());
    arePassesRead = succeeded(parsePassPipeline(passes, manager));
    if (arePassesRead)
      manager.getDependentDialects(registry);
  }

  void runOnOperation() override {
    // Without their dialects the first of them may not run either.
    if (!arePassesRead)
      return this->signalPassFailure();
    Operation *op = this->getOperation();
    bool changed = false;
    Kept kept;
    for (size_t stage = 0;;) {
      std::string then;
      LayoutOutcome outcome = layout_rs_run_pass(
          wrap(this->getArgument()), wrap(StringRef(options())), wrap(op),
          &stage, &kept.state, append, &then);
      if (outcome == LayoutFailed)
        return this->signalPassFailure();
      changed |= outcome == LayoutChanged;
      if (then.empty())
        break;
      // MLIR verifies what each of them leaves, and drops its analyses.
      OpPassManager manager(op->getName());
      if (failed(parsePassPipeline(then, manager)) ||
          failed(this->runPipeline(manager, op)))
        return this->signalPassFailure();
    }
    // What did not change is not verified again.
    if (!changed)
      this->markAllAnalysesPreserved();
  }

private:
  /// Whether the passes that it runs, if any, could be read.
  mutable bool arePassesRead = true;

  /// Writes the options; nothing for a pass that has none.
  virtual void writeOptions(llvm::raw_ostream &text) const {}
};

} // namespace

// The classes of the passes, which the build script makes of Passes.td.
#include "Passes.cpp.inc"

namespace {

/// The passes of a pipeline, added to a manager.
LogicalResult add(OpPassManager &manager, StringRef name, StringRef options,
                  raw_ostream &errors) {
  std::string passes;
  if (layout_rs_pipeline(wrap(name), wrap(options), append, &passes))
    return parsePassPipeline(passes, manager, errors);
  errors << "error: " << passes << "\n";
  return failure();
}

/// The options that an option is one of, as MLIR holds them; it keeps them to
/// itself, but an option knows whose it is.
const detail::PassOptions &holder(const llvm::cl::Option &option) {
  llvm::cl::SubCommand *owner = *option.Subs.begin();
  return *(const detail::PassOptions *)owner; // A base that is protected.
}

/// The passes whose options all pipelines have: `optionsOf` and `planOf` in
/// Passes.td.
struct WithOptions : LowerMemrefs {
  const detail::PassOptions &held() const { return holder(form); }
};
struct WithPlan : Plan {
  const detail::PassOptions &held() const { return holder(machine); }
};
/// The pass whose option layout-to-llvm has, too.
struct WithArena : ConvertToLlvm {
  const detail::PassOptions &held() const { return holder(arena); }
};

/// The options of all pipelines that are none of a pass.
struct PlanFlag : PassPipelineOptions<PlanFlag> {
  Option<bool> verify{*this, "verify",
                      llvm::cl::desc("Check that functions still "
                                     "compute what they did")};
  Option<std::string> weights{
      *this, "weights",
      llvm::cl::desc("The object file for constants of many bytes; only for "
                     "layout-to-llvm"),
      llvm::cl::init("none")};
  Option<bool> plan{*this, "plan",
                    llvm::cl::desc("Choose layouts first; with the options of "
                                   "layout-plan, which are here, too")};
};

void registerPipeline(MlirStringRef name, MlirStringRef summary) {
  auto build = [name = unwrap(name).str()](
                   OpPassManager &manager, StringRef text,
                   function_ref<LogicalResult(const Twine &)> error) {
    std::string message;
    llvm::raw_string_ostream errors(message);
    if (succeeded(add(manager, name, text, errors)))
      return success();
    StringRef wrong = StringRef(message).rtrim();
    wrong.consume_front("error: ");
    return error(wrong);
  };
  registerPassPipeline(
      unwrap(name), unwrap(summary), build,
      [](function_ref<void(const detail::PassOptions &)> show) {
        // The width of the last is that of all.
        show(PlanFlag());
        show(WithArena().held());
        show(WithPlan().held());
        show(WithOptions().held());
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
  layout::registerUpstreamPasses();
  layout::registerLayoutPasses();
  layout_rs_pipelines(registerPipeline);
  return "";
}

StringRef registerPassesOnce() {
  static const std::string wrong = registerPasses();
  return wrong;
}

} // namespace

LogicalResult layout::indexingOf(Operation *op, Direction direction,
                                 int64_t result, int64_t operand,
                                 SmallVectorImpl<IndexingMapAttr> &maps,
                                 function_ref<InFlightDiagnostic()> emitError) {
  auto add = [](MlirAttribute map, void *maps) {
    static_cast<SmallVectorImpl<IndexingMapAttr> *>(maps)->push_back(
        cast<IndexingMapAttr>(unwrap(map)));
  };
  auto emit = [](MlirStringRef message, void *emitError) {
    if (auto emit =
            *static_cast<function_ref<InFlightDiagnostic()> *>(emitError))
      emit() << unwrap(message);
  };
  return success(layout_rs_indexing(wrap(op), direction == Direction::reads,
                                    result, operand, add, &maps, emit,
                                    &emitError));
}

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

LogicalResult layout::buildLayoutPipeline(OpPassManager &manager,
                                          StringRef name,
                                          const LayoutPipelineOptions &options,
                                          const LayoutPlanOptions &plan,
                                          raw_ostream &errors) {
  if (!registerLayoutPassesAndPipelines(errors))
    return failure();
  return add(manager, name,
             LowerMemrefs(options).options() + "plan " + Plan(plan).options(),
             errors);
}
