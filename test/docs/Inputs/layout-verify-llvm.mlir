// layout-opt --layout-verify-llvm
llvm.func @sum(%x: f32, %y: f32) -> f32 {
  %s = llvm.fadd %x, %y : f32
  llvm.return %s : f32
}
