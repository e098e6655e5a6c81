// Memory that a caller gives stays memory, in its space and with its attributes.
func.func @f(%x: memref<4xf32, 1> {llvm.noalias}) -> (f32 {llvm.noundef}) attributes {llvm.emit_c_interface} {
  %r = affine.load %x[0] : memref<4xf32, 1>
  return %r : f32
}
// -----
// same
func.func @f(%x: memref<4xf32, 1> {llvm.noalias}) -> (f32 {llvm.noundef}) attributes {llvm.emit_c_interface, b} {
  %c0 = arith.constant 0 : index
  %r = memref.load %x[%c0] : memref<4xf32, 1>
  return %r : f32
}
// -----
// error: argument 0 in another memory space than before
func.func @f(%x: memref<4xf32> {llvm.noalias}) -> (f32 {llvm.noundef}) attributes {llvm.emit_c_interface} {
  %r = affine.load %x[0] : memref<4xf32>
  return %r : f32
}
// -----
// error: argument 0 with other attributes than before
func.func @f(%x: memref<4xf32, 1>) -> (f32 {llvm.noundef}) attributes {llvm.emit_c_interface} {
  %r = affine.load %x[0] : memref<4xf32, 1>
  return %r : f32
}
// -----
// error: result 0 with other attributes than before
func.func @f(%x: memref<4xf32, 1> {llvm.noalias}) -> f32 attributes {llvm.emit_c_interface} {
  %r = affine.load %x[0] : memref<4xf32, 1>
  return %r : f32
}
// -----
// error: a function without its attribute llvm.emit_c_interface
func.func @f(%x: memref<4xf32, 1> {llvm.noalias}) -> (f32 {llvm.noundef}) {
  %r = affine.load %x[0] : memref<4xf32, 1>
  return %r : f32
}
// -----
// error: argument 0 of another type than before
func.func @f(%x: tensor<4xf32> {llvm.noalias}) -> (f32 {llvm.noundef}) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %r = tensor.extract %x[%c0] : tensor<4xf32>
  return %r : f32
}
