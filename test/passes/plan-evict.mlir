// layout-plan with memory spaces and a capacity: a tensor that is read at the beginning and at the end leaves the faster memory
// beside the kernel that reads it first, and comes back beside kernels before those that read it last.
// RUN: layout-opt %s --mlir-print-local-scope --layout-plan="machine=tpu_v5e spaces capacity=3200000 report" 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t.remarks
// All copies are as long as the tensor, one run each, and each has a start and an end.
// RUN: layout-opt %s --layout-plan="machine=tpu_v5e spaces capacity=3200000" 2>/dev/null \
// RUN:   | layout-opt --layout-indexing-analysis=report -o /dev/null 2>&1 | grep -c '.262144. elements, from 0 by .1. in' | FileCheck %s --check-prefix=RUNS
// With room for it the tensor stays.
// RUN: layout-opt %s --layout-plan="machine=tpu_v5e spaces capacity=4200000" 2>/dev/null | FileCheck %s --check-prefix=STAYS
// Lowered, the buffer in the faster memory is used again behind the end of the copy out, and the copy back has another start.
// RUN: layout-opt %s --layout-to-memref="plan machine=tpu_v5e spaces capacity=3200000" 2>/dev/null | FileCheck %s --check-prefix=DMA
// No more than three tensors are in the faster memory at once, the one that left included.
// RUN: layout-opt %s --layout-to-memref="plan machine=tpu_v5e spaces capacity=3200000" 2>/dev/null | layout-opt --layout-plan-memory \
// RUN:   | FileCheck %s --check-prefix=ARENAS

// CHECK-LABEL: func.func @evict(
// CHECK: %[[A:.*]] = linalg.matmul ins(%{{.*}}, %[[W:.*]] : {{.*}}) outs(%{{.*}}) -> tensor<512x512xf32, #layout.tiled<{1,0:S(1)}>>
// CHECK-NEXT: %[[OUT:.*]] = layout.convert %[[A]] {async, keep, planned} : tensor<512x512xf32, #layout.tiled<{1,0:S(1)}>> to tensor<512x512xf32>
// CHECK-NEXT: linalg.matmul ins(%[[A]], %[[W]]
// CHECK-NEXT: %[[FAR:.*]] = layout.await %[[OUT]] : tensor<512x512xf32>
// CHECK-COUNT-4: linalg.matmul
// CHECK-NOT: linalg.matmul
// It starts two kernels before it is read.
// CHECK: %[[IN:.*]] = layout.convert %[[FAR]] {async, keep, planned} : tensor<512x512xf32> to tensor<512x512xf32, #layout.tiled<{1,0:S(1)}>>
// CHECK-COUNT-2: linalg.matmul
// CHECK-NEXT: %[[BACK:.*]] = layout.await %[[IN]]
// CHECK-NEXT: linalg.matmul ins(%{{.*}}, %[[BACK]]
// CHECK-NEXT: linalg.matmul ins(%{{.*}}, %[[BACK]]
// CHECK-NEXT: linalg.matmul ins(%{{.*}}, %[[BACK]]

// REPORT: remark: `linalg.matmul` is copied from memory space 1 to 0: 1048576 bytes, kernels wait 1582 cycles
// REPORT: remark: `linalg.matmul` is copied from memory space 0 to 1: 1048576 bytes, kernels wait 0 cycles

// RUNS: 4

// STAYS-COUNT-2: layout.convert {{.*}} {async
// STAYS-NOT: async
// STAYS: return

// DMA-COUNT-2: memref.dma_start {{.*}} : memref<512x512xf32>, memref<512x512xf32, #layout.memory_space<vmem>>, memref<1xi32>
// DMA: memref.dma_start %[[NEAR:[a-z0-9_]*]][%{{.*}}], %[[FAR:[a-z0-9_]*]][%{{.*}}], %{{.*}}, %[[T:[a-z0-9_]*]][%{{.*}}] : memref<512x512xf32, #layout.memory_space<vmem>>, memref<512x512xf32>, memref<1xi32>
// DMA-NOT: affine.store %{{.*}}, %[[NEAR]][
// DMA: memref.dma_wait %[[T]]
// DMA-NOT: memref.dealloc %[[FAR]] :
// DMA: memref.dma_start %[[FAR]][%{{.*}}], %[[BACK:[a-z0-9_]*]][%{{.*}}], %{{.*}}, %[[U:[a-z0-9_]*]][%{{.*}}] : memref<512x512xf32>, memref<512x512xf32, #layout.memory_space<vmem>>, memref<1xi32>
// DMA-NOT: %[[BACK]][
// DMA: memref.dma_wait %[[U]]
// DMA-NEXT: memref.dealloc %[[FAR]] :
// DMA: affine.load %[[BACK]][

// ARENAS-DAG: memref.alloc() {{.*}} : memref<3145728xi8, #layout.memory_space<vmem>>
// ARENAS-NOT: memref.alloc{{.*}}vmem

func.func @evict(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %z = linalg.fill ins(%0 : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %a = linalg.matmul ins(%x, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %b = linalg.matmul ins(%a, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %c = linalg.matmul ins(%b, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %d = linalg.matmul ins(%c, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %f = linalg.matmul ins(%d, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %g = linalg.matmul ins(%f, %d : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %h = linalg.matmul ins(%g, %g : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %k = linalg.matmul ins(%h, %h : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %l = linalg.matmul ins(%k, %a : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = linalg.matmul ins(%l, %a : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = linalg.matmul ins(%m, %a : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}
