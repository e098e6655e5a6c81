// Shapes of any size: an element of an argument is another one than before.
func.func @f(%a: memref<4000000xf32>, %b: memref<4000000xf32>) {
  affine.for %i = 0 to 4000000 {
    %x = affine.load %a[%i] : memref<4000000xf32>
    affine.store %x, %b[%i] : memref<4000000xf32>
  }
  return
}
// -----
// same
func.func @f(%a: memref<4000000xf32>, %b: memref<4000000xf32>) {
  affine.for %i = 0 to 4000000 step 8 {
    %x = affine.vector_load %a[%i] : memref<4000000xf32>, vector<8xf32>
    affine.vector_store %x, %b[%i] : memref<4000000xf32>, vector<8xf32>
  }
  return
}
// -----
// error: memory 1 of the arguments has an element of argument 0 that is read at another index than before
func.func @f(%a: memref<4000000xf32>, %b: memref<4000000xf32>) {
  %last = arith.constant 3999999 : index
  affine.for %i = 0 to 4000000 {
    %k = arith.subi %last, %i : index
    %x = memref.load %a[%k] {map = affine_map<(d0) -> (3999999 - d0)>} : memref<4000000xf32>
    memref.store %x, %b[%i] : memref<4000000xf32>
  }
  return
}
// -----
// error: an element of argument 1, which differs from one of argument 0
func.func @f(%a: memref<4000000xf32>, %b: memref<4000000xf32>) {
  return
}
// -----
// error: another index
func.func @f(%a: memref<4000000xf32>, %b: memref<4000000xf32>) {
  affine.for %i = 0 to 4000000 step 8 {
    %x = affine.vector_load %a[%i] : memref<4000000xf32>, vector<8xf32>
    %y = vector.shuffle %x, %x [0, 1, 2, 3, 4, 5, 7, 6] : vector<8xf32>, vector<8xf32>
    affine.vector_store %y, %b[%i] : memref<4000000xf32>, vector<8xf32>
  }
  return
}
