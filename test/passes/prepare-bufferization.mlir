// layout-prepare-bufferization: what stock bufferization is given instead of tensors with tiled layouts.
// RUN: layout-opt %s --split-input-file --layout-prepare-bufferization | FileCheck %s

#T = #layout.tiled<{1,0:T(2,2)}>
// Layouts are carried where bufferization keeps them; arguments of public functions are read-only.
// CHECK-LABEL: func.func @types(
// CHECK-SAME: %{{.*}}: tensor<3x5xf32, #layout.pending<#layout.tiled<{1,0:T(2,2)}>>> {bufferization.writable = false},
// CHECK-SAME: %{{.*}}: tensor<3x5xf32> {bufferization.writable = true}
// CHECK-SAME: -> tensor<3x5xf32, #layout.pending<#layout.tiled<{1,0:T(2,2)}>>>
func.func @types(%a: tensor<3x5xf32, #T>, %b: tensor<3x5xf32> {bufferization.writable = true}) -> tensor<3x5xf32, #T> {
  // CHECK: arith.constant dense<1.000000e+00> : tensor<3x5xf32, #layout.pending<#layout.tiled<{1,0:T(2,2)}>>>
  %c = arith.constant dense<1.0> : tensor<3x5xf32, #T>
  return %a : tensor<3x5xf32, #T>
}
// CHECK: func.func private @inner(
// CHECK-NOT: writable
// CHECK: return
func.func private @inner(%a: tensor<3x5xf32, #T>) { return }

// -----

// A conversion is a copy into a tensor of the other layout.
#T = #layout.tiled<{2,1,0:T(2,2)}>
// CHECK-LABEL: func.func @convert(
// CHECK-SAME: %[[A:.*]]: tensor<?x3x5xf32>
// CHECK: %[[SIZE:.*]] = tensor.dim %[[A]], %{{.*}} : tensor<?x3x5xf32>
// CHECK: %[[TO:.*]] = tensor.empty(%[[SIZE]]) : tensor<?x3x5xf32, #layout.pending<#layout.tiled<{2,1,0:T(2,2)}>>>
// CHECK: linalg.copy ins(%[[A]] : {{.*}}) outs(%[[TO]] : {{.*}})
func.func @convert(%a: tensor<?x3x5xf32>) -> tensor<?x3x5xf32, #T> {
  %0 = layout.convert %a : tensor<?x3x5xf32> to tensor<?x3x5xf32, #T>
  return %0 : tensor<?x3x5xf32, #T>
}

// -----

// Elementwise operations keep the layout and the attributes of each result; a scalar operand stays a scalar.
#T = #layout.tiled<{1,0:T(2,2)}>
// CHECK-LABEL: func.func @elementwise(
// CHECK: tensor.empty() : tensor<3x5xi1, #layout.pending<
// CHECK: linalg.generic
// CHECK: arith.cmpf olt, %{{.*}}, %{{.*}} : f32
// CHECK: tensor.empty() : tensor<3x5xf32, #layout.pending<
// CHECK: linalg.generic
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<fast> : f32
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : i1,
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
func.func @elementwise(%a: tensor<3x5xf32, #T>, %b: tensor<3x5xf32, #T>, %c: i1)
    -> (tensor<3x5xi1, #T>, tensor<3x5xf32, #T>) {
  %0 = arith.cmpf olt, %a, %b : tensor<3x5xf32, #T>
  %1 = arith.addf %a, %b fastmath<fast> : tensor<3x5xf32, #T>
  %2 = arith.select %c, %a, %1 : tensor<3x5xf32, #T>
  return %0, %2 : tensor<3x5xi1, #T>, tensor<3x5xf32, #T>
}

// -----

// A slice is copied where it leaves its block or is written in another layout than its buffer's; not where it is read.
#T = #layout.tiled<{1,0:T(2,2)}>
// CHECK-LABEL: func.func @slices(
// CHECK: scf.if
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: %[[E:.*]] = tensor.empty()
// CHECK: %[[C:.*]] = linalg.copy ins(%[[S]] : {{.*}}) outs(%[[E]]
// CHECK: scf.yield %[[C]]
// CHECK: tensor.collapse_shape
// CHECK-NOT: linalg.copy
// CHECK: tensor.extract
// CHECK: %[[S:.*]] = tensor.collapse_shape
// CHECK: linalg.copy ins(%[[S]]
func.func @slices(%a: tensor<8x8xf32, #T>, %b: tensor<4x8xf32, #T>, %c: i1, %i: index)
    -> (tensor<4x8xf32, #T>, f32, tensor<64xf32>) {
  %0 = scf.if %c -> tensor<4x8xf32, #T> {
    %s = tensor.extract_slice %a[2, 0][4, 8][1, 1] : tensor<8x8xf32, #T> to tensor<4x8xf32, #T>
    scf.yield %s : tensor<4x8xf32, #T>
  } else {
    scf.yield %b : tensor<4x8xf32, #T>
  }
  %1 = tensor.collapse_shape %a [[0, 1]] : tensor<8x8xf32, #T> into tensor<64xf32>
  %2 = tensor.extract %1[%i] : tensor<64xf32>
  %3 = tensor.collapse_shape %a [[0, 1]] : tensor<8x8xf32, #T> into tensor<64xf32>
  %4 = linalg.exp ins(%3 : tensor<64xf32>) outs(%3 : tensor<64xf32>) -> tensor<64xf32>
  return %0, %2, %4 : tensor<4x8xf32, #T>, f32, tensor<64xf32>
}

// -----

// Functions without tensors keep their own discipline.
// CHECK-LABEL: func.func @by_hand(
// CHECK-SAME: attributes {layout.manual_deallocation}
// CHECK: memref.alloc() {bufferization.manual_deallocation}
func.func @by_hand() -> memref<3x5xf32> {
  %0 = memref.alloc() : memref<3x5xf32>
  return %0 : memref<3x5xf32>
}

// -----

// What others say about a type in attributes of theirs is left alone.
// CHECK: func.func private @attributes() attributes {{.*}}test.type = tensor<2x3xf32, #layout.tiled<{0,1}>>}
func.func private @attributes() attributes {test.type = tensor<2x3xf32, #layout.tiled<{0,1}>>}
