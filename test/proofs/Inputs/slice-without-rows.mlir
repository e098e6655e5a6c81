func.func @f(%t: memref<4x10xf32>, %k: memref<1xi64>, %o: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %i = memref.load %k[%c0] : memref<1xi64>
  %ii = arith.index_cast %i : i64 to index
  %s = memref.subview %t[0, %ii] [0, 5] [1, 1] : memref<4x10xf32> to memref<0x5xf32, strided<[10, 1], offset: ?>>
  memref.store %one, %o[%c0] : memref<1xf32>
  return
}
// -----
// remark: not proved
func.func @f(%t: memref<4x10xf32>, %k: memref<1xi64>, %o: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %i = memref.load %k[%c0] : memref<1xi64>
  %ii = arith.index_cast %i : i64 to index
  %vd = memref.load %t[%c0, %ii] : memref<4x10xf32>
  memref.store %one, %o[%c0] : memref<1xf32>
  return
}
