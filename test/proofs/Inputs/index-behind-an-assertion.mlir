func.func @f(%w: memref<2xi64>, %x: memref<100xf32>, %y: memref<2xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %k64 = memref.load %w[%c0] : memref<2xi64>
  %k = arith.index_cast %k64 : i64 to index
  cf.assert %c, "not so"
  %v = memref.load %x[%k] : memref<100xf32>
  memref.store %v, %y[%c0] : memref<2xf32>
  return
}
// -----
// same
func.func @f(%w: memref<2xi64>, %x: memref<100xf32>, %y: memref<2xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %k64 = memref.load %w[%c0] : memref<2xi64>
  %k = arith.index_cast %k64 : i64 to index
  cf.assert %c, "not so"
  %v = memref.load %x[%k] : memref<100xf32>
  %u = memref.load %x[%k] : memref<100xf32>
  memref.store %u, %y[%c0] : memref<2xf32>
  return
}
// -----
// remark: not proved
func.func @f(%w: memref<2xi64>, %x: memref<100xf32>, %y: memref<2xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %k64 = memref.load %w[%c0] : memref<2xi64>
  %k = arith.index_cast %k64 : i64 to index
  %v = memref.load %x[%k] : memref<100xf32>
  memref.store %v, %y[%c0] : memref<2xf32>
  cf.assert %c, "not so"
  return
}
// -----
// remark: not proved
func.func @f(%w: memref<2xi64>, %x: memref<100xf32>, %y: memref<2xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %k64 = memref.load %w[%c0] : memref<2xi64>
  %k = arith.index_cast %k64 : i64 to index
  %v = memref.load %x[%k] : memref<100xf32>
  cf.assert %c, "not so"
  memref.store %v, %y[%c0] : memref<2xf32>
  return
}
