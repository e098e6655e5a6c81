#columns = #layout.tiled<{0,1:T(8,128)}>
func.func @dense(%x: tensor<256x512xf32, #columns>, %w: tensor<512x128xf32>) -> tensor<256x128xf32> {
  %c = layout.convert %x : tensor<256x512xf32, #columns> to tensor<256x512xf32>
  %y = mini.product %c, %w : (tensor<256x512xf32>, tensor<512x128xf32>) -> tensor<256x128xf32>
  %r = mini.relu %y : (tensor<256x128xf32>) -> tensor<256x128xf32>
  %n = mini.normalize %r : (tensor<256x128xf32>) -> tensor<256x128xf32>
  return %n : tensor<256x128xf32>
}
