// layout-plan on a machine with places: TensorLayouts, conversions where they meet, and remarks where there is no placement.
// RUN: layout-opt %s --mlir-print-local-scope --split-input-file --layout-plan=entry=free --verify-diagnostics | FileCheck %s
// RUN: layout-opt %s --mlir-print-local-scope --split-input-file --layout-plan 2>/dev/null | FileCheck %s --check-prefix=FIXED
// RUN: layout-opt %s --split-input-file --layout-to-memref="plan entry=free" 2>/dev/null | FileCheck %s --check-prefix=LOWERED
// RUN: not layout-opt %s --split-input-file --layout-plan=machine=mn_core_2 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not layout-opt %s --split-input-file --layout-plan=spaces 2>&1 | FileCheck %s --check-prefix=SPACES
// OTHER: error: the option machine and `layout.machine` of the module must be the same machine where it has places
// SPACES: error: the option spaces is for machines without places, found 2 axes

// Places read copies of what several of them need; each holds a part of that.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:.*]]: tensor<32x16xf32, #layout.tensor_layout<((2_L1B, 2_PE:2, 8:8), (2_PE:1, 8:1))>>
// CHECK: layout.convert %[[X]] {keep, planned} : {{.*}} to tensor<32x16xf32, #layout.tensor_layout<((2_L1B, 2_PE:2, 8:16), (16:1); B@[2_PE:1])>>
// CHECK: linalg.matmul {{.*}} -> tensor<32x32xf32, #layout.tensor_layout<((2_L1B, 2_PE:2, 8:16), (2_PE:1, 16:1))>>
// With arguments in rows, these are brought to places, and the result from there.
// FIXED-LABEL: func.func @product(
// FIXED-SAME: %{{.*}}: tensor<32x16xf32>, %{{.*}}: tensor<16x32xf32>) -> tensor<32x32xf32> {
// FIXED: layout.convert %{{.*}} : tensor<32x16xf32> to tensor<32x16xf32, #layout.tensor_layout<
// FIXED: layout.convert %{{.*}} to tensor<32x32xf32>
// LOWERED-LABEL: func.func @product(
// LOWERED: scf.forall {{.*}} in (2, 4)
#machine = #layout.machine<axes: (2_L1B, 4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 64, unit: cycle, links: (L1B: 16, PE: 8)>
module attributes {layout.machine = #machine} {
  func.func @product(%x: tensor<32x16xf32>, %w: tensor<16x32xf32>) -> tensor<32x32xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<32x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
    %y = linalg.matmul ins(%x, %w : tensor<32x16xf32>, tensor<16x32xf32>) outs(%z : tensor<32x32xf32>) -> tensor<32x32xf32>
    return %y : tensor<32x32xf32>
  }
}

// -----

// A sum that is spread leaves a copy in each place, which lowering adds up; then it goes home.
// CHECK-LABEL: func.func @sum(
// CHECK: %[[SUM:.*]] = linalg.matmul {{.*}} -> tensor<4x4xf32, #layout.tensor_layout<((4:4), (4:1))>>
// CHECK: %[[HOME:.*]] = layout.convert %[[SUM]] {keep, planned} : {{.*}} to tensor<4x4xf32, #layout.tensor_layout<((4_PE), (2_L1B, 2:1))>>
// CHECK: return %[[HOME]]
#machine = #layout.machine<axes: (2_L1B, 4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 64, unit: cycle, links: (L1B: 16, PE: 8)>
module attributes {layout.machine = #machine} {
  func.func @sum(%x: tensor<4x256xf32>, %w: tensor<256x4xf32>) -> tensor<4x4xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x4xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %y = linalg.matmul ins(%x, %w : tensor<4x256xf32>, tensor<256x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}

// -----

// A type that says its layout keeps it, and what it is made into follows. Pieces over time are kept, and not planned with.
// CHECK-LABEL: func.func @given(
// CHECK-SAME: %{{.*}}: tensor<8x8xf32, #layout.tensor_layout<((8:2), (4_PE, 2:1))>>, %{{.*}}: tensor<8x8xf32, #layout.tensor_layout<((2_Time, 4:8), (8:1))>>
// CHECK: arith.negf %{{.*}} : tensor<8x8xf32, #layout.tensor_layout<((1_L1B, 8:2), (4_PE, 2:1))>>
#columns = #layout.tensor_layout<((8:2), (4_PE, 2:1))>
#time = #layout.tensor_layout<((2_Time, 4:8), (8:1))>
#machine = #layout.machine<axes: (2_L1B, 4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 64, unit: cycle, links: (L1B: 16, PE: 8)>
module attributes {layout.machine = #machine} {
  // expected-remark@+1 {{the layout of an argument is kept, but not planned with: a spread has no pieces over time}}
  func.func @given(%x: tensor<8x8xf32, #columns>, %t: tensor<8x8xf32, #time>) -> tensor<8x8xf32> {
    %y = "layout.convert"(%x) : (tensor<8x8xf32, #columns>) -> tensor<8x8xf32>
    %n = arith.negf %y : tensor<8x8xf32>
    return %n : tensor<8x8xf32>
  }
}

// -----

// CHECK-LABEL: func.func @opaque(
#machine = #layout.machine<axes: (2_L1B, 4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 64, unit: cycle, links: (L1B: 16, PE: 8)>
module attributes {layout.machine = #machine} {
  func.func private @unknown(tensor<8x8xf32>) -> tensor<8x8xf32>
  func.func @opaque(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %n = arith.negf %x : tensor<8x8xf32>
    // expected-remark@+1 {{`func.call` has no placement: what it takes and makes keeps the types that are written}}
    %y = func.call @unknown(%n) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %y : tensor<8x8xf32>
  }
}
