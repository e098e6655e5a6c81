// An argument has the elements of its layout.
#t = #layout.tiled<{1,0:T(2,2)}>
func.func @f(%x: tensor<3x5xf32, #t>) -> f32 {
  %i = arith.constant 2 : index
  %j = arith.constant 4 : index
  %r = tensor.extract %x[%i, %j] : tensor<3x5xf32, #t>
  return %r : f32
}
// -----
// same
func.func @f(%x: memref<2x3x2x2xf32>) -> f32 {
  %r = affine.load %x[1, 2, 0, 0] : memref<2x3x2x2xf32>
  return %r : f32
}
// -----
// error: argument 0 of another type than before
func.func @f(%x: memref<2x3x2x2xi32>) -> f32 {
  %v = affine.load %x[1, 2, 0, 0] : memref<2x3x2x2xi32>
  %r = arith.bitcast %v : i32 to f32
  return %r : f32
}
// -----
// error: argument 0
func.func @f(%x: memref<2x3x2x2x1xf32>) -> f32 {
  %r = affine.load %x[1, 2, 0, 0, 0] : memref<2x3x2x2x1xf32>
  return %r : f32
}
// -----
// error: argument 0 with other attributes than before
func.func @f(%x: memref<2x3x2x2xf32> {layout.padding = 0.0 : f32}) -> f32 {
  %r = affine.load %x[1, 2, 0, 0] : memref<2x3x2x2xf32>
  return %r : f32
}
// -----
// error: argument 0 with other attributes than before
func.func @f(%x: memref<2x3x2x2xf32> {llvm.noalias}) -> f32 {
  %r = affine.load %x[1, 2, 0, 0] : memref<2x3x2x2xf32>
  return %r : f32
}
