// A dimension of the input, of a size known only at run time, along which the result has one place: no sum, and no vector
// code.
// RUN: layout-opt %s --layout-to-memref=vectorize=avx2 --verify-diagnostics | FileCheck %s

#T = #layout.tiled<{1,0:T(5,2)}>
#R = #layout.tiled<{1,0}>
// CHECK-LABEL: func.func @rows(
// CHECK-NOT: vector
// CHECK: memref.store
func.func @rows(%a: tensor<?x5xi8, #T>, %r: tensor<1x5xi8, #R> {bufferization.writable = true}, %n: index) -> tensor<1x5xi8, #R> {
  // expected-remark@+1 {{not vectorised: a size that is known only at run time is of a dimension that has one place in an output}}
  %all = tensor.insert_slice %a into %r[0, 0] [%n, 5] [1, 1] : tensor<?x5xi8, #T> into tensor<1x5xi8, #R>
  return %all : tensor<1x5xi8, #R>
}
