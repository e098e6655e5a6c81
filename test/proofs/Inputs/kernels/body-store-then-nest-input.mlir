func.func @f(%x: memref<16xf32>, %y: memref<16xf32>, %z: memref<16xf32>, %w: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps=[affine_map<(d0)->(d0)>,affine_map<(d0)->(d0)>], iterator_types=["parallel"]} ins(%x:memref<16xf32>) outs(%y:memref<16xf32>) attrs = {layout.origins = array<i64: 1>} {
  ^bb0(%p: f32, %q: f32):
    memref.store %one, %z[%c0] : memref<16xf32>
    linalg.yield %p : f32
  }
  linalg.copy {layout.origins = array<i64: 2>} ins(%z : memref<16xf32>) outs(%w : memref<16xf32>)
  return
}
// -----
func.func @f(%x: memref<16xf32>, %y: memref<16xf32>, %z: memref<16xf32>, %w: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  linalg.copy {layout.origins = array<i64: 2>} ins(%z : memref<16xf32>) outs(%w : memref<16xf32>)
  linalg.generic {indexing_maps=[affine_map<(d0)->(d0)>,affine_map<(d0)->(d0)>], iterator_types=["parallel"]} ins(%x:memref<16xf32>) outs(%y:memref<16xf32>) attrs = {layout.origins = array<i64: 1>} {
  ^bb0(%p: f32, %q: f32):
    memref.store %one, %z[%c0] : memref<16xf32>
    linalg.yield %p : f32
  }
  return
}
