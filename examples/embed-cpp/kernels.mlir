// mini-opt kernels.mlir "--layout-verify=passes={one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},mini-lower-kernels} kernels=mini-lower-kernels report=how.txt"
func.func @product(%a: tensor<3x5xf32>, %b: tensor<5x4xf32>) -> tensor<3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x4xf32>) -> tensor<3x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x4xf32>) outs(%zeros : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
