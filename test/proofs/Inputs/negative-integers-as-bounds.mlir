func.func @f(%o: memref<2xf32>) {
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i0 = arith.constant 0 : i8
  %i1 = arith.constant 1 : i8
  %m = arith.constant -8 : i8
  scf.for %i = %c0 to %c2 step %c1 {
    %ii = arith.index_cast %i : index to i8
    %n = arith.ori %ii, %m : i8
    %r = scf.for %k = %i0 to %n step %i1 iter_args(%s = %z) -> (f32) : i8 {
      scf.yield %one : f32
    }
    memref.store %r, %o[%i] : memref<2xf32>
  }
  return
}
// -----
// error: memory 0
func.func @f(%o: memref<2xf32>) {
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    memref.store %one, %o[%i] : memref<2xf32>
  }
  return
}
