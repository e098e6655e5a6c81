// --one-shot-bufferize writes operations that do not verify where arrays have no elements.
//
// Expected: a buffer of 3x4 elements that is filled, and a memref<?xf32>.
// Found, by MLIR 22.1.8: a memref.subview at the end of a dimension, which the verifier refuses though it has no elements, as it
// does a tensor.insert_slice; and a memref.collapse_shape to memref<0xf32>, where the product with a size known only at run time
// is unknown to the verifier.
//
// Worked around in passes/padding.rs, which inserts no part without elements, and in passes/prepare_bufferization.rs, where a
// reshape without elements becomes an empty tensor.
// RUN: split-file %s %t
// RUN: not mlir-opt %t/pad.mlir --one-shot-bufferize=bufferize-function-boundaries 2>&1 | FileCheck %t/pad.mlir
// RUN: not mlir-opt %t/collapse.mlir --one-shot-bufferize=bufferize-function-boundaries 2>&1 | FileCheck %t/collapse.mlir

//--- pad.mlir
// CHECK: error: offset 0 is out-of-bounds: 3 >= 3
func.func @pad(%x: tensor<0x4xf32>, %f: f32) -> tensor<3x4xf32> {
  %p = tensor.pad %x low[3, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %f : f32
  } : tensor<0x4xf32> to tensor<3x4xf32>
  return %p : tensor<3x4xf32>
}

//--- collapse.mlir
// CHECK: error: 'memref.collapse_shape' op collapsed dim (0) must be dynamic if and only if reassociation group is dynamic
func.func @collapse(%x: tensor<?x0xf32>) -> tensor<?xf32> {
  %r = tensor.collapse_shape %x [[0, 1]] : tensor<?x0xf32> into tensor<?xf32>
  return %r : tensor<?xf32>
}
