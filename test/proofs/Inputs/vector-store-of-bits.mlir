// Elements of one bit take a byte of memory each, and the lanes of a vector the bits of one byte.
func.func @f(%x: i1, %b: memref<8xi1>) {
  affine.for %i = 0 to 8 {
    affine.store %x, %b[%i] : memref<8xi1>
  }
  return
}
// -----
// same
func.func @f(%x: i1, %b: memref<8xi1>) {
  %v = vector.broadcast %x : i1 to vector<1xi1>
  affine.for %i = 0 to 8 {
    affine.vector_store %v, %b[%i] : memref<8xi1>, vector<1xi1>
  }
  return
}
// -----
// error: of argument 1
func.func @f(%x: i1, %b: memref<8xi1>) {
  %c0 = arith.constant 0 : index
  %v = vector.broadcast %x : i1 to vector<8xi1>
  vector.store %v, %b[%c0] : memref<8xi1>, vector<8xi1>
  return
}
// -----
// error: of argument 1
func.func @f(%x: i1, %b: memref<8xi1>) {
  %c0 = arith.constant 0 : index
  %v = vector.broadcast %x : i1 to vector<8xi1>
  vector.transfer_write %v, %b[%c0] {in_bounds = [true]} : vector<8xi1>, memref<8xi1>
  return
}
// -----
// error: of argument 1
func.func @f(%x: i1, %b: memref<8xi1>) {
  %c0 = arith.constant 0 : index
  %v = vector.broadcast %x : i1 to vector<8xi1>
  %m = arith.constant dense<true> : vector<8xi1>
  vector.maskedstore %b[%c0], %m, %v : memref<8xi1>, vector<8xi1>, vector<8xi1>
  return
}
// -----
// error: of argument 1
func.func @f(%x: i1, %b: memref<8xi1>) {
  %v = vector.broadcast %x : i1 to vector<2xi1>
  affine.for %i = 0 to 8 step 2 {
    affine.vector_store %v, %b[%i] : memref<8xi1>, vector<2xi1>
  }
  return
}
