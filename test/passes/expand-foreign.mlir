// layout-expand-foreign: operations of torch-mlir and IREE, in their own text and in generic form, become loops and
// structured operations. The values: test/run/foreign.mlir.
// RUN: layout-opt %s --split-input-file --layout-expand-foreign | FileCheck %s
// RUN: layout-opt %s --split-input-file --mlir-print-op-generic \
// RUN:   | layout-opt --split-input-file --layout-expand-foreign | FileCheck %s

// The second element comes first where it is greater and the first is not: with `oge`, equal elements stay.
// CHECK-LABEL: func @sort
// CHECK: scf.for
// CHECK: %[[LESS:.*]] = arith.cmpf oge, %[[Y:.*]], %[[X:.*]] : f32
// CHECK: %[[GREATER:.*]] = arith.cmpf oge, %[[X]], %[[Y]] : f32
// CHECK: %[[NOT:.*]] = arith.xori %[[GREATER]]
// CHECK: arith.andi %[[LESS]], %[[NOT]]
// CHECK-NOT: tm_tensor
func.func @sort(%x: tensor<4x10xf32>, %y: tensor<4x10xi64>) -> (tensor<4x10xf32>, tensor<4x10xi64>) {
  %0:2 = tm_tensor.sort dimension(1) outs(%x, %y : tensor<4x10xf32>, tensor<4x10xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
    %e = arith.cmpf oge, %a, %b : f32
    tm_tensor.yield %e : i1
  } -> tensor<4x10xf32>, tensor<4x10xi64>
  return %0#0, %0#1 : tensor<4x10xf32>, tensor<4x10xi64>
}

// -----

// As the properties of an unregistered operation; a region may use values of the function around.
// CHECK-LABEL: func @scan
// CHECK-SAME: %[[FACTOR:[^ ]*]]: i32)
// CHECK: arith.muli %{{.*}}, %[[FACTOR]]
// CHECK-NOT: iree_linalg_ext
func.func @scan(%x: tensor<?x6xi32>, %y: tensor<?x6xi32>, %z: tensor<?xi32>, %factor: i32) -> tensor<?x6xi32> {
  %0:2 = "iree_linalg_ext.scan"(%x, %y, %z) <{dimension = 1 : i64, inclusive = false,
      operandSegmentSizes = array<i32: 1, 2>}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.muli %a, %factor : i32
    %d = arith.addi %c, %b : i32
    "iree_linalg_ext.yield"(%d) : (i32) -> ()
  }) : (tensor<?x6xi32>, tensor<?x6xi32>, tensor<?xi32>) -> (tensor<?x6xi32>, tensor<?xi32>)
  return %0#0 : tensor<?x6xi32>
}

// -----

// A block that does not fit is dropped.
// CHECK-LABEL: func @scatter
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult
// CHECK: %[[ROWS:.*]] = arith.select %[[INSIDE]], %{{.*}}, %{{.*}} : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[ROWS]]
// CHECK: arith.addf
func.func @scatter(%x: tensor<8x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3x1x4xf32>) -> tensor<8x4xf32> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%u, %i : tensor<3x1x4xf32>, tensor<3x1xi64>) outs(%x : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    tm_tensor.yield %c : f32
  } -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// CHECK-LABEL: func @gather
