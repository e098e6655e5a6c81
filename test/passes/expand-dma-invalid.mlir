// RUN: layout-opt %s --layout-expand-dma --split-input-file --verify-diagnostics

func.func @strided(%a: memref<64xf32>, %b: memref<16xf32, 1>, %tag: memref<1xi32>) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %count = arith.constant 16 : index
  // expected-error@+1 {{'memref.dma_start' op cannot be expanded: expected a copy without a stride}}
  memref.dma_start %a[%zero], %b[%zero], %count, %tag[%zero], %count, %four : memref<64xf32>, memref<16xf32, 1>, memref<1xi32>
  return
}

// -----

func.func @count(%a: memref<64xf32>, %b: memref<16xf32, 1>, %tag: memref<1xi32>, %n: index) {
  %zero = arith.constant 0 : index
  // expected-error@+1 {{'memref.dma_start' op cannot be expanded: expected a constant number of elements}}
  memref.dma_start %a[%zero], %b[%zero], %n, %tag[%zero] : memref<64xf32>, memref<16xf32, 1>, memref<1xi32>
  return
}
