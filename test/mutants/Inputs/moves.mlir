#tile = #layout.tiled<{1,0:T(2,4)}>
#wide = #layout.tiled<{1,0:T(4,8)}>
#turned = #layout.tiled<{0,1:T(4,8)}>
#rows = #layout.tiled<{1,0:T(4,8)(2,1)}>
#flat = #layout.tiled<{0:T(4)}>
#behind = #layout.tiled<{1,0:T(2,4)M(16)}>
#map = affine_map<(i, j) -> (i, j)>
func.func @relayout(%x: tensor<7x21xf32, #tile>) -> tensor<7x21xf32, #turned> {
  %0 = layout.convert %x : tensor<7x21xf32, #tile> to tensor<7x21xf32, #turned>
  return %0 : tensor<7x21xf32, #turned>
}
func.func @into_rows(%x: tensor<9x20xbf16>) -> tensor<9x20xbf16, #rows> {
  %0 = layout.convert %x : tensor<9x20xbf16> to tensor<9x20xbf16, #rows>
  return %0 : tensor<9x20xbf16, #rows>
}
func.func @out_of_rows(%x: tensor<7x18xbf16, #rows>) -> tensor<7x18xbf16> {
  %0 = layout.convert %x : tensor<7x18xbf16, #rows> to tensor<7x18xbf16>
  return %0 : tensor<7x18xbf16>
}
func.func @behind(%x: tensor<5x9xf32, #behind>) -> tensor<5x9xf32, #behind> {
  %e = tensor.empty() : tensor<5x9xf32, #behind>
  %z = linalg.negf ins(%x : tensor<5x9xf32, #behind>) outs(%e : tensor<5x9xf32, #behind>) -> tensor<5x9xf32, #behind>
  return %z : tensor<5x9xf32, #behind>
}
func.func @transposed(%x: tensor<18x11xf32, #tile>) -> tensor<11x18xf32, #tile> {
  %e = tensor.empty() : tensor<11x18xf32, #tile>
  %z = linalg.transpose ins(%x : tensor<18x11xf32, #tile>) outs(%e : tensor<11x18xf32, #tile>) permutation = [1, 0]
  return %z : tensor<11x18xf32, #tile>
}
func.func @turned(%x: tensor<5x17x9xf32>) -> tensor<9x5x17xf32> {
  %e = tensor.empty() : tensor<9x5x17xf32>
  %z = linalg.transpose ins(%x : tensor<5x17x9xf32>) outs(%e : tensor<9x5x17xf32>) permutation = [2, 0, 1]
  return %z : tensor<9x5x17xf32>
}
func.func @slice(%x: tensor<9x21xf32, #tile>) -> tensor<4x11xf32> {
  %0 = tensor.extract_slice %x[3, 2] [4, 11] [1, 1] : tensor<9x21xf32, #tile> to tensor<4x11xf32, #tile>
  %1 = layout.convert %0 : tensor<4x11xf32, #tile> to tensor<4x11xf32>
  return %1 : tensor<4x11xf32>
}
func.func @strided(%x: tensor<9x21xf32, #tile>) -> tensor<3x7xf32> {
  %0 = tensor.extract_slice %x[1, 2] [3, 7] [3, 2] : tensor<9x21xf32, #tile> to tensor<3x7xf32, #tile>
  %1 = layout.convert %0 : tensor<3x7xf32, #tile> to tensor<3x7xf32>
  return %1 : tensor<3x7xf32>
}
func.func @insertion(%x: tensor<3x6xf32>, %y: tensor<7x13xf32, #wide>) -> tensor<7x13xf32, #wide> {
  %0 = layout.convert %x : tensor<3x6xf32> to tensor<3x6xf32, #wide>
  %1 = tensor.insert_slice %0 into %y[2, 5] [3, 6] [1, 1] : tensor<3x6xf32, #wide> into tensor<7x13xf32, #wide>
  return %1 : tensor<7x13xf32, #wide>
}
func.func @padded(%x: tensor<5x9xf32, #tile>, %v: f32) -> tensor<8x14xf32, #tile> {
  %0 = tensor.pad %x low[1, 2] high[2, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<5x9xf32, #tile> to tensor<8x14xf32, #tile>
  return %0 : tensor<8x14xf32, #tile>
}
func.func @joined(%x: tensor<3x5xf32, #tile>, %y: tensor<3x6xf32, #tile>) -> tensor<3x11xf32, #tile> {
  %0 = tensor.concat dim(1) %x, %y : (tensor<3x5xf32, #tile>, tensor<3x6xf32, #tile>) -> tensor<3x11xf32, #tile>
  return %0 : tensor<3x11xf32, #tile>
}
func.func @folded(%x: tensor<6x10xf32, #tile>) -> tensor<60xf32, #flat> {
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<6x10xf32, #tile> into tensor<60xf32, #flat>
  return %0 : tensor<60xf32, #flat>
}
func.func @unfolded(%x: tensor<66xf32, #flat>) -> tensor<6x11xf32, #wide> {
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [6, 11] : tensor<66xf32, #flat> into tensor<6x11xf32, #wide>
  return %0 : tensor<6x11xf32, #wide>
}
func.func @reversed(%x: tensor<5x18xf32, #tile>) -> tensor<5x18xf32> {
  %e = tensor.empty() : tensor<5x18xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 17 - j)>, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x18xf32, #tile>) outs(%e : tensor<5x18xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<5x18xf32>
  return %z : tensor<5x18xf32>
}
func.func @gathered(%x: tensor<9x6xf32, #tile>, %n: tensor<5xi64>) -> tensor<5x6xf32, #tile> {
  %e = tensor.empty() : tensor<5x6xf32, #tile>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #map], iterator_types = ["parallel", "parallel"]}
      ins(%n : tensor<5xi64>) outs(%e : tensor<5x6xf32, #tile>) {
  ^bb0(%a: i64, %o: f32):
    %i = arith.index_cast %a : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %x[%i, %j] : tensor<9x6xf32, #tile>
    linalg.yield %v : f32
  } -> tensor<5x6xf32, #tile>
  return %z : tensor<5x6xf32, #tile>
}
func.func @constant() -> tensor<3x5xf32, #tile> {
  %0 = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0], [11.0, 12.0, 13.0, 14.0, 15.0]]> : tensor<3x5xf32, #tile>
  return %0 : tensor<3x5xf32, #tile>
}
func.func @constant_behind() -> tensor<3x5xf32, #behind> {
  %0 = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0], [11.0, 12.0, 13.0, 14.0, 15.0]]> : tensor<3x5xf32, #behind>
  return %0 : tensor<3x5xf32, #behind>
}
func.func @filled(%x: tensor<4x6xf32, #tile>, %y: tensor<9x6xf32>, %s: tensor<4x9xf32, #wide>) -> tensor<4x9xf32, #wide> {
  %z = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<4x6xf32, #tile>, tensor<9x6xf32>) outs(%s : tensor<4x9xf32, #wide>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<4x9xf32, #wide>
  return %z : tensor<4x9xf32, #wide>
}
