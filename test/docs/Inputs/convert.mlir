// layout-opt --canonicalize
// layout-opt --layout-to-memref=form=physical
#tiled = #layout.tiled<{1,0:T(2,2)}>

func.func @pack(%x: tensor<4x6xf32>) -> tensor<4x6xf32, #tiled> {
  %columns = layout.convert %x : tensor<4x6xf32> to tensor<4x6xf32, #layout.tiled<{0,1}>>
  %tiles = layout.convert %columns : tensor<4x6xf32, #layout.tiled<{0,1}>> to tensor<4x6xf32, #tiled>
  return %tiles : tensor<4x6xf32, #tiled>
}
