//===- MiniOps.td - Operations of mini-opt -----------------*- tablegen -*-===//
//
// A product by its loops, a normalisation by operations of linalg, and a
// kernel that takes one layout and says its cost.
//
//===----------------------------------------------------------------------===//

#ifndef MINI_OPS_TD
#define MINI_OPS_TD

include "layout/LayoutOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Mini_Dialect : Dialect {
  let name = "mini";
  let cppNamespace = "::mini";
}

class Mini_Op<string mnemonic, list<string> methods>
    : Op<Mini_Dialect, mnemonic,
         [Pure, DeclareOpInterfaceMethods<LayoutOpInterface, methods>]> {
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

// result[i, j] = sum over k of lhs[i, k] * rhs[k, j]
def Mini_ProductOp
    : Mini_Op<"product", ["getIteratorTypes", "getIndexingMaps", "buildBody"]> {
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
}

// result[i, j] = input[i, j] / sum over k of input[i, k]
def Mini_NormalizeOp : Mini_Op<"normalize", ["expand"]> {
  let arguments = (ins AnyRankedTensor:$input);
}

// result[i, j] = max(input[i, j], 0): the kernel is for rows of tiles.
def Mini_ReluOp
    : Mini_Op<"relu", ["getIteratorTypes", "getIndexingMaps", "buildBody",
                       "getLayouts", "getCost"]> {
  let arguments = (ins AnyRankedTensor:$input);
}

#endif // MINI_OPS_TD
