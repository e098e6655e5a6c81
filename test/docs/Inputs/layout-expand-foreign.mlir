// layout-opt --layout-expand-foreign
func.func @running_sum(%x: tensor<8xf32>, %y: tensor<8xf32>, %sum: tensor<f32>) -> tensor<8xf32> {
  %0:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<8xf32>) outs(%y, %sum : tensor<8xf32>, tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tm_tensor.yield %c : f32
  } -> tensor<8xf32>, tensor<f32>
  return %0#0 : tensor<8xf32>
}
