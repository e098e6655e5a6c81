func.func @f(%t: memref<10xf32>, %u: memref<11xf32>, %k: memref<1xi64>) -> f32 {
  %c0 = arith.constant 0 : index
  %i = memref.load %k[%c0] : memref<1xi64>
  %ii = arith.index_cast %i : i64 to index
  %s = memref.subview %t[%ii] [0] [1] : memref<10xf32> to memref<0xf32, strided<[1], offset: ?>>
  %z = arith.constant 0.0 : f32
  return %z : f32
}
// -----
// remark: not proved
func.func @f(%t: memref<10xf32>, %u: memref<11xf32>, %k: memref<1xi64>) -> f32 {
  %c0 = arith.constant 0 : index
  %i = memref.load %k[%c0] : memref<1xi64>
  %ii = arith.index_cast %i : i64 to index
  %s = memref.load %u[%ii] : memref<11xf32>
  %z = arith.constant 0.0 : f32
  return %z : f32
}
