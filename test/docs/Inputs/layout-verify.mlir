// layout-opt --layout-verify=passes={layout-lower-memrefs,canonicalize}
func.func @store(%x: f32, %to: memref<4xf32, #layout.tiled<{0:T(2)}>>) {
  %at = arith.constant 3 : index
  memref.store %x, %to[%at] : memref<4xf32, #layout.tiled<{0:T(2)}>>
  return
}
