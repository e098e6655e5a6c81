#four = #layout.tiled<{1,0:E(4)}>
#two = #layout.tiled<{1,0:T(4,4)(2,1)E(2)}>
#one = #layout.tiled<{1,0:T(2,8)E(1)}>
#three = #layout.tiled<{1,0:E(3)}>
#twelve = #layout.tiled<{1,0:T(2,4)E(12)}>
#word = #layout.tiled<{1,0:T(2,4)E(32)}>
#behind = #layout.tiled<{1,0:E(4)M(16)}>
#map = affine_map<(i, j) -> (i, j)>
func.func @sum(%x: tensor<5x37xi4, #four>, %y: tensor<5x37xi4, #four>) -> tensor<5x37xi4, #four> {
  %e = tensor.empty() : tensor<5x37xi4, #four>
  %z = linalg.sub ins(%x, %y : tensor<5x37xi4, #four>, tensor<5x37xi4, #four>) outs(%e : tensor<5x37xi4, #four>) -> tensor<5x37xi4, #four>
  return %z : tensor<5x37xi4, #four>
}
func.func @narrower(%x: tensor<5x7xi4, #four>) -> tensor<5x7xi4, #layout.tiled<{0,1:E(4)}>> {
  %0 = layout.convert %x : tensor<5x7xi4, #four> to tensor<5x7xi4, #layout.tiled<{0,1:E(4)}>>
  return %0 : tensor<5x7xi4, #layout.tiled<{0,1:E(4)}>>
}
func.func @pairs(%x: tensor<6x9xi2>) -> tensor<6x9xi2, #two> {
  %0 = layout.convert %x : tensor<6x9xi2> to tensor<6x9xi2, #two>
  return %0 : tensor<6x9xi2, #two>
}
func.func @bits(%x: tensor<3x21xi1, #one>, %y: tensor<3x21xi1, #one>) -> tensor<3x21xi1, #one> {
  %e = tensor.empty() : tensor<3x21xi1, #one>
  %z = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<3x21xi1, #one>, tensor<3x21xi1, #one>) outs(%e : tensor<3x21xi1, #one>) {
  ^bb0(%a: i1, %b: i1, %o: i1):
    %c = arith.constant true
    %n = arith.xori %b, %c : i1
    %p = arith.andi %a, %n : i1
    linalg.yield %p : i1
  } -> tensor<3x21xi1, #one>
  return %z : tensor<3x21xi1, #one>
}
func.func @out_of_bits(%x: tensor<3x21xi1, #one>) -> tensor<3x21xi1> {
  %0 = layout.convert %x : tensor<3x21xi1, #one> to tensor<3x21xi1>
  return %0 : tensor<3x21xi1>
}
func.func @thirds(%x: tensor<3x11xi3, #three>) -> tensor<3x11xi3> {
  %0 = layout.convert %x : tensor<3x11xi3, #three> to tensor<3x11xi3>
  return %0 : tensor<3x11xi3>
}
func.func @into_thirds(%x: tensor<3x11xi3>) -> tensor<3x11xi3, #three> {
  %0 = layout.convert %x : tensor<3x11xi3> to tensor<3x11xi3, #three>
  return %0 : tensor<3x11xi3, #three>
}
func.func @twelve(%x: tensor<3x7xi12, #twelve>) -> tensor<3x7xi12, #twelve> {
  %c = arith.constant 5 : i12
  %e = tensor.empty() : tensor<3x7xi12, #twelve>
  %z = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x7xi12, #twelve>) outs(%e : tensor<3x7xi12, #twelve>) {
  ^bb0(%a: i12, %o: i12):
    %p = arith.subi %c, %a : i12
    linalg.yield %p : i12
  } -> tensor<3x7xi12, #twelve>
  return %z : tensor<3x7xi12, #twelve>
}
func.func @words(%x: tensor<3x7xi1, #word>) -> tensor<3x7xi1> {
  %0 = layout.convert %x : tensor<3x7xi1, #word> to tensor<3x7xi1>
  return %0 : tensor<3x7xi1>
}
func.func @behind(%x: tensor<3x7xi4>) -> tensor<3x7xi4, #behind> {
  %0 = layout.convert %x : tensor<3x7xi4> to tensor<3x7xi4, #behind>
  return %0 : tensor<3x7xi4, #behind>
}
func.func @constant() -> tensor<2x5xi4, #four> {
  %0 = arith.constant dense<[[1, 2, 3, 4, 5], [6, 7, -8, -7, -6]]> : tensor<2x5xi4, #four>
  return %0 : tensor<2x5xi4, #four>
}
