#near = #layout.tiled<{1,0:T(2,4)S(1)}>
#far = #layout.tiled<{1,0:T(2,4)}>
func.func @both(%x: tensor<5x9xf32>) -> (tensor<5x9xf32, #near>, tensor<5x9xf32, #far>) {
  %e = tensor.empty() : tensor<5x9xf32, #far>
  %a = linalg.negf ins(%x : tensor<5x9xf32>) outs(%e : tensor<5x9xf32, #far>) -> tensor<5x9xf32, #far>
  %0 = layout.convert %a {async, keep} : tensor<5x9xf32, #far> to tensor<5x9xf32, #near>
  %b = linalg.exp ins(%a : tensor<5x9xf32, #far>) outs(%e : tensor<5x9xf32, #far>) -> tensor<5x9xf32, #far>
  %1 = layout.await %0 : tensor<5x9xf32, #near>
  return %1, %b : tensor<5x9xf32, #near>, tensor<5x9xf32, #far>
}
