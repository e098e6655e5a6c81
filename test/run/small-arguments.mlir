// Of small arguments expm1 and log1p give the argument: exp(x) - 1 and log(1 + x) would be 0. In plain loops and in vectors.
// RUN: layout-opt %s --layout-to-llvm | mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=vectorize=avx512 | mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx2 approximate' | mlir-runner -e main -entry-point-result=void \
// RUN:   -shared-libs=%{runner_libs} | FileCheck %s

#T = #layout.tiled<{0:T(8)}>

func.func private @of_f32(%x: tensor<19xf32, #T>) {
  %none = arith.constant 0.0 : f32
  %zero = arith.constant 0 : index
  %e = math.expm1 %x : tensor<19xf32, #T>
  %l = math.log1p %x : tensor<19xf32, #T>
  %both = arith.addf %e, %l : tensor<19xf32, #T>
  %plain = layout.convert %both : tensor<19xf32, #T> to tensor<19xf32>
  %v = vector.transfer_read %plain[%zero], %none : tensor<19xf32>, vector<19xf32>
  vector.print %v : vector<19xf32>
  return
}

func.func private @of_f64(%x: tensor<5xf64, #T>) {
  %none = arith.constant 0.0 : f64
  %zero = arith.constant 0 : index
  %e = math.expm1 %x : tensor<5xf64, #T>
  %l = math.log1p %e : tensor<5xf64, #T>
  %plain = layout.convert %l : tensor<5xf64, #T> to tensor<5xf64>
  %v = vector.transfer_read %plain[%zero], %none : tensor<5xf64>, vector<5xf64>
  vector.print %v : vector<5xf64>
  return
}

func.func @main() {
  %x = arith.constant dense<1.0e-10> : tensor<19xf32, #T>
  // CHECK-COUNT-19: 2e-10
  call @of_f32(%x) : (tensor<19xf32, #T>) -> ()
  %y = arith.constant dense<1.0e-20> : tensor<5xf64, #T>
  // CHECK-COUNT-5: 1e-20
  call @of_f64(%y) : (tensor<5xf64, #T>) -> ()
  return
}
