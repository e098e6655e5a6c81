// Operations of the complex dialect by known numbers: those that upstream has no direct conversion to LLVM for, and quotients
// and magnitudes of large, small and infinite numbers.
// RUN: layout-opt %s --layout-to-llvm | \
// RUN: mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#t = #layout.tiled<{0:T(2)}>

// CHECK: -1
// CHECK-NEXT: 2
// CHECK-NEXT: -3
// CHECK-NEXT: 4
// CHECK-NEXT: 1
// CHECK-NEXT: 0
func.func @quotients(%a: tensor<5xcomplex<f32>>, %b: tensor<5xcomplex<f32>>) attributes {no_inline} {
  %e = tensor.empty() : tensor<5xcomplex<f32>>
  %q = linalg.map {complex.div} ins(%a, %b : tensor<5xcomplex<f32>>, tensor<5xcomplex<f32>>) outs(%e : tensor<5xcomplex<f32>>)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  scf.for %i = %c0 to %c5 step %c1 {
    %v = tensor.extract %q[%i] : tensor<5xcomplex<f32>>
    %re = complex.re %v : complex<f32>
    %im = complex.im %v : complex<f32>
    vector.print %re : f32
    vector.print %im : f32
  }
  return
}

func.func @magnitudes(%a: complex<f32>, %b: complex<f64>) attributes {no_inline} {
  %narrow = complex.abs %a : complex<f32>
  %wide = complex.abs %b : complex<f64>
  vector.print %narrow : f32
  vector.print %wide : f64
  return
}

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
  // CHECK-NEXT: 0.5
  // CHECK-NEXT: -0.5
  // CHECK-NEXT: 0
  // CHECK-NEXT: -2
  // CHECK-NEXT: 0
  // CHECK-NEXT: 0
  // CHECK-NEXT: inf
  // CHECK-NEXT: inf
  // CHECK-NEXT: -1
  // CHECK-NEXT: 3
  %a = arith.constant dense<[(1.0e20, 0.0), (2.0e-25, 0.0), (1.0, 0.0), (1.0, 1.0), (5.0, 5.0)]> : tensor<5xcomplex<f32>>
  %b = arith.constant dense<[(1.0e20, 1.0e20), (0.0, 1.0e-25), (0x7F800000, 0.0), (0.0, 0.0), (1.0, -2.0)]> : tensor<5xcomplex<f32>>
  call @quotients(%a, %b) : (tensor<5xcomplex<f32>>, tensor<5xcomplex<f32>>) -> ()
  // CHECK-NEXT: 5e+30
  // CHECK-NEXT: 5e-200
  %large = complex.constant [3.0e30 : f32, -4.0e30 : f32] : complex<f32>
  %small = complex.constant [3.0e-200 : f64, 4.0e-200 : f64] : complex<f64>
  call @magnitudes(%large, %small) : (complex<f32>, complex<f64>) -> ()
  return
}
