// layout-opt --layout-fold-constants
func.func @f(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%w : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  %z = linalg.matmul ins(%x, %t : tensor<4x3xf32>, tensor<3x2xf32>) outs(%y : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %z : tensor<4x2xf32>
}
