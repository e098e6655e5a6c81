//===- Opt.cpp - layout-opt and layout-lsp-server -------------------------===//
//
// MLIR's own drivers, with everything of MLIR's registered. Rust adds ours.
//
//===----------------------------------------------------------------------===//

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

extern "C" {

/// False, with the error on stderr, where the parser is not given this text.
bool layout_rs_check_input(MlirStringRef name, MlirStringRef text);

void layout_cc_register_all(MlirDialectRegistry registry) {
  registerAllDialects(*unwrap(registry));
  registerAllExtensions(*unwrap(registry));
  registerAllPasses();
}

int layout_cc_opt_main(int argc, char **argv, MlirDialectRegistry registry) {
  llvm::InitLLVM init(argc, argv);
  auto [inputName, outputName] =
      registerAndParseCLIOptions(argc, argv, "layout-opt", *unwrap(registry));
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(
        MlirOptMain(argc, argv, inputName, outputName, *unwrap(registry)));

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

int layout_cc_lsp_main(int argc, char **argv, MlirDialectRegistry registry) {
  return asMainReturnCode(MlirLspServerMain(argc, argv, *unwrap(registry)));
}
}
