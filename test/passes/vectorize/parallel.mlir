// With `parallel`, the outermost loop is a parallel one.
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 parallel=parallel' \
// RUN:   | FileCheck %s --check-prefix=LOOPS
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 parallel=forall' \
// RUN:   | FileCheck %s --check-prefix=FORALL

// Only the outermost loop is parallel.
#T = #layout.tiled<{1,0:T(8,128)}>
// LOOPS-LABEL: func.func @to_tiles(
// LOOPS: scf.parallel
// LOOPS-NOT: scf.parallel
// LOOPS: scf.for
// FORALL-LABEL: func.func @to_tiles(
// FORALL: scf.forall (%{{.*}}) in (4)
// FORALL-NOT: scf.forall
// FORALL: scf.for
func.func @to_tiles(%a: memref<32x256xf32>, %r: memref<32x256xf32, #T>) {
  memref.copy %a, %r : memref<32x256xf32> to memref<32x256xf32, #T>
  return
}

// -----

// The loop of the sum is not.
#T = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{0,1}>
// LOOPS-LABEL: func.func @contraction(
// LOOPS: scf.parallel
// LOOPS: scf.for {{.*}} iter_args(
// LOOPS: return
func.func @contraction(%a: memref<32x64xf32, #C>, %b: memref<64x256xf32, #T>, %r: memref<32x256xf32>) {
  linalg.matmul ins(%a, %b : memref<32x64xf32, #C>, memref<64x256xf32, #T>) outs(%r : memref<32x256xf32>)
  return
}
