// layout-gather-rows: a `linalg.generic` that looks up each element copies rows. The values: test/run/gather-rows.mlir.
// RUN: layout-opt %s --split-input-file --layout-gather-rows | FileCheck %s

#in = affine_map<(i, j) -> (i)>
#out = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func @rows
// CHECK-SAME: %[[DATA:.+]]: tensor<9x16xf32>, %[[ROWS:.+]]: tensor<5xi32>
// CHECK: scf.for %[[I:[a-z0-9]+]] = %c0{{.*}} to %c5
// CHECK: %[[ROW:.+]] = tensor.extract %[[ROWS]][%[[I]]]
// CHECK: %[[START:.+]] = arith.index_cast %[[ROW]]
// CHECK: %[[TAKEN:.+]] = tensor.extract_slice %[[DATA]][%[[START]], 0] [1, 16] [1, 1] : tensor<9x16xf32> to tensor<16xf32>
// CHECK: tensor.insert_slice %[[TAKEN]] into %{{.*}}[%[[I]], 0] [1, 16] [1, 1]
// CHECK-NOT: linalg.generic
func.func @rows(%data: tensor<9x16xf32>, %rows: tensor<5xi32>) -> tensor<5x16xf32> {
  %empty = tensor.empty() : tensor<5x16xf32>
  %0 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<5xi32>) outs(%empty : tensor<5x16xf32>) {
  ^bb0(%row: i32, %o: f32):
    %j = linalg.index 1 : index
    %i = arith.index_cast %row : i32 to index
    %e = tensor.extract %data[%i, %j] : tensor<9x16xf32>
    linalg.yield %e : f32
  } -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

// -----

#in = affine_map<(i, j, k) -> (i)>
#out = affine_map<(i, j, k) -> (i, j, k)>

// Blocks of several rows, from a start in each dimension; the layouts are those of the types.
// CHECK-LABEL: func @blocks
// CHECK: %[[DATA:.+]] = layout.convert %{{.*}} to tensor<9x20xf32>
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: %[[ROW:.+]] = arith.index_cast
// CHECK: %[[COLUMN:.+]] = arith.divui
// CHECK: tensor.extract_slice %[[DATA]][%[[ROW]], %[[COLUMN]]] [3, 16] [1, 1]
// CHECK: tensor.insert_slice %{{.*}}[%[[I]], 0, 0] [1, 3, 16] [1, 1, 1]
// CHECK: layout.convert %{{.*}} : tensor<5x3x16xf32> to tensor<5x3x16xf32, #tiled
func.func @blocks(%data: tensor<9x20xf32, #layout.tiled<{0,1}>>, %rows: tensor<5xi32>) -> tensor<5x3x16xf32, #layout.tiled<{1,0,2}>> {
  %two = arith.constant 2 : index
  %empty = tensor.empty() : tensor<5x3x16xf32, #layout.tiled<{1,0,2}>>
  %0 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rows : tensor<5xi32>) outs(%empty : tensor<5x3x16xf32, #layout.tiled<{1,0,2}>>) {
  ^bb0(%row: i32, %o: f32):
    %i = arith.index_cast %row : i32 to index
    %half = arith.divui %i, %two : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %r = arith.addi %i, %j : index
    %c = arith.addi %k, %half : index
    %e = tensor.extract %data[%r, %c] : tensor<9x20xf32, #layout.tiled<{0,1}>>
    linalg.yield %e : f32
  } -> tensor<5x3x16xf32, #layout.tiled<{1,0,2}>>
  return %0 : tensor<5x3x16xf32, #layout.tiled<{1,0,2}>>
}

// -----

#in = affine_map<(i, j) -> (i)>
#each = affine_map<(i, j) -> (i, j)>

// No rows: the last index occurs twice, an operand follows it, it is scaled, or rows are short.
// CHECK-LABEL: func @diagonal
// CHECK-NOT: scf.for
// CHECK-LABEL: func @each
// CHECK-NOT: scf.for
// CHECK-LABEL: func @scaled
// CHECK-NOT: scf.for
// CHECK-LABEL: func @short
// CHECK-NOT: scf.for
func.func @diagonal(%data: tensor<16x16xf32>) -> tensor<5x16xf32> {
  %empty = tensor.empty() : tensor<5x16xf32>
  %0 = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<5x16xf32>) {
  ^bb0(%o: f32):
    %j = linalg.index 1 : index
    %e = tensor.extract %data[%j, %j] : tensor<16x16xf32>
    linalg.yield %e : f32
  } -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

func.func @each(%data: tensor<9x16xf32>, %rows: tensor<5x16xi32>) -> tensor<5x16xf32> {
  %empty = tensor.empty() : tensor<5x16xf32>
  %0 = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<5x16xi32>) outs(%empty : tensor<5x16xf32>) {
  ^bb0(%row: i32, %o: f32):
    %j = linalg.index 1 : index
    %i = arith.index_cast %row : i32 to index
    %e = tensor.extract %data[%i, %j] : tensor<9x16xf32>
    linalg.yield %e : f32
  } -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

