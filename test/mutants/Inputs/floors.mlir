#tile = #layout.tiled<{1,0:T(2,4)}>
#map = affine_map<(i, j) -> (i, j)>
func.func @floors(%x: tensor<5x18xi32, #tile>, %y: tensor<5x18xi32>) -> tensor<5x18xi32> {
  %e = tensor.empty() : tensor<5x18xi32>
  %z = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<5x18xi32, #tile>, tensor<5x18xi32>) outs(%e : tensor<5x18xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %one = arith.constant 1 : i32
    %d = arith.ori %b, %one : i32
    %q = arith.floordivsi %a, %d : i32
    linalg.yield %q : i32
  } -> tensor<5x18xi32>
  return %z : tensor<5x18xi32>
}
func.func @ceilings(%x: tensor<5x18xi8, #tile>, %y: tensor<5x18xi8>) -> tensor<5x18xi8> {
  %e = tensor.empty() : tensor<5x18xi8>
  %z = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<5x18xi8, #tile>, tensor<5x18xi8>) outs(%e : tensor<5x18xi8>) {
  ^bb0(%a: i8, %b: i8, %o: i8):
    %one = arith.constant 1 : i8
    %d = arith.ori %b, %one : i8
    %q = arith.ceildivsi %a, %d : i8
    linalg.yield %q : i8
  } -> tensor<5x18xi8>
  return %z : tensor<5x18xi8>
}
