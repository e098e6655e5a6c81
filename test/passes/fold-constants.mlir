// layout-fold-constants: what only moves the elements of a constant becomes one.
// RUN: layout-opt %s --split-input-file --layout-fold-constants | FileCheck %s
// RUN: layout-opt %s --split-input-file --layout-to-memref | FileCheck %s --check-prefix=LOW

// No copy, no loop and no buffer is left.
// LOW-LABEL: module
// LOW-NOT: memref.copy
// LOW-NOT: affine.for
// LOW-NOT: scf.for
// LOW: @more

// CHECK-LABEL: @transpose
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 4.000000e+00], [2.000000e+00, 5.000000e+00], [3.000000e+00, 6.000000e+00]]>
// CHECK-NEXT: tensor.extract %[[C]]
func.func private @transpose(%i: index) -> f32 {
  %c = arith.constant dense_resource<w> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%c : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  %x = tensor.extract %t[%i, %i] : tensor<3x2xf32>
  return %x : f32
}

// A chain, through a layout and a reshape; a splat stays one.
// CHECK-LABEL: @chain
// CHECK: arith.constant dense<[1, 3, 2, 4]> : tensor<4xi4>
// CHECK: arith.constant dense<7> : tensor<2x3xi8>
// CHECK-NOT: linalg
#A = #layout.tiled<{0,1:T(2,2)}>
func.func private @chain(%i: index) -> (i4, i8) {
  %c = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi4>
  %l = layout.convert %c : tensor<2x2xi4> to tensor<2x2xi4, #A>
  %e = tensor.empty() : tensor<2x2xi4>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%l : tensor<2x2xi4, #A>) outs(%e : tensor<2x2xi4>) {
  ^bb0(%a: i4, %b: i4):
    linalg.yield %a : i4
  } -> tensor<2x2xi4>
  %f = tensor.collapse_shape %t [[0, 1]] : tensor<2x2xi4> into tensor<4xi4>
  %x = tensor.extract %f[%i] : tensor<4xi4>
  %s = arith.constant dense<7> : tensor<3x2xi8>
  %o = tensor.empty() : tensor<2x3xi8>
  %st = linalg.transpose ins(%s : tensor<3x2xi8>) outs(%o : tensor<2x3xi8>) permutation = [1, 0]
  %y = tensor.extract %st[%i, %i] : tensor<2x3xi8>
  return %x, %y : i4, i8
}

// CHECK-LABEL: @packed
// CHECK-NEXT: arith.constant dense<{{\[\[\[\[}}true, false], [false, true]], {{\[\[}}true, true], [false, false]]]]> : tensor<1x2x2x2xi1>
// CHECK-NEXT: tensor.extract
func.func private @packed(%i: index) -> i1 {
  %c = arith.constant dense<[[true, false, true, true], [false, true, false, false]]> : tensor<2x4xi1>
  %e = tensor.empty() : tensor<1x2x2x2xi1>
  %p = linalg.pack %c inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %e : tensor<2x4xi1> -> tensor<1x2x2x2xi1>
  %x = tensor.extract %p[%i, %i, %i, %i] : tensor<1x2x2x2xi1>
  return %x : i1
}

// CHECK-LABEL: @complex
// CHECK-NEXT: arith.constant dense<{{\[\[}}(1.000000e+00,2.000000e+00), (5.000000e+00,6.000000e+00)], [(3.000000e+00,4.000000e+00), (7.000000e+00,8.000000e+00)]]>
func.func private @complex(%i: index) -> complex<f32> {
  %c = arith.constant dense<[[(1.0, 2.0), (3.0, 4.0)], [(5.0, 6.0), (7.0, 8.0)]]> : tensor<2x2xcomplex<f32>>
  %e = tensor.empty() : tensor<2x2xcomplex<f32>>
  %t = linalg.transpose ins(%c : tensor<2x2xcomplex<f32>>) outs(%e : tensor<2x2xcomplex<f32>>) permutation = [1, 0]
  %x = tensor.extract %t[%i, %i] : tensor<2x2xcomplex<f32>>
  return %x : complex<f32>
}
func.func private @more()

{-# dialect_resources: { builtin: { w: "0x040000000000803F0000004000004040000080400000A0400000C040" } } #-}

// -----

// What is larger than the constant, has another destination, or is padded with other than zeros, stays; so does what computes.
// CHECK-LABEL: @stays
// CHECK: linalg.broadcast
// CHECK: linalg.transpose
// CHECK: linalg.pack
// CHECK: linalg.generic
func.func @stays(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x1x2x2xf32>, tensor<3x2xf32>) {
  %row = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %c = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<3x2xf32>
  %b = linalg.broadcast ins(%row : tensor<3xf32>) outs(%e : tensor<3x2xf32>) dimensions = [1]
  %t = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) permutation = [1, 0]
  %o = tensor.empty() : tensor<2x1x2x2xf32>
  %p = linalg.pack %c padding_value(%one : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %o : tensor<2x3xf32> -> tensor<2x1x2x2xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<2x3xf32>) outs(%e : tensor<3x2xf32>) {
  ^bb0(%a: f32, %q: f32):
    %y = arith.negf %a : f32
    linalg.yield %y : f32
  } -> tensor<3x2xf32>
  return %b, %t, %p, %n : tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x1x2x2xf32>, tensor<3x2xf32>
}

// -----

// CHECK-LABEL: @padded
// CHECK: dense<{{\[\[\[\[}}1.000000e+00, 2.000000e+00], [4.000000e+00, 5.000000e+00]]], {{\[\[\[}}3.000000e+00, 0.000000e+00], [6.000000e+00, 0.000000e+00]]]]>
// CHECK-NOT: linalg.pack
func.func @padded() -> tensor<2x1x2x2xf32> {
  %c = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %zero = arith.constant 0.0 : f32
  %o = tensor.empty() : tensor<2x1x2x2xf32>
  %p = linalg.pack %c padding_value(%zero : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %o : tensor<2x3xf32> -> tensor<2x1x2x2xf32>
  return %p : tensor<2x1x2x2xf32>
}

// The inverse drops the padding.
// CHECK-LABEL: @unpacked
// CHECK: dense<{{\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00], [4.000000e+00, 5.000000e+00, 6.000000e+00]]>
// CHECK-NOT: linalg.unpack
func.func @unpacked() -> tensor<2x3xf32> {
  %c = arith.constant dense<[[[[1.0, 2.0], [4.0, 5.0]]], [[[3.0, 0.0], [6.0, 0.0]]]]> : tensor<2x1x2x2xf32>
  %o = tensor.empty() : tensor<2x3xf32>
  %p = linalg.unpack %c outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %o : tensor<2x1x2x2xf32> -> tensor<2x3xf32>
  return %p : tensor<2x3xf32>
}
