// layout-opt --layout-to-llvm
func.func private @f(memref<4x6xf32, #layout.tiled<{1,0:T(2,2)}>>)
