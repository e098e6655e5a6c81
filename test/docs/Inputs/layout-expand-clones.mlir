// layout-opt --layout-expand-clones
func.func @copy(%m: memref<2x3xf32, strided<[1, 2]>>) -> memref<2x3xf32, strided<[1, 2]>> {
  %c = bufferization.clone %m : memref<2x3xf32, strided<[1, 2]>> to memref<2x3xf32, strided<[1, 2]>>
  return %c : memref<2x3xf32, strided<[1, 2]>>
}
