func.func @f(%t: memref<10xf32>, %k: memref<8xi32>, %b: memref<1xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %i10 = arith.constant 10 : i32
  scf.for %i = %c0 to %c8 step %c1 {
    %ki = memref.load %k[%i] : memref<8xi32>
    %kk = arith.index_cast %ki : i32 to index
    %p = arith.cmpi ult, %ki, %i10 : i32
    cf.assert %p, "a"
    %v = memref.load %t[%kk] : memref<10xf32>
  }
  %q = memref.load %b[%c0] : memref<1xi1>
  cf.assert %q, "b"
  return
}
// -----
// remark: not proved
func.func @f(%t: memref<10xf32>, %k: memref<8xi32>, %b: memref<1xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %i10 = arith.constant 10 : i32
  scf.for %i = %c0 to %c8 step %c1 {
    %ki = memref.load %k[%i] : memref<8xi32>
    %kk = arith.index_cast %ki : i32 to index
    %p = arith.cmpi ult, %ki, %i10 : i32
    cf.assert %p, "a"
    %v = memref.load %t[%kk] : memref<10xf32>
  }
  %ki = memref.load %k[%c0] : memref<8xi32>
  %kk = arith.index_cast %ki : i32 to index
  scf.for %j = %c0 to %kk step %c1 {
    %w = memref.load %t[%j] : memref<10xf32>
  }
  %q = memref.load %b[%c0] : memref<1xi1>
  cf.assert %q, "b"
  return
}
