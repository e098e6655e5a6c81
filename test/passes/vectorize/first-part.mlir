// A kernel over the first elements of a buffer: behind them are others, and no padding.
// RUN: layout-opt %s --layout-to-memref='vectorize=avx2 padding=typed verify' | FileCheck %s

#t = #layout.tiled<{0:T(8)}>

// The copy of the whole goes over whole tiles, that of the part does not.
// CHECK-LABEL: @replaced(
// CHECK-NOT: mask
// CHECK: vector.store
// CHECK: vector.maskedstore
// CHECK-NOT: masked
// CHECK: return
func.func @replaced(%a: tensor<100xf32, #t>, %b: tensor<90xf32, #t>) -> tensor<100xf32, #t> {
  %r = tensor.insert_slice %b into %a[0] [90] [1] : tensor<90xf32, #t> into tensor<100xf32, #t>
  return %r : tensor<100xf32, #t>
}

// Zeros in the padding of the whole do not change a sum of the whole, but are not what is behind a part.
// CHECK-LABEL: @whole(
// CHECK-NOT: maskedload
// CHECK: return
func.func @whole(%a: tensor<100xi32, #t> {layout.padding = 0 : i32}) -> tensor<i32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %r = linalg.reduce { arith.addi } ins(%a : tensor<100xi32, #t>) outs(%zero : tensor<i32>) dimensions = [0]
  return %r : tensor<i32>
}
// CHECK-LABEL: @part(
// CHECK: maskedload
// CHECK: return
func.func @part(%a: tensor<100xi32, #t> {layout.padding = 0 : i32}) -> tensor<i32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %s = tensor.extract_slice %a[0] [90] [1] : tensor<100xi32, #t> to tensor<90xi32, #t>
  %r = linalg.reduce { arith.addi } ins(%s : tensor<90xi32, #t>) outs(%zero : tensor<i32>) dimensions = [0]
  return %r : tensor<i32>
}
