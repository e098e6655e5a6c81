// layout-remove-conversions: values inside a module get the layouts in which the fewest bytes are converted.
// RUN: layout-opt %s --mlir-print-local-scope --split-input-file --layout-remove-conversions | FileCheck %s
// RUN: layout-opt %s --split-input-file --layout-remove-conversions=report -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REPORT

// There and back again: everything is in the layout of the boundaries.
#T = #layout.tiled<{1,0:T(2,2)}>
// CHECK-LABEL: func.func @back(
// CHECK-NOT: layout.convert
// CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
// CHECK: return
// REPORT: remark: 0 of 2 conversions are left: 0 of 120 bytes
func.func @back(%a: tensor<3x5xf32, #T>) -> tensor<3x5xf32, #T> {
  %0 = layout.convert %a : tensor<3x5xf32, #T> to tensor<3x5xf32>
  %1 = arith.addf %0, %0 : tensor<3x5xf32>
  %2 = layout.convert %1 : tensor<3x5xf32> to tensor<3x5xf32, #T>
  return %2 : tensor<3x5xf32, #T>
}

// -----

// Between two boundaries that differ, one conversion is left; a chain of conversions is one.
#T = #layout.tiled<{1,0:T(2,2)}>
#C = #layout.tiled<{0,1}>
// CHECK-LABEL: func.func @chain(
// CHECK: %[[R:.*]] = layout.convert %{{.*}} : tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>> to tensor<3x5xf32>
// CHECK-NOT: layout.convert
// CHECK: return %[[R]]
// REPORT: remark: 1 of 3 conversions are left: 60 of 180 bytes
func.func @chain(%a: tensor<3x5xf32, #T>) -> tensor<3x5xf32> {
  %0 = layout.convert %a : tensor<3x5xf32, #T> to tensor<3x5xf32, #C>
  %1 = layout.convert %0 : tensor<3x5xf32, #C> to tensor<3x5xf32, #T>
  %2 = layout.convert %1 : tensor<3x5xf32, #T> to tensor<3x5xf32>
  return %2 : tensor<3x5xf32>
}

// -----

