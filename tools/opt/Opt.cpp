//===- Opt.cpp - layout-opt and layout-lsp-server -------------------------===//
//
// MLIR's own drivers, with everything of MLIR's registered. Rust registers the
// dialect and the passes of this project.
//
//===----------------------------------------------------------------------===//

#include "Foreign.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"
#include <csignal>

using namespace mlir;

/// The exit status where the command line is wrong.
constexpr int wrongUse = 2;

/// What the main functions of all tools here call first.
static void prepare(const char *versionText) {
  static const char *version;
  version = versionText;
  llvm::cl::SetVersionPrinter([](raw_ostream &os) {
    os << version << ", with MLIR of LLVM version " LLVM_VERSION_STRING "\n";
  });
  // LLVM colours the output to a terminal, and does not look at NO_COLOR.
  auto noColor = llvm::sys::Process::GetEnv("NO_COLOR");
  if (noColor && !noColor->empty())
    llvm::WithColor::setAutoDetectFunction(
        [](const raw_ostream &) { return false; });
}

/// The passes and pipelines of this project, with their descriptions, for the
/// end of the help: in MLIR's list they are a few among hundreds.
static std::string ownPasses() {
  std::vector<std::pair<StringRef, StringRef>> passes, pipelines;
  for (auto &option : llvm::cl::getRegisteredOptions()) {
    StringRef name = option.first;
    if (!name.starts_with("layout-"))
      continue;
    if (const PassInfo *pass = PassInfo::lookup(name))
      passes.emplace_back(name, pass->getPassDescription());
    else if (const auto *pipeline = PassPipelineInfo::lookup(name))
      pipelines.emplace_back(name, pipeline->getPassDescription());
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  auto list = [&](StringRef title, auto &all) {
    llvm::sort(all);
    os << "\n" << title << ":\n";
    for (auto [name, summary] : all)
      os << "  --" << llvm::left_justify(name, 30) << "  " << summary << "\n";
  };
  list("Pipelines of this project", pipelines);
  list("Passes of this project", passes);
  return text;
}

static const char *const examples = R"(
Examples:
  layout-opt model.mlir --layout-to-memref=form=physical
  layout-opt model.mlir --layout-to-llvm -o model.llvm.mlir
  layout-opt model.mlir --pass-pipeline='builtin.module(layout-simplify-indexing,layout-lower-memrefs{form=strided})'

Exit status:
  0  It worked
  1  Something is wrong with the program, or a file cannot be read or written
  2  The command line is wrong: an option, a pass or its options

)";

/// Whether each option with a value, and the input file, has a text that is
/// not blank: LLVM accepts an empty one for some types of options.
static bool checkValues(int argc, char **argv) {
  auto &options = llvm::cl::getRegisteredOptions();
  for (int at = 1; at < argc; ++at) {
    StringRef text = argv[at];
    bool isOption = text.size() > 1 && text.starts_with("-");
    auto [name, value] = text.ltrim('-').split('=');
    const llvm::cl::Option *option = isOption ? options.lookup(name) : nullptr;
    bool isRequired = option && option->getValueExpectedFlag() ==
                                    llvm::cl::ValueExpected::ValueRequired;
    if (!isOption)
      value = text;
    else if (!text.contains('=') && isRequired && at + 1 < argc)
      value = argv[++at];
    else if (!text.contains('='))
      continue;
    // Without text, nothing stands between the modules.
    if (!value.trim().empty() || name == "output-split-marker")
      continue;
    if (!isOption || name == "o") {
      StringRef which = isOption ? "output" : "input";
      llvm::errs() << "the " << which << " file must have a name, found none; "
                   << "- is standard " << which << "\n";
    } else {
      llvm::errs() << "option `--" << name << "` has an empty value: expected "
                   << "`--" << name << "=VALUE`"
                   << (isRequired ? "" : ", or no `=`") << "\n";
    }
    return false;
  }
  return true;
}

/// Whether the passes of the command line can be made. It is checked before the
/// input is read, so that a wrong command line has an exit status of its own.
/// With implicit nesting the passes may be for any kind of operation.
static bool checkPasses(const MlirOptMainConfig &config) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  PassManager passes(&context, ModuleOp::getOperationName(),
                     PassManager::Nesting::Implicit);
  return succeeded(config.setupPassPipeline(passes));
}

extern "C" {

/// False, with the error on stderr, where the parser is not given this text.
bool layout_rs_check_input(MlirStringRef name, MlirStringRef text);
/// Says on stderr which pass was meant, where the command line has nearly its
/// name in the text of a pipeline.
void layout_rs_hint_at_passes();
/// Says on stderr where an option of a pass belongs that stands by itself on
/// the command line.
void layout_rs_hint_at_options();

void layout_cc_register_all(MlirDialectRegistry registry) {
  registerAllDialects(*unwrap(registry));
  registerAllExtensions(*unwrap(registry));
  layout::registerForeignDialects(*unwrap(registry));
  registerAllPasses();
}

int layout_cc_opt_main(int argc, char **argv, MlirDialectRegistry registry,
                       const char *version) {
  // Rust has it ignored; a reader that has seen enough ends this program.
  std::signal(SIGPIPE, SIG_DFL);
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  prepare(version);
  static llvm::cl::opt<std::string> inputName(llvm::cl::Positional,
                                              llvm::cl::desc("<input file>"),
                                              llvm::cl::init("-"));
  static llvm::cl::opt<std::string> outputName(
      "o", llvm::cl::desc("Output filename"), llvm::cl::value_desc("filename"),
      llvm::cl::init("-"));
  std::string help = registerCLIOptions(
      "layout-opt, mlir-opt with the layout dialect and its passes",
      *unwrap(registry));
  help += ownPasses() + examples;
  if (!llvm::cl::ParseCommandLineOptions(argc, argv, help, &llvm::errs())) {
    layout_rs_hint_at_options();
    return wrongUse;
  }
  if (!checkValues(argc, argv))
    return wrongUse;
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(
        MlirOptMain(argc, argv, inputName, outputName, *unwrap(registry)));

  if (!checkPasses(config)) {
    layout_rs_hint_at_passes();
    return wrongUse;
  }
  std::string error;
  auto input = openInputFile(inputName, &error);
  auto output = input ? openOutputFile(outputName, &error) : nullptr;
  if (!output) {
    llvm::errs() << error << "\n";
    return EXIT_FAILURE;
  }
  if (!layout_rs_check_input(wrap(input->getBufferIdentifier()),
                             wrap(input->getBuffer())) ||
      failed(MlirOptMain(output->os(), std::move(input), *unwrap(registry),
                         config)))
    return EXIT_FAILURE;
  output->keep();
  return EXIT_SUCCESS;
}

int layout_cc_lsp_main(int argc, char **argv, MlirDialectRegistry registry,
                       const char *version) {
  prepare(version);
  return asMainReturnCode(MlirLspServerMain(argc, argv, *unwrap(registry)));
}
}
