func.func @f(%t: memref<10xf32>, %k: memref<1xi64>, %c: memref<1xi1>) -> f32 {
  %c0 = arith.constant 0 : index
  scf.while : () -> () {
    %b = memref.load %c[%c0] : memref<1xi1>
    scf.condition(%b)
  } do {
    scf.yield
  }
  %i = memref.load %k[%c0] : memref<1xi64>
  %ii = arith.index_cast %i : i64 to index
  %v = memref.load %t[%ii] : memref<10xf32>
  return %v : f32
}
// -----
// remark: not proved
func.func @f(%t: memref<10xf32>, %k: memref<1xi64>, %c: memref<1xi1>) -> f32 {
  %c0 = arith.constant 0 : index
  %i = memref.load %k[%c0] : memref<1xi64>
  %ii = arith.index_cast %i : i64 to index
  %v = memref.load %t[%ii] : memref<10xf32>
  scf.while : () -> () {
    %b = memref.load %c[%c0] : memref<1xi1>
    scf.condition(%b)
  } do {
    scf.yield
  }
  return %v : f32
}
