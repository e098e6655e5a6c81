// --canonicalize takes the size of another dimension for that of a memref.subview that leaves out dimensions of one element.
//
// Expected: @size returns %n. The result's sizes are [1, %n, %m], so the dimension that it leaves out is the third.
// Found, by MLIR 22.1.8: it returns %m. `memref.subview` says which dimensions it leaves out by its strides alone, and of
// strides that are the same, or both `?`, the first is taken. So are the strides: --expand-strided-metadata, before it builds
// a cast that the verifier refuses, gives the result those of the last three dimensions. Where the size that is found is no
// value, --canonicalize crashes.
//
// Worked around in passes/bufferize/rank_reduction.rs: a slice of which this is open leaves out no dimension, and is reshaped.
// RUN: mlir-opt %s --canonicalize | FileCheck %s
// RUN: not mlir-opt %s --expand-strided-metadata 2>&1 | FileCheck %s --check-prefix=STRIDES

// STRIDES: error: expected result type with size = dynamic instead of 1 in dim = 0

// CHECK-LABEL: func.func @size(
// CHECK-SAME: %[[N:.*]]: index, %[[M:.*]]: index)
// CHECK: return %[[M]]
func.func @size(%x: memref<?x?x?x?xf32>, %n: index, %m: index) -> index {
  %c1 = arith.constant 1 : index
  %s = memref.subview %x[0, 0, 0, 0] [1, %n, 1, %m] [1, 1, 1, 1]
      : memref<?x?x?x?xf32> to memref<1x?x?xf32, strided<[?, ?, 1]>>
  %d = memref.dim %s, %c1 : memref<1x?x?xf32, strided<[?, ?, 1]>>
  return %d : index
}

func.func @read(%x: memref<?x?x?x?xf32>, %n: index, %m: index, %i: index, %j: index) -> f32 {
  %c0 = arith.constant 0 : index
  %s = memref.subview %x[0, 0, 0, 0] [1, %n, 1, %m] [1, 1, 1, 1]
      : memref<?x?x?x?xf32> to memref<1x?x?xf32, strided<[?, ?, 1]>>
  %f = memref.load %s[%c0, %i, %j] : memref<1x?x?xf32, strided<[?, ?, 1]>>
  return %f : f32
}
