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
