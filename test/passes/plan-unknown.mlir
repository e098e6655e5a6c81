// Operations that nothing is known of: named once, and left out of what a plan says.
// RUN: layout-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics \
// RUN:   --layout-plan=machine=tpu_v5e | FileCheck %s
// RUN: layout-opt %s --split-input-file --allow-unregistered-dialect --layout-plan="machine=tpu_v5e report" -o /dev/null \
// RUN:   2>&1 | FileCheck %s --check-prefix=COST

// COST: remark: the plan costs 267 cycles and every plan at least 267, without 3 operations that nothing is known of: 8 arrays
// CHECK-LABEL: func.func @unknown(
// CHECK: "other.halve"(%{{.*}}) : (tensor<256x128xf32>) -> tensor<256x128xf32>
func.func @unknown(%x: tensor<256x128xf32>) -> tensor<256x128xf32> {
  // expected-remark@+1 {{nothing is known of `other.halve`, 2 in all: its tensors keep their layouts, and its cost is not counted}}
  %0 = "other.halve"(%x) : (tensor<256x128xf32>) -> tensor<256x128xf32>
  %1 = "other.halve"(%0) : (tensor<256x128xf32>) -> tensor<256x128xf32>
  // expected-remark@+1 {{nothing is known of `other.twice`, 1 in all}}
  %2 = "other.twice"(%1) : (tensor<256x128xf32>) -> tensor<256x128xf32>
  return %2 : tensor<256x128xf32>
}

// -----

// Sizes that are known at run time only are not planned; it is said all the same.
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-remark@+1 {{nothing is known of `other.halve`, 1 in all}}
  %0 = "other.halve"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
