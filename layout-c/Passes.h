//===- Passes.h - C API to the passes over the layout dialect -------------===//
//
// Errors are reported as described in layout-c/Layout.h. The pipelines use
// upstream's passes and its models of how dialects are bufferized: the
// context's registry needs mlirRegisterAllDialects, or those of the dialects in
// use.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_C_PASSES_H
#define LAYOUT_C_PASSES_H

#include "mlir-c/Pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Registers the passes and pipelines by name, and upstream's passes, of which
/// pipelines are made; again does nothing. Fails where another copy of this
/// library was first. MLIR's table of passes is not to be changed while another
/// thread looks a pass up, so this comes before that.
MLIR_CAPI_EXPORTED bool mlirLayoutRegisterPasses(MlirStringCallback error,
                                                 void *userData);

/// Adds a pass or a pipeline by its name, such as "layout-to-memref", with
/// options as in a pipeline's text, such as "form=physical" or "vectorize=avx2
/// contract". docs/passes.md lists the names and the options. Registers what is
/// not registered yet.
MLIR_CAPI_EXPORTED bool mlirLayoutOpPassManagerAdd(MlirOpPassManager manager,
                                                   MlirStringRef name,
                                                   MlirStringRef options,
                                                   MlirStringCallback error,
                                                   void *userData);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_C_PASSES_H
