// Contractions keep a tile of the result in registers.
// RUN: bash %S/Inputs/both-forms.sh %s %t
// RUN: FileCheck %s --input-file=%t
// RUN: FileCheck %s --input-file=%t.physical
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 contract' \
// RUN:   | FileCheck %s --check-prefix=CONTRACT

// A contraction: a tile of the result in accumulators over the loops of the sum, each operand in a layout of its own.
#T = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{0,1}>
// CHECK-LABEL: func.func @contraction(
// CHECK: vector.load %{{.*}} : memref<8192xf32>, vector<16xf32>
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>
// CHECK: memref.load
// CHECK: vector.broadcast {{.*}} : f32 to vector<16xf32>
// CHECK: arith.mulf %{{[^ ]*}}, %{{[^ ]*}} : vector<16xf32>
// CHECK: arith.addf %{{[^ ]*}}, %{{[^ ]*}} : vector<16xf32>
// CHECK: scf.yield {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK: vector.store
// CHECK: return
// CONTRACT-LABEL: func.func @contraction(
// CONTRACT: arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CONTRACT: arith.addf {{.*}} fastmath<contract> : vector<16xf32>
func.func @contraction(%a: memref<32x64xf32, #C>, %b: memref<64x256xf32, #T>, %r: memref<32x256xf32>) {
  linalg.matmul ins(%a, %b : memref<32x64xf32, #C>, memref<64x256xf32, #T>) outs(%r : memref<32x256xf32>)
  return
}

// -----

// A convolution: an operand that only has the sizes of a window is not read, whatever its elements are. The columns of the
// result and the features of the kernel are in accumulators.
// CHECK-LABEL: func.func @convolution(
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>
// CHECK: memref.load %{{.*}} : memref<300xf32>
// CHECK: vector.broadcast {{.*}} : f32 to vector<16xf32>
// CHECK: vector.load %{{.*}} : memref<864xf32>, vector<16xf32>
// CHECK: return
func.func @convolution(%x: memref<1x10x10x3xf32>, %k: memref<3x3x3x32xf32>, %window: memref<3x3xi1>,
                       %r: memref<1x8x8x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(b, i, j, f, p, q, c) -> (b, i + p, j + q, c)>,
      affine_map<(b, i, j, f, p, q, c) -> (p, q, c, f)>, affine_map<(b, i, j, f, p, q, c) -> (p, q)>,
      affine_map<(b, i, j, f, p, q, c) -> (b, i, j, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %k, %window : memref<1x10x10x3xf32>, memref<3x3x3x32xf32>, memref<3x3xi1>)
      outs(%r : memref<1x8x8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %unused: i1, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
