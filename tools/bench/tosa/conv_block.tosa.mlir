// The filters of JAX are {0, 1, i, o}, those of TOSA {o, 0, 1, i}.
func.func @main(%x: tensor<1x56x56x64xf32>, %w: tensor<3x3x64x64xf32>) -> tensor<1x56x56x64xf32> {
  %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %bias = "tosa.const"() {values = dense<0.0> : tensor<64xf32>} : () -> tensor<64xf32>
  %0 = tosa.transpose %w {perms = array<i32: 3, 0, 1, 2>} : (tensor<3x3x64x64xf32>) -> tensor<64x3x3x64xf32>
  %1 = tosa.conv2d %x, %0, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x56x56x64xf32>, tensor<64x3x3x64xf32>, tensor<64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x56x56x64xf32>
  return %1 : tensor<1x56x56x64xf32>
}
