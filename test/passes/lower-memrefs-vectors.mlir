// layout-lower-memrefs on vector accesses: one vector access inside a tile, element by element elsewhere.
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs | FileCheck %s

#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @inside_a_tile(
// CHECK: affine.for %[[I:.*]] = 0 to 16
// CHECK: affine.for %[[J:.*]] = 0 to 256 step 128
// CHECK: %[[V:.*]] = vector.load %{{.*}} : memref<2x8x2x128xf32, strided<[2048, 128, 1024, 1]>>, vector<128xf32>
// CHECK: vector.store %[[V]], %{{.*}} : memref<2x8x2x128xf32, strided<[2048, 128, 1024, 1]>>, vector<128xf32>
func.func @inside_a_tile(%m: memref<16x256xf32, #T>, %n: memref<16x256xf32, #T>) {
  %p = arith.constant 0.0 : f32
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 256 step 128 {
      %v = vector.transfer_read %m[%i, %j], %p {in_bounds = [true]} : memref<16x256xf32, #T>, vector<128xf32>
      vector.transfer_write %v, %n[%i, %j] : vector<128xf32>, memref<16x256xf32, #T>
    }
  }
  return
}

// -----

// Sizes that the padding exceeds end the transfer; what is outside is the padding value, not the buffer's padding.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @ragged(
// CHECK-SAME: %[[M:.*]]: memref<{{.*}}>, %[[I:.*]]: index, %[[J:.*]]: index
// CHECK: %[[PADDING:.*]] = vector.broadcast %{{.*}} : f32 to vector<32xf32>
// CHECK: scf.for %{{.*}} iter_args(%[[ROW:.*]] = %[[PADDING]]) -> (vector<32xf32>)
// CHECK: arith.constant 250 : index
// CHECK: arith.cmpi slt
// CHECK: arith.constant 15 : index
// CHECK: arith.cmpi slt
// CHECK: scf.if
// CHECK: %[[X:.*]] = memref.load %[[M]]
// CHECK: vector.insert %[[X]], %[[ROW]]
// CHECK: vector.shape_cast %{{.*}} : vector<32xf32> to vector<4x8xf32>
func.func @ragged(%m: memref<15x250xf32, #T>, %i: index, %j: index) -> vector<4x8xf32> {
  %p = arith.constant 1.0 : f32
  %0 = vector.transfer_read %m[%i, %j], %p : memref<15x250xf32, #T>, vector<4x8xf32>
  return %0 : vector<4x8xf32>
}

// -----

#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @masked(
// CHECK: scf.for
// CHECK: vector.extract %{{.*}} : i1 from vector<8xi1>
// CHECK: scf.if
// CHECK: vector.extract %{{.*}} : f32 from vector<8xf32>
// CHECK: memref.store
func.func @masked(%m: memref<15x250xf32, #T>, %i: index, %j: index, %v: vector<8xf32>, %k: vector<8xi1>) {
  vector.transfer_write %v, %m[%i, %j], %k {in_bounds = [true]} : vector<8xf32>, memref<15x250xf32, #T>
  return
}
