// An operation that is planned in steps, and whose result nobody uses: loops that nobody uses, for others to remove.
// RUN: layout-opt %s --layout-plan="machine=tpu_v5e capacity=400" | FileCheck %s

// CHECK-LABEL: func.func @unused(
// CHECK-SAME: %[[X:.*]]: tensor<13x5xf32>)
// CHECK: return %[[X]]
func.func @unused(%x: tensor<13x5xf32>) -> tensor<13x5xf32> {
  %e = tensor.empty() : tensor<13x5xf32>
  %a = linalg.exp ins(%x : tensor<13x5xf32>) outs(%e : tensor<13x5xf32>) -> tensor<13x5xf32>
  return %x : tensor<13x5xf32>
}
