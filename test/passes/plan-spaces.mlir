// layout-plan with memory spaces: tensors that operations with loops make and take are where the plan has them.
// RUN: layout-opt %s --mlir-print-local-scope --layout-plan="machine=tpu_v5e spaces" | FileCheck %s
// RUN: layout-opt %s --mlir-print-local-scope --layout-plan="machine=tpu_v5e spaces capacity=1000000 report" 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: layout-opt %s --layout-to-memref="plan machine=tpu_v5e spaces" | FileCheck %s --check-prefix=LOWERED
// RUN: not layout-opt %s --layout-plan="machine=cpu capacity=1000" 2>&1 | FileCheck %s --check-prefix=SHORT

// CHECK-LABEL: func.func @chain(
// CHECK-SAME: tensor<512x512xf32, #layout.tiled<{1,0:T(8,128)}>>) -> tensor<512x512xf32, #layout.tiled<{1,0:T(8,128)}>>
// The first transposition is made inside of the product's kernel: it is in no memory.
// CHECK-NOT: layout.convert
// CHECK: linalg.transpose ins(%arg0 : {{[^S]*}}) permutation
// Both orders of the product pad alike: it is made in the faster memory in the one that the second transposition turns into the
// order of the result.
// CHECK: %[[SUM:.*]] = linalg.matmul {{.*}} -> tensor<512x512xf32, #layout.tiled<{0,1:T(8,128)S(1)}>>
// CHECK: linalg.transpose ins(%[[SUM]] : {{.*}}) outs(%{{.*}} : tensor<512x512xf32, #layout.tiled<{1,0:T(8,128)}>>)
// With a capacity below 2^20 bytes nothing as a whole is in the faster memory, but slices are.
// SMALL: remark: the plan costs
// SMALL-NOT: memory space 1
// SMALL-NOT: tensor<512x512xf32, #layout.tiled<{{[^>]*}}S(1)
// SMALL: layout.convert {{.*}} to tensor<{{.*}}S(1)}>>
// SMALL-NOT: tensor<512x512xf32, #layout.tiled<{{[^>]*}}S(1)
// SMALL: return
// LOWERED: memref.alloc() {{.*}} : memref<{{.*}}, #layout.memory_space<vmem>>
// SHORT: error: no layouts can be planned: here `ram` must hold {{[0-9]+}} bytes, {{[0-9]+}} more than its capacity 1000
#T = #layout.tiled<{1,0:T(8,128)}>
func.func @chain(%x: tensor<512x512xf32, #T>) -> tensor<512x512xf32, #T> {
  %e = tensor.empty() : tensor<512x512xf32>
  %a = linalg.transpose ins(%x : tensor<512x512xf32, #T>) outs(%e : tensor<512x512xf32>) permutation = [1, 0]
  %s = linalg.matmul ins(%a, %a : tensor<512x512xf32>, tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %f = tensor.empty() : tensor<512x512xf32, #T>
  %r = linalg.transpose ins(%s : tensor<512x512xf32>) outs(%f : tensor<512x512xf32, #T>) permutation = [1, 0]
  return %r : tensor<512x512xf32, #T>
}
