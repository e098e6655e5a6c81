// Sizes of tiled dimensions that only the running program knows: a dimension of stride 0 carries each.
// RUN: layout-opt %s --layout-lower-memrefs | FileCheck %s
// RUN: layout-opt %s --layout-lower-memrefs=form=physical | FileCheck %s --check-prefix=PHYSICAL

// CHECK: func.func private @both(memref<?x?x?x8x?x128xf32, strided<[0, 0, ?, 128, 1024, 1]>>)
// PHYSICAL: func.func private @both(memref<?x?x?x?x8x128xf32, strided<[0, 0, ?, 1024, 128, 1]>>)
func.func private @both(memref<?x?xf32, #layout.tiled<{1,0:T(8,128)}>>)

// CHECK: func.func private @rows(memref<?x?x8x2x128xf32, strided<[0, 2048, 128, 1024, 1]>>)
func.func private @rows(memref<?x200xf32, #layout.tiled<{1,0:T(8,128)}>>)

// A size that no tile cuts is that of its own dimension.
// CHECK: func.func private @major(memref<?x?x3x8x?x128xf32, strided<[0, ?, ?, 128, 1024, 1]>>)
func.func private @major(memref<?x20x?xf32, #layout.tiled<{2,1,0:T(8,128)}>>)

// The second tile cuts the grid of the first.
// CHECK: func.func private @grid(memref<?x?x4x2x2x2xf32, strided<[0, 16, 2, ?, 1, 8]>>)
func.func private @grid(memref<?x5xf32, #layout.tiled<{0,1:T(2,4)(2,1,1,1)}>>)

// CHECK: func.func private @packed(memref<?x?x?x8x?x128xi8, strided<[0, 0, ?, 1, 1024, 8]>>)
func.func private @packed(memref<?x?xi4, #layout.tiled<{1,0:T(16,128)(16,1)E(4)}>>)

// The number of tiles is rounded up, of 0 rows to 0.
// CHECK-LABEL: func.func @allocate(
// CHECK-SAME: %[[N:.*]]: index
// CHECK: %[[TILES_OF_N:.*]] = affine.apply
// CHECK: %[[ROW:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: memref.reinterpret_cast %[[ROW]] to offset: [0], sizes: [%[[N]], %{{.*}}, 8, 2, 128], strides: [0, 2048, 128, 1024, 1]
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: memref.dim %{{.*}}, %[[ZERO]]
func.func @allocate(%n: index) -> index {
  %m = memref.alloc(%n) : memref<?x200xf32, #layout.tiled<{1,0:T(8,128)}>>
  %zero = arith.constant 0 : index
  %d = memref.dim %m, %zero : memref<?x200xf32, #layout.tiled<{1,0:T(8,128)}>>
  memref.dealloc %m : memref<?x200xf32, #layout.tiled<{1,0:T(8,128)}>>
  return %d : index
}

// A cast that says the size takes its dimension away, one that forgets it makes it.
// CHECK-LABEL: func.func @cast(
// CHECK-SAME: %[[M:.*]]: memref<?x?x8x2x128xf32, strided<[0, 2048, 128, 1024, 1]>>
// CHECK: %[[STATIC:.*]] = memref.reinterpret_cast %[[M]] to offset: [0], sizes: [2, 8, 2, 128], strides: [2048, 128, 1024, 1]
// CHECK: memref.reinterpret_cast %[[STATIC]] to offset: [0], sizes: [%{{.*}}, %{{.*}}, 8, 2, 128], strides: [0, 2048, 128, 1024, 1]
func.func @cast(%m: memref<?x200xf32, #layout.tiled<{1,0:T(8,128)}>>) -> memref<?x200xf32, #layout.tiled<{1,0:T(8,128)}>> {
  %s = memref.cast %m : memref<?x200xf32, #layout.tiled<{1,0:T(8,128)}>> to memref<15x200xf32, #layout.tiled<{1,0:T(8,128)}>>
  %d = memref.cast %s : memref<15x200xf32, #layout.tiled<{1,0:T(8,128)}>> to memref<?x200xf32, #layout.tiled<{1,0:T(8,128)}>>
  return %d : memref<?x200xf32, #layout.tiled<{1,0:T(8,128)}>>
}

// A dimension of size 1 has another stride than one that may be longer, and no elements have none.
// CHECK-LABEL: func.func @one_row(
// CHECK: memref.reinterpret_cast {{.*}} memref<1x2x4xf32, strided<[4, 4, 1]>> to memref<?x2x4xf32>
// CHECK: memref.reinterpret_cast {{.*}} memref<0x8xf32> to memref<?x8xf32, strided<[1, ?]>>
// PHYSICAL-LABEL: func.func @one_row(
// PHYSICAL: memref.reinterpret_cast {{.*}} memref<2x1x4xf32> to memref<?x2x4xf32>
// PHYSICAL: memref.reinterpret_cast {{.*}} memref<0x8xf32> to memref<8x?xf32>
func.func @one_row(%x: memref<1x8xf32, #layout.tiled<{1,0:T(1,4)}>>, %y: memref<0x8xf32, #layout.tiled<{0,1}>>)
    -> (memref<?x8xf32, #layout.tiled<{1,0:T(1,4)}>>, memref<?x8xf32, #layout.tiled<{0,1}>>) {
  %r = memref.cast %x : memref<1x8xf32, #layout.tiled<{1,0:T(1,4)}>> to memref<?x8xf32, #layout.tiled<{1,0:T(1,4)}>>
  %s = memref.cast %y : memref<0x8xf32, #layout.tiled<{0,1}>> to memref<?x8xf32, #layout.tiled<{0,1}>>
  return %r, %s : memref<?x8xf32, #layout.tiled<{1,0:T(1,4)}>>, memref<?x8xf32, #layout.tiled<{0,1}>>
}
