// RUN: layout-opt %s --layout-expand-dma --canonicalize | FileCheck %s
// RUN: layout-opt %s --layout-expand-dma=late --canonicalize | FileCheck %s --check-prefix=LATE

// So many elements from the indices on, where the copy starts, or with `late` where it is waited for.
// CHECK-LABEL: func.func @copy(
// CHECK-SAME: %[[A:.*]]: memref<4x8xf32>, %[[B:.*]]: memref<40xf32, 1>, %[[I:.*]]: index, %[[F:.*]]: f32)
// CHECK-NOT: alloca
// CHECK: %[[FROM:.*]] = memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [16], strides: [1]
// CHECK: %[[TO:.*]] = memref.reinterpret_cast %{{.*}} to offset: [%[[I]]], sizes: [16], strides: [1]
// CHECK: memref.copy %[[FROM]], %[[TO]] : memref<16xf32, strided<[1], offset: ?>> to memref<16xf32, strided<[1], offset: ?>, 1>
// CHECK-NEXT: memref.store %[[F]]
// CHECK-NOT: dma
// LATE-LABEL: func.func @copy(
// LATE: memref.store
// LATE: memref.copy
// LATE-NOT: dma
func.func @copy(%a: memref<4x8xf32>, %b: memref<40xf32, 1>, %i: index, %f: f32) {
  %zero = arith.constant 0 : index
  %count = arith.constant 16 : index
  %tag = memref.alloca() : memref<1xi32>
  memref.dma_start %a[%i, %zero], %b[%i], %count, %tag[%zero] : memref<4x8xf32>, memref<40xf32, 1>, memref<1xi32>
  memref.store %f, %b[%zero] : memref<40xf32, 1>
  memref.dma_wait %tag[%zero], %count : memref<1xi32>
  return
}
