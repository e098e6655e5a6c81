// layout-opt --layout-plan=machine=tpu_v5e
func.func @transposed(%x: tensor<1024x129xf32, #layout.tiled<{0,1:T(8,128)}>>, %y: tensor<129x1024xf32, #layout.tiled<{1,0:T(8,128)}>>) -> tensor<129x1024xf32, #layout.tiled<{1,0:T(8,128)}>> {
  %e = tensor.empty() : tensor<1024x129xf32>
  %n = linalg.exp ins(%x : tensor<1024x129xf32, #layout.tiled<{0,1:T(8,128)}>>) outs(%e : tensor<1024x129xf32>) -> tensor<1024x129xf32>
  %empty = tensor.empty() : tensor<129x1024xf32>
  %t = linalg.transpose ins(%n : tensor<1024x129xf32>) outs(%empty : tensor<129x1024xf32>) permutation = [1, 0]
  %r = linalg.add ins(%t, %y : tensor<129x1024xf32>, tensor<129x1024xf32, #layout.tiled<{1,0:T(8,128)}>>) outs(%empty : tensor<129x1024xf32>) -> tensor<129x1024xf32>
  %out = layout.convert %r : tensor<129x1024xf32> to tensor<129x1024xf32, #layout.tiled<{1,0:T(8,128)}>>
  return %out : tensor<129x1024xf32, #layout.tiled<{1,0:T(8,128)}>>
}
