func.func @f(%w: memref<1xi64>, %x: memref<3000000000xi8>) -> i8 {
  %c0 = arith.constant 0 : index
  %k64 = memref.load %w[%c0] : memref<1xi64>
  %k = arith.index_cast %k64 : i64 to index
  %v = memref.load %x[%k] : memref<3000000000xi8>
  return %v : i8
}
// -----
// remark: not proved
func.func @f(%w: memref<1xi64>, %x: memref<3000000000xi8>) -> i8 {
  %c0 = arith.constant 0 : index
  %k64 = memref.load %w[%c0] : memref<1xi64>
  %k = arith.index_cast %k64 : i64 to index
  %v = memref.load %x[%k] : memref<3000000000xi8>
  %at = affine.min affine_map<(d0) -> (d0, 2147483647)>(%k)
  %r = memref.load %x[%at] : memref<3000000000xi8>
  return %r : i8
}
