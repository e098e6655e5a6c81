func.func @f(%x: memref<16xf32>, %y: memref<16xf32>) {
  %m = memref.alloc() {layout.origins = array<i64: 0>} : memref<16xf32>
  linalg.exp {layout.origins = array<i64: 1>} ins(%x : memref<16xf32>) outs(%m : memref<16xf32>)
  linalg.negf {layout.origins = array<i64: 2>} ins(%m : memref<16xf32>) outs(%y : memref<16xf32>)
  return
}
// -----
func.func @f(%x: memref<16xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16 : index
  %m = memref.alloc() {layout.origins = array<i64: 0>} : memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<16xf32>
    %b = math.exp %a : f32
    memref.store %b, %m[%i] : memref<16xf32>
  } {layout.origins = array<i64: 1>}
  %e = scf.execute_region -> memref<16xf32> {
    scf.yield %m : memref<16xf32>
  } {layout.origins = array<i64: 2>}
  memref.dealloc %m : memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %e[%i] : memref<16xf32>
    %b = arith.negf %a : f32
    memref.store %b, %y[%i] : memref<16xf32>
  } {layout.origins = array<i64: 2>}
  return
}
