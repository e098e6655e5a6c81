// --convert-to-llvm computes quotients and magnitudes of complex numbers by the squares of their parts.
//
// Expected: no overflow where the result is a number, as by --convert-complex-to-standard: (1e20 + 1e20i) / 1e20 is 1 + 1i.
// Found, by MLIR 22.1.8: NaN and infinity, as the squares are infinite; and 1 / inf is NaN.
//
// Worked around by the order of `STAGES` in passes/llvm/convert_to_llvm.rs.
// RUN: mlir-opt %s --convert-to-llvm | FileCheck %s

// CHECK-LABEL: @magnitude
// CHECK: %[[RE:.*]] = llvm.fmul %[[A:.*]], %[[A]]
// CHECK: %[[IM:.*]] = llvm.fmul %[[B:.*]], %[[B]]
// CHECK: %[[SUM:.*]] = llvm.fadd %[[RE]], %[[IM]]
// CHECK: llvm.intr.sqrt(%[[SUM]])
func.func @magnitude(%x: complex<f32>) -> f32 {
  %y = complex.abs %x : complex<f32>
  return %y : f32
}

// CHECK-LABEL: @quotient
// CHECK: %[[RE:.*]] = llvm.fmul %[[A:.*]], %[[A]]
// CHECK: %[[IM:.*]] = llvm.fmul %[[B:.*]], %[[B]]
// CHECK: %[[SUM:.*]] = llvm.fadd %[[RE]], %[[IM]]
// CHECK: llvm.fdiv %{{.*}}, %[[SUM]]
func.func @quotient(%x: complex<f32>, %y: complex<f32>) -> complex<f32> {
  %z = complex.div %x, %y : complex<f32>
  return %z : complex<f32>
}
