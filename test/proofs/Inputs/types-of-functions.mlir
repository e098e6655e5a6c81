// Each function has inputs of its own types.
func.func @first(%x: f32, %y: i64) -> f32 {
  return %x : f32
}
func.func @second(%x: i8, %y: i8) -> i8 {
  %c1 = arith.constant 1 : i8
  %d = arith.ori %y, %c1 : i8
  %r = arith.remui %x, %d : i8
  return %r : i8
}
// -----
// remark: not proved, but tried
func.func @first(%x: f32, %y: i64) -> f32 {
  return %x : f32
}
func.func @second(%x: i8, %y: i8) -> i8 {
  %c1 = arith.constant 1 : i8
  %d = arith.ori %y, %c1 : i8
  %q = arith.divui %x, %d : i8
  %p = arith.muli %q, %d : i8
  %r = arith.subi %x, %p : i8
  return %r : i8
}
