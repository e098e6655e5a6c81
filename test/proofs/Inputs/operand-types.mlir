// The type of each operand says what an operation computes.
func.func @f(%x: i8, %s: f8E8M0FNU) -> f32 {
  %a = arith.bitcast %x : i8 to f8E4M3FN
  %r = arith.scaling_extf %a, %s : f8E4M3FN, f8E8M0FNU to f32
  return %r : f32
}
// -----
// same
func.func @f(%x: i8, %s: f8E8M0FNU) -> f32 {
  %b = arith.bitcast %x : i8 to f8E5M2
  %y = arith.bitcast %b : f8E5M2 to i8
  %a = arith.bitcast %y : i8 to f8E4M3FN
  %r = arith.scaling_extf %a, %s : f8E4M3FN, f8E8M0FNU to f32
  return %r : f32
}
// -----
// error: element 0 of result 0
func.func @f(%x: i8, %s: f8E8M0FNU) -> f32 {
  %a = arith.bitcast %x : i8 to f8E5M2
  %r = arith.scaling_extf %a, %s : f8E5M2, f8E8M0FNU to f32
  return %r : f32
}
