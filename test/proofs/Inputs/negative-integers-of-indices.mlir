func.func @f(%o: memref<4xf32>) {
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %m1 = arith.constant -1 : i32
  scf.for %i = %c0 to %c4 step %c1 {
    %ii = arith.index_cast %i : index to i32
    %n = arith.xori %ii, %m1 : i32
    %r = scf.for %k = %i0 to %n step %i1 iter_args(%s = %z) -> (f32) : i32 {
      scf.yield %one : f32
    }
    memref.store %r, %o[%i] : memref<4xf32>
  }
  return
}
// -----
// error: memory 0
func.func @f(%o: memref<4xf32>) {
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %one, %o[%i] : memref<4xf32>
  }
  return
}
// -----
// same
func.func @f(%o: memref<4xf32>) {
  %one = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %one, %o[%i] : memref<4xf32>
  }
  return
}
