// --one-shot-bufferize refuses a conditional branch that goes to one block on both edges.
//
// Expected: cf.cond_br of two memrefs.
// Found, by MLIR 22.1.8: an error. The operands of the first edge are replaced, and the types of the block's argument are
// compared with those of the second edge, which are still tensors.
//
// Not worked around; docs/lowering.md lists it under Limits.
// RUN: not mlir-opt %s --one-shot-bufferize=bufferize-function-boundaries 2>&1 | FileCheck %s

// CHECK: error: type mismatch for bb argument #0 of successor #1
func.func @either(%x: tensor<3xf32>, %y: tensor<3xf32>, %first: i1) -> tensor<3xf32> {
  cf.cond_br %first, ^join(%x : tensor<3xf32>), ^join(%y : tensor<3xf32>)
^join(%z: tensor<3xf32>):
  return %z : tensor<3xf32>
}
