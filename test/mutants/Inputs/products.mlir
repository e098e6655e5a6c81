#tile = #layout.tiled<{1,0:T(2,4)}>
#wide = #layout.tiled<{1,0:T(4,8)}>
#turned = #layout.tiled<{0,1:T(4,8)}>
#rows = #layout.tiled<{1,0:T(4,8)(2,1)}>
func.func @product(%x: tensor<7x10xf32, #tile>, %y: tensor<10x19xf32, #turned>, %s: tensor<7x19xf32, #wide>) -> tensor<7x19xf32, #wide> {
  %z = linalg.matmul ins(%x, %y : tensor<7x10xf32, #tile>, tensor<10x19xf32, #turned>) outs(%s : tensor<7x19xf32, #wide>) -> tensor<7x19xf32, #wide>
  return %z : tensor<7x19xf32, #wide>
}
func.func @plain(%x: tensor<6x9xf32>, %y: tensor<9x18xf32>) -> tensor<6x18xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x18xf32>
  %s = linalg.fill ins(%c : f32) outs(%e : tensor<6x18xf32>) -> tensor<6x18xf32>
  %z = linalg.matmul ins(%x, %y : tensor<6x9xf32>, tensor<9x18xf32>) outs(%s : tensor<6x18xf32>) -> tensor<6x18xf32>
  return %z : tensor<6x18xf32>
}
func.func @halves(%x: tensor<9x12xbf16, #rows>, %y: tensor<12x20xbf16, #rows>, %s: tensor<9x20xf32, #wide>) -> tensor<9x20xf32, #wide> {
  %z = linalg.matmul ins(%x, %y : tensor<9x12xbf16, #rows>, tensor<12x20xbf16, #rows>) outs(%s : tensor<9x20xf32, #wide>) -> tensor<9x20xf32, #wide>
  return %z : tensor<9x20xf32, #wide>
}
func.func @integers(%x: tensor<5x33xi8, #wide>, %y: tensor<33x6xi8>) -> tensor<5x6xi32> {
  %c = arith.constant 0 : i32
  %e = tensor.empty() : tensor<5x6xi32>
  %s = linalg.fill ins(%c : i32) outs(%e : tensor<5x6xi32>) -> tensor<5x6xi32>
  %z = linalg.matmul ins(%x, %y : tensor<5x33xi8, #wide>, tensor<33x6xi8>) outs(%s : tensor<5x6xi32>) -> tensor<5x6xi32>
  return %z : tensor<5x6xi32>
}
func.func @times_turned(%x: tensor<5x17xf32, #wide>, %y: tensor<6x17xf32, #wide>, %s: tensor<5x6xf32, #tile>) -> tensor<5x6xf32, #tile> {
  %z = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<5x17xf32, #wide>, tensor<6x17xf32, #wide>) outs(%s : tensor<5x6xf32, #tile>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<5x6xf32, #tile>
  return %z : tensor<5x6xf32, #tile>
}
func.func @convolution(%x: tensor<1x6x7x3xf32>, %k: tensor<2x3x3x5xf32>, %s: tensor<1x5x5x5xf32>) -> tensor<1x5x5x5xf32> {
  %z = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x6x7x3xf32>, tensor<2x3x3x5xf32>) outs(%s : tensor<1x5x5x5xf32>) -> tensor<1x5x5x5xf32>
  return %z : tensor<1x5x5x5xf32>
}
func.func @tiled_convolution(%x: tensor<11x5xf32, #tile>, %k: tensor<3x5x6xf32>, %s: tensor<9x6xf32, #tile>) -> tensor<9x6xf32, #tile> {
  %z = linalg.generic {indexing_maps = [affine_map<(i, o, r, c) -> (i + r, c)>, affine_map<(i, o, r, c) -> (r, c, o)>, affine_map<(i, o, r, c) -> (i, o)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %k : tensor<11x5xf32, #tile>, tensor<3x5x6xf32>) outs(%s : tensor<9x6xf32, #tile>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<9x6xf32, #tile>
  return %z : tensor<9x6xf32, #tile>
}
func.func @batches(%x: tensor<3x4x6xf32>, %y: tensor<3x6x18xf32>, %s: tensor<3x4x18xf32>) -> tensor<3x4x18xf32> {
  %z = linalg.batch_matmul ins(%x, %y : tensor<3x4x6xf32>, tensor<3x6x18xf32>) outs(%s : tensor<3x4x18xf32>) -> tensor<3x4x18xf32>
  return %z : tensor<3x4x18xf32>
}
