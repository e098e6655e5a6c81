// layout-expand-clones: the copy has its source's sizes and strides.
// RUN: layout-opt %s --layout-expand-clones | FileCheck %s

// CHECK-LABEL: func.func @static(
// CHECK-SAME: %[[A:.*]]: memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>
// CHECK: %[[ROW:.*]] = memref.alloc() {alignment = 64 : i64} : memref<24xf32>
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
// CHECK: %[[ROW:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xf32>
// CHECK: memref.reinterpret_cast %[[ROW]] to offset: [0], sizes: [%[[SIZES]]#0, 3], strides: [1, %[[STRIDES]]#1]
// CHECK: memref.copy
func.func @dynamic(%a: memref<?x3xf32, strided<[1, ?]>>) -> memref<?x3xf32, strided<[1, ?]>> {
  %0 = bufferization.clone %a : memref<?x3xf32, strided<[1, ?]>> to memref<?x3xf32, strided<[1, ?]>>
  return %0 : memref<?x3xf32, strided<[1, ?]>>
}

// Upstream would not align it.
// CHECK-LABEL: func.func @plain(
// CHECK-SAME: %[[A:.*]]: memref<2x?xf32>
// CHECK: %[[SIZE:.*]] = memref.dim %[[A]]
// CHECK: %[[C:.*]] = memref.alloc(%[[SIZE]]) {alignment = 64 : i64} : memref<2x?xf32>
// CHECK: memref.copy %[[A]], %[[C]]
func.func @plain(%a: memref<2x?xf32>) -> memref<2x?xf32> {
  %0 = bufferization.clone %a : memref<2x?xf32> to memref<2x?xf32>
  return %0 : memref<2x?xf32>
}

// Rows in tiles of 8, whose number is the size of the first dimension: the elements are copied once, not for each row.
// CHECK-LABEL: func.func @tiled(
// CHECK-SAME: %[[A:.*]]: memref<?x?x8xf32, strided<[0, 8, 1]>>
// CHECK: %[[NUMBER:.*]] = arith.maxsi
// CHECK: %[[ROW:.*]] = memref.alloc(%[[NUMBER]]) {alignment = 64 : i64} : memref<?xf32>
// CHECK: %[[C:.*]] = memref.reinterpret_cast %[[ROW]] to offset: [0], sizes: [%{{.*}}, %{{.*}}, 8], strides: [0, 8, 1]
// CHECK: %[[FROM:.*]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [%[[NUMBER]]], strides: [1]
// CHECK: memref.copy %[[FROM]], %[[ROW]] : memref<?xf32> to memref<?xf32>
// CHECK: return %[[C]]
func.func @tiled(%a: memref<?x?x8xf32, strided<[0, 8, 1]>>) -> memref<?x?x8xf32, strided<[0, 8, 1]>> {
  %0 = bufferization.clone %a : memref<?x?x8xf32, strided<[0, 8, 1]>> to memref<?x?x8xf32, strided<[0, 8, 1]>>
  return %0 : memref<?x?x8xf32, strided<[0, 8, 1]>>
}

// Metadata in front of the elements are part of the copy.
// CHECK-LABEL: func.func @metadata(
// CHECK-SAME: %[[A:.*]]: memref<4x2xi16, strided<[2, 1], offset: 8>>
// CHECK: %[[ROW:.*]] = memref.alloc() {alignment = 64 : i64} : memref<16xi16>
// CHECK: %[[C:.*]] = memref.reinterpret_cast %[[ROW]] to offset: [8], sizes: [4, 2], strides: [2, 1]
// CHECK: %[[FROM:.*]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [16], strides: [1]
// CHECK: memref.copy %[[FROM]], %[[ROW]]
func.func @metadata(%a: memref<4x2xi16, strided<[2, 1], offset: 8>>) -> memref<4x2xi16, strided<[2, 1], offset: 8>> {
  %0 = bufferization.clone %a : memref<4x2xi16, strided<[2, 1], offset: 8>> to memref<4x2xi16, strided<[2, 1], offset: 8>>
  return %0 : memref<4x2xi16, strided<[2, 1], offset: 8>>
}
