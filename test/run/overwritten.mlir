// An alias keeps the elements of a tensor whose buffer is overwritten without being read.
// RUN: layout-opt %s --layout-to-llvm | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} \
// RUN:   | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx2 form=physical' \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#A = #layout.tiled<{1,0:T(2,4)}>
#C = #layout.tiled<{2,1,0:T(2,4)}>

func.func private @print(%x: tensor<8xi64>, %y: tensor<8xi64>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %p = arith.constant 0 : i64
  %a = vector.transfer_read %x[%c0], %p {in_bounds = [true]} : tensor<8xi64>, vector<8xi64>
  %b = vector.transfer_read %y[%c0], %p {in_bounds = [true]} : tensor<8xi64>, vector<8xi64>
  vector.print %a : vector<8xi64>
  vector.print %b : vector<8xi64>
  return
}

// Structured operations that read no destination.
func.func private @filled(%x: tensor<1x8xi64>) -> (tensor<8x1xi64>, tensor<1x8xi64>) attributes {no_inline} {
  %v = arith.constant -1 : i64
  %y = arith.addi %x, %x : tensor<1x8xi64>
  %e = tensor.empty() : tensor<8x1xi64>
  %t = linalg.transpose ins(%y : tensor<1x8xi64>) outs(%e : tensor<8x1xi64>) permutation = [1, 0]
  %w = linalg.fill ins(%v : i64) outs(%y : tensor<1x8xi64>) -> tensor<1x8xi64>
  return %t, %w : tensor<8x1xi64>, tensor<1x8xi64>
}

// The alias is of an update of the tensor, which is in the same buffer.
func.func private @updated(%x: tensor<1x8xi64>) -> (tensor<8x1xi64>, tensor<1x8xi64>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant -1 : i64
  %y = arith.addi %x, %x : tensor<1x8xi64>
  %z = tensor.insert %v into %y[%c0, %c1] : tensor<1x8xi64>
  %e = tensor.empty() : tensor<8x1xi64>
  %t = linalg.transpose ins(%z : tensor<1x8xi64>) outs(%e : tensor<8x1xi64>) permutation = [1, 0]
  %w = linalg.add ins(%x, %x : tensor<1x8xi64>, tensor<1x8xi64>) outs(%y : tensor<1x8xi64>) -> tensor<1x8xi64>
  return %t, %w : tensor<8x1xi64>, tensor<1x8xi64>
}

// Part of the tensor is overwritten, and the alias too.
func.func private @part(%x: tensor<2x4xi64, #A>) -> (tensor<1x2x4xi64, #C>, tensor<1x4xi64, #A>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %v = arith.constant 7 : i64
  %m = arith.constant -1 : i64
  %y = arith.addi %x, %x : tensor<2x4xi64, #A>
  %r = tensor.expand_shape %y [[0, 1], [2]] output_shape [1, 2, 4] : tensor<2x4xi64, #A> into tensor<1x2x4xi64, #C>
  %q = tensor.insert %v into %r[%c0, %c0, %c0] : tensor<1x2x4xi64, #C>
  %s = tensor.extract_slice %y[0, 0][1, 4][1, 1] : tensor<2x4xi64, #A> to tensor<1x4xi64, #A>
  %f = linalg.fill ins(%m : i64) outs(%s : tensor<1x4xi64, #A>) -> tensor<1x4xi64, #A>
  return %q, %f : tensor<1x2x4xi64, #C>, tensor<1x4xi64, #A>
}

// A loop carries the tensor, and overwrites it.
func.func private @carried(%x: tensor<1x8xi64>) -> (tensor<8x1xi64>, tensor<1x8xi64>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %y = arith.addi %x, %x : tensor<1x8xi64>
  %e = tensor.empty() : tensor<8x1xi64>
  %t = linalg.transpose ins(%y : tensor<1x8xi64>) outs(%e : tensor<8x1xi64>) permutation = [1, 0]
  %w = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %y) -> tensor<1x8xi64> {
    %v = arith.index_cast %i : index to i64
    %f = linalg.fill ins(%v : i64) outs(%a : tensor<1x8xi64>) -> tensor<1x8xi64>
    scf.yield %f : tensor<1x8xi64>
  }
  return %t, %w : tensor<8x1xi64>, tensor<1x8xi64>
}

func.func @main() {
  %n = arith.constant dense<[[1, 2, 3, 4, 5, 6, 7, 8]]> : tensor<1x8xi64>
  %t0, %w0 = call @filled(%n) : (tensor<1x8xi64>) -> (tensor<8x1xi64>, tensor<1x8xi64>)
  %a0 = tensor.collapse_shape %t0 [[0, 1]] : tensor<8x1xi64> into tensor<8xi64>
  %b0 = tensor.collapse_shape %w0 [[0, 1]] : tensor<1x8xi64> into tensor<8xi64>
  // CHECK: ( 2, 4, 6, 8, 10, 12, 14, 16 )
  // CHECK-NEXT: ( -1, -1, -1, -1, -1, -1, -1, -1 )
  call @print(%a0, %b0) : (tensor<8xi64>, tensor<8xi64>) -> ()
  %t1, %w1 = call @updated(%n) : (tensor<1x8xi64>) -> (tensor<8x1xi64>, tensor<1x8xi64>)
  %a1 = tensor.collapse_shape %t1 [[0, 1]] : tensor<8x1xi64> into tensor<8xi64>
  %b1 = tensor.collapse_shape %w1 [[0, 1]] : tensor<1x8xi64> into tensor<8xi64>
  // CHECK-NEXT: ( 2, -1, 6, 8, 10, 12, 14, 16 )
  // CHECK-NEXT: ( 2, 4, 6, 8, 10, 12, 14, 16 )
  call @print(%a1, %b1) : (tensor<8xi64>, tensor<8xi64>) -> ()
  %t2, %w2 = call @carried(%n) : (tensor<1x8xi64>) -> (tensor<8x1xi64>, tensor<1x8xi64>)
  %a2 = tensor.collapse_shape %t2 [[0, 1]] : tensor<8x1xi64> into tensor<8xi64>
  %b2 = tensor.collapse_shape %w2 [[0, 1]] : tensor<1x8xi64> into tensor<8xi64>
  // CHECK-NEXT: ( 2, 4, 6, 8, 10, 12, 14, 16 )
  // CHECK-NEXT: ( 1, 1, 1, 1, 1, 1, 1, 1 )
  call @print(%a2, %b2) : (tensor<8xi64>, tensor<8xi64>) -> ()
  %two = tensor.expand_shape %b0 [[0, 1]] output_shape [2, 4] : tensor<8xi64> into tensor<2x4xi64>
  %c = layout.convert %two : tensor<2x4xi64> to tensor<2x4xi64, #A>
  %q, %f = call @part(%c) : (tensor<2x4xi64, #A>) -> (tensor<1x2x4xi64, #C>, tensor<1x4xi64, #A>)
  %q1 = layout.convert %q : tensor<1x2x4xi64, #C> to tensor<1x2x4xi64>
  %a3 = tensor.collapse_shape %q1 [[0, 1, 2]] : tensor<1x2x4xi64> into tensor<8xi64>
  // CHECK-NEXT: ( 7, -2, -2, -2, -2, -2, -2, -2 )
  // CHECK-NEXT: ( -1, -1, -1, -1, -1, -1, -1, -1 )
  call @print(%a3, %b0) : (tensor<8xi64>, tensor<8xi64>) -> ()
  return
}
