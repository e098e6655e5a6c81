// layout-opt --layout-expand-dma
func.func @copy(%a: memref<4x8xf32>, %b: memref<4x8xf32, #layout.memory_space<vmem>>) {
  %zero = arith.constant 0 : index
  %count = arith.constant 32 : index
  %tag = memref.alloca() : memref<1xi32>
  memref.dma_start %a[%zero, %zero], %b[%zero, %zero], %count, %tag[%zero] : memref<4x8xf32>, memref<4x8xf32, #layout.memory_space<vmem>>, memref<1xi32>
  memref.dma_wait %tag[%zero], %count : memref<1xi32>
  return
}
