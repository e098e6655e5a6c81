#tile = #layout.tiled<{1,0:T(2,4)}>
func.func @chain(%x: tensor<5x9xf32, #tile>, %y: tensor<9x5xf32>) -> tensor<9x9xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x5xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<5x5xf32>) -> tensor<5x5xf32>
  %a = linalg.matmul ins(%x, %y : tensor<5x9xf32, #tile>, tensor<9x5xf32>) outs(%f : tensor<5x5xf32>) -> tensor<5x5xf32>
  %g = tensor.empty() : tensor<5x9xf32>
  %h = linalg.fill ins(%c : f32) outs(%g : tensor<5x9xf32>) -> tensor<5x9xf32>
  %b = linalg.matmul ins(%a, %x : tensor<5x5xf32>, tensor<5x9xf32, #tile>) outs(%h : tensor<5x9xf32>) -> tensor<5x9xf32>
  %k = tensor.empty() : tensor<9x9xf32>
  %l = linalg.fill ins(%c : f32) outs(%k : tensor<9x9xf32>) -> tensor<9x9xf32>
  %m = linalg.matmul ins(%y, %a : tensor<9x5xf32>, tensor<5x5xf32>) outs(%y : tensor<9x5xf32>) -> tensor<9x5xf32>
  %n = linalg.matmul ins(%m, %b : tensor<9x5xf32>, tensor<5x9xf32>) outs(%l : tensor<9x9xf32>) -> tensor<9x9xf32>
  return %n : tensor<9x9xf32>
}
func.func @loop(%x: tensor<7x7xf32>) -> tensor<7x7xf32> {
  %c = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%y = %x) -> (tensor<7x7xf32>) {
    %e = tensor.empty() : tensor<7x7xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<7x7xf32>) -> tensor<7x7xf32>
    %a = linalg.matmul ins(%y, %x : tensor<7x7xf32>, tensor<7x7xf32>) outs(%f : tensor<7x7xf32>) -> tensor<7x7xf32>
    scf.yield %a : tensor<7x7xf32>
  }
  %e = tensor.empty() : tensor<7x7xf32>
  %z = linalg.sub ins(%r, %x : tensor<7x7xf32>, tensor<7x7xf32>) outs(%e : tensor<7x7xf32>) -> tensor<7x7xf32>
  return %z : tensor<7x7xf32>
}