// CHECK: linalg.generic
// CHECK: arith.maxsi
// CHECK: arith.minsi
func.func @gather(%x: tensor<8x4xf32>, %i: tensor<3x1xi32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = iree_linalg_ext.gather dimension_map = [0] ins(%x, %i : tensor<8x4xf32>, tensor<3x1xi32>)
      outs(%y : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// An empty output holds nothing that could take part.
// CHECK-LABEL: func @topk
// CHECK-NOT: tensor.concat
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [2, 3] [1, 1]
func.func @topk(%x: tensor<2x9xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %v = tensor.empty() : tensor<2x3xf32>
  %i = tensor.empty() : tensor<2x3xi32>
  %0:2 = iree_linalg_ext.topk dimension(1) ins(%x : tensor<2x9xf32>) outs(%v, %i : tensor<2x3xf32>, tensor<2x3xi32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %c : i1
  } -> tensor<2x3xf32>, tensor<2x3xi32>
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
}

// -----

// Narrow elements are computed in f32.
// CHECK-LABEL: func @attention
// CHECK: math.sqrt {{.*}} : f32
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%{{.*}} : tensor<2x5x8xf16>, tensor<2x7x8xf16>) outs(%{{.*}} : tensor<2x5x7xf32>)
// CHECK: arith.select %{{.*}} : f32
// CHECK: math.exp
// CHECK: arith.truncf
func.func @attention(%q: tensor<2x5x8xf16>, %k: tensor<2x7x8xf16>, %v: tensor<2x7x6xf16>, %m: tensor<2x5x7xi1>,
    %o: tensor<2x5x6xf16>) -> tensor<2x5x6xf16> {
  %0 = tm_tensor.attention ins(%q, %k, %v, %m : tensor<2x5x8xf16>, tensor<2x7x8xf16>, tensor<2x7x6xf16>, tensor<2x5x7xi1>)
      outs(%o : tensor<2x5x6xf16>) -> tensor<2x5x6xf16>
  return %0 : tensor<2x5x6xf16>
}

// -----

// CHECK-LABEL: func @fft
// CHECK: scf.for
// CHECK: math.cos
func.func @fft(%re: tensor<16xf32>, %im: tensor<16xf32>, %stage: index) -> (tensor<16xf32>, tensor<16xf32>) {
  %0:2 = iree_linalg_ext.fft ins(%stage : index) outs(%re, %im : tensor<16xf32>, tensor<16xf32>) : tensor<16xf32>, tensor<16xf32>
  return %0#0, %0#1 : tensor<16xf32>, tensor<16xf32>
}

// -----

// An operation in the region of another is expanded first.
// CHECK-LABEL: func @nested
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: tm_tensor
func.func @nested(%x: tensor<4xi32>, %y: tensor<4xi32>, %s: tensor<i32>) -> tensor<4xi32> {
  %0:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<4xi32>) outs(%y, %s : tensor<4xi32>, tensor<i32>) {
  ^bb0(%a: i32, %b: i32):
    %i = arith.constant 0 : index
    %1 = tm_tensor.sort dimension(0) outs(%x : tensor<4xi32>) {
    ^bb0(%c: i32, %d: i32):
      %less = arith.cmpi slt, %c, %d : i32
      tm_tensor.yield %less : i1
    } -> tensor<4xi32>
    %least = tensor.extract %1[%i] : tensor<4xi32>
    %sum = arith.addi %a, %least : i32
    tm_tensor.yield %sum : i32
  } -> tensor<4xi32>, tensor<i32>
  return %0#0 : tensor<4xi32>
}

// -----

// The functions that a region calls are those of the module, whatever the names of a program's functions are.
// CHECK-LABEL: func @calls
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = func.call @combine(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// CHECK: scf.if
// CHECK: func.call @main(%[[SUM]])
// CHECK: call @before
// CHECK: call @merge
// CHECK-NOT: tm_tensor
func.func private @combine(f32, f32) -> f32
func.func private @main(f32) -> f32
func.func private @before(f32, f32) -> i1
func.func private @merge(i1) -> i1
func.func @calls(%x: tensor<8xf32>, %y: tensor<8xf32>, %sum: tensor<f32>, %once: i1) -> tensor<8xf32> {
  %0:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<8xf32>) outs(%y, %sum : tensor<8xf32>, tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = func.call @combine(%a, %b) : (f32, f32) -> f32
    %d = scf.if %once -> f32 {
      %e = func.call @main(%c) : (f32) -> f32
      scf.yield %e : f32
    } else {
      scf.yield %c : f32
    }
    tm_tensor.yield %d : f32
  } -> tensor<8xf32>, tensor<f32>
  %1 = tm_tensor.sort dimension(0) outs(%0#0 : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = func.call @before(%a, %b) : (f32, f32) -> i1
    %d = func.call @merge(%c) : (i1) -> i1
    tm_tensor.yield %d : i1
  } -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// A scale is rounded to the type of the scores.
// CHECK-LABEL: func @scale
// CHECK-SAME: %[[SCALE:[^ ]*]]: f64
// CHECK: arith.truncf %[[SCALE]] : f64 to f32
func.func @scale(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x6xf32>, %s: f64, %o: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %0 = iree_linalg_ext.attention ins(%q, %k, %v, %s : tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x6xf32>, f64)
      outs(%o : tensor<5x6xf32>) -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// -----

// A block without elements may begin at any position.
// CHECK-LABEL: func @empty_block
// CHECK: arith.cmpi ult, %{{.*}}, %c9223372036854775807
func.func @empty_block(%x: tensor<9223372036854775807xf32>, %i: tensor<3x1xi64>, %u: tensor<3x0xf32>)
    -> tensor<9223372036854775807xf32> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
      ins(%u, %i : tensor<3x0xf32>, tensor<3x1xi64>) outs(%x : tensor<9223372036854775807xf32>) {
  ^bb0(%a: f32, %b: f32):
    tm_tensor.yield %a : f32
  } -> tensor<9223372036854775807xf32>
  return %0 : tensor<9223372036854775807xf32>
}
