func.func @f() -> f32 {
  %a = arith.constant 1.0e20 : f32
  %b = arith.constant -1.0e20 : f32
  %c = arith.constant 1.0 : f32
  %s = arith.addf %c, %a : f32
  %r = arith.addf %s, %b : f32
  return %r : f32
}
// -----
// error: flags that it did not have
func.func @f() -> f32 {
  %a = arith.constant 1.0e20 : f32
  %b = arith.constant -1.0e20 : f32
  %c = arith.constant 1.0 : f32
  %s = arith.addf %c, %a fastmath<reassoc> : f32
  %r = arith.addf %s, %b fastmath<reassoc> : f32
  return %r : f32
}
// -----
// same
func.func @f() -> f32 {
  %r = arith.constant 0.0 : f32
  return %r : f32
}
