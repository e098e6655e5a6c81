// Callers see the rank, the sizes, the order and the elements that a layout says.
#t = #layout.tiled<{1,0:T(2,2)}>
func.func @f(%v: f32) -> tensor<3x5xf32, #t> {
  %e = tensor.splat %v : tensor<3x5xf32>
  %r = layout.convert %e : tensor<3x5xf32> to tensor<3x5xf32, #t>
  return %r : tensor<3x5xf32, #t>
}
// -----
// same
func.func @f(%v: f32) -> memref<2x3x2x2xf32> {
  %a = memref.alloc() : memref<2x3x2x2xf32>
  linalg.fill ins(%v : f32) outs(%a : memref<2x3x2x2xf32>)
  return %a : memref<2x3x2x2xf32>
}
// -----
// same
func.func @f(%v: f32) -> memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>> {
  %b = memref.alloc() : memref<24xf32>
  linalg.fill ins(%v : f32) outs(%b : memref<24xf32>)
  %a = memref.reinterpret_cast %b to offset: [0], sizes: [2, 2, 3, 2], strides: [12, 2, 4, 1]
    : memref<24xf32> to memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>
  return %a : memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>
}
// -----
// error: does not lie as its layout says
func.func @f(%v: f32) -> memref<2x3x2x2x1xf32> {
  %a = memref.alloc() : memref<2x3x2x2x1xf32>
  linalg.fill ins(%v : f32) outs(%a : memref<2x3x2x2x1xf32>)
  return %a : memref<2x3x2x2x1xf32>
}
// -----
// error: does not lie as its layout says
func.func @f(%v: f32) -> memref<1x2x3x2x2xf32> {
  %a = memref.alloc() : memref<1x2x3x2x2xf32>
  linalg.fill ins(%v : f32) outs(%a : memref<1x2x3x2x2xf32>)
  return %a : memref<1x2x3x2x2xf32>
}
// -----
// error: result 0 of another type than before
func.func @f(%v: f32) -> memref<2x3x2x2xi32> {
  %a = memref.alloc() : memref<2x3x2x2xi32>
  %w = arith.bitcast %v : f32 to i32
  linalg.fill ins(%w : i32) outs(%a : memref<2x3x2x2xi32>)
  return %a : memref<2x3x2x2xi32>
}
// -----
// error: result 0 in another memory space than before
func.func @f(%v: f32) -> memref<2x3x2x2xf32, 1> {
  %a = memref.alloc() : memref<2x3x2x2xf32, 1>
  linalg.fill ins(%v : f32) outs(%a : memref<2x3x2x2xf32, 1>)
  return %a : memref<2x3x2x2xf32, 1>
}
