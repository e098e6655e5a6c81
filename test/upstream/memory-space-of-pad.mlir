// --one-shot-bufferize gives a padded tensor the memory space of its source, whatever its own encoding says.
//
// Expected: one allocation, in memory space 2, with the padding and the source in it.
// Found, by MLIR 22.1.8: an allocation in memory space 1, and a copy of all of it into one in memory space 2.
//
// Worked around by passes/bufferize/padding.rs, which fills an empty tensor of the result's type and inserts the source.
// RUN: mlir-opt %s --one-shot-bufferize="bufferize-function-boundaries use-encoding-for-memory-space \
// RUN:   function-boundary-type-conversion=identity-layout-map" | FileCheck %s

// CHECK-LABEL: func.func @pad(
// CHECK: %[[FIRST:.*]] = memref.alloc() {{.*}} : memref<6xf32, 1>
// CHECK: %[[SECOND:.*]] = memref.alloc() {{.*}} : memref<6xf32, 2>
// CHECK: memref.copy %[[FIRST]], %[[SECOND]]
func.func @pad(%x: tensor<4xf32, 1>, %with: f32) -> tensor<6xf32, 2> {
  %y = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %with : f32
  } : tensor<4xf32, 1> to tensor<6xf32, 2>
  return %y : tensor<6xf32, 2>
}
