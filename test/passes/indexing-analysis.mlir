// RUN: layout-opt %s --layout-indexing-analysis | FileCheck %s
// RUN: layout-opt %s --layout-indexing-analysis=report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: layout-opt %s --layout-indexing-analysis | layout-opt -o /dev/null

// A structured operation, through its indexing maps; what its body does not use is not read.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: layout.feeds = {{\[\[}}[#layout.indexing_map<(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 15]>], [#layout.indexing_map<(d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 7], d1 in [0, 15], s0 in [0, 3]>]]]
// CHECK-SAME: layout.reads = {{\[\[}}[#layout.indexing_map<(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 15], s0 in [0, 7]>], [#layout.indexing_map<(d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 3], d1 in [0, 15], s0 in [0, 7]>]]]
// CHECK: linalg.fill
// CHECK-SAME: layout.reads = {{\[\[}}[#layout.indexing_map<(d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 15]>], []]]
func.func @product(%a: tensor<4x8xf32, #layout.tiled<{1,0:T(8,128)}>>, %b: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16xf32>) -> tensor<4x16xf32>
  %plain = layout.convert %a : tensor<4x8xf32, #layout.tiled<{1,0:T(8,128)}>> to tensor<4x8xf32>
  %c = linalg.matmul ins(%plain, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%start : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %c : tensor<4x16xf32>
}

// Slices: offsets that only the program knows are run-time variables, those in attributes are numbers.
// REPORT: indexing of `tensor.extract_slice`
// REPORT: operand 0 is read: (d0, d1){rt0} -> (d0 + rt0, d1 * 4 + 2), domain: d0 in [0, 1], d1 in [0, 2], rt0 in [0, 2], rt0: 1[]
// REPORT: operand 0 feeds: (d0, d1){rt0} -> (d0 - rt0, (d1 - 2) floordiv 4), domain: d0 in [0, 3], d1 in [2, 10], rt0 in [0, 2], d0 - rt0 in [0, 1], d1 mod 4 in [2, 2], rt0: 1[]
// REPORT: indexing of `tensor.extract_slice`
// REPORT: operand 0 is read: (d0) -> (3, d0), domain: d0 in [0, 15]
// REPORT: indexing of `tensor.insert_slice`
// REPORT: operand 0 is read: (d0, d1){rt0} -> (d0 - 1, d1 - rt0), domain: d0 in [1, 2], d1 in [0, 15], rt0 in [0, 13], d1 - rt0 in [0, 2], rt0: 2[]
// REPORT: operand 1 is read: (d0, d1) -> (0, d1), domain: d0 in [0, 0], d1 in [0, 15]
// REPORT: operand 1 is read: (d0, d1) -> (3, d1), domain: d0 in [3, 3], d1 in [0, 15]
// REPORT: operand 2 is read: (d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 15]
// REPORT: indexing of `tensor.pad`
// REPORT: operand 0 is read: (d0, d1) -> (d0 - 1, d1), domain: d0 in [1, 2], d1 in [0, 2]
// REPORT: indexing of `tensor.extract`
// REPORT: operand 0 is read: (){rt0, rt1} -> (rt0, rt1), domain: rt0 in [0, 3], rt1 in [0, 15], rt0: 1[], rt1: 2[]
func.func @slices(%x: tensor<4x16xf32>, %t: tensor<2x3xf32>, %i: index) -> (tensor<2x3xf32>, tensor<16xf32>, tensor<4x16xf32>, tensor<3x5xf32>, f32) {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.extract_slice %x[%i, 2] [2, 3] [1, 4] : tensor<4x16xf32> to tensor<2x3xf32>
  %1 = tensor.extract_slice %x[3, 0] [1, 16] [1, 1] : tensor<4x16xf32> to tensor<16xf32>
  %2 = tensor.insert_slice %t into %x[1, %i] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x16xf32>
  %3 = tensor.pad %t low[1, 0] high[0, 2] {
  ^bb0(%p: index, %q: index):
    tensor.yield %zero : f32
  } : tensor<2x3xf32> to tensor<3x5xf32>
  %4 = tensor.extract %x[%i, %i] : tensor<4x16xf32>
  return %0, %1, %2, %3, %4 : tensor<2x3xf32>, tensor<16xf32>, tensor<4x16xf32>, tensor<3x5xf32>, f32
}

// A call reads what its callee's body reads: two transposes are none.
// CHECK-LABEL: func.func private @turned(
func.func private @turned(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  %empty = tensor.empty() : tensor<5x3xf32>
  %t = linalg.transpose ins(%x : tensor<3x5xf32>) outs(%empty : tensor<5x3xf32>) permutation = [1, 0]
  return %t : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @twice(
// CHECK-SAME: layout.reads = {{\[\[}}[#layout.indexing_map<(d0, d1) -> (d0, d1), domain: d0 in [0, 2], d1 in [0, 4]>]]]
// CHECK: call @turned
// CHECK-SAME: layout.reads = {{\[\[}}[#layout.indexing_map<(d0, d1) -> (d1, d0), domain: d0 in [0, 4], d1 in [0, 2]>]]]
func.func @twice(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %t = call @turned(%x) : (tensor<3x5xf32>) -> tensor<5x3xf32>
  %empty = tensor.empty() : tensor<3x5xf32>
  %u = linalg.transpose ins(%t : tensor<5x3xf32>) outs(%empty : tensor<3x5xf32>) permutation = [1, 0]
  return %u : tensor<3x5xf32>
}

// What calls itself, or has sizes known only at run time, is said to be unknown.
// CHECK-LABEL: func.func @unknown(
// CHECK: call @again
// CHECK-SAME: layout.reads = {{\[\[}}[#layout.indexing_map<UNDEFINED>]]]
// REPORT: operand 0 is read: UNDEFINED: `again` is not looked into
// REPORT: indexing of `linalg.{{negf|generic|elementwise}}`
// REPORT: operand 0 is read: UNDEFINED: the loops have sizes that are known only at run time
func.func @unknown(%x: tensor<3xf32>, %d: tensor<?xf32>) -> tensor<3xf32> {
  %r = call @again(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %n = linalg.negf ins(%d : tensor<?xf32>) outs(%d : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<3xf32>
}

func.func private @again(%x: tensor<3xf32>) -> tensor<3xf32> {
  %r = call @again(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// Branches and loops take what their regions use from outside.
// CHECK-LABEL: func.func @control(
// REPORT: indexing of `func.func`
// REPORT: operand 0 is read for result 0: (d0, d1) -> (), domain
// REPORT: operand 1 is read for result 0: (d0, d1) -> (d1, d0), domain
// REPORT: operand 2 is read for result 0: (d0, d1) -> (d0, d1), domain
// REPORT: operand 0 is read for result 1: KNOWN EMPTY
// REPORT: operand 2 is read for result 1: UNDEFINED: a loop runs an unknown number of rounds
// REPORT: operand 3 is read for result 1: (d0, d1) -> (), domain
// REPORT: operand 1 is read for result 2: (d0, d1) -> (d0, d1), domain
// REPORT: operand 2 is read for result 2: KNOWN EMPTY
// REPORT: operand 1 is read for result 3: UNDEFINED: the region of `linalg.generic` takes it
// REPORT: operand 2 is read for result 3: (d0, d1) -> (d0, d1), domain
func.func @control(%c: i1, %x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %n: index)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty() : tensor<4x4xf32>
  %0 = scf.if %c -> tensor<4x4xf32> {
    %t = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) permutation = [1, 0]
    scf.yield %t : tensor<4x4xf32>
  } else {
    scf.yield %y : tensor<4x4xf32>
  }
  %1:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %y, %b = %x) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %t = linalg.transpose ins(%a : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) permutation = [1, 0]
    scf.yield %t, %b : tensor<4x4xf32>, tensor<4x4xf32>
  }
  %2 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%y : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = tensor.extract %x[%n, %n] : tensor<4x4xf32>
    %s = arith.addf %in, %e : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %0, %1#0, %1#1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// Slices in steps, as interior padding is imported.
// CHECK-LABEL: func.func @steps(
// REPORT: operand 0 is read: (d0) -> ((d0 - 1) floordiv 3), domain: d0 in [1, 7], d0 mod 3 in [1, 1]
// REPORT: operand 0 feeds: (d0) -> (d0 * 3 + 1), domain: d0 in [0, 2]
// REPORT: operand 1 is read: (d0) -> (0), domain: d0 in [0, 0]
// REPORT: operand 1 is read: (d0) -> (8), domain: d0 in [8, 8]
// REPORT: operand 1 is read: (d0) -> (d0), domain: d0 in [2, 6], (d0 + 1) mod 3 in [0, 1]
func.func @steps(%t: tensor<3xf32>, %x: tensor<9xf32>) -> tensor<9xf32> {
  %0 = tensor.insert_slice %t into %x[1] [3] [3] : tensor<3xf32> into tensor<9xf32>
  return %0 : tensor<9xf32>
}
