//===- Layout.h - The layout dialect --------------------------------------===//
//
// For C++ that uses the dialect: its attributes and operations, and how to
// register it.
//
//   auto tiled = layout::TiledAttr::get(context, "{1,0:T(2,2)}");
//   tiled.offsetOf({3, 5}, {2, 3});                   // 17
//   tiled.expandedSizes({3, 5});                      // 2, 3, 2, 2
//   RankedTensorType::get({3, 5}, f32, tiled);
//   auto rows = layout::TensorLayoutAttr::get(context, "((4_PE, 3:8), (8:1))");
//   rows.placeOf({12, 8}, {7, 1});                    // 2 along PE, address 9
//
// A wrong text is an error in the context, and null; getChecked(emitError,
// context, StringRef(text)) hands the error over. What is made of text loads
// the dialect, which the context's registry has to have; MemorySpaceAttr,
// AxisAttr and PendingAttr, whose `get` is MLIR's own, need it loaded, by
// loadLayoutDialect or by a parsed program. Attributes may be made and read
// from several threads.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_H
#define LAYOUT_DIALECT_LAYOUT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/SCF/IR/DeviceMappingInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "LayoutDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "LayoutAttributes.h.inc"

#define GET_OP_CLASSES
#include "LayoutOps.h.inc"

namespace layout {

/// Adds the dialect to a registry; again does nothing. False where the registry
/// has it from another copy of this library, which is left in charge: `errors`
/// says which, and attributes and passes of this copy cannot be used with it.
bool registerLayoutDialect(mlir::DialectRegistry &registry,
                           llvm::raw_ostream &errors = llvm::errs());

/// Whether a context has this copy's dialect loaded, or could load it and did.
bool loadLayoutDialect(mlir::MLIRContext &context);

} // namespace layout

#endif // LAYOUT_DIALECT_LAYOUT_H
