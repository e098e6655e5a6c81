// Operations of the complex dialect that upstream has no direct conversion to LLVM for, by known numbers.
// RUN: layout-opt %s --layout-to-llvm | \
// RUN: mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#t = #layout.tiled<{0:T(2)}>

// CHECK: -1
// CHECK-NEXT: 2
// CHECK-NEXT: -3
// CHECK-NEXT: 4
// CHECK-NEXT: 1
// CHECK-NEXT: 0
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %x = arith.constant dense<[(1.0, -2.0), (3.0, -4.0), (0.0, 0.0)]> : tensor<3xcomplex<f32>>
  %t = layout.convert %x : tensor<3xcomplex<f32>> to tensor<3xcomplex<f32>, #t>
  %e = tensor.empty() : tensor<3xcomplex<f32>, #t>
  %n = linalg.map ins(%t : tensor<3xcomplex<f32>, #t>) outs(%e : tensor<3xcomplex<f32>, #t>)
    (%a: complex<f32>, %o: complex<f32>) {
      %negative = complex.neg %a : complex<f32>
      linalg.yield %negative : complex<f32>
    }
  scf.for %i = %c0 to %c3 step %c1 {
    %v = tensor.extract %n[%i] : tensor<3xcomplex<f32>, #t>
    %last = arith.constant 2 : index
    %is_last = arith.cmpi eq, %i, %last : index
    %power = complex.exp %v : complex<f32>
    %chosen = arith.select %is_last, %power, %v : complex<f32>
    %re = complex.re %chosen : complex<f32>
    %im = complex.im %chosen : complex<f32>
    vector.print %re : f32
    vector.print %im : f32
  }
  return
}
