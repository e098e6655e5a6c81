// --convert-math-to-llvm computes expm1 and log1p by way of 1, which loses small arguments.
//
// Expected: calls of expm1f and log1pf, or another computation that is as exact: expm1(x) is nearly x for a small x.
// Found, by MLIR 22.1.8: exp(x) - 1 and log(1 + x). Both are 0 for |x| below 6e-8 in f32.
//
// Worked around by layout-call-libm.
// RUN: mlir-opt %s --convert-math-to-llvm | FileCheck %s

// CHECK: llvm.intr.exp
// CHECK-NEXT: llvm.fsub
// CHECK: llvm.fadd
// CHECK-NEXT: llvm.intr.log
func.func @small(%x: f32) -> (f32, f32) {
  %e = math.expm1 %x : f32
  %l = math.log1p %x : f32
  return %e, %l : f32, f32
}
