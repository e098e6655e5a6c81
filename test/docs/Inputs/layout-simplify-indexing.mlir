// layout-opt --layout-simplify-indexing
func.func @rows(%m: memref<80xf32>, %f: f32) {
  affine.for %i = 0 to 10 {
    affine.for %j = 0 to 8 {
      affine.store %f, %m[((%i * 8 + %j) floordiv 8) * 8 + (%i * 8 + %j) mod 8] : memref<80xf32>
    }
  }
  return
}
