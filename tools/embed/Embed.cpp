//===- Embed.cpp - The dialect handle of the C API ------------------------===//
//
// The handle by which MLIR's C API knows a dialect. The rest of the C API is
// Rust, in tools/embed/ffi.rs.
//
//===----------------------------------------------------------------------===//

#include "layout-c/Layout.h"
#include "layout/Layout.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"

using namespace mlir;
using layout::LayoutDialect;

static void insertDialect(MlirDialectRegistry registry) {
  if (registry.ptr)
    layout::registerLayoutDialect(*unwrap(registry));
}

static MlirDialect loadDialect(MlirContext context) {
  if (!context.ptr)
    return {nullptr};
  MLIRContext &into = *unwrap(context);
  // MLIR ends the process at a second dialect of one name.
  if (!layout::loadLayoutDialect(into) &&
      into.getLoadedDialect(LayoutDialect::getDialectNamespace()))
    return {nullptr};
  return wrap(into.getOrLoadDialect<LayoutDialect>());
}

static MlirStringRef dialectNamespace() {
  return wrap(LayoutDialect::getDialectNamespace());
}

MlirDialectHandle mlirGetDialectHandle__layout__() {
  static MlirDialectRegistrationHooks hooks = {insertDialect, loadDialect,
                                               dialectNamespace};
  return {&hooks};
}
