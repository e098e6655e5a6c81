// An element of four bits takes a byte of memory.
func.func @f(%b: memref<8xi4>) -> i4 {
  %c3 = arith.constant 3 : index
  %r = memref.load %b[%c3] : memref<8xi4>
  return %r : i4
}
// -----
// same
func.func @f(%b: memref<8xi4>) -> i4 {
  %c3 = arith.constant 3 : index
  %v = vector.load %b[%c3] : memref<8xi4>, vector<1xi4>
  %r = vector.extract %v[0] : i4 from vector<1xi4>
  return %r : i4
}
// -----
// error: of result 0
func.func @f(%b: memref<8xi4>) -> i4 {
  %c0 = arith.constant 0 : index
  %v = vector.load %b[%c0] : memref<8xi4>, vector<8xi4>
  %r = vector.extract %v[3] : i4 from vector<8xi4>
  return %r : i4
}
// -----
// error: of result 0
func.func @f(%b: memref<8xi4>) -> i4 {
  %c0 = arith.constant 0 : index
  %p = arith.constant 0 : i4
  %v = vector.transfer_read %b[%c0], %p {in_bounds = [true]} : memref<8xi4>, vector<4xi4>
  %r = vector.extract %v[3] : i4 from vector<4xi4>
  return %r : i4
}
// -----
// error: of result 0
func.func @f(%b: memref<8xi4>) -> i4 {
  %c0 = arith.constant 0 : index
  %m = arith.constant dense<true> : vector<4xi1>
  %p = arith.constant dense<0> : vector<4xi4>
  %v = vector.maskedload %b[%c0], %m, %p : memref<8xi4>, vector<4xi1>, vector<4xi4> into vector<4xi4>
  %r = vector.extract %v[3] : i4 from vector<4xi4>
  return %r : i4
}
// -----
// error: of result 0
func.func @f(%b: memref<8xi4>) -> i4 {
  %c2 = arith.constant 2 : index
  %v = affine.vector_load %b[%c2] : memref<8xi4>, vector<2xi4>
  %r = vector.extract %v[1] : i4 from vector<2xi4>
  return %r : i4
}
