func.func @f() -> f32 {
  %c = arith.constant 0.0 : f32
  return %c : f32
}
// -----
// remark: not proved
func.func @f() -> f32 {
  %c = arith.constant 0.0 : f32
  %d = arith.constant -0.0 : f32
  %r = arith.maxnumf %d, %c : f32
  return %r : f32
}
// -----
// error: flags that it did not have
func.func @f() -> f32 {
  %c = arith.constant 1.0 : f32
  %r = arith.subf %c, %c fastmath<nsz> : f32
  return %r : f32
}
