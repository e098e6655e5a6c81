// layout-plan with memory spaces and a capacity: copies between memories start and are done where the plan says.
// RUN: layout-opt %s --mlir-print-local-scope --layout-plan="machine=tpu_v5e spaces capacity=3200000 report" 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t.remarks
// As many are written as the plan has, of as many bytes: three of 2^20.
// RUN: test "$(grep -c 'is copied from memory space .*: 1048576 bytes' %t.remarks)" = 3
// RUN: test "$(layout-opt %s --layout-plan="machine=tpu_v5e spaces capacity=3200000" 2>/dev/null | grep -c 'async.*<512x512xf32')" = 3
// Each with the strided copies that it is, and when.
// RUN: layout-opt %s --layout-plan="machine=tpu_v5e spaces capacity=3200000" 2>/dev/null \
// RUN:   | layout-opt --layout-indexing-analysis=report -o /dev/null 2>&1 | FileCheck %s --check-prefix=COPIES
// Without memory spaces in types no copy has a place to go to.
// RUN: layout-opt %s --layout-plan="machine=tpu_v5e capacity=3200000" | FileCheck %s --check-prefix=STAY
// Lowered, each is a start and a wait with a tag of its own. What is copied is freed behind the wait.
// RUN: layout-opt %s --layout-to-memref="plan machine=tpu_v5e spaces capacity=3200000" 2>/dev/null | FileCheck %s --check-prefix=DMA
// All of it fits into the arenas of two memories, of which the faster one has three tensors at once.
// RUN: layout-opt %s --layout-to-memref="plan machine=tpu_v5e spaces capacity=3200000" 2>/dev/null | layout-opt --layout-plan-memory \
// RUN:   | FileCheck %s --check-prefix=ARENAS
// RUN: layout-opt %s --layout-to-llvm="plan machine=tpu_v5e spaces capacity=3200000" 2>/dev/null | FileCheck %s --check-prefix=LLVM

// The first product is read by the second, and not again before the last.
// CHECK-LABEL: func.func @long(
// CHECK-SAME: %[[X:.*]]: tensor<512x512xf32>, %[[W:.*]]: tensor<512x512xf32>)
// CHECK-DAG: %[[X1:.*]] = layout.convert %[[X]] {async, keep, planned} : tensor<512x512xf32> to tensor<512x512xf32, #layout.tiled<{1,0:S(1)}>>
// CHECK-DAG: %[[W1:.*]] = layout.convert %[[W]] {async, keep, planned}
// CHECK-DAG: %[[NEAR:.*]] = layout.await %[[W1]]
// CHECK-DAG: %[[FIRST:.*]] = layout.await %[[X1]]
// CHECK: %[[A:.*]] = linalg.matmul ins(%[[FIRST]], %[[NEAR]]
// CHECK-NEXT: %[[OUT:.*]] = layout.convert %[[A]] {async, keep, planned} : tensor<512x512xf32, #layout.tiled<{1,0:S(1)}>> to tensor<512x512xf32>
// CHECK-NEXT: %[[B:.*]] = linalg.matmul ins(%[[A]], %[[NEAR]]
// CHECK-NEXT: %[[FAR:.*]] = layout.await %[[OUT]]
// CHECK-NEXT: %[[C:.*]] = linalg.matmul ins(%[[B]], %[[NEAR]]
// CHECK-NEXT: %[[D:.*]] = linalg.matmul ins(%[[C]], %[[NEAR]]
// CHECK-NEXT: linalg.matmul ins(%[[D]], %[[FAR]]

// REPORT: remark: `linalg.matmul` is copied from memory space 1 to 0: 1048576 bytes, kernels wait 1582 cycles
// REPORT: note: starts before `linalg.matmul`
// REPORT: note: is done before `linalg.matmul`

// COPIES: remark: `layout.convert` is 1 strided copy
// COPIES: note: [262144] elements, from 0 by [1] in memory space 0, to 0 by [1] in memory space 1
// COPIES: note: it starts here
// COPIES: note: it is done before
// COPIES: note: [262144] elements, from 0 by [1] in memory space 1, to 0 by [1] in memory space 0

// STAY-NOT: async
// STAY-NOT: S(1)
// STAY: return

// DMA: memref.dma_start %{{.*}}, %[[N0:.*]]{{\[}}%{{.*}}], %{{.*}}, %[[T0:.*]]{{\[}}%{{.*}}] : memref<512x512xf32>, memref<512x512xf32, #layout.memory_space<vmem>>, memref<1xi32>
// DMA: memref.dma_start {{.*}} : memref<512x512xf32>, memref<512x512xf32, #layout.memory_space<vmem>>, memref<1xi32>
// DMA-COUNT-2: memref.dma_wait
// DMA: memref.dma_start %[[NEAR:[a-z0-9_]*]][%{{.*}}], %{{.*}}[%{{.*}}], %{{.*}}, %[[T:[a-z0-9_]*]][%{{.*}}] : memref<512x512xf32, #layout.memory_space<vmem>>, memref<512x512xf32>, memref<1xi32>
// DMA-NOT: memref.dealloc %[[NEAR]] :
// DMA: memref.dma_wait %[[T]]
// DMA: memref.dealloc %[[NEAR]] :

// ARENAS-DAG: memref.alloc() {{.*}} : memref<3145728xi8, #layout.memory_space<vmem>>
// ARENAS-NOT: memref.alloc{{.*}}vmem

// LLVM-NOT: memref.dma
// LLVM: llvm.intr.memcpy
func.func @long(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %z = linalg.fill ins(%0 : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %a = linalg.matmul ins(%x, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %b = linalg.matmul ins(%a, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %c = linalg.matmul ins(%b, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %d = linalg.matmul ins(%c, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = linalg.matmul ins(%d, %a : tensor<512x512xf32>, tensor<512x512xf32>) outs(%z : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}
