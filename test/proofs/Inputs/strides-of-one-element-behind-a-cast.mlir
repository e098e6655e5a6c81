func.func @f(%t: memref<2x3x5xf32>) -> index {
  %s = memref.subview %t[0, 0, 0] [1, 1, 5] [1, 1, 1] : memref<2x3x5xf32> to memref<1x5xf32, strided<[5, 1]>>
  %c = memref.cast %s : memref<1x5xf32, strided<[5, 1]>> to memref<1x5xf32, strided<[?, ?], offset: ?>>
  %base, %off, %sz:2, %str:2 = memref.extract_strided_metadata %c : memref<1x5xf32, strided<[?, ?], offset: ?>> -> memref<f32>, index, index, index, index, index
  return %str#0 : index
}
// -----
// same
func.func @f(%t: memref<2x3x5xf32>) -> index {
  %k = arith.constant 5 : index
  return %k : index
}
// -----
// error: result 0
func.func @f(%t: memref<2x3x5xf32>) -> index {
  %k = arith.constant 15 : index
  return %k : index
}
