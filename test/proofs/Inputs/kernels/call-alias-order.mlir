func.func private @id(%a: memref<16xf32>) -> memref<16xf32> {
  return %a : memref<16xf32>
}
func.func @f(%x: memref<16xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %m = func.call @id(%x) {layout.origins = array<i64: 1>} : (memref<16xf32>) -> memref<16xf32>
  memref.store %zero, %x[%c0] {layout.origins = array<i64: 2>} : memref<16xf32>
  memref.store %one, %m[%c0] {layout.origins = array<i64: 3>} : memref<16xf32>
  return
}
// -----
func.func private @id(%a: memref<16xf32>) -> memref<16xf32> {
  return %a : memref<16xf32>
}
func.func @f(%x: memref<16xf32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %m = func.call @id(%x) {layout.origins = array<i64: 1, 3>} : (memref<16xf32>) -> memref<16xf32>
  memref.store %one, %m[%c0] {layout.origins = array<i64: 1, 3>} : memref<16xf32>
  memref.store %zero, %x[%c0] {layout.origins = array<i64: 2>} : memref<16xf32>
  return
}
