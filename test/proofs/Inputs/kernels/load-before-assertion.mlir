func.func @f(%x: memref<16xf32>, %y: memref<16xf32>, %c: i1, %idx: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16 : index
  %k32 = memref.load %idx[%c0] : memref<1xi32>
  %k = arith.index_cast %k32 : i32 to index
  %z = arith.constant 16 : i32
  %ok = arith.cmpi ult, %k32, %z : i32
  cf.assert %ok, "m" {layout.origins = array<i64: 1>}
  %lv = memref.load %x[%k] : memref<16xf32>
  linalg.fill {layout.origins = array<i64: 2>} ins(%lv : f32) outs(%y : memref<16xf32>)
  return
}
// -----
func.func @f(%x: memref<16xf32>, %y: memref<16xf32>, %c: i1, %idx: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16 : index
  %k32 = memref.load %idx[%c0] : memref<1xi32>
  %k = arith.index_cast %k32 : i32 to index
  %z = arith.constant 16 : i32
  %ok = arith.cmpi ult, %k32, %z : i32
  %lv = memref.load %x[%k] : memref<16xf32>
  cf.assert %ok, "m" {layout.origins = array<i64: 1>}
  scf.for %i = %c0 to %n step %c1 {
    memref.store %lv, %y[%i] : memref<16xf32>
  } {layout.origins = array<i64: 2>}
  return
}
