func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %p = %c0 to %c4 step %c1 {
    scf.for %t = %c0 to %c3 step %c1 {
      %e = memref.load %x[%t] : memref<4xf32>
      %a = memref.load %y[%p] : memref<4xf32>
      %b = memref.load %y[%c0] : memref<4xf32>
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %m, %e : f32
      memref.store %s, %y[%p] : memref<4xf32>
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
  scf.for %p = %c0 to %c4 step %c1 {
    scf.for %t = %c0 to %c3 step %c1 {
      %a = memref.load %y[%p] : memref<4xf32>
      %b = memref.load %y[%c0] : memref<4xf32>
      %m = arith.mulf %a, %b : f32
      %e = memref.load %x[%t] : memref<4xf32>
      %s = arith.addf %m, %e : f32
      memref.store %s, %y[%p] : memref<4xf32>
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
  scf.for %p = %c0 to %c4 step %c1 {
    scf.for %t = %c0 to %c3 step %c1 {
      %p2 = arith.subi %c3, %p : index
      %e = memref.load %x[%t] : memref<4xf32>
      %a = memref.load %y[%p2] : memref<4xf32>
      %b = memref.load %y[%c0] : memref<4xf32>
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %m, %e : f32
      memref.store %s, %y[%p2] : memref<4xf32>
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
  scf.for %p = %c0 to %c4 step %c1 {
    scf.for %t = %c0 to %c3 step %c1 {
      %e = memref.load %x[%t] : memref<4xf32>
      %a = memref.load %y[%p] : memref<4xf32>
      %b = memref.load %y[%c1] : memref<4xf32>
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %m, %e : f32
      memref.store %s, %y[%p] : memref<4xf32>
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
  scf.for %p = %c0 to %c4 step %c1 {
    scf.for %t = %c0 to %c3 step %c1 {
      %e = memref.load %x[%t] : memref<4xf32>
      %a = memref.load %y[%p] : memref<4xf32>
      %b = memref.load %y[%p] : memref<4xf32>
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %m, %e : f32
      memref.store %s, %y[%p] : memref<4xf32>
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
  scf.for %p = %c0 to %c4 step %c1 {
    scf.for %t = %c0 to %c3 step %c1 {
      %e = memref.load %x[%p] : memref<4xf32>
      %a = memref.load %y[%p] : memref<4xf32>
      %b = memref.load %y[%c0] : memref<4xf32>
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %m, %e : f32
      memref.store %s, %y[%p] : memref<4xf32>
    }
  }
  return
}
