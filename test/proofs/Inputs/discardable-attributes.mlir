// An attribute that an operation's definition does not have says nothing.
func.func @f(%a: memref<4xf32>, %b: memref<4xf32>) {
  affine.for %i = 0 to 4 {
    %x = affine.load %a[%i] : memref<4xf32>
    affine.store %x, %b[%i] : memref<4xf32>
  }
  return
}
// -----
// same
func.func @f(%a: memref<4xf32>, %b: memref<4xf32>) {
  affine.for %i = 0 to 4 {
    %x = memref.load %a[%i] {map = affine_map<(d0) -> (3 - d0)>} : memref<4xf32>
    memref.store %x, %b[%i] {map = affine_map<(d0) -> (3 - d0)>} : memref<4xf32>
  }
  return
}
// -----
// error: another index
func.func @f(%a: memref<4xf32>, %b: memref<4xf32>) {
  %c3 = arith.constant 3 : index
  affine.for %i = 0 to 4 {
    %k = arith.subi %c3, %i : index
    %x = memref.load %a[%k] {map = affine_map<(d0) -> (3 - d0)>} : memref<4xf32>
    memref.store %x, %b[%i] : memref<4xf32>
  }
  return
}
