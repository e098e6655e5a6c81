func.func @main(%x: tensor<8x128x768xf32>, %g: tensor<768xf32>, %b: tensor<768xf32>) -> tensor<8x128x768xf32> {
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %row = tosa.const_shape {values = dense<[1, 1, 768]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %part = "tosa.const"() {values = dense<0.00130208337> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %small = "tosa.const"() {values = dense<9.99999974E-6> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
  %0 = tosa.reduce_sum %x {axis = 2 : i32} : (tensor<8x128x768xf32>) -> tensor<8x128x1xf32>
  %1 = tosa.mul %0, %part, %shift : (tensor<8x128x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<8x128x1xf32>
  %2 = tosa.sub %x, %1 : (tensor<8x128x768xf32>, tensor<8x128x1xf32>) -> tensor<8x128x768xf32>
  %3 = tosa.mul %2, %2, %shift : (tensor<8x128x768xf32>, tensor<8x128x768xf32>, tensor<1xi8>) -> tensor<8x128x768xf32>
  %4 = tosa.reduce_sum %3 {axis = 2 : i32} : (tensor<8x128x768xf32>) -> tensor<8x128x1xf32>
  %5 = tosa.mul %4, %part, %shift : (tensor<8x128x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<8x128x1xf32>
  %6 = tosa.add %5, %small : (tensor<8x128x1xf32>, tensor<1x1x1xf32>) -> tensor<8x128x1xf32>
  %7 = tosa.rsqrt %6 : (tensor<8x128x1xf32>) -> tensor<8x128x1xf32>
  %8 = tosa.mul %2, %7, %shift : (tensor<8x128x768xf32>, tensor<8x128x1xf32>, tensor<1xi8>) -> tensor<8x128x768xf32>
  %9 = tosa.reshape %g, %row : (tensor<768xf32>, !tosa.shape<3>) -> tensor<1x1x768xf32>
  %10 = tosa.mul %8, %9, %shift : (tensor<8x128x768xf32>, tensor<1x1x768xf32>, tensor<1xi8>) -> tensor<8x128x768xf32>
  %11 = tosa.reshape %b, %row : (tensor<768xf32>, !tosa.shape<3>) -> tensor<1x1x768xf32>
  %12 = tosa.add %10, %11 : (tensor<8x128x768xf32>, tensor<1x1x768xf32>) -> tensor<8x128x768xf32>
  return %12 : tensor<8x128x768xf32>
}
