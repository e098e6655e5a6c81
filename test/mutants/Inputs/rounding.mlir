#tile = #layout.tiled<{1,0:T(2,4)}>
#map = affine_map<(i, j) -> (i, j)>
func.func @rounded(%x: tensor<5x18xf32, #tile>) -> tensor<5x18xbf16> {
  %e = tensor.empty() : tensor<5x18xbf16>
  %z = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x18xf32, #tile>) outs(%e : tensor<5x18xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %q = arith.truncf %a : f32 to bf16
    linalg.yield %q : bf16
  } -> tensor<5x18xbf16>
  return %z : tensor<5x18xbf16>
}
