func.func @f(%x: memref<16xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %e2 = scf.execute_region -> memref<16xf32> {
    scf.yield %x : memref<16xf32>
  } {layout.origins = array<i64: 1>}
  memref.store %zero, %x[%c0] {layout.origins = array<i64: 2>} : memref<16xf32>
  %e = memref.load %e2[%c0] : memref<16xf32>
  memref.store %e, %y[%c0] {layout.origins = array<i64: 1>} : memref<16xf32>
  return
}
// -----
func.func @f(%x: memref<16xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %e2 = scf.execute_region -> memref<16xf32> {
    scf.yield %x : memref<16xf32>
  } {layout.origins = array<i64: 1>}
  %e = memref.load %e2[%c0] : memref<16xf32>
  memref.store %e, %y[%c0] {layout.origins = array<i64: 1>} : memref<16xf32>
  memref.store %zero, %x[%c0] {layout.origins = array<i64: 2>} : memref<16xf32>
  return
}
