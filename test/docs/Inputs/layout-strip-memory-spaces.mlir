// layout-opt --layout-strip-memory-spaces
func.func private @f(memref<8x128xf32, #layout.memory_space<vmem>>)
