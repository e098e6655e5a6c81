// Operations of torch-mlir and IREE by known numbers, of static and of dynamic sizes.
// RUN: %{lines} form=strided form=physical vectorize=avx2 | while read options; do \
// RUN:   layout-opt %s --layout-to-llvm="$options" 2> %t.remarks \
// RUN:     | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s || exit 1; \
// RUN: done

func.func private @printMemrefF32(tensor<*xf32>)
func.func private @printMemrefI32(tensor<*xi32>)

func.func @floats(%x: tensor<?x?xf32>) attributes {no_inline} {
  %u = tensor.cast %x : tensor<?x?xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}

func.func @integers(%x: tensor<?x?xi32>) attributes {no_inline} {
  %u = tensor.cast %x : tensor<?x?xi32> to tensor<*xi32>
  call @printMemrefI32(%u) : (tensor<*xi32>) -> ()
  return
}

// Equal elements stay in their order, though the comparison holds for them.
func.func @sort(%x: tensor<?x?xf32>, %i: tensor<?x?xi32>) attributes {no_inline} {
  %0:2 = tm_tensor.sort dimension(1) outs(%x, %i : tensor<?x?xf32>, tensor<?x?xi32>) {
  ^bb0(%a: f32, %b: f32, %c: i32, %d: i32):
    %e = arith.cmpf oge, %a, %b : f32
    tm_tensor.yield %e : i1
  } -> tensor<?x?xf32>, tensor<?x?xi32>
  call @floats(%0#0) : (tensor<?x?xf32>) -> ()
  call @integers(%0#1) : (tensor<?x?xi32>) -> ()
  return
}

// An exclusive sum begins with the accumulator; its last does not have the last element.
func.func @scan(%x: tensor<2x4xi32>) {
  %e = tensor.empty() : tensor<2x4xi32>
  %y = arith.constant dense<[10, 20]> : tensor<2xi32>
  %0:2 = iree_linalg_ext.scan dimension(1) inclusive(false) ins(%x : tensor<2x4xi32>) outs(%e, %y : tensor<2x4xi32>, tensor<2xi32>) {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    iree_linalg_ext.yield %c : i32
  } -> tensor<2x4xi32>, tensor<2xi32>
  %1 = tensor.cast %0#0 : tensor<2x4xi32> to tensor<?x?xi32>
  call @integers(%1) : (tensor<?x?xi32>) -> ()
  %w = tensor.expand_shape %0#1 [[0, 1]] output_shape [1, 2] : tensor<2xi32> into tensor<1x2xi32>
  %2 = tensor.cast %w : tensor<1x2xi32> to tensor<?x?xi32>
  call @integers(%2) : (tensor<?x?xi32>) -> ()
  return
}

// The second block begins behind the data, the third one in front of it.
func.func @scatter(%x: tensor<4x2xi32>, %u: tensor<4x2xi32>) {
  %i = arith.constant dense<[[1], [4], [-1], [1]]> : tensor<4x1xi64>
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%u, %i : tensor<4x2xi32>, tensor<4x1xi64>)
      outs(%x : tensor<4x2xi32>) {
  ^bb0(%new: i32, %old: i32):
    %c = arith.subi %new, %old : i32
    tm_tensor.yield %c : i32
  } -> tensor<4x2xi32>
  %1 = tensor.cast %0 : tensor<4x2xi32> to tensor<?x?xi32>
  call @integers(%1) : (tensor<?x?xi32>) -> ()
  return
}

// The index of the second row is brought into the source.
func.func @gather(%x: tensor<4x2xi32>) {
  %i = arith.constant dense<[2, 9, 0]> : tensor<3xi32>
  %e = tensor.empty() : tensor<3x2xi32>
  %0 = iree_linalg_ext.gather dimension_map = [0] ins(%x, %i : tensor<4x2xi32>, tensor<3xi32>) outs(%e : tensor<3x2xi32>) -> tensor<3x2xi32>
  %1 = tensor.cast %0 : tensor<3x2xi32> to tensor<?x?xi32>
  call @integers(%1) : (tensor<?x?xi32>) -> ()
  return
}

// The outputs hold 4 and 0, with the indices 7 and 8; of equal elements that of the lower index comes first.
func.func @topk(%x: tensor<1x5xf32>) {
  %v = arith.constant dense<[[4.0, 0.0]]> : tensor<1x2xf32>
  %i = arith.constant dense<[[7, 8]]> : tensor<1x2xi32>
  %0:2 = iree_linalg_ext.topk dimension(1) ins(%x : tensor<1x5xf32>) outs(%v, %i : tensor<1x2xf32>, tensor<1x2xi32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %c : i1
  } -> tensor<1x2xf32>, tensor<1x2xi32>
  %1 = tensor.cast %0#0 : tensor<1x2xf32> to tensor<?x?xf32>
  call @floats(%1) : (tensor<?x?xf32>) -> ()
  %2 = tensor.cast %0#1 : tensor<1x2xi32> to tensor<?x?xi32>
  call @integers(%2) : (tensor<?x?xi32>) -> ()
  return
}

// Scores of 0 and 2 / sqrt(4), of which the mask leaves both, the first one, and none.
func.func @attention(%v: tensor<2x2xf32>) {
  %q = arith.constant dense<1.0> : tensor<3x4xf32>
  %k = arith.constant dense<[[0.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.5, 0.5]]> : tensor<2x4xf32>
  %m = arith.constant dense<[[true, true], [true, false], [false, false]]> : tensor<3x2xi1>
  %e = tensor.empty() : tensor<3x2xf32>
  %0 = tm_tensor.attention ins(%q, %k, %v, %m : tensor<3x4xf32>, tensor<2x4xf32>, tensor<2x2xf32>, tensor<3x2xi1>)
      outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %1 = tensor.cast %0 : tensor<3x2xf32> to tensor<?x?xf32>
  call @floats(%1) : (tensor<?x?xf32>) -> ()
  return
}

// The same scores, doubled by the scale and halved by the region.
func.func @scored(%v: tensor<2x2xf16>) {
  %q = arith.constant dense<1.0> : tensor<3x4xf16>
  %k = arith.constant dense<[[0.0, 0.5], [0.0, 0.5], [0.0, 0.5], [0.0, 0.5]]> : tensor<4x2xf16>
  %s = arith.constant 1.0 : f16
  %e = tensor.empty() : tensor<2x3xf32>
  %half = arith.constant 0.5 : f32
  %0 = iree_linalg_ext.attention {indexing_maps = [
      affine_map<(m, n, k, d) -> (m, k)>, affine_map<(m, n, k, d) -> (k, n)>, affine_map<(m, n, k, d) -> (n, d)>,
      affine_map<(m, n, k, d) -> ()>, affine_map<(m, n, k, d) -> (d, m)>]}
      ins(%q, %k, %v, %s : tensor<3x4xf16>, tensor<4x2xf16>, tensor<2x2xf16>, f16) outs(%e : tensor<2x3xf32>) {
  ^bb0(%x: f32):
    %y = arith.mulf %x, %half : f32
    iree_linalg_ext.yield %y : f32
  } -> tensor<2x3xf32>
  %1 = tensor.cast %0 : tensor<2x3xf32> to tensor<?x?xf32>
  call @floats(%1) : (tensor<?x?xf32>) -> ()
  return
}

// Of 1, 3, 2, 4, the elements 1, 2, 3, 4 with the digits of their positions reversed: 10, -2 + 2i, -2, -2 - 2i.
func.func @fft() {
  %re = arith.constant dense<[[1.0, 3.0, 2.0, 4.0]]> : tensor<1x4xf32>
  %im = arith.constant dense<0.0> : tensor<1x4xf32>
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %0:2 = iree_linalg_ext.fft ins(%one : index) outs(%re, %im : tensor<1x4xf32>, tensor<1x4xf32>) : tensor<1x4xf32>, tensor<1x4xf32>
  %r = arith.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %i = arith.constant dense<[0.0, -1.0]> : tensor<2xf32>
  %1:2 = iree_linalg_ext.fft ins(%two, %r, %i : index, tensor<2xf32>, tensor<2xf32>)
      outs(%0#0, %0#1 : tensor<1x4xf32>, tensor<1x4xf32>) : tensor<1x4xf32>, tensor<1x4xf32>
  %2 = tensor.cast %1#0 : tensor<1x4xf32> to tensor<?x?xf32>
  call @floats(%2) : (tensor<?x?xf32>) -> ()
  %3 = tensor.cast %1#1 : tensor<1x4xf32> to tensor<?x?xf32>
  call @floats(%3) : (tensor<?x?xf32>) -> ()
  return
}

func.func @main() {
  // CHECK: [3, 3, 2, 1, 0]
  // CHECK-NEXT: [5, 4, 4, 4, 1]
  // CHECK: [1, 3, 4, 2, 0]
  // CHECK-NEXT: [4, 0, 2, 3, 1]
  %x = arith.constant dense<[[0.0, 3.0, 1.0, 3.0, 2.0], [4.0, 1.0, 4.0, 4.0, 5.0]]> : tensor<2x5xf32>
  %i = arith.constant dense<[[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]> : tensor<2x5xi32>
  %x_dynamic = tensor.cast %x : tensor<2x5xf32> to tensor<?x?xf32>
  %i_dynamic = tensor.cast %i : tensor<2x5xi32> to tensor<?x?xi32>
  call @sort(%x_dynamic, %i_dynamic) : (tensor<?x?xf32>, tensor<?x?xi32>) -> ()
  // CHECK: [10, 11, 13, 16]
  // CHECK-NEXT: [20, 25, 31, 38]
  // CHECK: [16, 38]
  %rows = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi32>
  call @scan(%rows) : (tensor<2x4xi32>) -> ()
  // CHECK: [1, 2]
  // CHECK-NEXT: [63, 64]
  // CHECK-NEXT: [5, 6]
  // CHECK-NEXT: [7, 8]
  %data = arith.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi32>
  %updates = arith.constant dense<[[10, 20], [30, 40], [50, 60], [70, 80]]> : tensor<4x2xi32>
  call @scatter(%data, %updates) : (tensor<4x2xi32>, tensor<4x2xi32>) -> ()
  // CHECK: [5, 6]
  // CHECK-NEXT: [7, 8]
  // CHECK-NEXT: [1, 2]
  call @gather(%data) : (tensor<4x2xi32>) -> ()
  // CHECK: [5, 4]
  // CHECK: [4, 0]
  %line = arith.constant dense<[[4.0, 1.0, 4.0, 4.0, 5.0]]> : tensor<1x5xf32>
  call @topk(%line) : (tensor<1x5xf32>) -> ()
  // CHECK: [3.92423, {{ *}}1.46212]
  // CHECK-NEXT: [1, {{ *}}0]
  // CHECK-NEXT: [0, {{ *}}0]
  %values = arith.constant dense<[[1.0, 0.0], [5.0, 2.0]]> : tensor<2x2xf32>
  call @attention(%values) : (tensor<2x2xf32>) -> ()
  // CHECK: [3.92423, {{ *}}3.92423, {{ *}}3.92423]
  // CHECK-NEXT: [1.46212, {{ *}}1.46212, {{ *}}1.46212]
  %short = arith.constant dense<[[1.0, 0.0], [5.0, 2.0]]> : tensor<2x2xf16>
  call @scored(%short) : (tensor<2x2xf16>) -> ()
  // CHECK: [10, {{ *}}-2, {{ *}}-2, {{ *}}-2]
  // CHECK: [0, {{ *}}2, {{ *}}0, {{ *}}-2]
  call @fft() : () -> ()
  return
}
