func.func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
  return %x : tensor<16xf32>
}
// -----
func.func @f(%x: memref<16xf32>) -> memref<16xf32> {
  return %x : memref<16xf32>
}
