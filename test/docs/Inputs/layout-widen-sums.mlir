// layout-opt --layout-widen-sums
func.func @product(%a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>) -> tensor<4x4xbf16> {
  %zero = arith.constant 0.0 : bf16
  %empty = tensor.empty() : tensor<4x4xbf16>
  %zeros = linalg.fill ins(%zero : bf16) outs(%empty : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %y = linalg.matmul ins(%a, %b : tensor<4x8xbf16>, tensor<8x4xbf16>) outs(%zeros : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  return %y : tensor<4x4xbf16>
}
