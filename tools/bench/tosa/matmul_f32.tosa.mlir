func.func @main(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %sizes = tosa.const_shape {values = dense<[1, 1024, 1024]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %whole = tosa.const_shape {values = dense<[1024, 1024]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.reshape %a, %sizes : (tensor<1024x1024xf32>, !tosa.shape<3>) -> tensor<1x1024x1024xf32>
  %1 = tosa.reshape %b, %sizes : (tensor<1024x1024xf32>, !tosa.shape<3>) -> tensor<1x1024x1024xf32>
  %2 = tosa.matmul %0, %1, %zero, %zero : (tensor<1x1024x1024xf32>, tensor<1x1024x1024xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1024x1024xf32>
  %3 = tosa.reshape %2, %whole : (tensor<1x1024x1024xf32>, !tosa.shape<2>) -> tensor<1024x1024xf32>
  return %3 : tensor<1024x1024xf32>
}
