// TensorLayouts, lowered: one buffer for all places, a parallel loop over them, and what each place does.
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs=reassociate=true | FileCheck %s
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs="form=physical reassociate=true" | FileCheck %s

// A dimension for each axis of the machine, then one for each part inside a place, with what its stride spans. Where a
// layout does not name an axis, every place along it has a copy. Time counts pieces, W elements of a word.
// CHECK-LABEL: func.func private @types(
// CHECK-SAME: memref<2x4x3x8xf32>, memref<2x4x12x2xf32>, memref<2x4x3x8xf32, strided<[188, 47, 16, 2]>>,
// CHECK-SAME: memref<2x4x3x7xf32>, memref<2x4x3x2x4xf16>, memref<2x4x6xi8>, memref<2x4x3x5xf32, strided<[60, 15, 1, 3]>>
module attributes {layout.machine = #layout.machine<axes: (2_L1B, 4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 64>} {
  func.func private @types(
    memref<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>,
    memref<12x8xf32, #layout.tensor_layout<((12:2), (4_PE, 2:1))>>,
    memref<12x8xf32, #layout.tensor_layout<((2_L1B, 2_PE, 3:16), (8:2))>>,
    memref<10x7xf32, #layout.tensor_layout<((3:7, 4_PE), (7:1))>>,
    memref<12x8xf16, #layout.tensor_layout<((3_Time, 4_PE), (2:1, 4_W))>>,
    memref<6xi8, #layout.tensor_layout<((6:1); B@[2_PE])>>,
    memref<3x5xf32, #layout.tensor_layout<((3:1), (5:3))>>)
}

// -----

// Without a machine there are as many places as layouts reach, pending ones and those of functions too.
// CHECK-LABEL: func.func private @reached(
// CHECK-SAME: memref<6x9x2x3x8xf32>, memref<6x9x2x2xf32>, memref<6x9x2xf32>
func.func private @reached(
    memref<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>,
    memref<6x2xf32, #layout.tensor_layout<((3_MAB:4, 2_PE:5), (2:1))>>,
    memref<1xf32, #layout.pending<#layout.tensor_layout<((1:1); B@[2_L1B])>>>)

// -----

// Each place reaches what it holds through a view of its own memory.
// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME: %[[A:.*]]: memref<4x3x8xf32>, %[[B:.*]]: memref<4x3x8xf32>)
// CHECK: scf.forall (%[[PE:.*]]) in (4) {
// CHECK-NOT: scf.if
// CHECK: %[[X:.*]] = memref.subview %[[A]][%[[PE]], 0, 0] [1, 3, 8] [1, 1, 1] : memref<4x3x8xf32> to memref<3x8xf32, strided<[8, 1], offset: ?>>
// CHECK: %[[Y:.*]] = memref.subview %[[B]][%[[PE]], 0, 0]
// CHECK: %[[Z:.*]] = memref.subview %[[B]][%[[PE]], 0, 0]
// CHECK: affine.for %[[I:.*]] = 0 to 3 {
// CHECK: affine.for %[[J:.*]] = 0 to 8 {
// CHECK: affine.load %[[X]][%[[I]], %[[J]]]
// CHECK: affine.load %[[Y]][%[[I]], %[[J]]]
// CHECK: affine.store %{{.*}}, %[[Z]][%[[I]], %[[J]]]
// CHECK: } {mapping = [#layout.axis<"PE", level = 0>]}
#rows = #layout.tensor_layout<((4_PE, 3:8), (8:1))>
func.func @elementwise(%a: memref<12x8xf32, #rows>, %b: memref<12x8xf32, #rows>) {
  linalg.add ins(%a, %b : memref<12x8xf32, #rows>, memref<12x8xf32, #rows>) outs(%b : memref<12x8xf32, #rows>)
  return
}

// -----

// A place fetches what it does not hold. What is written to a plain buffer is written by one program.
// CHECK-LABEL: func.func @there_and_back(
// CHECK-SAME: %[[A:.*]]: memref<12x8xf32>, %[[B:.*]]: memref<4x3x8xf32>)
// CHECK: scf.forall (%[[PE:.*]]) in (4) {
// CHECK: %[[X:.*]] = memref.subview %[[B]][%[[PE]], 0, 0]
// CHECK: affine.for %[[I:.*]] = 0 to 3 {
// CHECK: affine.for %[[J:.*]] = 0 to 8 {
// CHECK: %[[ROW:.*]] = affine.apply #{{.*}}(%[[PE]], %[[I]])
// CHECK: %[[V:.*]] = memref.load %[[A]][%[[ROW]], %[[J]]]
// CHECK: affine.store %[[V]], %[[X]][%[[I]], %[[J]]]
// CHECK: mapping
// CHECK: affine.for %[[P:.*]] = 0 to 4 {
// CHECK: affine.for %[[I:.*]] = 0 to 3 {
// CHECK: affine.for %[[J:.*]] = 0 to 8 {
// CHECK: %[[V:.*]] = affine.load %[[B]][%[[P]], %[[I]], %[[J]]]
// CHECK: affine.store %[[V]], %[[A]][%[[P]] * 3 + %[[I]], %[[J]]]
#rows = #layout.tensor_layout<((4_PE, 3:8), (8:1))>
func.func @there_and_back(%a: memref<12x8xf32>, %b: memref<12x8xf32, #rows>) {
  memref.copy %a, %b : memref<12x8xf32> to memref<12x8xf32, #rows>
  memref.copy %b, %a : memref<12x8xf32, #rows> to memref<12x8xf32>
  return
}

// -----

// Padding is left alone: 10 rows over 4 PEs of 3, row by row. The condition is outside of the loop over columns.
// CHECK-DAG: #[[LEFT:.*]] = affine_map<(d0, d1) -> (-d0 - d1 * 4 + 9)>
// CHECK-LABEL: func.func @padding(
// CHECK: scf.forall (%[[PE:.*]]) in (4) {
// CHECK: affine.for %[[I:.*]] = 0 to 3 {
// CHECK: %[[N:.*]] = affine.apply #[[LEFT]](%[[PE]], %[[I]])
// CHECK: %[[C:.*]] = arith.cmpi sge, %[[N]], %{{.*}} : index
// CHECK: scf.if %[[C]] {
// CHECK: affine.for %{{.*}} = 0 to 7 {
#padded = #layout.tensor_layout<((3:7, 4_PE), (7:1))>
func.func @padding(%a: memref<10x7xf32>, %b: memref<10x7xf32, #padded>) {
  memref.copy %a, %b : memref<10x7xf32> to memref<10x7xf32, #padded>
  return
}

// -----

// Nor do places do anything that hold nothing: those between strides, past the layout's reach, and of padding alone.
// CHECK-DAG: #[[BETWEEN:.*]] = affine_map<(d0) -> (((d0 + d0 mod 3 - d0 mod 6) floordiv 2) * 2)>
// CHECK-LABEL: func.func @gaps(
// CHECK: scf.forall (%[[PE:.*]]) in (8) {
// CHECK-NEXT: %[[N:.*]] = affine.apply #[[BETWEEN]](%[[PE]])
// CHECK: %[[C:.*]] = arith.cmpi eq, %[[N]], %{{.*}} : index
// CHECK-NEXT: scf.if %[[C]] {
// CHECK: memref.subview %{{.*}}[%[[PE]], 0] [1, 5] [1, 1] : memref<8x5xf32> to memref<5xf32, strided<[1], offset: ?>>
#gaps = #layout.tensor_layout<((2_PE:3, 2_PE:1), (5:1))>
module attributes {layout.machine = #layout.machine<axes: (8_PE), memories: (), word: 64>} {
  func.func @gaps(%a: memref<4x5xf32>, %b: memref<4x5xf32, #gaps>) {
    memref.copy %a, %b : memref<4x5xf32> to memref<4x5xf32, #gaps>
    return
  }
}

// -----

// CHECK-LABEL: func.func @one_place(
// CHECK: scf.forall (%[[PE:.*]]) in (8) {
// CHECK: arith.cmpi eq, %[[PE]], %{{.*}} : index
// CHECK-LABEL: func.func @never_reached(
// CHECK: scf.forall (%[[PE:.*]]) in (8) {
// CHECK: arith.cmpi eq, %{{.*}}, %{{.*}} : index
module attributes {layout.machine = #layout.machine<axes: (8_PE), memories: (), word: 64>} {
  func.func @one_place(%a: memref<5xf32>, %b: memref<5xf32, #layout.tensor_layout<((5:1, 1_PE))>>) {
    memref.copy %a, %b : memref<5xf32> to memref<5xf32, #layout.tensor_layout<((5:1, 1_PE))>>
    return
  }
  func.func @never_reached(%a: memref<2xf32>, %b: memref<2xf32, #layout.tensor_layout<((2_PE:3, 2:1))>>) {
    memref.copy %a, %b : memref<2xf32> to memref<2xf32, #layout.tensor_layout<((2_PE:3, 2:1))>>
    return
  }
}

// -----

// All copies are written: of an axis that the layout does not name, and at places that it distinguishes. What a single
// store has to reach are loops.
// CHECK-LABEL: func.func @copies(
// CHECK-SAME: %[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<2x8x2xf32>, %[[X:.*]]: f32, %[[I:.*]]: index)
// CHECK: scf.forall (%[[L:.*]], %[[PE:.*]]) in (2, 8) {
// CHECK: scf.if
// CHECK: memref.subview %[[B]][%[[L]], %[[PE]], 0] [1, 1, 2] [1, 1, 1]
// CHECK: } {mapping = [#layout.axis<"L1B", level = 0>, #layout.axis<"PE", level = 1>]}
// CHECK: %[[AT:.*]] = affine.apply #{{.*}}(%[[I]])
// CHECK: %[[IN:.*]] = affine.apply #{{.*}}(%[[I]])
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[PE:.*]] = arith.addi %[[AT]], %[[P]] : index
// CHECK: scf.for
// CHECK: %[[L:.*]] = arith.addi
// CHECK: memref.store %[[X]], %[[B]][%[[L]], %[[PE]], %[[IN]]] : memref<2x8x2xf32>
#copies = #layout.tensor_layout<((2_PE:1, 2:1); B@[2_PE:4])>
module attributes {layout.machine = #layout.machine<axes: (2_L1B, 8_PE), memories: (), word: 64>} {
  func.func @copies(%a: memref<4xf32>, %b: memref<4xf32, #copies>, %x: f32, %i: index) {
    memref.copy %a, %b : memref<4xf32> to memref<4xf32, #copies>
    memref.store %x, %b[%i] : memref<4xf32, #copies>
    return
  }
}

// -----

// Time is the loop outside of all others of a place; its pieces are contiguous in memory, in order.
// CHECK-LABEL: func.func @time(
// CHECK-SAME: memref<4x2x3x4xf32, strided<[24, 4, 8, 1]>>)
// CHECK: scf.forall (%[[PE:.*]]) in (4) {
// CHECK: %[[X:.*]] = memref.subview
// CHECK: affine.for %[[T:.*]] = 0 to 3 {
// CHECK: affine.for %[[I:.*]] = 0 to 2 {
// CHECK: affine.for %[[J:.*]] = 0 to 4 {
// CHECK: affine.store %{{.*}}, %[[X]][%[[I]], %[[T]], %[[J]]] : memref<2x3x4xf32, strided<[4, 8, 1], offset: ?>>
#time = #layout.tensor_layout<((4_PE), (2:4, 3_Time, 4:1))>
func.func @time(%a: memref<4x24xf32>, %b: memref<4x24xf32, #time>) {
  memref.copy %a, %b : memref<4x24xf32> to memref<4x24xf32, #time>
  return
}

// -----

// It is so too where a larger part inside bounds it, by a condition.
// CHECK-DAG: #[[LEFT:.*]] = affine_map<(d0, d1) -> (d0 * -3 - d1 + 4)>
// CHECK-LABEL: func.func @ragged_time(
// CHECK: affine.for %[[T:.*]] = 0 to 3 {
// CHECK: affine.for %[[I:.*]] = 0 to 2 {
// CHECK: %[[N:.*]] = affine.apply #[[LEFT]](%[[I]], %[[T]])
// CHECK: %[[C:.*]] = arith.cmpi sge, %[[N]], %{{.*}} : index
// CHECK: scf.if %[[C]] {
#time = #layout.tensor_layout<((2:1, 3_Time, 2:2))>
func.func @ragged_time(%a: memref<9xf32>, %b: memref<9xf32, #time>) {
  memref.copy %a, %b : memref<9xf32> to memref<9xf32, #time>
  return
}

// -----

// Another operand's cuts that do not divide the place's part: tiles of 3 rows, in pairs.
// CHECK-DAG: #[[TILE:.*]] = affine_map<(d0) -> ((d0 mod 5) floordiv 3)>
// CHECK-DAG: #[[PAIR:.*]] = affine_map<(d0) -> (((d0 mod 5) mod 3) floordiv 2)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0) -> (((d0 mod 5) mod 3) mod 2)>
// CHECK-LABEL: func.func @cuts(
// CHECK: scf.forall (%[[PE:.*]]) in (12) {
// CHECK-DAG: affine.apply #[[TILE]](%[[PE]])
// CHECK-DAG: affine.apply #[[PAIR]](%[[PE]])
// CHECK-DAG: affine.apply #[[ROW]](%[[PE]])
#cyclic = #layout.tensor_layout<((2_PE:5, 5_PE:1), (8:1))>
module attributes {layout.machine = #layout.machine<axes: (12_PE), memories: (), word: 64>} {
  func.func @cuts(%a: memref<4x8xf32, #layout.tiled<{1,0:T(3,4)(2,1)}>>, %b: memref<4x8xf32, #cyclic>) {
    memref.copy %a, %b : memref<4x8xf32, #layout.tiled<{1,0:T(3,4)(2,1)}>> to memref<4x8xf32, #cyclic>
    return
  }
}

// -----

// A contraction over an axis that the output leaves alone: each place its own share, then the shares together.
// CHECK-LABEL: func.func @across(
// CHECK-SAME: %[[A:.*]]: memref<4x2x3x4xf32>, %[[B:.*]]: memref<4x2x4x6xf32>, %[[C:.*]]: memref<4x2x3x6xf32>)
// CHECK: %[[PARTIAL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4x2x3x6xf32>
// CHECK: scf.forall
// CHECK: affine.store %{{.*}}, %{{.*}} : memref<3x6xf32, strided<[6, 1], offset: ?>>
// CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) in (4, 2) {
// CHECK: %[[LHS:.*]] = memref.subview %[[A]][%[[I]], %[[J]], 0, 0] [1, 1, 3, 4]
// CHECK: %[[RHS:.*]] = memref.subview %[[B]][%[[I]], %[[J]], 0, 0] [1, 1, 4, 6]
// CHECK: memref.subview %[[PARTIAL]]
// CHECK: affine.load %[[LHS]]
// CHECK: affine.load %[[RHS]]
// CHECK: } {mapping = [#layout.axis<"L1B", level = 0>, #layout.axis<"PE", level = 1>]}
// CHECK: scf.forall (%[[I2:.*]], %{{.*}}) in (4, 2) {
// CHECK: %[[SUM:.*]] = memref.subview %[[C]]
// CHECK: affine.for %[[OTHER:.*]] = 0 to 2 {
// CHECK: affine.load %[[SUM]]
// CHECK: memref.load %[[PARTIAL]][%[[I2]], %[[OTHER]],
// CHECK: arith.addf
#lhs = #layout.tensor_layout<((4_L1B, 3:4), (2_PE, 4:1))>
#rhs = #layout.tensor_layout<((2_PE, 4:6), (6:1))>
#sum = #layout.tensor_layout<((4_L1B, 3:6), (6:1); B@[PE])>
func.func @across(%a: memref<12x8xf32, #lhs>, %b: memref<8x6xf32, #rhs>, %c: memref<12x6xf32, #sum>) {
  linalg.matmul ins(%a, %b : memref<12x8xf32, #lhs>, memref<8x6xf32, #rhs>) outs(%c : memref<12x6xf32, #sum>)
  return
}

// -----

// An input that is not where it is needed is brought there first; then each place reads its own memory.
// CHECK-LABEL: func.func @brought(
// CHECK-SAME: %[[A:.*]]: memref<4x12x2xf32>,
// CHECK: %[[BROUGHT:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4x3x8xf32>
// CHECK: scf.forall (%[[I:.*]]) in (4) {
// CHECK: %[[TO:.*]] = memref.subview %[[BROUGHT]][%[[I]], 0, 0] [1, 3, 8]
// CHECK: memref.load %[[A]]
// CHECK: affine.store %{{.*}}, %[[TO]]
// CHECK: scf.forall (%[[I2:.*]]) in (4) {
// CHECK: %[[OWN:.*]] = memref.subview %[[BROUGHT]][%[[I2]], 0, 0] [1, 3, 8]
// CHECK: affine.load %[[OWN]]
#columns = #layout.tensor_layout<((12:2), (4_PE, 2:1))>
#rows = #layout.tensor_layout<((4_PE, 3:8), (8:1))>
#id = affine_map<(i, j) -> (i, j)>
func.func @brought(%a: memref<12x8xf32, #columns>, %b: memref<12x8xf32, #rows>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<12x8xf32, #columns>) outs(%b : memref<12x8xf32, #rows>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  }
  return
}

// -----

// Parts that interleave along an axis stay loops, of which a place does what comes to its coordinate.
// CHECK: #[[LEFT:.*]] = affine_map<(d0, d1, d2) -> (d0 - d1 * 3 - d2 * 2)>
// CHECK-LABEL: func.func @interleaved(
// CHECK: scf.forall (%[[PE:.*]]) in (8) {
// CHECK: affine.for %[[I:.*]] = 0 to 2 {
// CHECK: affine.for %[[J:.*]] = 0 to 3 {
// CHECK: %[[N:.*]] = affine.apply #[[LEFT]](%[[PE]], %[[I]], %[[J]])
// CHECK: %[[C:.*]] = arith.cmpi eq, %[[N]], %{{.*}} : index
// CHECK: scf.if %[[C]] {
#interleaved = #layout.tensor_layout<((2_PE:3, 3_PE:2, 2:1))>
func.func @interleaved(%a: memref<12xf32>, %b: memref<12xf32, #interleaved>) {
  memref.copy %a, %b : memref<12xf32> to memref<12xf32, #interleaved>
  return
}

// -----

// Copies inside a place are stored one by one.
// CHECK-LABEL: func.func @words(
// CHECK-SAME: memref<4xf32>, %{{.*}}: memref<4x2xf32>)
// CHECK: affine.load
// CHECK: scf.for %[[W:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: %[[COPY:.*]] = arith.addi %{{.*}}, %[[W]] : index
// CHECK: memref.store %{{.*}}, %{{.*}}[%{{.*}}, %[[COPY]]] : memref<4x2xf32>
#words = #layout.tensor_layout<((4:1); B@[2_W])>
func.func @words(%a: memref<4xf32>, %b: memref<4xf32, #words>) {
  memref.copy %a, %b : memref<4xf32> to memref<4xf32, #words>
  return
}
