// --one-shot-bufferize lets a slice be overwritten before it is read, where a branch is between the argument and both.
//
// Expected: a copy of the argument, or of the slice, as without the branch: %old is read after %new is made.
// Found, by MLIR 22.1.8: no copy. The element is stored into the argument, and the slice of the argument then has the new
// element. The analysis takes a write in another block than that of the block argument for one before the argument is
// there.
//
// Worked around by passes/bufferize/branches.rs, which copies such an argument where its block begins.
// RUN: mlir-opt %s --one-shot-bufferize=bufferize-function-boundaries | FileCheck %s

// CHECK-LABEL: func.func @straight(
// CHECK: memref.alloc
// CHECK: return
func.func @straight(%a: tensor<4xf32>, %x: f32) -> (f32, tensor<4xf32>) {
  %c1 = arith.constant 1 : index
  %old = tensor.extract_slice %a[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %new = tensor.insert %x into %a[%c1] : tensor<4xf32>
  %was = tensor.extract %old[%c1] : tensor<2xf32>
  return %was, %new : f32, tensor<4xf32>
}

// CHECK-LABEL: func.func @branch(
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: memref.store %{{.*}}, %[[A:.*]][%[[C1:.*]]]
// CHECK: memref.load
func.func @branch(%a: tensor<4xf32>, %x: f32) -> (f32, tensor<4xf32>) {
  cf.br ^next
^next:
  %c1 = arith.constant 1 : index
  %old = tensor.extract_slice %a[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %new = tensor.insert %x into %a[%c1] : tensor<4xf32>
  %was = tensor.extract %old[%c1] : tensor<2xf32>
  return %was, %new : f32, tensor<4xf32>
}
