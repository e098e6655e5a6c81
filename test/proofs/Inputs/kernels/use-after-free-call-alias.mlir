func.func @f(%x: memref<16xf32>, %y: memref<16xf32>) {
  linalg.copy {layout.origins = array<i64: 1>} ins(%x : memref<16xf32>) outs(%y : memref<16xf32>)
  return
}
// -----
func.func private @id(%a: memref<16xf32>) -> memref<16xf32> {
  return %a : memref<16xf32>
}
func.func @f(%x: memref<16xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.alloc() : memref<16xf32>
  %e = func.call @id(%m) {layout.origins = array<i64: 1>} : (memref<16xf32>) -> memref<16xf32>
  memref.dealloc %m : memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %zero, %e[%i] : memref<16xf32>
    %a = memref.load %x[%i] : memref<16xf32>
    memref.store %a, %y[%i] : memref<16xf32>
  } {layout.origins = array<i64: 1>}
  return
}
