func.func @main(%x: tensor<512x1000xf32>) -> tensor<512x1000xf32> {
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.reduce_max %x {axis = 1 : i32} : (tensor<512x1000xf32>) -> tensor<512x1xf32>
  %1 = tosa.sub %x, %0 : (tensor<512x1000xf32>, tensor<512x1xf32>) -> tensor<512x1000xf32>
  %2 = tosa.exp %1 : (tensor<512x1000xf32>) -> tensor<512x1000xf32>
  %3 = tosa.reduce_sum %2 {axis = 1 : i32} : (tensor<512x1000xf32>) -> tensor<512x1xf32>
  %4 = tosa.reciprocal %3 : (tensor<512x1xf32>) -> tensor<512x1xf32>
  %5 = tosa.mul %2, %4, %shift : (tensor<512x1000xf32>, tensor<512x1xf32>, tensor<1xi8>) -> tensor<512x1000xf32>
  return %5 : tensor<512x1000xf32>
}
