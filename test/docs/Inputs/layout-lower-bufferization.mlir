// layout-opt --layout-lower-bufferization
func.func @copy(%x: memref<4x8xf32>) -> memref<4x8xf32> {
  %0 = bufferization.clone %x : memref<4x8xf32> to memref<4x8xf32>
  return %0 : memref<4x8xf32>
}
