// The elements of a `dense_resource` are those of its bytes.
func.func @f(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = arith.constant dense_resource<w> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%w : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  %s = linalg.add ins(%t, %x : tensor<3x2xf32>, tensor<3x2xf32>) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %s : tensor<3x2xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000803F0000004000004040000080400000A0400000C040" } } #-}
// -----
// same
func.func @f(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %t = arith.constant dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %s = linalg.add ins(%t, %x : tensor<3x2xf32>, tensor<3x2xf32>) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %s : tensor<3x2xf32>
}
// -----
// same
func.func @f(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %t = arith.constant dense_resource<t> : tensor<3x2xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %s = linalg.add ins(%t, %x : tensor<3x2xf32>, tensor<3x2xf32>) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %s : tensor<3x2xf32>
}
{-# dialect_resources: { builtin: { t: "0x040000000000803F00008040000000400000A040000040400000C040" } } #-}
// -----
// error: result 0
func.func @f(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %t = arith.constant dense_resource<t> : tensor<3x2xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %s = linalg.add ins(%t, %x : tensor<3x2xf32>, tensor<3x2xf32>) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %s : tensor<3x2xf32>
}
{-# dialect_resources: { builtin: { t: "0x040000000000803F00008040000000400000A0400000C0400000C040" } } #-}
// -----
// remark: 'arith.constant' is not modelled
func.func @f(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %t = arith.constant dense_resource<missing> : tensor<3x2xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %s = linalg.add ins(%t, %x : tensor<3x2xf32>, tensor<3x2xf32>) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %s : tensor<3x2xf32>
}
