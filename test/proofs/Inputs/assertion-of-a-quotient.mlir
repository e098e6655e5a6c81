func.func @f(%A: memref<4xf32>, %B: memref<4xf32>, %K: memref<8xi32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %k = memref.load %K[%c0] : memref<8xi32>
  %i = arith.index_cast %k : i32 to index
  %q = affine.apply affine_map<(d0) -> (d0 ceildiv 3)>(%i)
  %a = arith.cmpi slt, %q, %c4 : index
  cf.assert %a, "m"
  %v = memref.load %A[%q] : memref<4xf32>
  memref.store %v, %B[%c0] : memref<4xf32>
  return
}
// -----
// remark: not proved
func.func @f(%A: memref<4xf32>, %B: memref<4xf32>, %K: memref<8xi32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %k = memref.load %K[%c0] : memref<8xi32>
  %i = arith.index_cast %k : i32 to index
  %q = affine.apply affine_map<(d0) -> (d0 ceildiv 3)>(%i)
  %a = arith.cmpi slt, %q, %c4 : index
  cf.assert %a, "m"
  %vd = memref.load %A[%c0] : memref<4xf32>
  %v = memref.load %A[%q] : memref<4xf32>
  memref.store %v, %B[%c0] : memref<4xf32>
  return
}
