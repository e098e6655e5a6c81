//===- Glue.cpp - What the passes' Rust needs and MLIR's C API lacks ------===//

#include "passes/Glue.h"
#include "passes/Passes.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

void layout_cc_register_passes() { layout::registerLayoutPassesAndPipelines(); }

void layout_cc_emit(MlirLocation location, MlirDiagnosticSeverity severity,
                    MlirStringRef message, size_t count,
                    const MlirLocation *noteLocations,
                    const MlirStringRef *notes) {
  Location at = unwrap(location);
  InFlightDiagnostic diagnostic =
      severity == MlirDiagnosticWarning  ? emitWarning(at)
      : severity == MlirDiagnosticRemark ? emitRemark(at)
                                         : emitError(at);
  diagnostic << unwrap(message);
  for (size_t i = 0; i < count; ++i)
    diagnostic.attachNote(unwrap(noteLocations[i])) << unwrap(notes[i]);
}

bool layout_cc_affine_is_valid_dim(MlirValue value) {
  return affine::isValidDim(unwrap(value));
}

bool layout_cc_affine_is_valid_symbol(MlirValue value) {
  return affine::isValidSymbol(unwrap(value));
}
