//===- Foreign.h - The text of torch-mlir's and IREE's operations ---------===//

#ifndef LAYOUT_OPT_FOREIGN_H
#define LAYOUT_OPT_FOREIGN_H

#include "mlir/IR/DialectRegistry.h"

namespace layout {
/// Registers the dialects whose operations `layout-expand-foreign` expands, by
/// their names alone.
void registerForeignDialects(mlir::DialectRegistry &registry);
} // namespace layout

#endif // LAYOUT_OPT_FOREIGN_H
