func.func @f(%t: memref<10xf32>, %k: memref<1xi64>, %c: memref<1xi1>, %o: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %c10 = arith.constant 10 : index
  %i = memref.load %k[%c0] : memref<1xi64>
  %ii = arith.index_cast %i : i64 to index
  scf.while : () -> () {
    %q = memref.load %c[%c0] : memref<1xi1>
    scf.condition(%q)
  } do {
    scf.yield
  }
  %v = memref.load %t[%ii] : memref<10xf32>
  memref.store %v, %o[%c0] : memref<1xf32>
  return
}
// -----
// remark: not proved
func.func @f(%t: memref<10xf32>, %k: memref<1xi64>, %c: memref<1xi1>, %o: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %c10 = arith.constant 10 : index
  %i = memref.load %k[%c0] : memref<1xi64>
  %ii = arith.index_cast %i : i64 to index
  scf.while : () -> () {
    %q = memref.load %c[%c0] : memref<1xi1>
    %p = arith.cmpi slt, %ii, %c10 : index
    %qq = arith.andi %q, %p : i1
    scf.condition(%qq)
  } do {
    scf.yield
  }
  %v = memref.load %t[%ii] : memref<10xf32>
  memref.store %v, %o[%c0] : memref<1xf32>
  return
}
// -----
// remark: not proved
func.func @f(%t: memref<10xf32>, %k: memref<1xi64>, %c: memref<1xi1>, %o: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %c10 = arith.constant 10 : index
  %i = memref.load %k[%c0] : memref<1xi64>
  %ii = arith.index_cast %i : i64 to index
  %v = memref.load %t[%ii] : memref<10xf32>
  memref.store %v, %o[%c0] : memref<1xf32>
  return
}
