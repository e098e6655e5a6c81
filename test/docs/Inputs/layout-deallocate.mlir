// layout-opt --layout-deallocate
func.func @first(%x: memref<8xf32>) -> f32 {
  %zero = arith.constant 0 : index
  %copy = memref.alloc() : memref<8xf32>
  memref.copy %x, %copy : memref<8xf32> to memref<8xf32>
  %y = memref.load %copy[%zero] : memref<8xf32>
  return %y : f32
}
