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

#include "layout/LayoutOpInterface.h.inc"

#endif // LAYOUT_OP_INTERFACE_H
