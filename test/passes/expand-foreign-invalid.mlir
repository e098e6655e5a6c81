// RUN: layout-opt %s --layout-expand-foreign --split-input-file --verify-diagnostics

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'iree_linalg_ext.reverse' op cannot be lowered: of this dialect attention, fft, gather, scan, scatter, sort, topk are known}}
  %0 = iree_linalg_ext.reverse {dimensions = dense<0> : tensor<1xi64>} outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @groups(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'tm_tensor.sort' op cannot be lowered: expected operandSegmentSizes of inputs and outputs, 1 in all, found []}}
  %0 = "tm_tensor.sort"(%x) {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @huge_groups(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected operandSegmentSizes of inputs and outputs, 1 in all, found [9223372036854775807, 1]}}
  %0 = "tm_tensor.sort"(%x) {dimension = 0 : i64, operandSegmentSizes = array<i64: 9223372036854775807, 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @buffer(%x: memref<4xf32>) {
  // expected-error@+1 {{'tm_tensor.sort' op cannot be lowered: expected tensors of known rank, or scalars, found memref<4xf32>}}
  tm_tensor.sort dimension(0) outs(%x : memref<4xf32>)
  return
}

// -----

func.func @layout(%x: tensor<4x4xf32, #layout.tiled<{0,1}>>) -> tensor<4x4xf32, #layout.tiled<{0,1}>> {
  // expected-error@+1 {{expected tensors without layouts, found tensor<4x4xf32, #layout.tiled<{0,1}>>}}
  %0 = tm_tensor.sort dimension(0) outs(%x : tensor<4x4xf32, #layout.tiled<{0,1}>>) -> tensor<4x4xf32, #layout.tiled<{0,1}>>
  return %0 : tensor<4x4xf32, #layout.tiled<{0,1}>>
}

// -----

func.func @results(%x: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error@+1 {{expected results of the types of the outputs, (tensor<4xf32>), found (tensor<4xf64>)}}
  %0 = tm_tensor.sort dimension(0) outs(%x : tensor<4xf32>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

func.func @dimension(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected a `dimension` below the rank, 1, found 1}}
  %0 = tm_tensor.sort dimension(1) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @no_region(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected a region of one block, found 0}}
  %0 = tm_tensor.sort dimension(0) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @arguments(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected a region with arguments (f32, f32), found (f32, i32)}}
  %0 = tm_tensor.sort dimension(0) outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32, %b: i32):
    %c = arith.constant true
    tm_tensor.yield %c : i1
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @yielded(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected a region with results (i1), found (f32)}}
  %0 = tm_tensor.sort dimension(0) outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    tm_tensor.yield %a : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @terminator(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected a region that ends with a yield}}
  %0 = tm_tensor.sort dimension(0) outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf olt, %a, %b : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @lengths(%x: tensor<4xf32>, %y: tensor<5xf32>) -> (tensor<4xf32>, tensor<5xf32>) {
  // expected-error@+1 {{expected all outputs of the sizes of the first one, [4], found [5]}}
  %0:2 = tm_tensor.sort dimension(0) outs(%x, %y : tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>, tensor<5xf32>
  return %0#0, %0#1 : tensor<4xf32>, tensor<5xf32>
}

// -----

func.func @inclusive(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected `inclusive` to be true or false, found none}}
  %0:2 = tm_tensor.scan dimension(0) ins(%x : tensor<4xf32>) outs(%x, %y : tensor<4xf32>, tensor<f32>) -> tensor<4xf32>, tensor<f32>
  return %0#0 : tensor<4xf32>
}

// -----

func.func @accumulator(%x: tensor<4x5xf32>, %y: tensor<4xf32>) -> tensor<4x5xf32> {
  // expected-error@+1 {{expected an accumulator of the sizes of the input without the dimension, [5], found [4]}}
  %0:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<4x5xf32>) outs(%x, %y : tensor<4x5xf32>, tensor<4xf32>) -> tensor<4x5xf32>, tensor<4xf32>
  return %0#0 : tensor<4x5xf32>
}

// -----

