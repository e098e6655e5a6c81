// layout-opt --layout-to-llvm
func.func @store(%x: f32, %to: memref<4xf32, #layout.tiled<{0:T(2)}>>, %at: index) {
  memref.store %x, %to[%at] : memref<4xf32, #layout.tiled<{0:T(2)}>>
  return
}
