// Functions with branches between blocks: what they fill and return.
// RUN: layout-opt %s --layout-to-memref=form=physical | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm | FileCheck %s --check-prefix=LLVM

#T = #layout.tiled<{0:T(2)}>
#A = #layout.tiled<{1,0:T(2,4)}>

// The argument is used after it is filled, and so are both names of the filled tensor.
// CHECK-LABEL: func @filled(
// CHECK-SAME: %[[X:.*]]: memref<2x2xi64>
// CHECK-NOT: affine.store {{.*}}, %[[X]]
// CHECK: return
func.func private @use(tensor<4xi64, #T>)
func.func @filled(%x: tensor<4xi64, #T> {bufferization.writable = true}) -> tensor<4xi64, #T> {
  %v = arith.constant 99 : i64
  %y = linalg.fill ins(%v : i64) outs(%x : tensor<4xi64, #T>) -> tensor<4xi64, #T>
  cf.br ^a
^a:
  call @use(%y) : (tensor<4xi64, #T>) -> ()
  call @use(%y) : (tensor<4xi64, #T>) -> ()
  return %x : tensor<4xi64, #T>
}

// Upstream folds the cast into the copy that is returned second.
// CHECK-LABEL: func @cast_twice(
// LLVM: llvm.func @cast_twice(
func.func @cast_twice(%c: i1, %x: tensor<4x8xi64, #A>) -> (tensor<?x8xi64, #A>, tensor<?x8xi64, #A>) {
  %y = tensor.cast %x : tensor<4x8xi64, #A> to tensor<?x8xi64, #A>
  cf.cond_br %c, ^a, ^b
^a:
  return %y, %y : tensor<?x8xi64, #A>, tensor<?x8xi64, #A>
^b:
  return %y, %y : tensor<?x8xi64, #A>, tensor<?x8xi64, #A>
}