// A structured operation reads and writes any layout: the operand is read and the result is made where they are.
#T = #layout.tiled<{1,0:T(8,128)}>
#id = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @transpose(
// CHECK: tensor.empty() : tensor<20x10xf32, #layout.tiled<{0,1}>>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<10x20xf32, #layout.tiled<{1,0:T(8,128)}>>) outs(%{{.*}} : tensor<20x10xf32, #layout.tiled<{0,1}>>)
// CHECK-NOT: layout.convert
func.func @transpose(%a: tensor<10x20xf32, #T>) -> tensor<20x10xf32, #layout.tiled<{0,1}>> {
  %0 = layout.convert %a : tensor<10x20xf32, #T> to tensor<10x20xf32>
  %e = tensor.empty() : tensor<20x10xf32>
  %1 = linalg.generic {indexing_maps = [#transposed, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<10x20xf32>) outs(%e : tensor<20x10xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<20x10xf32>
  %2 = layout.convert %1 : tensor<20x10xf32> to tensor<20x10xf32, #layout.tiled<{0,1}>>
  return %2 : tensor<20x10xf32, #layout.tiled<{0,1}>>
}

// -----

// A gather reads its table where it is.
#T = #layout.tiled<{1,0:T(8,128)}>
#id = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[TABLE:.*]]: tensor<1000x128xf32, #layout.tiled<{1,0:T(8,128)}>>
// CHECK-NOT: layout.convert
// CHECK: tensor.extract %[[TABLE]]
func.func @gather(%table: tensor<1000x128xf32, #T>, %row: index) -> tensor<128xf32> {
  %0 = layout.convert %table : tensor<1000x128xf32, #T> to tensor<1000x128xf32>
  %e = tensor.empty() : tensor<128xf32>
  %1 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<128xf32>) {
  ^bb0(%y: f32):
    %i = linalg.index 0 : index
    %x = tensor.extract %0[%row, %i] : tensor<1000x128xf32>
    linalg.yield %x : f32
  } -> tensor<128xf32>
  return %1 : tensor<128xf32>
}

// -----

// Slices, reshapes and insertions are of the layout that is there.
#T = #layout.tiled<{1,0:T(2,2)}>
#L = #layout.tiled<{0:T(4)}>
// CHECK-LABEL: func.func @slices(
// CHECK-NOT: layout.convert
// CHECK: tensor.extract_slice %{{.*}} : tensor<8x8xf32, #layout.tiled<{1,0:T(2,2)}>> to
// CHECK: tensor.collapse_shape
// CHECK: tensor.insert_slice {{.*}} into tensor<64xf32, #layout.tiled<{0:T(4)}>>
func.func @slices(%a: tensor<8x8xf32, #T>, %b: tensor<64xf32, #L>) -> tensor<64xf32, #L> {
  %0 = layout.convert %a : tensor<8x8xf32, #T> to tensor<8x8xf32>
  %1 = tensor.extract_slice %0[2, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %2 = tensor.collapse_shape %1 [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %3 = layout.convert %b : tensor<64xf32, #L> to tensor<64xf32>
  %4 = tensor.insert_slice %2 into %3[7] [32] [1] : tensor<32xf32> into tensor<64xf32>
  %5 = layout.convert %4 : tensor<64xf32> to tensor<64xf32, #L>
  return %5 : tensor<64xf32, #L>
}

// -----

// Loops carry the layout of what they start with; their bytes count as often as they run.
#T = #layout.tiled<{1,0:T(2,2)}>
// CHECK-LABEL: func.func @loops(
// CHECK: scf.for {{.*}} -> (tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>)
// CHECK-NOT: layout.convert
// CHECK: scf.while {{.*}} : (tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>) -> tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
// CHECK-NOT: layout.convert
// CHECK: scf.if {{.*}} -> (tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>)
// CHECK-NOT: layout.convert
// REPORT: remark: 0 of 7 conversions are left: 0 of 2460 bytes
func.func @loops(%a: tensor<3x5xf32, #T>, %c: i1) -> tensor<3x5xf32, #T> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %0 = layout.convert %a : tensor<3x5xf32, #T> to tensor<3x5xf32>
  %1 = scf.for %i = %zero to %three step %one iter_args(%x = %0) -> tensor<3x5xf32> {
    %u = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #T>
    %v = arith.addf %u, %u : tensor<3x5xf32, #T>
    %w = layout.convert %v : tensor<3x5xf32, #T> to tensor<3x5xf32>
    scf.yield %w : tensor<3x5xf32>
  }
  %2 = scf.while (%x = %1) : (tensor<3x5xf32>) -> tensor<3x5xf32> {
    scf.condition(%c) %x : tensor<3x5xf32>
  } do {
  ^bb0(%x: tensor<3x5xf32>):
    %u = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #T>
    %w = layout.convert %u : tensor<3x5xf32, #T> to tensor<3x5xf32>
    scf.yield %w : tensor<3x5xf32>
  }
  %3 = scf.if %c -> tensor<3x5xf32> {
    %x = arith.mulf %2, %2 : tensor<3x5xf32>
    scf.yield %x : tensor<3x5xf32>
  } else {
    %x = layout.convert %a : tensor<3x5xf32, #T> to tensor<3x5xf32>
    scf.yield %x : tensor<3x5xf32>
  }
  %4 = layout.convert %3 : tensor<3x5xf32> to tensor<3x5xf32, #T>
  return %4 : tensor<3x5xf32, #T>
}

// -----

// A private function that is only called takes what its callers have; a public one and a declaration do not change.
#T = #layout.tiled<{1,0:T(2,2)}>
// CHECK: func.func private @declared(tensor<3x5xf32>)
func.func private @declared(tensor<3x5xf32>)
// CHECK: func.func private @twice(%{{.*}}: tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>) -> tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
func.func private @twice(%a: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = arith.addf %a, %a : tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
// CHECK: func.func private @named(%{{.*}}: tensor<3x5xf32>) -> tensor<3x5xf32>
func.func private @named(%a: tensor<3x5xf32>) -> tensor<3x5xf32> {
  return %a : tensor<3x5xf32>
}
// CHECK-LABEL: func.func @calls(
// CHECK-NEXT: %[[PLAIN:.*]] = layout.convert
// CHECK-NEXT: call @twice
// CHECK-NEXT: call @twice
// CHECK-NEXT: call @named(%[[PLAIN]])
// CHECK: call @declared
// CHECK: return
func.func @calls(%a: tensor<3x5xf32, #T>) -> tensor<3x5xf32, #T> {
  %0 = layout.convert %a : tensor<3x5xf32, #T> to tensor<3x5xf32>
  %1 = call @twice(%0) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %2 = call @twice(%1) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %3 = layout.convert %2 : tensor<3x5xf32> to tensor<3x5xf32, #T>
  %4 = call @named(%0) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %f = constant @named : (tensor<3x5xf32>) -> tensor<3x5xf32>
  call @declared(%4) : (tensor<3x5xf32>) -> ()
  return %3 : tensor<3x5xf32, #T>
}

// -----

// Another memory and the places of a machine are not a matter of layouts alone.
#T = #layout.tiled<{1,0:T(8,128)}>
#V = #layout.tiled<{1,0:T(8,128)S(1)}>
#P = #layout.tensor_layout<((4_PE, 4:16), (16:1))>
// CHECK-LABEL: func.func @spaces(
// CHECK: layout.convert {{.*}} to tensor<16x16xf32, #layout.tiled<{1,0:T(8,128)S(1)}>>
// CHECK: layout.convert {{.*}} to tensor<16x16xf32, #layout.tiled<{1,0:T(8,128)}>>
// CHECK: layout.convert {{.*}} to tensor<16x16xf32, #layout.tensor_layout<
// CHECK: layout.convert {{.*}} to tensor<16x16xf32, #layout.tiled<{1,0:T(8,128)}>>
func.func @spaces(%a: tensor<16x16xf32, #T>) -> (tensor<16x16xf32, #T>, tensor<16x16xf32, #T>) {
  %0 = layout.convert %a : tensor<16x16xf32, #T> to tensor<16x16xf32, #V>
  %1 = arith.addf %0, %0 : tensor<16x16xf32, #V>
  %2 = layout.convert %1 : tensor<16x16xf32, #V> to tensor<16x16xf32, #T>
  %3 = layout.convert %a : tensor<16x16xf32, #T> to tensor<16x16xf32, #P>
  %4 = arith.addf %3, %3 : tensor<16x16xf32, #P>
  %5 = layout.convert %4 : tensor<16x16xf32, #P> to tensor<16x16xf32, #T>
  return %2, %5 : tensor<16x16xf32, #T>, tensor<16x16xf32, #T>
}

// -----

// What is left is made once, out of the loop that runs, in the branch that alone uses it; an empty tensor, a constant
// and a fill are made in the other layout.
#T = #layout.tiled<{1,0:T(2,2)}>
func.func private @plain(tensor<3x5xf32>)
func.func private @tiled(tensor<3x5xf32, #T>)
// CHECK-LABEL: func.func @places(
// CHECK-SAME: %[[A:.*]]: tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>, %[[B:[a-z0-9]*]]: tensor
// CHECK: %[[ONCE:.*]] = layout.convert %[[A]]
// CHECK: scf.for
// CHECK-NEXT: func.call @plain(%[[ONCE]])
// CHECK-NEXT: func.call @plain(%[[ONCE]])
// CHECK: scf.if
// CHECK-NEXT: %[[HERE:.*]] = layout.convert %[[B]]
// CHECK-NEXT: func.call @plain(%[[HERE]])
// CHECK: arith.constant dense<1.000000e+00> : tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
// CHECK: arith.constant dense<1.000000e+00> : tensor<3x5xf32>
// CHECK-NOT: layout.convert
func.func @places(%a: tensor<3x5xf32, #T>, %b: tensor<3x5xf32, #T>, %c: i1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  scf.for %i = %zero to %three step %one {
    %0 = layout.convert %a : tensor<3x5xf32, #T> to tensor<3x5xf32>
    func.call @plain(%0) : (tensor<3x5xf32>) -> ()
    %1 = layout.convert %a : tensor<3x5xf32, #T> to tensor<3x5xf32>
    func.call @plain(%1) : (tensor<3x5xf32>) -> ()
  }
  %2 = layout.convert %b : tensor<3x5xf32, #T> to tensor<3x5xf32>
  scf.if %c {
    func.call @plain(%2) : (tensor<3x5xf32>) -> ()
  }
  %3 = arith.constant dense<1.0> : tensor<3x5xf32, #T>
  func.call @tiled(%3) : (tensor<3x5xf32, #T>) -> ()
  %4 = layout.convert %3 : tensor<3x5xf32, #T> to tensor<3x5xf32>
  func.call @plain(%4) : (tensor<3x5xf32>) -> ()
  return
}

// -----

// What nobody reads is gone; a layout that a value cannot have is not given to it.
// CHECK-LABEL: func.func @rest(
// CHECK-NOT: arith.negf
// CHECK: layout.convert {{.*}} : tensor<4x?xf32> to tensor<4x?xf32, #layout.tiled<{0,1}>>
#C = #layout.tiled<{0,1}>
func.func @rest(%a: tensor<4x?xf32>) -> tensor<4x?xf32, #C> {
  %0 = arith.negf %a : tensor<4x?xf32>
  %1 = layout.convert %0 : tensor<4x?xf32> to tensor<4x?xf32, #C>
  %2 = layout.convert %a : tensor<4x?xf32> to tensor<4x?xf32, #C>
  return %2 : tensor<4x?xf32, #C>
}

// -----

// A layout that a compiler has chosen stays.
// CHECK-LABEL: func.func @chosen(
// CHECK: %[[TILES:.*]] = layout.convert %{{.*}} {keep} : tensor<4x6xf32> to tensor<4x6xf32, #layout.tiled<{1,0:T(2,2)}>>
// CHECK: linalg.matmul ins(%[[TILES]], %{{.*}} : tensor<4x6xf32, #layout.tiled<{1,0:T(2,2)}>>, tensor<6x5xf32>)
func.func @chosen(%a: tensor<4x6xf32>, %b: tensor<6x5xf32>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %tiles = layout.convert %a {keep} : tensor<4x6xf32> to tensor<4x6xf32, #layout.tiled<{1,0:T(2,2)}>>
  %0 = linalg.matmul ins(%tiles, %b : tensor<4x6xf32, #layout.tiled<{1,0:T(2,2)}>>, tensor<6x5xf32>)
    outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
