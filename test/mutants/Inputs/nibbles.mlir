#tile = #layout.tiled<{1,0:T(4,16)E(4)}>
#bits = #layout.tiled<{1,0:E(1)}>
#map = affine_map<(i, j) -> (i, j)>
func.func @differences(%x: tensor<9x40xi4, #tile>, %y: tensor<9x40xi4, #tile>) -> tensor<9x40xi4, #tile> {
  %e = tensor.empty() : tensor<9x40xi4, #tile>
  %z = linalg.sub ins(%x, %y : tensor<9x40xi4, #tile>, tensor<9x40xi4, #tile>) outs(%e : tensor<9x40xi4, #tile>) -> tensor<9x40xi4, #tile>
  return %z : tensor<9x40xi4, #tile>
}
func.func @both(%x: tensor<3x72xi1, #bits>, %y: tensor<3x72xi1, #bits>) -> tensor<3x72xi1, #bits> {
  %e = tensor.empty() : tensor<3x72xi1, #bits>
  %z = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<3x72xi1, #bits>, tensor<3x72xi1, #bits>) outs(%e : tensor<3x72xi1, #bits>) {
  ^bb0(%a: i1, %b: i1, %o: i1):
    %c = arith.constant true
    %n = arith.xori %b, %c : i1
    %p = arith.andi %a, %n : i1
    linalg.yield %p : i1
  } -> tensor<3x72xi1, #bits>
  return %z : tensor<3x72xi1, #bits>
}
