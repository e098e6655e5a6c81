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
//   auto swizzled = layout::SwizzledAttr::get(context, "Sw<2,0,3> o {1,0}");
//   swizzled.offsetOf({8, 5}, {2, 0});                // 11
//
// From numbers, and what a layout costs:
//
//   layout::TiledAttr::get(context, {1, 0}, {{2, 2}});         // as above
//   layout::TensorLayoutAttr::get(
//       context, {{{4, "PE"}, {3, "", 8}}, {{8, ""}}});        // as above
//   tiled.paddedBytes({3, 5}, f32);                            // 96
//   layout::movementOf(from, to, {{1, 0}})->isFree();
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
#include <optional>
#include <string>

#include "LayoutDialect.h.inc"

namespace layout {

/// A part of a dimension of a TensorLayout: so many steps along an axis of the
/// machine, or along the local address where there is no axis. A step moves
/// `stride` places, or units of the address.
struct Part {
  int64_t extent;
  llvm::StringRef axis;
  int64_t stride = 1;
};

} // namespace layout

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

/// Whether a tensor moves.
struct Movement {
  enum Kind {
    Free = 0,    ///< Every element stays at its byte.
    Moves = 1,   ///< An element moves, or the result takes more memory.
    Unknown = 2, ///< Neither was shown.
  };
  Kind kind;
  /// Why, in words.
  std::string reason;
  /// Where it moves: a layout of the result with which it would not, the one
  /// nearest to its own of those that were tried; null where none was found.
  TiledAttr nearest;

  bool isFree() const { return kind == Free; }
};

/// Whether a tensor moves that becomes one of another type of the same element
/// type: transposed, where dimension k of the result is dimension
/// `permutation[k]`, and else with its elements in the same row-major order, as
/// in a reshape or a change of the layout alone. The types are static, and
/// without an encoding or with a TiledAttr.
mlir::FailureOr<Movement>
movementOf(mlir::RankedTensorType from, mlir::RankedTensorType to,
           std::optional<llvm::ArrayRef<int64_t>> permutation = std::nullopt,
           llvm::function_ref<mlir::InFlightDiagnostic()> emitError = nullptr);

} // namespace layout

#endif // LAYOUT_DIALECT_LAYOUT_H
