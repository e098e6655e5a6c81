// layout-verify: copies that run beside the program.
// RUN: layout-opt %s --split-input-file --verify-diagnostics '--layout-verify=passes={layout-expand-dma}' -o /dev/null
// RUN: layout-opt %s --split-input-file --verify-diagnostics '--layout-verify=passes={layout-expand-dma{late}}' -o /dev/null

func.func @waited(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %tag = memref.alloca() : memref<1xi32>
  memref.dma_start %x[%c0], %y[%c0], %c8, %tag[%c0] : memref<8xf32>, memref<8xf32>, memref<1xi32>
  memref.dma_wait %tag[%c0], %c8 : memref<1xi32>
  return
}

// -----

// What a program does must not depend on when a copy runs.
// expected-remark @+2 {{@overwritten: not proved: no sizes and numbers that were tried are those of the program}}
module {
  func.func @overwritten(%x: memref<8xf32>, %y: memref<8xf32>, %f: f32) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %a = memref.alloc() : memref<8xf32>
    %b = memref.alloc() : memref<8xf32>
    %tag = memref.alloca() : memref<1xi32>
    memref.copy %x, %a : memref<8xf32> to memref<8xf32>
    memref.dma_start %a[%c0], %b[%c0], %c8, %tag[%c0] : memref<8xf32>, memref<8xf32>, memref<1xi32>
    memref.store %f, %a[%c0] : memref<8xf32>
    memref.dma_wait %tag[%c0], %c8 : memref<1xi32>
    memref.copy %b, %y : memref<8xf32> to memref<8xf32>
    memref.dealloc %a : memref<8xf32>
    memref.dealloc %b : memref<8xf32>
    return
  }
}
