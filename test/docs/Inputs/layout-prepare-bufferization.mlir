// layout-opt --layout-prepare-bufferization
#tiled = #layout.tiled<{1,0:T(2,2)}>

func.func @pack(%x: tensor<3x5xf32>) -> tensor<3x5xf32, #tiled> {
  %y = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #tiled>
  return %y : tensor<3x5xf32, #tiled>
}
