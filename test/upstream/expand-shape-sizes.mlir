// --expand-strided-metadata crashes on a memref.expand_shape of which a group has two sizes known only at run time, and divides
// by 0 where the other size of a group is 0.
//
// Expected: the sizes that `output_shape` says: a cast to sizes [%p, %q] and strides [%q, 1].
// Found, by MLIR 22.1.8: it takes a size known only at run time for that of the source divided by the others, so that of two of
// them one is no value, of which it asks for the number. Of `?x0` the size is that of the source `floordiv 0`.
//
// Worked around in passes/llvm/dynamic_reshapes.rs: such a reshape becomes a cast before.
// RUN: split-file %s %t
// RUN: not --crash mlir-opt %t/two.mlir --expand-strided-metadata
// RUN: mlir-opt %t/zero.mlir --expand-strided-metadata | FileCheck %s

//--- two.mlir
func.func @two(%x: memref<?xf32>, %p: index, %q: index) -> memref<?x?xf32> {
  %0 = memref.expand_shape %x [[0, 1]] output_shape [%p, %q] : memref<?xf32> into memref<?x?xf32>
  return %0 : memref<?x?xf32>
}

//--- zero.mlir
// CHECK: affine_map<()[s0] -> (s0 floordiv 0)>
func.func @zero(%x: memref<?xf32>, %p: index) -> memref<?x0xf32> {
  %0 = memref.expand_shape %x [[0, 1]] output_shape [%p, 0] : memref<?xf32> into memref<?x0xf32>
  return %0 : memref<?x0xf32>
}