func.func @map(%x: tensor<8x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{expected a `dimension_map` of distinct dimensions below the rank, 2, found [2]}}
  %0 = tm_tensor.scatter {dimension_map = array<i64: 2>} unique_indices(false) ins(%u, %i : tensor<3x4xf32>, tensor<3x1xi64>) outs(%x : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @ranks(%x: tensor<8x4xf32>, %i: tensor<3xi64>, %u: tensor<3x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{expected updates and indices whose ranks fit 1 indexed dimensions, found ranks 2, 1 and 2 of the data}}
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%u, %i : tensor<3x4xf32>, tensor<3xi64>) outs(%x : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @blocks(%x: tensor<8x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3x5xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{expected blocks no larger than the data, found dimension 1 of the updates}}
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%u, %i : tensor<3x5xf32>, tensor<3x1xi64>) outs(%x : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @too_few(%x: tensor<2x3xf32>, %v: tensor<2x4xf32>, %i: tensor<2x4xi32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %f = tensor.empty() : tensor<2x4xi32>
  // expected-error@+1 {{expected no more elements in a line of the outputs than of the input}}
  %0:2 = tm_tensor.topk dimension(1) ins(%x : tensor<2x3xf32>) outs(%e, %f : tensor<2x4xf32>, tensor<2x4xi32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf ogt, %a, %b : f32
    tm_tensor.yield %c : i1
  } -> tensor<2x4xf32>, tensor<2x4xi32>
  return %0#0 : tensor<2x4xf32>
}

// -----

func.func @keys(%q: tensor<2x5x8xf32>, %k: tensor<2x7x9xf32>, %v: tensor<2x7x6xf32>, %o: tensor<2x5x6xf32>) -> tensor<2x5x6xf32> {
  // expected-error@+1 {{expected a dimension of keys of 8, as in another operand, found 9}}
  %0 = tm_tensor.attention ins(%q, %k, %v : tensor<2x5x8xf32>, tensor<2x7x9xf32>, tensor<2x7x6xf32>) outs(%o : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  return %0 : tensor<2x5x6xf32>
}

// -----

func.func @maps(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x6xf32>, %s: f32, %o: tensor<5x6xf32>) -> tensor<5x6xf32> {
  // expected-error@+1 {{expected 5 `indexing_maps`, found 1}}
  %0 = iree_linalg_ext.attention {indexing_maps = [affine_map<(m, n, k, d) -> (m, k)>]}
      ins(%q, %k, %v, %s : tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x6xf32>, f32) outs(%o : tensor<5x6xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// -----

func.func @stage(%re: tensor<16xf32>, %im: tensor<16xf32>, %stage: i32) -> (tensor<16xf32>, tensor<16xf32>) {
  // expected-error@+1 {{expected the stage as an index, found i32}}
  %0:2 = iree_linalg_ext.fft ins(%stage : i32) outs(%re, %im : tensor<16xf32>, tensor<16xf32>) : tensor<16xf32>, tensor<16xf32>
  return %0#0, %0#1 : tensor<16xf32>, tensor<16xf32>
}

// -----

func.func @signed(%x: tensor<8x4xf32>, %i: tensor<3x1xui32>, %u: tensor<3x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{expected indices of signless integers, found ui32}}
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%u, %i : tensor<3x4xf32>, tensor<3x1xui32>) outs(%x : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @mask(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x6xf32>, %m: tensor<5x7xindex>, %o: tensor<5x6xf32>) -> tensor<5x6xf32> {
  // expected-error@+1 {{expected the mask of elements no wider than f32, found index}}
  %0 = tm_tensor.attention ins(%q, %k, %v, %m : tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x6xf32>, tensor<5x7xindex>) outs(%o : tensor<5x6xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// -----

func.func @scale(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x6xf32>, %s: i32, %o: tensor<5x6xf32>) -> tensor<5x6xf32> {
  // expected-error@+1 {{expected a floating-point number as the scale, found i32}}
  %0 = iree_linalg_ext.attention ins(%q, %k, %v, %s : tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x6xf32>, i32) outs(%o : tensor<5x6xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// -----

func.func @twice(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x5xf32>, %s: f32, %o: tensor<5x5xf32>) -> tensor<5x5xf32> {
  // expected-error@+1 {{expected a result of distinct dimensions in `indexing_maps`}}
  %0 = iree_linalg_ext.attention {indexing_maps = [affine_map<(m, k, d) -> (m, k)>, affine_map<(m, k, d) -> (d, k)>,
      affine_map<(m, k, d) -> (d, m)>, affine_map<(m, k, d) -> ()>, affine_map<(m, k, d) -> (m, m)>]}
      ins(%q, %k, %v, %s : tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x5xf32>, f32) outs(%o : tensor<5x5xf32>) -> tensor<5x5xf32>
  return %0 : tensor<5x5xf32>
}

// -----

func.func @wide(%re: tensor<16xf80>, %im: tensor<16xf80>, %stage: index) -> (tensor<16xf80>, tensor<16xf80>) {
  // expected-error@+1 {{expected elements of at most 64 bits, or coefficients, found f80}}
  %0:2 = iree_linalg_ext.fft ins(%stage : index) outs(%re, %im : tensor<16xf80>, tensor<16xf80>) : tensor<16xf80>, tensor<16xf80>
  return %0#0, %0#1 : tensor<16xf80>, tensor<16xf80>
}

// -----

func.func @joined(%x: tensor<9223372036854775807xf32>, %v: tensor<1xf32>, %i: tensor<1xi64>) -> tensor<1xf32> {
  // expected-error@+1 {{expected fewer than 2^63 elements in lines of tensor<9223372036854775807xf32> and tensor<1xf32>}}
  %0:2 = iree_linalg_ext.topk dimension(0) ins(%x : tensor<9223372036854775807xf32>) outs(%v, %i : tensor<1xf32>, tensor<1xi64>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %c : i1
  } -> tensor<1xf32>, tensor<1xi64>
  return %0#0 : tensor<1xf32>
}

// -----

func.func @block(%x: tensor<8x4x2xf32>, %i: tensor<1xi32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected a result of rank 2, that of a block, or more, found 1}}
  %0 = iree_linalg_ext.gather dimension_map = [0] ins(%x, %i : tensor<8x4x2xf32>, tensor<1xi32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @text(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected '('}}
  %0 = tm_tensor.sort dimension 1 outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
