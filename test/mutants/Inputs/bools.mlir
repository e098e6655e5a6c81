#tile = #layout.tiled<{1,0:T(2,4)}>
#map = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (i)>
#swapped = affine_map<(i, j) -> (j, i)>
func.func @chosen(%c: tensor<6x17xi1, #tile>, %x: tensor<6x17xf32>, %y: tensor<17x6xf32, #tile>) -> tensor<6x17xf32, #tile> {
  %e = tensor.empty() : tensor<6x17xf32, #tile>
  %z = linalg.generic {indexing_maps = [#map, #map, #swapped, #map], iterator_types = ["parallel", "parallel"]}
      ins(%c, %x, %y : tensor<6x17xi1, #tile>, tensor<6x17xf32>, tensor<17x6xf32, #tile>) outs(%e : tensor<6x17xf32, #tile>) {
  ^bb0(%s: i1, %a: f32, %b: f32, %o: f32):
    %p = arith.select %s, %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<6x17xf32, #tile>
  return %z : tensor<6x17xf32, #tile>
}
func.func @compared(%x: tensor<3x21xi32>, %y: tensor<3xi32>) -> tensor<3x21xi1, #tile> {
  %e = tensor.empty() : tensor<3x21xi1, #tile>
  %z = linalg.generic {indexing_maps = [#map, #column, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<3x21xi32>, tensor<3xi32>) outs(%e : tensor<3x21xi1, #tile>) {
  ^bb0(%a: i32, %b: i32, %o: i1):
    %p = arith.cmpi slt, %a, %b : i32
    linalg.yield %p : i1
  } -> tensor<3x21xi1, #tile>
  return %z : tensor<3x21xi1, #tile>
}
