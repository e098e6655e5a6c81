// --one-shot-bufferize gives `ml_program.global_load` the buffer of the variable, and lets `ml_program.global_store` take a
// buffer that holds nothing.
//
// Expected: @loaded returns the tensor from before the store, in a buffer of its own. @stored stores the sum.
// Found, by MLIR 22.1.8: @loaded returns the variable, in which the store has put something else. @stored allocates a
// buffer, since the sum is returned, too, and copies it to the variable without having written it:
// `bufferizesToMemoryRead` of the store is false.
//
// Worked around by passes/bufferize/globals.rs.
// RUN: mlir-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   | FileCheck %s

ml_program.global private mutable @state(dense<[1.0, 2.0, 3.0]> : tensor<3xf32>) : tensor<3xf32>

// CHECK-LABEL: func.func @loaded
// CHECK: %[[OLD:.*]] = memref.get_global @state
// CHECK: %[[STATE:.*]] = memref.get_global @state
// CHECK: memref.copy %{{.*}}, %[[STATE]]
// CHECK-NEXT: return %[[OLD]]
func.func @loaded(%x: tensor<3xf32>) -> tensor<3xf32> {
  %old = ml_program.global_load @state : tensor<3xf32>
  ml_program.global_store @state = %x : tensor<3xf32>
  return %old : tensor<3xf32>
}

// CHECK-LABEL: func.func @stored
// CHECK: linalg.exp ins(%{{.*}}) outs(%{{.*}} :
// CHECK-NEXT: %[[NEW:.*]] = memref.alloc()
// CHECK-NEXT: %[[STATE:.*]] = memref.get_global @state
// CHECK-NEXT: memref.copy %[[NEW]], %[[STATE]]
func.func @stored(%x: tensor<3xf32>) -> tensor<3xf32> {
  %empty = tensor.empty() : tensor<3xf32>
  %sum = linalg.exp ins(%x : tensor<3xf32>) outs(%empty : tensor<3xf32>) -> tensor<3xf32>
  ml_program.global_store @state = %sum : tensor<3xf32>
  return %sum : tensor<3xf32>
}
