func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c3 step %c1 {
    scf.for %i = %c0 to %c4 step %c1 {
      %j = affine.apply affine_map<(d0) -> ((d0 + 1) mod 4)>(%i)
      %a = memref.load %y[%i] : memref<4xf32>
      %b = memref.load %y[%j] : memref<4xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%i] : memref<4xf32>
    }
  }
  return
}
// -----
// same: proved
func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c3 step %c1 {
    scf.for %i = %c0 to %c4 step %c1 {
      %j = affine.apply affine_map<(d0) -> ((d0 + 1) mod 4)>(%i)
      %b = memref.load %y[%j] : memref<4xf32>
      %a = memref.load %y[%i] : memref<4xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%i] : memref<4xf32>
    }
  }
  return
}
// -----
// error
func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c3 step %c1 {
    %z = memref.alloc() : memref<4xf32>
    memref.copy %y, %z : memref<4xf32> to memref<4xf32>
    scf.for %i = %c0 to %c4 step %c1 {
      %j = affine.apply affine_map<(d0) -> ((d0 + 1) mod 4)>(%i)
      %a = memref.load %z[%i] : memref<4xf32>
      %b = memref.load %z[%j] : memref<4xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%i] : memref<4xf32>
    }
    memref.dealloc %z : memref<4xf32>
  }
  return
}
// -----
// error
func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c3 step %c1 {
    scf.for %i = %c0 to %c4 step %c1 {
      %i2 = arith.subi %c3, %i : index
      %j = affine.apply affine_map<(d0) -> ((d0 + 1) mod 4)>(%i2)
      %a = memref.load %y[%i2] : memref<4xf32>
      %b = memref.load %y[%j] : memref<4xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%i2] : memref<4xf32>
    }
  }
  return
}
// -----
// error
func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c0 to %c2 step %c1 {
    scf.for %i = %c0 to %c4 step %c1 {
      %j = affine.apply affine_map<(d0) -> ((d0 + 1) mod 4)>(%i)
      %a = memref.load %y[%i] : memref<4xf32>
      %b = memref.load %y[%j] : memref<4xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%i] : memref<4xf32>
    }
  }
  return
}
// -----
// error
func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %t = %c1 to %c4 step %c1 {
    scf.for %i = %c0 to %c4 step %c1 {
      %j = affine.apply affine_map<(d0) -> ((d0 + 3) mod 4)>(%i)
      %a = memref.load %y[%i] : memref<4xf32>
      %b = memref.load %y[%j] : memref<4xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%i] : memref<4xf32>
    }
  }
  return
}
