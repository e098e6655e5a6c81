// layout.convert with `async` and layout.await, through bufferization and lowering.
// RUN: layout-opt %s --layout-prepare-bufferization | FileCheck %s --check-prefix=PREPARED
// RUN: layout-opt %s --layout-to-memref | FileCheck %s
// RUN: layout-opt %s --layout-to-memref=form=physical | FileCheck %s

#near = #layout.tiled<{1,0:T(8,128)S(1)}>
#far = #layout.tiled<{1,0:T(8,128)}>

// All bytes with their padding: 2 × 2 tiles of 1,024 elements. The source stays until the copy is done.
// PREPARED-LABEL: func.func @both(
// PREPARED: memref.alloca() : memref<1xi32>
// PREPARED: %[[FROM:.*]] = bufferization.to_buffer %{{.*}} read_only
// PREPARED: memref.dma_start %[[FROM]]
// PREPARED: linalg.exp
// PREPARED: memref.dma_wait
// PREPARED-NEXT: bufferization.to_tensor %{{.*}} restrict writable
// CHECK-LABEL: func.func @both(
// CHECK: %[[COUNT:.*]] = arith.constant 4096 : index
// CHECK: %[[TAG:.*]] = memref.alloca() : memref<1xi32>
// CHECK: memref.dma_start %[[X:[a-z0-9_]*]][{{.*}}], %[[Y:[a-z0-9_]*]][{{.*}}], %[[COUNT]], %[[TAG]][%{{.*}}] : memref<2x{{.*}}xf32{{.*}}>, memref<2x{{.*}}xf32, {{.*}}#layout.memory_space<vmem>>, memref<1xi32>
// CHECK-NOT: dealloc %[[X]]
// CHECK: math.exp
// CHECK: memref.dma_wait %[[TAG]][%{{.*}}], %[[COUNT]]
func.func @both(%x: tensor<13x200xf32>) -> (tensor<13x200xf32, #near>, tensor<13x200xf32, #far>) {
  %e = tensor.empty() : tensor<13x200xf32, #far>
  %a = linalg.negf ins(%x : tensor<13x200xf32>) outs(%e : tensor<13x200xf32, #far>) -> tensor<13x200xf32, #far>
  %0 = layout.convert %a {async, keep} : tensor<13x200xf32, #far> to tensor<13x200xf32, #near>
  %b = linalg.exp ins(%a : tensor<13x200xf32, #far>) outs(%e : tensor<13x200xf32, #far>) -> tensor<13x200xf32, #far>
  %1 = layout.await %0 : tensor<13x200xf32, #near>
  return %1, %b : tensor<13x200xf32, #near>, tensor<13x200xf32, #far>
}

// Between other layouts, and where nothing waits, the copy is made where it starts.
// CHECK-LABEL: func.func @relayout(
// CHECK-NOT: dma
// CHECK: return
func.func @relayout(%x: tensor<16x256xf32>) -> tensor<16x256xf32, #near> {
  %0 = layout.convert %x {async, keep} : tensor<16x256xf32> to tensor<16x256xf32, #near>
  %1 = layout.await %0 : tensor<16x256xf32, #near>
  return %1 : tensor<16x256xf32, #near>
}

// CHECK-LABEL: func.func @no_wait(
// CHECK-NOT: dma
// CHECK: return
func.func @no_wait(%x: tensor<16x256xf32, #far>) -> tensor<16x256xf32, #near> {
  %0 = layout.convert %x {async, keep} : tensor<16x256xf32, #far> to tensor<16x256xf32, #near>
  return %0 : tensor<16x256xf32, #near>
}
