// layout-opt --layout-remove-conversions
#tiled = #layout.tiled<{1,0:T(2,2)}>

func.func @rows(%x: tensor<4x6xf32, #tiled>) -> tensor<2x6xf32, #tiled> {
  %plain = layout.convert %x : tensor<4x6xf32, #tiled> to tensor<4x6xf32>
  %rows = tensor.extract_slice %plain[1, 0] [2, 6] [1, 1] : tensor<4x6xf32> to tensor<2x6xf32>
  %twice = arith.addf %rows, %rows : tensor<2x6xf32>
  %y = layout.convert %twice : tensor<2x6xf32> to tensor<2x6xf32, #tiled>
  return %y : tensor<2x6xf32, #tiled>
}
