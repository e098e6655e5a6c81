func.func @f(%o: memref<10xf32>, %t: memref<10xf32>, %k: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %i10 = arith.constant 10 : i32
  %i = memref.load %k[%c0] : memref<1xi32>
  %ii = arith.index_cast %i : i32 to index
  %p = arith.cmpi ult, %i, %i10 : i32
  cf.assert %p, "b"
  scf.for %j = %c0 to %ii step %c1 {
    memref.store %one, %o[%j] : memref<10xf32>
  }
  return
}
// -----
// remark: not proved
func.func @f(%o: memref<10xf32>, %t: memref<10xf32>, %k: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %i10 = arith.constant 10 : i32
  %i = memref.load %k[%c0] : memref<1xi32>
  %ii = arith.index_cast %i : i32 to index
  %p = arith.cmpi ult, %i, %i10 : i32
  scf.for %z = %c0 to %c0 step %c1 {
    cf.assert %p, "c"
    %v = memref.load %t[%ii] : memref<10xf32>
  }
  scf.for %j = %c0 to %ii step %c1 {
    memref.store %one, %o[%j] : memref<10xf32>
  }
  cf.assert %p, "b"
  return
}
// -----
// remark: not proved
func.func @f(%o: memref<10xf32>, %t: memref<10xf32>, %k: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %i10 = arith.constant 10 : i32
  %i = memref.load %k[%c0] : memref<1xi32>
  %ii = arith.index_cast %i : i32 to index
  %p = arith.cmpi ult, %i, %i10 : i32
  scf.for %j = %c0 to %ii step %c1 {
    memref.store %one, %o[%j] : memref<10xf32>
  }
  cf.assert %p, "b"
  return
}
