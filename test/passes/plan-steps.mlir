// layout-plan with the capacity of the places: operations in steps are loops over slices, and the rest stays beside the places.
// RUN: layout-opt %s --mlir-print-local-scope --split-input-file --layout-plan=capacity=1024 --verify-diagnostics | FileCheck %s
// RUN: not layout-opt %s --split-input-file --layout-plan=capacity=8 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: no layouts can be planned: here `LM` must hold 12 bytes, 4 more than its capacity 8

// Slices of the operands are brought to the places; the sum stays there until it is done.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:.*]]: tensor<64x64xf32>, %[[W:.*]]: tensor<64x64xf32>) -> tensor<64x64xf32> {
// CHECK: %[[WHOLE:.*]] = tensor.empty() : tensor<64x64xf32>
// CHECK: scf.for {{.*}} iter_args({{.*}} = %[[WHOLE]]) -> (tensor<64x64xf32>) {
// CHECK: %[[START:.*]] = linalg.fill {{.*}} tensor<{{.*}}, #layout.tensor_layout<
// CHECK: scf.for {{.*}} = %[[START]]
// CHECK: tensor.extract_slice %[[X]]
// CHECK: layout.convert {{.*}} {keep, planned}
// CHECK: linalg.matmul
// CHECK: layout.convert {{.*}} {keep, planned}
// CHECK: tensor.insert_slice
// CHECK: return {{.*}} : tensor<64x64xf32>
#machine = #layout.machine<axes: (2_L1B, 4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 64, unit: cycle, links: (L1B: 16, PE: 8)>
module attributes {layout.machine = #machine} {
  func.func @product(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %y = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %y : tensor<64x64xf32>
  }
}

// -----

// What is neither structured nor elementwise runs in one step, and a remark says so.
// CHECK-LABEL: func.func @joined(
// CHECK-NOT: scf.for
// CHECK: return
#machine = #layout.machine<axes: (2_L1B, 4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 64, unit: cycle, links: (L1B: 16, PE: 8)>
module attributes {layout.machine = #machine} {
  func.func @joined(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<128x64xf32> {
    // expected-remark@+1 {{`tensor.concat` is planned in 8 steps and runs in one: only structured and elementwise operations become loops}}
    %z = tensor.concat dim(0) %x, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<128x64xf32>
    return %z : tensor<128x64xf32>
  }
}

// -----

// An elementwise operation computes in the places; a reshape beside them moves nothing.
// CHECK-LABEL: func.func @sum(
// CHECK: scf.for
// CHECK: tensor.extract_slice {{.*}} tensor<64x64xf32> to tensor<8x64xf32>
// CHECK: linalg.generic {{.*}} #layout.tensor_layout<
// CHECK: arith.addf
// CHECK: layout.convert {{.*}} to tensor<8x64xf32>
// CHECK: tensor.insert_slice {{.*}} tensor<8x64xf32> into tensor<64x64xf32>
// CHECK-NOT: layout.convert
// CHECK: tensor.expand_shape {{.*}} tensor<64x64xf32> into tensor<8x8x64xf32>
#machine = #layout.machine<axes: (2_L1B, 4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 64, unit: cycle, links: (L1B: 16, PE: 8)>
module attributes {layout.machine = #machine} {
  func.func @sum(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<8x8x64xf32> {
    %z = arith.addf %x, %y : tensor<64x64xf32>
    %r = tensor.expand_shape %z [[0, 1], [2]] output_shape [8, 8, 64] : tensor<64x64xf32> into tensor<8x8x64xf32>
    return %r : tensor<8x8x64xf32>
  }
}

// -----

// 61 rows in steps of 22 for all places together: the last one has 17, and stands behind the loop.
// CHECK-LABEL: func.func @prime(
// CHECK: %[[FULL:.*]] = scf.for
// CHECK: tensor.extract_slice {{.*}} tensor<61x64xf32> to tensor<22x64xf32>
// CHECK: tensor.extract_slice {{.*}} tensor<61x64xf32> to tensor<17x64xf32>
// CHECK: scf.for {{.*}} iter_args({{.*}} = %[[FULL]])
#machine = #layout.machine<axes: (2_L1B, 4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 64, unit: cycle, links: (L1B: 16, PE: 8)>
module attributes {layout.machine = #machine} {
  func.func @prime(%x: tensor<61x64xf32>, %w: tensor<64x61xf32>) -> tensor<61x61xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<61x61xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<61x61xf32>) -> tensor<61x61xf32>
    %y = linalg.matmul ins(%x, %w : tensor<61x64xf32>, tensor<64x61xf32>) outs(%z : tensor<61x61xf32>) -> tensor<61x61xf32>
    return %y : tensor<61x61xf32>
  }
}

// -----

// What no place holds stays beside the places.
// CHECK-LABEL: func.func @large(
// CHECK: tensor.insert_slice {{.*}} into tensor<8x64xf32>
#machine = #layout.machine<axes: (4_PE), memories: (LM: 1 at PE with 64 bytes), word: 64, unit: cycle, links: (PE: 8)>
module attributes {layout.machine = #machine} {
  func.func @large(%x: tensor<8x8xf32>) -> tensor<8x64xf32> {
    %e = tensor.empty() : tensor<8x64xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j floordiv 8)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x64xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<8x64xf32>
    return %y : tensor<8x64xf32>
  }
}
