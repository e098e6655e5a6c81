// layout-opt --layout-convert-to-llvm
func.func @sum(%x: f32, %y: f32) -> f32 {
  %0 = arith.addf %x, %y : f32
  return %0 : f32
}
