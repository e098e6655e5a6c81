func.func @f(%m: memref<3x4x5xf32>) -> index {
  %s = memref.subview %m[0, 0, 0] [1, 1, 5] [1, 1, 1] : memref<3x4x5xf32> to memref<1x5xf32, strided<[20, 1]>>
  %b, %o, %sz:2, %st:2 = memref.extract_strided_metadata %s : memref<1x5xf32, strided<[20, 1]>> -> memref<f32>, index, index, index, index, index
  return %st#0 : index
}
// -----
// error: result 0
func.func @f(%m: memref<3x4x5xf32>) -> index {
  %c = arith.constant 5 : index
  return %c : index
}
// -----
// same
func.func @f(%m: memref<3x4x5xf32>) -> index {
  %c = arith.constant 20 : index
  return %c : index
}
