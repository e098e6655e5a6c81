#tile = #layout.tiled<{1,0:T(2,4)}>
#turned = #layout.tiled<{0,1:T(4,2)}>
#rows = #layout.tiled<{1,0:T(4,8)(2,1)}>
#map = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (i)>
#swapped = affine_map<(i, j) -> (j, i)>
func.func @add(%x: tensor<5x19xf32, #tile>, %y: tensor<5x19xf32>) -> tensor<5x19xf32, #tile> {
  %e = tensor.empty() : tensor<5x19xf32, #tile>
  %z = linalg.add ins(%x, %y : tensor<5x19xf32, #tile>, tensor<5x19xf32>) outs(%e : tensor<5x19xf32, #tile>) -> tensor<5x19xf32, #tile>
  return %z : tensor<5x19xf32, #tile>
}
func.func @difference(%x: tensor<9x35xf32, #tile>, %y: tensor<9x35xf32, #turned>) -> tensor<9x35xf32> {
  %e = tensor.empty() : tensor<9x35xf32>
  %z = linalg.sub ins(%x, %y : tensor<9x35xf32, #tile>, tensor<9x35xf32, #turned>) outs(%e : tensor<9x35xf32>) -> tensor<9x35xf32>
  return %z : tensor<9x35xf32>
}
func.func @halves(%x: tensor<5x18xbf16, #rows>, %y: tensor<5x18xf32>) -> tensor<5x18xf32, #tile> {
  %e = tensor.empty() : tensor<5x18xf32, #tile>
  %z = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<5x18xbf16, #rows>, tensor<5x18xf32>) outs(%e : tensor<5x18xf32, #tile>) {
  ^bb0(%a: bf16, %b: f32, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %p = arith.subf %w, %b : f32
    linalg.yield %p : f32
  } -> tensor<5x18xf32, #tile>
  return %z : tensor<5x18xf32, #tile>
}
func.func @numbered(%x: tensor<5x18xi32, #turned>) -> tensor<5x18xi32, #tile> {
  %e = tensor.empty() : tensor<5x18xi32, #tile>
  %z = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x18xi32, #turned>) outs(%e : tensor<5x18xi32, #tile>) {
  ^bb0(%a: i32, %o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 100 : index
    %r = arith.muli %i, %c : index
    %n = arith.addi %r, %j : index
    %k = arith.index_cast %n : index to i32
    %p = arith.subi %k, %a : i32
    linalg.yield %p : i32
  } -> tensor<5x18xi32, #tile>
  return %z : tensor<5x18xi32, #tile>
}
func.func @bytes(%x: tensor<7x40xi8>, %y: tensor<7x40xi8>) -> tensor<7x40xi32, #tile> {
  %e = tensor.empty() : tensor<7x40xi32, #tile>
  %z = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<7x40xi8>, tensor<7x40xi8>) outs(%e : tensor<7x40xi32, #tile>) {
  ^bb0(%a: i8, %b: i8, %o: i32):
    %v = arith.extsi %a : i8 to i32
    %w = arith.extui %b : i8 to i32
    %p = arith.subi %v, %w : i32
    linalg.yield %p : i32
  } -> tensor<7x40xi32, #tile>
  return %z : tensor<7x40xi32, #tile>
}
func.func @two(%x: tensor<3x10xf32, #tile>, %y: tensor<3x10xf32>) -> (tensor<3x10xf32>, tensor<10x3xf32>) {
  %e = tensor.empty() : tensor<3x10xf32>
  %f = tensor.empty() : tensor<10x3xf32>
  %z:2 = linalg.generic {indexing_maps = [#map, #map, #map, #swapped], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<3x10xf32, #tile>, tensor<3x10xf32>) outs(%e, %f : tensor<3x10xf32>, tensor<10x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %q: f32):
    %p = arith.subf %a, %b : f32
    linalg.yield %p, %a : f32, f32
  } -> (tensor<3x10xf32>, tensor<10x3xf32>)
  return %z#0, %z#1 : tensor<3x10xf32>, tensor<10x3xf32>
}
