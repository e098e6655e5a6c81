//===- Plugin.cpp - The dialect and its passes as a plugin ----------------===//
//
// What a compiler looks for in a plugin. The dialect itself is libLayout.so's.
//
//===----------------------------------------------------------------------===//

#include "layout/Layout.h"
#include "layout/Passes.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

// Each says on stderr where it finds another copy of the library in charge.

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "layout", LAYOUT_VERSION,
          [](mlir::DialectRegistry *registry) {
            layout::registerLayoutDialect(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "layout", LAYOUT_VERSION,
          [] { layout::registerLayoutPassesAndPipelines(); }};
}
