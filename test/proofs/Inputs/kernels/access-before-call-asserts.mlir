func.func private @g(%c: i1) { cf.assert %c, "m"
 return }
func.func @f(%x: memref<16xf32>, %y: memref<16xf32>, %c: i1, %idx: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16 : index
  %k32 = memref.load %idx[%c0] : memref<1xi32>
  %k = arith.index_cast %k32 : i32 to index
  %z = arith.constant 16 : i32
  %ok = arith.cmpi ult, %k32, %z : i32
  func.call @g(%ok) {layout.origins = array<i64: 1>} : (i1) -> ()
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], layout.origins = array<i64: 2>} outs(%y : memref<16xf32>) {
  ^bb0(%o: f32):
    %v = memref.load %x[%k] : memref<16xf32>
    linalg.yield %v : f32
  }
  return
}
// -----
func.func private @g(%c: i1) { cf.assert %c, "m"
 return }
func.func @f(%x: memref<16xf32>, %y: memref<16xf32>, %c: i1, %idx: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 16 : index
  %k32 = memref.load %idx[%c0] : memref<1xi32>
  %k = arith.index_cast %k32 : i32 to index
  %z = arith.constant 16 : i32
  %ok = arith.cmpi ult, %k32, %z : i32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%k] : memref<16xf32>
    memref.store %v, %y[%i] : memref<16xf32>
  } {layout.origins = array<i64: 2>}
  func.call @g(%ok) {layout.origins = array<i64: 1>} : (i1) -> ()
  return
}
