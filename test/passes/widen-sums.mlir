// layout-widen-sums: sums of f16, bf16 and smaller types are added in f32, and rounded once; products are not rounded.
// RUN: layout-opt %s --mlir-print-local-scope --split-input-file --layout-widen-sums | FileCheck %s
// RUN: layout-opt %s --split-input-file --layout-to-memref=reassociate | FileCheck %s --check-prefix=ALLOWED
// RUN: layout-opt %s --split-input-file --layout-to-memref | FileCheck %s --check-prefix=NOT
// RUN: layout-opt %s --split-input-file --layout-to-memref="reassociate verify" -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=VERIFIED
// ALLOWED: arith.addf {{.*}} : f32
// NOT-NOT: arith.addf {{.*}} : f32
// VERIFIED-NOT: @product
// VERIFIED-NOT: error

// CHECK-LABEL: func @product
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[ZEROS:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} {{.*}} outs(%[[ZEROS]] : tensor<4x4xf32>)
// CHECK: arith.extf
// CHECK: arith.extf
// CHECK: arith.mulf {{.*}} : f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: linalg.generic {{.*}} ins(%[[SUMS]] : tensor<4x4xf32>) outs({{.*}} : tensor<4x4xbf16>)
// CHECK: arith.truncf
// CHECK-NOT: linalg.fill
func.func @product(%a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>) -> tensor<4x4xbf16> {
  %zero = arith.constant 0.0 : bf16
  %empty = tensor.empty() : tensor<4x4xbf16>
  %zeros = linalg.fill ins(%zero : bf16) outs(%empty : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %y = linalg.matmul ins(%a, %b : tensor<4x8xbf16>, tensor<8x4xbf16>) outs(%zeros : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  return %y : tensor<4x4xbf16>
}

// -----

// A tensor that is added to, of a size known at run time and with a layout; what is added is no product, and comes first.
// CHECK-LABEL: func @reduce
// CHECK-SAME: %[[X:[^ ]*]]: tensor<?x8xf16>, %[[Y:[^ ]*]]: tensor<?xf16, #layout.tiled<{0:T(8)}>>
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[Y]] :
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<?x8xf16>) outs(%[[WIDE]] : tensor<?xf32>)
// CHECK: %[[E:.*]] = math.exp {{.*}} : f16
// CHECK: %[[F:.*]] = arith.extf %[[E]]
// CHECK: arith.addf %[[F]], %{{.*}} fastmath<nnan> : f32
// CHECK: arith.truncf
func.func @reduce(%x: tensor<?x8xf16>, %y: tensor<?xf16, #layout.tiled<{0:T(8)}>>) -> tensor<?xf16, #layout.tiled<{0:T(8)}>> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x8xf16>) outs(%y : tensor<?xf16, #layout.tiled<{0:T(8)}>>) {
  ^bb0(%e: f16, %sum: f16):
    %exp = math.exp %e : f16
    %next = arith.addf %exp, %sum fastmath<nnan> : f16
    linalg.yield %next : f16
  } -> tensor<?xf16, #layout.tiled<{0:T(8)}>>
  return %0 : tensor<?xf16, #layout.tiled<{0:T(8)}>>
}

// -----

// Sums of f32, largest elements, elementwise operations, and sums that something else reads, stay.
// CHECK-LABEL: func @others
// CHECK-NOT: arith.extf
// CHECK-NOT: f32, %{{.*}}bf16
func.func @others(%x: tensor<4x8xf32>, %y: tensor<4xf32>, %a: tensor<4x8xbf16>, %b: tensor<4xbf16>)
    -> (tensor<4xf32>, tensor<4xbf16>, tensor<4x8xbf16>, tensor<4xbf16>) {
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<4x8xf32>) outs(%y : tensor<4xf32>) dimensions = [1]
  %1 = linalg.reduce { arith.maximumf } ins(%a : tensor<4x8xbf16>) outs(%b : tensor<4xbf16>) dimensions = [1]
  %2 = linalg.add ins(%a, %a : tensor<4x8xbf16>, tensor<4x8xbf16>) outs(%a : tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %3 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xbf16>) outs(%b : tensor<4xbf16>) {
  ^bb0(%e: bf16, %sum: bf16):
    %twice = arith.mulf %sum, %e : bf16
    %next = arith.addf %twice, %sum : bf16
    linalg.yield %next : bf16
  } -> tensor<4xbf16>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xbf16>, tensor<4x8xbf16>, tensor<4xbf16>
}
