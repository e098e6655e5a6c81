// layout-prepare-bufferization: what upstream's bufferization is given instead of tensors with tiled layouts.
// RUN: layout-opt %s --mlir-print-local-scope --split-input-file --layout-prepare-bufferization | FileCheck %s

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

// -----

// Padding is a fill and an insertion, whatever the layouts of source and result; one that depends on the index is
// computed.
#T = #layout.tiled<{1,0:T(2,2)}>
// CHECK-LABEL: func.func @pad(
// CHECK-SAME: %[[A:.*]]: tensor<3x5xf32, {{.*}}, %[[V:.*]]: f32
// CHECK: %[[E:.*]] = tensor.empty() : tensor<5x7xf32>
// CHECK: %[[F:.*]] = linalg.fill ins(%[[V]] : f32) outs(%[[E]] : tensor<5x7xf32>)
// CHECK: tensor.insert_slice %[[A]] into %[[F]][1, 0] [3, 5] [1, 1]
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 0 : index
// CHECK: %[[J:.*]] = linalg.index 1 : index
// CHECK: %[[X:.*]] = tensor.extract %{{.*}}[%[[J]], %[[I]]]
// CHECK: linalg.yield %[[X]]
// CHECK: tensor.insert_slice
// CHECK-NOT: tensor.pad
func.func @pad(%a: tensor<3x5xf32, #T>, %v: f32, %b: tensor<7x5xf32>) -> (tensor<5x7xf32>, tensor<5x7xf32, #T>) {
  %0 = tensor.pad %a low[1, 0] high[1, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<3x5xf32, #T> to tensor<5x7xf32>
  %1 = tensor.pad %a low[1, 0] high[1, 2] {
  ^bb0(%i: index, %j: index):
    %x = tensor.extract %b[%j, %i] : tensor<7x5xf32>
    tensor.yield %x : f32
  } : tensor<3x5xf32, #T> to tensor<5x7xf32, #T>
  return %0, %1 : tensor<5x7xf32>, tensor<5x7xf32, #T>
}

// -----

// Sizes that only the running program knows.
#R = #layout.tiled<{1,0}>
// CHECK-LABEL: func.func @pad_dynamic(
// CHECK-SAME: %[[A:.*]]: tensor<?x5xf32, {{.*}}, %[[LOW:.*]]: index
// CHECK: %[[N:.*]] = tensor.dim %[[A]], %{{.*}}
// CHECK: %[[SUM:.*]] = arith.addi %[[LOW]], %[[N]]
// CHECK: %[[ALL:.*]] = arith.addi %[[SUM]], %{{.*}}
// CHECK: tensor.empty(%[[ALL]]) : tensor<?x7xf32
// CHECK: tensor.insert_slice %[[A]] into %{{.*}}[%[[LOW]], 1] [%[[N]], 5] [1, 1]
func.func @pad_dynamic(%a: tensor<?x5xf32, #R>, %low: index, %v: f32) -> tensor<?x7xf32, #R> {
  %0 = tensor.pad %a low[%low, 1] high[2, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<?x5xf32, #R> to tensor<?x7xf32, #R>
  return %0 : tensor<?x7xf32, #R>
}

// -----

// A switch is a tree of branches, which the analysis of upstream's pass knows to share buffers: on the number of the case,
// 2 for the default.
// CHECK-LABEL: func.func @switch(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32> {{.*}}, %[[B:.*]]: tensor<4xf32> {{.*}}, %[[I:.*]]: index
// CHECK: %[[DEFAULT:.*]] = arith.constant 2 : index
// CHECK: %[[MINUS:.*]] = arith.constant -1 : index
// CHECK: %[[IS_MINUS:.*]] = arith.cmpi eq, %[[I]], %[[MINUS]]
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[LAST:.*]] = arith.select %[[IS_MINUS]], %[[ONE]], %[[DEFAULT]]
// CHECK: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: %[[IS_TWO:.*]] = arith.cmpi eq, %[[I]], %[[TWO]]
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[NUMBER:.*]] = arith.select %[[IS_TWO]], %[[ZERO]], %[[LAST]]
// CHECK: arith.cmpi ult, %[[NUMBER]], %
// CHECK: %[[R:.*]] = scf.if
// CHECK-NEXT: scf.yield %[[A]]
// CHECK: else
// CHECK: arith.cmpi ult, %[[NUMBER]], %
// CHECK: scf.yield %[[B]]
// CHECK: return %[[R]]
func.func @switch(%a: tensor<4xf32>, %b: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %0 = scf.index_switch %i -> tensor<4xf32>
  case 2 {
    scf.yield %a : tensor<4xf32>
  }
  case -1 {
    scf.yield %b : tensor<4xf32>
  }
  default {
    %c = arith.addf %a, %b : tensor<4xf32>
    scf.yield %c : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// A slice that keeps one dimension of one element and leaves out another, with more between them, names them by a reshape.
// CHECK-LABEL: func.func @open_dimensions(
// CHECK: tensor.extract_slice {{.*}} : tensor<?x?x?x?xf32> to tensor<1x?x1x?xf32>
// CHECK-NEXT: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] : tensor<1x?x1x?xf32> into tensor<1x?x?xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] output_shape [1, %{{.*}}, 1, %{{.*}}] : tensor<1x?x?xf32> into tensor<1x?x1x?xf32>
// CHECK-NEXT: tensor.insert_slice {{.*}} : tensor<1x?x1x?xf32> into tensor<?x?x?x?xf32>
func.func @open_dimensions(%x: tensor<?x?x?x?xf32>, %n: index, %m: index) -> tensor<?x?x?x?xf32> {
  %s = tensor.extract_slice %x[0, 0, 0, 0] [1, %n, 1, %m] [1, 1, 1, 1] : tensor<?x?x?x?xf32> to tensor<1x?x?xf32>
  %r = tensor.insert_slice %s into %x[0, 0, 1, 0] [1, %n, 1, %m] [1, 1, 1, 1] : tensor<1x?x?xf32> into tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// -----

// CHECK-LABEL: func.func @open_dimensions_at_the_end(
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [1, 3, 1] : tensor<1x3xf32> into tensor<1x3x1xf32>
// CHECK-NEXT: scf.forall.in_parallel
// CHECK-NEXT: tensor.parallel_insert_slice {{.*}} : tensor<1x3x1xf32> into tensor<4x3x5xf32>
func.func @open_dimensions_at_the_end(%x: tensor<4x3x5xf32>, %s: tensor<1x3xf32>) -> tensor<4x3x5xf32> {
  %r = scf.forall (%i) in (4) shared_outs(%o = %x) -> (tensor<4x3x5xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0, 1] [1, 3, 1] [1, 1, 1] : tensor<1x3xf32> into tensor<4x3x5xf32>
    }
  }
  return %r : tensor<4x3x5xf32>
}

// -----

// Where all or none of them stay, or those that do are beside those that do not, nothing is open.
// CHECK-LABEL: func.func @plain_dimensions(
// CHECK-NOT: collapse_shape
// CHECK: return
func.func @plain_dimensions(%x: tensor<?x?x?x?xf32>, %n: index, %m: index) -> (tensor<?x?xf32>, tensor<1x?x?xf32>) {
  %s = tensor.extract_slice %x[0, 0, 0, 0] [1, %n, 1, %m] [1, 1, 1, 1] : tensor<?x?x?x?xf32> to tensor<?x?xf32>
  %t = tensor.extract_slice %x[0, 0, 0, 0] [1, 1, %n, %m] [1, 1, 1, 1] : tensor<?x?x?x?xf32> to tensor<1x?x?xf32>
  return %s, %t : tensor<?x?xf32>, tensor<1x?x?xf32>
}

// -----

// With a layout, a slice of sizes that are known stays: lowering finds its dimensions by them. Others are copied.
#t = #layout.tiled<{2,1,0:T(2,4)}>
// CHECK-LABEL: func.func @open_dimensions_of_a_layout(
// CHECK: tensor.extract_slice {{.*}} to tensor<1x4xf32>
// CHECK: tensor.extract_slice {{.*}} to tensor<1x?x1xf32>
// CHECK-NEXT: %[[S:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<1x?x1xf32> into tensor<1x?xf32>
// CHECK: linalg.copy ins(%[[S]] : tensor<1x?xf32>) outs(%{{.*}} : tensor<1x?xf32>)
func.func @open_dimensions_of_a_layout(%x: tensor<?x?x?xf32, #t>, %n: index) -> (tensor<1x4xf32>, tensor<1x?xf32>) {
  %s = tensor.extract_slice %x[0, 0, 0] [1, 4, 1] [1, 1, 1] : tensor<?x?x?xf32, #t> to tensor<1x4xf32>
  %r = tensor.extract_slice %x[0, 0, 0] [1, %n, 1] [1, 1, 1] : tensor<?x?x?xf32, #t> to tensor<1x?xf32>
  return %s, %r : tensor<1x4xf32>, tensor<1x?xf32>
}

// -----

// A slice leaves its function in a buffer of its own where its type does not tell its strides from those of no gaps.
// CHECK-LABEL: func.func @slice_leaves(
// CHECK: %[[S:.*]] = tensor.extract_slice
// CHECK: %[[R:.*]] = tensor.extract_slice {{.*}} to tensor<?x5xf32>
// CHECK: %[[C:.*]] = linalg.copy ins(%[[S]] : tensor<?x?xf32>)
// CHECK: return %[[C]], %[[R]]
func.func @slice_leaves(%x: tensor<?x?xf32>, %y: tensor<8x8xf32>, %n: index) -> (tensor<?x?xf32>, tensor<?x5xf32>) {
  %s = tensor.extract_slice %x[0, 0] [%n, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %r = tensor.extract_slice %y[0, 0] [%n, 5] [1, 1] : tensor<8x8xf32> to tensor<?x5xf32>
  return %s, %r : tensor<?x?xf32>, tensor<?x5xf32>
}
