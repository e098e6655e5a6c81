// A tensor that comes in belongs to the caller: no result is in its buffer.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.copy ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
// same
func.func @f(%x: memref<4xf32>) -> memref<4xf32> {
  %r = memref.alloc() : memref<4xf32>
  memref.copy %x, %r : memref<4xf32> to memref<4xf32>
  return %r : memref<4xf32>
}
// -----
// error: result 0 is in the buffer of argument 0
func.func @f(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}
