// layout-prepare-bufferization: sets of aliases stay small, and nothing is copied for it that was not before.
// RUN: layout-opt %s --layout-prepare-bufferization | FileCheck %s --check-prefix=PREPARED
// RUN: layout-opt %s --layout-to-memref | FileCheck %s

// Elementwise operations without layouts get an empty tensor of their own. A buffer is freed after its last use, and the
// next allocation of its type takes it over.
// PREPARED-LABEL: func.func @chain(
// PREPARED-COUNT-3: tensor.empty()
// CHECK-LABEL: func.func @chain(
// CHECK-COUNT-2: memref.alloc()
// CHECK-NOT: memref.alloc()
// CHECK: memref.dealloc
// CHECK-NEXT: return
func.func @chain(%a: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = arith.addf %a, %a : tensor<3x5xf32>
  %1 = arith.mulf %0, %0 : tensor<3x5xf32>
  %2 = arith.subf %1, %1 : tensor<3x5xf32>
  return %2 : tensor<3x5xf32>
}

// One empty tensor and one fill for two operations: each gets its own, and no fill is copied.
// PREPARED-LABEL: func.func @shared(
// PREPARED-COUNT-2: linalg.fill
// CHECK-LABEL: func.func @shared(
// CHECK-NOT: memref.copy
// CHECK: return
func.func @shared(%a: tensor<3x3xf32>, %zero: f32) -> (tensor<3x3xf32>, tensor<3x3xf32>) {
  %e = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %0 = linalg.matmul ins(%a, %a : tensor<3x3xf32>, tensor<3x3xf32>) outs(%f : tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = linalg.matmul ins(%0, %a : tensor<3x3xf32>, tensor<3x3xf32>) outs(%f : tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0, %1 : tensor<3x3xf32>, tensor<3x3xf32>
}

// A loop that makes a new buffer each time hands it on; the one before is freed after its last use.
// CHECK-LABEL: func.func @loop(
// CHECK: scf.for
// CHECK: %[[NEW:.*]] = memref.alloc()
// CHECK: memref.dealloc
// CHECK: scf.yield %[[NEW]]
// CHECK-NOT: memref.dealloc
// CHECK: return
func.func @loop(%a: tensor<3x5xf32>, %n: index) -> tensor<3x5xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> (tensor<3x5xf32>) {
    %y = arith.addf %x, %x : tensor<3x5xf32>
    scf.yield %y : tensor<3x5xf32>
  }
  return %r : tensor<3x5xf32>
}
