// layout-opt --layout-expand-operations --allow-unregistered-dialect
func.func private @model(%x: tensor<4x6xf32>) -> tensor<4xf32> attributes {layout.model = "mini.row_sums"} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.reduce {arith.addf} ins(%x : tensor<4x6xf32>) outs(%start : tensor<4xf32>) dimensions = [1]
  return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4x6xf32>) -> tensor<4xf32> {
  %y = "mini.row_sums"(%x) : (tensor<4x6xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
