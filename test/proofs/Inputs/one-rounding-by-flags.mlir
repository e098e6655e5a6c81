// A product and a sum that the program itself may round once.
func.func @f(%x: f32, %y: f32, %z: f32) -> f32 {
  %p = arith.mulf %x, %y fastmath<contract> : f32
  %r = arith.addf %p, %z fastmath<contract> : f32
  return %r : f32
}
// -----
// same
func.func @f(%x: f32, %y: f32, %z: f32) -> f32 {
  %r = math.fma %x, %y, %z : f32
  return %r : f32
}
// -----
// error: element 0 of result 0
func.func @f(%x: f32, %y: f32, %z: f32) -> f32 {
  %r = math.fma %x, %z, %y : f32
  return %r : f32
}
