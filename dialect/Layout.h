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
// A wrong text makes `get` emit an error in the context and return null;
// getChecked(emitError, context, StringRef(text)) calls `emitError` instead.
// Attributes made from text load the dialect, which has to be in the context's
// registry. MemorySpaceAttr, AxisAttr and PendingAttr have MLIR's own `get`:
// for them load the dialect first, with loadLayoutDialect or by parsing a
// program. Attributes may be made and read from several threads.
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

/// Adds the dialect to a registry; a second call does nothing. False where the
/// registry has the dialect from another copy of this library, which stays:
/// `errors` names its file. Attributes and passes of this copy cannot be used
/// with that registry.
bool registerLayoutDialect(mlir::DialectRegistry &registry,
                           llvm::raw_ostream &errors = llvm::errs());

/// Loads the dialect; false where the context's registry does not have it, or
/// has that of another copy.
bool loadLayoutDialect(mlir::MLIRContext &context);

} // namespace layout

#endif // LAYOUT_DIALECT_LAYOUT_H
