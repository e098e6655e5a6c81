// layout-opt --layout-plan-memory=buffers=1
func.func @two(%x: f32, %at: index) {
  %0 = memref.alloc() : memref<8xf32>
  memref.store %x, %0[%at] : memref<8xf32>
  memref.dealloc %0 : memref<8xf32>
  %1 = memref.alloc() : memref<2x2xf32>
  memref.store %x, %1[%at, %at] : memref<2x2xf32>
  memref.dealloc %1 : memref<2x2xf32>
  return
}
