func.func @f(%x: memref<16xf32>, %y: memref<16xf32>) {
  linalg.copy {layout.origins = array<i64: 1>} ins(%x : memref<16xf32>) outs(%y : memref<16xf32>)
  return
}
// -----
func.func @f(%x: memref<16xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16 : index
  %q = memref.load %x[%n] : memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<16xf32>
    memref.store %a, %y[%i] : memref<16xf32>
  } {layout.origins = array<i64: 1>}
  return
}
