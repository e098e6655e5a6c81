// layout-opt --layout-to-memref
// layout-opt --layout-to-memref=form=physical
#tiled = #layout.tiled<{1,0:T(2,2)}>

func.func @pack(%x: tensor<4x6xf32>) -> tensor<4x6xf32, #tiled> {
  %y = layout.convert %x : tensor<4x6xf32> to tensor<4x6xf32, #tiled>
  return %y : tensor<4x6xf32, #tiled>
}
