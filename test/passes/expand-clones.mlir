// layout-expand-clones: the copy has its source's sizes and strides.
// RUN: layout-opt %s --layout-expand-clones | FileCheck %s

// CHECK-LABEL: func.func @static(
// CHECK-SAME: %[[A:.*]]: memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>
// CHECK: %[[ROW:.*]] = memref.alloc() : memref<24xf32>
// CHECK: %[[C:.*]] = memref.reinterpret_cast %[[ROW]] to offset: [0], sizes: [2, 2, 3, 2], strides: [12, 2, 4, 1]
// CHECK: memref.copy %[[A]], %[[C]]
// CHECK: return %[[C]]
func.func @static(%a: memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>) -> memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>> {
  %0 = bufferization.clone %a : memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>> to memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>
  return %0 : memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>
}

// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[A:.*]]: memref<?x3xf32, strided<[1, ?]>>
// CHECK: %{{.*}}, %{{.*}}, %[[SIZES:.*]]:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[A]]
// CHECK: %[[ROW:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: memref.reinterpret_cast %[[ROW]] to offset: [0], sizes: [%[[SIZES]]#0, 3], strides: [1, %[[STRIDES]]#1]
// CHECK: memref.copy
func.func @dynamic(%a: memref<?x3xf32, strided<[1, ?]>>) -> memref<?x3xf32, strided<[1, ?]>> {
  %0 = bufferization.clone %a : memref<?x3xf32, strided<[1, ?]>> to memref<?x3xf32, strided<[1, ?]>>
  return %0 : memref<?x3xf32, strided<[1, ?]>>
}

// Upstream knows how to clone what has no strides.
// CHECK-LABEL: func.func @plain(
// CHECK: bufferization.clone
func.func @plain(%a: memref<2x3xf32>) -> memref<2x3xf32> {
  %0 = bufferization.clone %a : memref<2x3xf32> to memref<2x3xf32>
  return %0 : memref<2x3xf32>
}
