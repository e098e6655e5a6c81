func.func @f(%x: memref<100xf32>, %n: index) -> memref<?xf32, strided<[1]>> {
  %c1 = arith.constant 1 : index
  %m = arith.addi %n, %c1 : index
  %r = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1] : memref<100xf32> to memref<?xf32, strided<[1]>>
  return %r : memref<?xf32, strided<[1]>>
}
// -----
// error: 
func.func @f(%x: memref<100xf32>, %n: index) -> memref<?xf32, strided<[1]>> {
  %c1 = arith.constant 1 : index
  %m = arith.addi %n, %c1 : index
  %r = memref.reinterpret_cast %x to offset: [0], sizes: [%m], strides: [1] : memref<100xf32> to memref<?xf32, strided<[1]>>
  return %r : memref<?xf32, strided<[1]>>
}
