// The operations of mini-opt by known numbers: x * w is [[1, -1, 3], [-2, 4, 4]].
func.func private @printMemrefF32(tensor<*xf32>)
func.func @rows(%x: tensor<2x2xf32>, %w: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {no_inline} {
  %y = mini.product %x, %w : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = mini.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %n = mini.normalize %r : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %n : tensor<2x3xf32>
}
func.func @main() {
  %x = arith.constant dense<[[1.0, 0.0], [0.0, 2.0]]> : tensor<2x2xf32>
  %w = arith.constant dense<[[1.0, -1.0, 3.0], [-1.0, 2.0, 2.0]]> : tensor<2x3xf32>
  %y = call @rows(%x, %w) : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %u = tensor.cast %y : tensor<2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}
