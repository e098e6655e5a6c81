// Of a dimension of one element, a tile leaves one part.
#t = #layout.tiled<{1,0:T(1,4)}>
func.func @f(%v: i32) -> tensor<1x8xi32, #t> {
  %e = tensor.splat %v : tensor<1x8xi32>
  %r = layout.convert %e : tensor<1x8xi32> to tensor<1x8xi32, #t>
  return %r : tensor<1x8xi32, #t>
}
// -----
// same
func.func @f(%v: i32) -> memref<2x1x4xi32> {
  %a = memref.alloc() : memref<2x1x4xi32>
  linalg.fill ins(%v : i32) outs(%a : memref<2x1x4xi32>)
  return %a : memref<2x1x4xi32>
}
// -----
// same
func.func @f(%v: i32) -> memref<1x2x4xi32> {
  %a = memref.alloc() : memref<1x2x4xi32>
  linalg.fill ins(%v : i32) outs(%a : memref<1x2x4xi32>)
  return %a : memref<1x2x4xi32>
}
// -----
// error: does not lie as its layout says
func.func @f(%v: i32) -> memref<2x4xi32> {
  %a = memref.alloc() : memref<2x4xi32>
  linalg.fill ins(%v : i32) outs(%a : memref<2x4xi32>)
  return %a : memref<2x4xi32>
}
// -----
// error: does not lie as its layout says
func.func @f(%v: i32) -> memref<1x2x1x4xi32> {
  %a = memref.alloc() : memref<1x2x1x4xi32>
  linalg.fill ins(%v : i32) outs(%a : memref<1x2x1x4xi32>)
  return %a : memref<1x2x1x4xi32>
}
