// layout-opt --layout-call-libm
func.func @growth(%x: f32) -> f32 {
  %0 = math.expm1 %x : f32
  return %0 : f32
}
