// A product and a sum that are rounded once: 1.0625 * 1.0625 is between two numbers, and 2^-100 decides.
func.func @f() -> (bf16, f16) {
  %r = arith.constant 1.132812e+00 : bf16
  %s = arith.constant 1.001953e+00 : f16
  return %r, %s : bf16, f16
}
// -----
// same
func.func @f() -> (bf16, f16) {
  %a = arith.constant 1.0625 : bf16
  %c = arith.constant 7.888609e-31 : bf16
  %r = math.fma %a, %a, %c : bf16
  %x = arith.constant 1.000976e+00 : f16
  %s = arith.mulf %x, %x : f16
  return %r, %s : bf16, f16
}
// -----
// error: result 0 has the constant
func.func @f() -> (bf16, f16) {
  %a = arith.constant 1.0625 : bf16
  %r = arith.mulf %a, %a : bf16
  %s = arith.constant 1.001953e+00 : f16
  return %r, %s : bf16, f16
}
