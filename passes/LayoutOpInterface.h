//===- LayoutOpInterface.h - Operations of other compilers ----------------===//
//
// A compiler's own operation that implements LayoutOpInterface is planned,
// analysed, verified and lowered as those of linalg are.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_OP_INTERFACE_H
#define LAYOUT_OP_INTERFACE_H

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace layout {

/// Builds a `linalg.generic` from the loops of an operation with the interface,
/// its maps and its body: the `expand` of operations that have none.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
expandLoops(mlir::Operation *op, mlir::OpBuilder &builder,
            mlir::ValueRange operands);

} // namespace layout

#include "layout/LayoutOpInterface.h.inc"

#endif // LAYOUT_OP_INTERFACE_H
