//===- LayoutOpInterface.td - Operations of other compilers -*- tablegen -*-===//
//
// A compiler's own operation says here what it computes. The installed copy is
// layout/LayoutOpInterface.td; its C++ is layout/LayoutOpInterface.h.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_OP_INTERFACE_TD
#define LAYOUT_OP_INTERFACE_TD

include "mlir/IR/OpBase.td"

def LayoutOpInterface : OpInterface<"LayoutOpInterface"> {
  let description = [{
    What an operation on tensors computes, for plans of layouts, removal of
    conversions, analysis, verification and lowering. An operation gives its
    loops (`getIteratorTypes`, `getIndexingMaps`, `buildBody`), of which a
    `linalg.generic` is made, or it gives `expand`.
  }];
  let cppNamespace = "::layout";
  let methods = [
    InterfaceMethod<"The type of each loop.",
      "::llvm::SmallVector<::mlir::utils::IteratorType>", "getIteratorTypes",
      (ins), "", "return {};">,
    InterfaceMethod<[{
        For each operand, and then for each result, the map from the loops to
        the index of an element; a scalar has a map without results.
      }],
      "::llvm::SmallVector<::mlir::AffineMap>", "getIndexingMaps",
      (ins), "", "return {};">,
    InterfaceMethod<[{
        Builds the scalar computation: `elements` are one of each operand, and
        then the former one of each result. Returns the elements of the results.
      }],
      "::llvm::SmallVector<::mlir::Value>", "buildBody",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$location,
           "::mlir::ValueRange":$elements), "", "return {};">,
    InterfaceMethod<[{
        The first value of the elements of a result, where a loop is a
        reduction; null is zero.
      }],
      "::mlir::TypedAttr", "getInitialValue", (ins "unsigned":$result), "",
      "return {};">,
    InterfaceMethod<[{
        Builds operations that compute the results of these operands, whose
        types may have other layouts than the operation says. Operations of
        linalg take any layouts. Without results the loops are taken.
      }],
      "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "expand",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands), "",
      "return ::llvm::SmallVector<::mlir::Value>();">,
    InterfaceMethod<[{
        The layouts that a value takes, the best one first; none are all.
        Values are the operands and then the results.
      }],
      "::llvm::SmallVector<::mlir::Attribute>", "getLayouts",
      (ins "unsigned":$value), "", "return {};">,
    InterfaceMethod<[{
        The cost of the operation in the unit of the machine, such as cycles,
        in any layouts that it takes; without it, plans count its loops.
      }],
      "std::optional<int64_t>", "getCost", (ins), "", "return std::nullopt;">
  ];
}

#endif // LAYOUT_OP_INTERFACE_TD
