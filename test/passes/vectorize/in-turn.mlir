// Where operands are cut differently along some dimensions, their steps are done one after another, each in vectors.
// RUN: layout-opt %s --layout-to-memref='vectorize=avx512' | FileCheck %s
// RUN: layout-opt %s --layout-to-memref='vectorize=avx512 form=physical' | FileCheck %s

// Rows in tiles of 6 and of 4.
// CHECK-LABEL: func.func @cuts(
// CHECK: scf.for %[[I:.*]] = %c0 to %c24 step %c1
// CHECK: affine.apply #{{.*}}%[[I]]
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK-NOT: affine.store
// CHECK: return
func.func @cuts(%a: memref<24x64xf32, #layout.tiled<{1,0:T(6,8)}>>, %r: memref<24x64xf32, #layout.tiled<{1,0:T(4,8)}>>) {
  memref.copy %a, %r : memref<24x64xf32, #layout.tiled<{1,0:T(6,8)}>> to memref<24x64xf32, #layout.tiled<{1,0:T(4,8)}>>
  return
}

// A slice that begins inside a tile: row after row.
// CHECK-LABEL: func.func @shifted(
// CHECK: scf.for %{{.*}} = %c0 to %c14 step %c1
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: vector.store {{.*}} vector<16xf32>
// CHECK-NOT: affine.store
// CHECK: return
#tiles = #layout.tiled<{1,0:T(8,128)}>
func.func @shifted(%x: tensor<14x256xf32, #tiles>) -> tensor<16x256xf32, #tiles> {
  %zero = arith.constant 0.0 : f32
  %bare = layout.convert %x : tensor<14x256xf32, #tiles> to tensor<14x256xf32>
  %padded = tensor.pad %bare low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<14x256xf32> to tensor<16x256xf32>
  %r = layout.convert %padded : tensor<16x256xf32> to tensor<16x256xf32, #tiles>
  return %r : tensor<16x256xf32, #tiles>
}

// A row whose number the program computes: the tile that it is in is the same for all its elements.
// CHECK-LABEL: func.func @row(
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: vector.store {{.*}} vector<16xf32>
// CHECK-NOT: affine.store
// CHECK: return
func.func @row(%x: tensor<32x512xf32, #tiles>, %row: index) -> tensor<512xf32> {
  %bare = layout.convert %x : tensor<32x512xf32, #tiles> to tensor<32x512xf32>
  %slice = tensor.extract_slice %bare[%row, 0] [1, 512] [1, 1] : tensor<32x512xf32> to tensor<512xf32>
  %empty = tensor.empty() : tensor<512xf32>
  %r = linalg.copy ins(%slice : tensor<512xf32>) outs(%empty : tensor<512xf32>) -> tensor<512xf32>
  return %r : tensor<512xf32>
}
