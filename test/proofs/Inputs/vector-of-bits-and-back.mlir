// What a vector stores a vector of the same lanes loads.
func.func @f(%v: vector<8xi1>) -> vector<8xi1> {
  return %v : vector<8xi1>
}
// -----
// same
func.func @f(%v: vector<8xi1>) -> vector<8xi1> {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<8xi1>
  vector.store %v, %m[%c0] : memref<8xi1>, vector<8xi1>
  %w = vector.load %m[%c0] : memref<8xi1>, vector<8xi1>
  memref.dealloc %m : memref<8xi1>
  return %w : vector<8xi1>
}
// -----
// error: of result 0
func.func @f(%v: vector<8xi1>) -> vector<8xi1> {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<8xi1>
  affine.for %i = 0 to 8 {
    %x = vector.extract %v[%i] : i1 from vector<8xi1>
    affine.store %x, %m[%i] : memref<8xi1>
  }
  %w = vector.load %m[%c0] : memref<8xi1>, vector<8xi1>
  memref.dealloc %m : memref<8xi1>
  return %w : vector<8xi1>
}
