// layout-plan with a capacity of a fast memory of a machine without places: operations in steps of whole tiles.
// RUN: layout-opt %s --mlir-print-local-scope --split-input-file --layout-plan="machine=tpu_v5e entry=default capacity=20000" --verify-diagnostics | FileCheck %s
// RUN: layout-opt %s --mlir-print-local-scope --split-input-file --layout-plan="machine=tpu_v5e entry=default spaces capacity=100000" | FileCheck %s --check-prefix=SPACES

// Each of the two tensors takes 40 tiles of 4,096 bytes; slices are in the layout of the whole.
// CHECK-LABEL: func.func @twice(
// CHECK: scf.for
// CHECK: tensor.extract_slice {{.*}}, #layout.tiled<{1,0:T(8,128)}>> to tensor<{{.*}}, #layout.tiled<{1,0:T(8,128)}>>
// CHECK: arith.addf
// CHECK: tensor.insert_slice
// With memory spaces, slices come to the fast memory, and go from there.
// SPACES-LABEL: func.func @twice(
// SPACES: scf.for
// SPACES: layout.convert {{.*}} {keep, planned} : {{.*}} to tensor<{{.*}}, #layout.tiled<{1,0:T(8,128)S(1)}>>
// SPACES: arith.addf
// SPACES: layout.convert {{.*}} {keep, planned} : tensor<{{.*}}, #layout.tiled<{1,0:T(8,128)S(1)}>> to tensor<{{.*}}, #layout.tiled<{1,0:T(8,128)}>>
// SPACES: tensor.insert_slice
func.func @twice(%x: tensor<75x500xf32>) -> tensor<75x500xf32> {
  %y = arith.addf %x, %x : tensor<75x500xf32>
  return %y : tensor<75x500xf32>
}

// -----

// The smallest steps of a product take more: a tile of each operand and of the result, as long as the tiles that follow the
// same loop. With 100,000 bytes they fit.
// CHECK-LABEL: func.func @large(
// CHECK-NOT: scf.for
// CHECK: return
// SPACES-LABEL: func.func @large(
// SPACES: scf.for
func.func @large(%x: tensor<200x3000xbf16>, %w: tensor<3000x200xbf16>) -> tensor<200x200xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x200xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<200x200xf32>) -> tensor<200x200xf32>
  // expected-remark@+1 {{`linalg.matmul` is not cut: its smallest steps need 38912 bytes, and tensors leave 20000}}
  %y = linalg.matmul ins(%x, %w : tensor<200x3000xbf16>, tensor<3000x200xbf16>) outs(%z : tensor<200x200xf32>) -> tensor<200x200xf32>
  return %y : tensor<200x200xf32>
}
