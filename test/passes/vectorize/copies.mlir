// Copies between layouts become whole vectors, of the length that the machine has.
// RUN: bash %S/Inputs/both-forms.sh %s %t
// RUN: FileCheck %s --check-prefixes=CHECK,STRIDED --input-file=%t
// RUN: FileCheck %s --check-prefixes=CHECK,PHYSICAL --input-file=%t.physical
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx2' | FileCheck %s --check-prefix=AVX2
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=neon' | FileCheck %s --check-prefix=NEON
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=neon vector-bits=64' \
// RUN:   | FileCheck %s --check-prefix=HALF

// Into tiles: whole vectors from buffer to buffer.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @to_tiles(
// STRIDED-SAME: %[[R:[^:]*]]: memref<4x8x2x128xf32, strided<[2048, 128, 1024, 1]>>)
// PHYSICAL-SAME: %[[R:[^:]*]]: memref<4x2x8x128xf32>)
// CHECK: %[[FLAT:.*]] = memref.reinterpret_cast %[[R]] to offset: [0], sizes: [8192], strides: [1] {{.*}} to memref<8192xf32>
// CHECK-NOT: load
// CHECK: %[[V:.*]] = vector.load %{{.*}} : memref<8192xf32>, vector<16xf32>
// CHECK: vector.store %[[V]], %[[FLAT]]{{.*}} : memref<8192xf32>, vector<16xf32>
// CHECK-NOT: mask
// CHECK: return
// AVX2-LABEL: func.func @to_tiles(
// AVX2: vector.load {{.*}}vector<8xf32>
// NEON-LABEL: func.func @to_tiles(
// NEON: vector.load {{.*}}vector<4xf32>
// HALF-LABEL: func.func @to_tiles(
// HALF: vector.load {{.*}}vector<2xf32>
func.func @to_tiles(%a: memref<32x256xf32>, %r: memref<32x256xf32, #T>) {
  memref.copy %a, %r : memref<32x256xf32> to memref<32x256xf32, #T>
  return
}

// -----

// A transpose goes through registers: both sides have whole vectors.
// CHECK-LABEL: func.func @transpose(
// CHECK: vector.load {{.*}}vector<16xf32>
// CHECK: vector.shuffle
// CHECK: vector.store {{.*}}vector<16xf32>
// CHECK-NOT: memref.store
// CHECK: return
func.func @transpose(%a: memref<64x64xf32>, %r: memref<64x64xf32, #layout.tiled<{0,1}>>) {
  memref.copy %a, %r : memref<64x64xf32> to memref<64x64xf32, #layout.tiled<{0,1}>>
  return
}
