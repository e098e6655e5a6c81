//===- mini-opt.cpp - A compiler with the layout dialect ------------------===//
//
// mlir-opt with passes of its own and the layout dialect, and with a pipeline
// that makes plain memrefs of the layouts that the pass chose.
//
//===----------------------------------------------------------------------===//

#include "LowerKernels.h"
#include "MiniOps.h"
#include "Place.h"

#include "layout/Layout.h"
#include "layout/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace mlir;

int main(int argc, char **argv) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<mini::MiniDialect>();
  layout::registerLayoutDialect(registry);
  layout::registerLayoutPassesAndPipelines();

  PassRegistration<Pass>(mini::createPlace);
  PassRegistration<Pass>(mini::createLowerKernels);
  PassPipelineRegistration<> pipeline(
      "mini-pipeline", "Place, then lower layouts to memrefs",
      [](OpPassManager &manager) {
        manager.addPass(mini::createPlace());
        if (failed(layout::buildLayoutToMemref(
                manager, {/*form=*/layout::Form::physical})))
          llvm::report_fatal_error("the passes of the layout dialect are "
                                   "another library's");
      });
  return asMainReturnCode(MlirOptMain(argc, argv, "mini-opt\n", registry));
}
