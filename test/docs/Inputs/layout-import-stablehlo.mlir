// layout-opt --allow-unregistered-dialect --layout-import-stablehlo

func.func @main(%x: tensor<4x8xf32> {mhlo.layout_mode = "{0,1}"}) -> tensor<4x8xf32> {
  %0 = "stablehlo.exponential"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
