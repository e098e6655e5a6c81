// --canonicalize folds a remainder of a sum that can be negative.
//
// Expected: the index stays. With %i = 0 and %k = 0 it is (0 mod 5) floordiv 4 = 0.
// Found, by MLIR 22.1.8: it is folded to 1 for all %i and %k. The remainder of the dividend's lower bound, -6 mod 5 =
// 4, is taken for the lower bound of the remainder. The dividend, in [-6, 2], passes multiples of 5, so that is 0.
//
// Worked around by `nonnegative` in passes/ir/builder.rs, which writes no negative factor below a remainder.
// RUN: mlir-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @remainder(
// CHECK: affine.load %{{.*}}[1]
func.func @remainder(%from: memref<2xf32>, %to: memref<3x4xf32>) {
  affine.for %i = 0 to 3 {
    affine.for %k = 0 to 4 {
      %x = affine.load %from[((%i - %k * 2) mod 5) floordiv 4] : memref<2xf32>
      affine.store %x, %to[%i, %k] : memref<3x4xf32>
    }
  }
  return
}