func.func @scaled(%data: tensor<9x32xf32>, %rows: tensor<5xi32>) -> tensor<5x16xf32> {
  %two = arith.constant 2 : index
  %empty = tensor.empty() : tensor<5x16xf32>
  %0 = linalg.generic {indexing_maps = [#in, #each], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<5xi32>) outs(%empty : tensor<5x16xf32>) {
  ^bb0(%row: i32, %o: f32):
    %j = linalg.index 1 : index
    %k = arith.muli %j, %two : index
    %i = arith.index_cast %row : i32 to index
    %e = tensor.extract %data[%i, %k] : tensor<9x32xf32>
    linalg.yield %e : f32
  } -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

func.func @short(%data: tensor<9x4xf32>, %rows: tensor<5xi32>) -> tensor<5x4xf32> {
  %empty = tensor.empty() : tensor<5x4xf32>
  %0 = linalg.generic {indexing_maps = [#in, #each], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<5xi32>) outs(%empty : tensor<5x4xf32>) {
  ^bb0(%row: i32, %o: f32):
    %j = linalg.index 1 : index
    %i = arith.index_cast %row : i32 to index
    %e = tensor.extract %data[%i, %j] : tensor<9x4xf32>
    linalg.yield %e : f32
  } -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// -----

#each = affine_map<(i, j) -> (i, j)>

// A row from outside of the body, and a destination that is not empty: it is written in place.
// CHECK-LABEL: func @outside
// CHECK-SAME: %[[DATA:.+]]: tensor<9x16xf32>, %[[ROW:.+]]: index, %[[INTO:.+]]: tensor<5x16xf32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[INTO]])
// CHECK: tensor.extract_slice %[[DATA]][%[[ROW]], 0] [1, 16]
func.func @outside(%data: tensor<9x16xf32>, %row: index, %into: tensor<5x16xf32>) -> tensor<5x16xf32> {
  %0 = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel", "parallel"]} outs(%into : tensor<5x16xf32>) {
  ^bb0(%o: f32):
    %j = linalg.index 1 : index
    %e = tensor.extract %data[%row, %j] : tensor<9x16xf32>
    linalg.yield %e : f32
  } -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

// -----

#in = affine_map<(i, j, k) -> (i, k)>
#some = affine_map<(i, j, k) -> (i, j)>
#each = affine_map<(i, j) -> (i, j)>

// No rows: a loop that the result lacks, a region, a call, an encoding that is no layout.
// CHECK-LABEL: func @reduced
// CHECK-NOT: scf.for
// CHECK-LABEL: func @region
// CHECK-NOT: scf.for
// CHECK-LABEL: func @calls
// CHECK-NOT: scf.for
// CHECK-LABEL: func @space
// CHECK-NOT: scf.for
func.func @reduced(%data: tensor<9x16xf32>, %rows: tensor<5x3xi32>) -> tensor<5x16xf32> {
  %empty = tensor.empty() : tensor<5x16xf32>
  %0 = linalg.generic {indexing_maps = [#in, #some], iterator_types = ["parallel", "parallel", "reduction"]} ins(%rows : tensor<5x3xi32>) outs(%empty : tensor<5x16xf32>) {
  ^bb0(%row: i32, %o: f32):
    %j = linalg.index 1 : index
    %i = arith.index_cast %row : i32 to index
    %e = tensor.extract %data[%i, %j] : tensor<9x16xf32>
    linalg.yield %e : f32
  } -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

func.func @region(%data: tensor<9x16xf32>, %c: i1) -> tensor<5x16xf32> {
  %empty = tensor.empty() : tensor<5x16xf32>
  %z = arith.constant 0 : index
  %0 = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<5x16xf32>) {
  ^bb0(%o: f32):
    %j = linalg.index 1 : index
    %a = linalg.index 0 : index
    %i = scf.if %c -> index {
      scf.yield %a : index
    } else {
      scf.yield %z : index
    }
    %e = tensor.extract %data[%i, %j] : tensor<9x16xf32>
    linalg.yield %e : f32
  } -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

func.func private @row(index) -> index

func.func @calls(%data: tensor<9x16xf32>) -> tensor<5x16xf32> {
  %empty = tensor.empty() : tensor<5x16xf32>
  %0 = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<5x16xf32>) {
  ^bb0(%o: f32):
    %j = linalg.index 1 : index
    %a = linalg.index 0 : index
    %i = func.call @row(%a) : (index) -> index
    %e = tensor.extract %data[%i, %j] : tensor<9x16xf32>
    linalg.yield %e : f32
  } -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

func.func @space(%data: tensor<9x16xf32, 1 : i64>) -> tensor<5x16xf32> {
  %empty = tensor.empty() : tensor<5x16xf32>
  %0 = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<5x16xf32>) {
  ^bb0(%o: f32):
    %j = linalg.index 1 : index
    %i = linalg.index 0 : index
    %e = tensor.extract %data[%i, %j] : tensor<9x16xf32, 1 : i64>
    linalg.yield %e : f32
  } -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}
