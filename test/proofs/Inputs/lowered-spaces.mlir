// A layout has the number of the memory, of which lowered memory has the name.
#t = #layout.tiled<{0:S(1)}>
func.func @f(%x: tensor<4xf32, #t>) -> f32 {
  %c0 = arith.constant 0 : index
  %r = tensor.extract %x[%c0] : tensor<4xf32, #t>
  return %r : f32
}
// -----
// same
func.func @f(%x: memref<4xf32, #layout.memory_space<vmem>>) -> f32 {
  %r = affine.load %x[0] : memref<4xf32, #layout.memory_space<vmem>>
  return %r : f32
}
// -----
// error: argument 0 in another memory space than before
func.func @f(%x: memref<4xf32>) -> f32 {
  %r = affine.load %x[0] : memref<4xf32>
  return %r : f32
}
// -----
// error: argument 0 in another memory space than before
func.func @f(%x: memref<4xf32, #layout.memory_space<host>>) -> f32 {
  %r = affine.load %x[0] : memref<4xf32, #layout.memory_space<host>>
  return %r : f32
}
